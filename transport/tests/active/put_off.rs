//! Deferred requests: until their sender drains its answers, or by an ordered handler that has seen
//! them first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::active::{
    Handlers, Outcome, PollGroup, Reason, Request, RequestError, Settings, is_given_back,
    until_waiting,
};
use testing::transport::peers::joined_by;
use testing::{LONG, over_devices};

fn until(happens: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !happens() {
        assert!(Instant::now() < until, "timed out");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The backlog limit in bytes, the length of an answer in bytes, and the number of requests.
const MOST: u64 = 1 << 20;
const LENGTH: usize = 256 << 10;
const ASKED: u64 = 200;

/// Returns a handler that sends long answers. If its peer has a long backlog, it attaches `waits`
/// to the request and defers it.
fn much(ran: &Arc<Mutex<Vec<u64>>>, waits: &Arc<()>) -> Handlers {
    let (ran, waits) = (ran.clone(), Arc::downgrade(waits));
    let answer = move |mut request: Request| {
        if request.is_unread(MOST) {
            request.keep(Box::new(waits.upgrade()));
            return request.put_off(MOST);
        }
        ran.lock().unwrap().push(request.word());
        let word = request.word();
        request.reply(word, &vec![1; LENGTH]);
    };
    Handlers::builder().on("much", answer).build()
}

fn requests_wait_until_their_sender_reads(scheme: &str) {
    let ran = Arc::default();
    let settings = Settings::default();
    let (client, server) = joined_by(
        scheme,
        &Handlers::none(),
        &much(&ran, &Arc::default()),
        &settings,
    );
    let bundles = [PollGroup::default(), PollGroup::default()];
    bundles[0].add(&server);
    let serving = bundles.each_ref().map(|bundle| bundle.start().unwrap());
    let handler = client.handler("much").unwrap();
    let ask = |word| client.request(handler, word, &[]).unwrap();
    let tickets: Vec<_> = (0..ASKED).map(ask).collect();
    until(|| server.status().backlog > MOST || ran.lock().unwrap().len() as u64 == ASKED);
    if scheme != "inproc" {
        // The device buffers a limited amount, and so does the server.
        assert!(server.status().backlog <= MOST + LENGTH as u64);
        assert!((ran.lock().unwrap().len() as u64) < ASKED);
    }
    // Deferred requests move with their connection.
    bundles[1].add(&server);
    for (word, ticket) in (0..).zip(tickets) {
        let reply = ticket.wait().unwrap();
        assert_eq!((reply.word, reply.payload.len()), (word, LENGTH));
    }
    // Deferred requests run first. One request may run late: its handler may have been running when
    // the connection moved, and the other threads did not wait for it.
    let mut ran = ran.lock().unwrap();
    let late = ran.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(late <= 1, "{ran:?}");
    ran.sort_unstable();
    assert!(ran.iter().copied().eq(0..ASKED), "{ran:?}");
    drop(serving);
}

fn what_waits_for_its_sender_ends_with_it(scheme: &str) {
    let (ran, waits) = (Arc::default(), Arc::default());
    let settings = Settings::default();
    let (client, server) = joined_by(scheme, &Handlers::none(), &much(&ran, &waits), &settings);
    let bundle = PollGroup::default();
    bundle.add(&server);
    let serving = bundle.start().unwrap();
    let handler = client.handler("much").unwrap();
    let ask = |word| client.request(handler, word, &[]).unwrap();
    let tickets: Vec<_> = (0..ASKED).map(ask).collect();
    let is_waiting = || Arc::strong_count(&waits) > 1;
    until(|| is_waiting() || ran.lock().unwrap().len() as u64 == ASKED);
    drop((tickets, client));
    until(|| server.has_ended() && Arc::strong_count(&waits) == 1);
    drop(serving);
}

/// The bit of words that are seen in order.
const ORDERED: u64 = 1 << 63;

fn messages_are_seen_in_order(scheme: &str) {
    type Seen = Mutex<(Vec<u64>, Vec<Request>)>;
    let seen = Arc::new(Seen::default());
    let first = {
        let seen = seen.clone();
        move |mut request: Request| {
            let mut seen = seen.lock().unwrap();
            seen.0.push(request.word());
            request.keep(Box::new(seen.0.len()));
            if request.word() % 3 == 0 {
                seen.1.push(request);
                return None;
            }
            Some(request)
        }
    };
    let echo = |mut request: Request| {
        let is_ordered = request.word() & ORDERED != 0;
        assert_eq!(request.take_kept::<usize>().is_some(), is_ordered);
        assert!(!request.has_kept());
        let word = request.word();
        request.reply(word, &[]);
    };
    let handlers = Handlers::builder()
        .on("echo", echo)
        .in_order(ORDERED, first)
        .build();
    let settings = Settings::default();
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
    let bundle = PollGroup::default();
    bundle.add(&server);
    let serving = [(); 4].map(|()| bundle.start().unwrap());
    let handler = client.handler("echo").unwrap();
    for _ in 0..5 {
        let word = |n: u64| if n % 2 == 0 { n | ORDERED } else { n };
        let ask = |n| client.request(handler, word(n), &[]).unwrap();
        let tickets: Vec<_> = (0..200u64).map(ask).collect();
        until(|| seen.lock().unwrap().0.len() == 100);
        let (order, held) = std::mem::take(&mut *seen.lock().unwrap());
        assert!(order.into_iter().eq((0..200).step_by(2).map(word)));
        held.into_iter().for_each(Request::run_again);
        for (n, ticket) in (0..).zip(tickets) {
            assert_eq!(ticket.wait().unwrap().word, word(n));
        }
    }
    drop(serving);
}

/// A value that counts its drops, separately for requests that may be retried.
struct Kept(Arc<[AtomicU64; 2]>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0[usize::from(is_given_back())].fetch_add(1, Ordering::Relaxed);
    }
}

fn what_is_kept_knows_whether_its_request_may_come_again(scheme: &str) {
    let dropped: Arc<[AtomicU64; 2]> = Arc::default();
    let counts = dropped.clone();
    let handler = move |mut request: Request| {
        request.keep(Box::new(Kept(counts.clone())));
        match request.word() {
            0 => request.refuse("as it should"),
            1 => request.nack(),
            2 => drop(request),
            _ => request.reply(0, &[]),
        }
    };
    let mut settings = Settings::default();
    settings.retries = 0;
    let handlers = Handlers::builder().on("some", handler).build();
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
    let serving = server.start().unwrap();
    let handler = client.handler("some").unwrap();
    for (word, expected, reason) in [
        (0, [1, 0], Reason::Refused),
        (1, [1, 1], Reason::Busy),
        (2, [2, 1], Reason::Unanswered),
    ] {
        let error = client.request(handler, word, &[]).unwrap().wait();
        let Err(RequestError::Returned { returned, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(returned.reason, reason);
        // The value was dropped before the sender received the returned request.
        let counts = dropped
            .each_ref()
            .map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, expected);
    }
    client.request(handler, 3, &[]).unwrap().wait().unwrap();
    drop(serving);
}

fn what_is_kept_goes_where_its_thread_waits(scheme: &str) {
    let handlers = Handlers::builder()
        .on("ask", |request| {
            let (kept, answer) = until_waiting(7, || {
                if request.word() == 0 {
                    return 0;
                }
                let peer = request.peer();
                let handler = peer.handler("answer").unwrap();
                let (inner, word) = until_waiting(8, || {
                    let ticket = peer.request(handler, 5, &[]).unwrap();
                    ticket.wait().unwrap().word
                });
                assert_eq!(inner, None);
                word
            });
            request.reply(kept.unwrap_or(0) + 10 * answer, &[]);
        })
        .build();
    // Slow enough that the handler has to wait for the answer.
    let answers = Handlers::builder()
        .on("answer", |request| {
            thread::sleep(Duration::from_millis(5));
            let word = request.word();
            request.reply(word, &[]);
        })
        .build();
    let settings = Settings::default();
    let (client, server) = joined_by(scheme, &answers, &handlers, &settings);
    let serving = server.start().unwrap();
    let handler = client.handler("ask").unwrap();
    let ask = |word| {
        client
            .request(handler, word, &[])
            .unwrap()
            .wait()
            .unwrap()
            .word
    };
    // The inner value was dropped, the outer value was not.
    assert_eq!((ask(0), ask(1)), (7, 57));
    drop(serving);
}

/// Returns a handler that stores a new request in the returned list, and answers a request that has
/// a value attached.
fn held() -> (Handlers, Arc<Mutex<Vec<Request>>>) {
    let held = Arc::<Mutex<Vec<Request>>>::default();
    let its = held.clone();
    let hold = move |mut request: Request| {
        if request.take_kept::<Arc<()>>().is_some() {
            return request.reply(0, &[]);
        }
        its.lock().unwrap().push(request);
    };
    (Handlers::builder().on("hold", hold).build(), held)
}

/// A request that is deferred while its connection moves between groups is not left in a group
/// without threads.
fn what_is_put_off_goes_where_its_connection_goes(scheme: &str) {
    let (handlers, held) = held();
    let settings = Settings::default();
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
    let (served, unserved) = (PollGroup::default(), PollGroup::default());
    served.add(&server);
    let serving = served.start().unwrap();
    let hold = client.handler("hold").unwrap();
    let (begin, turns) = (Barrier::new(2), 500);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..turns {
                begin.wait();
                let mut request = held.lock().unwrap().pop().unwrap();
                request.keep(Box::new(Arc::new(())));
                if turn % 2 == 0 {
                    request.run_again();
                } else {
                    request.put_off(MOST);
                }
            }
        });
        for _ in 0..turns {
            let mut ticket = client.request(hold, 0, &[]).unwrap();
            until(|| !held.lock().unwrap().is_empty());
            unserved.add(&server);
            begin.wait();
            served.add(&server);
            ticket.wait_timeout(LONG).expect("an answer").unwrap();
        }
    });
    drop(serving);
}

