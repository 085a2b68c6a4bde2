//! Active messages and other protocols between the members of a world.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::thread;

use jstream_transport::active::{Handlers, Settings};
use jstream_transport::rank::world::{World, WorldError};
use jstream_transport::{Header, RankPeers, RankPeersError, connect, connect_cheapest, listen_all};
use testing::transport::fresh;
use testing::transport::worlds::patient;
use testing::{LONG, until};

const SCHEMES: [&str; 4] = ["shm", "uds", "tcp", "uring"];

/// Runs `work` in a world of threads, and in worlds of threads that are connected over devices.
fn in_all(size: u32, work: impl Fn(&World) + Sync) {
    World::threads(size, &patient(), &work).unwrap();
    for scheme in SCHEMES {
        World::threads_over(&[fresh(scheme)], size, &patient(), &work).unwrap();
    }
}

/// Returns handlers that add the rank to the word of a request.
fn adders(world: &World) -> Handlers {
    let own = u64::from(world.rank());
    let add = move |request: jstream_transport::active::Request| {
        let sum = request.word() + own;
        request.reply(sum, &[]);
    };
    Handlers::builder().on("add", add).build()
}

#[test]
fn each_rank_serves_all() {
    in_all(3, |world| {
        let handlers = adders(world);
        let peers = RankPeers::start(world, "add", &handlers, Settings::default()).unwrap();
        for round in 0..3 {
            for rank in 0..world.size() {
                let peer = peers.peer(rank).unwrap();
                let add = peer.handler("add").unwrap();
                let reply = peer.request(add, round * 10, &[]).unwrap().wait().unwrap();
                assert_eq!(reply.word, round * 10 + u64::from(rank));
            }
            // Messages between ranks go on meanwhile.
            let mut all = [0; 3];
            world.all_gather(&[world.rank()], &mut all).unwrap();
            assert_eq!(all, [0, 1, 2]);
        }
        let nobody = peers.peer(3).unwrap_err();
        assert!(
            matches!(
                nobody,
                RankPeersError::World(WorldError::NoRank { rank: 3, size: 3 })
            ),
            "{nobody}"
        );
        world.barrier().unwrap();
    });
}

/// Requests that nobody serves use the credit of their own connection only.
#[test]
fn unserved_requests_leave_the_ranks_alone() {
    World::threads_over(&[fresh("shm")], 2, &patient(), |world| {
        let handlers = Handlers::builder()
            .on_async("stay", |_request| std::future::pending())
            .build();
        let peers = RankPeers::start(world, "stay", &handlers, Settings::default()).unwrap();
        let other = 1 - world.rank();
        let peer = peers.peer(other).unwrap();
        let stay = peer.handler("stay").unwrap();
        let requests: Vec<_> = (0..Settings::default().window_messages / 2)
            .map(|_| peer.request(stay, 0, &[0; 64]).unwrap())
            .collect();
        for number in 0..10_000u64 {
            let mut got = [0];
            world
                .sendrecv(other, 1, &[number], other, 1, &mut got)
                .unwrap();
            assert_eq!(got, [number]);
        }
        world.barrier().unwrap();
        drop(requests);
    })
    .unwrap();
}

