//! Tests with messages in pieces of all lengths.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the numbers of these tests are small"
)]

use super::*;
use jstream::buffer::PoolOptions;
use proptest::prelude::*;

/// Simulates the wire: receives at most `most` bytes of `wire`.
fn feed(assembly: &mut Assembly, into: &mut Option<BufferWriter>, wire: &mut &[u8], most: usize) {
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
    // SAFETY: `receive` has just written the `n` bytes that it returns, slice after slice.
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
            let mut into = posted[index].then(|| EmptyBuffer::heap(*length + 3).writer());
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

/// A connection that received only the header of a long message holds only a part of its memory. If
/// the pool is exhausted, the received bytes are kept.
#[test]
fn claims_are_believed_as_they_come_true() {
    const LENGTH: usize = (3 << 20) + 1;
    let mut options = PoolOptions::default();
    options.max_mapped = 64 << 20;
    let pool = Pool::new(options);
    let wire = wire(&[LENGTH, 100]);
    let mut silent = Vec::new();
    for _ in 0..24 {
        let mut assembly = Assembly::new(pool.clone(), 64 << 20);
        let mut into = None;
        feed(&mut assembly, &mut None, &mut wire.as_slice(), 41);
        assembly.header().unwrap().unwrap();
        assert!(assembly.payload(&mut into).unwrap().is_none());
        silent.push((assembly, into));
    }
    let room = LENGTH.next_power_of_two();
    let mut held = Vec::new();
    while let Ok(empty) = pool.take(room) {
        held.push(empty);
    }
    assert!(held.len() >= 8, "{}", held.len());
    let mut assembly = Assembly::new(pool.clone(), 64 << 20);
    let (mut rest, mut into, mut refused) = (wire.as_slice(), None, 0);
    drop(silent.pop());
    feed(&mut assembly, &mut None, &mut rest, usize::MAX);
    assembly.header().unwrap().unwrap();
    let payload = loop {
        let enlarged = assembly.enlarge(&mut into);
        match enlarged.and_then(|()| assembly.payload(&mut into)) {
            Ok(Some(payload)) => break payload,
            Ok(None) => feed(&mut assembly, &mut into, &mut rest, 100_000),
            Err(fault) => {
                let whole =
                    matches!(fault, Fault::NoBuffer { length, .. } if length == LENGTH as u64);
                assert!(whole, "{fault:?}");
                assert!(assembly.begun() >= 1 << 20);
                refused += 1;
                held.pop();
            }
        }
    };
    assert!(refused > 0);
    assert!(payload.as_bytes() == message(0, LENGTH).1);
    drop(payload);
    while assembly.header().unwrap().is_none() {
        feed(&mut assembly, &mut None, &mut rest, usize::MAX);
    }
    let payload = loop {
        match assembly.payload(&mut into).unwrap() {
            Some(payload) => break payload,
            None => feed(&mut assembly, &mut into, &mut rest, usize::MAX),
        }
    };
    assert!(payload.as_bytes() == message(1, 100).1);
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
fn a_message_without_payload_takes_no_jbuf() {
    let pool = Pool::default();
    let mut assembly = Assembly::new(pool.clone(), 1000);
    let wire = wire(&[0, 5]);
    feed(&mut assembly, &mut None, &mut &wire[..], wire.len());
    let (mut header, mut payload) = (Header::default(), MessageBuffer::nothing());
    for (index, length) in [0, 5].into_iter().enumerate() {
        assert!(assembly.take_whole(&mut header, &mut payload));
        let (sent, bytes) = message(index, length);
        assert_eq!((header, payload.as_bytes()), (sent, &bytes[..]));
        assert_eq!(pool.stats().in_use, index);
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
