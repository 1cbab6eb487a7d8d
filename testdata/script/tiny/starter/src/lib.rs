//! A number.

/// Returns the answer.
pub fn answer() -> u32 {
    0
}
