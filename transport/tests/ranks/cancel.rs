//! Messages that are not received are cancelled, also by a scope that a panic ends.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Options, Source};
use testing::patterns::bytes;
use testing::transport::filled;
use testing::transport::ranks::{group, ways};
use testing::{LONG, SHORT};

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

/// A rank posts messages that no other rank receives.
#[test]
fn what_nobody_receives_is_taken_back_and_room_is_for_others() {
    for way in ways() {
        println!("{way}");
        let mut options = Options::default();
        options.bounds.messages = 3;
        let all = group(way, 2, &options);
        let (zero, one) = (&all[0], &all[1]);
        for (length, confirmed) in [(8, true), (300_000, true), (300_000, false)] {
            let message = bytes(length, 5);
            thread::scope(|threads| {
                // Drives the connection of rank 1.
                let (done, wait) = channel::<()>();
                threads.spawn(move || {
                    while wait.try_recv() != Err(TryRecvError::Disconnected) {
                        let _ = one.iprobe(0, u64::MAX);
                        thread::sleep(Duration::from_micros(100));
                    }
                });
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    zero.scope(|scope| {
                        let _ = match confirmed {
                            true => scope.issend(1, 1, &message),
                            false => scope.isend(1, 1, &message),
                        };
                        resume_unwind(Box::new(()));
                    });
                }));
                panicked.unwrap_err();
                let posted = zero.buffers().issend(1, 2, filled(&message));
                let unsent = in_time("a message that is cancelled", || posted.cancel());
                let unsent = unsent.unwrap_err();
                assert!(matches!(unsent.error, Error::Cancelled), "{unsent}");
                if let Some(filled) = unsent.filled {
                    assert!(filled.as_bytes() == message);
                }
                drop(done);
            });
            assert!(one.iprobe(0, 1).unwrap().is_none());
            assert!(one.iprobe(0, 2).unwrap().is_none());
        }
        // As many messages as there is space for.
        for number in 0..3u64 {
            zero.buffers()
                .isend(1, 3, filled(&number.to_ne_bytes()))
                .wait()
                .unwrap();
        }
        for number in 0..3u64 {
            let message = one.buffers().recv(0, 3).unwrap();
            assert_eq!(message.payload.as_bytes(), number.to_ne_bytes());
        }
    }
}

/// A message that waits for space is cancelled, and the messages behind it move up.
#[test]
fn what_has_no_room_is_taken_back_from_the_middle() {
    let mut options = Options::default();
    options.bounds.messages = 4;
    let all = group("threads", 2, &options);
    let (zero, one) = (&all[0], &all[1]);
    let post = |number: u64| zero.buffers().isend(1, 1, filled(&number.to_ne_bytes()));
    for number in 1..=4 {
        post(number).wait().unwrap();
    }
    let (fifth, sixth) = (post(5), post(6));
    let unsent = fifth.cancel().unwrap_err();
    assert!(matches!(unsent.error, Error::Cancelled), "{unsent}");
    assert_eq!(unsent.filled.unwrap().as_bytes(), 5u64.to_ne_bytes());
    for number in [1u64, 2, 3, 4, 6] {
        let message = one.buffers().recv(0, 1).unwrap();
        assert_eq!(message.payload.as_bytes(), number.to_ne_bytes());
    }
    sixth.wait().unwrap();
    // A message that was found by a probe belongs to the thread that found it.
    let last = zero.buffers().issend(1, 1, filled(b"last"));
    let found = one.probe(0, 1).unwrap();
    thread::scope(|threads| {
        let cancelling = threads.spawn(|| last.cancel());
        thread::sleep(SHORT / 20);
        let message = found.recv_buffer().unwrap();
        assert_eq!(message.payload.as_bytes(), b"last");
        cancelling.join().unwrap().unwrap();
    });
}

/// If the first message without space is cancelled, the messages behind it get the space.
#[test]
fn what_is_first_without_room_is_taken_back() {
    let mut options = Options::default();
    options.bounds.bytes = 64 << 10;
    let all = group("threads", 2, &options);
    let (zero, one) = (&all[0], &all[1]);
    thread::scope(|threads| {
        let short = bytes(60 << 10, 1);
        one.buffers().isend(0, 3, filled(&short)).wait().unwrap();
        let long = one.buffers().isend(0, 1, filled(&short));
        let behind = one.buffers().isend(0, 2, filled(b"behind"));
        let receiving = threads.spawn(|| zero.buffers().recv(1, 2).unwrap());
        thread::sleep(SHORT / 8);
        assert!(matches!(long.cancel().unwrap_err().error, Error::Cancelled));
        let received = in_time("a message behind one that was cancelled", || {
            receiving.join().unwrap()
        });
        assert_eq!(received.payload.as_bytes(), b"behind");
        behind.wait().unwrap();
    });
}

/// A message of a rank to itself is received even if all other ranks have ended.
#[test]
fn a_message_to_oneself_outlives_all_others() {
    let mut all = group("threads", 2, &Options::default());
    let one = all.pop().unwrap();
    let zero = all.pop().unwrap();
    thread::scope(|threads| {
        threads.spawn(|| one.send(0, 1, b"soon").unwrap());
        zero.recv(1, 1, &mut [0_u8; 4]).unwrap();
    });
    drop(one);
    zero.send(0, 7, b"own").unwrap();
    let received = zero.buffers().irecv(Source::Any, 7).wait().unwrap();
    assert_eq!(received.payload.as_bytes(), b"own");
}
