//! Programs and peers that misuse ranks: lent memory is returned intact, and no message is lost
//! without need.

use std::io::IoSlice;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Mesh, Options, Rank, Source};
use jstream_transport::{Endpoint, Header, RecvError, listen};
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::ranks::{group, two, ways};
use testing::transport::{SCHEMES, filled, fresh, join, patient};
use testing::{LONG, SHORT};

const EAGER: u32 = 0x6a73_7201;

/// Returns rank 0 of 2, its end of the connection, and the bare end of its peer.
fn against(scheme: &str) -> (Rank, Endpoint, Endpoint) {
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let (bare, endpoint) = join(&listener, &patient());
    let mesh = Mesh::new(0, 2, &Options::default());
    let rank = mesh.endpoint(1, endpoint.clone()).unwrap().build();
    (rank, endpoint, bare)
}

fn eager(tag: u64) -> Header {
    Header::new(EAGER, [tag, 0, 0])
}

/// Runs `work`, and aborts the process instead of hanging.
fn in_time<R: Send>(what: &str, work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let (done, wait) = channel();
        scope.spawn(move || done.send(work()));
        match wait.recv_timeout(LONG / 6) {
            Ok(result) => result,
            Err(_) => {
                eprintln!("{what}: not finished in time");
                std::process::abort()
            }
        }
    })
}

#[test]
fn who_receives_from_the_connection_beside_a_rank_gets_nothing() {
    const LENGTH: usize = 8 << 20;
    for scheme in SCHEMES {
        println!("{scheme}");
        let (rank, endpoint, bare) = against(scheme);
        let message = bytes(LENGTH, 1);
        let mut memory = vec![0u8; LENGTH];
        let posted = endpoint.post_recv(None);
        thread::scope(|threads| {
            threads.spawn(|| {
                bare.send_message(eager(1), &[IoSlice::new(&message)])
                    .unwrap();
            });
            rank.scope(|scope| {
                let receiving = scope.irecv(1, 1, &mut memory);
                while !receiving.is_done() {
                    // The received part of the message is in memory that is lent to the rank.
                    let nothing = endpoint.recv_message_within(Duration::ZERO).unwrap_err();
                    assert!(matches!(nothing, RecvError::Taken { .. }), "{nothing}");
                    let nothing = endpoint
                        .recv_into_within(&mut [0; 64], Duration::ZERO)
                        .unwrap_err();
                    assert!(matches!(nothing, RecvError::Taken { .. }), "{nothing}");
                    let timeout = Duration::from_micros(100);
                    let nothing = endpoint.recv_message_within(timeout).unwrap_err();
                    assert!(matches!(nothing, RecvError::Taken { .. }), "{nothing}");
                    drop(endpoint.post_recv(None));
                }
                receiving.wait().unwrap();
            });
        });
        assert!(memory == message);
        drop(bare);
        let error = rank.recv(1, 1, &mut memory).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        let error = posted.wait().unwrap_err().error;
        assert!(matches!(error, RecvError::Taken { .. }), "{error}");
    }
}

#[test]
fn a_message_that_was_begun_before_the_rank_was_made_is_its_first() {
    for scheme in SCHEMES {
        println!("{scheme}");
        for length in [100, 3000, 8 << 20] {
            let listener = listen(&fresh(scheme), &patient()).unwrap();
            let (bare, endpoint) = join(&listener, &patient());
            let message = bytes(length, 2);
            thread::scope(|threads| {
                threads.spawn(|| {
                    bare.send_message(eager(1), &[IoSlice::new(&message)])
                        .unwrap();
                    bare.send_message(eager(1), &[IoSlice::new(b"next")])
                        .unwrap();
                });
                // The header has arrived by then, and much of the payload has not.
                let mut ticket = endpoint.post_recv(None);
                let here = ticket.wait_timeout(Duration::from_millis(1));
                if let Some(all) = here {
                    assert_eq!(all.unwrap().payload.len(), length);
                } else {
                    drop(ticket);
                    let mesh = Mesh::new(0, 2, &Options::default());
                    let rank = mesh.endpoint(1, endpoint.clone()).unwrap().build();
                    let first = rank.buffers().irecv(1, 1);
                    let mut first = first;
                    let first = first.wait_timeout(LONG / 6).unwrap().unwrap();
                    assert!(first.payload.as_bytes() == message);
                    let next = rank.buffers().recv(1, 1).unwrap();
                    assert_eq!(next.payload.as_bytes(), b"next");
                    return;
                }
                let next = endpoint.recv_message().unwrap();
                assert_eq!(next.payload.as_bytes(), b"next");
            });
        }
    }
}

