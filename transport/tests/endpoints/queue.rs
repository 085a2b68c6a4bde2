//! A completion queue for the operations of many endpoints.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jstream::Pool;
use jstream_transport::{
    Completion, CompletionQueue, Endpoint, Options, Outcome, RecvError, SendError,
};
use testing::patterns::bytes;
use testing::transport::queues::received;
use testing::transport::{SCHEMES, header, pair, send};
use testing::{LONG, SHORT};

/// Returns the number of jbufs of the pool that are in use.
fn used(pool: &Pool) -> usize {
    pool.stats().in_use
}

#[test]
fn many_endpoints_are_served_by_one_thread() {
    const PAIRS: u64 = 40;
    const ROUNDS: u64 = 50;
    for scheme in SCHEMES {
        let options = Options::default();
        let pairs: Vec<_> = (0..PAIRS)
            .map(|_| pair(scheme, &options, &options))
            .collect();
        let queue = CompletionQueue::new().unwrap();
        for (user, (_, server)) in (0..).zip(&pairs) {
            queue.post_recv(server, user, options.pool.take(5000).unwrap());
        }
        thread::scope(|scope| {
            for part in pairs.chunks(10) {
                let pool = &options.pool;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        for (number, (client, _)) in (0..).zip(part) {
                            let payload = bytes(((round * 97 + number) % 5000) as usize, round);
                            send(client, round, &payload, pool);
                        }
                        for (client, _) in part {
                            let reply = client.recv_message_within(LONG).unwrap();
                            assert_eq!(reply.header.words[0], round + 1000);
                        }
                    }
                });
            }
            let mut rounds = vec![0; PAIRS as usize];
            for _ in 0..2 * PAIRS * ROUNDS {
                let Completion { user, outcome, .. } = queue.wait(LONG).unwrap();
                let server = &pairs[user as usize].1;
                match outcome {
                    Outcome::Received(message) => {
                        let message = message.unwrap();
                        let round = message.header.words[0];
                        assert_eq!(round, rounds[user as usize], "{scheme}: in order");
                        rounds[user as usize] += 1;
                        let length = ((round * 97 + user % 10) % 5000) as usize;
                        assert!(message.payload.as_bytes() == bytes(length, round));
                        queue.post_send(server, user, header(round + 1000), message.payload);
                        if round + 1 < ROUNDS {
                            queue.post_recv(server, user, options.pool.take(5000).unwrap());
                        }
                    }
                    Outcome::Sent(sent) => drop(sent.unwrap()),
                    _ => unreachable!(),
                }
            }
        });
        assert_eq!(queue.pending(), 0);
        assert!(queue.poll().is_none());
        drop((queue, pairs));
        assert_eq!(used(&options.pool), 0, "{scheme}");
    }
}

#[test]
fn who_only_polls_is_served_too() {
    const PAIRS: u64 = 64;
    const ROUNDS: u64 = 200;
    fn next(queue: &CompletionQueue) -> Completion {
        let begun = Instant::now();
        loop {
            if let Some(completion) = queue.poll() {
                return completion;
            }
            assert!(begun.elapsed() < LONG, "no completion in time");
        }
    }
    fn serve(endpoints: &[Endpoint], queue: &CompletionQueue, count: u64, answer: bool) {
        for _ in 0..count {
            let Completion { user, outcome, .. } = next(queue);
            let Outcome::Received(message) = outcome else {
                panic!("only receives are posted");
            };
            let message = message.unwrap();
            let endpoint = &endpoints[user as usize];
            queue.post_recv(endpoint, user, message.payload.into_empty());
            if answer {
                endpoint.send_message(message.header, &[]).unwrap();
            }
        }
    }
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.spin = Duration::MAX;
        let pairs = (0..PAIRS).map(|_| pair(scheme, &options, &options));
        let (clients, servers): (Vec<_>, Vec<_>) = pairs.unzip();
        let queue_of = |endpoints: &[Endpoint]| {
            let queue = CompletionQueue::new().unwrap();
            for (user, endpoint) in (0..).zip(endpoints) {
                queue.post_recv(endpoint, user, None);
            }
            queue
        };
        thread::scope(|scope| {
            scope.spawn(|| serve(&servers, &queue_of(&servers), PAIRS * ROUNDS, true));
            let queue = queue_of(&clients);
            for round in 0..ROUNDS {
                for client in &clients {
                    client.send_message(header(round), &[]).unwrap();
                }
                serve(&clients, &queue, PAIRS, false);
            }
        });
    }
}

