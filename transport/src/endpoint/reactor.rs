//! The thread that wakes futures and whoever asks for a moment.
//!
//! One thread serves the whole process. It is started when it is first asked for, sleeps in its
//! [`Watcher`], and does nothing but wake.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::alarm::Alarms;
use super::watcher::{Room, Watcher};

/// What the thread and those whom it wakes share.
#[derive(Debug)]
pub(super) struct Reactor {
    watcher: Arc<Watcher>,
    alarms: Alarms,
}

/// Where futures have their sources watched.
///
/// # Errors
///
/// What the system says when it is out of descriptors, memory or threads. The next call tries again.
pub(crate) fn watcher() -> io::Result<&'static Arc<Watcher>> {
    Ok(&Reactor::started()?.watcher)
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
            alarms: Alarms::default(),
        });
        let its = Arc::clone(&reactor);
        thread::Builder::new()
            .name("jstream-progress".to_owned())
            .spawn(move || its.run())?;
        let reactor = REACTOR.get_or_init(|| reactor);
        drop(starting);
        Ok(reactor)
    }

    pub(super) fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// Has the thread look at the alarms.
    pub(super) fn kick(&self) {
        self.watcher.ring();
    }

    fn run(&self) {
        let (mut room, mut due) = (Room::new(), Vec::new());
        loop {
            let left = self.alarms.ring(&mut due);
            self.watcher.turn(&mut room, left);
        }
    }
}
