//! Active messages over all devices: requests, replies, returned messages, and the execution of
//! handlers.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream::Received;
use jstream_transport::active::{
    Backpressure, Guarded, Handlers, JoinError, LookupError, Outcome, Peer, PollGroup, Reason,
    Replier, Request, RequestError, Returned, Settings, yield_now,
};
use testing::tasks::block_on;
use testing::transport::peers::joined_by;
use testing::transport::{default_pair, filled};
use testing::{LONG, over_devices};

/// Runs `ask` with a client whose peer serves the handlers `there` until the client is gone.
fn asking(scheme: &str, there: &Handlers, ask: impl FnOnce(Peer)) {
    let (client, server) = joined_by(scheme, &Handlers::none(), there, &Settings::default());
    let serving = thread::spawn(move || server.serve(None));
    ask(client);
    serving.join().unwrap();
}

fn came_back(outcome: Result<impl std::fmt::Debug, RequestError>) -> Returned {
    match outcome {
        Err(RequestError::Returned { returned, .. }) => *returned,
        other => panic!("{other:?}"),
    }
}

fn requests_are_answered(scheme: &str) {
    let handlers = Handlers::builder()
        .on("double", |request| {
            let word = request.word() * 2;
            let bytes: Vec<u8> = request.bytes().iter().rev().copied().collect();
            request.reply(word, &bytes);
        })
        .on("echo", Request::echo)
        .on_async("later", |request| async move {
            yield_now().await;
            request.reply(1, b"late");
        })
        .function("sum", |numbers: Received<Vec<f64>>| {
            numbers.get().iter().sum::<f64>()
        })
        .async_function("count", |text: Received<String>| async move {
            yield_now().await;
            text.get().len() as u64
        })
        .on("worker", |request| request.reply(7, &[]))
        .worker()
        .build();
    let counted = handlers.clone();
    asking(scheme, &handlers, |peer| {
        let double = peer.handler("double").unwrap();
        for length in [0, 1, 80, 81, 5000, 100_000, 3_000_000] {
            let bytes = testing::patterns::bytes(length, 1);
            let reply = peer.request(double, 21, &bytes).unwrap().wait().unwrap();
            assert_eq!(reply.word, 42);
            assert!(reply.payload.as_bytes().iter().rev().eq(bytes.iter()));
        }
        let echo = peer.handler("echo").unwrap();
        let jbuf = filled(&testing::patterns::bytes(70_000, 2));
        let reply = peer
            .request_with(echo, 3, jbuf, Backpressure::Queue)
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!(
            reply.payload.as_bytes(),
            testing::patterns::bytes(70_000, 2)
        );
        let later = peer.handler("later").unwrap();
        let reply = peer.request(later, 0, &[]).unwrap().wait().unwrap();
        assert_eq!((reply.word, reply.payload.as_bytes()), (1, &b"late"[..]));
        let worker = peer.handler("worker").unwrap();
        let reply = peer.request(worker, 0, &[]).unwrap().wait().unwrap();
        assert_eq!(reply.word, 7);
        let sum = peer.function::<Vec<f64>, f64>("sum").unwrap();
        let numbers: Vec<f64> = (0..20_000).map(f64::from).collect();
        let result = peer.call(&sum, &numbers).unwrap().wait().unwrap();
        assert_eq!(*result.get(), 199_990_000.0);
        let count = peer.function::<String, u64>("count").unwrap();
        let result = block_on(peer.call(&count, &"four".to_owned()).unwrap());
        assert_eq!(*result.unwrap().get(), 4);
    });
    let counters = counted.counters();
    assert_eq!(counters.ran_inline, 9, "{counters:?}");
    assert_eq!(counters.moved, 3, "{counters:?}");
    assert_eq!(counted.counters_of("later").unwrap().moved, 1);
}

