//! An invoice that several people pay together.

use fixture_amount::Amount;

/// What is to be paid, line by line.
#[derive(Clone, Debug, Default)]
pub struct Invoice {
    lines: Vec<Amount>,
}

impl Invoice {
    /// An invoice with these lines.
    pub fn new(lines: Vec<Amount>) -> Invoice {
        Invoice { lines }
    }

    /// The sum of the lines.
    pub fn total(&self) -> Amount {
        self.lines.iter().copied().sum()
    }

    /// What each person pays when the invoice is shared by `shares`: a person
    /// with two shares pays for two. The payments are in the order of the people.
    /// `None` when nobody has a share.
    pub fn split(&self, _shares: &[u32]) -> Option<Vec<Amount>> {
        todo!("divide the total")
    }
}
