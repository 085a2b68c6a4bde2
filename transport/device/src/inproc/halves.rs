//! The send half and the receive half of one direction.

use std::io::IoSlice;
use std::mem;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::{BufferWriter, MessageBuffer, Pool, PoolError};

use super::bell::Bell;
use super::letter::{INLINE, SlotMessage};
use crate::connection::{
    Armed, Body, Fault, Incoming, Interest, Outbound, Outgoing, Payload, Push, Whole,
};
use crate::deadline::Deadline;
use jstream_base::Header;
use jstream_base::Options;
use jstream_sync::ring::{Emptier, Filler, ring};
use jstream_sync::{AtomicU32, AtomicU64, CacheLines, Ordering};

/// Maximum number of slots of a queue. All slots are allocated when the queue is created.
pub(super) const MOST_MESSAGES: usize = 1 << 16;

/// Bits of [`EndedHalves`]: how the two halves of a direction have ended.
const SENDER_DROPPED: u32 = 1;
const SENDER_CLOSED: u32 = 2;
const RECEIVER_DROPPED: u32 = 4;
const RECEIVER_CLOSED: u32 = 8;

/// State that both halves of a direction share, apart from the messages.
pub(super) struct Direction {
    /// Pool and limits of the receiver.
    pool: Pool,
    /// Maximum length of a payload in bytes, which the receiver may lift.
    max_message: AtomicU64,
    max_bytes: u64,
    ends: EndedHalves,
    /// Payload bytes that the receiver has taken. Only the receiver writes this.
    taken_bytes: CacheLines<AtomicU64>,
    /// Wakes the receiver.
    arrived: Bell,
    /// Wakes the sender.
    room: Bell,
}

/// The halves that have ended, as a set of bits.
pub(super) struct EndedHalves(AtomicU32);

impl EndedHalves {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn add(&self, ends: u32) {
        self.0.fetch_or(ends, Ordering::AcqRel);
    }

    #[inline]
    fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn drop_sender(&self) {
        self.add(SENDER_DROPPED);
    }

    /// Returns the next message as `front` finds it. Returns `None` if there is no message yet, and
    /// an error if none can follow. The ends are read before `front` is called: a receiver that
    /// sees that the sender has ended also sees everything that the sender sent before.
    #[inline]
    pub(super) fn next<R>(&self, front: impl FnOnce() -> Option<R>) -> Result<Option<R>, Fault> {
        let ends = self.get();
        if ends & RECEIVER_CLOSED != 0 {
            return Err(Fault::ClosedLocally);
        }
        match front() {
            Some(found) => Ok(Some(found)),
            None if ends != 0 => Err(Fault::Ended),
            None => Ok(None),
        }
    }

    /// Returns an error if messages can no longer be sent.
    #[inline]
    fn sendable(&self) -> Result<(), Fault> {
        match self.get() {
            0 => Ok(()),
            ends if ends & SENDER_CLOSED != 0 => Err(Fault::ClosedLocally),
            _ => Err(Fault::Ended),
        }
    }
}

impl Direction {
    /// Creates both halves of a direction whose receiver has these options.
    pub(super) fn open(options: &Options) -> (SendHalf, ReceiveHalf) {
        let (filler, emptier) = ring(options.queue_messages.min(MOST_MESSAGES));
        let direction = Arc::new(Self {
            pool: options.pool.clone(),
            max_message: AtomicU64::new(options.max_message),
            max_bytes: options.queue_bytes,
            ends: EndedHalves::new(),
            taken_bytes: CacheLines(AtomicU64::new(0)),
            arrived: Bell::new(),
            room: Bell::new(),
        });
        let sender = SendHalf {
            direction: direction.clone(),
            filler,
            sent_bytes: 0,
            wanted: 0,
        };
        let receiver = ReceiveHalf {
            direction,
            emptier,
            taken_bytes: 0,
        };
        (sender, receiver)
    }

