//! The threads that serve a bundle: some, and more while all of these are at handlers that run for long.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

use super::driving::Core;

/// What a thread does around its work.
pub(super) type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// What threads that are started together share.
pub(super) struct Crew {
    stopped: AtomicBool,
    around: Box<Around>,
    threads: Mutex<Threads>,
}

struct Threads {
    places: Places,
    handles: Vec<JoinHandle<()>>,
}

/// How many threads there are that don't end, and may be.
#[derive(Debug)]
pub(super) struct Places {
    count: usize,
    least: usize,
    most: usize,
}

impl Places {
    pub(super) fn new(least: usize, most: usize) -> Self {
        Self {
            count: 0,
            least,
            most,
        }
    }

    /// There is one more.
    pub(super) fn take(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Whether there may be one more.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.most
    }

    /// Whether the thread that asks is to end: so many others stand by, and it is one more than there have to be.
    pub(super) fn leave(&mut self, standing: usize) -> bool {
        let leaves = standing >= self.least && self.count > self.least;
        if leaves {
            self.count = self.count.saturating_sub(1);
        }
        leaves
    }
}

impl Crew {
    /// So many threads that serve.
    pub(super) fn start(
        core: &Arc<Core>,
        least: usize,
        most: usize,
        around: Box<Around>,
    ) -> io::Result<Arc<Self>> {
        let crew = Arc::new(Self {
            stopped: AtomicBool::new(false),
            around,
            threads: Mutex::new(Threads {
                places: Places::new(least, most),
                handles: Vec::new(),
            }),
        });
        for number in 0..least {
            // The first receives. Where one of the others was to stand by, nobody would see that both are busy.
            if let Err(error) = crew.add(core, &mut crew.threads(), number > 0) {
                crew.stop(core);
                return Err(error);
            }
        }
        Ok(crew)
    }

    fn add(
        self: &Arc<Self>,
        core: &Arc<Core>,
        threads: &mut Threads,
        is_more: bool,
    ) -> io::Result<()> {
        let (crew, core) = (self.clone(), core.clone());
        let name = "jstream-serving".to_owned();
        let handle = Builder::new().name(name).spawn(move || {
            (crew.around)(&mut || core.work(Some(&crew), is_more, || crew.has_stopped()));
        })?;
        threads.handles.retain(|handle| !handle.is_finished());
        threads.handles.push(handle);
        threads.places.take();
        Ok(())
    }

    /// Nobody stands by any more: another thread does, if there may be one, and one is to be had.
    pub(super) fn grow(self: &Arc<Self>, core: &Arc<Core>) {
        let mut threads = self.threads();
        if threads.places.has_room() && !self.has_stopped() {
            let _ = self.add(core, &mut threads, true);
        }
    }

    /// Whether the thread that asks is to end, while so many others stand by.
    pub(super) fn leaves(&self, standing: usize) -> bool {
        self.threads().places.leave(standing)
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Ends all threads, each behind the handler that it is at.
    pub(super) fn stop(&self, core: &Core) {
        let mut threads = self.threads();
        self.stopped.store(true, Ordering::Release);
        let handles = std::mem::take(&mut threads.handles);
        drop(threads);
        // There are none of them in a process that was forked.
        if core.is_elsewhere() {
            return;
        }
        core.call_all();
        // It may be stopped by one of its own handlers.
        let own = thread::current().id();
        for handle in handles {
            if handle.thread().id() != own {
                let _ = handle.join();
            }
        }
    }

    /// A panic elsewhere can't leave them half changed: they hold between statements.
    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
