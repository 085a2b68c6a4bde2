//! Connections over sockets when processes die, and when descriptors are scarce. Each test runs in
//! a process of its own.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::bare::greeted;
use common::{LONG, SHORT, bytes, fresh, patient};
use jstream::buffer::Pool;
use jstream_transport::{AcceptError, Address, Header, RecvError, SendError, connect, listen};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Names the test that a process was started for, and what it is there for.
const ROLE: &str = "JSTREAM_TEST_ROLE";

/// This program again, for one test.
fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command.env(ROLE, role);
    command
}

/// Runs `test` in a process of its own.
fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var(ROLE).is_ok() {
        return test();
    }
    let output = again(name, "alone").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
}

/// A child that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_peer_ends_what_is_pending() {
    const NAME: &str = "a_killed_peer_ends_what_is_pending";
    if let Ok(address) = std::env::var(ROLE) {
        // The child: sends one message, reads nothing, and is killed.
        let endpoint = connect(&address.parse().unwrap(), &patient()).unwrap();
        endpoint.send_message(Header::new(1, [0; 3]), &[]).unwrap();
        println!("ready");
        thread::sleep(LONG);
        return;
    }
    for scheme in ["tcp", "uds", "uring"] {
        let listener = listen(&fresh(scheme), &patient()).unwrap();
        let child = again(NAME, &listener.local_address().to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Killed(child);
        let endpoint = listener.accept().unwrap().establish().unwrap();
        assert_eq!(endpoint.recv_message().unwrap().header.kind, 1);
        let said = BufReader::new(child.0.stdout.take().unwrap());
        assert!(said.lines().any(|line| line.unwrap().contains("ready")));
        thread::scope(|scope| {
            let posted: Vec<_> = (0..3).map(|_| endpoint.post_recv_any()).collect();
            let sending = scope.spawn(|| {
                let bytes = bytes(1 << 20, 1);
                loop {
                    let segments = [std::io::IoSlice::new(&bytes)];
                    if let Err(error) = endpoint.send_message(Header::new(2, [0; 3]), &segments) {
                        return (error, Instant::now());
                    }
                }
            });
            let receiving = scope.spawn(|| {
                let results: Vec<_> = posted.into_iter().map(|ticket| ticket.wait()).collect();
                (results, Instant::now())
            });
            // Until the sender waits for room, as a rule.
            thread::sleep(SHORT);
            let killed = Instant::now();
            child.0.kill().unwrap();
            let (results, received) = receiving.join().unwrap();
            let (error, sent) = sending.join().unwrap();
            println!(
                "{scheme}: receiving ended {:?} after the kill, sending {:?}",
                received - killed,
                sent - killed
            );
            for result in results {
                let error = result.unwrap_err().error;
                assert!(matches!(error, RecvError::Lost { .. }), "{error}");
            }
            assert!(
                matches!(error, SendError::Lost { .. } | SendError::Closed { .. }),
                "{error}"
            );
        });
    }
}

#[test]
fn running_out_of_descriptors_is_survived() {
    alone("running_out_of_descriptors_is_survived", || {
        for scheme in ["tcp", "uds", "uring"] {
            let listener = listen(&fresh(scheme), &patient()).unwrap();
            let address = listener.local_address().clone();
            let before = getrlimit(Resource::Nofile);
            thread::scope(|scope| {
                let before_client = descriptors();
                let client = scope.spawn(|| connect(&address, &patient()).unwrap());
                // The client has its own before there are no more.
                while descriptors() == before_client {
                    thread::sleep(Duration::from_millis(1));
                }
                let lowest_free = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
                let few = Rlimit {
                    current: Some(u64::try_from(lowest_free).unwrap()),
                    maximum: before.maximum,
                };
                setrlimit(Resource::Nofile, few).unwrap();
                for _ in 0..3 {
                    let error = listener.accept_timeout(LONG).err().unwrap();
                    assert!(matches!(error, AcceptError::System { .. }), "{error}");
                }
                setrlimit(Resource::Nofile, before).unwrap();
                // Who came in the meantime is still there.
                let server = listener.accept().unwrap().establish().unwrap();
                let client = client.join().unwrap();
                client.send_message(Header::new(3, [0; 3]), &[]).unwrap();
                assert_eq!(server.recv_message().unwrap().header.kind, 3);
            });
        }
    });
}

/// How many descriptors this process has.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn idle_connections_cost_little() {
    alone("idle_connections_cost_little", || {
        let mut options = patient();
        options.pool = Pool::default();
        let listener = listen(&fresh("tcp"), &options).unwrap();
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let count = (most.saturating_sub(200) / 2).min(10_000);
        let warm = greeted(&listener);
        let before = resident();
        let mut all: Vec<_> = (0..count).map(|_| greeted(&listener)).collect();
        for (_, endpoint) in &all {
            let nothing = endpoint.try_recv_message().err().unwrap();
            assert!(matches!(nothing, RecvError::Empty), "{nothing}");
        }
        let each = (resident() - before) / count;
        println!("{count} idle connections, {each} bytes of memory each");
        assert!(each < 16 << 10);
        assert_eq!(options.pool.stats().mapped, 0);
        let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
        assert!(threads < 8, "{threads} threads");
        // One in their midst is served.
        let (stream, endpoint) = &mut all[count / 2];
        let mut message = [0; 43];
        message[32] = 3;
        message[40..].copy_from_slice(b"abc");
        stream.write_all(&message).unwrap();
        assert_eq!(endpoint.recv_message().unwrap().payload.as_bytes(), b"abc");
        drop(warm);
    });
}

#[test]
fn failed_connections_give_everything_back() {
    alone("failed_connections_give_everything_back", || {
        let listener = listen(&fresh("tcp"), &patient()).unwrap();
        let fail = |ways: std::ops::Range<usize>| {
            for way in ways {
                let (mut stream, endpoint) = greeted(&listener);
                let mut message = vec![0; 40 + 100_000];
                message[32..40].copy_from_slice(&100_000u64.to_le_bytes());
                if way % 5 == 4 {
                    message[5] = 1;
                }
                // The end, or a reset, before, inside and behind the header; or no header at all.
                let part = [0, 20, 40, 50_000, 40][way % 5];
                stream.write_all(&message[..part]).unwrap();
                if way % 2 == 0 {
                    let linger = Some(Duration::ZERO);
                    socket2::SockRef::from(&stream).set_linger(linger).unwrap();
                }
                drop(stream);
                let error = endpoint.recv_message().unwrap_err();
                assert!(
                    matches!(error, RecvError::Lost { .. } | RecvError::Malformed { .. }),
                    "{error}"
                );
            }
        };
        fail(0..100);
        let (before, memory) = (descriptors(), resident());
        fail(0..1000);
        assert_eq!(descriptors(), before);
        let grown = resident().saturating_sub(memory);
        assert!(grown < 4 << 20, "{grown} bytes more");
        // The listener serves on.
        let (_stream, _endpoint) = greeted(&listener);
        let _: &Address = listener.local_address();
    });
}
