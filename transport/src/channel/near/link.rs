//! One connection of a channel between threads: the parcels on their way, and those who wait at either end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, Waker};

use jstream::Transportable;

use super::crowd::Crowd;
use super::parcel::{Home, Parcel};
use super::ring::{MOST, Ring};
use crate::address::Address;
use crate::device::inproc::barrier::Barriers;
use crate::device::inproc::sync::{AtomicU32, AtomicU64, Line, Mutex, MutexGuard, Ordering, lock};
use crate::endpoint::watcher::wake;
use crate::options::Options;

/// Bits of `state`.
const SENDER_GONE: u32 = 1;
const RECEIVER_GONE: u32 = 2;
/// A parcel was taken that could not be unpacked yet.
const KEPT: u32 = 4;

/// Parcels shorter than so much of all the bytes that may wait are not counted: as many as there can be of them
/// are this part of the bytes.
const UNCOUNTED: u64 = 16;

/// Why a parcel does not go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Full,
    Closed,
}

/// A connection.
///
/// Parcels that find no room are posted: they wait here, in order, and whoever makes room brings them on. As long as
/// there are some nobody goes past them. As with a [`Crowd`], who posts has said so before it looks for room a last
/// time, and a barrier stands between the two steps of each side.
pub(crate) struct Link<T: Transportable + 'static> {
    ring: Ring<Parcel<T>>,
    state: Line<AtomicU32>,
    /// How many parcels are posted.
    posted: Line<AtomicU32>,
    /// How many bytes wait in the ring, of those that count.
    bytes: Line<AtomicU64>,
    /// Longer ones count, and so many bytes of them may wait.
    uncounted: u64,
    most_bytes: u64,
    barriers: Barriers,
    queue: Mutex<Queue<T>>,
    /// Who waits on the side that receives, there for all its connections.
    arrived: Arc<Crowd>,
    home: Home,
}

struct Queue<T: Transportable + 'static> {
    /// By their numbers, in order.
    posted: VecDeque<Posted<T>>,
    next: u64,
    /// Taken, and not unpacked.
    kept: VecDeque<Parcel<T>>,
}

struct Posted<T: Transportable + 'static> {
    number: u64,
    parcel: Parcel<T>,
    waker: Option<Waker>,
}

