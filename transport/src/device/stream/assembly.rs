//! Bytes in, messages out: the receiving side without its wire.

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
            staging: Spent::heap(AHEAD).filling(),
            used: 0,
            ahead: AHEAD,
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
            None => {
                let spent = self.pool.take(length);
                let spent = spent.map_err(|source| Fault::NoBuffer {
                    length: length as u64,
                    source,
                })?;
                spent.filling()
            }
        };
        let staged = self.staged();
        let missing = length.saturating_sub(filling.len());
        let moved = staged.get(..missing).unwrap_or(staged);
        let fits = filling.extend(moved);
        debug_assert!(fits, "there is room for the whole payload");
        self.used = self.used.saturating_add(moved.len());
        if filling.len() < length {
            self.placed = filling.len();
            *into = Some(filling);
            return Ok(None);
        }
        self.due = None;
        self.placed = 0;
        Ok(Some(filling.finish()))
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
        Spare {
            rest,
            placed: &mut self.placed,
            ahead: self.ahead.saturating_sub(self.staging.len()),
            staging: &mut self.staging,
        }
    }

    /// Makes room where bytes were used: what is left is a part of a header.
    fn compact(&mut self) {
        let staged = self.staged();
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
        let Some((filling, missing)) = self.rest else {
            let received = receive(&mut [MaybeUninitSlice::new(staging)])?;
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

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the numbers of these tests are small"
)]
mod tests {
    use super::*;
    use jstream::buffer::PoolOptions;
    use proptest::prelude::*;

    /// Stands in for the wire: gives at most `most` bytes of `wire`.
    fn feed(assembly: &mut Assembly, into: &mut Option<Filling>, wire: &mut &[u8], most: usize) {
        let receive = |slices: &mut [MaybeUninitSlice<'_>]| {
            let mut n = 0;
            for byte in slices.iter_mut().flat_map(|slice| slice.iter_mut()) {
                let Some((first, rest)) = wire.split_first().filter(|_| n < most) else {
                    break;
                };
                byte.write(*first);
                *wire = rest;
                n += 1;
            }
            Ok::<_, ()>(Some(n))
        };
        // SAFETY: as many bytes as it says were just written.
        let n = unsafe { assembly.spare(into).fill(receive) };
        assert!(
            n > Ok(Some(0)),
            "a call that can't receive anything looks like the end"
        );
    }

    fn message(index: usize, length: usize) -> (Header, Vec<u8>) {
        let header = Header::new(index as u32, [length as u64, 0, u64::MAX]);
        let payload = (0..length).map(|i| (i * 7 + index) as u8).collect();
        (header.with_length(length as u64), payload)
    }

    fn wire(lengths: &[usize]) -> Vec<u8> {
        let mut wire = Vec::new();
        for (index, length) in lengths.iter().enumerate() {
            let (header, payload) = message(index, *length);
            wire.extend(header.to_bytes());
            wire.extend(payload);
        }
        wire.extend(FAREWELL);
        wire
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_become_the_messages_they_were(
            lengths in prop::collection::vec(
                prop_oneof![0usize..100, 4000usize..4200, 0usize..60_000], 1..20),
            pieces in prop::collection::vec(
                prop_oneof![1usize..50, 4000usize..5000, Just(usize::MAX)], 1..20),
            posted in prop::collection::vec(any::<bool>(), 20),
        ) {
            let pool = Pool::default();
            let mut assembly = Assembly::new(pool.clone(), 1 << 20);
            let wire = wire(&lengths);
            let mut rest = wire.as_slice();
            let mut seen = 0;
            let mut pieces = pieces.iter().cycle();
            for (index, length) in lengths.iter().enumerate() {
                let header = loop {
                    match assembly.header().unwrap() {
                        Some(header) => break header,
                        None => feed(&mut assembly, &mut None, &mut rest, *pieces.next().unwrap()),
                    }
                };
                prop_assert_eq!(assembly.header().unwrap(), Some(header));
                let mut into = posted[index].then(|| Spent::heap(*length + 3).filling());
                let payload = loop {
                    let ready = assembly.is_ready();
                    let here = assembly.payload(&mut into).unwrap();
                    prop_assert_eq!(ready, here.is_some());
                    let Some(payload) = here else {
                        let at = into.as_ref().unwrap().len();
                        prop_assert_eq!(assembly.begun(), (Header::WIRE_LENGTH + at) as u64);
                        feed(&mut assembly, &mut into, &mut rest, *pieces.next().unwrap());
                        continue;
                    };
                    break payload;
                };
                let (expected, bytes) = message(index, *length);
                prop_assert_eq!(header, expected);
                prop_assert!(payload.as_bytes() == bytes);
                prop_assert_eq!(payload.place().is_none(), posted[index]);
                prop_assert!(into.is_none());
                seen += Header::WIRE_LENGTH + length;
                prop_assert!(seen <= wire.len() - rest.len());
            }
            loop {
                match assembly.header() {
                    Ok(None) => feed(&mut assembly, &mut None, &mut rest, *pieces.next().unwrap()),
                    result => break prop_assert!(matches!(result, Err(Fault::Ended))),
                }
            }
            prop_assert!(rest.is_empty());
            drop(assembly);
            prop_assert_eq!(pool.stats().in_use, 0);
        }
    }

