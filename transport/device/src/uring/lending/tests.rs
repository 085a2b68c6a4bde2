//! Tests of lending buffers to the kernel, for peers on this host. For these the kernel copies the
//! data, but not before it would be sent.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::io::Read;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::{EmptyBuffer, PoolOptions};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::super::tests::{bare, message};
use super::*;
use crate::connection::*;
use crate::deadline::Deadline;
use crate::stream::tests::{LONG, bytes};
use jstream_base::Header;

fn lending() -> Options {
    let mut options = Options::new(Pool::default());
    options.uring_zero_copy = 1000;
    options.uring_zero_copy_on_host = true;
    options
}

fn outbound(kind: u32, jbuf: MessageBuffer) -> Outbound<'static> {
    Outbound {
        header: Header::new(kind, [0; 3]).with_length(jbuf.len() as u64),
        body: Body::Owned(jbuf),
        is_exchange: false,
        taken: 0,
    }
}

/// Returns a buffer with the payload of [`message`].
fn jbuf(pool: &Pool, kind: u32, length: usize) -> MessageBuffer {
    let empty = pool.take(length).unwrap();
    empty.copy_from(&bytes(length, kind.into())).unwrap()
}

fn finish(outgoing: &mut dyn Outgoing, message: &mut Outbound<'_>) {
    while outgoing.push(message).unwrap() != Push::Done {
        outgoing.wait(Deadline::after(LONG)).unwrap();
    }
}

/// Sends messages of that length until the peer, which does not read, has no room. Returns the
/// number of complete messages, and the incomplete last one.
fn fill(outgoing: &mut dyn Outgoing, pool: &Pool, length: usize) -> (u32, Outbound<'static>) {
    for kind in 0.. {
        let mut message = outbound(kind, jbuf(pool, kind, length));
        loop {
            let before = message.taken;
            let pushed = outgoing.push(&mut message).unwrap();
            if pushed == Push::Done {
                assert!(matches!(message.body, Body::Taken), "it was lent");
                break;
            }
            // The kernel may continue to send a moment later.
            thread::sleep(Duration::from_millis(20));
            if message.taken == before && message.taken > 40 {
                assert_eq!(pushed, Push::Begun);
                return (kind, message);
            }
        }
    }
    unreachable!("a socket has no end of room")
}

fn read(stream: &mut TcpStream, kind: u32, length: usize) {
    let mut read = vec![0; length + Header::WIRE_LENGTH];
    stream.read_exact(&mut read).unwrap();
    assert!(read == message(kind, length), "message {kind}");
}

