//! Calls in numbers and orders that no client produces.

use std::time::Duration;
use testing::process::alone;

use jstream_rmi::ServerOptions;
use jstream_transport::{Header, RecvError};

use super::{
    ADD, CANCEL, FAIL, GIVE, KEEP, OBJECT, REPLY, REQUEST, RETURN, SEND, Scene, WAIT, message,
    until,
};

fn word(method: u64) -> u64 {
    OBJECT | method << 32
}

/// Runs a case over each of the two devices that connect processes of a host.
fn each_device(case: impl Fn(&str)) {
    ["tcp", "shm"].into_iter().for_each(case);
}

#[test]
fn case_4_answers_that_nobody_reads() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |options| options.max_backlog = 2 << 20);
            let peers: Vec<_> = (0..4).map(|_| scene.peer()).collect();
            for number in 0..200 {
                for peer in &peers {
                    peer.request(number, word(GIVE), &message(&(1u64 << 20,)));
                }
            }
            until(|| scene.growth() > 4 * (2 << 20));
            scene.assert_serves();
            // For each peer its backlog, one more answer, and the bytes in the device. For each
            // thread, of which 16 may be added, the value and the message of an answer.
            let threads = 16 + ServerOptions::default().threads;
            let most = 4 * (16 << 20) + threads * (3 << 20);
            scene.assert_holds_at_most(most);
            // A peer that starts to read receives all answers.
            let mut answered: Vec<_> = (0..200)
                .map(|_| {
                    let answer = peers[0].endpoint.recv_message().unwrap();
                    assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 0));
                    answer.header.words[0] & 0xffff_ffff
                })
                .collect();
            answered.sort_unstable();
            assert!(answered.into_iter().eq(0..200));
            scene.assert_holds_at_most(most);
            assert_eq!(scene.health().refused_calls, 0);
            drop(peers);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_5_bytes_over_all_connections() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let peers: Vec<_> = (0..8).map(|_| scene.peer()).collect();
            let much = message(&vec![1u8; 1 << 20]);
            for peer in &peers {
                // As much as the peer's window permits.
                for number in 0..15 {
                    peer.request(number, word(KEEP), &much);
                }
            }
            until(|| scene.health().waiting == 8 * 15);
            scene.assert_serves();
            scene.assert_holds_at_most(8 * 15 * (3 << 20));
            drop(peers);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_6_storms_of_calls_and_cancels() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |options| options.max_waiting = 16);
            let peer = scene.peer();
            let mut answered = 0;
            for round in 0..200u64 {
                for number in 0..20 {
                    peer.request(number, word(WAIT), &message(&()));
                }
                for number in 0..20 {
                    peer.send(Header::new(CANCEL, [number, 0, 0]), &[]);
                    // Cancels calls that do not exist, too.
                    peer.send(Header::new(CANCEL, [number + 1000 + round, 0, 0]), &[]);
                }
                // All calls are answered before their numbers are used again.
                for _ in 0..20 {
                    let answer = peer.endpoint.recv_message().unwrap();
                    assert_eq!(answer.header.kind, RETURN);
                    answered += 1;
                }
                assert!(scene.health().waiting <= 16);
            }
            assert_eq!(answered, 200 * 20);
            scene.assert_holds_at_most(8 << 20);
            drop(peer);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_7_calls_that_provoke_errors() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let peer = scene.peer();
            // Uses up the window without reading the answers.
            for number in 0..250 {
                let unknown = [77, OBJECT | 99 << 32, word(ADD), word(FAIL)];
                let word = unknown[usize::try_from(number).unwrap() % 4];
                peer.request(number, word, &message(&("what it says",)));
            }
            scene.assert_serves();
            scene.assert_holds_at_most(8 << 20);
            for _ in 0..250 {
                let answer = peer.endpoint.recv_message().unwrap();
                assert!(answer.header.kind == RETURN || answer.header.words[1] != 0);
            }
            drop(peer);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_8_numbers_that_are_used_twice_and_answers_that_nobody_asked_for() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let nothing = message(&());
            for (header, payload) in [
                (Header::new(REQUEST, [1, word(WAIT), 0]), &nothing[..]),
                (Header::new(REPLY, [1, 0, 0]), &nothing),
                (Header::new(REPLY, [0xffff_ffff, 0, 0]), &nothing),
                (Header::new(RETURN, [1, 99, 0]), b""),
                (Header::new(0x6a73_61ff, [1, 99, 0]), b""),
                (Header::new(u32::MAX, [u64::MAX; 3]), b"payload"),
            ] {
                let peer = scene.peer();
                peer.request(1, word(WAIT), &nothing);
                peer.send(header, payload);
                let ended = peer.endpoint.recv_message().unwrap_err();
                let ended = matches!(ended, RecvError::Closed { .. } | RecvError::Lost { .. });
                assert!(ended, "{header:?}");
            }
            // A handler that does not exist.
            let peer = scene.peer();
            peer.send(Header::new(REQUEST, [1 | 9 << 32, 0, 0]), &nothing);
            let answer = peer.endpoint.recv_message().unwrap();
            assert_eq!(answer.header.kind, RETURN);
            drop(peer);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_23_deadlines_of_any_length() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let peer = scene.peer();
            let arguments = message(&(1u64, 2u64));
            for time in [0, 1, 2, 0x7ff, 0x800, 0x7fff, 0xfffe, 0xffff] {
                peer.request(5, word(ADD) | time << 48, &arguments);
                let answer = peer.endpoint.recv_message().unwrap();
                // The method ran, or its deadline had passed before.
                let code = answer.header.words[1];
                assert!(
                    answer.header.kind == REPLY && (code == 0 || code == 5),
                    "{code}"
                );
            }
            peer.request(6, word(WAIT) | 1 << 48, &message(&()));
            let answer = peer.endpoint.recv_message().unwrap();
            assert!(matches!(answer.header.words[1], 5 | 6));
            peer.request(6, word(WAIT) | 0xffff << 48, &message(&()));
            until(|| scene.health().waiting == 1);
            drop(peer);
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_25_what_is_kept_comes_back_once() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let before = scene.growth();
            for end in 0..30u64 {
                let peer = scene.peer();
                for number in 0..8 {
                    peer.request(number, word(KEEP), &message(&vec![1u8; 100_000]));
                }
                if end % 3 > 0 {
                    until(|| scene.health().waiting == 8);
                }
                for number in 0..8 {
                    peer.send(Header::new(CANCEL, [number, 0, 0]), &[]);
                    peer.send(Header::new(CANCEL, [number, 0, 0]), &[]);
                }
                if end % 2 == 0 {
                    for _ in 0..8 {
                        assert_eq!(peer.endpoint.recv_message().unwrap().header.kind, RETURN);
                    }
                }
                drop(peer);
                until(|| scene.health().waiting == 0);
            }
            until(|| scene.growth() < before + (4 << 20));
            scene.assert_recovers();
        });
    });
}

