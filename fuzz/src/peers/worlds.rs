//! Bootstrap messages of worlds, sent to rank 0 and to a joining rank.

use std::io::IoSlice;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream_transport::rank::world::{Meeting, World, WorldError, WorldOptions};
use jstream_transport::{Endpoint, Header, Incoming, Listener, connect, listen};

use super::{address, options, say};

const ASK: u32 = 0x6a73_7701;
const WELCOME: u32 = 0x6a73_7702;
const HERE: u32 = 0x6a73_7703;
const KINDS: std::ops::RangeInclusive<u32> = 0x6a73_7701..=0x6a73_7708;

/// The maximum number of messages per input.
const WORDS: usize = 12;

fn world_options() -> WorldOptions {
    let mut options = WorldOptions::new(options());
    options.timeout = Duration::from_millis(20);
    options.finish_timeout = Duration::from_millis(5);
    options.transport.handshake_timeout = Duration::from_millis(10);
    options.listen = vec![address("inproc", "worlds-member")];
    options
}

fn fresh(name: &str) -> jstream_transport::Address {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    address("inproc", &format!("{name}-{number}"))
}

/// Sends bootstrap messages, the first of which is usually valid.
fn words(peer: &Endpoint, input: &mut Unstructured<'_>, first: u32, words: [u64; 3]) -> Result<()> {
    let known: [&[u8]; 6] = [
        &[0; 16],
        b"inproc://nobody",
        b"tcp://127.0.0.1:1 uds://@nobody",
        b"inproc://nobody\ninproc://nobody",
        b"\n\n",
        b"why",
    ];
    if input.ratio(15, 16)? {
        let _ = peer.send_message(Header::new(first, words), &[IoSlice::new(&[1; 16])]);
    }
    if first == ASK && input.ratio(7, 8)? {
        let _ = peer.send_message(Header::new(HERE, [0; 3]), &[IoSlice::new(known[1])]);
    }
    for _ in 0..WORDS {
        if input.is_empty() || !say(peer, input, KINDS, &known)? {
            break;
        }
    }
    Ok(())
}

pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(first) = u8::arbitrary(&mut input) else {
        return;
    };
    let joined = if first % 2 == 0 {
        against_rank_0(&mut input, 2 + u32::from(first >> 7))
    } else {
        against_member(&mut input, 2 + u32::from(first >> 7))
    };
    match joined {
        Ok(world) => drop(world.finish_within(Duration::from_millis(5))),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn against_rank_0(
    input: &mut Unstructured<'_>,
    size: u32,
) -> std::result::Result<World, WorldError> {
    let meeting = Meeting::open(&[fresh("worlds")], size, &world_options())?;
    let address = meeting.addresses()[0].clone();
    thread::scope(|scope| {
        let joining = scope.spawn(|| meeting.join());
        // The listener is gone if the bootstrap has already timed out.
        if let Ok(peer) = connect(&address, &options()) {
            let size = u64::from(size);
            let _ = words(&peer, input, ASK, [1, 1, size]);
        }
        joining.join().expect("nothing panics there")
    })
}

fn against_member(
    input: &mut Unstructured<'_>,
    size: u32,
) -> std::result::Result<World, WorldError> {
    static LISTENER: LazyLock<Listener> = LazyLock::new(|| {
        listen(&address("inproc", "worlds-rank-0"), &options()).expect("it is free")
    });
    thread::scope(|scope| {
        let joining = scope.spawn(|| {
            let mut options = world_options();
            options.listen = vec![fresh("worlds-member")];
            World::join(LISTENER.local_address(), 1, size, &options)
        });
        // On a busy machine, the member may time out before it has connected.
        let incoming = LISTENER.accept_timeout(Duration::from_millis(100));
        if let Some(Ok(peer)) = incoming.ok().map(Incoming::establish) {
            let _ = words(&peer, input, WELCOME, [1, 0, 0]);
        }
        joining.join().expect("nothing panics there")
    })
}
