//! Strangers who connect a thousand times a second, to a process with 1,024 descriptors: they keep
//! no honest peer out of a world or a channel.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use jstream_transport::channel::{Receiver, Sender, channel};
use jstream_transport::rank::world::{Meeting, Session, World, WorldError, WorldOptions};
use jstream_transport::{Address, Options, listen};
use testing::process::{again, alone};
use testing::strangers::{Strangers, Words, attack, limit_descriptors, socket_of};
use testing::transport::fresh;
use testing::transport::worlds::{known, patient};
use testing::{LONG, SHORT};

const STRANGERS: &str = "strangers::strangers";

#[test]
#[ignore = "the process of the strangers"]
fn strangers() {
    attack();
}

/// The address of the channel that the process of `honest` joins.
const JOINS: &str = "JSTREAM_TEST_JOINS";

#[test]
#[ignore = "the process of an honest peer"]
fn honest() {
    let Ok(address) = std::env::var(JOINS) else {
        return;
    };
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let sender: Sender<u32> = channel(&address).sender().unwrap();
    sender.send(&7).unwrap();
}

/// A process that has no descriptor left evicts a stranger to accept the next connection.
#[test]
fn a_channel_is_joined_without_descriptors() {
    alone(|| {
        // The table of newcomers has more places than there will be descriptors.
        limit_descriptors(1000);
        let receiver: Receiver<u32> = channel(&fresh("tcp").to_string()).receiver().unwrap();
        let address = receiver.address().to_string();
        let mut honest = again("strangers::honest", "honest")
            .env(JOINS, &address)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let at = [socket_of(&address)];
        let strangers = Strangers::start(STRANGERS, Words::Nothing, 500, false, &at);
        let mut files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(files.len() > 800, "{}", files.len());
        // The strangers take those that become free.
        files.truncate(files.len() - 3);
        thread::sleep(SHORT);
        // One is free while no connection is being accepted.
        let free: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(free.len() < 3, "{}", free.len());
        drop(free);
        drop(honest.stdin.take());
        assert_eq!(*receiver.recv_timeout(LONG).unwrap().get(), 7);
        drop(files);
        assert!(honest.wait().unwrap().success());
        strangers.end();
    });
}

/// Calls `work` during an attack.
fn during(words: Words, rate: u32, from_many: bool, at: &[SocketAddr], work: impl FnOnce()) {
    let strangers = Strangers::start(STRANGERS, words, rate, from_many, at);
    // More strangers than the table of newcomers has places.
    thread::sleep(5 * SHORT);
    work();
    let opened = strangers.end();
    assert!(opened > 300, "only {opened} connections were opened");
}

/// A timeout of handshakes after which no stranger leaves: only new connections evict old ones.
const HOUR: Duration = Duration::from_secs(3600);

/// Returns options with which a member waits for the others for long.
fn options() -> WorldOptions {
    let mut options = patient();
    options.transport.handshake_timeout = HOUR;
    options.session = Some(Session::new().unwrap());
    options
}

fn a_world_is_joined(words: Words, from_many: bool) {
    const SIZE: u32 = 6;
    limit_descriptors(1024);
    let options = options();
    let meeting = Meeting::open(&[known("tcp")], SIZE, &options).unwrap();
    let address = &meeting.addresses()[0].clone();
    let at = [socket_of(&address.to_string())];
    during(words, 1000, from_many, &at, || {
        thread::scope(|scope| {
            for rank in 1..SIZE {
                let options = &options;
                scope.spawn(move || {
                    let world = World::join(address, rank, SIZE, options).unwrap();
                    world.finish().unwrap();
                });
            }
            meeting.join().unwrap().finish().unwrap();
        });
    });
}

#[test]
fn a_world_is_joined_among_silent_strangers() {
    alone(|| a_world_is_joined(Words::Nothing, false));
}

#[test]
fn a_world_is_joined_among_strangers_that_greet() {
    alone(|| a_world_is_joined(Words::Greeting, false));
}

