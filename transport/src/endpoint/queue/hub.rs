//! What a queue shares with the directions that it has posted to.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;
use std::{io, mem};

use super::member::{Done, Ended, Member};
use crate::device::connection::Interest;
use crate::device::deadline::Deadline;
use crate::endpoint::reactor;
use crate::endpoint::spin::Spin;
use crate::endpoint::watcher::{Room, Watch, Watcher, wake};
use crate::process::Origin;

/// How often a direction is looked at again, while somebody polls or spins, before it is armed: that
/// costs as much as some looks, and in a busy queue most of them find something.
pub(super) const LOOKS: u8 = 3;

/// After how many completions in a row the watcher is asked, too.
const MOST_UNTURNED: u32 = 64;

/// The heart of a queue.
///
/// Its lock is an inner one: under it nobody uses an endpoint, and nothing of the program runs but
/// the cloning of wakers.
pub(super) struct Hub {
    origin: Origin,
    watcher: Arc<Watcher>,
    state: Mutex<State>,
    /// What the reactor calls when there is something to do for a task.
    bell: Waker,
    #[cfg(test)]
    pub(super) visits: std::sync::atomic::AtomicUsize,
}

struct State {
    /// What has ended, in order.
    done: VecDeque<Waiting>,
    /// A call is among them.
    called: bool,
    /// The directions that may go on, each once.
    rung: VecDeque<Arc<Member>>,
    /// Those that were looked at in vain and are not armed. While somebody relies on being woken, there
    /// are none: who comes from such a direction then has it armed, and who begins to rely on it has all
    /// of them armed first.
    again: VecDeque<Arc<Member>>,
    /// How many threads are in the watcher, or are about to be.
    asleep: usize,
    /// How many of these are not going to look again by themselves.
    relying: usize,
    /// How many completions were taken since the watcher was asked.
    unturned: u32,
    /// The program may be polling the watcher by itself.
    polled: bool,
    spin: Duration,
    /// How waits have ended lately.
    habit: u8,
    /// Tasks that wait for a completion, with the numbers of their futures.
    tasks: VecDeque<(u64, Waker)>,
    /// The number of the next future.
    next: u64,
    /// The registration of the watcher with the reactor, for the tasks.
    watch: Option<Watch>,
    /// For turns, where it is not in use.
    rooms: Vec<Room>,
    closed: bool,
}

impl State {
    /// Whether somebody is going to be woken, and does not look meanwhile. Whoever does not spin is
    /// about to sleep.
    fn is_relied_on(&self) -> bool {
        self.relying > 0 || self.polled || !self.tasks.is_empty() || self.spin.is_zero()
    }

    /// Has all directions that are not armed visited, to be armed. Whether there are any.
    fn cool(&mut self) -> bool {
        for member in &self.again {
            member.cool(LOOKS);
        }
        let any = !self.again.is_empty();
        self.rung.append(&mut self.again);
        any
    }
}

/// What is taken next.
enum Waiting {
    /// What came of an operation.
    Ended(Arc<Member>, u64, Ended),
    /// Somebody called.
    Call,
}

/// What `step` came to.
enum Step {
    Took(Done),
    /// It visited a direction.
    Visited,
    Nothing,
}

/// Wakes the tasks of a hub.
struct Bell(Weak<Hub>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        if let Some(hub) = self.0.upgrade() {
            hub.wake_tasks(hub.lock());
        }
    }
}

