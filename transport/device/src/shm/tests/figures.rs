//! Measures the cost of messages: `cargo test --release -p jstream-transport shm::tests::figures --
//! --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_setaffinity};

use super::*;

fn pin(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    let _ = sched_setaffinity(None, &set);
}

fn spin_send(outgoing: &mut dyn Outgoing, message: &mut Outbound<'_>) {
    while outgoing.push(message).unwrap() != Push::Done {
        std::hint::spin_loop();
    }
}

fn spin_receive(incoming: &mut dyn Incoming) -> Option<MessageBuffer> {
    let mut into = None;
    loop {
        match incoming.header() {
            Ok(Some(_)) => {
                if let Some(Payload::Bytes(filled)) = incoming.payload(&mut into).unwrap() {
                    return Some(filled);
                }
            }
            Ok(None) => std::hint::spin_loop(),
            Err(_) => return None,
        }
    }
}

fn touch(bytes: &[u8]) -> u64 {
    bytes.chunks_exact(8).fold(0, |sum, chunk| {
        sum.wrapping_add(u64::from_ne_bytes(chunk.try_into().unwrap()))
    })
}

const LENGTHS: [usize; 7] = [8, 64, 1024, 8 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Sends each message back after reading it: in the received buffer (`kind` 0), or in another one.
pub(super) fn bounce(address: &Address) {
    pin(1);
    let mut connection = Shm.connect(address, &options()).unwrap();
    let mut into = None;
    let own = jbuf(&pattern(1 << 20, 1));
    loop {
        let header = match connection.incoming.header() {
            Ok(Some(header)) => header,
            Ok(None) => {
                std::hint::spin_loop();
                continue;
            }
            Err(_) => return,
        };
        let Some(Payload::Bytes(filled)) = connection.incoming.payload(&mut into).unwrap() else {
            continue;
        };
        black_box(touch(filled.as_bytes()));
        let parts = [IoSlice::new(&own.as_bytes()[..filled.len()])];
        let body = if header.kind == 0 {
            Body::Owned(filled)
        } else {
            Body::Borrowed(&parts)
        };
        let mut message = Outbound {
            header,
            body,
            is_exchange: false,
            taken: 0,
        };
        spin_send(&mut *connection.outgoing, &mut message);
    }
}

/// Receives messages, and answers every 64th.
pub(super) fn sink(address: &Address) {
    pin(1);
    let mut connection = Shm.connect(address, &options()).unwrap();
    let mut count = 0;
    while let Some(filled) = spin_receive(&mut *connection.incoming) {
        drop(black_box(filled));
        count += 1;
        if count % 64 == 0 {
            let mut message = outbound(0, 0, Body::Borrowed(&[]));
            spin_send(&mut *connection.outgoing, &mut message);
        }
    }
}

#[test]
#[ignore = "measures"]
fn figures() {
    pin(0);
    let address = address();
    let listener = listen(&address);
    {
        let _other = spawn("bounce", &address);
        let mut connection = accept(&*listener);
        for round in 0..3 {
            for kind in [0, 1] {
                for length in LENGTHS {
                    let n = (2_000_000 / (length + 100)).clamp(200, 20_000);
                    let mut times = Vec::new();
                    let own = jbuf(&pattern(length, 1));
                    let parts = [IoSlice::new(own.as_bytes())];
                    let mut back = jbuf(&pattern(length, 1));
                    for _ in 0..n {
                        let start = Instant::now();
                        for _ in 0..4 {
                            let mut message = if kind == 0 {
                                outbound(0, length, Body::Owned(back))
                            } else {
                                outbound(1, length, Body::Borrowed(&parts))
                            };
                            spin_send(&mut *connection.outgoing, &mut message);
                            back = spin_receive(&mut *connection.incoming).unwrap();
                            black_box(touch(back.as_bytes()));
                        }
                        times.push(start.elapsed().as_nanos() / 8);
                    }
                    times.sort_unstable();
                    let median = times[times.len() / 2];
                    if round > 0 {
                        eprintln!("half round trip, kind {kind}, {length} B: {median} ns");
                    }
                }
            }
        }
    }
    let _other = spawn("sink", &address);
    let mut connection = accept(&*listener);
    for length in [8, 1024, 64 << 10, 1 << 20] {
        let own = jbuf(&pattern(length, 1));
        let windows = (100_000_000 / (length + 200)).clamp(640, 2_000_000) / 64;
        let mut times = Vec::new();
        for _ in 0..windows {
            let start = Instant::now();
            for _ in 0..64 {
                let parts = [IoSlice::new(own.as_bytes())];
                let mut message = outbound(1, length, Body::Borrowed(&parts));
                spin_send(&mut *connection.outgoing, &mut message);
            }
            spin_receive(&mut *connection.incoming).unwrap();
            times.push(start.elapsed().as_nanos() as f64 / 64.0);
        }
        times.sort_unstable_by(f64::total_cmp);
        let median = times[times.len() / 2];
        eprintln!(
            "window of 64, {length} B: {median:.1} ns, {:.2} GB/s",
            length as f64 / median
        );
    }
    // The cost of both halves on a single core, without transfers between cores.
    let (mut client, mut server) = pair();
    for length in [8, 64, 1024] {
        let own = jbuf(&pattern(length, 1));
        let parts = [IoSlice::new(own.as_bytes())];
        let mut times = Vec::new();
        for _ in 0..2000 {
            let start = Instant::now();
            for _ in 0..100 {
                let mut message = outbound(1, length, Body::Borrowed(&parts));
                spin_send(&mut *client.outgoing, &mut message);
            }
            let sent = Instant::now();
            for _ in 0..100 {
                spin_receive(&mut *server.incoming).unwrap();
            }
            times.push((
                sent.duration_since(start).as_nanos(),
                sent.elapsed().as_nanos(),
            ));
        }
        times.sort_unstable();
        let (send, receive) = times[times.len() / 2];
        eprintln!("on one core, {length} B: {send} + {receive} ns for 100");
    }
}