#[test]
fn strangers_are_refused() {
    const ASK: u32 = 0x6a73_7701;
    const REFUSED: u32 = 0x6a73_7708;
    World::threads_over(&[fresh("tcp")], 2, &patient(), |world| {
        let admitted = Arc::new(Mutex::new(Vec::new()));
        let seen = admitted.clone();
        let admit = move |rank, endpoint| seen.lock().unwrap().push((rank, endpoint));
        let connections = world.connections("strange", admit).unwrap();
        let addresses = connections.addresses(1 - world.rank()).unwrap();
        let mut strangers = Vec::new();
        for (words, session) in [
            ([1, 0, 2], &[7u8; 16][..]),
            ([1, 0, 2], &[0; 16]),
            ([1, 9, 2], &[0; 16]),
            ([2, 0, 2], &[0; 16]),
            ([1, 0, 2], &[0; 3]),
        ] {
            let stranger = connect(&addresses[0], &testing::transport::patient()).unwrap();
            let header = Header::new(ASK, words);
            stranger
                .send_message(header, &[IoSlice::new(session)])
                .unwrap();
            let answer = stranger.recv_message_within(LONG).unwrap();
            assert_eq!(answer.header.kind, REFUSED);
            strangers.push(stranger);
        }
        // One that says nothing delays nobody.
        strangers.push(connect(&addresses[0], &testing::transport::patient()).unwrap());
        let endpoint = connections.connect(1 - world.rank()).unwrap();
        endpoint.send_message(Header::new(7, [0; 3]), &[]).unwrap();
        until(|| admitted.lock().unwrap().len() == 1);
        let (rank, other) = admitted.lock().unwrap().remove(0);
        assert_eq!(rank, 1 - world.rank());
        assert_eq!(other.recv_message_within(LONG).unwrap().header.kind, 7);
        world.barrier().unwrap();
    })
    .unwrap();
}

#[test]
fn a_rank_that_cannot_listen_is_an_error_at_all() {
    World::threads_over(&[fresh("uds")], 3, &patient(), |world| {
        let taken = world.service_addresses("taken").unwrap();
        let holds = (world.rank() == 1).then(|| listen_all(&taken, &Default::default()).unwrap());
        let error = world.connections("taken", |_, _| ()).unwrap_err();
        match world.rank() {
            1 => assert!(
                matches!(error, WorldError::Listen { rank: 1, .. }),
                "{error}"
            ),
            _ => assert!(
                matches!(error, WorldError::Failed { rank: 1, .. }),
                "{error}"
            ),
        }
        drop(holds);
        let connections = world.connections("taken", |_, _| ()).unwrap();
        connections.connect(1).unwrap();
        world.barrier().unwrap();
    })
    .unwrap();
}

/// Protocols with listeners of their own.
#[test]
fn addresses_are_shared() {
    in_all(3, |world| {
        let places = world.service_addresses("own").unwrap();
        let listener = listen_all(&places, &testing::transport::patient()).unwrap();
        let all = world.share_addresses(listener.local_addresses()).unwrap();
        assert_eq!(all.len(), 3);
        let next = (world.rank() + 1) % 3;
        // Over `inproc`, connecting ends when the other side accepts.
        let (_endpoint, accepted) = thread::scope(|scope| {
            let number = u64::from(world.rank());
            let connecting = scope.spawn(move || {
                let options = testing::transport::patient();
                let endpoint = connect_cheapest(&all[next as usize], &options).unwrap();
                let header = Header::new(1, [number, 0, 0]);
                endpoint.send_message(header, &[]).unwrap();
                endpoint
            });
            let accepted = listener.accept().unwrap().establish().unwrap();
            (connecting.join().unwrap(), accepted)
        });
        let number = u64::from(world.rank());
        let message = accepted.recv_message_within(LONG).unwrap();
        assert_eq!(message.header.words[0], (number + 2) % 3);
        let many = vec![places[0].clone(); 9];
        let shared = world.share_addresses(if number == 2 { &many } else { &[] });
        let error = shared.unwrap_err();
        assert!(
            matches!(error, WorldError::Nonsense { rank: 2, .. }),
            "{error}"
        );
        world.barrier().unwrap();
    });
}

#[test]
fn a_connection_that_was_closed_is_opened_anew() {
    World::threads(1, &patient(), |world| {
        let handlers = adders(world);
        let peers = RankPeers::start(world, "few", &handlers, Settings::default()).unwrap();
        let first = peers.peer(0).unwrap();
        first.close();
        let add = |peer: &jstream_transport::active::Peer| {
            let add = peer.handler("add").unwrap();
            peer.request(add, 1, &[]).ok()?.wait().ok()
        };
        until(|| peers.peer(0).is_ok_and(|peer| add(&peer).is_some()));
    })
    .unwrap();
}
