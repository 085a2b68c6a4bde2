//! State of a queue that it shares with the directions to which it has posted.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;
use std::{io, mem};

use super::completion::{Done, RawOutcome};
use super::member::QueueMember;
use crate::reactor;
use crate::spin::Spin;
use jstream_base::process::Origin;
use jstream_device::deadline::Deadline;
use jstream_sync::callbacks;
use jstream_sync::wakers::{WakerList, wake_each};
use jstream_sync::watcher::Interest;
use jstream_sync::watcher::{Watch, WatchBuffers, Watcher};

/// Number of polls without result before a direction is armed, while a thread polls or spins.
/// Arming costs as much as several polls, and in a busy queue most polls find something.
pub(super) const LOOKS: u8 = 3;

/// Number of consecutive completions after which the watcher is polled as well.
const MOST_UNTURNED: u32 = 64;

/// Shared state of a queue.
///
/// The lock of a hub is an inner lock: code that holds it does not use an endpoint, and runs no
/// code of the program except the cloning of wakers.
pub(super) struct Hub {
    origin: Origin,
    watcher: Arc<Watcher>,
    state: Mutex<HubState>,
    /// Waker that the reactor calls when there is work for a task.
    bell: Waker,
    #[cfg(test)]
    pub(super) visits: std::sync::atomic::AtomicUsize,
}

struct HubState {
    /// Completions, in order.
    done: VecDeque<CompletionEntry>,
    /// True if `done` contains a call.
    called: bool,
    /// Directions that may make progress, each at most once.
    rung: VecDeque<Arc<QueueMember>>,
    /// Directions that were polled without result and are not armed. Empty while a waiter relies on
    /// a wake-up: a thread that has polled such a direction then arms it, and a thread that begins
    /// to rely on a wake-up arms all of them first.
    postponed: VecDeque<Arc<QueueMember>>,
    /// Number of threads that are in the watcher or about to enter it.
    asleep: usize,
    /// Number of those threads that sleep until they are woken.
    relying: usize,
    /// Number of completions taken since the watcher was polled.
    unturned: u32,
    /// True if the program may poll the watcher's descriptor.
    polled: bool,
    spin: Duration,
    /// Outcomes of recent waits.
    habit: u8,
    /// Tasks that wait for a completion, with the keys of their futures.
    tasks: WakerList,
    /// Registration of the watcher with the reactor, for the tasks.
    watch: Option<Watch>,
    /// Event buffers for reuse.
    rooms: Vec<WatchBuffers>,
    closed: bool,
}

impl HubState {
    /// Returns true if a waiter relies on a wake-up and does not poll. A thread that does not spin
    /// is about to sleep.
    fn is_relied_on(&self) -> bool {
        self.relying > 0 || self.polled || !self.tasks.is_empty() || self.spin.is_zero()
    }

    /// Schedules all directions that are not armed to be armed. Returns true if there are any.
    fn cool(&mut self) -> bool {
        for member in &self.postponed {
            // The next visit without result arms the device, because polling has to stop now.
            member.cool(LOOKS);
        }
        self.resume_postponed()
    }

    /// Schedules another poll of the directions that are not armed. Returns true if there are any.
    fn resume_postponed(&mut self) -> bool {
        let any = !self.postponed.is_empty();
        if any {
            self.rung.append(&mut self.postponed);
        }
        any
    }
}

/// Element of the completion list.
enum CompletionEntry {
    /// A completed operation.
    Ended(Arc<QueueMember>, u64, RawOutcome),
    /// A call of the waiters.
    Call,
}

/// Result of a step.
enum Step {
    Took(Done),
    /// The step visited a direction.
    Visited,
    Nothing,
}

/// Waker that wakes the tasks of a hub.
struct TaskWaker(Weak<Hub>);

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if let Some(hub) = self.0.upgrade() {
            hub.wake_tasks(hub.lock());
        }
    }
}

