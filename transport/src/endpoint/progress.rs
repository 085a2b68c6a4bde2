//! Threads that carry on what was posted.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Poll, Wake, Waker};
use std::thread::{Builder, JoinHandle};

use super::Endpoint;
use super::shared::{Shared, Way};
use super::timer::Timer;
use crate::device::deadline::Deadline;
use crate::device::sim;

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
        let (work, thread) = Work::start()?;
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
                task: Task::Attend(way),
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
            // Panics end nothing in there.
            let _ = thread.join();
        }
    }
}

/// What carries on what was posted to one connection where those that wait for something else do not know of
/// it; there once it was needed.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    sends: OnceLock<Arc<Attached>>,
    receives: OnceLock<Arc<Attached>>,
    /// A task of a simulation does.
    is_simulated: AtomicBool,
}

impl Carrier {
    /// Has a thread of the process carry on what `shared` has to send, until nothing is posted. It keeps
    /// the connection so long; how long that may take, the time-out of sending says. Where the system
    /// has no room for a thread, it goes on when somebody looks.
    pub(super) fn carry(&self, shared: &Arc<Shared>) {
        let until_sent = || Task::UntilSent(Mutex::default());
        let Some(direction) = Self::started(&self.sends, shared, until_sent) else {
            return;
        };
        if direction.keep(shared) {
            direction.work.ring(direction.clone());
        }
    }

    /// As [`carry`](Self::carry), by a task of the simulation that runs on this thread.
    pub(super) fn carry_in_simulation(&self, shared: &Arc<Shared>) {
        if !self.is_simulated.swap(true, Ordering::Relaxed) {
            sim::spawn_beside("carries on", send_the_rest(shared.clone()));
        }
    }

    /// Has what is carried on looked at again.
    pub(super) fn look_again(&self, shared: &Arc<Shared>) {
        if self.is_simulated.load(Ordering::Relaxed) {
            sim::spawn_beside("carries on", send_the_rest(shared.clone()));
        }
        if let Some(direction) = self.sends.get() {
            direction.work.ring(direction.clone());
        }
    }

    /// As [`carry`](Self::carry), for what `shared` is to receive. The connection is kept by who has posted that.
    pub(super) fn carry_receives(&self, shared: &Arc<Shared>) {
        if let Some(direction) = Self::started(&self.receives, shared, || Task::UntilReceived) {
            direction.work.ring(direction.clone());
        }
    }

    fn started<'c>(
        of: &'c OnceLock<Arc<Attached>>,
        shared: &Arc<Shared>,
        task: impl FnOnce() -> Task,
    ) -> Option<&'c Arc<Attached>> {
        let work = Work::of_process()?;
        Some(of.get_or_init(|| {
            Arc::new(Attached {
                work,
                task: task(),
                shared: Arc::downgrade(shared),
                rung: AtomicBool::new(false),
            })
        }))
    }
}

/// Sends what is posted, in a simulation. Gives up what nobody asks for any more when no credit comes for it.
async fn send_the_rest(shared: Arc<Shared>) {
    loop {
        let stuck = shared.count_left_behind();
        let mut late = pin!(sim::sleep(shared.facts().send_timeout));
        let all_gone = poll_fn(|context| {
            // Others may send the rest, and then nothing else wakes this.
            shared.tell_when_sent(context.waker());
            if !shared.progress(Way::Out, Some(context.waker()), None) {
                return Poll::Ready(true);
            }
            match shared.count_left_behind() {
                None => Poll::Pending,
                Some(_) => late.as_mut().poll(context).map(|()| false),
            }
        });
        if all_gone.await {
            break;
        }
        if stuck.is_some() && shared.count_left_behind() == stuck {
            shared.give_up_left_behind();
        }
    }
    shared
        .carrier()
        .is_simulated
        .store(false, Ordering::Relaxed);
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
    fn start() -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let work = Arc::new(Self::default());
        let its = work.clone();
        let name = "jstream-endpoints".to_owned();
        let thread = Builder::new().name(name).spawn(move || its.run())?;
        Ok((work, thread))
    }

    /// That of the thread for what nobody waits for, which the first call starts.
    fn of_process() -> Option<Arc<Self>> {
        static WORK: Mutex<Option<Arc<Work>>> = Mutex::new(None);
        let mut work = WORK.lock().unwrap_or_else(PoisonError::into_inner);
        if work.is_none() {
            *work = Self::start().ok().map(|(work, _)| work);
        }
        work.clone()
    }

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
            // The wakers of the program run here: one that panics holds up only its own task.
            let _ = catch_unwind(AssertUnwindSafe(move || direction.visit()));
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
struct Attached {
    work: Arc<Work>,
    task: Task,
    shared: Weak<Shared>,
    /// It is among those to be visited. Changes under the lock of the work only.
    rung: AtomicBool,
}

