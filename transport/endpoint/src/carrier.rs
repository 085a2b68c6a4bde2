//! Background driving of posted operations.
//!
//! Decision 030 has the reasons.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::task::{Poll, Wake, Waker};
use std::thread::JoinHandle;

use super::exit::{SENDING_THREAD, UnsentConnection};
use super::shared::{Half, Shared};
use super::timer::Timer;
use jstream_device::deadline::Deadline;
use jstream_device::sim;
use jstream_sync::lock;
use jstream_sync::panics::catch_panic;

/// Background driver of one connection, for posted operations that no waiter drives. Created on
/// first use.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    sends: OnceLock<Arc<Attached>>,
    receives: OnceLock<Arc<Attached>>,
    /// True while a task of a simulation drives the connection.
    is_simulated: AtomicBool,
}

impl Carrier {
    /// Makes a thread of the process drive the sends of `shared` until none is posted. The thread
    /// keeps the connection alive meanwhile; the send timeout limits the time. If the system has no
    /// room for a thread, the sends make progress when another operation drives the direction.
    pub(super) fn carry(&self, shared: &Arc<Shared>) {
        let until_sent = || DrivenOperations::UntilSent(Mutex::default());
        let Some(direction) = Self::started(&self.sends, shared, until_sent) else {
            return;
        };
        // A driver that already keeps the connection is woken by the direction itself.
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

    /// Schedules another visit of the sends that are driven.
    pub(super) fn reschedule_sends(&self, shared: &Arc<Shared>) {
        if self.is_simulated.load(Ordering::Relaxed) {
            sim::spawn_beside("carries on", send_the_rest(shared.clone()));
        }
        if let Some(direction) = self.sends.get() {
            direction.work.ring(direction.clone());
        }
    }

    /// As [`carry`](Self::carry), for the receives of `shared`. The poster keeps the connection
    /// alive.
    pub(super) fn carry_receives(&self, shared: &Arc<Shared>) {
        if let Some(direction) =
            Self::started(&self.receives, shared, || DrivenOperations::UntilReceived)
        {
            direction.work.ring(direction.clone());
        }
    }

    fn started<'c>(
        of: &'c OnceLock<Arc<Attached>>,
        shared: &Arc<Shared>,
        task: impl FnOnce() -> DrivenOperations,
    ) -> Option<&'c Arc<Attached>> {
        let work = WorkQueue::of_process()?;
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

/// Sends the posted messages in a simulation. Cancels messages without an owner if no credit
/// arrives for them.
async fn send_the_rest(shared: Arc<Shared>) {
    loop {
        let stuck = shared.count_abandoned();
        let mut timeout = pin!(sim::sleep(shared.info().send_timeout));
        let all_gone = poll_fn(|context| {
            // Other threads may send the rest, and then nothing else wakes this task.
            shared.notify_when_all_sent(context.waker());
            if !shared.progress(Half::Out, Some(context.waker()), None) {
                return Poll::Ready(true);
            }
            match shared.count_abandoned() {
                None => Poll::Pending,
                Some(_) => timeout.as_mut().poll(context).map(|()| false),
            }
        });
        if all_gone.await {
            break;
        }
        if stuck.is_some() && shared.count_abandoned() == stuck {
            shared.fail_abandoned();
        }
    }
    shared
        .carrier()
        .is_simulated
        .store(false, Ordering::Relaxed);
}

/// Work queue of a thread.
#[derive(Debug, Default)]
pub(super) struct WorkQueue {
    state: Mutex<ProgressState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ProgressState {
    /// Directions that may make progress, each at most once.
    rung: VecDeque<Arc<Attached>>,
    stopped: bool,
}

impl WorkQueue {
    pub(super) fn start() -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let work = Arc::new(Self::default());
        let its = work.clone();
        let thread = jstream_sync::threads::spawn(SENDING_THREAD, move || its.run())?;
        Ok((work, thread))
    }

    /// Returns the work queue of the process-wide thread, which the first call starts.
    fn of_process() -> Option<Arc<Self>> {
        // Not a `OnceLock`: a system that had no room for a thread may have it at the next attempt.
        static WORK: Mutex<Option<Arc<WorkQueue>>> = Mutex::new(None);
        let mut work = lock(&WORK);
        if work.is_none() {
            *work = Self::start().ok().map(|(work, _)| work);
        }
        work.clone()
    }

    /// Drives the current and future operations of both directions until the connection ends or the
    /// queue is stopped.
    pub(super) fn attend(self: &Arc<Self>, shared: &Arc<Shared>) {
        for way in [Half::Out, Half::In] {
            let direction = Arc::new(Attached {
                work: self.clone(),
                task: DrivenOperations::Attend(way),
                shared: Arc::downgrade(shared),
                rung: AtomicBool::new(false),
            });
            self.ring(direction);
        }
    }

