//! Tests of unused credit.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::thread;

use super::*;
use crate::{Handlers, Peer, Settings};
use jstream_base::Options;
use jstream_endpoint::{connect, listen};

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns two joined peers with windows of one message.
fn joined() -> (Peer, Peer) {
    let address = "inproc://room-that-was-not-used".parse().unwrap();
    let options = Options::default();
    let listener = listen(&address, &options).unwrap();
    let settings = Settings {
        window_messages: 1,
        ..Settings::default()
    };
    let handlers = Handlers::builder().on("take", drop).build();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let server = listener.accept().unwrap().establish().unwrap();
            Peer::join(server, &handlers, settings.clone()).unwrap()
        });
        let client = connect(&address, &options).unwrap();
        let one = Peer::join(client, &Handlers::none(), settings.clone()).unwrap();
        (one, other.join().unwrap())
    })
}

#[test]
fn room_of_what_was_not_sent_goes_to_who_waits() {
    let (client, _server) = joined();
    let link = client.link();
    for is_request in [true, false] {
        let (number, credit) = if is_request {
            let begun = link.begin(0, 0, 7).unwrap();
            (Some(begun.asked.number), begun.credit)
        } else {
            (None, link.ledger().charge(7).unwrap())
        };
        let mut turn = link.enqueue(Message {
            handler: 0,
            word: 0,
            length: 0,
            asks: false,
            payload: None,
        });
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        assert!(turn.collect(Some(&waker)).is_none());
        link.unsend(number, 7, credit);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        let grant = turn.collect(None).unwrap().unwrap();
        assert!(!link.has_queue());
        link.unsend(None, grant.length, grant.credit);
    }
}
