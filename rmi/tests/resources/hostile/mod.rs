//! Attacks of hostile peers on a running server, case by case. In each case the memory use stays
//! within the bytes that were sent and the limits, another client is served meanwhile, and the
//! server has released everything when the attackers have gone.
//!
//! | case | |
//! |---|---|
//! | 1, 2, 3, 20, 24: frames | `frames.rs` |
//! | 4, 5, 6, 7, 8, 23, 25, 26: calls | `calls.rs`; 4 and 5 also in `calls/limits.rs` |
//! | 9 to 14: values | `values.rs` |
//! | 15: memory that the peer writes | the transport's tests |
//! | 16, 17: references | `references.rs`, and `calls/hostile` |
//! | 19: descriptors | `resources/descriptors.rs` |
//! | 21: panics | `calls/panics.rs` |
//! | 22: calls that call back | `calls/both_ways.rs` |
//! | 27, 40: messages that never end | `claims.rs` |
//! | 39: answers that nobody reads | `answers.rs` |

mod answers;
mod calls;
mod claims;
mod frames;
mod references;
mod values;

use std::future::poll_fn;
use std::io::IoSlice;
use std::num::NonZero;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jstream::buffer::Pool;
use jstream::{Limits, Received, Transportable, Writer, transportable};
use jstream_rmi::{Client, Options, Remotable, Remote, Server, ServerOptions, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, connect};

use testing::allocator::live;
pub(crate) use testing::frames::{CANCEL, HELLO, REPLY, REQUEST, RETURN, SEND, table};
pub(crate) use testing::until;

/// The number of the first object that a connection looks up.
pub(crate) const OBJECT: u64 = 1;

/// The numbers of its methods.
pub(crate) const ADD: u64 = 0;
pub(crate) const GIVE: u64 = 2;
pub(crate) const WAIT: u64 = 3;
pub(crate) const KEEP: u64 = 4;
pub(crate) const VALUES: u64 = 5;
pub(crate) const CHAIN: u64 = 6;
pub(crate) const FAIL: u64 = 7;
pub(crate) const GIVE_LATE: u64 = 9;

#[transportable]
pub(crate) trait Shape {
    fn area(&self) -> f64;
}

#[derive(Transportable, Debug, Clone, Copy)]
#[transportable(implements(Shape))]
pub(crate) struct Square {
    pub(crate) side: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

#[derive(Transportable, Debug, Clone, Copy)]
pub(crate) enum Colour {
    Red,
    Green,
}

/// A struct in which not all bytes are valid.
#[derive(Transportable, Clone, Copy)]
pub(crate) struct Values<'b> {
    pub(crate) flag: bool,
    pub(crate) letter: char,
    pub(crate) colour: Colour,
    pub(crate) some: NonZero<u32>,
    pub(crate) maybe: Option<u16>,
    pub(crate) text: &'b str,
    pub(crate) units: &'b [()],
    pub(crate) numbers: &'b [f64],
    pub(crate) shape: &'b dyn Shape,
}

/// A linked list of any length.
#[derive(Transportable, Clone, Copy)]
pub(crate) struct Chain<'b> {
    pub(crate) next: Option<&'b Chain<'b>>,
}

#[remote]
pub(crate) trait Target {
    fn add(&self, a: u64, b: u64) -> u64;
    fn sum(&self, bytes: &[u8]) -> u64;
    fn give(&self, length: u64) -> Vec<u8>;
    async fn wait(&self);
    async fn keep(&self, bytes: Received<Vec<u8>>) -> u64;
    fn values(&self, values: &Values<'_>) -> f64;
    fn chain(&self, chain: &Chain<'_>) -> u64;
    fn fail(&self, text: &str);
    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64;
    async fn give_late(&self, length: u64) -> Vec<u8>;
}

pub(crate) struct Plain;

#[remote]
impl Target for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn sum(&self, bytes: &[u8]) -> u64 {
        bytes.iter().map(|byte| u64::from(*byte)).sum()
    }

    fn give(&self, length: u64) -> Vec<u8> {
        vec![7; usize::try_from(length.min(1 << 20)).unwrap()]
    }

    async fn wait(&self) {
        std::future::pending().await
    }

    async fn keep(&self, bytes: Received<Vec<u8>>) -> u64 {
        struct Kept(Received<Vec<u8>>);
        let kept = Kept(bytes);
        std::future::pending::<()>().await;
        kept.0.get().len() as u64
    }

    fn values(&self, values: &Values<'_>) -> f64 {
        let texts = values.text.chars().count() + values.units.len();
        assert!(values.flag || values.some.get() > 0);
        let extra = f64::from(u32::from(values.letter)) + f64::from(values.maybe.unwrap_or(0));
        let colour = match values.colour {
            Colour::Red => 1.0,
            Colour::Green => 2.0,
        };
        let sum: f64 = values.numbers.iter().sum();
        sum + values.shape.area() + extra + colour + f64::from(u32::try_from(texts).unwrap_or(0))
    }

    fn chain(&self, chain: &Chain<'_>) -> u64 {
        std::iter::successors(Some(chain), |chain| chain.next).count() as u64
    }

    fn fail(&self, text: &str) {
        panic!("/home/server/source.rs: the server's own words, and {text}");
    }

    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64 {
        all.len() as u64
    }

    async fn give_late(&self, length: u64) -> Vec<u8> {
        poll_fn(|context| GATE.poll(context)).await;
        self.give(length)
    }
}

/// A gate behind which methods wait until it is opened.
pub(crate) struct Gate(Mutex<(bool, Vec<Waker>)>);

pub(crate) static GATE: Gate = Gate(Mutex::new((false, Vec::new())));

impl Gate {
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let (is_open, waiting) = &mut *self.0.lock().unwrap();
        if *is_open {
            return Poll::Ready(());
        }
        waiting.push(context.waker().clone());
        Poll::Pending
    }

