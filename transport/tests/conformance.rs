//! What every device promises.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

mod common;

use std::io::IoSlice;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{LONG, SHORT, bytes, checksum, fresh, join, pair};
use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::{
    AcceptError, Header, ListenError, Options, RecvError, SendError, connect, listen,
};

/// Options without a limit that a test could meet by being slow.
fn patient() -> Options {
    let mut options = Options::default();
    options.handshake_timeout = LONG;
    options.message_timeout = LONG;
    options.connect_timeout = LONG;
    options.send_timeout = LONG;
    options
}

fn every_size_arrives(scheme: &str) {
    let options = patient();
    let (client, server) = pair(scheme, &options, &patient());
    let receiver = &client;
    let sender = &server;
    let sizes = [
        0, 1, 39, 40, 41, 255, 4055, 4056, 4057, 4095, 4096, 4097, 65_536, 5_000_000,
    ];
    thread::scope(|scope| {
        scope.spawn(|| {
            for (index, size) in sizes.into_iter().enumerate() {
                let header = Header::new(index as u32, [size as u64, u64::MAX, 3]);
                let payload = bytes(size, index as u64);
                sender
                    .send_message(header, &[IoSlice::new(&payload)])
                    .unwrap();
            }
        });
        for (index, size) in sizes.into_iter().enumerate() {
            let message = receiver.recv_message_timeout(LONG).unwrap();
            assert_eq!(message.header.kind, index as u32);
            assert_eq!(message.header.words, [size as u64, u64::MAX, 3]);
            assert_eq!(message.header.length, size as u64);
            assert!(
                message.payload.as_bytes() == bytes(size, index as u64),
                "{size}"
            );
            assert!(options.pool.contains(message.payload.as_bytes()), "{size}");
        }
    });
}

fn order_is_kept(scheme: &str) {
    let (client, server) = pair(scheme, &patient(), &patient());
    let sender = &client;
    let receiver = &server;
    let size = |index: u64| match index % 100 {
        0 => 70_000,
        1..10 => 4000 + index as usize % 200,
        _ => index as usize % 300,
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..10_000 {
                let payload = bytes(size(index), index);
                let header = Header::new(7, [index, checksum(&payload), 0]);
                sender
                    .send_message(header, &[IoSlice::new(&payload)])
                    .unwrap();
            }
        });
        for index in 0..10_000 {
            let message = receiver.recv_message_timeout(LONG).unwrap();
            let payload = message.payload.as_bytes();
            assert_eq!(payload.len(), size(index));
            assert_eq!(message.header.words, [index, checksum(payload), 0]);
        }
    });
}

fn segments_are_gathered(scheme: &str) {
    let (client, server) = pair(scheme, &patient(), &patient());
    let sender = &client;
    let receiver = &server;
    for (count, length) in [(0, 0), (3, 0), (7, 5), (8, 5), (3000, 3), (300, 10_000)] {
        let all = bytes(count * length, 1);
        let mut segments: Vec<_> = all.chunks(length.max(1)).map(IoSlice::new).collect();
        segments.insert(segments.len() / 2, IoSlice::new(&[]));
        thread::scope(|scope| {
            scope.spawn(|| {
                sender
                    .send_message(Header::new(0, [0; 3]), &segments)
                    .unwrap()
            });
            let message = receiver.recv_message_timeout(LONG).unwrap();
            assert!(message.payload.as_bytes() == all, "{count} of {length}");
        });
    }
}

fn both_directions_at_once(scheme: &str) {
    const MESSAGES: u64 = 300;
    const SIZE: usize = 400_000;
    let mut options = patient();
    options.queue_bytes = 1 << 20;
    let (client, server) = pair(scheme, &options, &options);
    thread::scope(|scope| {
        for link in [client, server] {
            let (sender, receiver) = (link.clone(), link);
            scope.spawn(move || {
                let payload = bytes(SIZE, 3);
                for index in 0..MESSAGES {
                    let header = Header::new(0, [index, 0, 0]);
                    sender
                        .send_message(header, &[IoSlice::new(&payload)])
                        .unwrap();
                }
                sender
            });
            scope.spawn(move || {
                let payload = bytes(SIZE, 3);
                for index in 0..MESSAGES {
                    let message = receiver.recv_message_timeout(LONG).unwrap();
                    assert_eq!(message.header.words[0], index);
                    assert!(message.payload.as_bytes() == payload);
                }
                receiver
            });
        }
    });
}

