#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

use std::io::{IoSlice, Write as _};
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::hub::LOOKS;
use super::*;
use crate::receiving::Inbound;
use crate::shared::Shared;
use crate::{connect, listen};
use jstream::buffer::{Pool, PoolOptions};
use jstream_base::{Options, RecvError};
use jstream_device::poll::sleep_on;
use jstream_sync::watcher::Interest;

const LONG: Duration = Duration::from_secs(120);

fn pairs(count: usize, options: &Options) -> Vec<(Endpoint, Endpoint)> {
    pairs_at("tcp://127.0.0.1:0", count, options)
}

fn pairs_at(address: &str, count: usize, options: &Options) -> Vec<(Endpoint, Endpoint)> {
    let address = address.parse().unwrap();
    let listener = listen(&address, options).unwrap();
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            let clients = (0..count).map(|_| connect(listener.local_address(), options).unwrap());
            clients.collect::<Vec<_>>()
        });
        let servers = (0..count).map(|_| listener.accept().unwrap().establish().unwrap());
        let servers: Vec<_> = servers.collect();
        clients.join().unwrap().into_iter().zip(servers).collect()
    })
}

#[test]
fn endpoints_with_nothing_to_do_are_not_visited() {
    const PAIRS: usize = 200;
    const ROUNDS: usize = 300;
    let options = Options::default();
    let pairs = pairs(PAIRS, &options);
    let queue = CompletionQueue::new().unwrap();
    for (user, (_, server)) in (0..).zip(&pairs) {
        queue.post_recv(server, user, None);
    }
    for _ in 0..=LOOKS {
        assert!(queue.poll().is_none());
    }
    let first = queue.hub.visits.load(Ordering::Relaxed);
    assert!(first >= PAIRS, "all are armed");
    for _ in 0..100 {
        assert!(queue.poll().is_none());
    }
    assert_eq!(queue.hub.visits.load(Ordering::Relaxed), first);
    for round in 0..ROUNDS {
        let user = (round % 3) as u64;
        let (client, server) = &pairs[round % 3];
        client
            .send_message(Header::default(), &[IoSlice::new(b"x")])
            .unwrap();
        assert_eq!(queue.wait(LONG).unwrap().user, user);
        queue.post_recv(server, user, None);
    }
    for _ in 0..=LOOKS {
        assert!(queue.poll().is_none());
    }
    let visits = queue.hub.visits.load(Ordering::Relaxed) - first;
    // One visit for the message, and the others for the next receive until it is armed.
    let most = 2 + usize::from(LOOKS);
    assert!(visits <= most * ROUNDS + 10, "{visits}");
}

/// Waits for the report of a connection, and returns its state.
fn wait_ready(queue: &CompletionQueue) -> Arc<Shared> {
    match queue.wait_done(Deadline::after(LONG)) {
        Some(Done::Ready(shared)) => shared,
        _ => panic!("no connection was reported"),
    }
}

fn send(endpoint: &Endpoint, text: &[u8]) {
    let segments = [IoSlice::new(text)];
    endpoint.send_message(Header::default(), &segments).unwrap();
}

#[test]
fn an_armed_connection_is_reported_once_when_a_message_arrives() {
    let options = Options::default();
    let name = format!("shm://queue-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-of-armed", &name] {
        let pairs = pairs_at(address, 2, &options);
        let queue = CompletionQueue::new().unwrap();
        for round in 0..200 {
            for (_, server) in &pairs {
                queue.arm(server);
            }
            assert!(
                queue.poll_done().is_none(),
                "{address}: nothing has arrived"
            );
            for (client, server) in &pairs {
                // Now and then the receiver sleeps.
                thread::scope(|scope| {
                    scope.spawn(move || {
                        thread::sleep(Duration::from_millis(u64::from(round % 25 == 0)));
                        send(client, b"x");
                    });
                    let ready = wait_ready(&queue);
                    assert!(Arc::ptr_eq(&ready, server.shared()), "{address}");
                });
                assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"x");
                send(client, b"y");
                assert!(queue.poll_done().is_none(), "{address}: it is not armed");
                assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"y");
            }
        }
    }
}

#[test]
fn a_poll_without_result_leaves_the_connection_armed() {
    let options = Options::default();
    let name = format!("shm://queue-polled-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-polled", &name] {
        let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
        let queue = CompletionQueue::new().unwrap();
        for _ in 0..50 {
            queue.arm(&server);
            // A poll of another thread, which may move the connection.
            server.recv_message_within(Duration::ZERO).unwrap_err();
            server
                .recv_into_within(&mut [0; 8], Duration::ZERO)
                .unwrap_err();
            let mut inbound = Inbound::empty();
            assert!(!server.shared().poll_message(&mut inbound));
            thread::scope(|scope| {
                scope.spawn(|| send(&client, b"x"));
                wait_ready(&queue);
            });
            assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"x");
        }
    }
}

