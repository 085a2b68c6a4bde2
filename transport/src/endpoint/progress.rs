//! Threads that carry on what was posted.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Wake;
use std::thread::{Builder, JoinHandle};

use super::Endpoint;
use super::shared::{Shared, Way};

/// A thread that carries on the posted operations of endpoints while the program computes.
///
/// Without one, an operation gets on only while somebody waits for it, or for another one of the same
/// direction. With one, messages are received into the jbufs that were posted for them, and large ones
/// are sent on, as the peer goes along. The thread sleeps while none of its endpoints can go on.
///
/// Dropping the handle ends the thread; what was posted stays posted.
#[derive(Debug)]
pub struct Progress {
    work: Arc<Work>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts a thread.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start() -> io::Result<Self> {
        let work = Arc::new(Work::default());
        let its = work.clone();
        let name = "jstream-endpoints".to_owned();
        let thread = Builder::new().name(name).spawn(move || its.run())?;
        Ok(Self {
            work,
            thread: Some(thread),
        })
    }

    /// Carries on what is posted to `endpoint`, now and later, until the connection has ended or the
    /// handle is dropped. It does not keep the connection.
    pub fn attach(&self, endpoint: &Endpoint) {
        for way in [Way::Out, Way::In] {
            let direction = Arc::new(Attached {
                work: self.work.clone(),
                way,
                shared: Arc::downgrade(endpoint.shared()),
                rung: AtomicBool::new(false),
            });
            self.work.ring(direction);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.work.stop();
        if let Some(thread) = self.thread.take() {
            // A panic in there is one of a waker of the program, which was reported there.
            let _ = thread.join();
        }
    }
}

/// What a thread has to do.
#[derive(Debug, Default)]
struct Work {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The directions that may go on, each once.
    rung: VecDeque<Arc<Attached>>,
    stopped: bool,
}

impl Work {
    fn ring(&self, direction: Arc<Attached>) {
        let mut state = self.lock();
        if !state.stopped && !direction.rung.swap(true, Ordering::Relaxed) {
            state.rung.push_back(direction);
            drop(state);
            self.changed.notify_one();
        }
    }

    fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let rung = std::mem::take(&mut state.rung);
        drop(state);
        drop(rung);
        self.changed.notify_one();
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.stopped {
            let Some(direction) = state.rung.pop_front() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // Whoever rings from here on has it visited again.
            direction.rung.store(false, Ordering::Relaxed);
            drop(state);
            if let Some(shared) = direction.shared.upgrade() {
                shared.attend(direction.way, &direction.clone().into());
            }
            drop(direction);
            state = self.lock();
        }
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A direction of an endpoint that is carried on. The direction itself has it, as a waker, so it ends
/// with the connection.
#[derive(Debug)]
struct Attached {
    work: Arc<Work>,
    way: Way,
    shared: Weak<Shared>,
    /// It is among those to be visited. Changes under the lock of the work only.
    rung: AtomicBool,
}

impl Wake for Attached {
    fn wake(self: Arc<Self>) {
        self.work.clone().ring(self);
    }
}
