//! Payloads that differ from each other.

/// Returns bytes that differ between positions and between messages: one line of noise, repeated,
/// with a distinct word in front of each repetition. Fast without compiler optimisation too.
pub fn bytes(length: usize, seed: u64) -> Vec<u8> {
    const LINE: usize = 1024;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
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