#[test]
fn what_arrived_before_a_connection_was_armed_is_reported() {
    let options = Options::default();
    let name = format!("shm://queue-before-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-before", &name] {
        let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
        let queue = CompletionQueue::new().unwrap();
        let receive = || {
            queue.arm(&server);
            let ready = wait_ready(&queue);
            assert!(Arc::ptr_eq(&ready, server.shared()), "{address}");
            server
                .recv_message_within(LONG)
                .map(|message| message.payload)
        };
        send(&client, b"in the device");
        assert_eq!(receive().unwrap().as_bytes(), b"in the device");
        // The first message goes to a ticket, whose owner then gives it up.
        let ticket = server.post_recv(None);
        send(&client, b"kept");
        send(&client, b"behind it");
        assert_eq!(
            server.recv_message().unwrap().payload.as_bytes(),
            b"behind it"
        );
        drop(ticket);
        assert_eq!(receive().unwrap().as_bytes(), b"kept");
        // A message that is kept after the connection was armed.
        let ticket = server.post_recv(None);
        send(&client, b"kept later");
        send(&client, b"behind it");
        assert_eq!(
            server.recv_message().unwrap().payload.as_bytes(),
            b"behind it"
        );
        queue.arm(&server);
        assert!(queue.poll_done().is_none());
        drop(ticket);
        wait_ready(&queue);
        assert_eq!(
            server.recv_message().unwrap().payload.as_bytes(),
            b"kept later"
        );
        drop(client);
        assert!(receive().is_err(), "{address}: the end");
        assert!(receive().is_err(), "{address}: after the end");
    }
}

#[test]
fn the_end_of_an_armed_connection_is_reported() {
    let options = Options::default();
    let name = format!("shm://queue-end-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-end", &name] {
        let queue = CompletionQueue::new().unwrap();
        for closes_peer in [true, false] {
            let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
            queue.arm(&server);
            thread::scope(|scope| {
                scope.spawn(|| if closes_peer { &client } else { &server }.close());
                let ready = wait_ready(&queue);
                assert!(Arc::ptr_eq(&ready, server.shared()), "{address}");
            });
            assert!(server.recv_message().is_err());
        }
    }
}

#[test]
fn an_armed_connection_ends_when_its_last_handle_is_dropped() {
    let options = Options::default();
    let (client, server) = pairs(1, &options).pop().unwrap();
    let queue = CompletionQueue::new().unwrap();
    queue.arm(&server);
    drop(server);
    assert!(client.recv_message_within(LONG).is_err());
    assert!(queue.poll_done().is_none(), "there is no connection");
}

#[test]
fn a_message_that_an_armed_connection_receives_in_part_times_out() {
    let mut options = Options::default();
    options.message_timeout = Duration::from_millis(200);
    let (client, server) = pairs(1, &options).pop().unwrap();
    let queue = CompletionQueue::new().unwrap();
    // The header announces more than the peer ever sends.
    let source = client
        .shared()
        .source()
        .unwrap()
        .try_clone_to_owned()
        .unwrap();
    let mut socket = std::net::TcpStream::from(source);
    let header = Header::new(1, [0; 3]).with_length(100);
    socket.write_all(&header.to_bytes()).unwrap();
    let error = loop {
        queue.arm(&server);
        wait_ready(&queue);
        let mut inbound = Inbound::empty();
        if server.shared().poll_reported(&mut inbound) {
            break inbound.other;
        }
    };
    assert!(matches!(error, Some(Err(RecvError::Stalled { .. }))));
}

#[test]
fn a_dropped_queue_leaves_nothing() {
    let options = Options::default();
    let pairs = pairs(3, &options);
    let queue = CompletionQueue::new().unwrap();
    for (client, server) in &pairs {
        queue.post_recv(server, 0, None);
        queue.arm(client);
        let filled = options.pool.take(1).unwrap().copy_from(b"x").unwrap();
        queue.post_send(client, 0, Header::default(), filled);
    }
    // Some directions have a message, others are armed without one. Two completions were taken.
    for _ in 0..2 {
        assert!(queue.wait(LONG).is_some());
    }
    let hub = Arc::downgrade(&queue.hub);
    let watcher = Arc::downgrade(queue.hub.watcher());
    drop(queue);
    assert_eq!(hub.strong_count(), 0, "not even where endpoints live on");
    assert_eq!(watcher.strong_count(), 0, "its descriptors are closed");
    drop(pairs);
    assert_eq!(options.pool.stats().in_use, 0);
}