#[test]
fn a_connection_is_of_one_rank() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (rank, endpoint, bare) = against(scheme);
        let message = bytes(1 << 20, 3);
        let mut memory = vec![0u8; 1 << 20];
        thread::scope(|threads| {
            threads.spawn(|| {
                bare.send_message(eager(1), &[IoSlice::new(&message)])
                    .unwrap();
            });
            rank.scope(|scope| {
                let receiving = scope.irecv(1, 1, &mut memory);
                let mesh = Mesh::new(0, 2, &Options::default());
                let second = mesh.endpoint(1, endpoint.clone()).unwrap().build();
                let error = second.buffers().recv(1, 1).unwrap_err();
                assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
                receiving.wait().unwrap();
            });
        });
        assert!(memory == message);
    }
}

#[test]
fn a_confirmed_message_may_be_changed_when_it_is_confirmed() {
    const LENGTH: usize = 6 << 20;
    let mut options = Options::default();
    options.eager = Some(LENGTH as u64);
    for way in ways() {
        println!("{way}");
        let all = group(way, 2, &options);
        let (zero, one) = (&all[0], &all[1]);
        thread::scope(|threads| {
            threads.spawn(|| {
                for turn in 0..4u8 {
                    let mut message = vec![turn; LENGTH];
                    zero.scope(|scope| scope.issend(1, 1, &message).wait())
                        .unwrap();
                    message.fill(0xff);
                }
            });
            for turn in 0..4u8 {
                let mut receiving = one.buffers().irecv(0, 1);
                // The message is matched before all of it has arrived.
                let quick = receiving.wait_timeout(Duration::from_micros(300));
                thread::sleep(SHORT / 8);
                let message = quick.unwrap_or_else(|| receiving.wait()).unwrap();
                assert!(message.payload.as_bytes().iter().all(|byte| *byte == turn));
            }
        });
    }
}

#[test]
fn a_circle_that_has_posted_its_receives_goes_round() {
    const MESSAGES: usize = 20;
    for way in ways() {
        println!("{way}");
        let all = group(way, 3, &Options::default());
        for length in [1000, 60_000, 250_000] {
            let round = |rank: &Rank| {
                let (to, from) = ((rank.rank() + 1) % 3, (rank.rank() + 2) % 3);
                let receives: Vec<_> = (0..MESSAGES)
                    .map(|_| rank.buffers().irecv(from, 1))
                    .collect();
                for turn in 0..MESSAGES {
                    rank.send(to, 1, &bytes(length, turn as u64)).unwrap();
                }
                for (turn, receive) in receives.into_iter().enumerate() {
                    let message = receive.wait().unwrap();
                    assert!(message.payload.as_bytes() == bytes(length, turn as u64));
                }
            };
            in_time("a circle", || {
                thread::scope(|threads| {
                    for rank in &all {
                        threads.spawn(|| round(rank));
                    }
                });
            });
        }
    }
}

#[test]
fn an_exchange_says_that_its_message_was_not_sent() {
    for way in ways() {
        println!("{way}");
        let mut all = group(way, 3, &Options::default());
        drop(all.remove(2));
        all[1].send(0, 1, b"here").unwrap();
        let probed = all[0].probe_timeout(1, 1, LONG).unwrap();
        drop(probed);
        let error = all[0].recv(2, 1, &mut [0u8]).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 2, .. }), "{error}");
        let mut memory = [0u8; 4];
        let result = all[0].sendrecv(2, 1, b"there", 1, 1, &mut memory);
        let error = result.unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 2, .. }), "{error}");
    }
}

