//! Limits on messages, and on the memory that a reader keeps between them.
//!
//! Decision 053 has the reasons.

/// Limits on the messages that a reader accepts and a [`Writer`](crate::Writer) writes. Memory and
/// work are linear in the length of the message, whatever the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a message in bytes (default 4 GiB).
    pub bytes: usize,
    /// Maximum number of zero-sized elements in a message (default 65,536), in addition to one for
    /// each byte of the targets before them, such as the keys of a map whose values have no size.
    /// They cost the sender no bytes, but they cost time in code that iterates over them.
    pub zero_sized: usize,
    /// Maximum number of pointers on a path without a `Cell` from the root to an object that holds
    /// pointers itself (default 1,000; `None` for no limit). Reading uses constant stack at any
    /// depth, but recursive functions of the program do not, such as a derived `Debug` or
    /// `PartialEq`. A path through a `Cell` counts only if it is the first path to the object,
    /// because such paths may form a cycle. Within an rkyv archive each pointer counts, and the
    /// maximum is 128.
    pub depth: Option<u32>,
    /// Maximum number of runs that may wait to be read, where a run is a sequence of adjacent
    /// values of one type (default 2^22, which take 96 MiB, or twice that if shared objects are
    /// among them). A list, a tree, or a slice of structs with strings needs a few; many objects of
    /// alternating types need one each. Limits messages that cost the reader several times their
    /// length in memory.
    pub pending: usize,
    /// Maximum number of shared objects in a message, the root included, and of further pointers to
    /// them (default 2^22 each, which take 400 MiB, or twice that if
    /// they alternate with others). Limits the same attack as `pending`. Functions
    /// of the program that visit a shared object on every path to it, such as a derived
    /// `PartialEq`, need a limit of their own: thirty objects can have 10^9 paths.
    pub shared: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 30,
            zero_sized: 1 << 16,
            depth: Some(1000),
            pending: 1 << 22,
            shared: 1 << 22,
        }
    }
}

/// Capacity, in entries, that a work list of a reader keeps between messages. A list keeps more
/// only if the last message needed it.
pub(super) const KEEP: usize = 1 << 16;

/// Number of entries that may be taken from the front of a work list before it is compacted.
pub(super) const COMPACT: usize = 1024;