    /// Creates both halves of a direction as if `count` messages and bytes had passed through it.
    #[cfg(all(test, not(loom)))]
    pub(super) fn open_after(options: &Options, count: u64) -> (SendHalf, ReceiveHalf) {
        let (mut sender, mut receiver) = Self::open(options);
        let capacity = options.queue_messages.min(MOST_MESSAGES);
        (sender.filler, receiver.emptier) = jstream_sync::ring::ring_after(capacity, count);
        sender.sent_bytes = count;
        receiver.taken_bytes = count;
        let taken = &sender.direction.taken_bytes.0;
        taken.store(count, Ordering::Relaxed);
        (sender, receiver)
    }

    pub(super) fn max_message(&self) -> u64 {
        self.max_message.load(Ordering::Relaxed)
    }

    /// Ends the direction at the sender's request. Queued messages are still received.
    pub(super) fn close_sender(&self) {
        self.end(SENDER_CLOSED);
    }

    /// Ends the direction at the receiver's request. The receiver drops the queued messages when it
    /// sees the end.
    pub(super) fn close_receiver(&self) {
        self.end(RECEIVER_CLOSED);
    }

    fn end(&self, end: u32) {
        self.ends.add(end);
        self.arrived.ring();
        self.room.ring();
    }
}

/// The send half.
pub(super) struct SendHalf {
    direction: Arc<Direction>,
    filler: Filler<SlotMessage>,
    /// Payload bytes of all messages so far.
    sent_bytes: u64,
    /// Length of the last message for which there was no room, in bytes.
    wanted: u64,
}

impl SendHalf {
    pub(super) fn direction(&self) -> &Arc<Direction> {
        &self.direction
    }

    /// Returns true if another message of `length` bytes may be queued. An empty queue takes a
    /// message of any length; otherwise a long message could never be sent.
    #[inline]
    fn has_room(&mut self, length: u64) -> bool {
        if !self.filler.has_room() {
            return false;
        }
        let direction = &*self.direction;
        let queued = || {
            let taken = direction.taken_bytes.0.load(Ordering::Acquire);
            self.sent_bytes.wrapping_sub(taken).saturating_add(length)
        };
        // The queue holds too few small messages for them to exceed the limit in bytes.
        length <= INLINE as u64 && direction.max_bytes >= (MOST_MESSAGES * INLINE) as u64
            || queued() <= direction.max_bytes
            || self.filler.queued(1) == 0
    }

    /// Queues a message for which there is room.
    #[inline]
    fn fill(&mut self, length: u64, fill: impl FnOnce(&mut SlotMessage)) -> Push {
        let filled = self.filler.fill(fill);
        debug_assert!(filled, "there is room");
        self.sent_bytes = self.sent_bytes.wrapping_add(length);
        self.direction.arrived.ring();
        Push::Done
    }

    /// Copies a message into a buffer of the receiver's pool.
    fn copy(&self, length: u64, segments: &[IoSlice<'_>]) -> Result<MessageBuffer, Fault> {
        // A length beyond the address space exceeds the capacity of every pool.
        let capacity = usize::try_from(length).unwrap_or(usize::MAX);
        let empty = self.direction.pool.take(capacity);
        let mut filling = empty
            .map_err(|source| Fault::NoBuffer { length, source })?
            .writer();
        for segment in segments {
            if !filling.extend(segment) {
                unreachable!("the jbuf has room for all segments");
            }
        }
        Ok(filling.finish())
    }
}

// SAFETY: A push copies borrowed memory, or takes the buffer or the object, before it returns.
unsafe impl Outgoing for SendHalf {
    #[inline]
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault> {
        self.direction.ends.sendable()?;
        let length = message.header.length;
        // A sender that was asked for a longer message by a message sees the limit that was lifted
        // before: the queue of that message synchronises both.
        if length > self.direction.max_message() {
            return Err(Fault::TooLarge { length });
        }
        if !self.has_room(length) {
            self.wanted = length;
            return Ok(Push::Untouched);
        }
        let header = message.header;
        if let Body::Borrowed(segments) = message.body {
            if length <= INLINE as u64 {
                return Ok(self.fill(length, |letter| letter.put_bytes(&header, segments)));
            }
            let copy = self.copy(length, segments)?;
            return Ok(self.fill(length, |letter| letter.put_jbuf(&header, copy)));
        }
        match mem::replace(&mut message.body, Body::Taken) {
            Body::Owned(filled) => Ok(self.fill(length, |letter| letter.put_jbuf(&header, filled))),
            Body::Object(object) => {
                Ok(self.fill(length, |letter| letter.put_object(&header, object)))
            }
            Body::Borrowed(_) | Body::Taken => Ok(Push::Done),
        }
    }

