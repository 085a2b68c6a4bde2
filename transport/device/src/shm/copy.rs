//! Copies between private memory and memory that another process writes concurrently.
//!
//! `memcpy` may assume that no other thread writes the memory that it reads, which does not hold
//! here. So the shared side is accessed with relaxed atomics, or with instructions that are opaque
//! to the compiler.
//!
//! Decisions 035 and 038 have the reasons.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Minimum length, in bytes, from which whole vector registers are copied instead of words.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 2 * REGISTER;
/// Length of a vector register in bytes.
#[cfg(target_arch = "x86_64")]
const REGISTER: usize = 32;

/// Copies `from` into shared memory. Bytes beyond the length of `to` are not copied.
#[inline]
pub(super) fn copy_in(to: &[AtomicU8], from: &[u8]) {
    let n = to.len().min(from.len());
    #[cfg(target_arch = "x86_64")]
    if n >= LONG {
        // SAFETY: `from` is valid for reads of `n` bytes. `to` is valid for writes of `n` bytes, as
        // a shared slice of atomics is. `n` is at least `LONG`.
        unsafe { move_bytes(to.as_ptr().cast::<u8>().cast_mut(), from.as_ptr(), n) };
        return;
    }
    let (Some(to), Some(from)) = (to.get(..n), from.get(..n)) else {
        return;
    };
    let (head, words, tail) = as_words(to);
    let (begin, from) = from.split_at(head.len());
    let (middle, end) = from.split_at(words.len().wrapping_mul(8));
    for (to, from) in head.iter().zip(begin) {
        to.store(*from, Ordering::Relaxed);
    }
    for (to, from) in words.iter().zip(middle.as_chunks_of_8()) {
        to.store(u64::from_ne_bytes(from), Ordering::Relaxed);
    }
    for (to, from) in tail.iter().zip(end) {
        to.store(*from, Ordering::Relaxed);
    }
}

/// Copies from shared memory, up to the shorter length. Returns the number of copied bytes; this
/// many bytes of `to` are then initialised.
#[inline]
pub(super) fn copy_out(to: &mut [MaybeUninit<u8>], from: &[AtomicU8]) -> usize {
    let n = to.len().min(from.len());
    #[cfg(target_arch = "x86_64")]
    if n >= LONG {
        // SAFETY: `from` is valid for reads of `n` bytes. `to` is valid for writes of `n` bytes and
        // is borrowed exclusively. `n` is at least `LONG`.
        unsafe { move_bytes(to.as_mut_ptr().cast(), from.as_ptr().cast(), n) };
        return n;
    }
    let (Some(to), Some(from)) = (to.get_mut(..n), from.get(..n)) else {
        return 0;
    };
    let (head, words, tail) = as_words(from);
    let (begin, to) = to.split_at_mut(head.len());
    let (middle, end) = to.split_at_mut(words.len().wrapping_mul(8));
    for (to, from) in begin.iter_mut().zip(head) {
        to.write(from.load(Ordering::Relaxed));
    }
    for (to, from) in middle.chunks_exact_mut(8).zip(words) {
        let bytes = from.load(Ordering::Relaxed).to_ne_bytes();
        to.copy_from_slice(&bytes.map(MaybeUninit::new));
    }
    for (to, from) in end.iter_mut().zip(tail) {
        to.write(from.load(Ordering::Relaxed));
    }
    n
}

/// Reinterprets initialised memory for the copy functions of this module, which write only
/// initialised bytes.
///
/// # Safety
///
/// The caller must write only initialised bytes to the result.
#[inline]
pub(super) unsafe fn uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let bytes: *mut [u8] = bytes;
    // SAFETY: Both types have the same layout, and the borrow stays exclusive for the same
    // lifetime. The bytes stay initialised, as the caller guarantees.
    unsafe { &mut *(bytes as *mut [MaybeUninit<u8>]) }
}

/// Maximum number of bytes that are prefetched. For longer data, the hardware prefetcher suffices.
pub(super) const PREFETCHED: usize = 2 << 10;

