//! One ring for each thread, by which all the sockets that it drives are received from.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::{self, ThreadId};

use io_uring::types::{Fd, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;
use socket2::MaybeUninitSlice;

use super::buffers::{Buffers, GROUP};
use super::receiver::{Receiver, Taken};
use super::state::{CANCEL, KICK, RECEIVE, State, mark};
use super::system::{self, enter};
use super::waking::Bell;
use crate::device::deadline::Deadline;
use crate::endpoint::watcher::wake;

/// A ring of which others may take sockets away receives if there are more than so many. To one socket
/// a call for each message is needed either way, and the system does more in that of a ring: a message
/// of 8 bytes takes 1.27 times as long when both sides are busy. The tests of this module are of the
/// ring, and not of tcp.
const CROWD: usize = if cfg!(test) { 0 } else { 1 };

thread_local! {
    static HERE: ThreadId = thread::current().id();
}

fn here() -> Option<ThreadId> {
    HERE.try_with(|id| *id).ok()
}

/// Who may drive a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// Its thread; others take away what they drive from then on.
    Any,
    /// Only its thread: its calls are the only ones in which anything happens.
    First,
}

/// Whether there is something to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prospect {
    Now,
    /// The ring receives it when it comes.
    Soon,
    /// Nothing is received.
    Never,
}

/// A ring that receives from sockets into buffers of its own.
///
/// A receive that is submitted once goes on for ever: each piece that comes fills one of the
/// buffers, until none is free. The system works at that only in calls of the thread that
/// submitted it, and says in shared memory when there is something to do, so that looking whether
/// something has come costs no call, and what has come from many sockets costs one.
///
/// The lock is an inner one: under it nobody uses an endpoint, and nothing of the program runs but the
/// cloning of wakers.
///
/// Invariant: the system is given no memory but that of [`Buffers`].
pub(super) struct Ring {
    pub(super) uring: IoUring,
    pub(super) issuer: Issuer,
    owner: ThreadId,
    /// What watchers call when something is completed.
    pub(super) bell: Waker,
    state: Mutex<State>,
}

impl Ring {
    /// A ring that this thread owns.
    pub(super) fn new(issuer: Issuer) -> io::Result<Arc<Self>> {
        let owner = here().ok_or(Errno::CANCELED)?;
        let uring = system::ring(issuer == Issuer::First)?;
        let mut buffers = Buffers::new()?;
        // SAFETY: dropping the ring ends all receives, or leaks the buffers.
        unsafe { buffers.register(&uring) }?;
        Ok(Arc::new_cyclic(|ring| Self {
            uring,
            issuer,
            owner,
            bell: Bell::of(ring.clone()),
            state: Mutex::new(State::new(buffers)),
        }))
    }

    /// Why the buffers may be swapped out.
    pub(super) fn unlocked(&self) -> Option<String> {
        let state = self.state();
        state.buffers.refused().map(ToString::to_string)
    }

    pub(super) fn owner(&self) -> ThreadId {
        self.owner
    }

    pub(super) fn is_here(&self) -> bool {
        here() == Some(self.owner)
    }

    /// Whether this thread may make it do something.
    pub(super) fn obeys(&self) -> bool {
        self.issuer == Issuer::Any || self.is_here()
    }