fn tasks_wait_for_answers(scheme: &str) {
    let handlers = Handlers::builder()
        .on("inc", |request| {
            let word = request.word() + 1;
            request.reply(word, &[]);
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let inc = peer.handler("inc").unwrap();
        block_on(async {
            for word in 0..200 {
                let reply = peer
                    .request_with(inc, word, b"", Backpressure::Queue)
                    .unwrap()
                    .await
                    .unwrap();
                assert_eq!(reply.word, word + 1);
            }
            // More requests than there is credit for.
            let tickets: Vec<_> = (0..1000)
                .map(|word| {
                    peer.request_with(inc, word, b"", Backpressure::Queue)
                        .unwrap()
                })
                .collect();
            for (word, ticket) in (0..).zip(tickets) {
                assert_eq!(ticket.await.unwrap().word, word + 1);
            }
        });
    });
}

fn what_is_not_delivered_comes_back(scheme: &str) {
    let handlers = Handlers::builder()
        .on("refuse", |request| request.refuse("not today"))
        .on("panic", |request: Request| {
            assert!(request.word() == u64::MAX, "a handler that panics");
        })
        .on_async("panic later", |request: Request| async move {
            yield_now().await;
            assert!(request.word() == u64::MAX, "a handler that panics");
        })
        .on("drop", |_request: Request| {})
        .on("busy", Request::nack)
        .on("twice", |request| {
            let (_, mut replier) = request.into_parts();
            assert!(replier.reply_in_place(6, &[]));
            replier.refuse("answered already");
        })
        .function("sum", |numbers: Received<Vec<u64>>| {
            numbers.get().iter().sum::<u64>()
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let of = |name: &str, word, bytes: &[u8]| {
            let handler = peer.handler(name).unwrap();
            came_back(peer.request(handler, word, bytes).unwrap().wait())
        };
        let refused = of("refuse", 5, b"payload");
        assert_eq!(refused.reason, Reason::Refused);
        assert_eq!((refused.text.as_str(), refused.word), ("not today", 5));
        assert_eq!(refused.payload.unwrap().as_bytes(), b"payload");
        assert_eq!(of("panic", 0, &[]).reason, Reason::Panicked);
        assert_eq!(of("panic later", 0, &[]).reason, Reason::Panicked);
        assert_eq!(of("drop", 0, &[]).reason, Reason::Unanswered);
        // The second answer is ignored, and returns no credit.
        let twice = peer.handler("twice").unwrap();
        for _ in 0..3 {
            assert_eq!(
                peer.request(twice, 0, b"once")
                    .unwrap()
                    .wait()
                    .unwrap()
                    .word,
                6
            );
        }
        let busy = of("busy", 9, b"again");
        assert_eq!((busy.reason, busy.word), (Reason::Busy, 9));
        assert_eq!(busy.payload.unwrap().as_bytes(), b"again");
        // Messages that have no ticket.
        for name in ["refuse", "panic", "drop"] {
            let handler = peer.handler(name).unwrap();
            peer.send(handler, 4, b"one way").unwrap();
        }
        let mut returned = Vec::new();
        while returned.len() < 2 {
            peer.poll();
            returned.extend(peer.attendant().take_returned());
        }
        let reasons: Vec<_> = returned.iter().map(|returned| returned.reason).collect();
        assert_eq!(reasons, [Reason::Refused, Reason::Panicked]);
        assert_eq!(returned[0].payload.as_ref().unwrap().as_bytes(), b"one way");
        // Unknown names and other types.
        let unknown = peer.handler("nothing").unwrap_err();
        assert!(matches!(unknown, LookupError::Unknown { .. }));
        assert!(unknown.to_string().contains("\"panic later\""), "{unknown}");
        let other = peer.function::<Vec<u32>, u64>("drop").unwrap_err();
        let text = other.to_string();
        assert!(text.contains("u32") && text.contains("bytes"), "{text}");
        peer.handler("sum").unwrap_err();
        peer.function::<Vec<u64>, u64>("sum").unwrap();
    });
}

fn answers_may_be_given_later(scheme: &str) {
    let kept: Arc<Mutex<Vec<Replier>>> = Arc::default();
    let keep = kept.clone();
    let handlers = Handlers::builder()
        .on("keep", move |request| {
            let (_, replier) = request.into_parts();
            keep.lock().unwrap().push(replier);
        })
        .on("release", move |request| {
            for (word, replier) in (0..).zip(kept.lock().unwrap().drain(..)) {
                replier.reply(word, &[]);
            }
            request.reply(0, &[]);
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let keep = peer.handler("keep").unwrap();
        let release = peer.handler("release").unwrap();
        let mut first = peer.request(keep, 0, &[]).unwrap();
        let second = peer.request(keep, 0, &[]).unwrap();
        assert!(first.wait_timeout(Duration::from_millis(20)).is_none());
        peer.request(release, 0, &[]).unwrap().wait().unwrap();
        assert_eq!(first.wait_timeout(LONG).unwrap().unwrap().word, 0);
        assert_eq!(second.wait().unwrap().word, 1);
    });
}

