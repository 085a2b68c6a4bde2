//! Tests of message numbers that wrap.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::time::Duration;

use crate::{Endpoint, connect, listen};
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;

fn pair() -> (Endpoint, Endpoint) {
    let address: Address = "inproc://numbers-that-wrap".parse().unwrap();
    let options = Options::default();
    let listener = listen(&address, &options).unwrap();
    std::thread::scope(|scope| {
        let accepted = scope.spawn(|| listener.accept().unwrap().establish().unwrap());
        let client = connect(&address, &options).unwrap();
        (client, accepted.join().unwrap())
    })
}

#[test]
fn what_was_not_wanted_is_received_in_order_when_numbers_wrap() {
    let (client, server) = pair();
    server.shared().receiving().next = u64::MAX - 1;
    let mut posted: Vec<_> = (0..5).map(|_| server.post_recv(None)).collect();
    for kind in 0..5 {
        client.send_message(Header::new(kind, [0; 3]), &[]).unwrap();
    }
    // All messages are received, and then their tickets are dropped out of order.
    server.recv_message_within(Duration::ZERO).unwrap_err();
    for place in [1, 2, 0, 1, 0] {
        drop(posted.remove(place));
    }
    for kind in 0..5 {
        assert_eq!(server.recv_message().unwrap().header.kind, kind);
    }
}