fn a_jbuf_is_sent(scheme: &str) {
    let pool = Pool::default();
    let mut options = patient();
    options.max_message = 100_000;
    let (client, server) = pair(scheme, &options, &options);
    let sender = &client;
    let receiver = &server;
    for size in [0, 1, 5000, 100_000] {
        let filled = pool.take(size).unwrap().copy_from(&bytes(size, 9)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| sender.send_filled(Header::new(5, [size as u64; 3]), filled));
            let message = receiver.recv_message_timeout(LONG).unwrap();
            assert_eq!(message.header.words, [size as u64; 3]);
            assert!(message.payload.as_bytes() == bytes(size, 9));
        });
    }
    let filled = pool
        .take(100_001)
        .unwrap()
        .copy_from(&[1; 100_001])
        .unwrap();
    let unsent = sender.send_filled(Header::default(), filled).unwrap_err();
    assert!(matches!(unsent.error, SendError::TooLarge { .. }));
    assert_eq!(unsent.filled.len(), 100_001, "the jbuf comes back");
    drop(unsent);
    assert_eq!(pool.stats().in_use, 0);
}

fn what_was_sent_arrives_before_the_end(scheme: &str) {
    for how in ["drop", "finish", "close"] {
        let (client, server) = pair(scheme, &patient(), &patient());
        let closer = client.closer();
        let mut kept = Some(client);
        for index in 0..10 {
            let header = Header::new(0, [index, 0, 0]);
            let sender = kept.as_ref().unwrap();
            sender
                .send_message(header, &[IoSlice::new(&[1; 3000])])
                .unwrap();
        }
        match how {
            "drop" => kept = None,
            "finish" => kept.as_ref().unwrap().finish().unwrap(),
            _ => closer.close(),
        }
        let receiver = &server;
        for index in 0..10 {
            let message = receiver.recv_message_timeout(LONG).unwrap();
            assert_eq!(message.header.words[0], index);
        }
        for _ in 0..2 {
            let error = receiver.recv_message().unwrap_err();
            assert!(matches!(error, RecvError::Closed { .. }), "{how}: {error}");
        }
        drop(kept);
    }
}

fn sending_to_nobody_fails(scheme: &str) {
    let (client, server) = pair(scheme, &patient(), &patient());
    drop(server);
    let sender = &client;
    let error = loop {
        if let Err(error) = sender.send_message(Header::default(), &[IoSlice::new(&[1; 10_000])]) {
            break error;
        }
    };
    assert!(
        matches!(error, SendError::Closed { .. } | SendError::Lost { .. }),
        "{error}"
    );
}

fn close_wakes_who_receives(scheme: &str) {
    let (client, _server) = pair(scheme, &patient(), &patient());
    let closer = client.closer();
    let (sender, receiver) = (&client, &client);
    thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.recv_message().unwrap_err());
        thread::sleep(SHORT);
        closer.close();
        closer.close();
        let error = receiving.join().unwrap();
        assert!(matches!(error, RecvError::ClosedLocally { .. }), "{error}");
    });
    let error = receiver.recv_message_timeout(LONG).unwrap_err();
    assert!(matches!(error, RecvError::ClosedLocally { .. }), "{error}");
    let error = sender.send_message(Header::default(), &[]).unwrap_err();
    assert!(matches!(error, SendError::ClosedLocally { .. }), "{error}");
    drop(client);
    closer.close();
}

fn close_wakes_who_sends(scheme: &str) {
    let (client, _server) = pair(scheme, &patient(), &patient());
    let closer = client.closer();
    let sender = &client;
    let (full, is_full) = mpsc::channel();
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let payload = vec![0; 1 << 20];
            loop {
                full.send(()).unwrap();
                if let Err(error) =
                    sender.send_message(Header::default(), &[IoSlice::new(&payload)])
                {
                    break error;
                }
            }
        });
        // Until it has not begun another message for a while.
        while is_full.recv_timeout(SHORT).is_ok() {}
        closer.close();
        let error = sending.join().unwrap();
        assert!(matches!(error, SendError::ClosedLocally { .. }), "{error}");
    });
}

fn close_wakes_who_accepts(scheme: &str) {
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let closer = listener.closer();
    thread::scope(|scope| {
        let accepting = scope.spawn(|| listener.accept().unwrap_err());
        thread::sleep(SHORT);
        closer.close();
        let error = accepting.join().unwrap();
        assert!(
            matches!(error, AcceptError::ClosedLocally { .. }),
            "{error}"
        );
    });
    let error = listener.accept().unwrap_err();
    assert!(
        matches!(error, AcceptError::ClosedLocally { .. }),
        "{error}"
    );
    let address = listener.local_address().clone();
    drop(listener);
    assert!(connect(&address, &patient()).is_err());
}

fn the_limit_of_the_peer_holds(scheme: &str) {
    let mut server = patient();
    server.max_message = 1000;
    let (client, server) = pair(scheme, &patient(), &server);
    let (sender, receiver) = (&client, &server);
    let limits = client.limits();
    assert_eq!((limits.max_send, limits.max_receive), (1000, 64 << 20));
    assert_eq!(server.limits().max_receive, 1000);
    let error = sender
        .send_message(Header::default(), &[IoSlice::new(&[0; 1001])])
        .unwrap_err();
    assert!(matches!(
        error,
        SendError::TooLarge {
            length: 1001,
            max: 1000,
            ..
        }
    ));
    assert!(error.to_string().contains("max_message"));
    sender
        .send_message(Header::default(), &[IoSlice::new(&[0; 1000])])
        .unwrap();
    assert_eq!(
        receiver.recv_message_timeout(LONG).unwrap().payload.len(),
        1000
    );
}

