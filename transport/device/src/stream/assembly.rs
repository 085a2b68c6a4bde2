//! Assembly of received bytes into messages, independent of the wire.
//!
//! Decisions 019 and 034 have the reasons.

#[cfg(test)]
mod tests;

use jstream::buffer::{BufferWriter, EmptyBuffer, MessageBuffer, Pool};
use socket2::MaybeUninitSlice;

use crate::connection::Fault;
use jstream_base::Header;

/// The frame that a peer sends instead of a header to end its direction. No header has the value of
/// its reserved word.
pub(crate) const FAREWELL: [u8; Header::WIRE_LENGTH] = {
    let mut bytes = [0; Header::WIRE_LENGTH];
    if let Some(said) = bytes.first_chunk_mut() {
        *said = *b"\xff\xff\xff\xffbye\0";
    }
    bytes
};

/// Maximum number of bytes received before their message is known. One call can receive many
/// messages that are shorter than this. Copying them from the staging buffer to their destination
/// costs less than another call.
pub(super) const AHEAD: usize = (16 << 10) + Header::WIRE_LENGTH;

/// The limit that replaces [`AHEAD`] while messages are longer than that, because only a part of
/// such a message would be copied.
const LITTLE_AHEAD: usize = 4 << 10;

/// The initial limit, until a connection has received more at once. Most idle connections never do,
/// and there may be many of them.
const FIRST_AHEAD: usize = 2 << 10;

/// Divisor of the pool's limit of mapped memory. A header alone reserves at most this part of it,
/// or [`LEAST_CLAIM`] if that is more. A longer message gets its full buffer when that many bytes
/// have arrived. So hundreds of peers that announce long messages and send nothing can't exhaust
/// the pool.
const CLAIMS: usize = 512;
const LEAST_CLAIM: usize = 1 << 20;

/// Messages that are longer than the pool's limit divided by this number get their full buffer
/// immediately.
const CLAIMABLE: usize = 8;

/// Assembles messages from received bytes.
///
/// Invariants: received bytes that were not assigned to a message are those of `staging` from
/// `used` on. While a payload is incomplete, its received bytes are in its buffer, or are the first
/// of the bytes in `staging`.
pub(crate) struct Assembly {
    pool: Pool,
    max_message: u64,
    staging: BufferWriter,
    used: usize,
    ahead: usize,
    /// True if the last receive filled the staging buffer.
    is_full: bool,
    /// The header and length of the payload that is being received.
    due: Option<(Header, usize)>,
    /// Number of bytes of that payload in its buffer, or dropped.
    placed: usize,
    /// True if the payload is dropped as it arrives.
    is_discarding: bool,
}

impl Assembly {
    pub(crate) fn new(pool: Pool, max_message: u64) -> Self {
        Self {
            pool,
            max_message,
            staging: EmptyBuffer::heap(FIRST_AHEAD).writer(),
            used: 0,
            ahead: AHEAD,
            is_full: false,
            due: None,
            placed: 0,
            is_discarding: false,
        }
    }

    /// Accepts messages of any length from now on.
    pub(crate) fn lift_limit(&mut self) {
        self.max_message = u64::MAX;
    }

    /// Returns the number of bytes received of an incomplete message, header included.
    pub(crate) fn begun(&self) -> u64 {
        match self.due {
            Some((_, length)) => {
                let staged = self.staged().len().min(length.saturating_sub(self.placed));
                let beyond = self.placed.saturating_add(staged);
                (Header::WIRE_LENGTH as u64).saturating_add(beyond as u64)
            }
            None => self.staged().len().min(Header::WIRE_LENGTH) as u64,
        }
    }

    /// Returns true if the next header or payload is complete.
    pub(crate) fn is_ready(&self) -> bool {
        let needed = match self.due {
            Some((_, length)) => length.saturating_sub(self.placed),
            None => Header::WIRE_LENGTH,
        };
        self.staged().len() >= needed
    }

