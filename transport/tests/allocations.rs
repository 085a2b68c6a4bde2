//! In steady state a message costs no allocation, on any device.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::IoSlice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;

use common::pair;
use jstream::buffer::Pool;
use jstream_transport::{Endpoint, Header, Options};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is left to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this same function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of this same function.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SIZES: [usize; 5] = [0, 8, 3000, 5000, 200_000];

fn ping(endpoint: &Endpoint, payload: &[u8]) {
    for size in SIZES {
        let header = Header::new(1, [size as u64, 0, 0]);
        // Whole, in a few segments, in many.
        let (first, second) = payload[..size].split_at(size / 2);
        let parts = [IoSlice::new(first), IoSlice::new(second)];
        let many = [IoSlice::new(&payload[..size / 64]); 64];
        for segments in [&parts[..1], &parts[..], &many[..]] {
            endpoint.send_message(header, segments).unwrap();
            let length: usize = segments.iter().map(|segment| segment.len()).sum();
            assert_eq!(endpoint.recv_message().unwrap().payload.len(), length);
        }
    }
}

/// As `ping`, by operations that are posted, and with memory of the program's own.
fn ping_posted(endpoint: &Endpoint, pool: &Pool, payload: &[u8]) {
    let mut memory = [0; 64];
    for size in SIZES {
        let header = Header::new(1, [size as u64, 0, 0]);
        let tickets = [(); 4].map(|()| {
            let filled = pool
                .take(size)
                .unwrap()
                .copy_from(&payload[..size])
                .unwrap();
            (endpoint.post_recv_any(), endpoint.post_send(header, filled))
        });
        for (received, sent) in tickets {
            assert_eq!(received.wait().unwrap().payload.len(), size);
            drop(sent.wait().unwrap());
        }
        endpoint
            .send_message(header, &[IoSlice::new(&payload[..8])])
            .unwrap();
        assert_eq!(endpoint.recv_into(&mut memory).unwrap().length, 8);
    }
}

fn pong(endpoint: &Endpoint) {
    while let Ok(message) = endpoint.recv_message() {
        endpoint
            .send_filled(message.header, message.payload)
            .unwrap();
    }
}

fn allocations_of(scheme: &str) -> usize {
    let payload = vec![7; 200_000];
    let pool = Pool::default();
    let (client, server) = pair(scheme, &Options::default(), &Options::default());
    let (done, is_done) = mpsc::channel();
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.wait();
            pong(&server);
            done.send(()).unwrap();
        });
        ready.wait();
        for _ in 0..10 {
            ping(&client, &payload);
            ping_posted(&client, &pool, &payload);
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..100 {
            ping(&client, &payload);
            ping_posted(&client, &pool, &payload);
        }
        let after = ALLOCATIONS.load(Ordering::Relaxed);
        drop(client);
        is_done.recv().unwrap();
        after - before
    })
}

// Without the test harness, whose own thread allocates when it likes.
fn main() {
    for scheme in ["inproc", "uds", "tcp"] {
        assert_eq!(allocations_of(scheme), 0, "{scheme}");
    }
}
