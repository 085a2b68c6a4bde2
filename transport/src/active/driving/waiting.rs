//! Waiting for something while others are served.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use super::{Core, Driving, Looked, SOON, Seen};
use crate::active::budget::Tick;
use crate::active::crew::Crew;
use crate::active::ledger::Answer;
use crate::active::link::Link;
use crate::active::parker::Parker;
use crate::active::turn;
use crate::device::deadline::Deadline;
use crate::endpoint::spin::Spin;

/// How somebody waits.
pub(in crate::active) struct Wait<'w> {
    /// The connection over which something is waited for, if it is one.
    pub(in crate::active) link: Option<&'w Arc<Link>>,
    /// The request there whose answer is waited for.
    pub(in crate::active) number: Option<u32>,
    pub(in crate::active) until: Deadline,
    /// The connection alone had nothing for a while.
    pub(in crate::active) slept: bool,
}

/// What somebody who waits has seen and done so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) seen: Seen,
    pub(super) spin: Option<Spin>,
    /// The connection alone had nothing for a while.
    pub(super) slept: bool,
    /// What is waited for was asked to call. Nobody sleeps in the queue before that.
    pub(super) is_entered: bool,
    /// A sleep in the connection alone is over, and nobody has looked since.
    pub(super) is_awake: bool,
    /// There was more in the connection alone, behind what was received last.
    pub(super) is_more: bool,
    /// When that was done with.
    pub(super) last: Tick,
}

impl Core {
    /// Serves until `attempt` answers, or the time is over.
    ///
    /// `attempt` gets the answer that is waited for, if this has received it. What others receive they note before they
    /// leave the role, so who has it looks once; `attempt` gets who is to be told only when that is not enough: where
    /// somebody else has the role, or all are about to sleep.
    #[inline]
    pub(in crate::active) fn wait<R>(
        self: &Arc<Self>,
        wait: &Wait<'_>,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        if self.is_elsewhere() {
            return attempt(None, None);
        }
        let driving = self.try_drive(wait.wanted());
        if let Some(answer) = attempt(None, None) {
            return Some(answer);
        }
        turn::waiting(|| self.wait_slowly(wait, driving, attempt))
    }

    fn wait_slowly<'c, R>(
        self: &'c Arc<Self>,
        wait: &Wait<'_>,
        mut driving: Option<Driving<'c>>,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let (mut own, mut parker) = (None, None::<Parker>);
        let mut progress = Progress {
            slept: wait.slept,
            ..Progress::default()
        };
        let mut is_new = driving.is_some();
        let answer = loop {
            if driving.is_none() {
                driving = self.try_drive(wait.wanted());
                if let (Some(parker), Some(_)) = (&parker, &driving) {
                    // Who leaves the role wakes another one.
                    self.role.forget(parker.waker());
                }
            }
            if let Some(held) = &mut driving {
                if !std::mem::take(&mut is_new) {
                    let own = progress.slept.then(|| {
                        let made = || Waker::from(self.clone());
                        &*own.get_or_insert_with(made)
                    });
                    if let Some(answer) = attempt(None, own) {
                        break Some(answer);
                    }
                    // What is attempted may be the program's.
                    progress.last = Tick::default();
                    progress.is_entered = own.is_some();
                    if wait.until.has_passed() {
                        break None;
                    }
                }
                self.step(held, wait, &mut progress);
                let found = held.found.take();
                if found.is_some() || !held.is_held {
                    driving = None;
                }
                if found.is_some() {
                    if let Some(answer) = attempt(found, None) {
                        break Some(answer);
                    }
                }
                continue;
            }
            progress.last = Tick::default();
            turn::flush();
            if let Some(link) = wait.link {
                link.flush();
            }
            let parker = parker.get_or_insert_with(Parker::of_thread);
            let is_free = self.role.wait(parker.waker());
            // Who calls from here on finds this one.
            if let Some(answer) = attempt(None, Some(parker.waker())) {
                break Some(answer);
            }
            if wait.until.has_passed() {
                break None;
            }
            if !is_free {
                parker.park(wait.until);
            }
        };
        drop(driving);
        if let Some(parker) = parker {
            self.role.forget(parker.waker());
        }
        answer
    }

    /// Serves until `stops` says so, behind a call of all. While others do, it stands by; where nobody does any more,
    /// since all are at handlers that run for long, there may be more in the crew. One that `is_more` stands by first.
    pub(in crate::active) fn work(
        self: &Arc<Self>,
        crew: Option<&Arc<Crew>>,
        is_more: bool,
        stops: impl Fn() -> bool,
    ) {
        let wait = Wait {
            link: None,
            number: None,
            until: Deadline::NEVER,
            slept: false,
        };
        turn::waiting(|| {
            let (mut waits, mut stands) = (is_more, false);
            let mut progress = Progress {
                // Who has it stop calls.
                is_entered: true,
                ..Progress::default()
            };
            let is_over = || stops() || self.is_elsewhere();
            'serving: while !is_over() {
                let waited = std::mem::take(&mut waits);
                let held = if waited { None } else { self.try_drive(None) };
                if let Some(mut held) = held {
                    let was_last = std::mem::take(&mut stands) && self.watch.go();
                    if let Some(crew) = crew.filter(|_| was_last) {
                        crew.grow(self);
                    }
                    loop {
                        self.step(&mut held, &wait, &mut progress);
                        if crew.is_none() {
                            // What is asked whether to stop is the program's.
                            progress.last = Tick::default();
                        }
                        if !held.is_held {
                            continue 'serving;
                        }
                        if is_over() {
                            break 'serving;
                        }
                    }
                }
                progress.last = Tick::default();
                let mut leaves = false;
                self.watch.stand_by(&self.role, &mut stands, |others| {
                    leaves = crew.is_some_and(|crew| crew.leaves(others));
                    leaves || stops()
                });
                if leaves {
                    break;
                }
            }
            if stands {
                self.watch.go();
            }
            turn::flush();
        });
    }

    /// For a task that was told of nothing: takes what is here, and has `waker` called when there is more. What
    /// `number` is, the queue says.
    pub(in crate::active) fn attend(
        self: &Arc<Self>,
        number: &mut Option<u64>,
        waker: &Waker,
    ) -> io::Result<bool> {
        if self.poll() > 0 {
            return Ok(true);
        }
        if self.is_elsewhere() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        turn::flush();
        let Some(mut driving) = self.try_drive(None) else {
            return Ok(self.role.wait(waker));
        };
        let queue = match self.queue() {
            Some(queue) => queue,
            None => return Err(io::ErrorKind::OutOfMemory.into()),
        };
        if !self.post_all(queue, &mut Seen::default()) {
            driving.release();
            thread::sleep(SOON);
            return Ok(true);
        }
        match queue.poll_done_task(number, waker)? {
            Some(done) => {
                if let Looked::NoRoom = self.take(done, &mut driving) {
                    driving.release();
                    thread::sleep(SOON);
                }
                Ok(true)
            }
            None => Ok(self.has_more()),
        }
    }

    /// A task does not wait any more.
    pub(in crate::active) fn forget(&self, number: Option<u64>, waker: Option<&Waker>) {
        if let (Some(number), Some(queue)) = (number, self.queue.get()) {
            queue.forget_task(number);
        }
        if let Some(waker) = waker {
            self.role.forget(waker);
        }
    }
}

impl Wait<'_> {
    #[inline]
    fn wanted(&self) -> Option<(u64, u32)> {
        Some((self.link?.id, self.number?))
    }
}