    /// Returns true if there is a destination for the next bytes. A payload needs a buffer unless
    /// it is dropped, and staged bytes must be moved to it or dropped first.
    pub(crate) fn can_receive(&self, has_jbuf: bool) -> bool {
        let takes_payload = has_jbuf || self.is_discarding;
        self.due.is_none() || (takes_payload && self.staged().is_empty())
    }

    /// Returns the header of the next message, if it has arrived. Returns the same header until its
    /// payload was returned. All faults are permanent.
    pub(crate) fn header(&mut self) -> Result<Option<Header>, Fault> {
        if let Some((header, _)) = self.due {
            return Ok(Some(header));
        }
        let staged = self.staged();
        let Some(bytes) = staged.first_chunk::<{ Header::WIRE_LENGTH }>() else {
            return Ok(None);
        };
        if *bytes == FAREWELL {
            return Err(Fault::Ended);
        }
        let header = Header::from_bytes(bytes).map_err(Fault::Malformed)?;
        // A length beyond the address space is too large regardless of the limit.
        let length = usize::try_from(header.length)
            .ok()
            .filter(|_| header.length <= self.max_message)
            .ok_or(Fault::TooLarge {
                length: header.length,
            })?;
        self.used = self.used.saturating_add(Header::WIRE_LENGTH);
        self.due = Some((header, length));
        self.ahead = if length > AHEAD { LITTLE_AHEAD } else { AHEAD };
        Ok(Some(header))
    }

    /// Returns true if the header of the next message has not arrived.
    #[inline]
    pub(crate) fn has_none(&self) -> bool {
        self.due.is_none() && self.staged().len() < Header::WIRE_LENGTH
    }

    /// Returns the next message if all of it has arrived, none of it was taken, and it is a valid
    /// message of the program. The errors of an invalid message are reported by
    /// [`header`](Self::header).
    #[inline]
    fn whole(&self) -> Option<(Header, &[u8])> {
        if self.due.is_some() {
            return None;
        }
        let (head, behind) = self
            .staged()
            .split_first_chunk::<{ Header::WIRE_LENGTH }>()?;
        let header = Header::from_bytes(head).ok()?;
        if header.op() != 0 || header.length > self.max_message {
            return None;
        }
        let length = usize::try_from(header.length).ok()?;
        Some((header, behind.get(..length)?))
    }

    /// Returns true if the whole next message has arrived.
    #[inline]
    pub(crate) fn has_whole(&self) -> bool {
        self.whole().is_some()
    }

    /// Copies the next message to a buffer of the pool, if all of it has arrived. A message without
    /// payload needs no buffer.
    #[inline]
    pub(crate) fn take_whole(&mut self, header: &mut Header, payload: &mut MessageBuffer) -> bool {
        let Some((found, bytes)) = self.whole() else {
            return false;
        };
        let length = bytes.len();
        if bytes.is_empty() {
            *payload = MessageBuffer::nothing();
        } else {
            let Ok(empty) = self.pool.take(length) else {
                return false;
            };
            let mut filling = empty.writer();
            if !filling.extend(bytes) {
                return false;
            }
            *payload = filling.finish();
        }
        *header = found;
        self.used = self
            .used
            .saturating_add(Header::WIRE_LENGTH)
            .saturating_add(length);
        self.ahead = AHEAD;
        true
    }

