//! In steady state, an active message allocates nothing: neither with a plain handler, nor with an
//! async handler that is ready at once or waits.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::alone;
use jstream_transport::active::{Guarded, Handlers, Peer, Request, Settings, yield_now};
use jstream_transport::{Options, connect, listen};
use testing::allocator::allocations;
use testing::transport::fresh;

fn table() -> Handlers {
    let count = Arc::new(Guarded::new(0u64));
    let (waited, changed) = (count.clone(), count);
    Handlers::builder()
        .on("echo", Request::echo)
        .on_async("ready", |request: Request| async move { request.echo() })
        .on_async("moved", |request: Request| async move {
            yield_now().await;
            request.echo();
        })
        .on_async("await", move |request: Request| {
            let count = waited.clone();
            async move {
                let wanted = request.word();
                drop(count.when(|value| *value >= wanted).await);
                request.reply(0, &[]);
            }
        })
        .on("inc", move |request: Request| {
            let mut value = changed.lock();
            *value += 1;
            let now = *value;
            drop(value);
            request.reply(now, &[]);
        })
        .build()
}

fn bounce(peer: &Peer, count: &mut u64) {
    let handler = |name: &str| peer.handler(name).unwrap();
    let payload = [7; 4096];
    for name in ["echo", "ready", "moved"] {
        for length in [0, 80, 4096] {
            let ticket = peer.request(handler(name), 1, &payload[..length]);
            assert_eq!(ticket.unwrap().wait().unwrap().payload.len(), length);
        }
    }
    *count += 1;
    let waiting = peer.request(handler("await"), *count, &[]).unwrap();
    let now = peer
        .request(handler("inc"), 0, &[])
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(now.word, *count);
    waiting.wait().unwrap();
}

fn allocations_of(scheme: &str, spin: Duration) -> usize {
    let mut options = Options::default();
    options.spin = spin;
    // Allocates as many slots of each size as are ever in use at once.
    let slots = [100, 5000].map(|size| [(); 8].map(|()| options.pool.take(size).unwrap()));
    drop(slots);
    let listener = listen(&fresh(scheme), &options).unwrap();
    let address = listener.local_address().clone();
    let serving = thread::spawn(move || {
        let endpoint = listener.accept().unwrap().establish().unwrap();
        let peer = Peer::join(endpoint, &table(), Settings::default()).unwrap();
        peer.serve(None);
    });
    let endpoint = connect(&address, &options).unwrap();
    let peer = Peer::join(endpoint, &Handlers::none(), Settings::default()).unwrap();
    // Allocates as many handler slots as are ever in use at once.
    for name in ["moved", "await"] {
        let handler = peer.handler(name).unwrap();
        let tickets = [(); 8].map(|()| peer.request(handler, 0, &[]).unwrap());
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    }
    let mut count = 0;
    for _ in 0..200 {
        bounce(&peer, &mut count);
    }
    // Makes both sides sleep at least once.
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(30));
        bounce(&peer, &mut count);
    }
    // If a thread is preempted between its answer and the release of its slot, the next message
    // takes another slot. Therefore the best of several rounds shows the steady state.
    let mut fewest = usize::MAX;
    for _ in 0..10 {
        let before = allocations();
        for _ in 0..100 {
            bounce(&peer, &mut count);
        }
        fewest = fewest.min(allocations() - before);
        if fewest == 0 {
            break;
        }
    }
    drop(peer);
    serving.join().unwrap();
    fewest
}

#[test]
fn active_messages_allocate_nothing() {
    alone(|| {
        for scheme in ["inproc", "shm", "uds", "tcp", "uring"] {
            for spin in [Duration::ZERO, Duration::from_millis(10)] {
                assert_eq!(allocations_of(scheme, spin), 0, "{scheme} {spin:?}");
            }
        }
    });
}
