//! Calls over both devices: arguments in place, distinguishable failures, and many concurrent
//! callers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jstream::buffer::PoolOptions;
use jstream::{Pool, Transportable};
use jstream_rmi::{
    Address, BindError, CallError, Client, ClientOptions, LookupError, Outcome, Received, Server,
    ServerOptions, Serving, remote,
};

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Order<'b> {
    id: u64,
    symbol: &'b str,
    parent: Option<&'b Order<'b>>,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Receipt<'b> {
    Accepted { id: u64 },
    Refused(&'b str),
}

/// A trait with all kinds of arguments and results.
#[remote]
trait Book {
    /// Has no arguments and no result.
    fn ping(&self);
    fn submit(&self, order: &Order<'_>) -> Receipt<'static>;
    fn dot(&self, scale: f64, a: &[f64], b: &[f64]) -> f64;
    fn keep(&self, order: Received<Order<'static>>) -> u64;
    /// Returns a result that is borrowed from the object.
    fn kept(&self) -> Vec<String>;
    fn name(&self) -> &str;
    fn maybe(&self, order: Option<&Order<'_>>, tags: &[&str], letter: char) -> Option<String>;
    fn panics(&self, with: &str) -> u32;
    fn large(&self, n: u64) -> Vec<u8>;
}

#[derive(Default)]
struct Plain {
    pool: Pool,
    kept: Mutex<Vec<Received<Order<'static>>>>,
}

impl Book for Plain {
    fn ping(&self) {}

    fn submit(&self, order: &Order<'_>) -> Receipt<'static> {
        assert!(
            self.pool.contains(order),
            "the argument lies in the receive buffer"
        );
        assert!(self.pool.contains(order.symbol));
        if order.parent.is_some_and(|parent| parent.id >= order.id) {
            return Receipt::Refused("a parent comes first");
        }
        Receipt::Accepted { id: order.id }
    }

    fn dot(&self, scale: f64, a: &[f64], b: &[f64]) -> f64 {
        assert!(self.pool.contains(a));
        scale * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()
    }

    fn keep(&self, order: Received<Order<'static>>) -> u64 {
        let mut kept = self.kept.lock().unwrap();
        kept.push(order);
        kept.len() as u64
    }

    fn kept(&self) -> Vec<String> {
        let kept = self.kept.lock().unwrap();
        kept.iter()
            .map(|order| order.get().symbol.to_owned())
            .collect()
    }

    fn name(&self) -> &str {
        "plain"
    }

    fn maybe(&self, order: Option<&Order<'_>>, tags: &[&str], letter: char) -> Option<String> {
        order.map(|order| format!("{}{letter}{}", order.symbol, tags.join("+")))
    }

    fn panics(&self, with: &str) -> u32 {
        struct AgainInDrop;
        impl Drop for AgainInDrop {
            fn drop(&mut self) {
                panic!("a secret of the server, again");
            }
        }
        match with {
            "drop" => std::panic::panic_any(AgainInDrop),
            _ => panic!("a secret of the server: {with}"),
        }
    }

    fn large(&self, n: u64) -> Vec<u8> {
        vec![7; usize::try_from(n).unwrap()]
    }
}

struct Setup {
    client: Client,
    book: BookStub,
    serving: Serving,
    server: Server,
    pool: Pool,
}

fn set_up(address: &str) -> Setup {
    set_up_with(address, ServerOptions::default())
}

fn set_up_with(address: &str, mut options: ServerOptions) -> Setup {
    let pool = options.transport.pool.clone();
    options.transport.max_message = 1 << 22;
    let server = Server::new(options);
    let object = Plain {
        pool: pool.clone(),
        ..Plain::default()
    };
    server.bind::<dyn Book>("book", Arc::new(object)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = crate::connect_once(serving.address());
    let book = client.lookup::<dyn Book>("book").wait().unwrap();
    Setup {
        client,
        book,
        serving,
        server,
        pool,
    }
}

/// Generates one test per device for each function.
macro_rules! over_devices {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn over_tcp() {
                super::$name(super::set_up("tcp://127.0.0.1:0"));
            }

            #[test]
            fn over_inproc() {
                super::$name(super::set_up(concat!("inproc://calls-", stringify!($name))));
            }
        }
    )*};
}

over_devices! {
    arguments_and_results
    received_arguments_keep_their_buffer
    calls_overlap_and_may_be_forgotten
    panics_end_one_call
    results_too_long_are_errors
    lost_peers_are_told
    names_and_interfaces
    threads_share_a_connection
    buffers_return
    both_sides_send_much_at_once
    many_calls_are_forgotten
    deep_graphs_are_refused
}

fn arguments_and_results(of: Setup) {
    let book = &of.book;
    book.ping().wait().unwrap();
    let parent = Order {
        id: 3,
        symbol: "P",
        parent: None,
    };
    let order = Order {
        id: 4,
        symbol: "ÄCME",
        parent: Some(&parent),
    };
    let reply = book.submit(&order).wait().unwrap();
    assert_eq!(*reply.get(), Receipt::Accepted { id: 4 });
    let reply = book.submit(&Order { id: 2, ..order }).wait().unwrap();
    assert_eq!(*reply.get(), Receipt::Refused("a parent comes first"));

    let numbers: Vec<f64> = (0..100_000u32).map(f64::from).collect();
    let expected: f64 = numbers.iter().map(|n| n * n).sum();
    let reply = book.dot(2.0, &numbers, &numbers).wait().unwrap();
    assert_eq!(*reply.get(), 2.0 * expected);

    assert_eq!(*book.name().wait().unwrap().get(), "plain");
    let reply = book.maybe(Some(&order), &["a", "b"], 'ß').wait().unwrap();
    assert_eq!(*reply.get(), Some("ÄCMEßa+b"));
    assert_eq!(*book.maybe(None, &[], 'x').wait().unwrap().get(), None);
}

fn received_arguments_keep_their_buffer(of: Setup) {
    for (i, symbol) in ["one", "two", "three"].into_iter().enumerate() {
        let order = Order {
            id: 1,
            symbol,
            parent: None,
        };
        let reply = of.book.keep(&order).wait().unwrap();
        assert_eq!(*reply.get(), i as u64 + 1);
    }
    let reply = of.book.kept().wait().unwrap();
    let owned: Vec<String> = reply.to_owned().unwrap();
    assert_eq!(owned, *reply.get());
    assert!(!owned.is_empty());
    assert_eq!(*reply.get(), ["one", "two", "three"]);
    assert!(of.pool.stats().in_use >= 3);
}

fn calls_overlap_and_may_be_forgotten(of: Setup) {
    let calls: Vec<_> = (0..20u32)
        .map(|i| (i, of.book.dot(f64::from(i), &[1.0, 2.0], &[3.0, 4.0])))
        .collect();
    // The calls are waited for in reverse order, and some are dropped.
    for (i, call) in calls.into_iter().rev().filter(|(i, _)| i % 3 != 0) {
        assert_eq!(*call.wait().unwrap().get(), 11.0 * f64::from(i));
    }
    of.book.ping().wait().unwrap();
}

fn panics_end_one_call(of: Setup) {
    for with in ["words", "drop"] {
        let error = of.book.panics(with).wait().unwrap_err();
        assert!(
            matches!(
                error,
                CallError::Panicked {
                    method: "panics",
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(error.outcome(), Outcome::MayHaveRun);
        assert!(!error.to_string().contains("secret"), "{error}");
        of.book.ping().wait().unwrap();
    }
}

fn results_too_long_are_errors(of: Setup) {
    let fits = of.book.large(1 << 21).wait().unwrap();
    assert_eq!(fits.get().len(), 1 << 21);
    // The result exceeds the client's default `max_message`.
    let error = of.book.large(100 << 20).wait().unwrap_err();
    assert!(matches!(error, CallError::NoResult { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::Ran);
    // The arguments exceed the server's `max_message`.
    let error = of
        .book
        .dot(1.0, &vec![0.0; 1 << 20], &[])
        .wait()
        .unwrap_err();
    assert!(matches!(error, CallError::NotSent { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    of.book.ping().wait().unwrap();
}

fn lost_peers_are_told(of: Setup) {
    let before = of.book.ping();
    before.wait().unwrap();
    of.serving.stop();
    // Either the send of the first call or its wait detects the end of the connection.
    let error = of.book.ping().wait().unwrap_err();
    assert!(
        matches!(error, CallError::Lost { .. } | CallError::NotSent { .. }),
        "{error}"
    );
    assert!(of.book.ping().wait().is_err());
    assert!(matches!(
        of.client.lookup::<dyn Book>("book").wait(),
        Err(LookupError::Call(_))
    ));
}

mod other {
    /// A trait with the name of another one and a different method.
    #[jstream_rmi::remote]
    pub(super) trait Book {
        fn pong(&self, twice: bool);
    }
}

fn names_and_interfaces(of: Setup) {
    let error = of.client.lookup::<dyn Book>("no such").wait().unwrap_err();
    assert_eq!(error.to_string(), "nothing is bound to \"no such\"");
    let error = of
        .client
        .lookup::<dyn other::Book>("book")
        .wait()
        .unwrap_err();
    let LookupError::OtherInterface { found, .. } = &error else {
        panic!("{error}");
    };
    assert!(
        found.contains("fn dot(&self, scale: f64, a: &[f64], b: &[f64]) -> f64"),
        "{found}"
    );

    let object = || Arc::new(Plain::default());
    let taken = of.server.bind::<dyn Book>("book", object()).unwrap_err();
    assert_eq!(
        taken,
        BindError::Taken {
            name: "book".into()
        }
    );
    let long = "x".repeat(257);
    let error = of.server.bind::<dyn Book>(&long, object()).unwrap_err();
    assert_eq!(error, BindError::TooLong { len: 257, max: 256 });
    of.server.bind::<dyn Book>("another", object()).unwrap();
    let names = of.client.registry().list().wait().unwrap();
    assert_eq!(*names.get(), ["another", "book"]);

    // A stub of an object that was rebound or unbound does not reach the new object.
    let stale = of.client.lookup::<dyn Book>("another").wait().unwrap();
    of.server.rebind::<dyn Book>("another", object()).unwrap();
    let error = stale.ping().wait().unwrap_err();
    assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    assert!(of.server.unbind("another"));
    assert!(!of.server.unbind("another"));
    assert!(of.client.lookup::<dyn Book>("another").wait().is_err());
}

fn threads_share_a_connection(of: Setup) {
    let sum = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (book, sum) = (&of.book, &sum);
            scope.spawn(move || {
                for i in 0..200 {
                    let id = thread * 1000 + i;
                    let order = Order {
                        id,
                        symbol: "S",
                        parent: None,
                    };
                    let reply = book.submit(&order).wait().unwrap();
                    assert_eq!(*reply.get(), Receipt::Accepted { id });
                    sum.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 1600);
}

fn buffers_return(of: Setup) {
    for i in 0..100 {
        let order = Order {
            id: i,
            symbol: "S",
            parent: None,
        };
        of.book.submit(&order).wait().unwrap();
        drop(of.book.large(i * 100));
    }
    of.book.ping().wait().unwrap();
    drop((of.book, of.client));
    of.serving.stop();
    assert_eq!(of.pool.stats().in_use, 0);
}

/// Each side has more to send than the buffers between the two sides hold.
fn both_sides_send_much_at_once(of: Setup) {
    let numbers = vec![0.5; 200_000];
    let calls: Vec<_> = (0..20)
        .map(|_| (of.book.large(1 << 21), of.book.dot(1.0, &numbers, &[2.0])))
        .collect();
    for (large, dot) in calls {
        assert_eq!(large.wait().unwrap().get().len(), 1 << 21);
        assert_eq!(*dot.wait().unwrap().get(), 1.0);
    }
    of.book.ping().wait().unwrap();
}

fn many_calls_are_forgotten(of: Setup) {
    for _ in 0..30_000 {
        drop(of.book.name());
    }
    of.book.ping().wait().unwrap();
}

#[derive(Transportable, Debug)]
struct List<'b> {
    next: Option<&'b List<'b>>,
}

#[remote]
trait Lists {
    fn length(&self, list: &List<'_>) -> u64;
}

struct Recursive;

impl Lists for Recursive {
    fn length(&self, list: &List<'_>) -> u64 {
        // A derived `Debug` recurses, so a list that is too deep would overflow the stack.
        assert!(format!("{list:?}").len() < 100_000);
        std::iter::successors(Some(list), |list| list.next).count() as u64
    }
}

fn deep_graphs_are_refused(of: Setup) {
    of.server
        .bind::<dyn Lists>("lists", Arc::new(Recursive))
        .unwrap();
    let lists = of.client.lookup::<dyn Lists>("lists").wait().unwrap();
    let nodes = typed_arena::Arena::new();
    let list = |len: usize| {
        let end = List { next: None };
        (1..len).fold(end, |list, _| List {
            next: Some(nodes.alloc(list)),
        })
    };
    assert_eq!(*lists.length(&list(1000)).wait().unwrap().get(), 1000);
    let error = lists.length(&list(100_000)).wait().unwrap_err();
    assert!(matches!(&error, CallError::Arguments { .. }), "{error}");
    let mut options = ClientOptions::default();
    options.limits.depth = None;
    let client = Client::connect_with(of.serving.address(), &options);
    let client = client.wait().unwrap();
    let unlimited = client.lookup::<dyn Lists>("lists").wait().unwrap();
    let error = unlimited.length(&list(100_000)).wait().unwrap_err();
    assert!(
        matches!(&error, CallError::Refused { reason, .. } if reason.contains("depth")),
        "{error}"
    );
    of.book.ping().wait().unwrap();
}

#[test]
fn a_client_without_room_goes_on_when_it_has() {
    let of = set_up("tcp://127.0.0.1:0");
    let mut options = ClientOptions::default();
    let mut pool = PoolOptions::default();
    pool.max_mapped = 1 << 20;
    options.transport.pool = Pool::new(pool);
    let client = Client::connect_with(of.serving.address(), &options)
        .wait()
        .unwrap();
    let book = client.lookup::<dyn Book>("book").wait().unwrap();
    let mut held = Vec::new();
    let error = loop {
        match book.large(100_000).wait() {
            Ok(reply) => held.push(reply),
            Err(error) => break error,
        }
        assert!(held.len() < 20);
    };
    assert!(
        matches!(&error, CallError::Lost { reason, .. } if reason.contains("max_mapped")),
        "{error}"
    );
    drop(held);
    assert_eq!(book.large(100_000).wait().unwrap().get().len(), 100_000);
    book.ping().wait().unwrap();
}

#[test]
fn a_server_without_room_waits_for_it() {
    let mut options = ServerOptions::default();
    let mut pool = PoolOptions::default();
    pool.max_mapped = 900_000;
    options.transport.pool = Pool::new(pool);
    let server = Server::new(options);
    let keeper = Arc::new(Plain::default());
    server.bind::<dyn Book>("book", keeper.clone()).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let book = client.lookup::<dyn Book>("book").wait().unwrap();
    let symbol = "x".repeat(200_000);
    let order = Order {
        id: 1,
        symbol: &symbol,
        parent: None,
    };
    // Three of these messages fit into the pool, each in a slot of 256 KiB, beside the small slots.
    for _ in 0..3 {
        book.keep(&order).wait().unwrap();
    }
    let waiting = book.keep(&order);
    std::thread::sleep(std::time::Duration::from_millis(50));
    keeper.kept.lock().unwrap().clear();
    assert_eq!(*waiting.wait().unwrap().get(), 1);
}

#[test]
fn a_silent_peer_does_not_hold_up_the_end() {
    let mut options = ServerOptions::default();
    options.transport.handshake_timeout = std::time::Duration::from_secs(600);
    let of = set_up_with("tcp://127.0.0.1:0", options);
    let address = of.serving.address().to_string();
    let silent = std::net::TcpStream::connect(address.strip_prefix("tcp://").unwrap()).unwrap();
    of.book.ping().wait().unwrap();
    let (stopped, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        of.serving.stop();
        stopped.send(()).unwrap();
    });
    // The server stops long before the handshake of the silent peer times out.
    told.recv_timeout(std::time::Duration::from_secs(120))
        .unwrap();
    drop(silent);
}

#[test]
fn peers_that_never_call_give_their_places_back() {
    let mut options = ServerOptions::default();
    options.max_connections = 4;
    options.first_call_timeout = std::time::Duration::from_millis(100);
    let server = Server::new(options);
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let silent: Vec<_> = (0..4)
        .map(|_| Client::connect(serving.address()).wait().unwrap())
        .collect();
    let served = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let client = Client::connect(serving.address()).wait();
        client.is_ok_and(|client| client.registry().list().wait().is_ok())
    });
    assert!(served);
    drop(silent);
}

#[test]
fn one_server_listens_in_several_places() {
    let server = Server::default();
    server
        .bind::<dyn Book>("book", Arc::new(Plain::default()))
        .unwrap();
    let places = ["tcp://127.0.0.1:0", "inproc://several"];
    let serving = places.map(|place| server.listen(&place.parse().unwrap()).unwrap());
    for serving in &serving {
        let client = Client::connect(serving.address()).wait().unwrap();
        client
            .lookup::<dyn Book>("book")
            .wait()
            .unwrap()
            .ping()
            .wait()
            .unwrap();
    }
}

#[test]
fn connections_are_limited() {
    let mut options = ServerOptions::default();
    options.max_connections = 2;
    let server = Server::new(options);
    server
        .bind::<dyn Book>("book", Arc::new(Plain::default()))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let connect = || Client::connect(serving.address()).wait();
    let list = |client: &Client| client.registry().list().wait().is_ok();
    let (first, second) = (connect().unwrap(), connect().unwrap());
    // Connections that hold nothing would be closed for others.
    let held = [&first, &second].map(|client| client.lookup::<dyn Book>("book").wait().unwrap());
    assert!(!connect().is_ok_and(|third| list(&third)));
    assert!(list(&first) && list(&second));
    drop((second, held));
    // The connection slot is free once the server has seen the end of the connection.
    let again = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        connect().is_ok_and(|client| list(&client))
    });
    assert!(again);
}

#[test]
fn options_are_the_clients_own() {
    let of = set_up("tcp://127.0.0.1:0");
    let mut options = ClientOptions::default();
    options.transport.max_message = 1000;
    let pool = options.transport.pool.clone();
    let address: &Address = of.serving.address();
    let client = Client::connect_with(address, &options).wait().unwrap();
    let book = client.lookup::<dyn Book>("book").wait().unwrap();
    let reply = book.large(500).wait().unwrap();
    assert!(
        pool.contains(*reply.get()),
        "the result lies in the client's pool"
    );
    assert!(matches!(
        book.large(5000).wait(),
        Err(CallError::NoResult { .. })
    ));
}
