//! Closed connections have no open file descriptors, even if the program keeps their handles.

use jstream_transport::active::{Handlers, Peer, PollGroup, Request, Settings};
use testing::process::{alone, descriptors};
use testing::transport::SCHEMES;
use testing::transport::peers::joined_by;
use testing::until;

const MANY: usize = 40;

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

#[test]
fn connections_that_have_ended_have_no_descriptors() {
    alone(|| {
        let bundle = PollGroup::default();
        let serving = bundle.start().unwrap();
        for scheme in SCHEMES {
            // The first connections open the descriptors that the process shares between all
            // connections.
            let first = ended(scheme, &bundle, 2);
            until(|| first.iter().all(Peer::has_ended));
            drop(first);
            let before = descriptors();
            let kept = ended(scheme, &bundle, MANY);
            until(|| kept.iter().all(Peer::has_ended) && descriptors() < before + MANY / 4);
            drop(kept);
        }
        drop(serving);
    });
}
