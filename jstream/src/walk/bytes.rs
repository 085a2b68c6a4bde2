//! Little-endian numbers in slots. Bytes that are missing are zeroes.

/// Reads up to 16 bytes as a little-endian number.
pub(super) fn unsigned(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
    u128::from_le_bytes(wide)
}

fn part(bytes: &[u8], at: usize, len: usize) -> u128 {
    let part = bytes.get(at..at.saturating_add(len)).unwrap_or_default();
    unsigned(part)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::try_from(part(bytes, at, 2)).unwrap_or_default()
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::try_from(part(bytes, at, 4)).unwrap_or_default()
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::try_from(part(bytes, at, 8)).unwrap_or_default()
}

pub(super) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    u64_at(bytes, at) as i64
}
