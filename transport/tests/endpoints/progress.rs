//! Background threads that drive posted operations.

use std::thread;

use jstream::Pool;
use jstream_transport::{Options, Progress, RecvError};
use testing::LONG;
use testing::patterns::bytes;
use testing::transport::{SCHEMES, header, pair, send};

/// Returns the number of jbufs of the pool that are in use.
fn used(pool: &Pool) -> usize {
    pool.stats().in_use
}

/// Posted operations make progress while no thread waits for their tickets.
#[test]
fn a_progress_thread_carries_on() {
    const LARGE: usize = 3_000_000;
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let progress = Progress::start().unwrap();
        progress.attach(&client);
        progress.attach(&server);
        for round in 0..3 {
            let receives: Vec<_> = (0..3).map(|_| server.post_recv(None)).collect();
            let sends: Vec<_> = (0..3u64)
                .map(|number| {
                    let filled = options.pool.take(LARGE).unwrap();
                    let filled = filled.copy_from(&bytes(LARGE, number)).unwrap();
                    client.post_send(header(number), filled)
                })
                .collect();
            // No thread polls the tickets meanwhile.
            while server.info().counters.messages_received < (round + 1) * 3 {
                thread::yield_now();
            }
            for (number, mut receive) in (0..).zip(receives) {
                let message = receive.try_take().unwrap().unwrap();
                assert_eq!(message.header.words[0], number);
                assert!(
                    message.payload.as_bytes() == bytes(LARGE, number),
                    "{scheme}"
                );
            }
            for send in sends {
                send.wait().unwrap();
            }
        }
        drop(progress);
        // Without the progress thread, the waiting thread drives the operation again.
        let receive = server.post_recv(None);
        send(&client, 9, b"later", &options.pool);
        assert_eq!(receive.wait().unwrap().header.words[0], 9);
        drop((client, server));
        assert_eq!(used(&options.pool), 0, "{scheme}");
    }
}

#[test]
fn a_progress_thread_does_not_keep_connections() {
    let options = Options::default();
    let (client, server) = pair("tcp", &options, &options);
    let progress = Progress::start().unwrap();
    progress.attach(&server);
    drop(server);
    let end = client.recv_message_within(LONG).unwrap_err();
    assert!(matches!(end, RecvError::Closed { .. }), "{end}");
}