/// Calls `look` until exactly `in_use` buffers of the pool are in use.
fn wait_for(pool: &Pool, in_use: usize, mut look: impl FnMut()) {
    let begun = Instant::now();
    while pool.stats().in_use != in_use {
        look();
        assert!(begun.elapsed() < LONG, "{} are out", pool.stats().in_use);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_is_lent_arrives_and_comes_back() {
    let options = lending();
    let (mut stream, mut connection) = bare(&options, None);
    assert_eq!(connection.degraded, Vec::<String>::new());
    let lengths = [1000usize, 4096, 70_000, 1 << 20, (3 << 20) + 7, 5000];
    thread::scope(|scope| {
        scope.spawn(|| {
            for (kind, length) in (0..).zip(lengths.iter().cycle().take(60)) {
                read(&mut stream, kind, *length);
            }
        });
        for (kind, length) in (0..).zip(lengths.iter().cycle().take(60)) {
            let jbuf = match kind % 7 {
                // A buffer that can't be registered with the kernel.
                6 => EmptyBuffer::heap(*length).copy_from(&bytes(*length, kind.into())),
                _ => Ok(jbuf(&options.pool, kind, *length)),
            };
            let mut message = outbound(kind, jbuf.unwrap());
            finish(&mut *connection.outgoing, &mut message);
            assert!(matches!(message.body, Body::Taken), "it was lent");
        }
    });
    let incoming = &mut *connection.incoming;
    wait_for(&options.pool, 0, || {
        assert!(incoming.header().unwrap().is_none())
    });
}

#[test]
fn short_ones_and_those_for_this_host_are_copied() {
    let mut here = lending();
    here.uring_zero_copy_on_host = false;
    for (options, length) in [(here, 100_000), (lending(), 999)] {
        let (mut stream, mut connection) = bare(&options, None);
        let mut message = outbound(1, jbuf(&options.pool, 1, length));
        finish(&mut *connection.outgoing, &mut message);
        assert!(matches!(message.body, Body::Owned(_)), "it was copied");
        read(&mut stream, 1, length);
    }
}

/// Buffers that the kernel still reads are not reused, in whatever way the connection ends.
#[test]
fn jbufs_are_not_used_again_while_they_are_out() {
    const LENGTH: usize = 200_000;
    for parts in [false, true] {
        let options = lending();
        let (mut stream, mut connection) = bare(&options, None);
        let (went, mut begun) = fill(&mut *connection.outgoing, &options.pool, LENGTH);
        // These are the incomplete message, and some before it that are complete for the program.
        assert!(options.pool.stats().in_use > 1, "the system still reads");
        if parts {
            connection.outgoing.abandon(&mut begun);
            let Body::Owned(back) = &begun.body else {
                panic!("it is given back")
            };
            assert!(back.as_bytes() == bytes(LENGTH, went.into()));
        }
        drop((begun, connection));
        for _ in 0..200 {
            let others = options.pool.take(LENGTH).unwrap();
            drop(others.copy_from(&[0xee; LENGTH]).unwrap());
        }
        let others: Vec<_> = (0..20)
            .map(|_| {
                options
                    .pool
                    .take(LENGTH)
                    .unwrap()
                    .copy_from(&[0xee; LENGTH])
            })
            .collect();
        for kind in 0..went {
            read(&mut stream, kind, LENGTH);
        }
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(rest.len() > Header::WIRE_LENGTH);
        assert!(message(went, LENGTH).starts_with(&rest));
        drop(others);
        wait_for(&options.pool, 0, lender::sweep);
    }
}

#[test]
fn a_peer_that_dies_lets_go_of_everything() {
    for length in [100_000usize, 6 << 20] {
        let options = lending();
        let (stream, mut connection) = bare(&options, None);
        let (kind, mut begun) = fill(&mut *connection.outgoing, &options.pool, length);
        drop(stream);
        let outgoing = &mut *connection.outgoing;
        let until = Instant::now() + LONG;
        let fault = loop {
            assert!(Instant::now() < until);
            match outgoing.push(&mut begun) {
                Ok(_) => thread::sleep(Duration::from_millis(1)),
                Err(fault) => break fault,
            }
        };
        assert!(matches!(fault, Fault::Lost(_)), "{fault:?}");
        let Body::Owned(back) = &begun.body else {
            panic!("it is given back")
        };
        assert!(back.as_bytes() == bytes(length, kind.into()));
        // The connection is not used any more, so `sweep` has to release the buffers.
        drop(begun);
        drop(connection);
        wait_for(&options.pool, 0, lender::sweep);
    }
}

/// The sending thread has ended, and its connection was leaked.
#[test]
fn what_was_forgotten_comes_back() {
    let options = lending();
    let pool = options.pool.clone();
    let stream = thread::spawn(move || {
        let (stream, mut connection) = bare(&options, None);
        let (_, begun) = fill(&mut *connection.outgoing, &options.pool, 100_000);
        std::mem::forget((connection, begun));
        stream
    })
    .join()
    .unwrap();
    assert!(pool.stats().in_use > 1);
    drop(stream);
    // The last buffer belongs to the leaked send half.
    wait_for(&pool, 1, lender::sweep);
}

/// One thread begins a message, and others continue it.
#[test]
fn a_message_moves_from_thread_to_thread() {
    const LENGTH: usize = 5 << 20;
    let options = lending();
    let (mut stream, mut connection) = bare(&options, None);
    let (went, mut begun) = fill(&mut *connection.outgoing, &options.pool, LENGTH);
    let reading = thread::spawn(move || {
        for kind in 0..=went {
            read(&mut stream, kind, LENGTH);
        }
        stream
    });
    loop {
        let pushed = thread::scope(|scope| {
            let pushing = scope.spawn(|| connection.outgoing.push(&mut begun).unwrap());
            pushing.join().unwrap()
        });
        if pushed == Push::Done {
            break;
        }
        connection.outgoing.wait(Deadline::after(LONG)).unwrap();
    }
    reading.join().unwrap();
    drop(connection);
    wait_for(&options.pool, 0, lender::sweep);
}

/// If more loans would be outstanding than allowed, because the peer reads late, further messages
/// are copied and arrive in order.
#[test]
fn beyond_what_may_be_out_jbufs_are_copied() {
    let mut pool = PoolOptions::default();
    pool.max_mapped = 8 << 20;
    let mut options = lending();
    options.pool = Pool::new(pool);
    let (mut stream, mut connection) = bare(&options, None);
    let count = 3000;
    let reading = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        for kind in 0..count {
            read(&mut stream, kind, 1000 + kind as usize);
        }
        stream
    });
    for kind in 0..count {
        let jbuf = jbuf(&options.pool, kind, 1000 + kind as usize);
        finish(&mut *connection.outgoing, &mut outbound(kind, jbuf));
        assert!(options.pool.stats().in_use <= loans::MOST + 1);
    }
    drop((reading.join().unwrap(), connection));
    wait_for(&options.pool, 0, lender::sweep);
}

