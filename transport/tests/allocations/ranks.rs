//! In steady state, a message between ranks allocates nothing, on every path.

use std::sync::Barrier;
use std::thread;

use crate::alone;
use jstream::buffer::Pool;
use jstream_transport::rank::{Rank, Source};
use testing::allocator::allocations;
use testing::transport::ranks::{two, ways};

const SIZES: [usize; 5] = [0, 8, 3_000, 20_000, 400_000];

/// The number of rounds in one measurement. Each round sends messages of all sizes.
const ROUNDS: usize = 5;

/// Runs one round: expected, unexpected, synchronous, exchanged and posted messages.
fn round(rank: &Rank, pool: &Pool, memory: &mut [u8], bytes: &[u8]) {
    let other = 1 - rank.rank();
    for size in SIZES {
        let bytes = &bytes[..size];
        if rank.rank() == 0 {
            rank.send(1, 1, bytes).unwrap();
            rank.recv(1, 2, memory).unwrap();
            rank.ssend(1, 3, bytes).unwrap();
        } else {
            rank.recv(Source::Any, 1, memory).unwrap();
            rank.send(0, 2, bytes).unwrap();
            rank.recv(0, 3, memory).unwrap();
        }
        rank.sendrecv(other, 4, bytes, other, 4, memory).unwrap();
        let receiving = rank.buffers().irecv(other, 5);
        let filled = pool.take(size).unwrap().copy_from(bytes).unwrap();
        let sending = rank.buffers().isend(other, 5, filled);
        assert_eq!(receiving.wait().unwrap().payload.len(), size);
        drop(sending.wait().unwrap());
    }
}

#[test]
fn messages_between_ranks_allocate_nothing() {
    alone(|| {
        let bytes = vec![5; 400_000];
        for way in ways() {
            let (zero, one) = two(way);
            let (begin, end) = (Barrier::new(2), Barrier::new(2));
            // Counts the fewest allocations of several measurements. The number of buffers in use
            // at once varies, so a pool or a queue may still grow.
            let run = |rank: &Rank| {
                let pool = Pool::default();
                let mut memory = vec![0; 400_000];
                let turns = (0..20).map(|_| {
                    begin.wait();
                    let before = allocations();
                    for _ in 0..ROUNDS {
                        round(rank, &pool, &mut memory, &bytes);
                    }
                    // The barrier delays the next measurement, and all drops, until both ranks have
                    // read the counter.
                    let after = allocations();
                    end.wait();
                    after - before
                });
                turns.min().unwrap()
            };
            let fewest = thread::scope(|scope| {
                let other = scope.spawn(|| run(&one));
                let fewest = run(&zero);
                other.join().unwrap();
                fewest
            });
            println!("{way}: {fewest} allocations in {ROUNDS} rounds");
            assert_eq!(fewest, 0, "{way}");
        }
    });
}