    /// A message is never partially sent, so this only ends the direction.
    fn abandon(&mut self, _: &mut Outbound<'_>) {
        self.direction.close_sender();
    }

    fn arm(&mut self, waker: Option<&Waker>) -> Armed {
        let direction = self.direction.clone();
        direction.room.arm(waker, || self.may_get_further())
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        (self.direction.room.event(), Interest::Readable)
    }

    fn wait(&mut self, deadline: Deadline) -> Result<(), Fault> {
        let direction = self.direction.clone();
        direction.room.wait(deadline, || self.may_get_further());
        Ok(())
    }
}

impl SendHalf {
    fn may_get_further(&mut self) -> bool {
        self.direction.ends.sendable().is_err() || self.has_room(self.wanted)
    }
}

impl Drop for SendHalf {
    fn drop(&mut self) {
        self.direction.ends.drop_sender();
        self.direction.arrived.ring();
    }
}

/// The receive half.
pub(super) struct ReceiveHalf {
    direction: Arc<Direction>,
    emptier: Emptier<SlotMessage>,
    /// Payload bytes of all messages so far.
    taken_bytes: u64,
}

impl ReceiveHalf {
    /// Returns the result of `look` for the next message, if there is one.
    #[inline]
    fn front<R>(&mut self, look: impl FnOnce(&mut SlotMessage) -> R) -> Result<Option<R>, Fault> {
        let emptier = &mut self.emptier;
        let found = self.direction.ends.next(|| emptier.front(look));
        if matches!(found, Err(Fault::ClosedLocally)) {
            self.forget();
        }
        found
    }

    /// Releases the slot of the next message, after its payload of `length` bytes was taken.
    #[inline]
    fn release(&mut self, length: u64) {
        let direction = &*self.direction;
        if length != 0 {
            self.taken_bytes = self.taken_bytes.wrapping_add(length);
            let counter = &direction.taken_bytes.0;
            counter.store(self.taken_bytes, Ordering::Release);
        }
        self.emptier.pop();
        direction.room.ring();
    }

    /// Drops the queued messages.
    fn forget(&mut self) {
        while self
            .emptier
            .front(|letter| drop(letter.take_payload()))
            .is_some()
        {
            self.emptier.pop();
        }
    }
}

/// Copies an inline payload into a pool buffer. The result is written to `payload` directly: if it
/// were returned, it would be copied by loads that stall on the stores just before them. An empty
/// payload needs no pool buffer.
#[inline]
fn copy(pool: &Pool, bytes: &[u8], payload: &mut MessageBuffer) -> Result<(), PoolError> {
    if bytes.is_empty() {
        *payload = MessageBuffer::nothing();
        return Ok(());
    }
    let mut filling = pool.take(bytes.len())?.writer();
    if !filling.extend(bytes) {
        unreachable!("the jbuf has room for the payload");
    }
    *payload = filling.finish();
    Ok(())
}

impl Incoming for ReceiveHalf {
    /// Messages arrive as a whole.
    fn first_buffer(&self, _length: u64) -> u64 {
        0
    }

    fn lift_limit(&mut self) {
        let max = &self.direction.max_message;
        max.store(u64::MAX, Ordering::Relaxed);
    }

