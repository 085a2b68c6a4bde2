//! A thread that serves a single connection sleeps in that connection's device, and wakes up for
//! every other event too.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{future, hint};

use jstream_transport::active::{Handlers, Peer, PollGroup, Request, Serving, Ticket};
use testing::transport::peers::joined;
use testing::{LONG, over_devices};

/// The time that a serving thread gets to fall asleep.
const QUIET: Duration = Duration::from_millis(10);

/// A payload length, in bytes, that exceeds what a connection buffers while its peer does not
/// receive.
const MUCH: usize = 3 << 20;

/// Returns handlers with an `echo` that replies with the word and the bytes of the request.
fn echo() -> Handlers {
    let echo = |request: Request| {
        let (word, bytes) = (request.word(), request.bytes().to_vec());
        request.reply(word, &bytes);
    };
    Handlers::builder().on("echo", echo).build()
}

/// Returns a client, and a server that echoes.
fn served(scheme: &str) -> (Peer, Peer) {
    joined(scheme, &Handlers::none(), &echo())
}

fn asked(peer: &Peer, word: u64, bytes: &[u8]) -> Ticket {
    let handler = peer.handler("echo").unwrap();
    peer.request(handler, word, bytes).unwrap()
}

/// Waits for the answer, and checks its word and its length.
fn answered(mut asked: Ticket, word: u64, length: usize) {
    let answer = asked.wait_timeout(LONG).expect("no answer in time");
    let answer = answer.unwrap();
    assert_eq!((answer.word, answer.payload.len()), (word, length));
}

fn ask(peer: &Peer, word: u64) {
    answered(asked(peer, word, b"bytes"), word, 5);
}

fn until(happens: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !happens() {
        assert!(Instant::now() < until, "timed out");
        thread::sleep(Duration::from_micros(200));
    }
}

/// Joins a thread, and fails if the thread does not end in time.
fn ends(thread: JoinHandle<()>) {
    until(|| thread.is_finished());
    thread.join().unwrap();
}

/// Stops the serving threads.
fn stop(serving: Serving) {
    ends(thread::spawn(|| drop(serving)));
}

fn connections_come_and_go(scheme: &str) {
    for spin in [Duration::ZERO, Duration::from_micros(20)] {
        let bundle = PollGroup::new(spin);
        let serving = bundle.start().unwrap();
        let (first, its) = served(scheme);
        bundle.add(&its);
        for round in 0..3 {
            ask(&first, round);
            thread::sleep(QUIET);
            let (second, other) = served(scheme);
            bundle.add(&other);
            ask(&second, round + 100);
            ask(&first, round + 200);
            drop(second);
            until(|| other.has_ended());
            thread::sleep(QUIET);
        }
        stop(serving);
    }
}

fn what_was_before_is_not_the_time_of_a_handler(scheme: &str) {
    const LONGER: Duration = Duration::from_millis(150);
    for spin in [Duration::ZERO, Duration::MAX] {
        let handlers = Handlers::builder()
            .on("slow", |request| {
                thread::sleep(LONGER);
                request.reply(0, &[]);
            })
            .on("seen", |request| request.reply(0, &[]))
            .in_order(1, |request| {
                thread::sleep(LONGER);
                Some(request)
            })
            .budget(LONGER / 2)
            .on("quick", |request| request.reply(0, &[]))
            .budget(LONGER / 2)
            .build();
        let (client, server) = joined(scheme, &Handlers::none(), &handlers);
        let bundle = PollGroup::new(spin);
        bundle.add(&server);
        let serving = bundle.start().unwrap();
        let [slow, seen, quick] =
            ["slow", "seen", "quick"].map(|name| client.handler(name).unwrap());
        for _ in 0..2 {
            let asked = [(quick, 0), (slow, 0), (quick, 0), (seen, 1), (quick, 0)];
            let asked = asked.map(|(of, word)| client.request(of, word, &[]).unwrap());
            asked.into_iter().for_each(|asked| answered(asked, 0, 0));
            thread::sleep(LONGER);
        }
        let counters = |name| handlers.counters_of(name).unwrap();
        until(|| counters("slow").ran_inline == 2 && counters("quick").ran_inline == 6);
        assert_eq!(counters("slow").overrun, 2);
        assert_eq!(counters("seen").overrun + counters("quick").overrun, 0);
        stop(serving);
    }
}