/// Prefetches memory that is read next, all of its cache lines at once. The contents may still
/// change.
#[inline]
pub(super) fn prefetch(bytes: &[AtomicU8]) {
    #[cfg(target_arch = "x86_64")]
    for byte in bytes.iter().step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: The instruction has no effect that the program could observe, and all x86-64
        // processors support it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.as_ptr().cast_const().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Copies `from` into words and pads the last one with zeros. Bytes without room are not copied.
#[inline]
pub(super) fn words_in(to: &[AtomicU64], from: &[u8]) {
    let mut words = to.iter();
    let mut chunks = from.chunks_exact(8);
    for (from, to) in chunks.by_ref().zip(words.by_ref()) {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(from);
        to.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
    }
    let rest = chunks.remainder();
    if let (false, Some(to)) = (rest.is_empty(), words.next()) {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(rest) {
            *to = *from;
        }
        to.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
    }
}

/// Stores words, up to the shorter length.
#[inline]
pub(super) fn set_words<const N: usize>(to: &[AtomicU64], from: [u64; N]) {
    for (to, from) in to.iter().zip(from) {
        to.store(from, Ordering::Relaxed);
    }
}

/// Loads the first `N` words. Missing words are 0.
#[inline]
pub(super) fn get_words<const N: usize>(from: &[AtomicU64]) -> [u64; N] {
    let mut words = [0; N];
    for (to, from) in words.iter_mut().zip(from) {
        *to = from.load(Ordering::Relaxed);
    }
    words
}

/// Copies words until `to` is full or there are no more words. Returns the number of bytes of `to`
/// that are initialised then.
#[inline]
pub(super) fn words_out(to: &mut [MaybeUninit<u8>], from: &[AtomicU64]) -> usize {
    let mut copied = 0_usize;
    let mut words = from.iter();
    let mut chunks = to.chunks_exact_mut(8);
    for (to, from) in chunks.by_ref().zip(words.by_ref()) {
        let bytes = from.load(Ordering::Relaxed).to_ne_bytes();
        to.copy_from_slice(&bytes.map(MaybeUninit::new));
        copied = copied.wrapping_add(8);
    }
    let rest = chunks.into_remainder();
    if let (false, Some(from)) = (rest.is_empty(), words.next()) {
        let bytes = from.load(Ordering::Relaxed).to_ne_bytes();
        for (to, byte) in rest.iter_mut().zip(bytes) {
            to.write(byte);
        }
        copied = copied.wrapping_add(rest.len());
    }
    copied
}

/// Splits shared memory into aligned words and the bytes before and after them.
fn as_words(bytes: &[AtomicU8]) -> (&[AtomicU8], &[AtomicU64], &[AtomicU8]) {
    // SAFETY: An atomic word has the layout of eight atomic bytes. In memory that another process
    // writes, each access of the word is only a read or a write of these bytes.
    unsafe { bytes.align_to() }
}

/// Copies `n` bytes, at least [`LONG`], with instructions that are opaque to the compiler.
///
/// # Safety
///
/// `n` must be at least [`LONG`]. `from` must be valid for reads and `to` for writes of `n` bytes,
/// and they must not overlap. The shared one of the two may be accessed concurrently, by atomics or
/// by another process.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn move_bytes(to: *mut u8, from: *const u8, n: usize) {
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: The processor supports AVX. The caller guarantees the rest of the contract.
        unsafe { move_by_registers(to, from, n) };
    } else {
        // SAFETY: The caller guarantees this function's contract.
        unsafe { move_by_string(to, from, n) };
    }
}

/// Copies with a single string instruction.
///
/// # Safety
///
/// The requirements of [`move_bytes`].
#[cfg(target_arch = "x86_64")]
unsafe fn move_by_string(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: The caller guarantees that both sides are valid. The ABI guarantees that the
    // direction flag is clear. The compiler assumes nothing about the memory that is read or
    // written.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") n => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    };
}