/// What is carried on.
enum Task {
    /// All that is posted, now and later.
    Attend(Way),
    /// Sends, as long as some are posted: keeps the connection until then.
    UntilSent(Mutex<Kept>),
    /// Receives, as long as some are posted.
    UntilReceived,
}

/// A connection that is kept until all is sent.
#[derive(Default)]
struct Kept {
    shared: Option<Arc<Shared>>,
    stuck: Option<Stuck>,
}

/// Messages that nobody asks for any more wait for credit, and so for a peer that may never give some.
struct Stuck {
    messages: usize,
    /// When they are given up, unless one has gone by then.
    until: Deadline,
    timer: Timer,
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached")
            .field("rung", &self.rung)
            .finish_non_exhaustive()
    }
}

impl Attached {
    /// Goes on as far as it can, and is visited again when it can further.
    fn visit(self: Arc<Self>) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let task = self.clone().into();
        match &self.task {
            Task::Attend(way) => shared.attend(*way, &task),
            // Woken again when more can be received, unless nothing is posted any more.
            Task::UntilReceived => drop(shared.progress(Way::In, Some(&task), None)),
            // It was rung for what has gone meanwhile.
            Task::UntilSent(kept) if lock(kept).shared.is_none() => {}
            Task::UntilSent(kept) => {
                // Others may send the rest, and then nothing else wakes this.
                shared.tell_when_sent(&task);
                lock(kept).limit(&shared, &task);
                while !shared.progress(Way::Out, Some(&task), None) {
                    // Whoever leaves something from here on has it carried on anew.
                    let kept = std::mem::take(&mut *lock(kept));
                    if !shared.progress(Way::Out, None, None) {
                        break;
                    }
                    drop(kept);
                    self.keep(&shared);
                    shared.tell_when_sent(&task);
                }
            }
        }
    }

    /// Keeps the connection. False when it does already.
    fn keep(&self, shared: &Arc<Shared>) -> bool {
        let Task::UntilSent(kept) = &self.task else {
            return false;
        };
        let mut kept = lock(kept);
        let is_new = kept.shared.is_none();
        if is_new {
            kept.shared = Some(shared.clone());
        }
        is_new
    }
}

impl Kept {
    /// Gives up what nobody asks for any more and waits for credit, when none has come in the time that sending
    /// may take. Where the system has no room for a timer, that is noticed when something else wakes this.
    fn limit(&mut self, shared: &Shared, task: &Waker) {
        let Some(messages) = shared.count_left_behind() else {
            self.stuck = None;
            return;
        };
        let patience = Deadline::after(shared.facts().send_timeout);
        match &mut self.stuck {
            Some(stuck) if stuck.messages != messages => {
                stuck.messages = messages;
                stuck.until = patience;
            }
            Some(stuck) if stuck.until.has_passed() => shared.give_up_left_behind(),
            Some(_) => {}
            None => {
                self.stuck = Timer::new().ok().map(|timer| Stuck {
                    messages,
                    until: patience,
                    timer,
                });
            }
        }
        if let Some(stuck) = &self.stuck {
            stuck.timer.set(stuck.until, task);
        }
    }
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wake for Attached {
    fn wake(self: Arc<Self>) {
        self.work.clone().ring(self);
    }
}
