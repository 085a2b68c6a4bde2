//! Tests of ring-specific behaviour. The tests of all streams cover the rest.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the numbers of these tests are small"
)]

mod crowd;

use std::io::{self, IoSlice, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::*;
use crate::connection::*;
use crate::deadline::Deadline;
use crate::stream::tests::{LONG, WaitMode, bytes, options, pair, recv, send};
use crate::tcp::Tcp;
use jstream_base::Header;

const AT: &str = "uring://127.0.0.1:0";

fn single() -> Options {
    let mut options = options();
    options.uring_single_issuer = true;
    options
}

const HELLO: Hello = Hello {
    max_message: 1 << 30,
};

/// Returns a connection and the bare socket at its other end. The connection has a ring, unless
/// `without` is the error of creating one.
pub(super) fn bare(options: &Options, without: Option<Errno>) -> (TcpStream, Connection) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (socket, from) = listener.accept().unwrap();
    stream.set_nodelay(true).unwrap();
    let wire = SocketWire::new(socket.into());
    let connection = match without {
        None => UringFamily::connection(wire, Address::uring_peer(from), HELLO, options),
        Some(errno) => {
            let to = (Address::uring_peer(from), UringFamily::SCHEME);
            with_or_without(Err((wire, errno.into())), to, HELLO, options)
        }
    };
    (stream, connection)
}

pub(super) fn message(kind: u32, length: usize) -> Vec<u8> {
    let header = Header::new(kind, [0; 3]).with_length(length as u64);
    [&header.to_bytes()[..], &bytes(length, kind.into())].concat()
}

fn check(connection: &mut Connection, way: WaitMode, kind: u32) {
    let (header, filled) = recv(&mut *connection.incoming, way, None).unwrap();
    assert_eq!(header.kind, kind);
    assert!(filled.as_bytes() == bytes(filled.len(), kind.into()));
}

#[test]
fn there_is_a_ring_on_this_system() {
    for options in [options(), single()] {
        let (_stream, connection) = bare(&options, None);
        assert_eq!(connection.degraded, Vec::<String>::new());
        assert_eq!(connection.scheme, "uring");
    }
}

#[test]
fn each_side_may_be_tcp() {
    let listeners: [(&dyn Device, &str); 2] = [(&Uring, AT), (&Tcp, "tcp://127.0.0.1:0")];
    for (device, at) in listeners {
        let (mut one, mut other) = std::thread::scope(|scope| {
            let listener = device.listen(&at.parse().unwrap(), &options()).unwrap();
            let uri = listener.local().to_string();
            let (_, host) = uri.split_once("://").unwrap();
            let (other, scheme): (&dyn Device, _) = match device.scheme() {
                "tcp" => (&Uring, "uring"),
                _ => (&Tcp, "tcp"),
            };
            let to = format!("{scheme}://{host}").parse().unwrap();
            let connecting = scope.spawn(move || other.connect(&to, &options()).unwrap());
            let accepted = crate::stream::tests::accept(&*listener);
            let accepted = accepted.half_made.establish().unwrap();
            (connecting.join().unwrap(), accepted)
        });
        for length in [0usize, 100, 5000, 300_000, 7] {
            let bytes = bytes(length, 7);
            for (from, to) in [(true, false), (false, true)] {
                let (from, to) = match (from, to) {
                    (true, _) => (&mut one, &mut other),
                    _ => (&mut other, &mut one),
                };
                std::thread::scope(|scope| {
                    let segments = [IoSlice::new(&bytes)];
                    scope.spawn(move || {
                        send(&mut *from.outgoing, 7, Body::Borrowed(&segments)).unwrap();
                    });
                    check(to, WaitMode::Blocking, 7);
                });
            }
        }
    }
}

