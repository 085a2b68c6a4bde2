//! Closed connections have no open file descriptors, even if the program keeps their handles. The
//! test is a separate program because descriptors belong to the process.
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
use jstream_transport::active::{Handlers, Peer, PollGroup, Request, Settings};

const MANY: usize = 40;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Makes connections, ends them, and returns the handles of their servers.
fn ended(scheme: &str, bundle: &PollGroup, count: usize) -> Vec<Peer> {
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
        // The other half of the connections ends when the last client handle is dropped.
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
    let bundle = PollGroup::default();
    let serving = bundle.start().unwrap();
    for scheme in SCHEMES {
        // The first connections open the descriptors that the process shares between all
        // connections.
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
