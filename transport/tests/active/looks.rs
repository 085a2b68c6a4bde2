//! Polls of a connection by threads that do not serve it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use jstream_transport::active::{Handlers, PollGroup, Request};
use testing::transport::peers::joined;
use testing::{LONG, over_devices, until};

/// The number of requests that are answered while another thread polls.
const ASKED: u64 = 200;

/// Standby threads take over from a thread that polls in a loop and defers the requests that it
/// finds.
fn requests_are_served_however_often_others_look(scheme: &str) {
    let handlers = Handlers::builder().on("echo", Request::echo).build();
    let (client, server) = joined(scheme, &Handlers::none(), &handlers);
    let bundle = PollGroup::default();
    bundle.add(&server);
    let serving = bundle.start_many(2, 2, |work| work()).unwrap();
    let stops = Arc::new(AtomicBool::new(false));
    let looking = [(); 1].map(|()| {
        let (server, stops) = (server.clone(), stops.clone());
        thread::spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                server.attendant().poll_deferring();
            }
        })
    });
    let handler = client.handler("echo").unwrap();
    let until = Instant::now().checked_add(LONG);
    for word in 0..ASKED {
        let mut ticket = client.request(handler, word, &[]).unwrap();
        let reply = ticket
            .wait_deadline(until.unwrap())
            .expect("the request was not served in time");
        reply.unwrap();
    }
    stops.store(true, Ordering::Relaxed);
    for thread in looking {
        thread.join().unwrap();
    }
    drop(serving);
}

/// A message that a thread has received and left to others is not lost with the connection.
fn messages_that_came_before_the_end_are_served(scheme: &str) {
    let served = Arc::new(AtomicBool::new(false));
    let handlers = {
        let served = served.clone();
        let note = move |_: Request| served.store(true, Ordering::Relaxed);
        Handlers::builder().on("note", note).build()
    };
    let (client, server) = joined(scheme, &Handlers::none(), &handlers);
    let handler = client.handler("note").unwrap();
    client.send(handler, 0, &[]).unwrap();
    until(|| server.attendant().poll_deferring());
    client.close();
    until(|| {
        server.attendant().poll_deferring();
        server.has_ended()
    });
    assert!(!served.load(Ordering::Relaxed));
    server.poll();
    assert!(served.load(Ordering::Relaxed));
}

over_devices!(inproc shm tcp: {
    requests_are_served_however_often_others_look
    messages_that_came_before_the_end_are_served
});