#[test]
fn a_message_that_was_not_sent_comes_back_as_it_was() {
    for way in ways() {
        println!("{way}");
        let (zero, one) = two(way);
        let mut requests = Vec::new();
        for turn in 0..12u64 {
            for length in [100_000, 1 << 19] {
                requests.push((
                    turn,
                    length,
                    zero.buffers().isend(1, 1, filled(&bytes(length, turn))),
                ));
            }
        }
        drop(one);
        let mut back = 0;
        for (turn, length, request) in requests {
            let Err(unsent) = in_time("a send to nobody", || request.wait()) else {
                continue;
            };
            let error = unsent.error;
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
            if let Some(filled) = unsent.filled {
                assert!(filled.as_bytes() == bytes(length, turn), "{}", filled.len());
                back += 1;
            }
        }
        println!("{back} came back");
    }
}

#[test]
fn a_task_that_sends_goes_on_though_nothing_more_is_received() {
    let mut options = Options::default();
    options.bounds.messages = 2;
    // Over any device, a message of this length is announced, and its receiver has to answer.
    let length = 300_000;
    for way in ways().filter(|way| *way != "threads") {
        println!("{way}");
        let all = group(way, 2, &options);
        let (zero, one) = (&all[0], &all[1]);
        // Rank 0 has no space for all of these messages.
        let flood: Vec<_> = (0..8)
            .map(|_| one.buffers().isend(0, 7, filled(b"flood")))
            .collect();
        assert!(
            zero.recv_timeout(1, 9, &mut [0u8], SHORT / 4).is_err(),
            "received a message that was not sent"
        );
        thread::scope(|threads| {
            let sending = threads.spawn(|| {
                for turn in 0..30 {
                    let request = zero.buffers().isend(1, 1, filled(&bytes(length, turn)));
                    block_on(request).unwrap();
                }
            });
            thread::sleep(SHORT / 2);
            for turn in 0..30 {
                let message = in_time("a task", || one.buffers().recv(0, 1)).unwrap();
                assert!(message.payload.as_bytes() == bytes(length, turn));
            }
            sending.join().unwrap();
        });
        // The dropped sends complete in the background.
        drop(flood);
        for _ in 0..8 {
            in_time("the flood", || zero.buffers().recv(1, 7)).unwrap();
        }
    }
}

#[test]
fn a_rank_that_is_not_made_is_gone() {
    let (zero, one) = (
        Mesh::new(0, 2, &Options::default()),
        Mesh::new(1, 2, &Options::default()),
    );
    let one = one.thread(0, &zero.node());
    let zero = zero.thread(1, &one.node()).build();
    zero.send(1, 1, b"early").unwrap();
    drop(one);
    let error = zero.recv_timeout(1, 1, &mut [0u8], SHORT).unwrap_err();
    assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
    let error = zero
        .recv_timeout(Source::Any, 1, &mut [0u8], SHORT)
        .unwrap_err();
    assert!(matches!(error, Error::NobodyLeft), "{error}");
}

#[test]
fn who_cancels_what_was_received_cancels_nothing_else() {
    for way in ways() {
        println!("{way}");
        let (zero, one) = two(way);
        for length in [8, 1 << 20] {
            thread::scope(|threads| {
                let one = &one;
                threads.spawn(move || {
                    assert!(one.buffers().recv(0, 1).is_ok());
                    one.recv(0, 2, &mut [0u8]).unwrap();
                    thread::sleep(SHORT / 2);
                    assert!(one.buffers().recv(0, 1).is_ok());
                });
                let first = zero.buffers().issend(1, 1, filled(&bytes(length, 1)));
                // The first message has been received by then, and rank 0 knows it.
                zero.ssend(1, 2, &[1u8]).unwrap();
                let second = zero.buffers().issend(1, 1, filled(&bytes(length, 2)));
                first.cancel().unwrap();
                second.wait().unwrap();
            });
        }
    }
}
