//! Messages that wait for others go in order, and none for long, whatever their sender does.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use common::{LONG, default_pair, over_devices};
use jstream_transport::active::{Handlers, Peer, Request, RequestError, Settings};

fn joined(scheme: &str, there: &Handlers) -> (Peer, Peer) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let other = scope.spawn(|| Peer::join(server, there, Settings::default()).unwrap());
        let one = Peer::join(client, &Handlers::none(), Settings::default()).unwrap();
        (one, other.join().unwrap())
    })
}

/// A table whose `note` tells the words that come, whose `keep` keeps its requests, and whose `echo` answers.
fn noting() -> (Handlers, Receiver<u64>, Arc<Mutex<Vec<Request>>>) {
    let (told, words) = mpsc::channel::<u64>();
    let told: Mutex<Sender<u64>> = Mutex::new(told);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = kept.clone();
    let handlers = Handlers::builder()
        .on("note", move |request| {
            told.lock().unwrap().send(request.word()).unwrap();
        })
        .on("keep", move |request| keeps.lock().unwrap().push(request))
        .on("echo", Request::echo)
        .build();
    (handlers, words, kept)
}

fn hear(words: &Receiver<u64>, word: u64) {
    assert_eq!(words.recv_timeout(LONG).unwrap(), word);
}

fn all_kinds_keep_their_order(scheme: &str) {
    let seen = Arc::new(Mutex::new(0));
    let (asked, told) = (seen.clone(), seen);
    let take = |seen: &Mutex<u64>, request: &Request| {
        let mut seen = seen.lock().unwrap();
        assert_eq!(request.word(), *seen);
        *seen += 1;
    };
    let handlers = Handlers::builder()
        .on("ask", move |request: Request| {
            take(&asked, &request);
            request.echo();
        })
        .on("tell", move |request: Request| take(&told, &request))
        .build();
    let (peer, server) = joined(scheme, &handlers);
    let serving = thread::spawn(move || server.serve());
    let (ask, tell) = (peer.handler("ask").unwrap(), peer.handler("tell").unwrap());
    let mut waiting = VecDeque::new();
    for word in 0..3000u64 {
        // Short ones, some that are as long as what gathers, and some that are sent from where they are.
        let length = match word % 50 {
            7 => 8191,
            19 => 20_000,
            33 => 50_000,
            _ => usize::try_from(word % 100).unwrap(),
        };
        let bytes = common::bytes(length, word);
        if word % 3 == 0 {
            peer.send(tell, word, &bytes).unwrap();
        } else {
            let ticket = peer.request(ask, word, &bytes).unwrap();
            waiting.push_back((ticket, bytes));
        }
        if waiting.len() == 40 {
            let (ticket, bytes) = waiting.pop_front().unwrap();
            assert_eq!(ticket.wait().unwrap().payload.as_bytes(), bytes);
        }
    }
    for (ticket, bytes) in waiting {
        assert_eq!(ticket.wait().unwrap().payload.as_bytes(), bytes);
    }
    drop(peer);
    serving.join().unwrap();
}

fn who_never_waits_holds_nothing_up(scheme: &str) {
    let (handlers, words, kept) = noting();
    let (peer, server) = joined(scheme, &handlers);
    let serving = thread::spawn(move || server.serve());
    let of = |name: &str| peer.handler(name).unwrap();
    let (note, keep) = (of("note"), of("keep"));
    // Nothing is on its way.
    peer.send(note, 1, &[]).unwrap();
    hear(&words, 1);
    // A request that is not answered, and what nobody ever asks for.
    let open = peer.request(keep, 0, &[]).unwrap();
    peer.send(note, 2, &[]).unwrap();
    hear(&words, 2);
    let never_polled = peer.request(note, 3, &[]).unwrap();
    hear(&words, 3);
    let burst = 4..100;
    for word in burst.clone() {
        peer.send(note, word, &[]).unwrap();
    }
    burst.for_each(|word| hear(&words, word));
    drop(never_polled);
    kept.lock().unwrap().drain(..).for_each(Request::echo);
    open.wait().unwrap();
    drop(peer);
    serving.join().unwrap();
}

/// An answer goes though the only thread that serves is at another request, which came with it.
fn a_long_handler_holds_up_no_answer(scheme: &str) {
    let (goes_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Mutex::new(may_go_on);
    let handlers = Handlers::builder()
        .on("echo", Request::echo)
        .on("long", move |request: Request| {
            may_go_on.lock().unwrap().recv_timeout(LONG).unwrap();
            request.echo();
        })
        .build();
    let (peer, server) = joined(scheme, &handlers);
    let serving = thread::spawn(move || server.serve());
    let (echo, long) = (peer.handler("echo").unwrap(), peer.handler("long").unwrap());
    for word in 0..20 {
        let quick = [(); 3].map(|()| peer.request(echo, word, b"quick").unwrap());
        let slow = peer.request(long, word, b"slow").unwrap();
        let behind = peer.request(echo, word, b"behind").unwrap();
        for ticket in quick {
            assert_eq!(ticket.wait().unwrap().payload.as_bytes(), b"quick");
        }
        goes_on.send(()).unwrap();
        assert_eq!(slow.wait().unwrap().payload.as_bytes(), b"slow");
        assert_eq!(behind.wait().unwrap().payload.as_bytes(), b"behind");
    }
    drop(peer);
    serving.join().unwrap();
}

fn a_peer_that_is_slow_gets_all_of_them(scheme: &str) {
    let (handlers, words, _) = noting();
    let (peer, server) = joined(scheme, &handlers);
    let (echo, note) = (peer.handler("echo").unwrap(), peer.handler("note").unwrap());
    let mut waiting = Vec::new();
    let mut told = 0;
    // Nobody serves: at some time there is no more credit.
    loop {
        let bytes = common::bytes(2000, told);
        match peer.try_request(echo, told, &bytes) {
            Ok(ticket) => waiting.push((ticket, bytes)),
            Err(RequestError::NoCredit) => break,
            Err(error) => panic!("{error}"),
        }
        if peer.try_send(note, told, &[]).is_err() {
            break;
        }
        told += 1;
    }
    let serving = thread::spawn(move || server.serve());
    (0..told).for_each(|word| hear(&words, word));
    for (ticket, bytes) in waiting {
        assert_eq!(ticket.wait().unwrap().payload.as_bytes(), bytes);
    }
    drop(peer);
    serving.join().unwrap();
}

fn what_waits_is_sent_before_the_end(scheme: &str) {
    for is_closed in [false, true] {
        let (handlers, words, _) = noting();
        let (peer, server) = joined(scheme, &handlers);
        let (keep, note) = (peer.handler("keep").unwrap(), peer.handler("note").unwrap());
        peer.request(keep, 0, &[]).unwrap().detach();
        for word in 0..50 {
            peer.send(note, word, &[]).unwrap();
        }
        if is_closed {
            peer.close();
        }
        drop(peer);
        server.serve();
        (0..50).for_each(|word| hear(&words, word));
    }
}

over_devices!(inproc shm uds tcp uring: {
    all_kinds_keep_their_order
    who_never_waits_holds_nothing_up
    a_long_handler_holds_up_no_answer
    a_peer_that_is_slow_gets_all_of_them
    what_waits_is_sent_before_the_end
});
