//! Ranks that end with messages for which their peers have no space: a receiver that waits for such
//! a message gets an error in time.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use jstream_transport::rank::{Error, Mesh, Options, Rank};
use jstream_transport::sim::{self, Settings, Simulation};
use jstream_transport::{connect, listen};
use testing::LONG;
use testing::patterns::bytes;
use testing::transport::{SCHEMES, filled, fresh, join, patient};

/// The minimum number of messages for which every rank has space.
const ROOM: u64 = 4;

/// Creates two connected ranks with the smallest bounds. The second rank has the given send
/// timeout.
fn two(scheme: &str, send_timeout: Duration) -> (Rank, Rank) {
    let mut hasty = patient();
    hasty.send_timeout = send_timeout;
    let listener = listen(&fresh(scheme), &patient()).unwrap();
    let (one, zero) = join(&listener, &hasty);
    let mut options = Options::default();
    options.bounds.messages = 0;
    let build = |rank, peer, endpoint| {
        let mesh = Mesh::new(rank, 2, &options);
        mesh.endpoint(peer, endpoint).unwrap().build()
    };
    (build(0, 1, zero), build(1, 0, one))
}

fn look(rank: &Rank) {
    for _ in 0..4 {
        assert!(rank.iprobe(1 - rank.rank(), 999).unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_has_no_room_does_not_keep_a_rank_that_has_ended() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let (zero, one) = two(scheme, Duration::from_millis(200));
        for n in 0..ROOM + 3 {
            drop(one.buffers().isend(0, 1, filled(&n.to_ne_bytes())));
        }
        drop(one.buffers().isend(0, 2, filled(b"behind them")));
        look(&one);
        drop(one);
        let (done, wait) = channel();
        let waiting = zero.clone();
        thread::spawn(move || done.send(waiting.buffers().recv(1, 2)));
        let Ok(ended) = wait.recv_timeout(LONG / 2) else {
            panic!("{scheme}: the receive still waits for a rank that has ended")
        };
        let error = ended.unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
        // The messages for which there was space are still received.
        for n in 0..ROOM {
            let message = zero.buffers().recv(1, 1).unwrap();
            assert_eq!(message.payload.as_bytes(), n.to_ne_bytes());
        }
        let error = zero.buffers().recv(1, 1).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
    }
}

#[test]
fn a_rank_that_goes_on_waits_for_room_as_long_as_it_takes() {
    for scheme in SCHEMES {
        println!("{scheme}");
        let timeout = Duration::from_millis(100);
        let (zero, one) = two(scheme, timeout);
        for n in 0..ROOM + 3 {
            drop(one.buffers().isend(0, 1, filled(&n.to_ne_bytes())));
        }
        thread::sleep(3 * timeout);
        for n in 0..ROOM + 3 {
            let message = zero.buffers().recv(1, 1).unwrap();
            assert_eq!(message.payload.as_bytes(), n.to_ne_bytes());
        }
        drop(one);
    }
}

#[test]
fn what_is_on_its_way_in_a_simulation_outlives_its_rank() {
    for seed in 0..60 {
        let message = bytes(3_000, seed);
        let received = Simulation::new(Settings::new(seed)).run(async {
            let mut options = patient();
            options.spin = Duration::ZERO;
            let listener = listen(&fresh("sim"), &options).unwrap();
            let address = listener.local_address().clone();
            let accepting = sim::spawn("accepts", async move {
                listener.accept_async().await.unwrap().establish().unwrap()
            });
            let one = connect(&address, &options).unwrap();
            let build = |rank, peer, endpoint| {
                let mesh = Mesh::new(rank, 2, &Options::default());
                mesh.endpoint(peer, endpoint).unwrap().build()
            };
            let (zero, one) = (build(0, 1, accepting.await), build(1, 0, one));
            drop(one.buffers().isend(0, 1, filled(&message)));
            drop(one);
            zero.buffers()
                .irecv(1, 1)
                .await
                .map(|received| received.payload)
        });
        let received = received.unwrap_or_else(|stuck| panic!("{seed}: {stuck}"));
        let received = received.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert!(received.as_bytes() == message, "{seed}");
    }
}