    fn ring(&self, direction: Arc<Attached>) {
        let mut state = self.lock();
        if !state.stopped && !direction.rung.swap(true, Ordering::Relaxed) {
            state.rung.push_back(direction);
            drop(state);
            self.changed.notify_one();
        }
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let rung = std::mem::take(&mut state.rung);
        drop(state);
        // Dropped without the lock, because the last reference to a connection may be among them.
        drop(rung);
        self.changed.notify_one();
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.stopped {
            let Some(direction) = state.rung.pop_front() else {
                state = jstream_sync::unpoisoned(self.changed.wait(state));
                continue;
            };
            // A wake-up from here on schedules another visit.
            // Cleared before the visit: a wake-up during the visit may be about something that the
            // visit has already passed.
            direction.rung.store(false, Ordering::Relaxed);
            drop(state);
            // Wakers of the program run here. One that panics delays only its own task.
            catch_panic(move || direction.visit());
            state = self.lock();
        }
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        lock(&self.state)
    }
}

/// A direction of an endpoint that is driven. The direction itself holds this as a waker, so it is
/// dropped with the connection.
struct Attached {
    work: Arc<WorkQueue>,
    task: DrivenOperations,
    shared: Weak<Shared>,
    /// True while the direction is scheduled for a visit. Changes only under the lock of the work
    /// queue.
    rung: AtomicBool,
}

/// Operations that are driven.
enum DrivenOperations {
    /// All current and future operations.
    Attend(Half),
    /// Sends, while some are posted. The connection is kept alive until then.
    UntilSent(Mutex<Kept>),
    /// Receives, while some are posted.
    UntilReceived,
}

/// A connection that is kept alive until everything is sent.
#[derive(Default)]
struct Kept {
    /// The connection, and the guard that delays the end of the process. They are dropped in this
    /// order.
    shared: Option<(Arc<Shared>, UnsentConnection)>,
    stuck: Option<Stuck>,
}

/// Messages without an owner that wait for credit, possibly from a peer that never grants any.
struct Stuck {
    messages: usize,
    /// Time at which the messages are cancelled, unless one was sent by then.
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
    /// Drives the direction as far as possible. It is scheduled again when it can make more
    /// progress.
    fn visit(self: Arc<Self>) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let task = self.clone().into();
        match &self.task {
            DrivenOperations::Attend(way) => shared.attend(*way, &task),
            // The direction wakes this task when more can be received, unless no receive is posted
            // any more.
            DrivenOperations::UntilReceived => drop(shared.progress(Half::In, Some(&task), None)),
            // Everything was sent before this visit.
            DrivenOperations::UntilSent(kept) if lock(kept).shared.is_none() => {}
            DrivenOperations::UntilSent(kept) => {
                // Other threads may send the rest, and then nothing else wakes this task.
                shared.notify_when_all_sent(&task);
                lock(kept).limit(&shared, &task);
                while !shared.progress(Half::Out, Some(&task), None) {
                    // Messages that are left behind from here on start the background driver again.
                    // Taken out before the second look. A thread that posts after that look finds
                    // no kept connection, and starts the driver again.
                    let kept = std::mem::take(&mut *lock(kept));
                    if !shared.progress(Half::Out, None, None) {
                        // The last handle says farewell when it is dropped. The end of the process
                        // waits for the guard in `kept`, which is therefore dropped last.
                        drop(shared);
                        drop(kept);
                        return;
                    }
                    drop(kept);
                    // Another message was posted between the two looks.
                    self.keep(&shared);
                    shared.notify_when_all_sent(&task);
                }
            }
        }
    }

    /// Keeps the connection alive. Returns false if it already does.
    fn keep(&self, shared: &Arc<Shared>) -> bool {
        let DrivenOperations::UntilSent(kept) = &self.task else {
            return false;
        };
        let mut kept = lock(kept);
        let is_new = kept.shared.is_none();
        if is_new {
            let unsent = UnsentConnection::new(shared.info().send_timeout);
            kept.shared = Some((shared.clone(), unsent));
        }
        is_new
    }
}

impl Kept {
    /// Cancels messages without an owner that wait for credit, if none arrives within the send
    /// timeout. If the system has no room for a timer, the next visit detects the timeout.
    fn limit(&mut self, shared: &Shared, task: &Waker) {
        let Some(messages) = shared.count_abandoned() else {
            self.stuck = None;
            return;
        };
        let patience = Deadline::after(shared.info().send_timeout);
        match &mut self.stuck {
            // A message has left since the last visit, so the peer does grant credit, and the time
            // starts anew.
            Some(stuck) if stuck.messages != messages => {
                stuck.messages = messages;
                stuck.until = patience;
            }
            Some(stuck) if stuck.until.has_passed() => shared.fail_abandoned(),
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

impl Wake for Attached {
    fn wake(self: Arc<Self>) {
        self.work.clone().ring(self);
    }
}