#[test]
fn completions_of_an_endpoint_come_in_order() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        for user in 0..100 {
            queue.post_recv(&server, user, None);
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..100 {
                    send(
                        &client,
                        number,
                        &bytes(number as usize * 700, number),
                        &options.pool,
                    );
                }
            });
            for number in 0..100 {
                let (user, word, payload) = received(queue.wait(LONG).unwrap());
                assert_eq!((user, word), (number, number), "{scheme}");
                assert!(payload == bytes(number as usize * 700, number), "{scheme}");
            }
        });
        let sends = CompletionQueue::new().unwrap();
        let sender = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                for user in 0..100 {
                    let filled = options.pool.take(100_000).unwrap();
                    let filled = filled.copy_from(&bytes(100_000, user)).unwrap();
                    sends.post_send(&client, user, header(user), filled);
                }
                for user in 0..100 {
                    let completion = sends.wait(LONG).unwrap();
                    assert_eq!(completion.user, user);
                    assert!(matches!(completion.outcome, Outcome::Sent(Ok(_))));
                }
            });
            for number in 0..100 {
                let message = server.recv_message_within(LONG).unwrap();
                assert_eq!(message.header.words[0], number);
                assert!(message.payload.as_bytes() == bytes(100_000, number));
            }
            sender.join()
        });
        sender.unwrap();
    }
}

/// Four threads wait at one queue, and four others send. Each message is received once.
#[test]
fn threads_share_a_queue() {
    const PAIRS: usize = 8;
    const MESSAGES: u64 = 2000;
    for scheme in SCHEMES {
        let options = Options::default();
        let pairs: Vec<_> = (0..PAIRS)
            .map(|_| pair(scheme, &options, &options))
            .collect();
        let queue = CompletionQueue::new().unwrap();
        for (user, (_, server)) in (0..).zip(&pairs) {
            for _ in 0..4 {
                queue.post_recv(server, user, None);
            }
        }
        let (sum, count) = (AtomicU64::new(0), AtomicU64::new(0));
        let all = PAIRS as u64 * MESSAGES;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while count.load(Ordering::Relaxed) < all {
                        // The thread that receives the last message does not wake the others.
                        let Some(completion) = queue.wait(SHORT) else {
                            continue;
                        };
                        let (user, number, _) = received(completion);
                        sum.fetch_add(number + 1, Ordering::Relaxed);
                        count.fetch_add(1, Ordering::Relaxed);
                        queue.post_recv(&pairs[user as usize].1, user, None);
                    }
                });
            }
            for part in pairs.chunks(2) {
                let pool = &options.pool;
                scope.spawn(move || {
                    for number in 0..MESSAGES {
                        for (client, _) in part {
                            send(client, number, b"work", pool);
                        }
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), all, "{scheme}");
        assert_eq!(
            sum.into_inner(),
            PAIRS as u64 * MESSAGES * (MESSAGES + 1) / 2
        );
    }
}