/// Child process of the next test.
#[test]
#[ignore = "run by another test, with little right to lock memory"]
fn with_little_memory_to_lock() {
    let limit = std::env::var("JSTREAM_TEST_LOCKED").unwrap().parse().ok();
    let (none, some) = (limit == Some(0), limit > Some(256 << 10));
    let limit = Rlimit {
        current: limit,
        maximum: limit,
    };
    setrlimit(Resource::Memlock, limit).unwrap();
    let options = lending();
    let (mut stream, mut connection) = bare(&options, None);
    println!("degraded: {:?}", connection.degraded);
    let said = |about: &str| connection.degraded.iter().any(|it| it.contains(about));
    // With a limit of 0 there is no ring at all. With a large limit, the result depends on the
    // other locked memory.
    let expected = if none {
        "no io_uring"
    } else {
        "memory of jbufs"
    };
    assert!(some || said(expected));
    thread::scope(|scope| {
        scope.spawn(|| (0..20).for_each(|kind| read(&mut stream, kind, 2 << 20)));
        for kind in 0..20 {
            let jbuf = jbuf(&options.pool, kind, 2 << 20);
            finish(&mut *connection.outgoing, &mut outbound(kind, jbuf));
        }
    });
    drop(connection);
    wait_for(&options.pool, 0, lender::sweep);
}

#[test]
fn a_limit_of_locked_memory_degrades() {
    use std::os::unix::process::CommandExt;

    for limit in [0, 64 << 10, 400 << 10] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "--nocapture"]);
        child.arg("uring::lending::tests::with_little_memory_to_lock");
        child.env("JSTREAM_TEST_LOCKED", limit.to_string());
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
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{limit}: {said}{wrong}");
        assert!(said.contains("degraded: ["), "{said}");
    }
}

#[test]
fn the_addresses_tell_who_is_on_this_host() {
    let near = |ours: &str, theirs: &str| {
        let [ours, theirs] = [ours, theirs].map(|at| SocketAddr::new(at.parse().unwrap(), 1));
        same_host(ours, theirs)
    };
    assert!(near("127.0.0.1", "127.0.0.1"));
    assert!(near("10.0.0.1", "127.8.8.8"));
    assert!(near("10.0.0.1", "10.0.0.1"));
    assert!(near("::1", "::1"));
    assert!(near("10.0.0.1", "::ffff:10.0.0.1"));
    assert!(near("::ffff:127.0.0.1", "::ffff:127.0.0.1"));
    assert!(near("fe80::1", "fe80::1"));
    assert!(!near("10.0.0.1", "10.0.0.2"));
    assert!(!near("fe80::1", "fe80::2"));
}
