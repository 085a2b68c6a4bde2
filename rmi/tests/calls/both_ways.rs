//! Calls in both directions of a connection, also while both sides wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, ClientOptions, LookupError, Outcome, Server, ServerOptions, Serving, Stub,
    context, remote,
};

use testing::until;

/// An object that both sides serve.
#[remote]
trait Node {
    fn ping(&self) -> u64;
    /// Calls `nest(depth - 1)` of the other side. Returns the number of nested calls.
    fn nest(&self, depth: u64) -> u64;
    async fn nest_later(&self, depth: u64) -> u64;
    /// Pings the other side `count` times and returns the sum of the answers.
    fn pings(&self, count: u64) -> u64;
    /// Calls the other side back and returns the time left, in microseconds, that this call sees
    /// there.
    fn time_back(&self) -> u64;
    fn time(&self) -> u64;
    #[remote(one_way)]
    fn tell(&self, number: u64);
}

struct Here {
    number: u64,
    told: AtomicU64,
    failed: AtomicBool,
}

impl Here {
    fn new(number: u64) -> Arc<Self> {
        Arc::new(Self {
            number,
            told: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        })
    }
}

fn other_side() -> NodeStub {
    let caller = context().caller().unwrap();
    caller.lookup::<dyn Node>("node").wait().unwrap()
}

fn try_other_side() -> Result<NodeStub, LookupError> {
    context()
        .caller()
        .unwrap()
        .lookup::<dyn Node>("node")
        .wait()
}

#[remote]
impl Node for Here {
    fn ping(&self) -> u64 {
        self.number
    }

    fn nest(&self, depth: u64) -> u64 {
        if depth == 0 {
            return 0;
        }
        let until = context().deadline();
        let called = try_other_side().map_err(|error| error.to_string());
        let called = called.and_then(|node| {
            let deeper = node.nest(depth - 1).wait();
            deeper.map_err(|error| error.to_string())
        });
        // Calls that this thread served while it waited had a context of their own. The context of
        // this call must be restored.
        assert!(until.is_some() && context().deadline() == until);
        assert!(context().caller().is_some());
        match called {
            Ok(reply) => *reply.get() + 1,
            Err(_) => {
                self.failed.store(true, Ordering::Relaxed);
                1
            }
        }
    }

    async fn nest_later(&self, depth: u64) -> u64 {
        if depth == 0 {
            return 0;
        }
        let node = other_side();
        *node.nest_later(depth - 1).await.unwrap().get() + 1
    }

    fn pings(&self, count: u64) -> u64 {
        let node = other_side();
        let calls: Vec<_> = (0..count).map(|_| node.ping()).collect();
        let numbers = calls.into_iter().map(|call| *call.wait().unwrap().get());
        numbers.sum()
    }

    fn time_back(&self) -> u64 {
        *other_side().time().wait().unwrap().get()
    }

    fn time(&self) -> u64 {
        u64::try_from(context().time_left().unwrap().as_micros()).unwrap()
    }

    fn tell(&self, number: u64) {
        self.told.fetch_add(number, Ordering::Relaxed);
        if let (Ok(node), true) = (try_other_side(), number > 1) {
            let _ = node.tell(number - 1);
        }
    }
}

struct Setup {
    client: Client,
    node: NodeStub,
    here: Arc<Here>,
    there: Arc<Here>,
    _serving: Serving,
}

fn set_up(address: &str) -> Setup {
    set_up_with(address, ServerOptions::default())
}

fn set_up_with(address: &str, options: ServerOptions) -> Setup {
    let there = Here::new(1);
    let server = Server::new(options);
    server.bind::<dyn Node>("node", there.clone()).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let (client, here) = client_of(&serving);
    let node = client.lookup::<dyn Node>("node").wait().unwrap();
    Setup {
        client,
        node,
        here,
        there,
        _serving: serving,
    }
}

fn client_of(serving: &Serving) -> (Client, Arc<Here>) {
    let client = Client::connect(serving.address()).wait().unwrap();
    let here = Here::new(100);
    let objects = Server::default();
    objects.bind::<dyn Node>("node", here.clone()).unwrap();
    assert!(client.export_server(&objects));
    assert!(!client.export_server(&objects));
    (client, here)
}

const TCP: &str = "tcp://127.0.0.1:0";