    /// Whether its thread has ended, and nothing is with the system any more.
    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Becomes readable when something is completed, unless there is a single issuer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.uring.as_fd()
    }

    /// Makes room for a socket, which has to be open for as long as it has its number.
    pub(super) fn add(&self, socket: RawFd) -> usize {
        self.state().add(Receiver::new(socket))
    }

    /// Ends the receive of a socket, as soon as may be. Whether the system has let go of it.
    pub(super) fn remove(&self, number: usize) -> bool {
        let mut state = self.state();
        if self.obeys() && !state.over {
            // What can't be ended now ends with the socket.
            let _ = self.cancel(&mut state, number);
        }
        let waker = state.disarm(number).and_then(|it| it.waker.take());
        let State {
            receivers, buffers, ..
        } = &mut *state;
        let Some(place) = receivers.get_mut(number) else {
            return true;
        };
        let mut gone = true;
        if let Some(receiver) = place {
            receiver.forget(buffers);
            receiver.abandoned = true;
            gone = !receiver.receiving;
            if gone {
                *place = None;
            }
        }
        self.leave(state);
        // Outside of the lock: the last handle of a task may end it here.
        drop(waker);
        gone
    }

    /// Copies what has come to `slices`, and sees to it that more can come.
    ///
    /// Where it says `Bytes(n)`, the first `n` bytes of `slices` are initialised, one slice after
    /// the other.
    pub(super) fn take(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Taken> {
        self.take_after(number, slices, Self::drive)
    }

    /// Sleeps until something has come or the deadline has passed, and then does as
    /// [`take`](Self::take).
    pub(super) fn wait(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
        deadline: Deadline,
    ) -> io::Result<Taken> {
        let mut state = self.state();
        state.disarm(number);
        let driven = self.drive(&mut state, number);
        if driven.is_err() || state.receiver(number).is_none_or(|it| it.is_ready()) {
            let taken = driven.and_then(|()| state.take(number, slices));
            self.leave(state);
            return taken;
        }
        state.sleeper = Some(number);
        self.leave(state);
        let timeout = deadline.left().map(Timespec::from);
        // It submits nothing, so that others can submit meanwhile.
        let slept = enter(&self.uring, 0, 1, timeout.as_ref());
        let mut state = self.state();
        state.sleeper = None;
        let looked = slept.and_then(|()| self.look(&mut state));
        let taken = looked.and_then(|()| state.take(number, slices));
        self.leave(state);
        taken
    }

    /// Ends the receive, and copies what it has received to `slices`.
    pub(super) fn take_last(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Taken> {
        self.take_after(number, slices, Self::rest)
    }

    /// Takes what is there when `prepare` has seen to a socket.
    fn take_after(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
        prepare: impl FnOnce(&Self, &mut State, usize) -> io::Result<()>,
    ) -> io::Result<Taken> {
        let mut state = self.state();
        state.disarm(number);
        let prepared = prepare(self, &mut state, number);
        let taken = prepared.and_then(|()| state.take(number, slices));
        self.leave(state);
        taken
    }

    /// What is to be expected of a socket. Begins to receive where it is told to, else ends that.
    pub(super) fn prospect(&self, number: usize, receive: bool) -> io::Result<Prospect> {
        let mut state = self.state();
        let driven = if receive {
            self.drive(&mut state, number)
        } else {
            self.rest(&mut state, number)
        };
        let prospect = match state.receiver(number) {
            Some(receiver) if receiver.has_some() => Prospect::Now,
            Some(receiver) if receiver.receiving => Prospect::Soon,
            _ => Prospect::Never,
        };
        self.leave(state);
        driven.map(|()| prospect)
    }

    /// A panic elsewhere can't leave it half changed.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock, and wakes who is to be woken.
    pub(super) fn leave<'r>(&'r self, mut state: MutexGuard<'r, State>) {
        // What the sleeper waits for was taken from the queue before it slept, or while it did.
        let sleeper = state.sleeper.filter(|_| !self.is_here());
        if sleeper.is_some_and(|number| state.receiver(number).is_none_or(|it| it.is_ready())) {
            // Without room for that, it was not the only thing that was completed.
            let kick = opcode::Nop::new().build().user_data(KICK);
            let _ = self.submit(&mut state, kick);
            let _ = self.call(&mut state);
        }
        while let Some(waker) = state.to_wake.pop() {
            drop(state);
            wake(waker);
            state = self.state();
        }
    }

    /// Looks at what was completed, and keeps the receive of a socket going.
    fn drive(&self, state: &mut State, number: usize) -> io::Result<()> {
        let Some(receiver) = state.receiver(number) else {
            return Ok(());
        };
        if receiver.has_some() {
            return Ok(());
        }
        self.reap(state)?;
        let rests = state.buffers.are_used_up() || !self.pays(state);
        let Some(receiver) = state.receiver(number) else {
            return Ok(());
        };
        if receiver.is_ready() && !receiver.has_some() && !rests {
            let receive = opcode::RecvMulti::new(Fd(receiver.socket), GROUP).build();
            receiver.receiving = true;
            let submitted = self.submit(state, receive.user_data(mark(number, RECEIVE)));
            if let (Err(_), Some(receiver)) = (&submitted, state.receiver(number)) {
                receiver.receiving = false;
            }
            submitted?;
            self.call(state)?;
            self.look(state)?;
        }
        Ok(())
    }

    /// Whether receiving by the ring costs less than asking each socket.
    fn pays(&self, state: &State) -> bool {
        let many = || state.receivers.iter().flatten().nth(CROWD).is_some();
        !state.over && (self.issuer == Issuer::First || many())
    }

    /// Sees to it that nothing more is received from a socket, when nothing has come before.
    fn rest(&self, state: &mut State, number: usize) -> io::Result<()> {
        let busy = |state: &mut State| {
            let receiver = state.receiver(number);
            receiver.is_some_and(|it| it.receiving && !it.has_some())
        };
        if busy(state) {
            self.look(state)?;
            if busy(state) {
                self.cancel(state, number)?;
            }
        }
        Ok(())
    }

    /// Puts an operation where the next call to the system takes it from.
    fn submit(&self, _: &mut State, operation: squeue::Entry) -> io::Result<()> {
        // SAFETY: whoever has the state has the queue too, and drops it before another asks.
        let mut queue = unsafe { self.uring.submission_shared() };
        // SAFETY: the operations of a ring read no memory, and a receive writes to buffers that
        // stay until it has ended.
        unsafe { queue.push(&operation) }.map_err(|_| Errno::BUSY.into())
    }

    /// Asks a receive to end, and looks whether it has.
    pub(super) fn cancel(&self, state: &mut State, number: usize) -> io::Result<()> {
        let Some(receiver) = state.receiver(number).filter(|it| it.receiving) else {
            return Ok(());
        };
        if !receiver.cancelled {
            receiver.cancelled = true;
            let cancel = opcode::AsyncCancel::new(mark(number, RECEIVE)).build();
            self.submit(state, cancel.user_data(mark(number, CANCEL)))?;
        }
        self.call(state)?;
        self.look(state)
    }

    /// Looks at what was completed, after a call where the system has something to do.
    fn reap(&self, state: &mut State) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let queue = unsafe { self.uring.submission_shared() };
        let idle = !queue.taskrun() && queue.is_empty() && !queue.cq_overflow();
        drop(queue);
        if !idle {
            self.call(state)?;
        }
        self.look(state)
    }

    /// Submits what there is, and lets the system do what it has to.
    fn call(&self, _: &mut State) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let submissions = unsafe { self.uring.submission_shared() }.len();
        enter(&self.uring, submissions, 0, None)
    }

    /// Notes what was completed.
    pub(super) fn look(&self, state: &mut State) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let queue = unsafe { self.uring.completion_shared() };
        let mut plenty = false;
        for entry in queue {
            let data = entry.user_data();
            plenty |= state.note(data, entry.result(), entry.flags())?;
        }
        if plenty && self.obeys() && !state.over {
            self.hold_back(state)?;
        }
        Ok(())
    }

    /// Those that have many buffers full get no more of them until they were taken.
    #[cold]
    fn hold_back(&self, state: &mut State) -> io::Result<()> {
        if state.receivers.iter().flatten().nth(1).is_none() {
            return Ok(());
        }
        for number in 0..state.receivers.len() {
            let receiver = state.receiver(number);
            let Some(receiver) = receiver.filter(|it| it.receiving && it.has_plenty()) else {
                continue;
            };
            if !receiver.cancelled {
                receiver.cancelled = true;
                let cancel = opcode::AsyncCancel::new(mark(number, RECEIVE)).build();
                self.submit(state, cancel.user_data(mark(number, CANCEL)))?;
                self.call(state)?;
            }
        }
        Ok(())
    }
}
