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
    pub fn split(&self, shares: &[u32]) -> Option<Vec<Amount>> {
        if shares.iter().all(|&s| s == 0) {
            return None;
        }
        Some(self.total().allot(shares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(total: i64, shares: &[u32]) -> Option<Vec<i64>> {
        let invoice = Invoice::new(vec![Amount::from_minor(total)]);
        let parts = invoice.split(shares)?;
        Some(parts.into_iter().map(Amount::minor).collect())
    }

    #[test]
    fn shares_are_in_order() {
        assert_eq!(split(1000, &[1, 2, 1]), Some(vec![250, 500, 250]));
        assert_eq!(split(1000, &[1, 0]), Some(vec![1000, 0]));
    }

    #[test]
    fn nobody_has_a_share() {
        assert_eq!(split(1000, &[]), None);
        assert_eq!(split(1000, &[0, 0]), None);
    }

    #[test]
    fn the_payments_add_up() {
        assert_eq!(split(100, &[1, 1, 1]), Some(vec![34, 33, 33]));
        assert_eq!(split(-100, &[1, 1, 1]), Some(vec![-34, -33, -33]));
    }
}