/// Copies with vector registers. The duration does not depend on the alignment of the two sides.
/// The string instruction takes several times as long if `n` is small, or if the offsets of the two
/// sides in their pages differ by a few bytes.
///
/// # Safety
///
/// The requirements of [`move_bytes`], and the processor must support AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn move_by_registers(to: *mut u8, from: *const u8, n: usize) {
    debug_assert!(n >= LONG);
    // The first and the last 32 bytes are copied unaligned. The bytes between them are written at
    // multiples of 32, which may write some of the same bytes twice.
    //
    // SAFETY: The caller guarantees that both sides are valid. `n` is at least 64, so the first 32
    // bytes and the last 32 bytes are inside. The loops begin at the next multiple of 32 in `to`,
    // at most 32 bytes further, and count the bytes up to the last 32 bytes: they copy 128 bytes
    // while at least 128 are left, and then 32 bytes while any are left. The last such block ends
    // inside the last 32 bytes. The compiler assumes nothing about the memory that is read or
    // written. All registers whose upper halves are cleared at the end are declared as clobbered.
    unsafe {
        std::arch::asm!(
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + {n} - 32]",
            "vmovdqu [{to}], ymm0",
            "vmovdqu [{to} + {n} - 32], ymm1",
            // Minus the distance to the next multiple of 32.
            "mov {skip}, {to}",
            "and {skip}, 31",
            "sub {skip}, 32",
            "sub {to}, {skip}",
            "sub {from}, {skip}",
            // Number of bytes left, without the last 32.
            "lea {n}, [{n} + {skip} - 32]",
            "sub {n}, 128",
            "jb 3f",
            ".p2align 5",
            "2:",
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + 32]",
            "vmovdqu ymm2, [{from} + 64]",
            "vmovdqu ymm3, [{from} + 96]",
            "vmovdqa [{to}], ymm0",
            "vmovdqa [{to} + 32], ymm1",
            "vmovdqa [{to} + 64], ymm2",
            "vmovdqa [{to} + 96], ymm3",
            "add {from}, 128",
            "add {to}, 128",
            "sub {n}, 128",
            "jae 2b",
            "3:",
            "add {n}, 128",
            "jz 5f",
            "4:",
            "vmovdqu ymm0, [{from}]",
            "vmovdqa [{to}], ymm0",
            "add {from}, 32",
            "add {to}, 32",
            "sub {n}, 32",
            "ja 4b",
            "5:",
            "vzeroupper",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            n = inout(reg) n => _,
            skip = out(reg) _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack)
        );
    };
}

trait Chunks {
    fn as_chunks_of_8(&self) -> impl Iterator<Item = [u8; 8]>;
}

impl Chunks for [u8] {
    fn as_chunks_of_8(&self) -> impl Iterator<Item = [u8; 8]> {
        self.chunks_exact(8)
            .filter_map(|chunk| chunk.try_into().ok())
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::undocumented_unsafe_blocks,
        reason = "test code"
    )]

    use super::*;

    #[test]
    fn every_length_and_alignment_arrives() {
        let source: Vec<u8> = (0..1000_u32)
            .map(|n| (n * 7 + 3 + (n >> 8)) as u8)
            .collect();
        for at in 0..33 {
            for length in (0..260).chain([511, 512, 513, 700]) {
                let shared: Vec<AtomicU8> = (0..1000).map(|_| AtomicU8::new(0)).collect();
                copy_in(&shared[at..at + length], &source[..length]);
                let mut back = vec![MaybeUninit::new(9_u8); length + 1];
                assert_eq!(copy_out(&mut back, &shared[at..at + length]), length);
                let back: Vec<u8> = back.iter().map(|b| unsafe { b.assume_init() }).collect();
                assert_eq!(back[..length], source[..length], "{length} at {at}");
                assert_eq!(back[length], 9);
                let outside = shared[..at].iter().chain(&shared[at + length..]);
                assert!(outside.into_iter().all(|b| b.load(Ordering::Relaxed) == 0));
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn processors_of_both_kinds_copy_all() {
        let source: Vec<u8> = (0..1000_u32)
            .map(|n| (n * 11 + 5 + (n >> 8)) as u8)
            .collect();
        let ways = [
            (true, move_by_string as unsafe fn(*mut u8, *const u8, usize)),
            (
                std::arch::is_x86_feature_detected!("avx"),
                move_by_registers,
            ),
        ];
        for (_, way) in ways.into_iter().filter(|(here, _)| *here) {
            for (to, from) in (0..33).flat_map(|to| [0, 1, 16, 31].map(|from| (to, from))) {
                for n in (LONG..300).chain([511, 512, 513, 700]) {
                    let mut copy = vec![0; 1000];
                    unsafe { way(copy[to..].as_mut_ptr(), source[from..].as_ptr(), n) };
                    assert_eq!(copy[to..to + n], source[from..from + n], "{n} at {to}");
                    let outside = copy[..to].iter().chain(&copy[to + n..]);
                    assert!(outside.into_iter().all(|byte| *byte == 0));
                }
            }
        }
    }

    #[test]
    fn words_are_filled_up_and_cut() {
        let words: [AtomicU64; 3] = Default::default();
        words_in(&words, b"0123456789");
        let mut back = [MaybeUninit::new(b'x'); 11];
        assert_eq!(words_out(&mut back[..10], &words), 10);
        assert_eq!(back.map(|b| unsafe { b.assume_init() }), *b"0123456789x");
        assert_eq!(
            words[1].load(Ordering::Relaxed).to_ne_bytes(),
            *b"89\0\0\0\0\0\0"
        );
    }
}