fn handlers_wait_for_conditions(scheme: &str) {
    let count = Arc::new(Guarded::new(0u64));
    let (waited, changed) = (count.clone(), count);
    let handlers = Handlers::builder()
        .on_async("await value", move |request| {
            let count = waited.clone();
            async move {
                let wanted = request.word();
                let value = *count.when(|value| *value >= wanted).await;
                request.reply(value, &[]);
            }
        })
        .on("inc", move |request| {
            let mut value = changed.lock();
            *value += 1;
            let now = *value;
            drop(value);
            request.reply(now, &[]);
        })
        .build();
    let counted = handlers.clone();
    asking(scheme, &handlers, |peer| {
        let value = peer.handler("await value").unwrap();
        let inc = peer.handler("inc").unwrap();
        for turn in 1..=100 {
            let waiting: Vec<_> = (0..3)
                .map(|_| peer.request(value, turn, &[]).unwrap())
                .collect();
            let now = peer.request(inc, 0, &[]).unwrap().wait().unwrap().word;
            assert_eq!(now, turn);
            for ticket in waiting {
                assert_eq!(ticket.wait().unwrap().word, turn);
            }
            // A condition that already holds is answered at once.
            let there = peer.request(value, turn, &[]).unwrap().wait().unwrap();
            assert_eq!(there.word, turn);
        }
    });
    let counters = counted.counters_of("await value").unwrap();
    assert_eq!((counters.ran_inline, counters.moved), (100, 300));
}