#[test]
fn case_26_errors_are_short_and_tell_nothing() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let peer = scene.peer();
            let long = "x".repeat(1 << 20);
            for (method, arguments) in [
                (FAIL, message(&(&long[..],))),
                (ADD, vec![0xff; 1 << 20]),
                (ADD, message(&(&long[..],))),
                (99, vec![0xff; 1 << 20]),
            ] {
                let answer = peer.call(method, &arguments);
                // An answer may quote the input of the peer.
                let text = String::from_utf8_lossy(answer.payload.as_bytes()).into_owned();
                assert!(text.len() <= 2048, "{} bytes", text.len());
                assert!(
                    !text.contains(".rs") && !text.contains("own words"),
                    "{text}"
                );
            }
            // One-way calls: one that fails, and one with invalid arguments.
            for _ in 0..100 {
                peer.send(Header::new(SEND, [0, word(FAIL), 0]), &message(&("again",)));
                peer.send(Header::new(SEND, [0, word(ADD), 0]), b"no message");
                while let Ok(back) = peer.endpoint.recv_message_within(Duration::from_micros(10)) {
                    assert!(back.payload.len() < 2048);
                }
            }
            drop(peer);
            scene.assert_recovers();
        });
    });
}

/// A bit of an object's number: other calls may name this call. The bit below it says that the
/// object is the result of the call with this number.
const PROMISES: u64 = 1 << 31;
const PROMISED: u64 = 1 << 30;
/// The code of an answer to a call that would exceed the number of held calls.
const AS_MANY_AS_MAY_BE: u64 = 7;

#[test]
fn case_8_calls_that_name_what_never_comes() {
    alone(|| {
        each_device(|scheme| {
            let scene = Scene::new(scheme, |_| {});
            let (names_much, circles) = (scene.peer(), scene.peer());
            let arguments = message(&(1u64, 2u64));
            // Half of the window is held, and the other calls fail.
            let mut much = arguments.clone();
            much.resize(32 << 10, 0);
            for number in 0..250 {
                names_much.request(number, PROMISED | (1000 + number), &much);
            }
            for _ in 0..250 - 128 {
                let answer = names_much.endpoint.recv_message().unwrap();
                assert_eq!(answer.header.kind, REPLY);
                assert_eq!(answer.header.words[1], AS_MANY_AS_MAY_BE);
            }
            // Each call names the next one, and the last one the first. Another call names itself.
            let named = |made: u32| {
                let mut named = arguments.clone();
                named.extend(made.to_le_bytes());
                named.extend([0; 8]);
                named
            };
            for made in 0..100u32 {
                let names = u64::from((made + 1) % 100);
                let word = PROMISES | PROMISED | names;
                circles.request(u64::from(made), word, &named(made));
            }
            circles.request(200, PROMISES | PROMISED | 500, &named(500));
            let answer = circles.endpoint.recv_message().unwrap();
            assert_eq!(
                (answer.header.words[0] & 0xffff, answer.header.words[1]),
                (200, 3)
            );
            // The other calls are ended only some seconds later.
            until(|| scene.health().waiting >= 100);
            scene.assert_serves();
            // The bytes that the peers have sent, and the state of each call.
            scene.assert_holds_at_most((128 * (64 << 10)) + (8 << 20));
            // The calls are ended by cancellation, and by the end of the connection.
            for number in 0..50 {
                circles.send(Header::new(CANCEL, [number, 0, 0]), &[]);
            }
            drop((names_much, circles));
            scene.assert_recovers();
        });
    });
}
