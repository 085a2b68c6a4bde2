//! Code of the program that panics, or calls back, wherever a library calls it.
//!
//! A test calls [`reached`] in each function that the library may call. [`at_each`] runs an operation
//! again and again, and lets the first call panic, then the second, and so on.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// A function of a test that calls the library from within a callback.
type Reentry = Box<dyn Fn()>;

thread_local! {
    /// Number of calls until the one that panics, if one does.
    static FUSE: Cell<Option<usize>> = const { Cell::new(None) };
    /// Number of [`Tracked`] values that exist.
    static LIVE: Cell<usize> = const { Cell::new(0) };
    /// `None` while it is called.
    static REENTRY: RefCell<Option<Reentry>> = const { RefCell::new(None) };
}

/// The payload of a panic that [`reached`] causes.
struct Burnt;

/// Calls the library from within this call, and panics if it is the turn of this call.
pub fn reached() {
    if let Some(reentry) = REENTRY.take() {
        without_panics(&reentry);
        REENTRY.set(Some(reentry));
    }
    match FUSE.get() {
        Some(0) if !thread::panicking() => {
            FUSE.set(None);
            // Without the panic hook, which would print hundreds of messages.
            resume_unwind(Box::new(Burnt));
        }
        Some(calls) => FUSE.set(Some(calls.saturating_sub(1))),
        None => {}
    }
}

/// Calls `run`. The callbacks that it reaches neither panic nor count.
pub fn without_panics(run: impl FnOnce()) {
    let fuse = FUSE.replace(None);
    run();
    FUSE.set(fuse);
}

/// A value whose destructor is a callback. It must be dropped once.
#[derive(Debug)]
pub struct Tracked(u64);

const ALIVE: u64 = 0x5afe_5afe_5afe_5afe;

impl Tracked {
    /// Creates a value. Is no callback itself.
    #[must_use]
    pub fn new() -> Self {
        LIVE.set(LIVE.get() + 1);
        Self(ALIVE)
    }
}

impl Default for Tracked {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        reached();
        Self::new()
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        assert_eq!(self.0, ALIVE, "a value is dropped twice, or is none");
        self.0 = 0;
        LIVE.set(LIVE.get() - 1);
        reached();
    }
}

/// Runs `operation` once for each call of [`reached`] that it makes, which panics, and a last time
/// without a panic. After each run `check` is called, and no [`Tracked`] value may be left that did
/// not exist before. Each call of [`reached`] also calls `reentry`. At least `least` calls must be
/// made.
pub fn at_each(
    least: usize,
    reentry: impl Fn() + 'static,
    mut operation: impl FnMut(),
    mut check: impl FnMut(),
) {
    REENTRY.set(Some(Box::new(reentry)));
    for calls in 0.. {
        let live = LIVE.get();
        FUSE.set(Some(calls));
        let result = catch_unwind(AssertUnwindSafe(&mut operation));
        let is_burnt = FUSE.replace(None).is_none();
        assert_eq!(LIVE.get(), live, "values are left after call {calls}");
        match result {
            Err(panic) if !panic.is::<Burnt>() => resume_unwind(panic),
            _ => check(),
        }
        // A library may also catch the panic.
        if !is_burnt {
            assert!(calls >= least, "only {calls} calls were made");
            break;
        }
    }
    REENTRY.set(None);
}
