//! Frames of calls, streams and references in any order, sent to a server that serves another
//! client at the same time.
//!
//! The frames of a client are recorded once, by a relay between it and the server. An input then
//! chooses which of these frames are sent, in which order, and how each one is changed.

use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream_rmi::directory::{self, Directory, EntryRef, Registrar, RegistrarOptions};
use jstream_rmi::{
    Address, Client, Options, Remote, Server, ServerOptions, Serving, Stream, remote,
};
use jstream_transport::{Endpoint, Header, connect, listen};

/// An interface with a method of each kind.
#[remote]
trait Target {
    fn add(&self, a: u64, b: u64) -> u64;
    fn text(&self, words: &[&str]) -> String;
    async fn wait(&self);
    fn give(&self) -> Remote<dyn Target>;
    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64;
    fn back(&self, one: Remote<dyn Target>) -> Remote<dyn Target>;
    fn below(&self, most: u64) -> Stream<u64>;
    async fn total(&self, numbers: Stream<u64>) -> u64;
    #[remote(one_way)]
    fn told(&self, text: &str);
}

struct Plain(Server);

#[remote]
impl Target for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn text(&self, words: &[&str]) -> String {
        words.concat()
    }

    async fn wait(&self) {
        std::future::pending().await
    }

    fn give(&self) -> Remote<dyn Target> {
        let export = self.0.export::<dyn Target>(Arc::new(Self(self.0.clone())));
        export.into_remote()
    }

    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64 {
        all.len() as u64
    }

    fn back(&self, one: Remote<dyn Target>) -> Remote<dyn Target> {
        one
    }

    fn below(&self, most: u64) -> Stream<u64> {
        Stream::of(0..most.min(100))
    }

    async fn total(&self, mut numbers: Stream<u64>) -> u64 {
        let mut total = 0u64;
        while let Some(Ok(number)) = numbers.next().await {
            total = total.wrapping_add(*number.get());
        }
        total
    }

    fn told(&self, _text: &str) {}
}

/// A recorded frame.
#[derive(Debug, Clone)]
struct Frame {
    header: Header,
    payload: Vec<u8>,
}

/// The server, and another client that it serves.
struct Scene {
    serving: Serving,
    server: Server,
    other: TargetStub,
    watch: Client,
    /// The recorded frames. The first one is the client's opening frame.
    recorded: Vec<Frame>,
    runs: AtomicU64,
}

/// Bits of the first word that return message credit; [`BYTES`] are those of the third word that
/// return byte credit. Replayed frames return no credit, because their connection did not receive
/// the recorded messages.
const MESSAGES: u64 = 0xffff << 48;
const BYTES: u64 = (1 << 48) - 1;

fn address(name: &str) -> Address {
    let address = format!("inproc://fuzz-{name}-{}", std::process::id());
    address.parse().expect("it is one")
}

/// Relays messages in both directions until one side ends, and records those from `from`.
fn relay(from: &Endpoint, to: &Endpoint, noted: &Mutex<Vec<Frame>>) {
    loop {
        let mut is_idle = true;
        for (one, other, is_noted) in [(from, to, true), (to, from, false)] {
            let message = match one.recv_message_within(Duration::from_micros(100)) {
                Ok(message) => message,
                Err(jstream_transport::RecvError::TimedOut { .. }) => continue,
                Err(_) => return,
            };
            is_idle = false;
            let payload = message.payload.as_bytes();
            if is_noted {
                noted.lock().expect("nothing panics").push(Frame {
                    header: message.header,
                    payload: payload.to_vec(),
                });
            }
            if other
                .send_message(message.header, &[IoSlice::new(payload)])
                .is_err()
            {
                return;
            }
        }
        if is_idle {
            thread::yield_now();
        }
    }
}

/// Records the frames of a client that uses every feature.
fn record(server: &Address) -> Vec<Frame> {
    let between = address("relay");
    let listener = listen(&between, &Options::default()).expect("the name is free");
    let noted = Arc::new(Mutex::new(Vec::new()));
    let relaying = {
        let (noted, server) = (noted.clone(), server.clone());
        thread::spawn(move || {
            let from = listener.accept().expect("a client connects");
            let from = from.establish().expect("it is of this version");
            let to = connect(&server, &Options::default()).expect("the server is there");
            relay(&from, &to, &noted);
        })
    };
    let client = Client::connect(&between)
        .wait()
        .expect("the relay is there");
    play(&client).expect("the server answers");
    client.close();
    drop(client);
    relaying.join().expect("nothing panics there");
    Arc::into_inner(noted)
        .and_then(|noted| noted.into_inner().ok())
        .expect("the relay has ended")
}

fn play(client: &Client) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let target = client.lookup::<dyn Target>("target").wait()?;
    client.registry().list().wait()?;
    let names = client.lookup::<dyn Directory>(directory::NAME).wait()?;
    let entry = EntryRef {
        name: "named",
        interface: "Target",
        id: 7,
        description: "fn add()",
        addresses: &["tcp://127.0.0.1:1"],
    };
    let mut changes = names.watch();
    for replace in [false, true] {
        drop(names.bind(entry, replace).wait()?);
    }
    names.list().wait()?;
    names.lookup("named").wait()?;
    drop(changes.next().wait());
    names.unbind("named").wait()?;
    drop(changes);
    client.reflection().bound().wait()?;
    target.add(1, 2).wait()?;
    target.text(&["some", "words"]).wait()?;
    target.told("again")?;
    drop(target.wait());
    let own = Server::default();
    let export = own.export::<dyn Target>(Arc::new(Plain(own.clone())));
    target.take(vec![export.remote(); 3]).wait()?;
    target.back(export.remote()).wait()?;
    let given = target.give().wait()?;
    given.add(1, 2).wait()?;
    target.back(given.clone()).wait()?;
    drop(given);
    // Results of calls in flight are arguments, also of a call of such a result.
    let (first, second) = (target.give(), target.give());
    let ahead = Remote::<dyn Target>::from_stub(first.pipelined());
    target.take(vec![ahead.clone(), ahead.clone()]).wait()?;
    second.pipelined().back(ahead).wait()?;
    drop((first, second));
    let mut below = target.below(50);
    while let Some(number) = below.next().wait() {
        number?;
    }
    target.total(Stream::of(0..20)).wait()?;
    // Dropped references are released with a short delay.
    thread::sleep(Duration::from_millis(50));
    target.add(3, 4).wait()?;
    Ok(())
}