    pub(crate) fn open(&self) {
        let (is_open, waiting) = &mut *self.0.lock().unwrap();
        *is_open = true;
        let waiting = std::mem::take(waiting);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// A server under attack, and a client that it serves meanwhile.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) serving: Serving,
    pub(crate) pool: Pool,
    health: Client,
    heap: usize,
    served: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    bystander: Option<JoinHandle<()>>,
}

impl Scene {
    pub(crate) fn new(scheme: &str, change: impl FnOnce(&mut ServerOptions)) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            // Methods panic on purpose here. The output of a panic may take much memory and time.
            let tell = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                let serves = thread::current()
                    .name()
                    .is_some_and(|name| name.starts_with("jstream"));
                if !serves {
                    tell(info);
                }
            }));
        });
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut options = ServerOptions::default();
        change(&mut options);
        let pool = options.transport.pool.clone();
        let server = Server::new(options);
        server
            .bind::<dyn Target>("target", Arc::new(Plain))
            .unwrap();
        let address = match scheme {
            "tcp" => "tcp://127.0.0.1:0".to_owned(),
            other => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                format!("{other}://hostile-{}-{number}", std::process::id())
            }
        };
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let health = Client::connect(serving.address()).wait().unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let target = client.lookup::<dyn Target>("target").wait().unwrap();
        let (served, stop) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let bystander = {
            let (served, stop) = (served.clone(), stop.clone());
            thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let n = served.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(*target.add(n, 1).wait().unwrap().get(), n + 1);
                    thread::sleep(Duration::from_micros(200));
                }
            })
        };
        until(|| served.load(Ordering::SeqCst) > 10);
        health.reflection().health().wait().unwrap();
        Self {
            server,
            serving,
            pool,
            health,
            heap: live(),
            served,
            stop,
            bystander: Some(bystander),
        }
    }

    /// Returns the number of bytes in use on the heap and in jbufs of the server, less those at the
    /// start.
    pub(crate) fn growth(&self) -> usize {
        let classes = self.pool.class_stats();
        let jbufs: usize = classes
            .map(|class| class.capacity * class.stats.in_use)
            .sum();
        live().saturating_sub(self.heap) + jbufs
    }

    pub(crate) fn assert_holds_at_most(&self, bytes: usize) {
        let growth = self.growth();
        assert!(
            growth <= bytes,
            "{growth} bytes in use, at most {bytes} permitted"
        );
    }

    /// Checks that the other client is served.
    pub(crate) fn assert_serves(&self) {
        let before = self.served.load(Ordering::SeqCst);
        until(|| {
            let ended = self.bystander.as_ref().is_some_and(JoinHandle::is_finished);
            assert!(!ended, "the other client failed");
            self.served.load(Ordering::SeqCst) > before + 20
        });
    }

    pub(crate) fn health(&self) -> jstream_rmi::Health {
        *self.health.reflection().health().wait().unwrap().get()
    }

    /// Checks that the server has released everything.
    pub(crate) fn assert_recovers(mut self) {
        self.assert_serves();
        until(|| self.health().connections == 2 && self.health().waiting == 0);
        self.stop.store(true, Ordering::SeqCst);
        self.bystander.take().unwrap().join().unwrap();
        // The readers and writers of the threads keep some memory.
        until(|| self.growth() < 4 << 20);
        assert!(
            self.serving
                .shutdown(Duration::from_secs(60))
                .wait()
                .cut_off
                == 0
        );
    }

    /// Returns a raw peer that has completed the handshake and looked up the object.
    pub(crate) fn peer(&self) -> Peer {
        let endpoint = connect(self.serving.address(), &Options::default()).unwrap();
        let peer = Peer { endpoint };
        peer.send(Header::new(HELLO, [1, 1000, 1 << 30]), &table());
        assert_eq!(peer.endpoint.recv_message().unwrap().header.kind, HELLO);
        peer.request(7, 0, &lookup());
        let found = peer.endpoint.recv_message().unwrap();
        assert_eq!((found.header.kind, found.header.words[1]), (REPLY, 0));
        peer
    }
}

/// Returns the arguments of the registry's `lookup` for the object.
pub(crate) fn lookup() -> Vec<u8> {
    message(&("target", <dyn Target as Remotable>::interface().id()))
}

pub(crate) fn message<T: Transportable>(of: &T) -> Vec<u8> {
    // A hostile peer has no limits.
    let mut limits = Limits::default();
    limits.depth = None;
    limits.zero_sized = usize::MAX;
    let bytes = Writer::with_limits(limits).gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    bytes.unwrap()
}

pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint,
}

impl Peer {
    pub(crate) fn send(&self, header: Header, payload: &[u8]) {
        let segments = [IoSlice::new(payload)];
        self.endpoint.send_message(header, &segments).unwrap();
    }

    pub(crate) fn request(&self, number: u64, word: u64, arguments: &[u8]) {
        self.send(Header::new(REQUEST, [number, word, 0]), arguments);
    }

    pub(crate) fn call(&self, method: u64, arguments: &[u8]) -> Message {
        self.request(7, OBJECT | method << 32, arguments);
        let answer = self.endpoint.recv_message().unwrap();
        assert_eq!(answer.header.words[0] & 0xffff_ffff, 7);
        answer
    }
}
