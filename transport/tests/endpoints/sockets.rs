//! Socket connections when processes die, and when file descriptors are scarce. Each test runs in a
//! process of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::{Address, Header, RecvError, SendError, connect, listen};
use testing::patterns::bytes;
use testing::process::{again, alone, descriptors, name, resident, role};
use testing::transport::bare::greeted;
use testing::transport::{fresh, patient};
use testing::{LONG, SHORT};

/// A child process that is killed when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_peer_ends_what_is_pending() {
    if let Some(address) = role() {
        // The child sends one message, reads nothing, and is killed.
        let endpoint = connect(&address.parse().unwrap(), &patient()).unwrap();
        endpoint.send_message(Header::new(1, [0; 3]), &[]).unwrap();
        println!("ready");
        thread::sleep(LONG);
        return;
    }
    for scheme in ["tcp", "uds", "uring"] {
        let listener = listen(&fresh(scheme), &patient()).unwrap();
        let child = again(&name(), &listener.local_address().to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Killed(child);
        let endpoint = listener.accept().unwrap().establish().unwrap();
        assert_eq!(endpoint.recv_message().unwrap().header.kind, 1);
        let said = BufReader::new(child.0.stdout.take().unwrap());
        assert!(said.lines().any(|line| line.unwrap().contains("ready")));
        thread::scope(|scope| {
            let posted: Vec<_> = (0..3).map(|_| endpoint.post_recv(None)).collect();
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
            // Usually long enough for the sender to fill all buffers.
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
#[cfg_attr(
    address_sanitizer,
    ignore = "measures memory, of which the sanitizer takes some"
)]
fn failed_connections_give_everything_back() {
    alone(|| {
        let listener = listen(&fresh("tcp"), &patient()).unwrap();
        let fail = |ways: std::ops::Range<usize>| {
            for way in ways {
                let (mut stream, endpoint) = greeted(&listener);
                let mut message = vec![0; 40 + 100_000];
                message[32..40].copy_from_slice(&100_000u64.to_le_bytes());
                if way % 5 == 4 {
                    message[5] = 1;
                }
                // The connection ends or is reset before, inside or after the header, or there is
                // no header at all.
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
        // The listener still works.
        let (_stream, _endpoint) = greeted(&listener);
        let _: &Address = listener.local_address();
    });
}