    /// Copies the next message to the front of `memory`, if all of it has arrived, it fits, and
    /// `wants` accepts its header.
    #[inline]
    pub(crate) fn take_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        wants: &dyn Fn(&Header) -> bool,
    ) -> bool {
        let Some((found, bytes)) = self.whole().filter(|(found, _)| wants(found)) else {
            return false;
        };
        let length = bytes.len();
        let Some(place) = memory.get_mut(..length) else {
            return false;
        };
        place.copy_from_slice(bytes);
        *header = found;
        self.used = self
            .used
            .saturating_add(Header::WIRE_LENGTH)
            .saturating_add(length);
        self.ahead = AHEAD;
        true
    }

    /// Replaces a full buffer, which has room for only a part of the payload, by one for all of it.
    ///
    /// The call may be repeated after [`Fault::NoBuffer`].
    pub(crate) fn enlarge(&mut self, into: &mut Option<BufferWriter>) -> Result<(), Fault> {
        let (Some((_, length)), Some(filling)) = (self.due, &mut *into) else {
            return Ok(());
        };
        if filling.len() == filling.capacity() && filling.len() < length {
            let mut whole = self.allocate(length, length)?;
            let fits = whole.extend(filling.as_bytes());
            debug_assert!(fits, "it is longer");
            *filling = whole;
        }
        Ok(())
    }

    /// Returns the payload of the message whose header was returned, if all of it has arrived.
    /// Until then, the received bytes are collected in `into`, which is set to a buffer of the pool
    /// if it is `None`.
    ///
    /// The call may be repeated after [`Fault::NoBuffer`].
    pub(crate) fn payload(
        &mut self,
        into: &mut Option<BufferWriter>,
    ) -> Result<Option<MessageBuffer>, Fault> {
        let Some((_, length)) = self.due else {
            return Ok(None);
        };
        let mut filling = match into.take() {
            Some(filling) => filling,
            None => self.allocate(self.first_buffer(length), length)?,
        };
        self.unstage(&mut filling, length);
        if filling.len() < length {
            self.placed = filling.len();
            *into = Some(filling);
            return Ok(None);
        }
        self.due = None;
        self.placed = 0;
        Ok(Some(filling.finish()))
    }

    /// Drops what has arrived of the payload of the message whose header was returned. Returns true
    /// if this was all of it.
    pub(crate) fn discard(&mut self) -> bool {
        let Some((_, length)) = self.due else {
            return false;
        };
        let missing = length.saturating_sub(self.placed);
        let dropped = self.staged().len().min(missing);
        self.used = self.used.saturating_add(dropped);
        self.placed = self.placed.saturating_add(dropped);
        self.is_discarding = dropped < missing;
        if self.is_discarding {
            self.ahead = AHEAD;
            return false;
        }
        self.due = None;
        self.placed = 0;
        true
    }

    /// Returns how many bytes are reserved for a message of that length before its payload arrives.
    pub(crate) fn first_buffer(&self, length: usize) -> usize {
        let all = self.pool.options().max_mapped;
        // In a small pool, the first buffer would take the memory that the full one needs.
        if length > all / CLAIMABLE {
            return length;
        }
        length.min((all / CLAIMS).max(LEAST_CLAIM))
    }

    /// Takes a buffer for `part` bytes of a message of `length` bytes.
    fn allocate(&self, part: usize, length: usize) -> Result<BufferWriter, Fault> {
        let empty = self.pool.take(part);
        let empty = empty.map_err(|source| Fault::NoBuffer {
            length: length as u64,
            source,
        })?;
        Ok(empty.writer())
    }

    /// Moves staged bytes of a payload of that length to its buffer.
    fn unstage(&mut self, filling: &mut BufferWriter, length: usize) {
        let room = length.min(filling.capacity());
        let missing = room.saturating_sub(filling.len());
        let staged = self.staged();
        let moved = staged.get(..missing).unwrap_or(staged);
        let fits = filling.extend(moved);
        debug_assert!(fits, "there is room for it");
        self.used = self.used.saturating_add(moved.len());
    }

    /// Returns the destination of the next bytes. The first of them complete the payload that is
    /// being received, for which `into` is as for [`payload`](Self::payload). The others go to the
    /// staging buffer.
    ///
    /// Must only be called if there is a [destination](Self::can_receive), and the bytes received
    /// so far were not sufficient.
    pub(crate) fn spare<'a>(&'a mut self, into: &'a mut Option<BufferWriter>) -> Spare<'a> {
        debug_assert!(self.can_receive(into.is_some()));
        let rest = match (self.due, into) {
            (Some((_, length)), Some(filling)) => {
                let missing = length.saturating_sub(filling.len());
                Some((filling, missing))
            }
            _ => None,
        };
        self.compact();
        if self.is_full {
            self.grow();
        }
        Spare {
            rest,
            placed: &mut self.placed,
            ahead: self.ahead.saturating_sub(self.staging.len()),
            staging: &mut self.staging,
            is_full: &mut self.is_full,
        }
    }

    /// Grows the staging buffer to its maximum.
    #[cold]
    fn grow(&mut self) {
        self.is_full = false;
        if self.staging.capacity() >= AHEAD {
            return;
        }
        let mut larger = EmptyBuffer::heap(AHEAD).writer();
        let fits = larger.extend(self.staging.as_bytes());
        debug_assert!(fits, "it is larger");
        self.staging = larger;
    }

    /// Moves the remaining bytes, a part of a header, to the front of the staging buffer.
    #[inline]
    fn compact(&mut self) {
        let staged = self.staged();
        if staged.is_empty() {
            self.staging.truncate(0);
            self.used = 0;
            return;
        }
        let mut rest = [0; Header::WIRE_LENGTH];
        let length = staged.len();
        let Some(place) = rest.get_mut(..length) else {
            debug_assert!(false, "a whole header was asked for before");
            return;
        };
        place.copy_from_slice(staged);
        self.staging.truncate(0);
        let fits = self.staging.extend(place);
        debug_assert!(fits, "it was here before");
        self.used = 0;
    }

    fn staged(&self) -> &[u8] {
        self.staging.as_bytes().get(self.used..).unwrap_or_default()
    }
}

