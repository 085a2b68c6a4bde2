//! Child processes of a world, and how they ended.

use jstream_base::events::emit;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tracing::Level;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::error::WorldError;
use jstream_device::deadline::Deadline;
use jstream_device::poll::sleep_on_any;

/// Polling interval on systems without process file descriptors.
const LOOK: Duration = Duration::from_millis(20);

/// Child processes that were started together. On drop, those that are still running are killed.
pub(super) struct Children {
    kept: Arc<Kept>,
    keeper: Option<JoinHandle<()>>,
}

struct Kept {
    started: Mutex<Vec<Started>>,
    /// Notified when a process has ended.
    ended: Condvar,
}

struct Started {
    /// The rank, unless the world goes on without it.
    rank: Option<u32>,
    child: Child,
    status: Option<ExitStatus>,
}

impl Children {
    /// Starts the processes. A process may have asked the kernel to be killed when the thread that
    /// started it ends. So a dedicated thread starts them, and lives until all have ended.
    pub(super) fn start(commands: Vec<(u32, Command)>) -> Result<Self, WorldError> {
        let kept = Arc::new(Kept {
            started: Mutex::default(),
            ended: Condvar::new(),
        });
        let (told, starting) = mpsc::channel();
        let keeping = kept.clone();
        let keeper = Builder::new().name("jstream-children".to_owned());
        // One thread starts and keeps all: a process that asks the kernel to be killed with its
        // parent is killed with the thread that has started it.
        let keeper = keeper.spawn(move || {
            let failed = keeping.start(commands).err();
            // The receiver waits for this message, unless the process is ending.
            let _ = told.send(failed);
            keeping.keep();
        })?;
        // If an error is returned below, dropping this kills the processes that were started.
        let children = Self {
            kept,
            keeper: Some(keeper),
        };
        match starting.recv() {
            Ok(None) => Ok(children),
            Ok(Some((rank, source))) => Err(WorldError::Spawn { rank, source }),
            Err(_) => Err(io::Error::other("the thread that starts processes panicked").into()),
        }
    }

    /// Returns an error if a process has ended.
    pub(super) fn check(&self) -> Result<(), WorldError> {
        let started = self.kept.lock();
        let ends = started.iter().filter(|child| child.status.is_some());
        let ends: Vec<_> = ends.filter_map(Started::end).collect();
        if ends.is_empty() {
            return Ok(());
        }
        Err(WorldError::Children { ends })
    }

    /// Waits until all processes have ended. Returns those that did not succeed; those that are
    /// still running at the deadline are killed on drop.
    pub(super) fn finish(self, until: Deadline) -> Vec<(u32, Option<ExitStatus>)> {
        let mut started = self.kept.lock();
        let runs = |child: &Started| child.rank.is_some() && child.status.is_none();
        while !until.has_passed() && started.iter().any(runs) {
            let left = until.left().unwrap_or(Duration::MAX);
            let waited = self.kept.ended.wait_timeout(started, left);
            started = jstream_sync::unpoisoned(waited).0;
        }
        let failed = started
            .iter()
            .filter(|child| !child.status.is_some_and(|status| status.success()));
        failed.filter_map(Started::end).collect()
    }

    /// Changes the ranks. How a process ends whose new rank is `None` is not reported.
    pub(super) fn renumber(&self, number: impl Fn(u32) -> Option<u32>) {
        for started in self.kept.lock().iter_mut() {
            started.rank = started.rank.and_then(&number);
        }
    }
}

impl Started {
    /// Returns the rank and how it ended, if the world cares.
    fn end(&self) -> Option<(u32, Option<ExitStatus>)> {
        Some((self.rank?, self.status))
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for started in self.kept.lock().iter_mut() {
            if started.status.is_none() {
                // The process may just have ended.
                let _ = started.child.kill();
            }
        }
        if let Some(keeper) = self.keeper.take() {
            // The processes were killed, so the thread ends soon. It has reaped them by then.
            let _ = keeper.join();
        }
    }
}

impl Kept {
    fn start(&self, commands: Vec<(u32, Command)>) -> Result<(), (u32, io::Error)> {
        for (rank, mut command) in commands {
            let child = command.spawn().map_err(|error| (rank, error))?;
            self.lock().push(Started {
                rank: Some(rank),
                child,
                status: None,
            });
        }
        Ok(())
    }

    /// Waits until all processes have ended, and records their status.
    fn keep(&self) {
        let open = |started: &Started| {
            let number = i32::try_from(started.child.id()).ok();
            let pid = number.and_then(Pid::from_raw)?;
            // Opened before any process is reaped, so the number cannot stand for another process.
            pidfd_open(pid, PidfdFlags::empty()).ok()
        };
        let mut descriptors: Vec<Option<OwnedFd>> = self.lock().iter().map(open).collect();
        loop {
            let mut started = self.lock();
            let mut running = 0usize;
            for (started, descriptor) in started.iter_mut().zip(&mut descriptors) {
                if started.status.is_none() {
                    started.status = started.child.try_wait().ok().flatten();
                }
                if started.status.is_some() {
                    *descriptor = None;
                } else {
                    running = running.saturating_add(1);
                }
            }
            drop(started);
            self.ended.notify_all();
            if running == 0 {
                return;
            }
            // A process without a descriptor has to be looked at from time to time.
            let told = descriptors.iter().flatten();
            let all_tell = told.clone().count() == running;
            let until = if all_tell {
                Deadline::NEVER
            } else {
                Deadline::after(LOOK)
            };
            if let Err(error) = sleep_on_any(told.map(AsFd::as_fd), until) {
                emit(Level::DEBUG, move || {
                    tracing::debug!(%error, "can't wait for child processes");
                });
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Locks the list. The list is valid between statements, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Vec<Started>> {
        jstream_sync::lock(&self.started)
    }
}