#[test]
fn a_world_is_joined_among_strangers_from_everywhere() {
    alone(|| a_world_is_joined(Words::Nothing, true));
}

/// All ranks are attacked while they work, before the pairs are connected.
#[test]
fn a_world_works_among_strangers() {
    const SIZE: u32 = 8;
    alone(|| {
        limit_descriptors(1024);
        let options = options();
        let places: Vec<Address> = (0..SIZE).map(|_| known("tcp")).collect();
        let places = &places;
        let at: Vec<_> = places.iter().map(|at| socket_of(&at.to_string())).collect();
        let (ready, go) = (std::sync::Barrier::new(9), std::sync::Barrier::new(9));
        thread::scope(|scope| {
            for rank in 0..SIZE {
                let mut options = options.clone();
                options.listen = vec![places[rank as usize].clone()];
                let (ready, go) = (&ready, &go);
                scope.spawn(move || {
                    let world = World::join(&places[0], rank, SIZE, &options).unwrap();
                    ready.wait();
                    go.wait();
                    let sent: Vec<_> = (0..SIZE).map(|to| rank * 100 + to).collect();
                    let mut received = vec![0; SIZE as usize];
                    world.all_to_all(&sent, &mut received).unwrap();
                    let expected: Vec<_> = (0..SIZE).map(|from| from * 100 + rank).collect();
                    assert_eq!(received, expected);
                    world.finish().unwrap();
                    go.wait();
                });
            }
            ready.wait();
            during(Words::Nothing, 150, false, &at, || {
                go.wait();
                go.wait();
            });
        });
    });
}

/// A member that nobody lets in says what has happened, although nobody listens in the end.
#[test]
fn a_member_that_is_kept_out_says_why() {
    let mut options = options();
    options.timeout = 10 * SHORT;
    options.transport.handshake_timeout = SHORT;
    // Accepts connections, but never answers.
    let listener = listen(&fresh("tcp"), &options.transport).unwrap();
    let address = listener.local_address().clone();
    let closing = thread::spawn(move || {
        thread::sleep(5 * SHORT);
        drop(listener);
    });
    let error = World::join(&address, 1, 2, &options).unwrap_err();
    closing.join().unwrap();
    let text = error.to_string();
    assert!(
        matches!(
            &error,
            WorldError::Unreachable {
                before: Some(_),
                ..
            }
        ),
        "{text}"
    );
    assert!(text.contains("Connection refused"), "{text}");
    assert!(
        text.contains("an earlier attempt reached a listener"),
        "{text}"
    );
    assert!(text.contains("failed: the handshake with"), "{text}");
}

fn a_channel_is_joined(words: Words) {
    const SENDERS: u32 = 8;
    limit_descriptors(1024);
    let mut options = Options::default();
    options.handshake_timeout = HOUR;
    let receiver: Receiver<u32> = channel(&fresh("tcp").to_string())
        .options(options)
        .peers(SENDERS as usize)
        .receiver()
        .unwrap();
    let address = &receiver.address().to_string();
    during(words, 1000, false, &[socket_of(address)], || {
        thread::scope(|scope| {
            for number in 0..SENDERS {
                scope.spawn(move || {
                    let sender: Sender<u32> = channel(address).sender().unwrap();
                    sender.send(&number).unwrap();
                });
            }
            let received = (0..SENDERS).map(|_| *receiver.recv_timeout(LONG).unwrap().get());
            let mut received: Vec<_> = received.collect();
            received.sort_unstable();
            assert_eq!(received, Vec::from_iter(0..SENDERS));
        });
    });
}

#[test]
fn a_channel_is_joined_among_silent_strangers() {
    alone(|| a_channel_is_joined(Words::Nothing));
}

#[test]
fn a_channel_is_joined_among_strangers_that_greet() {
    alone(|| a_channel_is_joined(Words::Greeting));
}