/// Small and large messages alternate, in pieces that end anywhere, so the ring is stopped and
/// started at all positions in a message.
#[test]
fn lengths_that_change_from_message_to_message() {
    const LENGTHS: [usize; 9] = [8, 40_000, 0, 70_000, 1000, 8150, 8200, 200_000, 3];
    for options in [options(), single()] {
        for way in [WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling] {
            for piece in [1000usize, 8192, 9999, 70_001, usize::MAX] {
                let (mut stream, mut connection) = bare(&options, None);
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        let mut all = Vec::new();
                        for kind in 0..60u32 {
                            // Many small messages, so that the ring is started again.
                            let length = match kind % 30 {
                                turn @ 0..9 => LENGTHS[turn as usize],
                                _ => kind as usize,
                            };
                            all.extend(message(kind, length));
                        }
                        for piece in all.chunks(piece) {
                            stream.write_all(piece).unwrap();
                        }
                        stream
                    });
                    for kind in 0..60 {
                        check(&mut connection, way, kind);
                    }
                });
            }
        }
    }
}

/// Another thread continues a receive, also after the first thread has ended.
#[test]
fn a_direction_moves_from_thread_to_thread() {
    let (mut stream, mut connection) = bare(&options(), None);
    for kind in 0..50u32 {
        let way = [WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling][kind as usize % 3];
        // The previous thread has left a receive, which ended with the thread.
        connection = std::thread::spawn(move || {
            assert!(connection.incoming.header().unwrap().is_none());
            connection
        })
        .join()
        .unwrap();
        stream
            .write_all(&message(kind, 100 * kind as usize))
            .unwrap();
        check(&mut connection, way, kind);
    }
    // Here the other thread still exists and does something else.
    let (told, asked) = std::sync::mpsc::channel();
    let (give, taken) = std::sync::mpsc::channel::<Connection>();
    let (back, given) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        for mut connection in taken {
            assert!(connection.incoming.header().unwrap().is_none());
            back.send(connection).unwrap();
            asked.recv().unwrap();
        }
    });
    for kind in 0..50u32 {
        let way = [WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling][kind as usize % 3];
        give.send(connection).unwrap();
        connection = given.recv().unwrap();
        stream.write_all(&message(kind, 100)).unwrap();
        check(&mut connection, way, kind);
        told.send(()).unwrap();
    }
    drop((give, told));
    other.join().unwrap();
}

#[test]
fn a_single_issuer_is_the_first_thread() {
    let (mut stream, mut connection) = bare(&single(), None);
    stream.write_all(&message(1, 10)).unwrap();
    check(&mut connection, WaitMode::Blocking, 1);
    let elsewhere = std::thread::spawn(move || {
        let fault = recv(&mut *connection.incoming, WaitMode::Blocking, None).unwrap_err();
        let Fault::Lost(error) = fault else {
            panic!("{fault:?}")
        };
        assert!(error.to_string().contains("single issuer"), "{error}");
        // Any thread may send.
        send(&mut *connection.outgoing, 1, Body::Borrowed(&[])).unwrap();
        // This thread can't end the receive of the dropped connection; the first thread does.
        drop(connection);
    });
    elsewhere.join().unwrap();
}

#[test]
fn a_peer_that_is_gone_ends_whoever_waits() {
    for options in [options(), single()] {
        for way in [WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling] {
            for part in [0usize, 1, 39, 40, 4000, 60_000] {
                let (mut stream, mut connection) = bare(&options, None);
                let waiting = std::thread::spawn(move || {
                    let incoming = &mut *connection.incoming;
                    let fault = recv(incoming, way, None).unwrap_err();
                    assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
                    assert_eq!(incoming.begun(), part as u64);
                });
                stream.write_all(&message(1, 100_000)[..part]).unwrap();
                drop(stream);
                waiting.join().unwrap();
            }
        }
    }
}

#[test]
fn closing_wakes_whoever_sleeps() {
    for options in [options(), single()] {
        for way in [WaitMode::Blocking, WaitMode::Polling] {
            let (_stream, mut connection) = bare(&options, None);
            let control = connection.control.clone();
            let waiting =
                std::thread::spawn(move || recv(&mut *connection.incoming, way, None).unwrap_err());
            std::thread::sleep(Duration::from_millis(5));
            control.close();
            let fault = waiting.join().unwrap();
            assert!(matches!(fault, Fault::ClosedLocally), "{fault:?}");
        }
    }
}