impl Hub {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let watcher = Watcher::new()?;
        let state = Mutex::new(HubState {
            done: VecDeque::new(),
            called: false,
            rung: VecDeque::new(),
            postponed: VecDeque::new(),
            asleep: 0,
            relying: 0,
            unturned: 0,
            polled: false,
            spin: Duration::ZERO,
            habit: 0,
            tasks: WakerList::new(),
            watch: None,
            rooms: Vec::new(),
            closed: false,
        });
        Ok(Arc::new_cyclic(|hub| Self {
            origin: Origin::here(),
            watcher,
            state,
            bell: Arc::new(TaskWaker(hub.clone())).into(),
            #[cfg(test)]
            visits: Default::default(),
        }))
    }

    pub(super) fn watcher(&self) -> &Arc<Watcher> {
        &self.watcher
    }

    /// Makes the watcher's descriptor report all events from now on.
    pub(super) fn set_polled(&self) {
        let mut state = self.lock();
        state.polled = true;
        if state.cool() {
            self.notify(state);
        }
    }

    /// Schedules a direction that may make progress.
    pub(super) fn ring(&self, member: Arc<QueueMember>) {
        let mut state = self.lock();
        // Something has happened at the direction, so it is polled a few times again before it is
        // armed.
        member.warm();
        if !state.closed && member.set_rung(true) {
            state.rung.push_back(member);
            self.notify(state);
        }
    }

    /// Schedules another poll of a direction that was polled without result and is not armed.
    fn postpone(&self, member: Arc<QueueMember>) {
        let mut state = self.lock();
        if state.closed || !member.set_rung(true) {
            return;
        }
        // A waiter began to rely on a wake-up after the visit had decided not to arm. The direction
        // is visited again and armed.
        if state.is_relied_on() {
            state.rung.push_back(member);
            self.notify(state);
        } else {
            member.cool(1);
            state.postponed.push_back(member);
        }
    }

    /// Adds a completion.
    pub(super) fn complete(&self, member: Arc<QueueMember>, user: u64, ended: RawOutcome) {
        let mut state = self.lock();
        if !state.closed {
            state
                .done
                .push_back(CompletionEntry::Ended(member, user, ended));
            self.notify(state);
        }
    }

    /// Makes one current or future waiter return [`Done::Called`].
    pub(super) fn call(&self) {
        let mut state = self.lock();
        if !state.closed && !state.called {
            state.called = true;
            state.done.push_back(CompletionEntry::Call);
            self.notify(state);
        }
    }

    /// Wakes the waiters after something was added.
    fn notify(&self, state: MutexGuard<'_, HubState>) {
        // Ringing is a system call, which a queue whose threads all poll does not need.
        if (state.asleep > 0 || state.polled) && !self.origin.is_elsewhere() {
            self.watcher.ring();
        }
        self.wake_tasks(state);
    }

    /// Wakes all tasks, because it is not known which of them still poll.
    fn wake_tasks<'h>(&'h self, state: MutexGuard<'h, HubState>) {
        // Tasks that register from here on have already polled.
        wake_each(state, || self.lock(), |state| &mut state.tasks);
    }

    /// Returns the next completion without blocking.
    pub(super) fn poll(&self) -> Option<Done> {
        let turned = self.begin_to_look();
        if turned {
            self.poll_watcher(Some(Duration::ZERO));
        }
        self.process_all(turned)
    }

    /// Returns the next completion. If there is none, polls the watcher, unless it was polled
    /// already or has no events.
    fn process_all(&self, mut turned: bool) -> Option<Done> {
        loop {
            match self.process_next() {
                Step::Took(done) => return Some(done),
                Step::Visited => {}
                Step::Nothing if turned => return None,
                Step::Nothing => {
                    self.poll_watcher(Some(Duration::ZERO));
                    turned = true;
                }
            }
        }
    }

    /// Schedules another poll of the directions that are not armed. Returns true if the watcher has
    /// to be polled as well.
    fn begin_to_look(&self) -> bool {
        let mut state = self.lock();
        state.resume_postponed();
        // A busy queue would never come to the watcher, and so never to the directions that are
        // armed.
        state.unturned >= MOST_UNTURNED && state.done.is_empty()
    }

    /// Blocks until there is a completion. Returns `None` if the deadline passes first, or
    /// if callbacks are queued that the caller defers.
    pub(super) fn wait(&self, deadline: Deadline) -> Option<Done> {
        if self.begin_to_look() {
            self.poll_watcher(Some(Duration::ZERO));
        }
        let mut spin = None;
        loop {
            match self.process_next() {
                Step::Took(done) => {
                    if let Some(spin) = spin {
                        Spin::end(spin, &mut self.lock().habit);
                    }
                    return Some(done);
                }
                Step::Visited => {}
                // The caller defers them, and runs them before it sleeps.
                Step::Nothing if callbacks::are_queued() => return None,
                Step::Nothing if deadline.has_passed() || self.origin.is_elsewhere() => {
                    return self.poll();
                }
                Step::Nothing => {
                    let spin = spin.get_or_insert_with(|| self.begin_to_spin(deadline));
                    if spin.may_continue() {
                        self.poll_watcher(Some(Duration::ZERO));
                        self.begin_to_look();
                    } else {
                        self.poll_watcher(deadline.left());
                        spin.has_slept();
                    }
                }
            }
        }
    }

    fn begin_to_spin(&self, deadline: Deadline) -> Spin {
        let state = self.lock();
        Spin::begin(state.spin, state.habit, deadline)
    }

    /// Sets how long a waiting thread spins before it sleeps.
    pub(super) fn set_spin(&self, spin: Duration) {
        self.lock().spin = spin;
    }

    /// Returns the next completion, or registers `task` to be woken when there may be one. `future`
    /// is the key of the caller; `None` in the first call. A registration may change it.
    pub(super) fn poll_task(
        &self,
        future: &mut Option<u64>,
        task: &Waker,
    ) -> io::Result<Option<Done>> {
        if self.origin.is_elsewhere() {
            if let Some(done) = self.poll() {
                return Ok(Some(done));
            }
            let words = "the queue belongs to the process that this one was forked from";
            return Err(io::Error::other(words));
        }
        // Registered before the poll: a direction that is polled without result is then armed at
        // once, and an event from here on wakes the task.
        let mut state = self.lock();
        let before = state.tasks.register(future, task.clone());
        state.cool();
        let source = self.watcher.source();
        let watched = reactor::watcher().and_then(|reactor| {
            reactor.watch(&mut state.watch, source, Interest::Readable, &self.bell)
        });
        drop(state);
        // The replaced waker belongs to the program, so it is dropped without the lock.
        callbacks::discard(before);
        // If the watcher is still registered with the reactor, it has no events, or the reactor is
        // about to wake the task. So a system call is saved.
        let done = match watched? {
            true => self.process_all(true),
            false => self.poll(),
        };
        if let (Some(future), Some(_)) = (*future, &done) {
            self.forget_task(future);
        }
        Ok(done)
    }

    /// Removes the registration of a future.
    pub(super) fn forget_task(&self, future: u64) {
        let mut state = self.lock();
        let forgotten = state.tasks.remove(future);
        drop(state);
        callbacks::discard(forgotten);
    }

    fn process_next(&self) -> Step {
        let mut state = self.lock();
        if let Some(waiting) = state.done.pop_front() {
            state.unturned = state.unturned.saturating_add(1);
            state.called &= !matches!(waiting, CompletionEntry::Call);
            self.release_taken(state);
            return Step::Took(match waiting {
                CompletionEntry::Ended(member, user, ended) => member.take_completion(user, ended),
                CompletionEntry::Call => Done::Called,
            });
        }
        let Some(member) = state.rung.pop_front() else {
            return Step::Nothing;
        };
        // A wake-up from here on schedules another visit.
        member.set_rung(false);
        if member.reports_readiness() {
            state.unturned = state.unturned.saturating_add(1);
            self.release_taken(state);
            return member
                .connection()
                .map_or(Step::Visited, |shared| Step::Took(Done::Ready(shared)));
        }
        let arms = member.is_cool() || state.is_relied_on();
        drop(state);
        #[cfg(test)]
        self.visits
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if member.visit(arms) && !arms {
            self.postpone(member);
        }
        Step::Visited
    }

    /// Releases the lock after a completion was taken. If there is more work, wakes another thread.
    fn release_taken(&self, state: MutexGuard<'_, HubState>) {
        let is_more = !state.done.is_empty() || !state.rung.is_empty();
        let wakes = is_more && state.asleep > 0;
        drop(state);
        if wakes {
            self.watcher.ring();
        }
    }

    /// Polls the watcher, or sleeps in it up to `timeout`, and calls the wakers of the events.
    fn poll_watcher(&self, timeout: Option<Duration>) {
        // In a forked child, the watcher's kernel objects belong to the parent.
        if self.origin.is_elsewhere() {
            return;
        }
        let mut state = self.lock();
        state.unturned = 0;
        let relies = timeout != Some(Duration::ZERO);
        // Checked under the lock under which `asleep` is raised: what is added later rings the
        // watcher.
        if relies && (!state.done.is_empty() || !state.rung.is_empty() || state.cool()) {
            return;
        }
        // Several threads may sleep in the watcher, so each has a buffer for events of its own.
        let mut room = state.rooms.pop().unwrap_or_default();
        state.asleep = state.asleep.saturating_add(1);
        if relies {
            state.relying = state.relying.saturating_add(1);
        }
        drop(state);
        self.watcher.sleep(&mut room, timeout);
        let mut state = self.lock();
        state.asleep = state.asleep.saturating_sub(1);
        if relies {
            state.relying = state.relying.saturating_sub(1);
        }
        // The wakers of the events lock the hub.
        drop(state);
        self.watcher.call(&mut room);
        self.lock().rooms.push(room);
    }

    /// Calls `sleep` with a descriptor that is readable while the queue may have work. Returns
    /// `None` without calling it if the queue already has work.
    pub(super) fn sleep_beside<R>(&self, sleep: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        let mut state = self.lock();
        if !state.done.is_empty() || !state.rung.is_empty() || state.cool() {
            return None;
        }
        state.asleep = state.asleep.saturating_add(1);
        state.relying = state.relying.saturating_add(1);
        drop(state);
        let slept = self.watcher.sleep_beside(sleep);
        let mut state = self.lock();
        state.asleep = state.asleep.saturating_sub(1);
        state.relying = state.relying.saturating_sub(1);
        Some(slept)
    }

    /// Closes the queue. Completions that were not taken are dropped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        // Dropped without the lock, because they hold buffers of the program and the last
        // references to connections.
        let done = mem::take(&mut state.done);
        let rung = (mem::take(&mut state.rung), mem::take(&mut state.postponed));
        let (watch, tasks) = (state.watch.take(), state.tasks.take());
        drop(state);
        if self.origin.is_elsewhere() {
            // Dropping it would remove the parent's registration from the shared kernel object.
            mem::forget(watch);
            return;
        }
        drop((done, rung, watch));
        callbacks::discard(tasks);
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, HubState> {
        jstream_sync::lock(&self.state)
    }
}
