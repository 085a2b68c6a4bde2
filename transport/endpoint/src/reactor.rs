//! The thread that wakes tasks when a descriptor is ready or a timer expires.
//!
//! One thread serves the whole process. It starts on first use, sleeps in its [`Watcher`], and does
//! nothing but call wakers.
//!
//! Decision 030 has the reasons.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;
use std::time::Instant;

pub(crate) use jstream_sync::watcher::Watch;

use jstream_sync::timers::Timers;
use jstream_sync::watcher::Interest;
use jstream_sync::watcher::{WatchBuffers, Watcher};

/// State that the thread shares with its users.
#[derive(Debug)]
pub(super) struct Reactor {
    watcher: Arc<Watcher>,
    timers: Timers,
}

/// Returns the watcher with which futures register their sources.
///
/// # Errors
///
/// The error of the system if it is out of descriptors, memory or threads. The next call tries
/// again.
pub(crate) fn watcher() -> io::Result<&'static Arc<Watcher>> {
    Ok(&Reactor::started()?.watcher)
}

/// Registers `waker` to be called once by the thread when `source` is ready for `interest`, has
/// hung up or has failed. Readiness that already exists counts.
///
/// # Errors
///
/// The errors of [`watcher`], and an error if `source` can't be polled. The waker is not called
/// then.
pub(crate) fn watch(
    source: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
) -> io::Result<Watch> {
    watcher()?.watch_new(source, interest, waker)
}

impl Reactor {
    /// Returns the reactor of this process. The first call starts it.
    pub(super) fn started() -> io::Result<&'static Arc<Self>> {
        static REACTOR: OnceLock<Arc<Reactor>> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let starting = jstream_sync::lock(&STARTING);
        // Another thread may have started it while this one waited. The lock keeps two threads from
        // starting two reactors, of which one would sleep for ever without users.
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let reactor = Arc::new(Self {
            watcher: Watcher::new()?,
            timers: Timers::default(),
        });
        let its = Arc::clone(&reactor);
        jstream_sync::threads::spawn("jstream-progress", move || its.run())?;
        let reactor = REACTOR.get_or_init(|| reactor);
        drop(starting);
        Ok(reactor)
    }

    pub(super) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Makes the thread check the timers.
    pub(super) fn kick(&self) {
        self.watcher.ring();
    }

    fn run(&self) {
        let mut room = WatchBuffers::default();
        loop {
            let left = self.timers.expire(Instant::now());
            self.watcher.sleep(&mut room, left);
            self.watcher.call(&mut room);
        }
    }
}

#[cfg(test)]
mod tests;