    #[inline]
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        self.front(|letter| letter.header())
    }

    #[inline]
    fn payload(&mut self, into: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        let direction = &*self.direction;
        let emptier = &mut self.emptier;
        let taken = direction.ends.next(|| {
            emptier.front(|letter| {
                let Some(bytes) = letter.bytes() else {
                    *into = None;
                    let length = letter.header().length;
                    return Ok((length, letter.take_payload()));
                };
                let length = bytes.len() as u64;
                let filled = match into.take() {
                    None => {
                        let mut filled = MessageBuffer::nothing();
                        copy(&direction.pool, bytes, &mut filled)
                            .map_err(|source| Fault::NoBuffer { length, source })?;
                        filled
                    }
                    Some(mut filling) => {
                        if !filling.extend(bytes) {
                            unreachable!("the jbuf has room for the payload");
                        }
                        filling.finish()
                    }
                };
                Ok((length, Some(Payload::Bytes(filled))))
            })
        });
        let Some((length, payload)) = taken?.transpose()? else {
            return Ok(None);
        };
        self.release(length);
        Ok(payload)
    }

    #[inline]
    fn receive(
        &mut self,
        header: &mut Header,
        payload: &mut MessageBuffer,
    ) -> Result<Whole, Fault> {
        let pool = &self.direction.pool;
        let emptier = &mut self.emptier;
        let mut low = None;
        let found = self.direction.ends.next(|| {
            emptier.front(|letter| {
                if !letter.is_message() {
                    return false;
                }
                *header = letter.header();
                if let Some(bytes) = letter.bytes() {
                    low = copy(pool, bytes, payload).err();
                    return low.is_none();
                }
                letter.take_jbuf().map(|filled| *payload = filled).is_some()
            })
        });
        match (found, low) {
            (Ok(Some(true)), _) => {
                self.release(header.length);
                Ok(Whole::Here)
            }
            (_, Some(source)) => Err(Fault::NoBuffer {
                length: header.length,
                source,
            }),
            (Ok(None), None) => Ok(Whole::Nothing),
            // `header` returns the same error to the caller.
            (Ok(Some(false)) | Err(_), None) => Ok(Whole::Other),
        }
    }

    #[inline]
    fn receive_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        wants: &dyn Fn(&Header) -> bool,
    ) -> Result<Whole, Fault> {
        let found = self.front(|letter| {
            *header = letter.header();
            // Messages of the endpoint protocol are not for the program.
            let bytes = letter
                .bytes()
                .filter(|_| letter.is_message() && wants(header))?;
            memory.get_mut(..bytes.len())?.copy_from_slice(bytes);
            Some(())
        })?;
        match found {
            None => Ok(Whole::Nothing),
            Some(None) => Ok(Whole::Other),
            Some(Some(())) => {
                self.release(header.length);
                Ok(Whole::Here)
            }
        }
    }

    /// Always 0: a message arrives completely or not at all.
    fn begun(&self) -> u64 {
        0
    }

    fn arm(&mut self, waker: Option<&Waker>) -> Armed {
        let emptier = &self.emptier;
        let ends = &self.direction.ends;
        let ready = || emptier.is_filled() || ends.get() != 0;
        self.direction.arrived.arm(waker, ready)
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.direction.arrived.event()
    }

    fn wait(&mut self, _: &mut Option<BufferWriter>, deadline: Deadline) -> Result<(), Fault> {
        let emptier = &self.emptier;
        let ends = &self.direction.ends;
        let ready = || emptier.is_filled() || ends.get() != 0;
        self.direction.arrived.wait(deadline, ready);
        Ok(())
    }
}

impl Drop for ReceiveHalf {
    fn drop(&mut self) {
        self.direction.end(RECEIVER_DROPPED);
        // Returns the buffers to their pools. A message that the sender queues concurrently is
        // dropped together with the sender.
        self.forget();
    }
}
