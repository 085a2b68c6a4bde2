//! Gathered messages keep their order, and none is delayed for long, whatever the sender does.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use jstream_transport::active::{Backpressure, Handlers, Peer, Request, RequestError, Settings};
use jstream_transport::{Address, Options, connect, listen};
use testing::transport::peers::joined;
use testing::{LONG, over_devices};

/// Returns handlers and what they record: `note` reports words, `keep` keeps requests, and `echo`
/// answers.
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
    let (peer, server) = joined(scheme, &Handlers::none(), &handlers);
    let serving = thread::spawn(move || server.serve(None));
    let (ask, tell) = (peer.handler("ask").unwrap(), peer.handler("tell").unwrap());
    let mut waiting = VecDeque::new();
    for word in 0..3000u64 {
        // Short messages, some as long as the gather buffer, and some that are sent without a copy.
        let length = match word % 50 {
            7 => 8191,
            19 => 20_000,
            33 => 50_000,
            _ => usize::try_from(word % 100).unwrap(),
        };
        let bytes = testing::patterns::bytes(length, word);
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
    let (peer, server) = joined(scheme, &Handlers::none(), &handlers);
    let serving = thread::spawn(move || server.serve(None));
    let of = |name: &str| peer.handler(name).unwrap();
    let (note, keep) = (of("note"), of("keep"));
    // No other message is under way.
    peer.send(note, 1, &[]).unwrap();
    hear(&words, 1);
    // A request that is never answered, and a ticket that is never polled.
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

/// An answer is sent although the only serving thread is in the handler of a request that arrived
/// with it.
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
    let (peer, server) = joined(scheme, &Handlers::none(), &handlers);
    let serving = thread::spawn(move || server.serve(None));
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
    let (peer, server) = joined(scheme, &Handlers::none(), &handlers);
    let (echo, note) = (peer.handler("echo").unwrap(), peer.handler("note").unwrap());
    let mut waiting = Vec::new();
    let mut told = 0;
    // The server does not serve yet, so the client runs out of credit.
    loop {
        let bytes = testing::patterns::bytes(2000, told);
        match peer.request_with(echo, told, &bytes, Backpressure::Fail) {
            Ok(ticket) => waiting.push((ticket, bytes)),
            Err(RequestError::NoCredit) => break,
            Err(error) => panic!("{error}"),
        }
        if peer.send_with(note, told, b"", Backpressure::Fail).is_err() {
            break;
        }
        told += 1;
    }
    let serving = thread::spawn(move || server.serve(None));
    (0..told).for_each(|word| hear(&words, word));
    for (ticket, bytes) in waiting {
        assert_eq!(ticket.wait().unwrap().payload.as_bytes(), bytes);
    }
    drop(peer);
    serving.join().unwrap();
}

fn what_waits_is_sent_before_the_end(scheme: &str) {
    for is_closed in [false, true] {
        let (handlers, words, kept) = noting();
        let (peer, server) = joined(scheme, &Handlers::none(), &handlers);
        let (keep, note) = (peer.handler("keep").unwrap(), peer.handler("note").unwrap());
        peer.request(keep, 0, &[]).unwrap().detach();
        for word in 0..50 {
            peer.send(note, word, &[]).unwrap();
        }
        if is_closed {
            peer.close();
        }
        drop(peer);
        server.serve(None);
        (0..50).for_each(|word| hear(&words, word));
        // A kept request holds its connection, which holds the handlers; this breaks the cycle.
        kept.lock().unwrap().clear();
    }
}

/// Forwards one connection to `server`. Counts in `pieces` the reads in which the server's answers
/// arrive.
fn between(server: &Address, pieces: Arc<AtomicUsize>) -> (Address, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let server = server.to_string();
    let server = TcpStream::connect(server.trim_start_matches("tcp://")).unwrap();
    let passing = thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let [to_client, to_server] = [&client, &server].map(|half| half.try_clone().unwrap());
        let asked = thread::spawn(move || pass_on(client, to_server, &AtomicUsize::new(0)));
        pass_on(server, to_client, &pieces);
        asked.join().unwrap();
    });
    (Address::tcp("127.0.0.1", at.port()).unwrap(), passing)
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, pieces: &AtomicUsize) {
    let mut bytes = vec![0; 64 << 10];
    to.set_nodelay(true).unwrap();
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        pieces.fetch_add(1, Ordering::Relaxed);
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// The answer of a handler is sent together with the answer of the task that the handler has woken.
#[test]
fn an_answer_waits_for_that_of_whom_it_has_woken() {
    const ROUNDS: usize = 200;
    let held: Arc<Mutex<Option<Waker>>> = Arc::default();
    let wakes = held.clone();
    let handlers = Handlers::builder()
        .on_async("hold", move |request: Request| {
            let (held, mut waited) = (held.clone(), false);
            async move {
                poll_fn(|context| {
                    if std::mem::replace(&mut waited, true) {
                        return Poll::Ready(());
                    }
                    *held.lock().unwrap() = Some(context.waker().clone());
                    Poll::Pending
                })
                .await;
                let word = request.word();
                request.reply(word, b"");
            }
        })
        .on("wake", move |request: Request| {
            wakes.lock().unwrap().take().unwrap().wake();
            let word = request.word();
            request.reply(word, b"");
        })
        .build();
    let listener = listen(&Address::tcp("127.0.0.1", 0).unwrap(), &Options::default()).unwrap();
    let pieces = Arc::new(AtomicUsize::new(0));
    let (address, passing) = between(listener.local_address(), pieces.clone());
    let serving = thread::spawn(move || {
        let endpoint = listener.accept().unwrap().establish().unwrap();
        let peer = Peer::join(endpoint, &handlers, Settings::default()).unwrap();
        peer.serve(None);
    });
    let endpoint = connect(&address, &Options::default()).unwrap();
    let peer = Peer::join(endpoint, &Handlers::none(), Settings::default()).unwrap();
    let (hold, wake) = (peer.handler("hold").unwrap(), peer.handler("wake").unwrap());
    let before = pieces.load(Ordering::Relaxed);
    for round in 0..ROUNDS as u64 {
        let held = peer.request(hold, round, b"held").unwrap();
        let woke = peer.request(wake, round, b"woke").unwrap();
        assert_eq!(held.wait().unwrap().word, round);
        assert_eq!(woke.wait().unwrap().word, round);
    }
    // Each pair of answers arrives in one read, unless its timer expired in between.
    let pieces = pieces.load(Ordering::Relaxed) - before;
    assert!(pieces < ROUNDS * 3 / 2, "{pieces} pieces");
    drop(peer);
    serving.join().unwrap();
    passing.join().unwrap();
}

over_devices!(inproc shm uds tcp uring: {
    all_kinds_keep_their_order
    who_never_waits_holds_nothing_up
    a_long_handler_holds_up_no_answer
    a_peer_that_is_slow_gets_all_of_them
    what_waits_is_sent_before_the_end
});