fn what_can_not_run_runs_again_or_goes_back(scheme: &str) {
    let (rerun, nacked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let handlers = Handlers::builder()
        .on("rerun", move |request: Request| {
            if rerun.fetch_add(1, Ordering::Relaxed) % 5 < 4 {
                return Outcome::Rerun(request);
            }
            request.echo();
            Outcome::Done
        })
        .on("nack", move |request: Request| {
            if nacked.fetch_add(1, Ordering::Relaxed) % 3 < 2 {
                request.nack();
            } else {
                request.echo();
            }
        })
        .build();
    let counted = handlers.clone();
    asking(scheme, &handlers, |peer| {
        for name in ["rerun", "nack"] {
            let handler = peer.handler(name).unwrap();
            for _ in 0..10 {
                let reply = peer.request(handler, 0, b"again").unwrap().wait().unwrap();
                assert_eq!(reply.payload.as_bytes(), b"again");
            }
        }
        let nack = peer.handler("nack").unwrap();
        let reply = block_on(peer.request(nack, 0, b"task").unwrap()).unwrap();
        assert_eq!(reply.payload.as_bytes(), b"task");
    });
    assert_eq!(counted.counters_of("rerun").unwrap().rerun, 40);
    assert_eq!(counted.counters_of("nack").unwrap().refused, 22);
}

fn both_sides_ask_each_other_inside_their_handlers(scheme: &str) {
    fn table() -> Handlers {
        Handlers::builder()
            .on("down", |request: Request| {
                let word = request.word();
                let answer = if word == 0 {
                    0
                } else {
                    let peer = request.peer();
                    let down = peer.handler("down").unwrap();
                    peer.request(down, word - 1, &[])
                        .unwrap()
                        .wait()
                        .unwrap()
                        .word
                        + 1
                };
                request.reply(answer, &[]);
            })
            .on_async("down async", |request: Request| async move {
                let word = request.word();
                let answer = if word == 0 {
                    0
                } else {
                    let peer = request.peer();
                    let down = peer.handler("down async").unwrap();
                    let ticket = peer
                        .request_with(down, word - 1, b"", Backpressure::Queue)
                        .unwrap();
                    ticket.await.unwrap().word + 1
                };
                request.reply(answer, &[]);
            })
            .build()
    }
    let (one, other) = joined_by(scheme, &table(), &table(), &Settings::default());
    let serving = thread::spawn(move || other.serve(None));
    for name in ["down", "down async"] {
        let down = one.handler(name).unwrap();
        // The last depth exceeds the limit for nested waits of a thread.
        for depth in [0, 1, 5, 17] {
            let reply = one.request(down, depth, &[]).unwrap().wait().unwrap();
            assert_eq!(reply.word, depth, "{name}");
        }
    }
    one.close();
    drop(one);
    serving.join().unwrap();
}

fn requests_are_cancelled(scheme: &str) {
    struct Noted(Arc<AtomicU64>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let ended = Arc::new(AtomicU64::new(0));
    let noted = ended.clone();
    let never = Arc::new(Guarded::new(()));
    let handlers = Handlers::builder()
        .on_async("wait", move |request: Request| {
            let (never, noted) = (never.clone(), Noted(noted.clone()));
            async move {
                let _noted = noted;
                let _request = request;
                drop(never.when(|()| false).await);
            }
        })
        .on("ended", {
            let ended = ended.clone();
            move |request: Request| request.reply(ended.load(Ordering::SeqCst), &[])
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let wait = peer.handler("wait").unwrap();
        let count = peer.handler("ended").unwrap();
        for turn in 1..=20 {
            let ticket = peer.request(wait, 0, &[]).unwrap();
            ticket.cancel();
            let now = peer.request(count, 0, &[]).unwrap().wait().unwrap().word;
            assert_eq!(now, turn);
        }
        // Open requests end with the connection.
        let left = peer.request(wait, 0, &[]).unwrap();
        peer.request(count, 0, &[]).unwrap().wait().unwrap();
        peer.close();
        assert!(matches!(left.wait(), Err(RequestError::Lost { .. })));
        assert!(matches!(
            peer.request(wait, 0, &[]),
            Err(RequestError::Ended { .. })
        ));
    });
    assert_eq!(ended.load(Ordering::SeqCst), 21);
}

fn a_side_that_ends_gives_requests_back(scheme: &str) {
    let handlers = Handlers::builder()
        .on("stop", |request: Request| {
            request.peer().stop_serving();
            request.reply(0, &[]);
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let stop = peer.handler("stop").unwrap();
        peer.request(stop, 0, &[]).unwrap().wait().unwrap();
        let returned = came_back(peer.request(stop, 1, b"more").unwrap().wait());
        assert_eq!(returned.reason, Reason::Ending);
        assert_eq!(returned.payload.unwrap().as_bytes(), b"more");
    });
}

/// A side that says that it runs no more before it closes is believed. Otherwise a request may have
/// run.
fn requests_behind_an_announced_end_did_not_run(scheme: &str) {
    let handlers = Handlers::builder().on("echo", Request::echo).build();
    for is_announced in [true, false] {
        let settings = Settings::default();
        let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
        let echo = client.handler("echo").unwrap();
        let answered = client.request(echo, 1, b"one").unwrap();
        while !server.status().has_served {
            server.poll();
        }
        // No thread serves this one.
        let sent = client.request(echo, 2, b"two").unwrap();
        assert_eq!(server.status().under_way, 0);
        if is_announced {
            server.attendant().announce_end();
        }
        server.close();
        assert_eq!(answered.wait().unwrap().payload.as_bytes(), b"one");
        let later = || {
            client
                .request(echo, 3, b"three")
                .and_then(|ticket| ticket.wait())
        };
        if is_announced {
            for _ in 0..2 {
                let returned = came_back(later());
                assert_eq!((returned.reason, returned.handler), (Reason::Ending, 0));
                assert!(returned.payload.is_none() && !returned.reason.may_have_run());
            }
            assert_eq!(came_back(sent.wait()).reason, Reason::Ending);
        } else {
            assert!(matches!(sent.wait(), Err(RequestError::Lost { .. })));
            assert!(!matches!(later(), Err(RequestError::Returned { .. })));
        }
        assert!(client.attendant().take_returned().is_none());
    }
}

fn many_threads_ask_over_one_connection(scheme: &str) {
    let handlers = Handlers::builder()
        .on("inc", |request| {
            let word = request.word() + 1;
            request.reply(word, &[]);
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let inc = peer.handler("inc").unwrap();
        thread::scope(|scope| {
            for thread in 0..4u64 {
                let peer = &peer;
                scope.spawn(move || {
                    for turn in 0..300 {
                        let word = thread * 1000 + turn;
                        let reply = peer.request(inc, word, &[]).unwrap().wait().unwrap();
                        assert_eq!(reply.word, word + 1);
                    }
                });
            }
        });
    });
}

fn connections_move_between_groups_under_load(scheme: &str) {
    let handlers = Handlers::builder().on("echo", Request::echo).build();
    let groups = [PollGroup::default(), PollGroup::default()];
    let serving: Vec<_> = groups.iter().map(|group| group.start().unwrap()).collect();
    let peers: Vec<_> = (0..3)
        .map(|_| joined_by(scheme, &Handlers::none(), &handlers, &Settings::default()))
        .collect();
    let asked: Vec<_> = peers
        .iter()
        .map(|(client, server)| {
            groups[0].add(server);
            let client = client.clone();
            thread::spawn(move || {
                let echo = client.handler("echo").unwrap();
                for turn in 0..400u64 {
                    let bytes = turn.to_le_bytes();
                    let mut ticket = client.request(echo, 0, &bytes).unwrap();
                    let reply = ticket.wait_timeout(LONG).expect("an answer").unwrap();
                    assert_eq!(reply.payload.as_bytes(), bytes);
                    if turn % 50 == 0 {
                        thread::sleep(Duration::from_millis(4));
                    }
                }
            })
        })
        .collect();
    let mut turn = 0;
    while asked.iter().any(|asked| !asked.is_finished()) {
        for (_, server) in &peers {
            turn += 1;
            groups[turn % 2].add(server);
            if turn % 7 == 0 {
                groups[turn % 2].remove(server);
                server.poll();
                groups[turn % 2].add(server);
            }
        }
        thread::sleep(Duration::from_micros(300));
    }
    for asked in asked {
        asked.join().unwrap();
    }
    drop(serving);
}

/// The former group has taken the report of the connection but not armed it again when the
/// connection moves.
fn a_moved_connection_is_served_after_its_former_group_is_dropped(scheme: &str) {
    for is_removed_first in [false, true] {
        let groups = [(); 2].map(|()| Arc::new(PollGroup::new(Duration::ZERO)));
        let [from, to] = groups.each_ref().map(Arc::downgrade);
        let handlers = Handlers::builder()
            .on("move", move |request| {
                let peer = request.peer();
                if is_removed_first {
                    from.upgrade().unwrap().remove(&peer);
                }
                to.upgrade().unwrap().add(&peer);
                request.reply(0, &[]);
            })
            .on("echo", Request::echo)
            .build();
        // A group with a single connection sleeps in that connection, and arms nothing.
        let join = || joined_by(scheme, &Handlers::none(), &handlers, &Settings::default());
        let [(client, server), beside_it, behind_it] = [(); 3].map(|()| join());
        groups[0].add(&server);
        groups[0].add(&beside_it.1);
        groups[1].add(&behind_it.1);
        let [former, current] = groups;
        let [serving_former, _serving] = [&former, &current].map(|group| group.start().unwrap());
        let [moves, echo] = ["move", "echo"].map(|name| client.handler(name).unwrap());
        let ask = |handler| {
            // The serving thread gets time to arm its connections and to sleep.
            thread::sleep(Duration::from_millis(20));
            let mut ticket = client.request(handler, 0, &[]).unwrap();
            ticket.wait_timeout(LONG).expect("an answer").unwrap();
        };
        ask(moves);
        thread::sleep(Duration::from_millis(20));
        drop((serving_former, beside_it));
        let is_dropped = Arc::downgrade(&former);
        drop(former);
        assert_eq!(is_dropped.strong_count(), 0);
        ask(echo);
        drop(behind_it);
    }
}

/// A value attached to a request. Its drop panics.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("panic in the drop of an attached value");
        }
    }
}