#[test]
fn members_of_connections_that_are_gone_are_forgotten() {
    let options = Options::default();
    let queue = CompletionQueue::new().unwrap();
    for _ in 0..30 {
        for (client, server) in pairs(10, &options) {
            drop(client);
            queue.post_recv(&server, 0, None);
            assert!(queue.wait(LONG).is_some());
        }
    }
    let known = queue.members.lock().unwrap().map.len();
    assert!(known <= 130, "{known}");
    assert_eq!(queue.pending(), 0);
}

#[test]
fn whoever_relies_on_being_woken_is() {
    const ROUNDS: usize = 100;
    let options = Options::default();
    let pairs = pairs(2, &options);
    let queue = CompletionQueue::new().unwrap();
    for round in 0..ROUNDS {
        let (client, server) = &pairs[round % 2];
        queue.post_recv(server, round as u64, None);
        // The direction was polled without result, and is possibly not armed yet.
        for _ in 0..round % 5 {
            assert!(queue.poll().is_none());
        }
        thread::scope(|scope| {
            let waiter = scope.spawn(|| queue.wait(LONG).unwrap().user);
            if round % 3 == 0 {
                thread::sleep(Duration::from_millis(5));
                // Poll from a thread other than the sleeping one.
                assert!(queue.poll().is_none());
            }
            client
                .send_message(Header::default(), &[IoSlice::new(b"x")])
                .unwrap();
            assert_eq!(waiter.join().unwrap(), round as u64);
        });
    }
}

#[test]
fn the_source_tells_what_was_only_looked_at() {
    let options = Options::default();
    let pairs = pairs(1, &options);
    let (client, server) = &pairs[0];
    let queue = CompletionQueue::new().unwrap();
    queue.post_recv(server, 0, None);
    assert!(queue.poll().is_none());
    let is_readable = |timeout| {
        let source = (queue.as_fd(), Interest::Readable);
        sleep_on([source], Deadline::after(timeout)).unwrap()
    };
    while is_readable(Duration::ZERO) {
        assert!(queue.poll().is_none());
    }
    client
        .send_message(Header::default(), &[IoSlice::new(b"x")])
        .unwrap();
    assert!(is_readable(LONG));
    assert!(queue.wait(LONG).is_some());
}

#[test]
fn receives_that_are_posted_together_are_polled_together() {
    const COUNT: usize = 5;
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    for _ in 0..COUNT {
        client
            .send_message(Header::default(), &[IoSlice::new(b"x")])
            .unwrap();
    }
    let queue = CompletionQueue::new().unwrap();
    for user in 0..COUNT {
        queue.post_recv(&server, user as u64, None);
    }
    let posted = server.shared().receiving().posted.len();
    assert_eq!(posted, COUNT, "no call has polled");
    for user in 0..COUNT {
        assert_eq!(queue.wait(LONG).unwrap().user, user as u64);
    }
}

/// Returns a weak reference to the queue's member of an armed connection.
fn member_of(queue: &CompletionQueue, endpoint: &Endpoint) -> Weak<QueueMember> {
    let key = (Arc::as_ptr(endpoint.shared()).addr(), MemberKind::Readiness);
    let members = queue.members.lock().unwrap();
    Arc::downgrade(&members.map[&key])
}

#[test]
fn a_connection_that_another_queue_goes_on_with_is_forgotten() {
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    let (queue, other) = (
        CompletionQueue::new().unwrap(),
        CompletionQueue::new().unwrap(),
    );
    queue.arm(&server);
    let member = member_of(&queue, &server);
    let hub = Arc::downgrade(&queue.hub);
    queue.disarm(&server);
    other.arm(&server);
    assert_eq!(member.strong_count(), 0, "the connection keeps it");
    drop(queue);
    assert_eq!(hub.strong_count(), 0, "the connection keeps its queue");
    send(&client, b"x");
    assert!(Arc::ptr_eq(&wait_ready(&other), server.shared()));
}

