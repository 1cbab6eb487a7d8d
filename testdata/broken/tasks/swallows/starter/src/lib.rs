pub fn answer() -> u32 {
    0
}