/// Free space for received bytes.
pub(crate) struct Spare<'a> {
    /// The buffer of the payload that is being received, and the number of bytes that it lacks.
    rest: Option<(&'a mut BufferWriter, usize)>,
    placed: &'a mut usize,
    staging: &'a mut BufferWriter,
    ahead: usize,
    is_full: &'a mut bool,
}

impl Spare<'_> {
    /// Calls `receive` with the free space and accounts for the bytes that it received. Returns the
    /// result of `receive`, and records if it filled all of the space.
    ///
    /// # Safety
    ///
    /// If `receive` returns `n`, it must have initialised the first `n` bytes of its slices, one
    /// slice after the other.
    pub(crate) unsafe fn fill<E>(
        self,
        receive: impl FnOnce(&mut [MaybeUninitSlice<'_>]) -> Result<Option<usize>, E>,
    ) -> Result<Option<usize>, E> {
        let staging = until(self.staging, self.ahead);
        let ahead = staging.len();
        let Some((filling, missing)) = self.rest else {
            let received = receive(&mut [MaybeUninitSlice::new(staging)])?;
            *self.is_full = received == Some(ahead);
            // SAFETY: the slice is the free part of `staging`, and the caller has initialised `n`
            // bytes of it.
            unsafe { self.staging.advance(received.unwrap_or(0)) };
            return Ok(received);
        };
        let rest = until(filling, missing);
        let room = rest.len();
        let received = receive(&mut [MaybeUninitSlice::new(rest), MaybeUninitSlice::new(staging)])?;
        let n = received.unwrap_or(0);
        let first = n.min(room);
        // SAFETY: the first slice is the first `room` free bytes of `filling`. The caller has
        // initialised `n` bytes in all, slice after slice, so the first `min(n, room)` bytes of
        // this slice are initialised.
        unsafe { filling.advance(first) };
        *self.is_full = n == room.saturating_add(ahead);
        // SAFETY: the second slice is the free part of `staging`. The caller fills the slices in
        // order, so the `n - first` bytes that did not fit the first slice are initialised at its
        // front.
        unsafe { self.staging.advance(n.saturating_sub(first)) };
        *self.placed = filling.len();
        Ok(received)
    }
}

/// Returns the first `most` free bytes of `filling`.
fn until(filling: &mut BufferWriter, most: usize) -> &mut [std::mem::MaybeUninit<u8>] {
    let rest = filling.rest_mut();
    let most = most.min(rest.len());
    rest.split_at_mut(most).0
}
