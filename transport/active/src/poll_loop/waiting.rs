//! Blocking waits, during which other requests are served.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use super::progress::{Progress, Wait};
use super::{PollGuard, PollLoop, PollOutcome, SHORT_SLEEP, SLICE};
use crate::blocking;
use crate::budget::Tick;
use crate::ledger::Answer;
use crate::link::{Asked, Link};
use crate::thread_pool::ThreadPool;
use crate::turn;
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;
use jstream_sync::callbacks;
use jstream_sync::parker::Parker;

/// Outcome of serving on behalf of a task.
pub(crate) enum Attended {
    /// The task should check its condition again. It gets the answer that it waits for, if that was
    /// received.
    Progress(Option<Answer>),
    /// No message was available. The task will be woken when there may be one.
    Registered,
}

/// Result of waiting on the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectWait {
    /// The answer has come.
    Answered,
    /// The caller must use the general path.
    Unavailable,
    /// The caller must use the general path, and no message has come for a while.
    Idle,
}

impl PollLoop {
    /// Fast path for an answer: the waiting thread takes it directly from its connection, if no
    /// other thread polls. Receives the next message of the connection into `inbound`, if the
    /// connection is the only one of its group, this thread is the poller, and no other work is
    /// pending. Handles a message that is not the answer to `asked`.
    #[inline]
    pub(crate) fn receive_answer(
        &self,
        link: &Arc<Link>,
        asked: &Asked,
        until: Deadline,
        inbound: &mut Inbound,
    ) -> DirectWait {
        // `is_free` may drop a value of the program, so it is called before the lock is taken.
        if !turn::is_free() {
            return DirectWait::Unavailable;
        }
        // Other threads note what they receive before they release the poller lock. So the notes
        // are checked while this thread holds it.
        let Some(mut guard) = self.try_drive(None) else {
            return DirectWait::Unavailable;
        };
        let has_news = link.answers() != asked.answers
            || link.shortage().is_active()
            || self.deferred.is_pending();
        if has_news || !self.members.has_only(link) || link.membership().is_armed() {
            return DirectWait::Unavailable;
        }
        let shared = link.endpoint().shared();
        if !shared.has_more() {
            turn::flush();
            shared.flush_before_poll();
        }
        if !shared.receive_within(inbound, SLICE, until) {
            return DirectWait::Idle;
        }
        if inbound.other.is_none() && link.take_reply(&inbound.message.header, asked.number) {
            return DirectWait::Answered;
        }
        let (link, handlers) = (link.clone(), link.handlers());
        self.handle(link, handlers, inbound, &mut guard);
        DirectWait::Unavailable
    }

