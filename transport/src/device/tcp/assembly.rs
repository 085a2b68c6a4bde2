//! Bytes in, messages out: the receiving side without its socket.

use jstream::buffer::{Filling, Pool, PoolError, Spent};
use socket2::MaybeUninitSlice;

use crate::device::link::Message;
use crate::error::HeaderError;
use crate::header::Header;

/// How much may arrive together with a header in one call, in bytes.
const SMALL: usize = 4096;

/// Puts messages together, each in a jbuf of its own.
///
/// On the wire come a header and its payload, then the next. While nothing is pending, one call
/// receives a header, and into a small jbuf whatever follows it; what turns out to belong to
/// later messages moves to `staging`. A payload that is larger than the small jbuf gets one of
/// its own size, and the rest of it is received there.
///
/// Invariants: the bytes that are here arrived in the order `head`, `small` or `body`, `staging`
/// from `used` on. While `small` holds bytes or a message is unfinished, all of `staging` is
/// used.
pub(super) struct Assembly {
    pool: Pool,
    max_message: u64,
    /// The header of the message that is being received, as far as it has come.
    head: Filling,
    /// Where bytes beyond the header go until its length is known.
    small: Option<Filling>,
    /// There is one once the header is complete.
    body: Option<Body>,
    staging: Filling,
    used: usize,
}

/// A payload on its way.
struct Body {
    header: Header,
    /// The payload's length; `filling` has at least that capacity and never more bytes.
    length: usize,
    filling: Filling,
}

/// Why there is no message.
#[derive(Debug)]
pub(super) enum Fault {
    TooLarge { length: u64 },
    Malformed(HeaderError),
    NoBuffer { length: u64, source: PoolError },
}

impl Assembly {
    pub(super) fn new(pool: Pool, max_message: u64) -> Self {
        Self {
            pool,
            max_message,
            head: Spent::heap(Header::WIRE_LENGTH).filling(),
            small: None,
            body: None,
            staging: Spent::heap(SMALL).filling(),
            used: 0,
        }
    }

    pub(super) fn max_message(&self) -> u64 {
        self.max_message
    }

    /// How many bytes of an unfinished message are here, after
    /// [`take_message`](Self::take_message) gave none.
    pub(super) fn received(&self) -> u64 {
        let beyond = match &self.body {
            Some(body) => body.filling.len(),
            None => self.small.as_ref().map_or(0, Filling::len),
        };
        (self.head.len() as u64).saturating_add(beyond as u64)
    }

    /// The next message, if all of it is here.
    ///
    /// After [`Fault::NoBuffer`] it may be asked again; the other faults stay.
    pub(super) fn take_message(&mut self) -> Result<Option<Message>, Fault> {
        let mut body = match self.body.take() {
            Some(body) => body,
            None => match self.begin()? {
                Some(body) => body,
                None => return Ok(None),
            },
        };
        self.used = unstage(&self.staging, self.used, &mut body.filling, body.length);
        if body.filling.len() < body.length {
            self.body = Some(body);
            return Ok(None);
        }
        self.head.truncate(0);
        Ok(Some(Message::new(body.header, body.filling.finish())))
    }

    /// Where the next bytes go: a slice that is not empty, and one for what lies beyond.
    ///
    /// Only to be called after [`take_message`](Self::take_message) gave none.
    pub(super) fn spare(&mut self) -> Result<[MaybeUninitSlice<'_>; 2], Fault> {
        debug_assert_eq!(self.used, self.staging.len());
        self.staging.truncate(0);
        self.used = 0;
        let (first, length, second) = match &mut self.body {
            Some(body) => (&mut body.filling, body.length, &mut self.staging),
            None => {
                let small = match self.small.take() {
                    Some(small) => small,
                    None => take(&self.pool, SMALL)?,
                };
                let small = self.small.insert(small);
                (&mut self.head, Header::WIRE_LENGTH, small)
            }
        };
        Ok([spare_until(first, length), spare_until(second, SMALL)])
    }

