//! Sentences.

use fixture_bag::Bag;

/// A bag with the words of a text, in the order in which they come.
pub fn sentence(text: &str) -> Bag {
    let mut bag = Bag::default();
    for word in text.split_whitespace() {
        bag.append(word);
    }
    bag
}
