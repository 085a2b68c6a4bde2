//! Bytes in, messages out: the receiving side without its wire.

#[cfg(test)]
mod tests;

use jstream::buffer::{Filled, Filling, Pool, Spent};
use socket2::MaybeUninitSlice;

use crate::device::connection::Fault;
use crate::header::Header;

/// What stands instead of a header when the peer has no more to say. Its reserved word is one that
/// no header has.
pub(crate) const FAREWELL: [u8; Header::WIRE_LENGTH] = {
    let mut bytes = [0; Header::WIRE_LENGTH];
    if let Some(said) = bytes.first_chunk_mut() {
        *said = *b"\xff\xff\xff\xffbye\0";
    }
    bytes
};

/// How much is received before it is known whose it is, in bytes: shorter messages come many in one
/// call. They are copied from there to where they belong, which costs less than
/// another call.
pub(super) const AHEAD: usize = (16 << 10) + Header::WIRE_LENGTH;

/// The same while messages are longer than that, and the copy would be of a part of them.
const LITTLE_AHEAD: usize = 4 << 10;

/// The same until a connection has had more at once: most of those that are idle never do, and there may be many.
const FIRST_AHEAD: usize = 2 << 10;

/// A header alone gets this part of what the pool may map, or [`LEAST_CLAIM`]; a longer message gets its jbuf once so much of
/// it is here. So hundreds who claim much and send nothing leave room for all others.
const CLAIMS: usize = 512;
const LEAST_CLAIM: usize = 1 << 20;

/// This is not for messages longer than that part of the pool.
const CLAIMABLE: usize = 8;

/// Puts messages together.
///
/// Invariants: the bytes that are here and belong to no message yet are those of `staging` from
/// `used` on. While a payload is incomplete, the bytes of it that are here stand in the jbuf that it
/// goes to, or are the first of these.
pub(crate) struct Assembly {
    pool: Pool,
    max_message: u64,
    staging: Filling,
    used: usize,
    ahead: usize,
    /// The last receive filled all of the staging.
    is_full: bool,
    /// The header of the message whose payload is due, and how long that is.
    due: Option<(Header, usize)>,
    /// How much of that payload stands in its jbuf.
    placed: usize,
}

impl Assembly {
    pub(crate) fn new(pool: Pool, max_message: u64) -> Self {
        Self {
            pool,
            max_message,
            staging: Spent::heap(FIRST_AHEAD).filling(),
            used: 0,
            ahead: AHEAD,
            is_full: false,
            due: None,
            placed: 0,
        }
    }

    /// How many bytes of an incomplete message are here, header included.
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

    /// Whether the next step needs no more bytes.
    pub(crate) fn is_ready(&self) -> bool {
        let needed = match self.due {
            Some((_, length)) => length.saturating_sub(self.placed),
            None => Header::WIRE_LENGTH,
        };
        self.staged().len() >= needed
    }

    /// Whether what comes next has a place: a payload that is due needs a jbuf, and bytes that are
    /// here go there first.
    pub(crate) fn can_receive(&self, has_jbuf: bool) -> bool {
        self.due.is_none() || (has_jbuf && self.staged().is_empty())
    }

    /// The header of the next message, once it is here; the same one until its payload was given.
    /// Every fault stays.
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
        // What is longer than an address space is too large whatever the limit.
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

    /// Whether the next message has not even its header here.
    #[inline]
    pub(crate) fn has_none(&self) -> bool {
        self.due.is_none() && self.staged().len() < Header::WIRE_LENGTH
    }

    /// The next message, if all of it is here, nothing was taken of it, and it is one for the program. What
    /// is wrong with it, [`header`](Self::header) says.
    #[inline]
    fn whole(&self) -> Option<(Header, &[u8])> {
        if self.due.is_some() {
            return None;
        }
        let (head, behind) = self
            .staged()
            .split_first_chunk::<{ Header::WIRE_LENGTH }>()?;
        let header = Header::from_bytes(head).ok()?;
        if header.op != 0 || header.length > self.max_message {
            return None;
        }
        let length = usize::try_from(header.length).ok()?;
        Some((header, behind.get(..length)?))
    }

    /// Whether the next message is here as a whole.
    #[inline]
    pub(crate) fn has_whole(&self) -> bool {
        self.whole().is_some()
    }

    /// Takes the next message, if it is here as a whole, to a jbuf of the pool. One without payload needs none.
    #[inline]
    pub(crate) fn take_whole(&mut self, header: &mut Header, payload: &mut Filled) -> bool {
        let Some((found, bytes)) = self.whole() else {
            return false;
        };
        let length = bytes.len();
        if bytes.is_empty() {
            *payload = Filled::nothing();
        } else {
            let Ok(spent) = self.pool.take(length) else {
                return false;
            };
            let mut filling = spent.filling();
            if !filling.extend(bytes) {
                return false;
            }
            *payload = filling.finish();
        }
        *header = found;
        self.use_up(length);
        true
    }

    /// Takes the next message, if it is here as a whole and fits, to the front of `memory`.
    #[inline]
    pub(crate) fn take_into(&mut self, memory: &mut [u8], header: &mut Header) -> bool {
        let Some((found, bytes)) = self.whole() else {
            return false;
        };
        let length = bytes.len();
        let Some(place) = memory.get_mut(..length) else {
            return false;
        };
        place.copy_from_slice(bytes);
        *header = found;
        self.use_up(length);
        true
    }

