//! Sleeping and waking over two words of the shared memory, and lending memory over two others.
//!
//! Whoever changes a word tells the sleeper, if there is one; the sleeper says that it is one, and
//! then looks once more:
//!
//! ```text
//! changes the word         says that it sleeps
//! ---- barrier ----        ---- barrier ----
//! does anybody sleep?      was the word changed?
//! ```
//!
//! One of both sees the other. The barrier of the one that changes the word would cost as much as
//! a small message; where the system has `membarrier`, the sleeper's makes all processors pass one,
//! and the other's is for the compiler alone.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{compiler_fence, fence};
use std::time::Duration;

#[cfg(loom)]
use loom::sync::atomic::fence;
use rustix::thread::{MembarrierCommand, membarrier};

/// After how long what a processor has stored is seen by all others: far longer than any holds it
/// back.
const SETTLED: Duration = Duration::from_millis(1);

/// The words of a ring: those of the shared memory, or of a model.
pub(super) trait Word {
    fn get(&self, ordering: Ordering) -> u64;
    fn set(&self, value: u64, ordering: Ordering);
    fn replace(&self, value: u64, ordering: Ordering) -> u64;
}

impl Word for AtomicU64 {
    #[inline]
    fn get(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn set(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline]
    fn replace(&self, value: u64, ordering: Ordering) -> u64 {
        self.swap(value, ordering)
    }
}

#[cfg(loom)]
impl Word for loom::sync::atomic::AtomicU64 {
    #[inline]
    fn get(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn set(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline]
    fn replace(&self, value: u64, ordering: Ordering) -> u64 {
        self.swap(value, ordering)
    }
}

/// Which barriers both sides of a connection use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Barriers {
    /// The sleeper's is for both.
    Sleeper,
    /// Each has its own.
    Both,
}

impl Barriers {
    /// What this process can do: with `Sleeper`, the barriers of others reach it from now on.
    pub(super) fn of_this_process() -> Self {
        static REGISTERED: OnceLock<Barriers> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterGlobalExpedited);
            match registered.and_then(|()| membarrier(MembarrierCommand::GlobalExpedited)) {
                Ok(()) => Self::Sleeper,
                Err(_) => Self::Both,
            }
        })
    }

    #[inline]
    fn pass(self) {
        match self {
            // In a model, what the sleeper's barrier does to this side.
            #[cfg(loom)]
            Self::Sleeper => fence(Ordering::SeqCst),
            #[cfg(not(loom))]
            Self::Sleeper => compiler_fence(Ordering::SeqCst),
            Self::Both => fence(Ordering::SeqCst),
        }
    }

    fn make_all_pass(self) {
        fence(Ordering::SeqCst);
        if self == Self::Sleeper && cfg!(not(loom)) {
            // It worked before, but a filter that the process has got since may forbid it. What the
            // other side had stored before it saw nobody sleep is here after a while.
            if membarrier(MembarrierCommand::GlobalExpedited).is_err() {
                std::thread::sleep(SETTLED);
            }
        }
    }
}

/// Stores `value` for the other side, together with all that was written before. Whether the other
/// side sleeps, and is to be woken: then `armed` is cleared, so this is said once.
#[inline]
pub(super) fn publish<W: Word>(word: &W, value: u64, armed: &W, barriers: Barriers) -> bool {
    word.set(value, Ordering::Release);
    wanted(armed, barriers)
}

/// As [`publish`], of what was stored before.
#[inline]
pub(super) fn wanted<W: Word>(armed: &W, barriers: Barriers) -> bool {
    barriers.pass();
    armed.get(Ordering::Relaxed) != 0 && armed.replace(0, Ordering::Relaxed) != 0
}

/// Says that this side is about to sleep. Only then it looks whether it has to.
pub(super) fn arm<W: Word>(armed: &W, barriers: Barriers) {
    armed.set(1, Ordering::Relaxed);
    barriers.make_all_pass();
}

/// Says that this side does not sleep after all.
pub(super) fn disarm<W: Word>(armed: &W) {
    armed.set(0, Ordering::Relaxed);
}

/// Copies by `copy` what the other side lends. `None` unless it was lent until the copy was there: it
/// may have been given up before, and whatever is said of it later does not bring it back.
pub(super) fn borrow<W: Word, R>(
    copying: &W,
    abandoned: &W,
    copy: impl FnOnce() -> R,
) -> Option<R> {
    copying.set(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let is_lent = || abandoned.get(Ordering::Acquire) == 0;
    let copied = is_lent().then(copy);
    // What was copied was read before this looks once more.
    fence(Ordering::Acquire);
    let copied = copied.filter(|_| is_lent());
    copying.set(0, Ordering::Release);
    copied
}

/// Lends memory no longer. The other side may read it for as long as it [`is_copying`].
pub(super) fn give_up<W: Word>(abandoned: &W) {
    abandoned.set(1, Ordering::Release);
    fence(Ordering::SeqCst);
}

/// Whether the other side is in [`borrow`].
pub(super) fn is_copying<W: Word>(copying: &W) -> bool {
    copying.get(Ordering::Acquire) != 0
}
