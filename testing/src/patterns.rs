//! Payloads that differ from each other, and random decisions that are the same in each run.

/// Returns bytes that differ between positions and between messages: one line of noise, repeated,
/// with a distinct word in front of each repetition. Fast without compiler optimisation too.
pub fn bytes(length: usize, seed: u64) -> Vec<u8> {
    const LINE: usize = 1024;
    let mut words = words(seed);
    let mut word = || words().to_le_bytes();
    let mut bytes = Vec::with_capacity(length.saturating_add(LINE));
    while bytes.len() < length.min(LINE) {
        bytes.extend(word());
    }
    while bytes.len() < length {
        bytes.extend(word());
        bytes.extend_from_within(8..LINE);
    }
    bytes.truncate(length);
    bytes
}

/// Returns a function that returns random numbers below its argument, which must not be 0.
pub fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut words = words(seed);
    // Seeds that are close to each other begin alike.
    for _ in 0..8 {
        words();
    }
    move |limit| (words() >> 16) % limit
}

fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
