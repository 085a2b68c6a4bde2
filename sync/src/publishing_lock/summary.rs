//! Summaries: words that threads read without the lock, and that only the lock stores.

use std::fmt;

use crate::flag::DekkerFlag;
use crate::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, CacheLines, Ordering};

/// The words of a state that threads read without its lock.
pub trait Summary: sealed::Store<Self::Value> {
    /// The content of the words.
    type Value: Copy + PartialEq;
}

/// A word of a summary: a `bool`, `u32`, `u64` or `usize`.
pub struct Word<V: sealed::Atom>(V::Atomic);

pub(super) mod sealed {
    //! Access of the lock. No other crate can name this trait, so only a release stores a summary.

    /// Creates, loads and stores the words.
    pub trait Store<V> {
        fn new(value: V) -> Self;

        fn load(&self) -> V;

        fn store(&self, value: V);
    }

    /// A value that an atomic holds.
    pub trait Atom {
        type Atomic;
    }
}

macro_rules! word {
    ($atomic:ident, $value:ty) => {
        impl sealed::Atom for $value {
            type Atomic = $atomic;
        }

        impl Word<$value> {
            /// Returns the value that the last release has stored.
            #[inline]
            pub fn get(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }

            /// As [`get`](Self::get). The caller then sees what was done before that release.
            #[inline]
            pub fn get_acquire(&self) -> $value {
                self.0.load(Ordering::Acquire)
            }
        }

        impl Summary for Word<$value> {
            type Value = $value;
        }

        impl sealed::Store<$value> for Word<$value> {
            fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }

            #[inline]
            fn load(&self) -> $value {
                self.get()
            }

            /// Pairs with [`get_acquire`](Self::get_acquire).
            #[inline]
            fn store(&self, value: $value) {
                self.0.store(value, Ordering::Release);
            }
        }
    };
}

impl<V: sealed::Atom> fmt::Debug for Word<V>
where
    V::Atomic: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

word!(AtomicBool, bool);
word!(AtomicU32, u32);
word!(AtomicU64, u64);
word!(AtomicUsize, usize);

/// A count of sleepers. A notifying thread uses the methods of the flag with barriers.
impl Summary for DekkerFlag {
    type Value = u32;
}

impl sealed::Store<u32> for DekkerFlag {
    fn new(value: u32) -> Self {
        let flag = Self::new();
        flag.store(value, Ordering::Relaxed);
        flag
    }

    #[inline]
    fn load(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    /// The sleeping thread executes the barrier after the release.
    #[inline]
    fn store(&self, value: u32) {
        self.store(value, Ordering::Relaxed);
    }
}

impl<S: Summary> Summary for CacheLines<S> {
    type Value = S::Value;
}

impl<S: Summary> sealed::Store<S::Value> for CacheLines<S> {
    fn new(value: S::Value) -> Self {
        Self(S::new(value))
    }

    #[inline]
    fn load(&self) -> S::Value {
        self.0.load()
    }

    #[inline]
    fn store(&self, value: S::Value) {
        self.0.store(value);
    }
}

impl<A: Summary, B: Summary> Summary for (A, B) {
    type Value = (A::Value, B::Value);
}

/// The words are loaded and stored one after the other.
impl<A: Summary, B: Summary> sealed::Store<(A::Value, B::Value)> for (A, B) {
    fn new((a, b): (A::Value, B::Value)) -> Self {
        (A::new(a), B::new(b))
    }

    #[inline]
    fn load(&self) -> (A::Value, B::Value) {
        (self.0.load(), self.1.load())
    }

    #[inline]
    fn store(&self, (a, b): (A::Value, B::Value)) {
        self.0.store(a);
        self.1.store(b);
    }
}