impl Hub {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let watcher = Watcher::new()?;
        let state = Mutex::new(State {
            done: VecDeque::new(),
            called: false,
            rung: VecDeque::new(),
            again: VecDeque::new(),
            asleep: 0,
            relying: 0,
            unturned: 0,
            polled: false,
            spin: Duration::ZERO,
            habit: 0,
            tasks: VecDeque::new(),
            next: 0,
            watch: None,
            rooms: Vec::new(),
            closed: false,
        });
        Ok(Arc::new_cyclic(|hub| Self {
            origin: Origin::here(),
            watcher,
            state,
            bell: Arc::new(Bell(hub.clone())).into(),
            #[cfg(test)]
            visits: Default::default(),
        }))
    }

    pub(super) fn watcher(&self) -> &Arc<Watcher> {
        &self.watcher
    }

    /// From now on the watcher's source tells of everything.
    pub(super) fn set_polled(&self) {
        let mut state = self.lock();
        state.polled = true;
        if state.cool() {
            self.tell(state);
        }
    }

    /// A direction may go on.
    pub(super) fn ring(&self, member: Arc<Member>) {
        let mut state = self.lock();
        member.warm();
        if !state.closed && member.set_rung(true) {
            state.rung.push_back(member);
            self.tell(state);
        }
    }

    /// A direction was looked at in vain, and is not armed.
    fn look_again(&self, member: Arc<Member>) {
        let mut state = self.lock();
        if state.closed || !member.set_rung(true) {
            return;
        }
        if state.is_relied_on() {
            state.rung.push_back(member);
            self.tell(state);
        } else {
            member.cool(1);
            state.again.push_back(member);
        }
    }

    /// An operation has ended.
    pub(super) fn complete(&self, member: Arc<Member>, user: u64, ended: Ended) {
        let mut state = self.lock();
        if !state.closed {
            state.done.push_back(Waiting::Ended(member, user, ended));
            self.tell(state);
        }
    }

    /// Has one who waits, or who asks next, look after what is not the queue's.
    pub(super) fn call(&self) {
        let mut state = self.lock();
        if !state.closed && !state.called {
            state.called = true;
            state.done.push_back(Waiting::Call);
            self.tell(state);
        }
    }

    /// Wakes whoever may sleep, for what was added.
    fn tell(&self, state: MutexGuard<'_, State>) {
        if (state.asleep > 0 || state.polled) && !self.origin.is_elsewhere() {
            self.watcher.ring();
        }
        self.wake_tasks(state);
    }

    /// All of them, because nobody knows which ones still look.
    fn wake_tasks<'h>(&'h self, mut state: MutexGuard<'h, State>) {
        // Those that register from here on have looked.
        for _ in 0..state.tasks.len() {
            let task = state.tasks.pop_front();
            drop(state);
            if let Some((_, task)) = task {
                wake(task);
            }
            state = self.lock();
        }
    }

    /// The next completion, without waiting.
    pub(super) fn poll(&self) -> Option<Done> {
        let mut turned = self.begin_to_look();
        if turned {
            self.turn(Some(Duration::ZERO));
        }
        loop {
            match self.step() {
                Step::Took(done) => return Some(done),
                Step::Visited => {}
                Step::Nothing if turned => return None,
                Step::Nothing => {
                    self.turn(Some(Duration::ZERO));
                    turned = true;
                }
            }
        }
    }

    /// Has those looked at again that are not armed. Whether it is time to ask the watcher, too.
    fn begin_to_look(&self) -> bool {
        let mut state = self.lock();
        let State { rung, again, .. } = &mut *state;
        rung.append(again);
        state.unturned >= MOST_UNTURNED && state.done.is_empty()
    }

    /// The next completion; `None` when there was none until the deadline.
    pub(super) fn wait(&self, deadline: Deadline) -> Option<Done> {
        if self.begin_to_look() {
            self.turn(Some(Duration::ZERO));
        }
        let mut spin = None;
        loop {
            match self.step() {
                Step::Took(done) => {
                    if let Some(spin) = spin {
                        Spin::end(spin, &mut self.lock().habit);
                    }
                    return Some(done);
                }
                Step::Visited => {}
                Step::Nothing if deadline.has_passed() || self.origin.is_elsewhere() => {
                    return self.poll();
                }
                Step::Nothing => {
                    let spin = spin.get_or_insert_with(|| self.begin_to_spin(deadline));
                    if spin.again() {
                        self.turn(Some(Duration::ZERO));
                        self.begin_to_look();
                    } else {
                        self.turn(deadline.left());
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

    /// For how long a thread that waits looks again and again before it sleeps.
    pub(super) fn set_spin(&self, spin: Duration) {
        self.lock().spin = spin;
    }

    /// The next completion, or has `task` woken when there may be one. `future` is who asks, and not
    /// there when it asks for the first time.
    pub(super) fn poll_task(
        &self,
        future: &mut Option<u64>,
        task: &Waker,
    ) -> io::Result<Option<Done>> {
        loop {
            if let Some(done) = self.poll() {
                return Ok(Some(done));
            }
            if self.origin.is_elsewhere() {
                let words = "the queue belongs to the process that this one was forked from";
                return Err(io::Error::other(words));
            }
            // That of the program is dropped behind the lock.
            let mut before = None;
            let mut state = self.lock();
            if !state.done.is_empty() || !state.rung.is_empty() || state.cool() {
                continue;
            }
            let number = *future.get_or_insert(state.next);
            state.next = state.next.max(number.wrapping_add(1));
            let place = state.tasks.iter_mut().find(|(other, _)| *other == number);
            match place {
                Some((_, old)) if old.will_wake(task) => {}
                Some((_, old)) => before = Some(std::mem::replace(old, task.clone())),
                None => state.tasks.push_back((number, task.clone())),
            }
            let source = self.watcher.source();
            let reactor = reactor::watcher()?;
            reactor.watch(&mut state.watch, source, Interest::Readable, &self.bell)?;
            drop(state);
            drop(before);
            return Ok(None);
        }
    }

    /// A future does not wait any more.
    pub(super) fn forget_task(&self, future: u64) {
        let mut state = self.lock();
        let place = state.tasks.iter().position(|(other, _)| *other == future);
        let forgotten = place.and_then(|place| state.tasks.remove(place));
        drop(state);
        drop(forgotten);
    }

    fn step(&self) -> Step {
        let mut state = self.lock();
        if let Some(waiting) = state.done.pop_front() {
            state.unturned = state.unturned.saturating_add(1);
            state.called &= !matches!(waiting, Waiting::Call);
            let more = !state.done.is_empty() || !state.rung.is_empty();
            let others = more && state.asleep > 0;
            drop(state);
            if others {
                self.watcher.ring();
            }
            return Step::Took(match waiting {
                Waiting::Ended(member, user, ended) => member.take(user, ended),
                Waiting::Call => Done::Called,
            });
        }
        let Some(member) = state.rung.pop_front() else {
            return Step::Nothing;
        };
        // Whoever rings from here on has it visited again.
        member.set_rung(false);
        let arms = member.is_cool() || state.is_relied_on();
        drop(state);
        #[cfg(test)]
        self.visits
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if member.visit(arms) && !arms {
            self.look_again(member);
        }
        Step::Visited
    }

    /// Sleeps until something may be done, and notes what.
    fn turn(&self, timeout: Option<Duration>) {
        // What the watcher has in the system is that of the other process.
        if self.origin.is_elsewhere() {
            return;
        }
        let mut state = self.lock();
        state.unturned = 0;
        let relies = timeout != Some(Duration::ZERO);
        if relies && (!state.done.is_empty() || !state.rung.is_empty() || state.cool()) {
            return;
        }
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
        drop(state);
        self.watcher.call(&mut room);
        self.lock().rooms.push(room);
    }

    /// Has `sleep` sleep until its argument is readable, or for something else. Nothing where something is to be
    /// done first.
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

    /// Ends everything; what was not taken is dropped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let done = mem::take(&mut state.done);
        let rung = (mem::take(&mut state.rung), mem::take(&mut state.again));
        let (watch, tasks) = (state.watch.take(), mem::take(&mut state.tasks));
        drop(state);
        if self.origin.is_elsewhere() {
            mem::forget(watch);
            return;
        }
        drop((done, rung, watch, tasks));
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