fn a_time_out_loses_nothing(scheme: &str) {
    let (client, server) = pair(scheme, &patient(), &patient());
    let sender = &client;
    let receiver = &server;
    for index in 0..3 {
        for timeout in [SHORT, SHORT / 4, Duration::ZERO] {
            let error = receiver.recv_message_timeout(timeout).unwrap_err();
            assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(SHORT);
                sender
                    .send_message(Header::new(index, [0; 3]), &[IoSlice::new(&[1; 9000])])
                    .unwrap();
            });
            // Waiting without limit is not bothered by the time-outs before.
            assert_eq!(receiver.recv_message().unwrap().header.kind, index);
        });
    }
}

fn connections_leave_nothing_behind(scheme: &str) {
    let options = patient();
    let listener = listen(&fresh(scheme), &options).unwrap();
    for round in 0..200 {
        let (client, server) = join(&listener, &options);
        let sender = &client;
        let receiver = &server;
        for _ in 0..3 {
            sender
                .send_message(Header::default(), &[IoSlice::new(&[2; 5000])])
                .unwrap();
        }
        // Some messages are received, some are still on their way when the link is dropped.
        if round % 2 == 0 {
            assert_eq!(
                receiver.recv_message_timeout(LONG).unwrap().payload.len(),
                5000
            );
        }
    }
    assert_eq!(options.pool.stats().in_use, 0);
}

fn an_address_has_one_listener(scheme: &str) {
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let address = listener.local_address().clone();
    let error = listen(&address, &patient()).unwrap_err();
    assert!(matches!(error, ListenError::InUse { .. }), "{error}");
    drop(listener);
    drop(listen(&address, &patient()).unwrap());
}

fn a_peer_that_does_not_read_is_noticed(scheme: &str) {
    let mut options = patient();
    options.send_timeout = SHORT;
    let (client, _server) = pair(scheme, &options, &patient());
    let sender = &client;
    let payload = vec![0; 1 << 20];
    // The queue's bound, or what the system buffers, ends this.
    let error = (0..10_000)
        .find_map(|_| {
            sender
                .send_message(Header::default(), &[IoSlice::new(&payload)])
                .err()
        })
        .unwrap();
    assert!(
        matches!(
            error,
            SendError::TimedOut { .. } | SendError::Stalled { .. }
        ),
        "{error}"
    );
}

fn a_full_pool_is_an_error_that_passes(scheme: &str) {
    let mut limit = PoolOptions::default();
    limit.max_mapped = 900_000;
    let mut options = patient();
    options.pool = Pool::new(limit);
    let (client, server) = pair(scheme, &patient(), &options);
    let sender = &client;
    let receiver = &server;
    let send = || sender.send_message(Header::default(), &[IoSlice::new(&[3; 300_000])]);
    thread::scope(|scope| {
        scope.spawn(|| send().unwrap());
        let held = receiver.recv_message_timeout(LONG).unwrap();
        // In-process the sender learns it, elsewhere the receiver does.
        if client.limits().moves {
            let error = send().unwrap_err();
            assert!(matches!(error, SendError::NoBuffer { .. }), "{error}");
            drop(held);
            send().unwrap();
        } else {
            scope.spawn(|| send().unwrap());
            let error = receiver.recv_message_timeout(LONG).unwrap_err();
            let length = 300_000;
            let expected = matches!(error, RecvError::NoBuffer { length: l, .. } if l == length);
            assert!(expected, "{error}");
            drop(held);
        }
        let message = receiver.recv_message_timeout(LONG).unwrap();
        assert_eq!(message.payload.len(), 300_000);
    });
}

macro_rules! conformance {
    ($($device:ident: $($promise:ident)+;)+) => {
        $(mod $device {
            $(#[test]
            fn $promise() {
                super::$promise(stringify!($device));
            })+
        })+
    };
}

macro_rules! every_promise {
    ($($device:ident)+) => {
        conformance! {
            $($device:
                every_size_arrives
                order_is_kept
                segments_are_gathered
                both_directions_at_once
                a_jbuf_is_sent
                what_was_sent_arrives_before_the_end
                sending_to_nobody_fails
                close_wakes_who_receives
                close_wakes_who_sends
                close_wakes_who_accepts
                the_limit_of_the_peer_holds
                a_time_out_loses_nothing
                connections_leave_nothing_behind
                an_address_has_one_listener
                a_peer_that_does_not_read_is_noticed
                a_full_pool_is_an_error_that_passes;
            )+
        }
    };
}

every_promise!(inproc uds tcp);