static SCENE: LazyLock<Scene> = LazyLock::new(|| {
    let mut options = ServerOptions::default();
    options.max_references = 64;
    options.max_waiting = 16;
    options.max_backlog = 1 << 20;
    let server = Server::new(options);
    let object = Arc::new(Plain(server.clone()));
    server
        .bind::<dyn Target>("target", object)
        .expect("the name is free");
    let registrar = Arc::new(Registrar::new(RegistrarOptions::default()));
    server
        .bind::<dyn Directory>(directory::NAME, registrar)
        .expect("the name is free");
    let serving = server.listen(&address("calls")).expect("it is free");
    let watch = Client::connect(serving.address())
        .wait()
        .expect("it listens");
    let other = watch
        .lookup::<dyn Target>("target")
        .wait()
        .expect("it is bound");
    let recorded = record(serving.address());
    assert!(recorded.len() > 10, "{recorded:?}");
    Scene {
        server,
        serving,
        other,
        watch,
        recorded,
        runs: AtomicU64::new(0),
    }
});

/// Chooses a recorded frame and changes it.
fn frame(input: &mut Unstructured<'_>, recorded: &[Frame]) -> Result<Frame> {
    let mut frame = input.choose(recorded)?.clone();
    let words = &mut frame.header.words;
    words[0] &= !MESSAGES;
    words[2] &= !BYTES;
    match u8::arbitrary(input)? % 12 {
        0 => frame.header.kind = 0x6a73_6100 | u32::from(u8::arbitrary(input)? % 10),
        1 => words[0] = words[0] & !0xffff_ffff | u64::from(u8::arbitrary(input)? % 8),
        2 => words[0] ^= u64::from(u8::arbitrary(input)? % 4) << 32,
        3 => words[1] = words[1] & !0xffff_ffff | u64::from(u8::arbitrary(input)? % 8),
        4 => words[1] = words[1] & !(0xffff << 32) | u64::from(u8::arbitrary(input)? % 10) << 32,
        5 => words[1] ^= 1 << (u8::arbitrary(input)? % 64),
        6 => words[usize::from(u8::arbitrary(input)? % 3)] = u64::arbitrary(input)?,
        7 => frame.payload = input.choose(recorded)?.payload.clone(),
        8 => {
            let length = usize::from(u16::arbitrary(input)?);
            frame.payload.truncate(length.min(frame.payload.len()));
        }
        9 => {
            for _ in 0..=u8::arbitrary(input)? % 4 {
                let at = usize::from(u16::arbitrary(input)?) % frame.payload.len().max(1);
                if let Some(byte) = frame.payload.get_mut(at) {
                    *byte = u8::arbitrary(input)?;
                }
            }
        }
        _ => {}
    }
    Ok(frame)
}

/// Opens a connection and sends the frames that `input` chooses.
pub fn run(input: &[u8]) {
    let scene = &*SCENE;
    let mut input = Unstructured::new(input);
    let peer = connect(scene.serving.address(), &Options::default()).expect("the server listens");
    let mut is_open = true;
    // Most inputs start behind the opening frame and the lookup of the object.
    let begun = if input.ratio(15, 16).unwrap_or(true) {
        2
    } else {
        0
    };
    let first = scene.recorded.iter().take(begun).cloned().map(Ok);
    let mut rest = input;
    let more = std::iter::from_fn(|| (!rest.is_empty()).then(|| frame(&mut rest, &scene.recorded)));
    for frame in first.chain(more.take(64)) {
        let Ok(frame) = frame else { break };
        let sent = peer.send_message(frame.header, &[IoSlice::new(&frame.payload)]);
        is_open = sent.is_ok();
        if !is_open {
            break;
        }
        while peer.recv_message_within(Duration::ZERO).is_ok() {}
    }
    if is_open {
        // Gives the server time to process the frames before the connection ends.
        let _ = peer.recv_message_within(Duration::from_micros(200));
    }
    drop(peer);
    let run = scene.runs.fetch_add(1, Ordering::Relaxed);
    let sum = scene.other.add(run, 1).wait();
    assert_eq!(sum.ok().map(|sum| *sum.get()), Some(run.wrapping_add(1)));
    assert_forgotten(scene);
}

/// Waits until the server has released everything that belonged to the closed connection. If it
/// never does, the fuzzer's timeout reports the input.
fn assert_forgotten(scene: &Scene) {
    loop {
        let health = scene.watch.reflection().health().wait();
        let health = *health.expect("the server lives").get();
        let counts = scene.server.references();
        let is_forgotten = (health.connections, health.waiting) == (1, 0)
            && (counts.exports, counts.leases, counts.pins) == (2, 0, 0);
        if is_forgotten {
            return;
        }
        thread::sleep(Duration::from_micros(50));
    }
}
