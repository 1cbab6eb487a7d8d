//! Nobody pays a whole unit more or less than the share, and nobody without a
//! share pays.

use fixture_amount::Amount;
use shared_invoice::Invoice;

#[test]
fn payments_are_fair() {
    let shares = [3, 0, 1, 4, 1, 5, 9, 2, 6];
    let whole: i64 = 31;
    for minor in [0, 1, 30, 100, 1000, 99_999, -17] {
        let invoice = Invoice::new(vec![Amount::from_minor(minor)]);
        let parts = invoice.split(&shares).expect("somebody has a share");
        for (part, share) in parts.iter().zip(shares) {
            let off = part.minor() * whole - minor * i64::from(share);
            assert!(
                off.abs() < whole,
                "{minor}: {part:?} for {share} of {whole}"
            );
        }
        assert_eq!(parts[1], Amount::ZERO);
    }
    assert_eq!(Invoice::default().split(&[]), None);
    assert_eq!(Invoice::default().split(&[0, 0]), None);
}
