//! One connection of a channel within a process: the parcels in transit, and the waiting threads
//! and tasks at both ends.
//!
//! Decision 032 has the reasons.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, Waker};

use jstream::Transportable;

use super::parcel::{Home, Parcel};
use jstream_base::Address;
use jstream_base::Options;
use jstream_sync::callbacks::discard;
use jstream_sync::flag::DekkerFlag;
use jstream_sync::mpmc::{MOST, PositionRing};
use jstream_sync::panics::catch_panic;
use jstream_sync::wakers::{WaitQueue, wake};
use jstream_sync::{AtomicU32, AtomicU64, CacheLines, Mutex, MutexGuard, Ordering, lock};

/// Bits of `state`.
const SENDER_GONE: u32 = 1;
const RECEIVER_GONE: u32 = 2;
/// A parcel was taken but could not be unpacked yet.
const KEPT: u32 = 4;

/// Divisor of the byte limit that gives the share for uncounted parcels. A parcel is not counted if
/// a full ring of such parcels stays within this share.
const UNCOUNTED: u64 = 16;

/// Reason why a parcel was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Full,
    Closed,
}

/// A connection.
///
/// Parcels that find no room are posted: they wait in order, and the thread that makes room moves
/// them to the ring. While parcels are posted, new ones do not overtake them. A posting
/// thread publishes its parcel before it looks for room a last time ([`DekkerFlag`]).
pub(crate) struct NearLink<T: Transportable + 'static> {
    ring: PositionRing<Parcel<T>>,
    state: CacheLines<AtomicU32>,
    /// Number of posted parcels.
    posted: CacheLines<DekkerFlag>,
    /// Number of bytes in the ring, of counted parcels.
    bytes: CacheLines<AtomicU64>,
    /// Parcels longer than `uncounted` bytes are counted; the counted ones may have `most_bytes`
    /// bytes together.
    uncounted: u64,
    most_bytes: u64,
    queue: Mutex<Queue<T>>,
    /// The waiting receivers, shared by all connections of the receiving side.
    arrived: Arc<WaitQueue>,
    home: Home,
}

struct Queue<T: Transportable + 'static> {
    /// Ordered by number.
    posted: VecDeque<PostedParcel<T>>,
    next: u64,
    /// Parcels that were taken but not unpacked.
    kept: VecDeque<Parcel<T>>,
}

struct PostedParcel<T: Transportable + 'static> {
    number: u64,
    parcel: Parcel<T>,
    waker: Option<Waker>,
}

