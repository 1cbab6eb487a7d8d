//! The payments add up to the total, whatever the shares.

use fixture_amount::Amount;
use shared_invoice::Invoice;

#[test]
fn payments_add_up() {
    let shares: [&[u32]; 5] = [
        &[1, 1, 1],
        &[1, 2, 3],
        &[7, 7, 7, 7],
        &[0, 1, 1],
        &[5, 3, 1],
    ];
    for minor in -200..200 {
        let invoice = Invoice::new(vec![Amount::from_minor(minor), Amount::from_minor(1)]);
        for shares in shares {
            let parts = invoice.split(shares).expect("somebody has a share");
            assert_eq!(parts.len(), shares.len());
            let sum: Amount = parts.iter().copied().sum();
            assert_eq!(sum, invoice.total(), "{minor} by {shares:?}: {parts:?}");
        }
    }
}
