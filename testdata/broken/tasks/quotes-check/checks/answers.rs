//! The answer to everything there is in the world.

#[test]
fn answers() {
    assert_eq!(tiny::answer(), 42);
}
