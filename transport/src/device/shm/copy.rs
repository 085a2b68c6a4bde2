//! Copies between private memory and memory that others write at the same time.
//!
//! `memcpy` may assume that nobody else writes what it reads; here somebody may. So the shared side
//! is accessed by relaxed atomics, or by instructions that the compiler knows nothing of.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// From how many bytes on whole registers are copied instead of words.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 2 * REGISTER;
/// How many bytes a register has.
#[cfg(target_arch = "x86_64")]
const REGISTER: usize = 32;

/// Copies `from` into shared memory of the same length; what has no room is left out.
#[inline]
pub(super) fn copy_in(to: &[AtomicU8], from: &[u8]) {
    let n = to.len().min(from.len());
    #[cfg(target_arch = "x86_64")]
    if n >= LONG {
        // SAFETY: `from` is valid for reads of `n` bytes, and `to` for writes, as a shared slice of
        // atomics is; `n` is at least `LONG`.
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

/// Copies out of shared memory, as many bytes as both have, which is what it returns: so many bytes
/// of `to` are initialised then.
#[inline]
pub(super) fn copy_out(to: &mut [MaybeUninit<u8>], from: &[AtomicU8]) -> usize {
    let n = to.len().min(from.len());
    #[cfg(target_arch = "x86_64")]
    if n >= LONG {
        // SAFETY: `from` is valid for reads of `n` bytes, and `to` for writes, which it borrows
        // exclusively; `n` is at least `LONG`.
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

/// Memory that has values, for the copies of this module, which write nothing else.
///
/// # Safety
///
/// What is written there must have values.
#[inline]
pub(super) unsafe fn uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let bytes: *mut [u8] = bytes;
    // SAFETY: both are laid out alike, and borrowed exclusively for as long; the bytes keep having
    // values, by the caller's promise.
    unsafe { &mut *(bytes as *mut [MaybeUninit<u8>]) }
}

/// Up to how many bytes are asked for in advance: of more, the processor does it by itself.
pub(super) const PREFETCHED: usize = 2 << 10;

/// Asks for memory that is read next, all of its cache lines at once. They may change until then.
#[inline]
pub(super) fn prefetch(bytes: &[AtomicU8]) {
    #[cfg(target_arch = "x86_64")]
    for byte in bytes.iter().step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads no memory that the program could see; every processor of this kind has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.as_ptr().cast_const().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Copies `from` into words, filling the last one up with zeros; what has no room is left out.
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

/// Writes as many words as there are of both.
#[inline]
pub(super) fn set_words<const N: usize>(to: &[AtomicU64], from: [u64; N]) {
    for (to, from) in to.iter().zip(from) {
        to.store(from, Ordering::Relaxed);
    }
}

/// Reads the first words; what is not there is 0.
#[inline]
pub(super) fn get_words<const N: usize>(from: &[AtomicU64]) -> [u64; N] {
    let mut words = [0; N];
    for (to, from) in words.iter_mut().zip(from) {
        *to = from.load(Ordering::Relaxed);
    }
    words
}

/// Copies words out until `to` is full, as long as there are any. Returns how many bytes of `to`
/// are initialised then.
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

/// The aligned words in the middle of shared memory, and the bytes around them.
fn as_words(bytes: &[AtomicU8]) -> (&[AtomicU8], &[AtomicU64], &[AtomicU8]) {
    // SAFETY: an atomic word is laid out as eight atomic bytes are; in memory that others write, none
    // of its accesses is more than a read or a write of these.
    unsafe { bytes.align_to() }
}

/// Copies `n` bytes, at least [`LONG`], by instructions that the compiler knows nothing of.
///
/// # Safety
///
/// `n` must be at least [`LONG`], and `from` valid for reads and `to` for writes of `n` bytes, which do not
/// overlap. Others may access the shared one of both at the same time, by atomics or in another process.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn move_bytes(to: *mut u8, from: *const u8, n: usize) {
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has these registers; the rest is this function's own contract.
        unsafe { move_by_registers(to, from, n) };
    } else {
        // SAFETY: this function's own contract.
        unsafe { move_at_once(to, from, n) };
    }
}

/// The same by one instruction.
///
/// # Safety
///
/// As of [`move_bytes`].
#[cfg(target_arch = "x86_64")]
unsafe fn move_at_once(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: the caller vouches for both sides; the direction flag is clear, as the ABI has it, and
    // the compiler assumes nothing about the memory that was read or written.
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

/// The same by registers, which takes equally long wherever both sides stand. The one instruction that does
/// it all needs several times as long where `n` is small, or the one stands a few bytes behind the other in its
/// page.
///
/// # Safety
///
/// As of [`move_bytes`]; and the processor must have AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn move_by_registers(to: *mut u8, from: *const u8, n: usize) {
    debug_assert!(n >= LONG);
    // The first and the last 32 bytes are copied wherever they stand. What is between is written at
    // multiples of 32, which may write some of these a second time.
    //
    // SAFETY: the caller vouches for both sides. With `n` of at least 64, the first 32 bytes are inside,
    // and so are the last. The loops begin at the next multiple of 32 in `to`, at most 32 bytes on, and
    // count what is left up to the last 32 bytes: 128 are copied while that many are left, and 32 while
    // any are, which end inside the last 32 then. The compiler assumes nothing about the memory that was
    // read or written, and all registers whose upper halves are cleared at the end are named.
    unsafe {
        std::arch::asm!(
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + {n} - 32]",
            "vmovdqu [{to}], ymm0",
            "vmovdqu [{to} + {n} - 32], ymm1",
            // How far the next multiple of 32 is.
            "mov {skip}, {to}",
            "and {skip}, 31",
            "sub {skip}, 32",
            "sub {to}, {skip}",
            "sub {from}, {skip}",
            // What is left of all but the last 32 bytes.
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
            (true, move_at_once as unsafe fn(*mut u8, *const u8, usize)),
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
