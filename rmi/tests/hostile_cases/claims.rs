//! Messages that are claimed and never end: together they use up the pool.

use std::io::Write;
use std::net::TcpStream;

use jstream::buffer::{Pool, PoolOptions};
use jstream_rmi::{Client, ServerOptions};

use super::frames::{frame, joined_unread};
use super::{OBJECT, REQUEST, Scene, Target};

/// The longest message.
const LENGTH: u64 = 1 << 20;

/// More than the pool has room for.
const ATTACKERS: usize = 20;

/// A pool for 16 of the longest messages.
fn small_pool(options: &mut ServerOptions) {
    let mut pool = PoolOptions::default();
    pool.max_mapped = 16 << 20;
    options.transport.pool = Pool::new(pool);
    options.transport.max_message = LENGTH;
}

/// Sends all but the last byte of a long message.
fn begin(mut stream: &TcpStream) {
    let request = frame(REQUEST, [1, OBJECT, 0], LENGTH);
    let most = vec![7; usize::try_from(LENGTH).unwrap() - 1];
    stream.write_all(&[&request[..], &most].concat()).unwrap();
}

/// A client that connects now is served.
fn assert_serves_another(scene: &Scene) {
    let client = Client::connect(scene.serving.address()).unwrap();
    let target = client.lookup::<dyn Target>("target").unwrap();
    assert_eq!(*target.add(3, 4).wait().unwrap().get(), 7);
}

#[test]
fn case_27_who_claims_the_pool_and_resets() {
    let scene = Scene::new("tcp", small_pool);
    for _ in 0..3 {
        let attackers: Vec<_> = (0..ATTACKERS).map(|_| joined_unread(&scene)).collect();
        attackers.iter().for_each(begin);
        // With what the server has sent unread, this is a reset.
        drop(attackers);
        scene.assert_serves();
        scene.health();
        assert_serves_another(&scene);
    }
    scene.assert_recovers();
}
