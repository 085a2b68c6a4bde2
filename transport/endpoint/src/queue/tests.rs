#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

use std::io::IoSlice;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::hub::LOOKS;
use super::*;
use crate::{connect, listen};
use jstream_base::Options;
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

#[test]
fn receives_that_are_posted_armed_are_visited_when_messages_arrive() {
    let options = Options::default();
    let name = format!("shm://queue-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-of-armed", &name] {
        let pairs = pairs_at(address, 2, &options);
        let queue = CompletionQueue::new().unwrap();
        for round in 0..100 {
            for (user, (_, server)) in (0..).zip(&pairs) {
                queue.post_recv_armed(server, user);
            }
            assert!(queue.poll().is_none());
            let before = queue.hub.visits.load(Ordering::Relaxed);
            assert!(queue.poll().is_none());
            assert_eq!(queue.hub.visits.load(Ordering::Relaxed), before, "armed");
            for (user, (client, _)) in (0..).zip(&pairs) {
                // Now and then the receiver sleeps.
                thread::scope(|scope| {
                    scope.spawn(move || {
                        thread::sleep(Duration::from_millis(u64::from(round % 25 == 0)));
                        let segments = [IoSlice::new(b"x")];
                        client.send_message(Header::default(), &segments).unwrap();
                    });
                    assert_eq!(queue.wait(LONG).unwrap().user, user, "{address}");
                });
            }
        }
    }
}

#[test]
fn receives_that_are_posted_armed_get_what_has_arrived_before() {
    let options = Options::default();
    let name = format!("shm://queue-before-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", "inproc://queue-before", &name] {
        let (client, server) = pairs_at(address, 1, &options).pop().unwrap();
        let send = |text: &[u8]| {
            let segments = [IoSlice::new(text)];
            client.send_message(Header::default(), &segments).unwrap();
        };
        let queue = CompletionQueue::new().unwrap();
        let receive = || {
            queue.post_recv_armed(&server, 0);
            match queue.wait(LONG).unwrap().outcome {
                Outcome::Received(received) => received.map(|message| message.payload),
                outcome => panic!("{outcome:?}"),
            }
        };
        send(b"in the device");
        assert_eq!(receive().unwrap().as_bytes(), b"in the device");
        // The first message goes to a ticket, whose owner then gives it up.
        let ticket = server.post_recv(None);
        send(b"kept");
        send(b"behind it");
        assert_eq!(
            server.recv_message().unwrap().payload.as_bytes(),
            b"behind it"
        );
        drop(ticket);
        assert_eq!(receive().unwrap().as_bytes(), b"kept");
        drop(client);
        assert!(receive().is_err(), "{address}: the end");
        assert!(receive().is_err(), "{address}: after the end");
    }
}

#[test]
fn a_dropped_queue_leaves_nothing() {
    let options = Options::default();
    let pairs = pairs(3, &options);
    let queue = CompletionQueue::new().unwrap();
    for (client, server) in &pairs {
        queue.post_recv(server, 0, None);
        queue.post_recv_armed(client, 0);
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

/// Returns a weak reference to the queue's member of a direction.
fn member_of(queue: &CompletionQueue, endpoint: &Endpoint) -> Weak<QueueMember> {
    let key = (Arc::as_ptr(endpoint.shared()).addr(), Half::In);
    let members = queue.members.lock().unwrap();
    Arc::downgrade(&members.map[&key])
}

#[test]
fn an_endpoint_that_another_queue_goes_on_with_is_forgotten() {
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    let (queue, other) = (
        CompletionQueue::new().unwrap(),
        CompletionQueue::new().unwrap(),
    );
    queue.post_recv(&server, 0, None);
    let member = member_of(&queue, &server);
    let hub = Arc::downgrade(&queue.hub);
    queue.forget(&server);
    // The direction has work, but not for the first queue, which may still poll it.
    other.post_recv(&server, 1, None);
    for _ in 0..=LOOKS {
        assert!(queue.poll().is_none());
    }
    assert_eq!(member.strong_count(), 0, "the endpoint keeps it");
    drop(queue);
    assert_eq!(hub.strong_count(), 0, "the endpoint keeps its queue");
    client
        .send_message(Header::default(), &[IoSlice::new(b"x")])
        .unwrap();
    assert_eq!(other.wait(LONG).unwrap().user, 1);
}

#[test]
fn what_came_before_an_endpoint_was_forgotten_is_taken() {
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    let queue = CompletionQueue::new().unwrap();
    for user in 0..3 {
        queue.post_recv(&server, user, None);
    }
    let member = member_of(&queue, &server);
    client
        .send_message(Header::default(), &[IoSlice::new(b"x")])
        .unwrap();
    // Afterwards the completion is in the queue and was not taken.
    while server.shared().receiving().posted.len() > 2 {
        member.upgrade().unwrap().visit(false);
    }
    queue.forget(&server);
    assert_eq!(queue.poll().unwrap().user, 0);
    assert!(queue.poll().is_none());
    assert_eq!(member.strong_count(), 0);
}

#[test]
fn an_endpoint_that_is_looked_at_while_it_is_forgotten_keeps_nothing() {
    const ROUNDS: usize = 300;
    let options = Options::default();
    let [(client, server)] = pairs(1, &options).try_into().unwrap();
    let queues = [(); 2].map(|()| CompletionQueue::new().unwrap());
    let done = AtomicBool::new(false);
    let mut members = Vec::new();
    thread::scope(|scope| {
        for queue in &queues {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert!(queue.wait(Duration::from_micros(50)).is_none());
                }
            });
        }
        for round in 0..ROUNDS {
            let queue = &queues[round % 2];
            queue.post_recv(&server, 0, None);
            members.push(member_of(queue, &server));
            if round % 3 == 0 {
                thread::yield_now();
            }
            queue.forget(&server);
        }
        done.store(true, Ordering::Relaxed);
    });
    for queue in &queues {
        assert!(queue.poll().is_none());
    }
    let kept = members.iter().filter(|member| member.strong_count() > 0);
    assert_eq!(kept.count(), 0);
    drop(client);
}
