//! Messages that are announced and never completed. Together they use up the pool.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use testing::process::alone;

use jstream::buffer::{Pool, PoolOptions};
use jstream_rmi::{Client, ServerOptions};

use super::frames::{assert_ended, frame, joined, joined_unread};
use super::{OBJECT, REQUEST, Scene, Target, until};

/// Maximum length of a message, in bytes.
const LENGTH: u64 = 1 << 20;

/// Number of attackers: more than the pool has room for.
const ATTACKERS: usize = 20;

/// Sets a pool with room for 16 messages of the maximum length and some short ones.
fn small_pool(options: &mut ServerOptions) {
    let mut pool = PoolOptions::default();
    pool.max_mapped = (17 << 20) - 4096;
    options.transport.pool = Pool::new(pool);
    options.transport.max_message = LENGTH;
    options.first_call_timeout = Duration::from_secs(1000);
}

/// Sends all but the last byte of a long message.
fn begin(mut stream: &TcpStream) {
    let request = frame(REQUEST, [1, OBJECT, 0], LENGTH);
    let most = vec![7; usize::try_from(LENGTH).unwrap() - 1];
    stream.write_all(&[&request[..], &most].concat()).unwrap();
}

/// Returns true if the server has closed the connection.
fn has_ended(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut [0; 1000]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// Checks that a new client is served.
fn assert_serves_another(scene: &Scene) {
    let client = Client::connect(scene.serving.address()).wait().unwrap();
    let target = client.lookup::<dyn Target>("target").wait().unwrap();
    assert_eq!(*target.add(3, 4).wait().unwrap().get(), 7);
}

#[test]
fn case_27_who_claims_the_pool_and_resets() {
    alone(|| {
        let scene = Scene::new("tcp", small_pool);
        for _ in 0..3 {
            let attackers: Vec<_> = (0..ATTACKERS).map(|_| joined_unread(&scene)).collect();
            attackers.iter().for_each(begin);
            // Some data of the server is unread, so closing the socket sends a reset.
            drop(attackers);
            scene.assert_serves();
            scene.health();
            assert_serves_another(&scene);
        }
        scene.assert_recovers();
    });
}

fn claim_the_pool_and_be_silent(spin: Option<Duration>) {
    let scene = Scene::new("tcp", |options| {
        small_pool(options);
        options.transport.message_timeout = Duration::from_secs(1);
        options.transport.spin = spin.unwrap_or(options.transport.spin);
    });
    let attackers: Vec<_> = (0..ATTACKERS).map(|_| joined(&scene)).collect();
    attackers.iter().for_each(begin);
    attackers.iter().for_each(assert_ended);
    scene.assert_serves();
    assert_serves_another(&scene);
    drop(attackers);
    scene.assert_recovers();
}

#[test]
fn case_27_who_claims_the_pool_and_is_silent() {
    alone(|| {
        claim_the_pool_and_be_silent(None);
    });
}

/// The message timeout also applies in a server that never sleeps.
#[test]
fn case_27_who_claims_the_pool_of_a_spinning_server() {
    alone(|| {
        claim_the_pool_and_be_silent(Some(Duration::MAX));
    });
}

/// If the pool has no room for the jbuf of a message, its connection ends after `buffer_timeout`,
/// even if the messages that use up the pool take forever.
#[test]
fn case_27_who_waits_for_room_is_ended() {
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            small_pool(options);
            options.transport.message_timeout = Duration::from_secs(1000);
            options.messages.buffer_timeout = Duration::from_secs(1);
        });
        let attackers: Vec<_> = (0..ATTACKERS).map(|_| joined(&scene)).collect();
        attackers.iter().for_each(begin);
        until(|| attackers.iter().filter(|stream| has_ended(stream)).count() >= ATTACKERS - 16);
        scene.assert_serves();
        drop(attackers);
        scene.assert_recovers();
    });
}

/// Incomplete messages leave room in the pool, so that another client is served meanwhile.
#[test]
fn case_27_who_claims_leaves_room_for_others() {
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            small_pool(options);
            options.transport.message_timeout = Duration::from_secs(1000);
            options.messages.buffer_timeout = Duration::from_secs(1000);
        });
        let attackers: Vec<_> = (0..ATTACKERS).map(|_| joined(&scene)).collect();
        attackers.iter().for_each(begin);
        scene.assert_serves();
        // The server has received all bytes for which it has room.
        until(|| scene.growth() >= 7 << 20);
        for _ in 0..10 {
            scene.assert_serves();
            assert_serves_another(&scene);
            assert!(scene.pool.stats().mapped <= 12 << 20);
        }
        drop(attackers);
        scene.assert_recovers();
    });
}

/// Peers that begin messages of the maximum length, in such numbers that they fill the pool if
/// what they claim counts. Some send next to nothing, others so much that a whole buffer is
/// reserved. They never time out.
#[test]
fn case_40_claims_that_are_never_filled() {
    const LONGEST: u64 = 16 << 20;
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            let mut pool = PoolOptions::default();
            pool.max_mapped = 256 << 20;
            options.transport.pool = Pool::new(pool);
            options.transport.max_message = LONGEST;
            options.transport.message_timeout = Duration::from_secs(1000);
            options.messages.buffer_timeout = Duration::from_secs(1000);
            options.first_call_timeout = Duration::from_secs(1000);
        });
        let client = Client::connect(scene.serving.address()).wait().unwrap();
        let target = client.lookup::<dyn Target>("target").wait().unwrap();
        for sent in [100, (1 << 20) + 100] {
            for _ in 0..2 {
                let attackers: Vec<_> = (0..16).map(|_| joined(&scene)).collect();
                for mut attacker in &attackers {
                    let request = frame(REQUEST, [1, OBJECT, 0], LONGEST);
                    let bytes = [&request[..], &vec![7; sent]].concat();
                    attacker.write_all(&bytes).unwrap();
                }
                // As many as there is room for have reserved a whole buffer.
                until(|| sent == 100 || scene.growth() >= 8 * (16 << 20));
                let sum = target.sum(&vec![1; 3 << 20]).wait();
                assert_eq!(*sum.unwrap().get(), 3 << 20);
                scene.assert_serves();
            }
        }
        drop((target, client));
        scene.assert_recovers();
    });
}
