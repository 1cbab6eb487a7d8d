//! A report of what a store holds.

use fixture_store::Store;

/// One line for each group of keys, in the order of the groups' names: the name,
/// a colon, a blank, how many keys the group has, and a line end. A key's group
/// is what stands before its first dot; a key without a dot belongs to the group
/// `other`. An empty store has an empty report.
pub fn report(_store: &Store) -> String {
    todo!("count the keys of each group")
}
