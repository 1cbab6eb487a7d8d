//! Sentences.

use fixture_bag::Bag;

/// A bag with the words of a text, in the order in which they come.
pub fn sentence(_text: &str) -> Bag {
    todo!("fill the bag")
}
