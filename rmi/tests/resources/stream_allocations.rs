//! Allocations per stream item. In steady state the items of a stream do not allocate on either
//! side.

use std::sync::Arc;

use jstream_rmi::{Client, Server, Stream, remote};
use testing::allocator;
use testing::process::alone;

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

const ITEMS: usize = 20_000;

/// Returns the number of allocations of the process for `ITEMS` items. This is the minimum of
/// several rounds, because other code occasionally allocates too.
fn allocations(mut items: impl FnMut()) -> usize {
    let mut round = || {
        let before = allocator::allocations();
        items();
        allocator::allocations() - before
    };
    round();
    (0..10).map(|_| round()).min().unwrap()
}

#[test]
fn items_allocate_next_to_nothing() {
    alone(|| {
        let server = Server::default();
        server
            .bind::<dyn Numbers>("numbers", Arc::new(Plain))
            .unwrap();
        let serving = server
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let numbers = client.lookup::<dyn Numbers>("numbers").wait().unwrap();

        let mut endless = numbers.endless();
        let taken = allocations(|| {
            for _ in 0..ITEMS {
                endless.next().wait().unwrap().unwrap();
            }
        });
        // Occasional allocations: a task that waits for a grant, and memory that the pool does not
        // keep.
        assert!(taken <= ITEMS / 500, "{taken} for {ITEMS} items that came");

        let (sender, stream) = jstream_rmi::stream(64);
        let total = numbers.total(stream);
        let sent = allocations(|| {
            for n in 0..ITEMS as u64 {
                sender.send(n).wait().unwrap();
            }
        });
        // Each item is sent at once, in a frame of its own. An item that finds no room is sent from
        // a copy.
        assert!(sent <= ITEMS / 20, "{sent} for {ITEMS} items that went");
        drop(sender);
        total.wait().unwrap();
    });
}
