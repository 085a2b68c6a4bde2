//! Large answers that nobody reads, from few and many peers.

use std::io::IoSlice;
use std::time::Duration;
use testing::process::alone;

use jstream::buffer::{Pool, PoolOptions};
use jstream_rmi::ServerOptions;
use jstream_transport::{Header, SendError};

use super::{GATE, GIVE, GIVE_LATE, OBJECT, Peer, REQUEST, Scene, message, until};

/// Limit of the unread answers of all peers.
const LIMIT: usize = 32 << 20;

/// Calls of each peer, each of which asks for a MiB.
const CALLS: u64 = 20;

/// Lets all peers ask for much. The server may end a peer that has not asked for everything yet,
/// because it does not read either.
fn ask(peers: &[Peer], method: u64) {
    let arguments = message(&(1u64 << 20,));
    for number in 0..CALLS {
        let header = Header::new(REQUEST, [number, OBJECT | method << 32, 0]);
        for peer in peers {
            let sent = peer
                .endpoint
                .send_message(header, &[IoSlice::new(&arguments)]);
            if let Err(error) = sent {
                let has_ended = matches!(error, SendError::Lost { .. } | SendError::Closed { .. });
                assert!(has_ended, "{error}");
            }
        }
    }
}

/// Returns the number of bytes of this process that are in memory.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size()
}

/// Waits until the connections of all peers have ended. Returns the maximum of the bytes in use
/// meanwhile.
fn until_ended(scene: &Scene) -> usize {
    let mut peak = 0;
    until(|| {
        peak = peak.max(scene.growth());
        scene.health().connections == 2
    });
    peak
}

/// Peers that ask for many times the limit, by methods that answer at once and by methods that
/// begin before there is any answer.
fn ask_and_do_not_read(method: u64) {
    let scene = Scene::new("tcp", |options| {
        options.messages.max_backlog_in_all = LIMIT as u64;
        options.transport.send_timeout = Duration::from_secs(3);
    });
    let before = resident();
    let peers: Vec<_> = (0..40).map(|_| scene.peer()).collect();
    ask(&peers, method);
    if method == GIVE_LATE {
        until(|| scene.health().waiting == 40 * CALLS);
        GATE.open();
    }
    scene.assert_serves();
    let peak = until_ended(&scene);
    // An answer occupies a buffer of 2 MiB. Each thread, of which 16 may be added, has the value
    // and the message of another one.
    let threads = 16 + ServerOptions::default().threads;
    let most = 2 * LIMIT + threads * (4 << 20);
    assert!(
        peak <= most,
        "{peak} bytes in use, at most {most} permitted"
    );
    // Idle memory goes back to the system, except for the 64 MiB that a pool keeps.
    until(|| scene.pool.stats().mapped <= 64 << 20);
    until(|| resident() < before + (128 << 20));
    drop(peers);
    scene.assert_recovers();
}

#[test]
fn case_39_answers_of_forty_peers() {
    alone(|| ask_and_do_not_read(GIVE));
}

#[test]
fn case_39_answers_that_come_all_at_once() {
    alone(|| ask_and_do_not_read(GIVE_LATE));
}

/// A pool that is full of answers does not keep the connections from being ended, although their
/// threads poll all the time.
#[test]
fn case_39_answers_that_fill_the_pool() {
    alone(|| {
        let mut pool = PoolOptions::default();
        pool.max_mapped = 64 << 20;
        for count in [1, 12, 24] {
            let scene = Scene::new("tcp", |options| {
                options.transport.pool = Pool::new(pool.clone());
                options.messages.max_backlog_in_all = u64::MAX;
                options.messages.buffer_timeout = Duration::from_secs(1000);
                options.transport.send_timeout = Duration::from_secs(2);
            });
            let peers: Vec<_> = (0..count).map(|_| scene.peer()).collect();
            ask(&peers, GIVE);
            until_ended(&scene);
            drop(peers);
            scene.assert_recovers();
        }
    });
}

/// A client that reads gets its answers, however large, while others do not read theirs.
#[test]
fn case_39_a_client_that_reads_is_not_ended() {
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            options.messages.max_backlog_in_all = LIMIT as u64;
            options.transport.send_timeout = Duration::from_secs(1000);
        });
        let silent: Vec<_> = (0..40).map(|_| scene.peer()).collect();
        ask(&silent, GIVE);
        let reader = scene.peer();
        for number in 0..200 {
            reader.request(number, OBJECT | GIVE << 32, &message(&(1u64 << 20,)));
            let answer = reader.endpoint.recv_message().unwrap();
            assert_eq!(answer.header.words[0] & 0xffff_ffff, number);
            assert!(answer.payload.len() > 1 << 20);
        }
        drop((silent, reader));
        scene.assert_recovers();
    });
}