fn a_connection_moves_from_who_sleeps_there(scheme: &str) {
    let bundles = [
        PollGroup::new(Duration::ZERO),
        PollGroup::new(Duration::ZERO),
    ];
    let serving = bundles.each_ref().map(|bundle| bundle.start().unwrap());
    let (client, server) = served(scheme);
    for round in 0..6 {
        bundles[round % 2].add(&server);
        ask(&client, round as u64);
        thread::sleep(QUIET);
    }
    // In neither group, where no thread serves it, and back.
    bundles[1].remove(&server);
    let waits = asked(&client, 7, &[]);
    thread::sleep(QUIET);
    assert_eq!(client.status().outstanding, 1);
    bundles[0].add(&server);
    answered(waits, 7, 0);
    // The connection moves while requests are under way.
    let stops = Arc::new(AtomicBool::new(false));
    let asking = thread::spawn({
        let stops = stops.clone();
        move || {
            for word in 0.. {
                ask(&client, word);
                if stops.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    });
    for round in 0..100 {
        bundles[round % 2].add(&server);
        thread::sleep(Duration::from_micros(round as u64));
    }
    stops.store(true, Ordering::Relaxed);
    ends(asking);
    serving.into_iter().for_each(stop);
}

fn calls_are_heard(scheme: &str) {
    let bundle = Arc::new(PollGroup::new(Duration::ZERO));
    let (client, server) = served(scheme);
    bundle.add(&server);
    // The call comes while the thread falls asleep, and long after that.
    let moments = (0..50).map(|round| Duration::from_micros(round * 2));
    for moment in moments.chain([QUIET, 2 * QUIET]) {
        let stops = Arc::new(AtomicBool::new(false));
        let serving = thread::spawn({
            let (bundle, stops) = (bundle.clone(), stops.clone());
            move || bundle.serve_until(|| stops.load(Ordering::Relaxed))
        });
        ask(&client, 7);
        let now = Instant::now();
        while moment < QUIET && now.elapsed() < moment {
            hint::spin_loop();
        }
        thread::sleep(moment.saturating_sub(now.elapsed()));
        stops.store(true, Ordering::Relaxed);
        bundle.call();
        ends(serving);
    }
    for _ in 0..3 {
        let serving = bundle.start().unwrap();
        ask(&client, 8);
        thread::sleep(QUIET);
        stop(serving);
    }
}

fn tasks_go_on(scheme: &str) {
    let wakers: Arc<Mutex<VecDeque<Waker>>> = Arc::default();
    let woken: Arc<AtomicUsize> = Arc::default();
    let handlers = Handlers::builder().on_async("echo", {
        let (wakers, woken) = (wakers.clone(), woken.clone());
        move |request: Request| {
            let (wakers, woken) = (wakers.clone(), woken.clone());
            async move {
                let mut is_new = true;
                future::poll_fn(|context| {
                    if std::mem::take(&mut is_new) {
                        let mut wakers = wakers.lock().unwrap();
                        wakers.push_back(context.waker().clone());
                        return Poll::Pending;
                    }
                    woken.fetch_add(1, Ordering::Relaxed);
                    Poll::Ready(())
                })
                .await;
                let word = request.word();
                request.reply(word, &[]);
            }
        }
    });
    let bundle = PollGroup::new(Duration::ZERO);
    let handlers = handlers.executor(bundle.executor()).build();
    let (client, server) = joined(scheme, &Handlers::none(), &handlers);
    bundle.add(&server);
    let serving = bundle.start().unwrap();
    for is_one_by_one in [true, false, true, false] {
        let asked = [1, 2].map(|word| asked(&client, word, &[]));
        until(|| wakers.lock().unwrap().len() == 2);
        // The client does not poll for the answers, so it sends nothing that would wake the
        // sleeping thread.
        let before = woken.load(Ordering::Relaxed);
        for count in 1..3 {
            if is_one_by_one || count == 1 {
                thread::sleep(QUIET);
            }
            let waker = wakers.lock().unwrap().pop_front().unwrap();
            waker.wake();
            if is_one_by_one {
                until(|| woken.load(Ordering::Relaxed) == before + count);
            }
        }
        until(|| woken.load(Ordering::Relaxed) == before + 2);
        for (ticket, word) in asked.into_iter().zip(1..) {
            answered(ticket, word, 0);
        }
    }
    stop(serving);
}

fn its_end_is_seen(scheme: &str) {
    for by_other_side in [true, false] {
        let bundle = PollGroup::new(Duration::ZERO);
        let (client, server) = served(scheme);
        bundle.add(&server);
        // Serves until the group has no connections.
        let serving = thread::spawn(move || bundle.serve());
        ask(&client, 1);
        thread::sleep(QUIET);
        if by_other_side {
            drop(client);
        } else {
            server.close();
        }
        ends(serving);
        assert!(server.has_ended());
    }
}

fn others_send_beside_who_sleeps(scheme: &str) {
    let (client, server) = joined(scheme, &echo(), &echo());
    let bundles = [
        PollGroup::new(Duration::ZERO),
        PollGroup::new(Duration::ZERO),
    ];
    bundles[0].add(&client);
    bundles[1].add(&server);
    let serving = bundles.each_ref().map(|bundle| bundle.start().unwrap());
    let much = vec![1; MUCH];
    for word in 0..5 {
        thread::sleep(QUIET);
        ask(&client, word);
        thread::sleep(QUIET);
        answered(asked(&server, word, &much), word, MUCH);
        // From both sides at the same time.
        thread::scope(|scope| {
            let both = [&client, &server].map(|peer| {
                let much = &much;
                scope.spawn(move || answered(asked(peer, word, much), word, MUCH))
            });
            both.into_iter().for_each(|one| one.join().unwrap());
        });
    }
    serving.into_iter().for_each(stop);
}

fn answers_that_wait_for_room_go_on(scheme: &str) {
    const ASKED: u64 = 8;
    fn answer(request: Request) {
        let word = request.word();
        request.reply(word, &vec![1; MUCH]);
    }
    let (to, asks) = mpsc::channel::<Request>();
    let keep = move |request| to.send(request).unwrap();
    let handlers = Handlers::builder().on("keep", keep).on("answer", answer);
    let (client, server) = joined(scheme, &Handlers::none(), &handlers.build());
    let bundle = PollGroup::new(Duration::ZERO);
    bundle.add(&server);
    let serving = bundle.start().unwrap();
    for name in ["answer", "keep", "answer", "keep"] {
        let handler = client.handler(name).unwrap();
        let ask = |word| client.request(handler, word, &[]).unwrap();
        let tickets: Vec<_> = (0..ASKED).map(ask).collect();
        // The client does not receive yet, so all but the first answers wait in the connection of
        // the sleeping server. The server sends them before it falls asleep ("answer") or while it
        // sleeps ("keep").
        if name == "keep" {
            let asks: Vec<_> = (0..ASKED)
                .map(|_| asks.recv_timeout(LONG).unwrap())
                .collect();
            thread::sleep(QUIET);
            asks.into_iter().for_each(answer);
        }
        thread::sleep(QUIET);
        for (ticket, word) in tickets.into_iter().zip(0..) {
            answered(ticket, word, MUCH);
        }
    }
    stop(serving);
}

fn who_waits_for_an_answer_sleeps_as_well(scheme: &str) {
    let (to, asks) = mpsc::channel::<Request>();
    let keep = move |request| to.send(request).unwrap();
    let handlers = Handlers::builder()
        .on("keep", keep)
        .on("echo", Request::echo);
    let (client, server) = joined(scheme, &echo(), &handlers.build());
    let bundle = PollGroup::default();
    bundle.add(&server);
    let serving = bundle.start().unwrap();
    let handler = client.handler("keep").unwrap();
    let waits = || {
        let waits = client.clone();
        let waiting = thread::spawn(move || {
            let mut asked = waits.request(handler, 1, &[]).unwrap();
            asked.wait_timeout(LONG).expect("no answer in time")
        });
        let request = asks.recv_timeout(LONG).unwrap();
        thread::sleep(QUIET);
        (waiting, request)
    };
    // Another thread sends a request, the peer sends a request, the connection moves, and then the
    // answer arrives.
    let (waiting, request) = waits();
    answered(asked(&client, 2, b"bytes"), 0, 5);
    thread::sleep(QUIET);
    ask(&server, 3);
    let elsewhere = PollGroup::new(Duration::ZERO);
    elsewhere.add(&client);
    thread::sleep(QUIET);
    request.reply(4, &[]);
    assert_eq!(waiting.join().unwrap().unwrap().word, 4);
    // The connection ends during the wait.
    let (waiting, request) = waits();
    client.close();
    assert!(waiting.join().unwrap().is_err());
    drop(request);
    stop(serving);
}

over_devices!(inproc shm uds tcp uring: {
    connections_come_and_go
    what_was_before_is_not_the_time_of_a_handler
    a_connection_moves_from_who_sleeps_there
    calls_are_heard
    tasks_go_on
    its_end_is_seen
    others_send_beside_who_sleeps
    answers_that_wait_for_room_go_on
    who_waits_for_an_answer_sleeps_as_well
});
