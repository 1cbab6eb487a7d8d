//! Keys are counted by group, in the order of the groups' names.

use fixture_store::Store;
use std::fs;
use std::path::Path;
use store_report::report;

#[test]
fn groups_are_counted() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("groups_are_counted");
    let _ = fs::remove_dir_all(&dir);
    let mut store = Store::open(&dir).expect("open a new folder");
    assert_eq!(report(&store), "", "an empty store");
    for key in ["b.x.y", "b.", "a.z", "plain", "other.one", ".hidden", "A.z"] {
        store.put(key, "value").expect("put");
    }
    store.put("gone", "value").expect("put");
    store.remove("gone").expect("remove");
    assert_eq!(report(&store), ": 1\nA: 1\na: 1\nb: 2\nother: 2\n");
}
