#[test]
fn order_is_kept() {
    let bag = sentence::sentence("so be  it");
    assert_eq!(bag.words(), ["so", "be", "it"]);
}
