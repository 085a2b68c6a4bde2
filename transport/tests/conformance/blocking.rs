//! Blocking calls, and threads that share an endpoint.

use std::io::IoSlice;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jstream_transport::{Endpoint, Header, RecvError, SendError};

use crate::host::{Host, LONG, Outcome, filled};
use testing::patterns::bytes;

/// A delay long enough to be noticed and short enough to wait for.
const SHORT: Duration = Duration::from_millis(100);

async fn patient_pair(host: &Host) -> (Endpoint, Endpoint) {
    host.pair(&host.options(), &host.options()).await.unwrap()
}

pub(crate) async fn segments_are_gathered(host: Host) -> Outcome {
    let (client, server) = patient_pair(&host).await;
    for (count, length) in [(0, 0), (3, 0), (7, 5), (8, 5), (3000, 3), (300, 10_000)] {
        let all = bytes(count * length, 1);
        let mut segments: Vec<_> = all.chunks(length.max(1)).map(IoSlice::new).collect();
        segments.insert(segments.len() / 2, IoSlice::new(&[]));
        thread::scope(|scope| {
            scope.spawn(|| client.send_message(Header::default(), &segments).unwrap());
            let message = server.recv_message().unwrap();
            assert!(message.payload.as_bytes() == all, "{count} of {length}");
        });
    }
    Ok(())
}

pub(crate) async fn every_size_is_received_by_who_waits(host: Host) -> Outcome {
    let (client, server) = patient_pair(&host).await;
    let sizes = [0, 1, 40, 41, 4056, 4057, 65_536, 3_000_000];
    let pool = host.pool();
    thread::scope(|scope| {
        scope.spawn(|| {
            for size in sizes {
                let payload = filled(&pool, &bytes(size, 5));
                client.send_buffer(Header::default(), payload).unwrap();
                client
                    .send_message(Header::default(), &[IoSlice::new(&bytes(size, 6))])
                    .unwrap();
            }
        });
        let mut memory = vec![0; 3_000_000];
        for size in sizes {
            let message = server.recv_message_within(LONG).unwrap();
            assert!(message.payload.as_bytes() == bytes(size, 5), "{size}");
            let header = server.recv_into(&mut memory).unwrap();
            assert_eq!(header.length, size as u64);
            assert!(memory[..size] == bytes(size, 6), "{size}");
        }
    });
    Ok(())
}

pub(crate) async fn a_time_out_loses_nothing(host: Host) -> Outcome {
    let (client, server) = patient_pair(&host).await;
    let pool = host.pool();
    for index in 0..3 {
        for timeout in [SHORT, SHORT / 4, Duration::ZERO] {
            let error = server.recv_message_within(timeout).unwrap_err();
            let is_expected = match error {
                RecvError::Empty => timeout.is_zero(),
                RecvError::TimedOut { .. } => !timeout.is_zero(),
                _ => false,
            };
            assert!(is_expected, "{error}");
            let mut receive = server.post_recv(pool.take(9000).unwrap());
            assert!(receive.wait_timeout(timeout).is_none());
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(SHORT);
                let payload = [1; 9000];
                let header = Header::new(index, [0; 3]);
                client
                    .send_message(header, &[IoSlice::new(&payload)])
                    .unwrap();
            });
            // A receive without a timeout is not affected by the earlier timeouts.
            assert_eq!(server.recv_message().unwrap().header.kind, index);
        });
    }
    Ok(())
}