/// A deferred request of a connection that no thread serves any more ends with its connection.
fn what_is_put_off_does_not_keep_its_connection(scheme: &str) {
    for put_off in [Request::run_again, |request: Request| request.put_off(0)] {
        let (handlers, held) = held();
        let settings = Settings::default();
        let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
        let hold = client.handler("hold").unwrap();
        let ticket = client.request(hold, 0, &[]).unwrap();
        until(|| {
            server.poll();
            !held.lock().unwrap().is_empty()
        });
        let mut request = held.lock().unwrap().pop().unwrap();
        let kept = Arc::new(());
        request.keep(Box::new(kept.clone()));
        drop(server);
        put_off(request);
        assert_eq!(Arc::strong_count(&kept), 1);
        let lost = ticket.wait().unwrap_err();
        assert!(matches!(lost, RequestError::Lost { .. }), "{lost}");
    }
}

fn what_was_put_off_goes_back_where_nothing_is_taken_any_more(scheme: &str) {
    let handlers = Handlers::builder()
        .on("stop", |request: Request| {
            request.peer().stop_serving();
            Outcome::Rerun(request)
        })
        .on("hold", |request: Request| request.run_again())
        .build();
    for (name, is_stopped) in [("stop", false), ("hold", true)] {
        let settings = Settings::default();
        let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
        let handler = client.handler(name).unwrap();
        let mut ticket = client.request(handler, 0, b"what was sent").unwrap();
        if is_stopped {
            // The handler reruns until it is stopped.
            until(|| server.poll() > 0);
            server.stop_serving();
        }
        let serving = server.start().unwrap();
        let error = ticket.wait_timeout(LONG).expect("an answer");
        let Err(RequestError::Returned { returned, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(returned.reason, Reason::Ending);
        assert_eq!(returned.payload.unwrap().as_bytes(), b"what was sent");
        drop(serving);
    }
}

over_devices!(inproc shm uds tcp uring: {
    requests_wait_until_their_sender_reads
    what_waits_for_its_sender_ends_with_it
    messages_are_seen_in_order
    what_is_kept_knows_whether_its_request_may_come_again
    what_is_kept_goes_where_its_thread_waits
    what_is_put_off_goes_where_its_connection_goes
    what_is_put_off_does_not_keep_its_connection
    what_was_put_off_goes_back_where_nothing_is_taken_any_more
});