#[test]
fn a_method_calls_its_caller_back() {
    for address in [TCP, "inproc://calls-back", "uds:///tmp/jstream-calls-back"] {
        let of = set_up(address);
        assert_eq!(*of.node.ping().wait().unwrap().get(), 1);
        assert_eq!(*of.node.pings(200).wait().unwrap().get(), 200 * 100);
        let left = *of.node.time_back().wait().unwrap().get();
        assert!((50_000_000..=60_000_000).contains(&left), "{left}");
        let brief = of.node.within(Duration::from_secs(20));
        let left = *brief.time_back().wait().unwrap().get();
        assert!((10_000_000..=20_000_000).contains(&left), "{left}");
    }
}

#[test]
fn without_a_method_there_is_no_caller() {
    assert!(context().caller().is_none());
}

#[test]
fn who_exports_nothing_is_told_so() {
    let of = set_up(TCP);
    let bare = Client::connect(of._serving.address()).wait().unwrap();
    let node = bare.lookup::<dyn Node>("node").wait().unwrap();
    let error = node.pings(1).wait().unwrap_err();
    assert!(matches!(error, CallError::Panicked { .. }), "{error}");
    assert_eq!(*node.ping().wait().unwrap().get(), 1);
}

#[test]
fn calls_nest_from_several_threads() {
    for (threads, address) in [(1, TCP), (4, "inproc://nest"), (4, TCP)] {
        let mut options = ServerOptions::default();
        options.threads = threads;
        let of = set_up_with(address, options);
        thread::scope(|scope| {
            for depth in [5, 6, 7, 8] {
                let node = of.node.clone();
                scope.spawn(move || {
                    for _ in 0..5 {
                        assert_eq!(*node.nest(depth).wait().unwrap().get(), depth);
                        assert_eq!(*node.nest_later(depth).wait().unwrap().get(), depth);
                    }
                });
            }
        });
        assert!(!of.here.failed.load(Ordering::Relaxed));
        assert!(!of.there.failed.load(Ordering::Relaxed));
    }
}

/// Unbounded mutual recursion ends with an error at some depth, and the connection works
/// afterwards.
#[test]
fn nesting_has_an_end() {
    for address in [TCP, "inproc://nest-without-end"] {
        let of = set_up(address);
        thread::scope(|scope| {
            for _ in 0..3 {
                let node = of.node.clone();
                scope.spawn(move || {
                    let depth = *node.nest(1 << 40).wait().unwrap().get();
                    assert!((10..100_000).contains(&depth), "{depth}");
                });
            }
        });
        let failed = [&of.here, &of.there].map(|node| node.failed.load(Ordering::Relaxed));
        assert!(failed.contains(&true));
        assert_eq!(*of.node.nest(6).wait().unwrap().get(), 6);
    }
}

#[test]
fn a_client_serves_though_it_calls_nothing() {
    let of = set_up(TCP);
    let serving = of.client.start().unwrap();
    of.node.tell(10).unwrap();
    until(|| of.here.told.load(Ordering::Relaxed) == 9 + 7 + 5 + 3 + 1);
    until(|| of.there.told.load(Ordering::Relaxed) == 10 + 8 + 6 + 4 + 2);
    drop(serving);
    of.client.close();
    let error = of.node.ping().wait().unwrap_err();
    assert_eq!(error.outcome(), Outcome::DidNotRun);
}

#[remote]
trait Slow {
    fn ping(&self);
    fn waits(&self);
}

struct Gate(std::sync::Mutex<mpsc::Receiver<()>>);

impl Slow for Gate {
    fn ping(&self) {}

    fn waits(&self) {
        self.0.lock().unwrap().recv().unwrap();
    }
}

/// A long-running plain method delays no other call, neither on its own connection nor on others.
#[test]
fn a_long_method_does_not_hold_up_others() {
    let (open, opened) = mpsc::channel();
    let server = Server::default();
    let gate = Arc::new(Gate(opened.into()));
    server.bind::<dyn Slow>("slow", gate).unwrap();
    let serving = server.listen(&TCP.parse().unwrap()).unwrap();
    let stub = || {
        let client = Client::connect_with(serving.address(), &ClientOptions::default())
            .wait()
            .unwrap();
        client.lookup::<dyn Slow>("slow").wait().unwrap()
    };
    let (one, other) = (stub(), stub());
    let waiting = one.waits();
    for _ in 0..100 {
        one.ping().wait().unwrap();
        other.ping().wait().unwrap();
    }
    open.send(()).unwrap();
    waiting.wait().unwrap();
}