impl<T: Transportable + 'static> Link<T> {
    /// Whether objects of the type go this way. Those that are large themselves, without what they lead to, would
    /// make the slots large that all objects need.
    pub(crate) const IS_FOR: bool = size_of::<Parcel<T>>() <= 512;

    /// One to a receiver with these options.
    pub(crate) fn new(address: Address, options: &Options, arrived: Arc<Crowd>) -> Arc<Self> {
        let capacity = options.queue_messages.clamp(1, MOST);
        let part = options.queue_bytes / UNCOUNTED;
        let uncounted = part.checked_div(capacity as u64).unwrap_or_default();
        Arc::new(Self {
            ring: Ring::new(capacity),
            state: Line(AtomicU32::new(0)),
            posted: Line(AtomicU32::new(0)),
            bytes: Line(AtomicU64::new(0)),
            uncounted,
            most_bytes: options.queue_bytes.saturating_sub(part),
            barriers: Barriers::of_this_process(),
            queue: Mutex::new(Queue {
                posted: VecDeque::new(),
                next: 0,
                kept: VecDeque::new(),
            }),
            arrived,
            home: Home::new(address, options),
        })
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Sends a parcel, if there is room.
    ///
    /// # Errors
    ///
    /// The parcel, and why it does not go.
    #[inline]
    pub(crate) fn try_send(&self, parcel: Parcel<T>) -> Result<(), (Stop, Parcel<T>)> {
        if self.state.0.load(Ordering::Acquire) & RECEIVER_GONE != 0 {
            return Err((Stop::Closed, parcel));
        }
        // What was posted before, by any thread, is in the ring when there is nothing posted.
        if self.posted.0.load(Ordering::Acquire) != 0 {
            return Err((Stop::Full, parcel));
        }
        match self.put(parcel) {
            Ok(()) => {
                self.arrived.ring();
                Ok(())
            }
            Err(parcel) => {
                self.look_after_others();
                Err((Stop::Full, parcel))
            }
        }
    }

    /// What was refused had its bytes counted for a moment, in which others may have been posted for them.
    #[cold]
    fn look_after_others(&self) {
        self.barriers.pass();
        if self.posted.0.load(Ordering::Relaxed) != 0 {
            self.bring_on();
        }
    }

    /// Puts a parcel into the ring, if it has room for it.
    #[inline]
    fn put(&self, parcel: Parcel<T>) -> Result<(), Parcel<T>> {
        let length = parcel.length();
        if length <= self.uncounted {
            return self.ring.push(parcel);
        }
        let before = self.bytes.0.fetch_add(length, Ordering::AcqRel);
        // One alone always may, or it could never be sent.
        let has_room = before == 0 || before.saturating_add(length) <= self.most_bytes;
        let refused = match has_room {
            true => self.ring.push(parcel),
            false => Err(parcel),
        };
        if refused.is_err() {
            self.bytes.0.fetch_sub(length, Ordering::AcqRel);
        }
        refused
    }

    /// Posts a parcel, behind all others.
    pub(crate) fn post(self: &Arc<Self>, parcel: Parcel<T>) -> Ticket<T> {
        let mut queue = lock(&self.queue);
        let number = queue.next;
        queue.next = number.wrapping_add(1);
        queue.posted.push_back(Posted {
            number,
            parcel,
            waker: None,
        });
        self.count(&queue);
        drop(queue);
        self.barriers.make_all_pass();
        self.bring_on();
        Ticket {
            link: self.clone(),
            number,
        }
    }

    /// Sends what was posted, as far as there is room.
    #[cold]
    fn bring_on(&self) {
        loop {
            let mut queue = lock(&self.queue);
            if self.state.0.load(Ordering::Acquire) & RECEIVER_GONE != 0 {
                return;
            }
            let Some(mut first) = queue.posted.pop_front() else {
                return;
            };
            if let Err(parcel) = self.put(first.parcel) {
                first.parcel = parcel;
                queue.posted.push_front(first);
                return;
            }
            self.count(&queue);
            drop(queue);
            self.arrived.ring();
            if let Some(waker) = first.waker {
                wake(waker);
            }
        }
    }

    /// The lock is held.
    fn count(&self, queue: &MutexGuard<'_, Queue<T>>) {
        let count = u32::try_from(queue.posted.len()).unwrap_or(u32::MAX);
        self.posted.0.store(count, Ordering::Release);
    }

    /// The next parcel, if one is here.
    #[inline]
    pub(crate) fn take(&self) -> Option<Parcel<T>> {
        if self.state.0.load(Ordering::Relaxed) & KEPT != 0 {
            if let Some(parcel) = self.take_kept() {
                return Some(parcel);
            }
        }
        let parcel = self.ring.pop()?;
        self.has_room(&parcel);
        Some(parcel)
    }

    /// What models put in the place of [`take`](Self::take).
    #[cfg(all(test, loom))]
    pub(super) fn take_and_only_look(&self) -> Option<Parcel<T>> {
        let parcel = self.ring.pop()?;
        if self.posted.0.load(Ordering::Acquire) != 0 {
            self.bring_on();
        }
        Some(parcel)
    }

    /// As [`take`](Self::take), but nothing is overlooked that somebody had sent before.
    pub(crate) fn take_settled(&self) -> Option<Parcel<T>> {
        if let Some(parcel) = self.take() {
            return Some(parcel);
        }
        let parcel = self.ring.pop_settled()?;
        self.has_room(&parcel);
        Some(parcel)
    }

    /// A parcel was taken out of the ring.
    #[inline]
    fn has_room(&self, parcel: &Parcel<T>) {
        let length = parcel.length();
        if length > self.uncounted {
            self.bytes.0.fetch_sub(length, Ordering::AcqRel);
        }
        self.barriers.pass();
        if self.posted.0.load(Ordering::Relaxed) != 0 {
            self.bring_on();
        }
    }

    /// A parcel that can't be unpacked now is the next one again.
    #[cold]
    pub(crate) fn keep(&self, parcel: Parcel<T>) {
        let mut queue = lock(&self.queue);
        queue.kept.push_back(parcel);
        self.state.0.fetch_or(KEPT, Ordering::AcqRel);
        drop(queue);
    }

    #[cold]
    fn take_kept(&self) -> Option<Parcel<T>> {
        let mut queue = lock(&self.queue);
        let kept = queue.kept.pop_front();
        if queue.kept.is_empty() {
            self.state.0.fetch_and(!KEPT, Ordering::AcqRel);
        }
        kept
    }

    /// Whether there may be something to take, or to learn.
    pub(crate) fn is_ready(&self) -> bool {
        self.state.0.load(Ordering::Acquire) != 0 || !self.ring.is_empty()
    }

    /// Whether the sender has gone: nothing comes any more but what is here.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.state.0.load(Ordering::Acquire) & SENDER_GONE != 0
    }

    /// The sender goes; what it has sent, or posted, is still received.
    pub(crate) fn end_sender(&self) {
        self.state.0.fetch_or(SENDER_GONE, Ordering::AcqRel);
        self.arrived.ring_all();
    }

    /// The receiver goes, and what nobody has received.
    pub(crate) fn end_receiver(&self) {
        self.state.0.fetch_or(RECEIVER_GONE, Ordering::AcqRel);
        let mut queue = lock(&self.queue);
        let waiting = queue
            .posted
            .iter_mut()
            .filter_map(|posted| posted.waker.take());
        let wakers: Vec<_> = waiting.collect();
        let kept = std::mem::take(&mut queue.kept);
        drop(queue);
        wakers.into_iter().for_each(wake);
        drop(kept);
        self.ring.clear();
    }
}