    /// Serves until `attempt` returns a value, or the deadline has passed.
    ///
    /// `attempt` gets the awaited answer if this thread has received it. Other threads record what
    /// they receive before they release the poller lock, so the poller calls `attempt` once without
    /// a waker. `attempt` gets a waker only if another thread holds the poller lock, or this thread
    /// is about to sleep.
    #[inline]
    pub(crate) fn wait<R>(
        self: &Arc<Self>,
        wait: &Wait<'_>,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        if self.is_elsewhere() {
            return attempt(None, None);
        }
        // Locked before the attempt: the previous poller has recorded all that it received before
        // it released the lock.
        let mut guard = self.try_drive(wait.wanted());
        let answer = match &mut guard {
            Some(held) => held.without_deferral(|| attempt(None, None)),
            None => attempt(None, None),
        };
        if answer.is_some() {
            return answer;
        }
        blocking::waiting(|| self.wait_slowly(wait, guard, attempt))
    }

    fn wait_slowly<'c, R>(
        self: &'c Arc<Self>,
        wait: &Wait<'_>,
        mut guard: Option<PollGuard<'c>>,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let (mut own, mut parker, mut key) = (None, None::<Parker>, None);
        let mut progress = Progress {
            slept: wait.slept,
            ..Progress::default()
        };
        // The attempt above was made under this guard, so it need not be repeated.
        let mut is_new = guard.is_some();
        let answer = loop {
            if guard.is_none() {
                guard = self.try_drive(wait.wanted());
                if guard.is_some() {
                    // A thread that releases the poller lock need not wake this one any more.
                    self.poller_lock.forget(&mut key);
                }
            }
            if let Some(held) = &mut guard {
                if !std::mem::take(&mut is_new) {
                    // Registering a waker locks the ledger, so it is done only before a sleep.
                    let own = progress.slept.then(|| {
                        let made = || Waker::from(self.clone());
                        &*own.get_or_insert_with(made)
                    });
                    // `attempt` may run code of the program.
                    let attempted = held.without_deferral(|| attempt(None, own));
                    if let Some(answer) = attempted {
                        break Some(answer);
                    }
                    progress.last = Tick::default();
                    progress.is_entered = own.is_some();
                    if wait.until.has_passed() {
                        break None;
                    }
                }
                self.advance(held, wait, &mut progress);
                let found = held.found.take();
                // Handlers release the lock, and queued callbacks run when the guard is dropped.
                // Both may change what this thread waits for.
                if found.is_some() || !held.is_held || callbacks::are_queued() {
                    guard = None;
                }
                if found.is_some() {
                    if let Some(answer) = attempt(found, None) {
                        break Some(answer);
                    }
                }
                continue;
            }
            progress.last = Tick::default();
            // The poller does not know of frames that this thread has held back.
            turn::flush();
            // Another thread may have held back the request of this one.
            if let Some(link) = wait.link {
                link.flush();
            }
            let parker = parker.get_or_insert_with(Parker::of_thread);
            let is_free = self.poller_lock.wait(&mut key, parker.waker());
            // An event from here on wakes this thread.
            if let Some(answer) = attempt(None, Some(parker.waker())) {
                break Some(answer);
            }
            if wait.until.has_passed() {
                break None;
            }
            // The lock was released between the attempt to get it and the registration, which wakes
            // nobody.
            if !is_free {
                parker.park(wait.until.left());
            }
        };
        drop(guard);
        // After the release, so that a wake-up that this thread does not need any more goes to
        // another waiter.
        self.poller_lock.forget(&mut key);
        answer
    }

    /// Serves until `stops` returns true after a call of all threads. While other threads serve,
    /// this thread is on standby. If no thread is left on standby because all run long handlers,
    /// the thread pool may grow. A thread with `is_more` begins on standby.
    pub(crate) fn work(
        self: &Arc<Self>,
        thread_pool: Option<&Arc<ThreadPool>>,
        is_more: bool,
        stops: impl Fn() -> bool,
    ) {
        blocking::waiting(|| {
            let (mut waits, mut stands) = (is_more, false);
            let mut progress = Progress {
                // A thread that stops this one also calls it, so no waker is needed.
                is_entered: true,
                ..Progress::default()
            };
            let is_over = || stops() || self.is_elsewhere();
            'serving: while !is_over() {
                let waited = std::mem::take(&mut waits);
                let held = if waited { None } else { self.try_drive(None) };
                if let Some(mut held) = held {
                    let was_last = std::mem::take(&mut stands) && self.standby.end();
                    if let Some(thread_pool) = thread_pool.filter(|_| was_last) {
                        thread_pool.grow(self);
                    }
                    loop {
                        self.step_in_group(&mut held, Deadline::NEVER, &mut progress);
                        if thread_pool.is_none() {
                            // `stops` may run code of the program.
                            progress.last = Tick::default();
                        }
                        // A handler has run, or callbacks want to. The lock is taken anew
                        // afterwards.
                        if !held.is_held || callbacks::are_queued() {
                            continue 'serving;
                        }
                        if is_over() {
                            break 'serving;
                        }
                    }
                }
                progress.last = Tick::default();
                let mut leaves = false;
                self.standby.wait(&self.poller_lock, &mut stands, |others| {
                    leaves = thread_pool.is_some_and(|thread_pool| thread_pool.leaves(others));
                    leaves || stops()
                });
                if leaves {
                    break;
                }
            }
            if stands {
                self.standby.end();
            }
            turn::flush();
        });
    }

    /// Handles the available messages on behalf of a task, and registers `waker` for the next one.
    /// `number` identifies the registration in the queue, and `key` that at the poller lock.
    pub(crate) fn attend(
        self: &Arc<Self>,
        wanted: Option<(u64, u32)>,
        (number, key): (&mut Option<u64>, &mut Option<u64>),
        waker: &Waker,
    ) -> io::Result<Attended> {
        let mut progress = Progress::default();
        let mut guard = None;
        let (count, answer) = self.poll_with(wanted, &mut progress, |idle| guard = Some(idle));
        if count > 0 {
            return Ok(Attended::Progress(answer));
        }
        if self.is_elsewhere() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        turn::flush();
        let Some(mut guard) = guard else {
            return Ok(match self.poller_lock.wait(key, waker) {
                true => Attended::Progress(None),
                false => Attended::Registered,
            });
        };
        let queue = match self.queue() {
            Some(queue) => queue,
            None => return Err(io::ErrorKind::OutOfMemory.into()),
        };
        if !self.arm_all(queue, &mut progress.members) {
            guard.release();
            thread::sleep(SHORT_SLEEP);
            return Ok(Attended::Progress(None));
        }
        match queue.poll_done_task(number, waker)? {
            Some(done) => {
                if let PollOutcome::NoRoom = self.complete(done, &mut guard) {
                    guard.release();
                    thread::sleep(SHORT_SLEEP);
                }
                Ok(Attended::Progress(guard.found.take()))
            }
            None if self.deferred.is_pending() => Ok(Attended::Progress(None)),
            None => Ok(Attended::Registered),
        }
    }

    /// Removes the registrations of a task.
    pub(crate) fn forget(&self, number: Option<u64>, key: &mut Option<u64>) {
        if let (Some(number), Some(queue)) = (number, self.queue.get()) {
            queue.forget_task(number);
        }
        self.poller_lock.forget(key);
    }
}
