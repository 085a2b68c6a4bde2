//! Connections that have ended have no descriptors, whoever keeps their handles: a program of its own, as descriptors
//! belong to the process.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::peers::joined_by;
use common::{LONG, SCHEMES};
use jstream_transport::active::{Bundle, Handlers, Peer, Request, Settings};

const MANY: usize = 40;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Makes connections that end. Their handles come back.
fn ended(scheme: &str, bundle: &Bundle, count: usize) -> Vec<Peer> {
    let handlers = Handlers::builder().on("echo", Request::echo).build();
    let visits = (0..count).map(|number| {
        let (client, server) =
            joined_by(scheme, &Handlers::none(), &handlers, &Settings::default());
        bundle.add(&server);
        let echo = client.handler("echo").unwrap();
        client.request(echo, 1, b"hello").unwrap().wait().unwrap();
        if number % 2 == 0 {
            client.close();
        }
        // The other half of them ends by the last handle.
        server
    });
    visits.collect()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn connections_that_have_ended_have_no_descriptors() {
    let bundle = Bundle::default();
    let serving = bundle.start().unwrap();
    for scheme in SCHEMES {
        // What the process has for all connections is there behind the first ones.
        let first = ended(scheme, &bundle, 2);
        until(scheme, || first.iter().all(Peer::has_ended));
        drop(first);
        let before = descriptors();
        let kept = ended(scheme, &bundle, MANY);
        until(scheme, || {
            kept.iter().all(Peer::has_ended) && descriptors() < before + MANY / 4
        });
        drop(kept);
    }
    drop(serving);
}
