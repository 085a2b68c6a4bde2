//! Tasks and threads that wait for events of streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::thread;
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::support::lock;

/// Tasks that wait for the same event. Each is woken once per registration.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    waiting: Mutex<WakerList>,
}

/// A list of wakers, which does not allocate for a single one.
#[derive(Debug, Default)]
struct WakerList {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl Tasks {
    /// Registers `task` for the next wake-up.
    pub(crate) fn register(&self, task: &Waker) {
        let mut waiting = lock(&self.waiting);
        let WakerList { first, more } = &mut *waiting;
        match first {
            None => *first = Some(task.clone()),
            Some(known) if known.will_wake(task) => {}
            Some(_) if more.iter().any(|known| known.will_wake(task)) => {}
            Some(_) => more.push(task.clone()),
        }
    }

    pub(crate) fn wake_all(&self) {
        let mut waiting = lock(&self.waiting);
        let (first, more) = (waiting.first.take(), std::mem::take(&mut waiting.more));
        drop(waiting);
        first.into_iter().chain(more).for_each(Waker::wake);
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}

/// A flag for which a thread waits. A wake-up sets it; it stays set until it is cleared.
#[derive(Debug)]
pub(crate) struct Signal {
    set: AtomicBool,
    tasks: Tasks,
    thread: Thread,
}

impl Signal {
    /// Creates a signal for the current thread.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            set: AtomicBool::new(false),
            tasks: Tasks::default(),
            thread: thread::current(),
        })
    }

    /// Blocks until the signal is set, or the time is over.
    pub(crate) fn park(&self, until: Option<Instant>) {
        while !self.is_set_or_tells(None) {
            match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => thread::park(),
                Some(Duration::ZERO) => return,
                Some(left) => thread::park_timeout(left),
            }
        }
    }

    pub(crate) fn clear(&self) {
        self.set.store(false, Ordering::SeqCst);
    }

    /// Returns true if the signal is set. If not, `task` is woken when it is.
    pub(crate) fn is_set_or_tells(&self, task: Option<&Waker>) -> bool {
        if let Some(task) = task {
            self.tasks.register(task);
        }
        self.set.load(Ordering::SeqCst)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set.store(true, Ordering::SeqCst);
        self.tasks.wake_all();
        self.thread.unpark();
    }
}
