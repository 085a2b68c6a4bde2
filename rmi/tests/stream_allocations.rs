//! In steady state the items of a stream cost no allocation, on neither side.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

mod heap;

use std::sync::Arc;

use jstream_rmi::{Client, Server, Stream, remote};

#[remote]
trait Numbers {
    fn endless(&self) -> Stream<u64>;
    fn total(&self, numbers: Stream<u64>) -> u64;
}

struct Plain;

impl Numbers for Plain {
    fn endless(&self) -> Stream<u64> {
        Stream::of(0..)
    }

    fn total(&self, numbers: Stream<u64>) -> u64 {
        numbers.map(|n| *n.unwrap().get()).sum()
    }
}

const ITEMS: u64 = 20_000;

/// How often the program allocates for so many items, at best: others do too, now and then.
fn allocations(mut items: impl FnMut()) -> u64 {
    let mut round = || {
        let before = heap::allocations();
        items();
        heap::allocations() - before
    };
    round();
    (0..10).map(|_| round()).min().unwrap()
}

/// One test, as others would allocate at the same time.
#[test]
fn items_allocate_next_to_nothing() {
    let server = Server::default();
    server
        .bind::<dyn Numbers>("numbers", Arc::new(Plain))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).unwrap();
    let numbers = client.lookup::<dyn Numbers>("numbers").unwrap();

    let mut endless = numbers.endless();
    let taken = allocations(|| {
        for _ in 0..ITEMS {
            endless.next().wait().unwrap().unwrap();
        }
    });
    // A task that waits for a grant, now and then, and what the pool does not keep.
    assert!(taken <= ITEMS / 500, "{taken} for {ITEMS} items that came");

    let (sender, stream) = jstream_rmi::stream(64);
    let total = numbers.total(stream);
    let sent = allocations(|| {
        for n in 0..ITEMS {
            sender.send(n).wait().unwrap();
        }
    });
    // Each goes at once, in a frame of its own; one that finds no room goes from a copy.
    assert!(sent <= ITEMS / 20, "{sent} for {ITEMS} items that went");
    drop(sender);
    total.wait().unwrap();
}