impl<T: Transportable + 'static> NearLink<T> {
    /// True if objects of the type are sent this way. Each slot of the ring has the size of a
    /// parcel, so types with a large inline size would make all slots large.
    pub(crate) const IS_FOR: bool = size_of::<Parcel<T>>() <= 512;

    /// Creates a connection to a receiver with these options.
    pub(crate) fn new(address: Address, options: &Options, arrived: Arc<WaitQueue>) -> Arc<Self> {
        let capacity = options.queue_messages.clamp(1, MOST);
        let part = options.queue_bytes / UNCOUNTED;
        let uncounted = part.checked_div(capacity as u64).unwrap_or_default();
        Arc::new(Self {
            ring: PositionRing::new(capacity),
            state: CacheLines(AtomicU32::new(0)),
            posted: CacheLines(DekkerFlag::new()),
            bytes: CacheLines(AtomicU64::new(0)),
            uncounted,
            most_bytes: options.queue_bytes.saturating_sub(part),
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

    /// Sends a parcel if there is room.
    ///
    /// # Errors
    ///
    /// The parcel, and the reason.
    #[inline]
    pub(crate) fn try_send(&self, parcel: Parcel<T>) -> Result<(), (Stop, Parcel<T>)> {
        if self.state.0.load(Ordering::Acquire) & RECEIVER_GONE != 0 {
            return Err((Stop::Closed, parcel));
        }
        // If no parcel is posted, all that were posted before by any thread are in the ring.
        if self.posted.0.load(Ordering::Acquire) != 0 {
            return Err((Stop::Full, parcel));
        }
        match self.put(parcel) {
            Ok(()) => {
                self.arrived.notify_one();
                Ok(())
            }
            Err(parcel) => {
                self.retry_after_refusal();
                Err((Stop::Full, parcel))
            }
        }
    }

    /// Retries the posted parcels after a refused send. The bytes of the refused parcel were
    /// counted for a moment, during which other threads may have posted for lack of room.
    #[cold]
    fn retry_after_refusal(&self) {
        if self.posted.0.is_set_after_change() {
            self.push_posted();
        }
    }

    /// Pushes a parcel into the ring if it has room.
    #[inline]
    fn put(&self, parcel: Parcel<T>) -> Result<(), Parcel<T>> {
        let length = parcel.length();
        if length <= self.uncounted {
            return self.ring.push(parcel);
        }
        let before = self.bytes.0.fetch_add(length, Ordering::AcqRel);
        // A parcel is always accepted if it is alone; otherwise a large one could never be sent.
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

    /// Posts a parcel behind all others.
    pub(crate) fn post(self: &Arc<Self>, parcel: Parcel<T>) -> ParcelTicket<T> {
        let mut queue = lock(&self.queue);
        let number = queue.next;
        queue.next = number.wrapping_add(1);
        queue.posted.push_back(PostedParcel {
            number,
            parcel,
            waker: None,
        });
        self.count(&queue);
        drop(queue);
        self.posted.0.make_all_pass();
        self.push_posted();
        ParcelTicket {
            link: self.clone(),
            number,
        }
    }

    /// Moves posted parcels to the ring while there is room.
    #[cold]
    fn push_posted(&self) {
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
            self.arrived.notify_one();
            if let Some(waker) = first.waker {
                wake(waker);
            }
        }
    }

    /// Publishes the number of posted parcels. The caller holds the lock.
    fn count(&self, queue: &MutexGuard<'_, Queue<T>>) {
        let count = u32::try_from(queue.posted.len()).unwrap_or(u32::MAX);
        self.posted.0.store(count, Ordering::Release);
    }

    /// Returns the next parcel if one has arrived.
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

    /// Faulty variant of [`take`](Self::take) for models: it lacks the barrier.
    #[cfg(all(test, loom))]
    pub(super) fn take_and_only_look(&self) -> Option<Parcel<T>> {
        let parcel = self.ring.pop()?;
        if self.posted.0.load(Ordering::Acquire) != 0 {
            self.push_posted();
        }
        Some(parcel)
    }

    /// As [`take`](Self::take), but waits for parcels that another thread is still inserting, so
    /// that no parcel sent earlier is missed.
    pub(crate) fn take_settled(&self) -> Option<Parcel<T>> {
        if let Some(parcel) = self.take() {
            return Some(parcel);
        }
        let parcel = self.ring.pop_settled()?;
        self.has_room(&parcel);
        Some(parcel)
    }

    /// Accounts for a parcel that was taken out of the ring, and retries the posted parcels.
    #[inline]
    fn has_room(&self, parcel: &Parcel<T>) {
        let length = parcel.length();
        if length > self.uncounted {
            self.bytes.0.fetch_sub(length, Ordering::AcqRel);
        }
        if self.posted.0.is_set_after_change() {
            self.push_posted();
        }
    }

    /// Returns a parcel that can't be unpacked now. The next [`take`](Self::take) returns it first.
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

    /// Returns true if there may be a parcel or an event.
    pub(crate) fn is_ready(&self) -> bool {
        self.state.0.load(Ordering::Acquire) != 0 || !self.ring.is_empty()
    }

    /// Returns true if the sender is gone: no parcels arrive except those in the ring or posted.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.state.0.load(Ordering::Acquire) & SENDER_GONE != 0
    }

    /// Ends the sending side. Parcels that it has sent or posted are still received.
    pub(crate) fn end_sender(&self) {
        self.state.0.fetch_or(SENDER_GONE, Ordering::AcqRel);
        self.arrived.notify_all();
    }

    /// Ends the receiving side, and drops the parcels that were not received.
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
        // Objects of the program are dropped here. Each that panics has been removed before.
        for parcel in kept {
            catch_panic(|| drop(parcel));
        }
        catch_panic(|| self.ring.clear());
    }
}

/// Handle of a posted parcel. If it is dropped, the parcel is still sent.
pub(crate) struct ParcelTicket<T: Transportable + 'static> {
    link: Arc<NearLink<T>>,
    number: u64,
}

impl<T: Transportable + 'static> ParcelTicket<T> {
    pub(crate) fn link(&self) -> &Arc<NearLink<T>> {
        &self.link
    }

    /// Returns `Ready` if the parcel was sent, or with the parcel if the receiver is gone.
    /// Otherwise registers `waker`.
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
        discard(before);
        Poll::Pending
    }

    /// Cancels the send. Returns the parcel unless it was sent.
    pub(crate) fn withdraw(&self) -> Option<Parcel<T>> {
        let mut queue = lock(&self.link.queue);
        let at = queue.find(self.number)?;
        let posted = queue.posted.remove(at);
        self.link.count(&queue);
        drop(queue);
        // Parcels behind it may fit now.
        self.link.push_posted();
        posted.map(|posted| posted.parcel)
    }
}

impl<T: Transportable + 'static> Drop for ParcelTicket<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.link.queue);
        let posted = queue
            .find(self.number)
            .and_then(|at| queue.posted.get_mut(at));
        let waker = posted.and_then(|posted| posted.waker.take());
        drop(queue);
        discard(waker);
    }
}

impl<T: Transportable + 'static> Queue<T> {
    fn find(&self, number: u64) -> Option<usize> {
        self.posted
            .binary_search_by_key(&number, |posted| posted.number)
            .ok()
    }
}