pub(crate) async fn close_wakes_blocked_threads(host: Host) -> Outcome {
    let (client, _server) = patient_pair(&host).await;
    let (full, is_full) = mpsc::channel();
    thread::scope(|scope| {
        let receiving: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| client.recv_message().unwrap_err()))
            .collect();
        let posted = client.post_recv(None);
        let waiting = scope.spawn(|| posted.wait().unwrap_err().error);
        let (client, full) = (&client, full);
        let sending = scope.spawn(move || {
            let payload = vec![0; 1 << 20];
            loop {
                full.send(()).unwrap();
                let sent = client.send_message(Header::default(), &[IoSlice::new(&payload)]);
                if let Err(error) = sent {
                    break error;
                }
            }
        });
        // Waits until the sender has not begun another message for a while.
        while is_full.recv_timeout(SHORT).is_ok() {}
        client.close();
        let error = sending.join().unwrap();
        assert!(matches!(error, SendError::ClosedLocally { .. }), "{error}");
        for thread in receiving.into_iter().chain([waiting]) {
            let error = thread.join().unwrap();
            assert!(matches!(error, RecvError::ClosedLocally { .. }), "{error}");
        }
    });
    Ok(())
}

pub(crate) async fn a_peer_that_does_not_read_is_noticed(host: Host) -> Outcome {
    let mut options = host.options();
    options.send_timeout = SHORT;
    let (client, _server) = host.pair(&options, &host.options()).await?;
    let payload = vec![0; 1 << 20];
    // The queue's bound, or the buffers of the system, end this.
    let error = (0..10_000)
        .find_map(|_| {
            let slices = [IoSlice::new(&payload)];
            client.send_message(Header::default(), &slices).err()
        })
        .unwrap();
    assert!(
        matches!(
            error,
            SendError::TimedOut { .. } | SendError::Stalled { .. }
        ),
        "{error}"
    );
    Ok(())
}

/// Each message is received by one thread, and no message is lost or mixed with another.
pub(crate) async fn many_threads_share_an_endpoint(host: Host) -> Outcome {
    const THREADS: u64 = 4;
    const MESSAGES: u64 = 300;
    let (client, server) = patient_pair(&host).await;
    let mut got = thread::scope(|scope| {
        for thread in 0..THREADS {
            let client = client.clone();
            scope.spawn(move || {
                for index in 0..MESSAGES {
                    let number = thread * MESSAGES + index;
                    let payload = bytes(number as usize % 7000, number);
                    let header = Header::new(0, [number, 0, 0]);
                    client
                        .send_message(header, &[IoSlice::new(&payload)])
                        .unwrap();
                }
            });
        }
        let receiving: Vec<_> = (0..THREADS)
            .map(|_| {
                let server = server.clone();
                scope.spawn(move || {
                    let mut got = Vec::new();
                    for _ in 0..MESSAGES {
                        let message = server.recv_message_within(LONG).unwrap();
                        let number = message.header.words[0];
                        let payload = bytes(number as usize % 7000, number);
                        assert!(message.payload.as_bytes() == payload, "{number}");
                        got.push(number);
                    }
                    got
                })
            })
            .collect();
        let mut got = Vec::new();
        for thread in receiving {
            got.extend(thread.join().unwrap());
        }
        got
    });
    got.sort_unstable();
    assert!(got.into_iter().eq(0..THREADS * MESSAGES));
    Ok(())
}

pub(crate) async fn descriptors_say_when_to_receive(host: Host) -> Outcome {
    use rustix::event::{PollFd, PollFlags, poll};

    let (client, server) = patient_pair(&host).await;
    let messages = 50;
    thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..messages {
                if index % 10 == 0 {
                    thread::sleep(SHORT / 10);
                }
                let payload = bytes(index as usize * 1000, 1);
                let header = Header::new(index, [0; 3]);
                client
                    .send_message(header, &[IoSlice::new(&payload)])
                    .unwrap();
            }
        });
        for index in 0..messages {
            let message = loop {
                match server.recv_message_within(Duration::ZERO) {
                    Ok(message) => break message,
                    Err(RecvError::Empty) => {}
                    Err(error) => panic!("{error}"),
                }
                if !server.arm() {
                    let fd = server.as_fd().unwrap();
                    poll(&mut [PollFd::new(&fd, PollFlags::IN)], None).unwrap();
                }
            };
            assert_eq!(message.header.kind, index);
            assert!(message.payload.as_bytes() == bytes(index as usize * 1000, 1));
        }
    });
    Ok(())
}
