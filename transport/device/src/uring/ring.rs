//! The ring of a thread, through which it receives from all the sockets that it drives.
//!
//! Decision 044 has the reasons.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Wake, Waker};
use std::thread::{self, ThreadId};

use io_uring::types::{Fd, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;
use socket2::MaybeUninitSlice;

use super::buffers::{Buffers, GROUP};
use super::receiver::{RingReceiver, TakeResult};
use super::state::{CANCEL, KICK, RECEIVE, RingState, mark};
use super::system::{self, enter};
use crate::deadline::Deadline;
use jstream_sync::lock;
use jstream_sync::wakers::wake;

/// Number of sockets up to which a ring with [`Issuer::Any`] does not receive, and its sockets are
/// read directly. For one socket, each message needs a system call either way, and receiving
/// through a ring costs more in the kernel: a message of 8 bytes takes 1.27 times as long if both
/// sides are busy. 0 in tests, so that the tests of this module exercise the ring.
const CROWD: usize = if cfg!(test) { 0 } else { 1 };

thread_local! {
    static HERE: ThreadId = thread::current().id();
}

fn current_thread() -> Option<ThreadId> {
    HERE.try_with(|id| *id).ok()
}

/// The threads that may drive a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// Any thread. A thread that drives a socket of another thread's ring moves it to its own ring.
    Any,
    /// Only the owner. The kernel does the ring's work only in calls of this thread.
    First,
}

/// The prospect of receiving from a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prospect {
    Now,
    /// The ring receives data when it arrives.
    Soon,
    /// No receive is in progress.
    Never,
}

/// A ring that receives from sockets into buffers of its own.
///
/// A receive is submitted once and continues indefinitely: each arriving piece fills one of the
/// buffers, until none is free. The kernel works on it only during calls of the thread that
/// submitted it, and indicates in shared memory if there is work to do. So checking for data costs
/// no system call, and receiving from many sockets costs one.
///
/// The lock is an inner lock: no endpoint is used while it is held, and no code of the program runs
/// except the cloning of wakers.
///
/// Invariant: the kernel gets no memory except that of [`Buffers`].
pub(super) struct ReceiveRing {
    pub(super) uring: IoUring,
    pub(super) issuer: Issuer,
    owner: ThreadId,
    /// The waker that watchers call when an operation has completed.
    pub(super) bell: Waker,
    state: Mutex<RingState>,
}

impl ReceiveRing {
    /// Creates a ring that the current thread owns.
    pub(super) fn new(issuer: Issuer) -> io::Result<Arc<Self>> {
        let owner = current_thread().ok_or(Errno::CANCELED)?;
        let uring = system::ring(issuer == Issuer::First)?;
        let mut buffers = Buffers::new()?;
        // SAFETY: the buffers stay mapped while the kernel may receive, because dropping the ring
        // ends all receives or leaks the buffers.
        unsafe { buffers.register(&uring) }?;
        Ok(Arc::new_cyclic(|ring| Self {
            uring,
            issuer,
            owner,
            bell: CompletionWaker::new_waker(ring.clone()),
            state: Mutex::new(RingState::new(buffers)),
        }))
    }

    /// Returns the reason why the buffers are not locked in memory, if they are not.
    pub(super) fn unlocked(&self) -> Option<String> {
        let state = self.state();
        state.buffers.refused().map(ToString::to_string)
    }

    pub(super) fn owner(&self) -> ThreadId {
        self.owner
    }

    pub(super) fn is_owned_by_this_thread(&self) -> bool {
        current_thread() == Some(self.owner)
    }

    /// Returns true if the current thread may submit operations to the ring.
    pub(super) fn obeys(&self) -> bool {
        self.issuer == Issuer::Any || self.is_owned_by_this_thread()
    }