#[test]
fn a_time_out_ends_the_sleep_and_loses_nothing() {
    for options in [options(), single()] {
        let (mut stream, mut connection) = bare(&options, None);
        let whole = message(9, 20_000);
        for piece in whole.chunks(3000) {
            for _ in 0..3 {
                let soon = Deadline::after(Duration::from_millis(1));
                assert!(connection.incoming.header().unwrap().is_none() || !piece.is_empty());
                connection.incoming.wait(&mut None, soon).unwrap();
            }
            stream.write_all(piece).unwrap();
        }
        check(&mut connection, WaitMode::Blocking, 9);
    }
}

#[test]
fn where_there_is_no_ring_it_is_as_tcp() {
    for errno in [Errno::NOSYS, Errno::PERM, Errno::NOMEM, Errno::INVAL] {
        let (mut stream, mut connection) = bare(&options(), Some(errno));
        assert_eq!(connection.degraded.len(), 1);
        let said = &connection.degraded[0];
        assert!(said.contains(&io::Error::from(errno).to_string()), "{said}");
        for (kind, way) in (0..).zip([WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling]) {
            stream.write_all(&message(kind, 100_000)).unwrap();
            check(&mut connection, way, kind);
        }
    }
}

/// Child process of the next test.
#[test]
#[ignore = "run by another test, without the right to lock memory"]
fn without_memory_to_lock() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Memlock, none).unwrap();
    let (mut stream, mut connection) = bare(&options(), None);
    println!("degraded: {:?}", connection.degraded);
    assert_eq!(connection.degraded.len(), 1);
    for (kind, way) in (0..).zip([WaitMode::Blocking, WaitMode::Spinning, WaitMode::Polling]) {
        stream.write_all(&message(kind, 20_000)).unwrap();
        check(&mut connection, way, kind);
    }
}

#[test]
fn a_limit_of_locked_memory_degrades() {
    use std::os::unix::process::CommandExt;

    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "--nocapture"]);
    child.arg("uring::tests::without_memory_to_lock");
    if rustix::process::geteuid().is_root() {
        // Root is exempt from the limit.
        child.uid(65_534);
    }
    let output = match child.current_dir("/").output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: no child of another user here: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("degraded: [\""), "{said}");
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Child process of the next test, in which no other thread opens descriptors.
#[test]
#[ignore = "run by another test, alone in its process"]
fn a_thousand_connections() {
    let mapped = || {
        std::fs::read_to_string("/proc/self/maps")
            .unwrap()
            .lines()
            .count()
    };
    let mut before = None;
    for round in 0..1000u32 {
        let options = if round % 2 == 0 { options() } else { single() };
        let (mut stream, mut connection) = bare(&options, None);
        // In all cases the kernel still has the receive.
        match round % 4 {
            0 | 1 => assert!(connection.incoming.header().unwrap().is_none()),
            _ => {
                stream.write_all(&message(1, 30_000)[..20_000]).unwrap();
                let _ = connection.incoming.header().unwrap();
            }
        }
        drop(connection);
        if round == 100 {
            before = Some((descriptors(), mapped()));
        }
    }
    let (open, maps) = before.unwrap();
    assert!(descriptors() <= open, "{} > {open}", descriptors());
    assert!(mapped() <= maps + 8, "{} > {maps}", mapped());
}

#[test]
fn a_thousand_connections_leave_nothing_behind() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", "--nocapture"]);
    child.arg("uring::tests::a_thousand_connections");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
}

#[test]
fn both_directions_at_once() {
    let (client, server) = pair(&Uring, &AT.parse().unwrap());
    std::thread::scope(|scope| {
        for end in [client, server] {
            scope.spawn(move || {
                let Connection {
                    mut outgoing,
                    mut incoming,
                    ..
                } = end;
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        for kind in 0..300u32 {
                            let bytes = bytes(kind as usize * 331, kind.into());
                            let segments = [IoSlice::new(&bytes)];
                            send(&mut *outgoing, kind, Body::Borrowed(&segments)).unwrap();
                        }
                    });
                    for kind in 0..300u32 {
                        let (header, filled) =
                            recv(&mut *incoming, WaitMode::Blocking, None).unwrap();
                        assert_eq!((header.kind, filled.len()), (kind, kind as usize * 331));
                        assert!(filled.as_bytes() == bytes(filled.len(), kind.into()));
                    }
                });
            });
        }
    });
}