    #[test]
    fn a_pool_without_room_loses_nothing() {
        let mut options = PoolOptions::default();
        options.max_mapped = 256 * 1024;
        let pool = Pool::new(options);
        let mut assembly = Assembly::new(pool.clone(), 1 << 20);
        let wire = wire(&[200_000, 3000]);
        let mut rest = wire.as_slice();
        let held = pool.take(200_000).unwrap();
        feed(&mut assembly, &mut None, &mut rest, 1000);
        assembly.header().unwrap().unwrap();
        for _ in 0..2 {
            let fault = assembly.payload(&mut None).unwrap_err();
            assert!(matches!(
                fault,
                Fault::NoBuffer {
                    length: 200_000,
                    ..
                }
            ));
            assert_eq!(assembly.begun(), 1000);
            assert!(!assembly.can_receive(false));
        }
        drop(held);
        let mut lengths = Vec::new();
        let mut into = None;
        while lengths.len() < 2 {
            if assembly.header().unwrap().is_some() {
                if let Some(payload) = assembly.payload(&mut into).unwrap() {
                    lengths.push(payload.len());
                    continue;
                }
            }
            feed(&mut assembly, &mut into, &mut rest, usize::MAX);
        }
        assert_eq!(lengths, [200_000, 3000]);
    }

    #[test]
    fn lengths_beyond_the_limit_are_refused() {
        for length in [101, u64::from(u32::MAX), u64::MAX] {
            let pool = Pool::default();
            let mut assembly = Assembly::new(pool.clone(), 100);
            let header = Header::default().with_length(length).to_bytes();
            feed(&mut assembly, &mut None, &mut header.as_slice(), 40);
            for _ in 0..2 {
                let fault = assembly.header().unwrap_err();
                assert!(matches!(fault, Fault::TooLarge { length: l } if l == length));
            }
            assert_eq!(pool.stats().mapped, 0);
        }
    }

    #[test]
    fn a_bad_header_is_refused() {
        for at in 4..8 {
            let mut assembly = Assembly::new(Pool::default(), 100);
            let mut header = Header::default().to_bytes();
            header[at] = 0x80;
            feed(&mut assembly, &mut None, &mut header.as_slice(), 40);
            let fault = assembly.header().unwrap_err();
            assert!(matches!(fault, Fault::Malformed(_)));
        }
    }

    #[test]
    fn a_farewell_has_to_be_whole() {
        let mut other = FAREWELL;
        other[39] = 1;
        let mut assembly = Assembly::new(Pool::default(), 100);
        feed(&mut assembly, &mut None, &mut other.as_slice(), 40);
        assert!(matches!(assembly.header(), Err(Fault::Malformed(_))));
    }
}
