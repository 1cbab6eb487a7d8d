//! A report of what a store holds.

use fixture_store::Store;
use std::collections::BTreeMap;

/// One line for each group of keys, in the order of the groups' names: the name,
/// a colon, a blank, how many keys the group has, and a line end. A key's group
/// is what stands before its first dot; a key without a dot belongs to the group
/// `other`. An empty store has an empty report.
pub fn report(store: &Store) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for key in store.keys() {
        let group = key.split_once('.').map_or("other", |(group, _)| group);
        *groups.entry(group).or_default() += 1;
    }
    groups
        .into_iter()
        .map(|(group, keys)| format!("{group}: {keys}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn groups_are_counted() {
        let name = format!("store-report-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&dir);
        let mut store = Store::open(&dir).unwrap();
        assert_eq!(report(&store), "");
        for key in ["window.width", "window.height", "theme"] {
            store.put(key, "x").unwrap();
        }
        assert_eq!(report(&store), "other: 1\nwindow: 2\n");
        fs::remove_dir_all(&dir).unwrap();
    }
}
