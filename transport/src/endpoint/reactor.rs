//! The thread that wakes futures and whoever asks for a moment.
//!
//! One thread serves the whole process. It is started when it is first asked for, sleeps in its
//! [`Watcher`], and does nothing but wake.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::thread;

pub(crate) use super::watcher::Watch;

use super::timer::Timers;
use super::watcher::{Room, Watcher};
use crate::device::connection::Interest;

/// What the thread and those whom it wakes share.
#[derive(Debug)]
pub(super) struct Reactor {
    watcher: Arc<Watcher>,
    timers: Timers,
}

/// Where futures have their sources watched.
///
/// # Errors
///
/// What the system says when it is out of descriptors, memory or threads. The next call tries again.
pub(crate) fn watcher() -> io::Result<&'static Arc<Watcher>> {
    Ok(&Reactor::started()?.watcher)
}

/// Has the thread call `waker` once when `source` is ready for `interest`, has hung up or has failed.
/// Readiness that is there already counts.
///
/// # Errors
///
/// Those of [`watcher`], and `source` can't be polled. The waker is not called then.
pub(crate) fn watch(
    source: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
) -> io::Result<Watch> {
    watcher()?.watch_anew(source, interest, waker)
}

impl Reactor {
    /// The reactor of this process, which the first call starts.
    pub(super) fn started() -> io::Result<&'static Arc<Self>> {
        static REACTOR: OnceLock<Arc<Reactor>> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let reactor = Arc::new(Self {
            watcher: Watcher::new()?,
            timers: Timers::default(),
        });
        let its = Arc::clone(&reactor);
        thread::Builder::new()
            .name("jstream-progress".to_owned())
            .spawn(move || its.run())?;
        let reactor = REACTOR.get_or_init(|| reactor);
        drop(starting);
        Ok(reactor)
    }

    pub(super) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Has the thread look at the timers.
    pub(super) fn kick(&self) {
        self.watcher.ring();
    }

    fn run(&self) {
        let (mut room, mut due) = (Room::default(), Vec::new());
        loop {
            let left = self.timers.ring(&mut due);
            self.watcher.sleep(&mut room, left);
            self.watcher.call(&mut room);
        }
    }
}
