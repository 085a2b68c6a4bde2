//! In steady state, a message allocates nothing, on any device.

use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::alone;
use jstream::buffer::Pool;
use jstream_transport::matching::{Arrival, Envelope, Heading, Matcher, Pattern};
use jstream_transport::{CompletionQueue, Endpoint, Header, Options, Outcome};
use testing::LONG;
use testing::allocator::allocations;
use testing::transport::pair;

const SIZES: [usize; 5] = [0, 8, 3000, 5000, 200_000];

fn ping(endpoint: &Endpoint, payload: &[u8]) {
    for size in SIZES {
        let header = Header::new(1, [size as u64, 0, 0]);
        // Sends a single segment, a few segments, and many segments.
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

/// Like `ping`, with posted operations and with memory of the program.
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
            (endpoint.post_recv(None), endpoint.post_send(header, filled))
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

/// Like `ping_posted`, with a completion queue, with futures, and with objects.
fn ping_others(endpoint: &Endpoint, queue: &CompletionQueue, pool: &Pool, task: &Waker) {
    let numbers = [7u64; 100];
    for size in SIZES {
        let filled = || pool.take(size).unwrap().zeroed(size).unwrap();
        queue.post_recv(endpoint, 1, None);
        queue.post_send(endpoint, 2, Header::new(1, [0; 3]), filled());
        for _ in 0..2 {
            match queue.wait(LONG).unwrap().outcome {
                Outcome::Sent(sent) => drop(sent.unwrap()),
                Outcome::Received(message) => assert_eq!(message.unwrap().payload.len(), size),
                _ => unreachable!(),
            }
        }
        let received = endpoint.post_recv(None);
        let sent = endpoint.post_send(Header::new(1, [0; 3]), filled());
        drop(block_on(sent, task).unwrap());
        let message = block_on(received, task).unwrap();
        assert_eq!(message.payload.len(), size);
        drop(message);
        endpoint.send(&numbers.as_slice()).unwrap();
        assert_eq!(endpoint.recv::<&[u64]>().unwrap().get(), &numbers);
        drop(endpoint.post_send_object(0, &numbers.as_slice()).unwrap());
        assert_eq!(endpoint.recv::<&[u64]>().unwrap().get(), &numbers);
    }
}

/// Blocks on a future. Uses one waker for all calls, like the task of an executor.
fn block_on<T>(mut future: impl Future<Output = T> + Unpin, task: &Waker) -> T {
    loop {
        let polled = Pin::new(&mut future).poll(&mut Context::from_waker(task));
        if let Poll::Ready(output) = polled {
            return output;
        }
        thread::park_timeout(LONG);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Allocates as many slots of each size as are ever in use at once, because that number varies
/// between rounds.
fn grow(pool: &Pool) {
    let slots = SIZES.map(|size| [(); 16].map(|()| pool.take(size).unwrap()));
    drop(slots);
}

fn pong(endpoint: &Endpoint) {
    while let Ok(message) = endpoint.recv_message() {
        endpoint
            .send_buffer(message.header, message.payload)
            .unwrap();
    }
}

/// Returns true if a later round of messages allocates nothing.
fn does_without(scheme: &str, options: fn() -> Options) -> bool {
    let payload = vec![7; 200_000];
    let pool = Pool::default();
    let (ours, theirs) = (options(), options());
    for pool in [&pool, &ours.pool, &theirs.pool] {
        grow(pool);
    }
    let (client, server) = pair(scheme, &ours, &theirs);
    let queue = CompletionQueue::new().unwrap();
    let task = Waker::from(Arc::new(Unpark(thread::current())));
    let (done, is_done) = mpsc::channel();
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.wait();
            pong(&server);
            done.send(()).unwrap();
        });
        ready.wait();
        let rounds = || {
            let before = allocations();
            for _ in 0..40 {
                ping(&client, &payload);
                ping_posted(&client, &pool, &payload);
                ping_others(&client, &queue, &pool, &task);
            }
            allocations() - before
        };
        rounds();
        // The number of slots in use varies, too, so a single round without allocations is enough.
        let settled = (0..4).any(|_| rounds() == 0);
        drop((client, queue));
        is_done.recv().unwrap();
        settled
    })
}

/// Returns options that lend jbufs to the system.
fn lending() -> Options {
    let mut options = Options::default();
    options.uring_zero_copy = 2000;
    options.uring_zero_copy_on_host = true;
    options
}

/// Queues receives and messages, with and without wildcards, and matches them in another order.
fn match_all(matcher: &mut Matcher<u64, u64>) {
    let envelope = |tag| Envelope {
        context: 0,
        source: (tag % 2) as u32,
        tag,
    };
    for tag in 0..1_000 {
        let exact = Pattern::from(envelope(tag));
        let pattern = if tag % 3 == 0 {
            Pattern::any(0).tagged(tag)
        } else {
            exact
        };
        matcher.post(pattern, None, tag).unwrap();
        let arrival = matcher.arrive(Heading::new(envelope(tag + 2_000), 8), tag);
        assert!(matches!(arrival, Ok(Arrival::Waits(_))));
    }
    for tag in (0..1_000).rev() {
        let arrival = matcher.arrive(Heading::new(envelope(tag), 8), tag);
        assert!(matches!(arrival, Ok(Arrival::Matched(_))));
    }
    for tag in (2_000..3_000)
        .rev()
        .step_by(2)
        .chain((2_000..3_000).step_by(2))
    {
        let claim = matcher.claim(&envelope(tag).into()).unwrap();
        assert!(matcher.restore(claim).is_none());
        assert!(matcher.receive(&Pattern::any(0).tagged(tag)).is_some());
    }
}

fn allocations_of_matching() -> usize {
    let mut matcher = Matcher::default();
    assert_eq!((matcher.add_source(), matcher.add_source()), (0, 1));
    (0..3).for_each(|_| match_all(&mut matcher));
    let before = allocations();
    (0..10).for_each(|_| match_all(&mut matcher));
    allocations() - before
}

#[test]
fn messages_allocate_nothing() {
    alone(|| {
        assert_eq!(allocations_of_matching(), 0);
        for scheme in ["inproc", "shm", "uds", "tcp", "uring"] {
            assert!(does_without(scheme, Options::default), "{scheme}");
        }
        assert!(does_without("uring", lending), "lent");
    });
}