    /// Counts `n` bytes as received into the slices of [`spare`](Self::spare).
    ///
    /// # Safety
    ///
    /// `spare` must have been the last call, and the first `n` bytes of its slices, one after
    /// the other, must have been initialised.
    pub(super) unsafe fn received_more(&mut self, n: usize) {
        let (first, length, second) = match (&mut self.body, &mut self.small) {
            (Some(body), _) => (&mut body.filling, body.length, &mut self.staging),
            (None, Some(small)) => (&mut self.head, Header::WIRE_LENGTH, small),
            (None, None) => unreachable!("`spare` took a small jbuf"),
        };
        let into_first = n.min(length.saturating_sub(first.len()));
        // SAFETY: the first slice of `spare` was the free bytes of `first` up to `length`, so
        // the caller has initialised that many of them.
        unsafe { first.advance(into_first) };
        // SAFETY: the second slice began at the first free byte of `second`, and what of the
        // caller's `n` bytes did not fit the first slice stands there.
        unsafe { second.advance(n.saturating_sub(into_first)) };
    }

    /// Where the payload goes, once the header is complete.
    fn begin(&mut self) -> Result<Option<Body>, Fault> {
        self.used = unstage(
            &self.staging,
            self.used,
            &mut self.head,
            Header::WIRE_LENGTH,
        );
        let Ok(bytes) = self.head.as_bytes().try_into() else {
            return Ok(None);
        };
        let header = Header::from_bytes(bytes).map_err(Fault::Malformed)?;
        // What is longer than an address space is too large whatever the limit.
        let length = usize::try_from(header.length)
            .ok()
            .filter(|_| header.length <= self.max_message)
            .ok_or(Fault::TooLarge {
                length: header.length,
            })?;
        let filling = self.place(length)?;
        Ok(Some(Body {
            header,
            length,
            filling,
        }))
    }

    /// A jbuf for a payload of `length` bytes, with what of it came after the header.
    fn place(&mut self, length: usize) -> Result<Filling, Fault> {
        if self.small.as_ref().is_none_or(|s| s.capacity() < length) {
            let mut large = take(&self.pool, length)?;
            if let Some(small) = self.small.take() {
                let fits = large.extend(small.as_bytes());
                debug_assert!(fits, "a jbuf that is larger holds the smaller one's bytes");
            }
            return Ok(large);
        }
        let Some(mut small) = self.small.take() else {
            unreachable!("without a small jbuf, a large one was taken")
        };
        if let Some(surplus) = small.as_bytes().get(length..).filter(|s| !s.is_empty()) {
            debug_assert_eq!(self.used, self.staging.len());
            self.staging.truncate(0);
            self.used = 0;
            let fits = self.staging.extend(surplus);
            debug_assert!(
                fits,
                "no more than SMALL bytes are received into a small jbuf"
            );
            small.truncate(length);
        }
        Ok(small)
    }
}

fn take(pool: &Pool, length: usize) -> Result<Filling, Fault> {
    let spent = pool.take(length).map_err(|source| Fault::NoBuffer {
        length: length as u64,
        source,
    })?;
    Ok(spent.filling())
}

/// Moves bytes of `staging` from `used` on until `filling` has `length` bytes; returns how many
/// of `staging` are used then.
fn unstage(staging: &Filling, used: usize, filling: &mut Filling, length: usize) -> usize {
    let missing = length.saturating_sub(filling.len());
    let staged = staging.as_bytes().get(used..).unwrap_or_default();
    let moved = staged.get(..missing).unwrap_or(staged);
    let fits = filling.extend(moved);
    debug_assert!(fits, "`filling` has room for `length` bytes");
    used.saturating_add(moved.len())
}

