#[test]
fn answers() {
    assert_eq!(tiny::answer(), 42);
}