/// A parcel that was posted. Who drops it leaves the parcel to be sent.
pub(crate) struct Ticket<T: Transportable + 'static> {
    link: Arc<Link<T>>,
    number: u64,
}

impl<T: Transportable + 'static> Ticket<T> {
    pub(crate) fn link(&self) -> &Arc<Link<T>> {
        &self.link
    }

    /// Whether the parcel was sent; else `waker` is woken when it was, or the receiver has gone, which gives the
    /// parcel back.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Result<(), Parcel<T>>> {
        let waker = waker.clone();
        let link = &*self.link;
        let mut queue = lock(&link.queue);
        let Some(at) = queue.find(self.number) else {
            return Poll::Ready(Ok(()));
        };
        if link.state.0.load(Ordering::Acquire) & RECEIVER_GONE != 0 {
            let posted = queue.posted.remove(at);
            link.count(&queue);
            drop(queue);
            return Poll::Ready(posted.map_or(Ok(()), |posted| Err(posted.parcel)));
        }
        let before = queue
            .posted
            .get_mut(at)
            .and_then(|posted| posted.waker.replace(waker));
        drop(queue);
        drop(before);
        Poll::Pending
    }

    /// Gives up: the parcel, unless it was sent.
    pub(crate) fn withdraw(&self) -> Option<Parcel<T>> {
        let mut queue = lock(&self.link.queue);
        let at = queue.find(self.number)?;
        let posted = queue.posted.remove(at);
        self.link.count(&queue);
        drop(queue);
        // It may have been in the way of others.
        self.link.bring_on();
        posted.map(|posted| posted.parcel)
    }
}

impl<T: Transportable + 'static> Drop for Ticket<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.link.queue);
        let posted = queue
            .find(self.number)
            .and_then(|at| queue.posted.get_mut(at));
        let waker = posted.and_then(|posted| posted.waker.take());
        drop(queue);
        drop(waker);
    }
}

impl<T: Transportable + 'static> Queue<T> {
    fn find(&self, number: u64) -> Option<usize> {
        self.posted
            .binary_search_by_key(&number, |posted| posted.number)
            .ok()
    }
}