/// The free bytes of `filling` up to `length`.
fn spare_until(filling: &mut Filling, length: usize) -> MaybeUninitSlice<'_> {
    let missing = length.saturating_sub(filling.len());
    let rest = filling.rest_mut();
    let missing = missing.min(rest.len());
    MaybeUninitSlice::new(rest.split_at_mut(missing).0)
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

    /// Stands in for the socket: gives at most `most` bytes of `wire`.
    fn feed(assembly: &mut Assembly, wire: &mut &[u8], most: usize) {
        let mut n = 0;
        for slice in &mut assembly.spare().unwrap() {
            for byte in slice.iter_mut() {
                let Some((first, rest)) = wire.split_first().filter(|_| n < most) else {
                    break;
                };
                byte.write(*first);
                *wire = rest;
                n += 1;
            }
        }
        assert!(
            n > 0,
            "a call that can't receive anything looks like the end"
        );
        // SAFETY: the first `n` bytes were just written.
        unsafe { assembly.received_more(n) };
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
        wire
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_become_the_messages_they_were(
            lengths in prop::collection::vec(
                prop_oneof![0usize..100, 4000usize..4200, 0usize..20_000], 1..20),
            pieces in prop::collection::vec(
                prop_oneof![1usize..50, 4000usize..5000, Just(usize::MAX)], 1..20),
        ) {
            let pool = Pool::default();
            let mut assembly = Assembly::new(pool.clone(), 1 << 20);
            let wire = wire(&lengths);
            let mut rest = wire.as_slice();
            let mut pieces = pieces.iter().cycle();
            for (index, length) in lengths.iter().enumerate() {
                let received = loop {
                    match assembly.take_message().unwrap() {
                        Some(message) => break message,
                        None => feed(&mut assembly, &mut rest, *pieces.next().unwrap()),
                    }
                };
                let (header, payload) = message(index, *length);
                prop_assert_eq!(received.header, header);
                prop_assert!(received.payload.as_bytes() == payload);
                prop_assert!(pool.contains(received.payload.as_bytes()));
            }
            prop_assert!(assembly.take_message().unwrap().is_none());
            prop_assert_eq!(assembly.received(), 0);
            prop_assert!(rest.is_empty());
            drop(assembly);
            prop_assert_eq!(pool.stats().in_use, 0);
        }
    }

    #[test]
    fn a_pool_without_room_loses_nothing() {
        let mut options = PoolOptions::default();
        options.max_mapped = 512 * 1024;
        let pool = Pool::new(options);
        let mut assembly = Assembly::new(pool.clone(), 1 << 20);
        let wire = wire(&[200_000, 3000]);
        let mut rest = wire.as_slice();
        // One slab for the small jbuf, and the one large jbuf that still fits is out.
        let held = pool.take(200_000).unwrap();
        feed(&mut assembly, &mut rest, 1000);
        for _ in 0..2 {
            let fault = assembly.take_message().unwrap_err();
            assert!(matches!(
                fault,
                Fault::NoBuffer {
                    length: 200_000,
                    ..
                }
            ));
            assert_eq!(assembly.received(), 1000);
        }
        drop(held);
        let mut lengths = Vec::new();
        while lengths.len() < 2 {
            match assembly.take_message().unwrap() {
                Some(message) => lengths.push(message.payload.len()),
                None => feed(&mut assembly, &mut rest, usize::MAX),
            }
        }
        assert_eq!(lengths, [200_000, 3000]);
    }

    #[test]
    fn lengths_beyond_the_limit_are_refused() {
        for length in [101, u64::from(u32::MAX), u64::MAX] {
            let mut assembly = Assembly::new(Pool::default(), 100);
            let header = Header::default().with_length(length).to_bytes();
            feed(&mut assembly, &mut header.as_slice(), 40);
            for _ in 0..2 {
                let fault = assembly.take_message().unwrap_err();
                assert!(matches!(fault, Fault::TooLarge { length: l } if l == length));
            }
        }
    }

    #[test]
    fn a_bad_header_is_refused() {
        let mut assembly = Assembly::new(Pool::default(), 100);
        let mut header = Header::default().to_bytes();
        header[4] = 1;
        feed(&mut assembly, &mut header.as_slice(), 40);
        let fault = assembly.take_message().unwrap_err();
        assert!(matches!(fault, Fault::Malformed(_)));
    }
}