    /// Returns true if the owner has ended and the kernel has no operation of the ring any more.
    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Returns the descriptor that becomes readable when an operation has completed, except with a
    /// single issuer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.uring.as_fd()
    }

    /// Adds a socket and returns its number. The socket has to stay open until it is removed.
    pub(super) fn add(&self, socket: RawFd) -> usize {
        self.state().add(RingReceiver::new(socket))
    }

    /// Removes a socket, and ends its receive as soon as possible. Returns true if the kernel does
    /// not use the socket any more.
    pub(super) fn remove(&self, number: usize) -> bool {
        let mut state = self.state();
        if self.obeys() && !state.over {
            // A receive that can't be cancelled now ends with the socket.
            let _ = self.cancel(&mut state, number);
        }
        let waker = state.disarm(number).and_then(|it| it.waker.take());
        let RingState {
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
        self.unlock(state);
        // Dropped outside of the lock, because the last handle of a task may drop the task here.
        drop(waker);
        gone
    }

    /// Copies received bytes to `slices`, and keeps the receive going.
    ///
    /// If this returns `Bytes(n)`, the first `n` bytes of `slices` are initialised, one slice after
    /// the other.
    pub(super) fn receive(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<TakeResult> {
        self.take_after(number, slices, Self::drive)
    }

    /// Blocks until data has arrived or the deadline has passed, then does the same as
    /// [`take`](Self::receive).
    pub(super) fn wait(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
        deadline: Deadline,
    ) -> io::Result<TakeResult> {
        let mut state = self.state();
        state.disarm(number);
        let driven = self.drive(&mut state, number);
        if driven.is_err() || state.receiver(number).is_none_or(|it| it.is_ready()) {
            let taken = driven.and_then(|()| state.copy_out(number, slices));
            self.unlock(state);
            return taken;
        }
        state.sleeper = Some(number);
        self.unlock(state);
        let timeout = deadline.left().map(Timespec::from);
        // This call submits nothing, so that other threads can submit operations meanwhile.
        let slept = enter(&self.uring, 0, 1, timeout.as_ref());
        let mut state = self.state();
        state.sleeper = None;
        let looked = slept.and_then(|()| self.process_completions(&mut state));
        let taken = looked.and_then(|()| state.copy_out(number, slices));
        self.unlock(state);
        taken
    }

    /// Ends the receive, and copies the bytes that it has received to `slices`.
    pub(super) fn take_last(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<TakeResult> {
        self.take_after(number, slices, Self::rest)
    }

    /// Calls `prepare` for a socket, then copies received bytes to `slices`.
    fn take_after(
        &self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
        prepare: impl FnOnce(&Self, &mut RingState, usize) -> io::Result<()>,
    ) -> io::Result<TakeResult> {
        let mut state = self.state();
        state.disarm(number);
        let prepared = prepare(self, &mut state, number);
        let taken = prepared.and_then(|()| state.copy_out(number, slices));
        self.unlock(state);
        taken
    }

    /// Returns the prospect of a socket. First starts its receive if `receive` is true, and ends it
    /// otherwise.
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
        self.unlock(state);
        driven.map(|()| prospect)
    }

    /// Locks the state.
    pub(super) fn state(&self) -> MutexGuard<'_, RingState> {
        lock(&self.state)
    }

    /// Releases the lock and calls the wakers that are due.
    pub(super) fn unlock<'r>(&'r self, mut state: MutexGuard<'r, RingState>) {
        // This thread may have consumed the completion that the sleeping owner waits for, before or
        // during its sleep. A no-op operation wakes the owner.
        let sleeper = state.sleeper.filter(|_| !self.is_owned_by_this_thread());
        if sleeper.is_some_and(|number| state.receiver(number).is_none_or(|it| it.is_ready())) {
            // If the submission queue is full, the completion of another operation wakes the owner.
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

    /// Processes completions, and starts the receive of a socket if it is not in progress.
    fn drive(&self, state: &mut RingState, number: usize) -> io::Result<()> {
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
            self.process_completions(state)?;
        }
        Ok(())
    }

    /// Returns true if receiving through the ring costs less than reading each socket.
    fn pays(&self, state: &RingState) -> bool {
        let many = || state.receivers.iter().flatten().nth(CROWD).is_some();
        !state.over && (self.issuer == Issuer::First || many())
    }

    /// Ends the receive of a socket, unless it has received data.
    fn rest(&self, state: &mut RingState, number: usize) -> io::Result<()> {
        let busy = |state: &mut RingState| {
            let receiver = state.receiver(number);
            receiver.is_some_and(|it| it.receiving && !it.has_some())
        };
        if busy(state) {
            self.process_completions(state)?;
            if busy(state) {
                self.cancel(state, number)?;
            }
        }
        Ok(())
    }

    /// Puts an operation into the submission queue, which the next system call submits.
    fn submit(&self, _: &mut RingState, operation: squeue::Entry) -> io::Result<()> {
        // SAFETY: the exclusive access to the state is also that to the queue, and the queue is
        // dropped before the state is released.
        let mut queue = unsafe { self.uring.submission_shared() };
        // SAFETY: the operations of a ring read no memory of the program. A receive writes only to
        // buffers of the ring, which stay mapped until it has ended.
        unsafe { queue.push(&operation) }.map_err(|_| Errno::BUSY.into())
    }

    /// Cancels a receive, and checks if it has ended.
    pub(super) fn cancel(&self, state: &mut RingState, number: usize) -> io::Result<()> {
        let Some(receiver) = state.receiver(number).filter(|it| it.receiving) else {
            return Ok(());
        };
        if !receiver.cancelled {
            receiver.cancelled = true;
            let cancel = opcode::AsyncCancel::new(mark(number, RECEIVE)).build();
            self.submit(state, cancel.user_data(mark(number, CANCEL)))?;
        }
        self.call(state)?;
        self.process_completions(state)
    }

    /// Processes completions, after a system call if the kernel has work to do.
    fn reap(&self, state: &mut RingState) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let queue = unsafe { self.uring.submission_shared() };
        let idle = !queue.taskrun() && queue.is_empty() && !queue.cq_overflow();
        drop(queue);
        if !idle {
            self.call(state)?;
        }
        self.process_completions(state)
    }

    /// Submits queued operations, and lets the kernel do pending work.
    fn call(&self, _: &mut RingState) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let submissions = unsafe { self.uring.submission_shared() }.len();
        enter(&self.uring, submissions, 0, None)
    }

    /// Processes completions.
    pub(super) fn process_completions(&self, state: &mut RingState) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let queue = unsafe { self.uring.completion_shared() };
        let mut plenty = false;
        for entry in queue {
            let data = entry.user_data();
            plenty |= state.complete(data, entry.result(), entry.flags())?;
        }
        if plenty && self.obeys() && !state.over {
            self.hold_back(state)?;
        }
        Ok(())
    }

    /// Cancels the receives of sockets that hold many full buffers, until their bytes were taken.
    fn hold_back(&self, state: &mut RingState) -> io::Result<()> {
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
    /// Processes completions after a watcher was notified.
    fn drive_for_watcher(&self) {
        let mut state = self.state();
        let looked = self.process_completions(&mut state);
        let is_renewed = state.places.renew(self.uring.as_fd(), &self.bell);
        if looked.is_err() || !is_renewed {
            // The woken threads then process the completions themselves.
            state.wake_all();
        }
        self.unlock(state);
    }
}

/// A waker, called by a watcher, that processes the completions of a ring.
struct CompletionWaker(Weak<ReceiveRing>);

impl CompletionWaker {
    fn new_waker(ring: Weak<ReceiveRing>) -> Waker {
        Arc::new(Self(ring)).into()
    }
}

impl Wake for CompletionWaker {
    fn wake(self: Arc<Self>) {
        if let Some(ring) = self.0.upgrade() {
            ring.drive_for_watcher();
        }
    }
}