#[test]
fn the_death_of_one_endpoint_is_nobody_elses() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let (other_client, other) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        for user in 0..3 {
            queue.post_recv(&server, user, options.pool.take(100).unwrap());
        }
        queue.post_recv(&other, 10, options.pool.take(100).unwrap());
        send(&client, 0, b"last words", &options.pool);
        drop(client);
        assert_eq!(received(queue.wait(LONG).unwrap()).2, b"last words");
        for user in 1..3 {
            let completion = queue.wait(LONG).unwrap();
            assert_eq!(completion.user, user);
            let Outcome::Received(Err(ended)) = completion.outcome else {
                panic!("{scheme}: {:?}", completion.outcome);
            };
            assert!(
                matches!(ended.error, RecvError::Closed { .. }),
                "{scheme}: {ended:?}"
            );
            assert!(
                ended.buffer.unwrap().capacity() >= 100,
                "the jbuf comes back"
            );
        }
        let filled = options.pool.take(5).unwrap().copy_from(b"hello").unwrap();
        server.close();
        queue.post_send(&server, 4, header(0), filled);
        let completion = queue.wait(LONG).unwrap();
        let Outcome::Sent(Err(unsent)) = completion.outcome else {
            panic!("{scheme}: {:?}", completion.outcome);
        };
        assert!(
            matches!(unsent.error, SendError::ClosedLocally { .. }),
            "{scheme}: {unsent:?}"
        );
        assert_eq!(unsent.filled.as_bytes(), b"hello");
        drop(unsent);
        assert!(queue.wait(Duration::ZERO).is_none());
        send(&other_client, 7, b"alive", &options.pool);
        assert_eq!(
            received(queue.wait(LONG).unwrap()),
            (10, 7, b"alive".to_vec())
        );
        drop((queue, server, other, other_client));
        assert_eq!(used(&options.pool), 0, "{scheme}");
    }
}

#[test]
fn an_operation_keeps_its_connection_until_it_is_taken() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        queue.post_recv(&server, 0, None);
        drop(server);
        send(&client, 5, b"still there", &options.pool);
        assert_eq!(
            received(queue.wait(LONG).unwrap()),
            (0, 5, b"still there".to_vec())
        );
        let end = client.recv_message_within(LONG).unwrap_err();
        assert!(
            matches!(end, RecvError::Closed { .. } | RecvError::Lost { .. }),
            "{scheme}: {end}"
        );
        assert_eq!(used(&options.pool), 0, "{scheme}");
    }
}

#[test]
fn a_dropped_queue_loses_no_message() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        for round in 0..20 {
            let queue = CompletionQueue::new().unwrap();
            for user in 0..3 {
                queue.post_recv(&server, user, options.pool.take(1000).unwrap());
            }
            if round % 2 == 0 {
                assert!(queue.poll().is_none());
            }
            drop(queue);
            let gone = CompletionQueue::new().unwrap();
            let filled = options.pool.take(10).unwrap().copy_from(&[1; 10]).unwrap();
            gone.post_send(&client, 0, header(round), filled);
            drop(gone);
            let message = server.recv_message_within(LONG).unwrap();
            assert_eq!(message.header.words[0], round, "{scheme}");
        }
        drop((client, server));
        assert_eq!(used(&options.pool), 0, "{scheme}");
    }
}

#[test]
fn waiting_ends() {
    let queue = CompletionQueue::new().unwrap();
    assert!(queue.poll().is_none());
    assert!(queue.wait(Duration::ZERO).is_none());
    assert!(queue.wait(SHORT).is_none());
    let options = Options::default();
    let (_client, server) = pair("tcp", &options, &options);
    queue.post_recv(&server, 0, None);
    assert!(queue.wait(SHORT).is_none());
    assert_eq!(queue.pending(), 1);
}

#[test]
fn users_are_told_apart() {
    let options = Options::default();
    let pairs: Vec<_> = (0..3).map(|_| pair("inproc", &options, &options)).collect();
    let queues = [(); 2].map(|()| CompletionQueue::new().unwrap());
    // Operations of two queues on one endpoint, and of three endpoints on one queue.
    for (number, (_, server)) in (0..).zip(&pairs) {
        queues[0].post_recv(server, number, None);
        queues[1].post_recv(server, number + 10, None);
    }
    for (client, _) in &pairs {
        for number in 0..2 {
            send(client, number, b"", &options.pool);
        }
    }
    for (which, queue) in (0u64..).zip(&queues) {
        let mut seen = HashMap::new();
        for _ in 0..3 {
            let (user, number, _) = received(queue.wait(LONG).unwrap());
            seen.insert(user, number);
        }
        let expected: HashMap<_, _> = (0..3).map(|user| (user + 10 * which, which)).collect();
        assert_eq!(seen, expected);
        assert!(queue.poll().is_none());
    }
}