fn a_lent_request_comes_back_where_it_is_left(scheme: &str) {
    let keep = |mut request: Request| {
        request.keep(Box::new(PanicsInDrop));
        Some(request)
    };
    let handlers = Handlers::builder()
        .on_lent("leave", |_| Outcome::Done)
        .in_order(1, keep)
        .on_lent("leave, at a worker", |_| Outcome::Done)
        .worker()
        .on_lent("panic", |_| panic!("a handler that panics"))
        .in_order(1, keep)
        .on_lent("panic, at a worker", |_| panic!("a handler that panics"))
        .worker()
        .on_lent("answer", |lent| match lent.take() {
            Some(request) if request.word() > 0 => {
                request.reply(9, &[]);
                Outcome::Done
            }
            Some(request) => {
                request.refuse("not with this word");
                Outcome::Done
            }
            None => Outcome::Done,
        })
        .build();
    asking(scheme, &handlers, |peer| {
        let ask = |name: &str, word| {
            let handler = peer.handler(name).unwrap();
            peer.request(handler, word, b"once").unwrap().wait()
        };
        for _ in 0..3 {
            for name in ["leave", "leave, at a worker"] {
                assert_eq!(came_back(ask(name, 0)).reason, Reason::Unanswered);
            }
            for name in ["panic", "panic, at a worker"] {
                assert_eq!(came_back(ask(name, 0)).reason, Reason::Panicked);
            }
            assert_eq!(came_back(ask("answer", 0)).reason, Reason::Refused);
            assert_eq!(ask("answer", 1).unwrap().word, 9);
            // The value attached to a request with word 1 panics when it is dropped.
            for name in ["leave", "panic"] {
                assert_eq!(came_back(ask(name, 1)).reason, Reason::Panicked);
            }
        }
        // Messages that have no ticket.
        for name in ["leave", "panic"] {
            let handler = peer.handler(name).unwrap();
            peer.send(handler, 0, b"one way").unwrap();
        }
        let returned = std::iter::repeat_with(|| {
            peer.poll();
            peer.attendant().take_returned()
        });
        let returned = returned.flatten().next().unwrap();
        assert_eq!(returned.reason, Reason::Panicked);
        let counted = handlers.counters_of("leave").unwrap();
        assert_eq!((counted.ran_inline, counted.panicked), (4, 3));
    });
}