    /// A message of so many bytes was taken as a whole.
    #[inline]
    fn use_up(&mut self, length: usize) {
        let whole = length.saturating_add(Header::WIRE_LENGTH);
        self.used = self.used.saturating_add(whole);
        self.ahead = AHEAD;
    }

    /// The payload of the message whose header was given, once all of it is here; until then its
    /// bytes gather in `into`, which gets a jbuf of the pool if it has none.
    ///
    /// After [`Fault::NoBuffer`] it may be asked again.
    pub(crate) fn payload(&mut self, into: &mut Option<Filling>) -> Result<Option<Filled>, Fault> {
        let Some((_, length)) = self.due else {
            return Ok(None);
        };
        let mut filling = match into.take() {
            Some(filling) => filling,
            None => self.take(self.claim(length), length)?,
        };
        self.unstage(&mut filling, length);
        if filling.len() == filling.capacity() && filling.len() < length {
            match self.take(length, length) {
                Ok(mut whole) => {
                    let fits = whole.extend(filling.as_bytes());
                    debug_assert!(fits, "it is longer");
                    filling = whole;
                    self.unstage(&mut filling, length);
                }
                Err(fault) => {
                    self.placed = filling.len();
                    *into = Some(filling);
                    return Err(fault);
                }
            }
        }
        if filling.len() < length {
            self.placed = filling.len();
            *into = Some(filling);
            return Ok(None);
        }
        self.due = None;
        self.placed = 0;
        Ok(Some(filling.finish()))
    }

    /// How much room a message of that length gets before any of it is here.
    fn claim(&self, length: usize) -> usize {
        let all = self.pool.options().max_mapped;
        // In a small pool the part would take the room that the whole needs.
        if length > all / CLAIMABLE {
            return length;
        }
        length.min((all / CLAIMS).max(LEAST_CLAIM))
    }

    /// A jbuf for so much of a message of that length.
    fn take(&self, part: usize, length: usize) -> Result<Filling, Fault> {
        let spent = self.pool.take(part);
        let spent = spent.map_err(|source| Fault::NoBuffer {
            length: length as u64,
            source,
        })?;
        Ok(spent.filling())
    }

    /// Moves what is here of a payload of that length to where it belongs.
    fn unstage(&mut self, filling: &mut Filling, length: usize) {
        let room = length.min(filling.capacity());
        let missing = room.saturating_sub(filling.len());
        let staged = self.staged();
        let moved = staged.get(..missing).unwrap_or(staged);
        let fits = filling.extend(moved);
        debug_assert!(fits, "there is room for it");
        self.used = self.used.saturating_add(moved.len());
    }

    /// Where the next bytes go: the first `n` of them to the rest of the payload that is due, for
    /// which `into` is as for [`payload`](Self::payload), what lies beyond to the staging.
    ///
    /// Only to be called when there is a [place](Self::can_receive) for them, and what is here was
    /// not enough.
    pub(crate) fn spare<'a>(&'a mut self, into: &'a mut Option<Filling>) -> Spare<'a> {
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

    /// Makes the staging as large as it may be.
    #[cold]
    fn grow(&mut self) {
        self.is_full = false;
        if self.staging.capacity() >= AHEAD {
            return;
        }
        let mut larger = Spent::heap(AHEAD).filling();
        let fits = larger.extend(self.staging.as_bytes());
        debug_assert!(fits, "it is larger");
        self.staging = larger;
    }

    /// Makes room where bytes were used: what is left is a part of a header.
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

/// Room for bytes to come.
pub(crate) struct Spare<'a> {
    /// The jbuf of the payload that is due, and how much is missing in it.
    rest: Option<(&'a mut Filling, usize)>,
    placed: &'a mut usize,
    staging: &'a mut Filling,
    ahead: usize,
    is_full: &'a mut bool,
}

impl Spare<'_> {
    /// Has `receive` receive, and counts what it received. Whether there may be more: all the room
    /// was used.
    ///
    /// # Safety
    ///
    /// Where `receive` answers `n`, it must have initialised the first `n` bytes of its slices, one
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
            // SAFETY: the slice is the staging's free part, and the caller has initialised `n` bytes.
            unsafe { self.staging.advance(received.unwrap_or(0)) };
            return Ok(received);
        };
        let rest = until(filling, missing);
        let room = rest.len();
        let received = receive(&mut [MaybeUninitSlice::new(rest), MaybeUninitSlice::new(staging)])?;
        let n = received.unwrap_or(0);
        let first = n.min(room);
        // SAFETY: the first slice is the first `room` free bytes of `filling`, and of the `n` bytes
        // that the caller has initialised so many are there.
        unsafe { filling.advance(first) };
        *self.is_full = n == room.saturating_add(ahead);
        // SAFETY: the second slice is the staging's free part, and what of the `n` bytes did not fit
        // the first one is there.
        unsafe { self.staging.advance(n.saturating_sub(first)) };
        *self.placed = filling.len();
        Ok(received)
    }
}

/// The first `most` free bytes of `filling`.
fn until(filling: &mut Filling, most: usize) -> &mut [std::mem::MaybeUninit<u8>] {
    let rest = filling.rest_mut();
    let most = most.min(rest.len());
    rest.split_at_mut(most).0
}
