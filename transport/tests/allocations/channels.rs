//! In steady state, an object of a typed channel allocates nothing, on any device.

use std::thread;
use std::time::Duration;

use crate::alone;
use jstream_transport::channel::{Receiver, Sender};
use jstream_transport::{Options, channel};
use testing::allocator::allocations;
use testing::transport::fresh;

type Words = Vec<u64>;

/// Opens a channel whose receiver spins for `spin` before it sleeps. Without spinning, every object
/// passes through the queue.
fn open(scheme: &str, spin: Duration) -> (Sender<Words>, Receiver<Words>) {
    let mut options = Options::default();
    options.spin = spin;
    // Allocates as many slots of each size as are ever in use at once.
    let slots = [100, 3000, 9000].map(|size| [(); 8].map(|()| options.pool.take(size).unwrap()));
    drop(slots);
    channel(&fresh(scheme).to_string())
        .options(options)
        .both()
        .unwrap()
}

fn bounce(sender: &Sender<Words>, receiver: &Receiver<Words>, objects: &[Words]) {
    for object in objects {
        sender.send(object).unwrap();
        assert_eq!(receiver.recv().unwrap().get().len(), object.len());
        sender.try_send(object).unwrap();
        assert_eq!(receiver.recv().unwrap().get().len(), object.len());
    }
}

fn allocations_of(scheme: &str, spin: Duration) -> usize {
    let (there, other) = open(scheme, spin);
    let (back, here) = open(scheme, spin);
    let echo = thread::spawn(move || {
        for object in &other {
            back.send_received(object.unwrap()).unwrap();
        }
    });
    let objects = [1, 30, 300, 1000].map(|length| vec![7; length]);
    for _ in 0..100 {
        bounce(&there, &here, &objects);
    }
    // Makes both sides sleep at least once.
    for _ in 0..3 {
        here.recv_timeout(Duration::from_millis(30)).unwrap_err();
        bounce(&there, &here, &objects);
    }
    let before = allocations();
    for _ in 0..100 {
        bounce(&there, &here, &objects);
    }
    let after = allocations();
    drop(there);
    echo.join().unwrap();
    after - before
}

#[test]
fn objects_of_channels_allocate_nothing() {
    alone(|| {
        for scheme in ["inproc", "shm", "uds", "tcp", "uring"] {
            for spin in [Duration::ZERO, Duration::from_millis(10)] {
                assert_eq!(allocations_of(scheme, spin), 0, "{scheme} {spin:?}");
            }
        }
    });
}
