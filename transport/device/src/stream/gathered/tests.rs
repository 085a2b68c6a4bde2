#![allow(
    clippy::arithmetic_side_effects,
    reason = "the numbers of these tests are small"
)]

use super::*;
use crate::connection::{Body, Connection, Outbound, Outgoing, Push};
use crate::deadline::Deadline;
use crate::stream::tests::{LONG, WaitMode, pair, recv, send};
use crate::tcp::Tcp;
use jstream_base::Header;

fn append(gathered: &mut Gathered, message: &[u8]) -> bool {
    gathered.append(b"+", &[IoSlice::new(message)])
}

#[test]
fn a_message_of_which_nothing_was_taken_leaves_those_before_it() {
    let mut gathered = Gathered::new(16);
    assert!(gathered.keep(b"+", &[IoSlice::new(b"one"), IoSlice::new(b"two")]));
    assert!(append(&mut gathered, b"three"));
    assert_eq!(gathered.rest(), b"+onetwo+three");
    gathered.advance(3);
    assert_eq!(gathered.end_message(), 0);
    assert!(gathered.is_begun());
    assert_eq!(gathered.rest(), b"etwo");
    // The message is sent again, and now a part of it is accepted.
    assert!(append(&mut gathered, b"three"));
    gathered.advance(6);
    assert_eq!(gathered.end_message(), 2);
    assert_eq!(gathered.rest(), b"hree");
    gathered.advance(4);
    assert_eq!(gathered.end_message(), 6);
    assert!(gathered.rest().is_empty() && !gathered.is_begun());
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut gathered = Gathered::new(8);
    assert!(gathered.keep(b"+", &[IoSlice::new(b"1234")]));
    assert!(!append(&mut gathered, b"567"));
    assert!(!gathered.keep(b"+", &[IoSlice::new(b"567")]));
    assert_eq!(gathered.rest(), b"+1234");
    gathered.advance(5);
    assert_eq!(gathered.end_message(), 0);
    assert!(append(&mut gathered, b"5678901"));
}

#[test]
fn memory_is_taken_as_it_is_needed() {
    let mut gathered = Gathered::new(4 * FIRST);
    assert!(append(&mut gathered, &[1; FIRST - 1]));
    assert_eq!(gathered.bytes.capacity(), FIRST);
    gathered.advance(1);
    assert_eq!(gathered.end_message(), 1);
    // Growing keeps the position of sent and unsent bytes.
    assert!(gathered.keep(b"+", &[IoSlice::new(&[2; FIRST])]));
    assert!(append(&mut gathered, &[3; FIRST]));
    assert_eq!(gathered.rest().first(), Some(&1));
    assert_eq!(gathered.rest().last(), Some(&3));
    assert_eq!(gathered.rest().len(), 3 * FIRST + 1);
    assert_eq!(gathered.bytes.capacity(), 4 * FIRST);
    assert!(!append(&mut gathered, &[4; FIRST]));
    assert_eq!(gathered.rest().len(), 3 * FIRST + 1);
}

fn both_ends() -> (Connection, Connection) {
    pair(&Tcp, &"tcp://127.0.0.1:0".parse().unwrap())
}

fn header(number: u64, payload: &[u8]) -> Header {
    Header::new(7, [number, 0, 0]).with_length(payload.len() as u64)
}

fn gather(outgoing: &mut dyn Outgoing, number: u64, payload: &[u8]) -> bool {
    outgoing.gather(header(number, payload), &[IoSlice::new(payload)])
}

/// Receives the message with that number.
fn expect(connection: &mut Connection, number: u64, payload: &[u8]) {
    let (header, filled) = recv(&mut *connection.incoming, WaitMode::Blocking, None).unwrap();
    assert_eq!(header.words.first(), Some(&number));
    assert_eq!(filled.as_bytes(), payload);
}

#[test]
fn what_was_gathered_goes_when_it_is_flushed_or_before_what_is_pushed() {
    let (mut one, mut other) = both_ends();
    assert!(one.outgoing.gathers());
    for round in 0..3 {
        let large = vec![3; 100_000];
        assert!(gather(&mut *one.outgoing, 0, b"first"));
        assert!(gather(&mut *one.outgoing, 1, &[]));
        assert!(other.incoming.header().unwrap().is_none());
        match round {
            0 => assert!(one.outgoing.flush().unwrap().is_none()),
            1 => drop(send(&mut *one.outgoing, 9, Body::Borrowed(&[]))),
            _ => std::thread::scope(|scope| {
                let segment = [IoSlice::new(&large)];
                let outgoing = &mut *one.outgoing;
                scope.spawn(move || send(outgoing, 9, Body::Borrowed(&segment)).unwrap());
                expect(&mut other, 0, b"first");
                expect(&mut other, 1, &[]);
                expect(&mut other, 1, &large);
            }),
        }
        if round < 2 {
            expect(&mut other, 0, b"first");
            // All messages arrived in one piece.
            assert!(other.incoming.has_whole());
            expect(&mut other, 1, &[]);
        }
        if round == 1 {
            expect(&mut other, 1, &[]);
        }
        assert!(!other.incoming.has_whole());
    }
    // Gathered messages are sent before the end.
    assert!(gather(&mut *one.outgoing, 5, b"last"));
    drop(one);
    expect(&mut other, 5, b"last");
    assert!(recv(&mut *other.incoming, WaitMode::Blocking, None).is_err());
}

#[test]
fn what_the_wire_does_not_take_is_a_message_that_is_pushed() {
    let (mut one, mut other) = both_ends();
    let payload = [1; 1000];
    let mut count = 0;
    // The peer does not read, so at some point no more bytes are accepted.
    let mut rest: Outbound<'static> = loop {
        while gather(&mut *one.outgoing, count, &payload) {
            count += 1;
        }
        if let Some(rest) = one.outgoing.flush().unwrap() {
            break rest;
        }
    };
    std::thread::scope(|scope| {
        let other = &mut other;
        scope.spawn(move || {
            for number in 0..count {
                expect(other, number, &payload);
            }
            expect(other, 1, b"behind");
        });
        while one.outgoing.push(&mut rest).unwrap() != Push::Done {
            one.outgoing.wait(Deadline::after(LONG)).unwrap();
        }
        send(
            &mut *one.outgoing,
            9,
            Body::Borrowed(&[IoSlice::new(b"behind")]),
        )
        .unwrap();
    });
}