#[test]
fn a_connection_that_moves_between_queues_is_always_reported_by_the_last_one() {
    const ROUNDS: usize = 300;
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    let queues = [(); 2].map(|()| CompletionQueue::new().unwrap());
    let mut members = Vec::new();
    for round in 0..ROUNDS {
        let (before, now) = (&queues[round % 2], &queues[(round + 1) % 2]);
        before.arm(&server);
        members.push(member_of(before, &server));
        thread::scope(|scope| {
            let sender = scope.spawn(|| send(&client, b"x"));
            if round % 3 == 0 {
                thread::yield_now();
            }
            before.disarm(&server);
            now.arm(&server);
            members.push(member_of(now, &server));
            assert!(Arc::ptr_eq(&wait_ready(now), server.shared()));
            sender.join().unwrap();
        });
        assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"x");
        now.disarm(&server);
        for queue in &queues {
            while queue.poll_done().is_some() {}
        }
    }
    let kept = members.iter().filter(|member| member.strong_count() > 0);
    assert_eq!(kept.count(), 0);
}

#[test]
fn a_dropped_queue_leaves_the_connection_armed_in_another_one() {
    let options = Options::default();
    let name = format!("shm://queue-dropped-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-dropped", &name] {
        let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
        for is_reported in [true, false] {
            let (before, now) = (
                CompletionQueue::new().unwrap(),
                CompletionQueue::new().unwrap(),
            );
            before.arm(&server);
            if is_reported {
                send(&client, b"x");
                wait_ready(&before);
                assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"x");
            }
            now.arm(&server);
            drop(before);
            send(&client, b"y");
            assert!(Arc::ptr_eq(&wait_ready(&now), server.shared()), "{address}");
            assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"y");
        }
    }
}

/// The error of a receiver that leaves the message in the device. It has read the message, so the
/// socket does not report it any more.
#[test]
fn a_message_that_another_receiver_leaves_in_the_device_is_reported() {
    let mut options = Options::default();
    let mut limit = PoolOptions::default();
    limit.max_mapped = 8 << 20;
    options.pool = Pool::new(limit);
    let name = format!("shm://queue-left-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-left", &name] {
        let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
        let queue = CompletionQueue::new().unwrap();
        let is_reported = || {
            let done = queue.wait_done(Deadline::after(Duration::from_secs(20)));
            matches!(done, Some(Done::Ready(_)))
        };
        queue.arm(&server);
        send(&client, b"longer");
        let mut memory = [0; 2];
        while !matches!(
            server.recv_into_within(&mut memory, Duration::ZERO),
            Err(RecvError::TooSmall { .. })
        ) {}
        assert!(is_reported(), "{address}: another call has too little room");
        assert_eq!(server.recv_message().unwrap().payload.as_bytes(), b"longer");
        // The other devices need no buffer of the pool for it.
        if !address.starts_with("tcp") {
            continue;
        }
        queue.arm(&server);
        let used: Vec<_> = std::iter::from_fn(|| options.pool.take(1).ok()).collect();
        send(&client, b"no room");
        while !matches!(
            server.recv_message_within(Duration::ZERO),
            Err(RecvError::NoBuffer { .. })
        ) {}
        drop(used);
        assert!(is_reported(), "{address}: the pool had no room");
        assert_eq!(
            server.recv_message().unwrap().payload.as_bytes(),
            b"no room"
        );
    }
}

#[test]
fn a_message_in_part_times_out_although_another_thread_polls() {
    let mut options = Options::default();
    options.message_timeout = Duration::from_millis(300);
    let (client, server) = pairs(1, &options).pop().unwrap();
    let queue = CompletionQueue::new().unwrap();
    let source = client.shared().source().unwrap();
    let mut socket = std::net::TcpStream::from(source.try_clone_to_owned().unwrap());
    let header = Header::new(1, [0; 3]).with_length(100);
    socket.write_all(&header.to_bytes()).unwrap();
    let has_ended = AtomicBool::new(false);
    let ends_meanwhile = thread::scope(|scope| {
        let polling = scope.spawn(|| {
            (0..500).any(|_| {
                // Each poll without result arms the device again.
                server.recv_message_within(Duration::ZERO).unwrap_err();
                thread::sleep(Duration::from_millis(20));
                has_ended.load(Ordering::Relaxed)
            })
        });
        loop {
            queue.arm(&server);
            wait_ready(&queue);
            let mut inbound = Inbound::empty();
            if server.shared().poll_reported(&mut inbound) {
                assert!(matches!(
                    inbound.other,
                    Some(Err(RecvError::Stalled { .. }))
                ));
                break has_ended.store(true, Ordering::Relaxed);
            }
        }
        polling.join().unwrap()
    });
    assert!(ends_meanwhile, "only the end of the polls made it time out");
}
