//! Ranks that serve remote objects: each rank binds a counter, and counts at the others by their
//! ranks, while the ranks also exchange messages.
//!
//! Run: `cargo run --release --example objects_by_rank`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream_rmi::{Client, Server, remote};
use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldOptions};

const RANKS: u32 = 4;

#[remote]
trait Counter {
    /// Adds to the count, and returns it.
    fn add(&self, what: u64) -> u64;
}

#[derive(Default)]
struct Plain(AtomicU64);

impl Counter for Plain {
    fn add(&self, what: u64) -> u64 {
        let before = self.0.fetch_add(what, Ordering::Relaxed);
        before.saturating_add(what)
    }
}

fn count(world: &World) -> Result<u64, Box<dyn Error>> {
    let own = Arc::new(Plain::default());
    let server = Server::default();
    server.bind::<dyn Counter>("counter", own.clone())?;
    let serving = server.listen_all(&world.service_addresses("counters")?)?;
    let addresses = world.share_addresses(serving.addresses())?;
    // The clients connect to the ranks that they need, over connections of their own.
    for (rank, addresses) in (0..).zip(&addresses) {
        let [address, ..] = &addresses[..] else {
            return Err(format!("rank {rank} serves nothing").into());
        };
        let client = Client::connect(address).wait()?;
        let counter = client.lookup::<dyn Counter>("counter").wait()?;
        counter.add(u64::from(world.rank()) + 1).wait()?;
    }
    // All have counted everywhere.
    world.barrier()?;
    let mut sum = [0];
    world.all_reduce(&[own.0.load(Ordering::Relaxed)], &mut sum, &Sum)?;
    let [sum] = sum;
    Ok(sum)
}

fn main() -> Result<(), Box<dyn Error>> {
    let sums = World::threads(RANKS, &WorldOptions::default(), |world| {
        count(world).map_err(|error| error.to_string())
    })?;
    for (rank, sum) in sums.into_iter().enumerate() {
        let sum = sum?;
        println!("rank {rank}: all counters have counted to {sum}");
        assert_eq!(sum, 4 * (1 + 2 + 3 + 4));
    }
    Ok(())
}