over_devices!(inproc shm uds tcp uring: {
    requests_are_answered
    tasks_wait_for_answers
    what_is_not_delivered_comes_back
    answers_may_be_given_later
    handlers_wait_for_conditions
    what_can_not_run_runs_again_or_goes_back
    both_sides_ask_each_other_inside_their_handlers
    requests_are_cancelled
    a_side_that_ends_gives_requests_back
    requests_behind_an_announced_end_did_not_run
    many_threads_ask_over_one_connection
    connections_move_between_groups_under_load
    a_moved_connection_is_served_after_its_former_group_is_dropped
    a_lent_request_comes_back_where_it_is_left
});

#[test]
fn who_is_silent_or_speaks_otherwise_does_not_join() {
    let (client, server) = default_pair("inproc");
    let mut settings = Settings::default();
    settings.handshake_timeout = Duration::from_millis(20);
    let silent = Peer::join(client, &Handlers::none(), settings).unwrap_err();
    assert!(matches!(silent, JoinError::Receive(_)), "{silent}");
    drop(server);
    let (client, server) = default_pair("inproc");
    server.send(&7u64).unwrap();
    let other = Peer::join(client, &Handlers::none(), Settings::default()).unwrap_err();
    assert!(matches!(other, JoinError::NotActive { .. }), "{other}");
}

#[test]
fn a_handler_that_runs_for_long_is_counted() {
    let handlers = Handlers::builder()
        .on("slow", |request| {
            thread::sleep(Duration::from_millis(5));
            request.reply(0, &[]);
        })
        .budget(Duration::from_millis(1))
        .on("quick", |request| request.reply(0, &[]))
        .budget(LONG)
        .build();
    let counted = handlers.clone();
    asking("inproc", &handlers, |peer| {
        for name in ["slow", "quick"] {
            let handler = peer.handler(name).unwrap();
            peer.request(handler, 0, &[]).unwrap().wait().unwrap();
        }
    });
    assert_eq!(counted.counters_of("slow").unwrap().overrun, 1);
    assert_eq!(counted.counters_of("quick").unwrap().overrun, 0);
}
