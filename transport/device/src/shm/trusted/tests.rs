//! Both sides in one process, and peers that violate the protocol.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use jstream::buffer::EmptyBuffer;

use super::returns::{PLACES, give_back};
use super::*;
use crate::connection::Body;

const BYTES: usize = 64 << 10;

fn sides() -> (Outbox, TrustedInbox) {
    let (outbox, fd) = Outbox::create(BYTES).unwrap();
    (outbox, TrustedInbox::open(fd).unwrap())
}

fn owned(outbox: &Outbox, bytes: &[u8]) -> Body<'static> {
    let empty = outbox.allocate(bytes.len()).unwrap();
    Body::Owned(empty.copy_from(bytes).unwrap())
}

#[test]
fn a_message_is_given_back_once() {
    let (outbox, inbox) = sides();
    let mut body = owned(&outbox, &[7; 40_000]);
    let spot = outbox.publish(&mut body).unwrap();
    assert!(matches!(body, Body::Taken));
    let message = inbox.message(spot.to_words(), 40_000).unwrap();
    assert_eq!(
        (message.as_bytes(), outbox.announced()),
        (&[7; 40_000][..], 1)
    );
    // The other half of the outbox is too small, and the call does not wait for room.
    assert!(outbox.allocate(40_000).is_none());
    drop(message);
    assert_eq!(outbox.announced(), 0);
    let again = outbox.allocate(40_000).unwrap();
    assert!(outbox.allocate(40_000).is_none());
    drop(again);
    assert!(outbox.allocate(BYTES).is_some());
    assert_eq!(outbox.odd(), None);
}

#[test]
fn a_jbuf_of_elsewhere_is_copied_and_stays() {
    let (outbox, inbox) = sides();
    let bytes = [3; IN_PLACE_FROM];
    let heap = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let mut body = Body::Owned(heap);
    let spot = outbox.publish(&mut body).unwrap();
    assert!(matches!(&body, Body::Owned(filled) if filled.as_bytes() == bytes));
    let message = inbox.message(spot.to_words(), bytes.len()).unwrap();
    assert_eq!(message.as_bytes(), bytes);
    // A message of another outbox is copied, too.
    let (other, other_inbox) = sides();
    let mut body = Body::Owned(message);
    let spot = other.publish(&mut body).unwrap();
    drop(body);
    assert_eq!(outbox.announced(), 0);
    let message = other_inbox.message(spot.to_words(), bytes.len()).unwrap();
    assert_eq!(message.as_bytes(), bytes);
    // A short message is left to the ring.
    let heap = EmptyBuffer::heap(9).copy_from(b"too short").unwrap();
    assert_eq!(outbox.publish(&mut Body::Owned(heap)), None);
}

#[test]
fn as_many_messages_are_out_as_there_are_places() {
    let (outbox, inbox) = sides();
    // Each message occupies a block of the smallest size, so together they fill the outbox.
    let mut held = Vec::new();
    for n in 0..BYTES / UNIT {
        let mut body = owned(&outbox, &[1; 100]);
        let spot = outbox.publish(&mut body).unwrap();
        held.push(inbox.message(spot.to_words(), 100).unwrap());
        assert_eq!(outbox.announced(), n + 1);
    }
    assert!(outbox.allocate(1).is_none());
    std::thread::scope(|scope| {
        for held in held.chunks_mut(64).map(|held| held.iter_mut()) {
            scope.spawn(|| held.for_each(|held| held.as_bytes_mut().fill(2)));
        }
    });
    drop(held);
    assert_eq!(outbox.announced(), 0);
    assert!(outbox.allocate(BYTES).is_some());
}

#[test]
fn what_lies_outside_is_an_error() {
    let (outbox, inbox) = sides();
    let mut body = owned(&outbox, &[1; 300]);
    let good = outbox.publish(&mut body).unwrap().to_words();
    let [place, offset, capacity] = good;
    let end = (BYTES + BLOCKS_AT) as u64;
    let bad = [
        [PLACES as u64, offset, capacity],
        [u64::MAX, offset, capacity],
        [1 << 32, offset, capacity],
        [place, 0, capacity],
        [place, offset + 1, capacity],
        [place, end, 512],
        [place, end - 256, 512],
        [place, u64::MAX - 255, 512],
        [place, offset, 299],
        [place, offset, end],
        [place, offset, u64::MAX],
    ];
    for spot in bad {
        let error = inbox.message(spot, 300).unwrap_err();
        assert!(error.to_string().contains("of a message"), "{spot:?}");
    }
    assert_eq!(outbox.announced(), 1);
    drop(inbox.message(good, 300).unwrap());
    assert_eq!(outbox.announced(), 0);
}

#[test]
fn a_place_that_was_not_out_is_an_error() {
    let (outbox, fd) = Outbox::create(BYTES).unwrap();
    let memory = Memory::open(fd).unwrap();
    give_back(memory.returns(), 5);
    let mut body = owned(&outbox, &[1; 300]);
    assert_eq!(outbox.publish(&mut body), None);
    assert!(matches!(body, Body::Owned(_)));
    let error = outbox.odd().unwrap();
    assert!(error.to_string().contains("place given back"), "{error}");
}

#[test]
fn a_file_that_could_shrink_is_refused() {
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    let fd = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, 1 << 20).unwrap();
    assert!(TrustedInbox::open(fd).is_err());
    let file = mapping::sealed(BLOCKS_AT).unwrap();
    assert!(TrustedInbox::open(file.into()).is_err());
}
