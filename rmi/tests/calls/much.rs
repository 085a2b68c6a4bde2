//! Calls with large arguments and results, beside small ones.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{Address, Client, ClientOptions, Server, ServerOptions, context, remote};

use testing::until;

#[remote]
trait Store {
    fn ping(&self);
    fn sum(&self, numbers: &[u64]) -> u64;
    fn many(&self, count: u64) -> Vec<u64>;
    /// Sends `count` numbers to the caller.
    fn back(&self, count: u64) -> u64;
    #[remote(one_way)]
    fn tell(&self, numbers: &[u64]);
    fn told(&self) -> u64;
    async fn wait(&self);
}

#[derive(Default)]
struct Here {
    told: AtomicU64,
}

#[remote]
impl Store for Here {
    fn ping(&self) {}

    fn sum(&self, numbers: &[u64]) -> u64 {
        numbers.iter().sum()
    }

    fn many(&self, count: u64) -> Vec<u64> {
        (0..count).collect()
    }

    fn back(&self, count: u64) -> u64 {
        let caller = context().caller().unwrap();
        let store = caller.lookup::<dyn Store>("store").wait().unwrap();
        let numbers = vec![1; usize::try_from(count).unwrap()];
        *store.sum(&numbers).wait().unwrap().get()
    }

    fn tell(&self, numbers: &[u64]) {
        self.told
            .fetch_add(numbers.iter().sum::<u64>(), Ordering::SeqCst);
    }

    fn told(&self) -> u64 {
        self.told.load(Ordering::SeqCst)
    }

    async fn wait(&self) {
        std::future::pending().await
    }
}

fn server(options: ServerOptions) -> Server {
    let server = Server::new(options);
    let object = Arc::new(Here::default());
    server.bind::<dyn Store>("store", object).unwrap();
    server
}

const MUCH: usize = 4 << 20;

/// While one thread makes large calls one after another, small calls are answered.
#[test]
fn small_calls_go_beside_large_ones() {
    let name = format!("shm://jstream-much-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", &name, "inproc://much"] {
        let server = server(ServerOptions::default());
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let store = client.lookup::<dyn Store>("store").wait().unwrap();
        let numbers = vec![1u64; MUCH];
        let (sending, beside) = (AtomicBool::new(false), AtomicU64::new(0));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::SeqCst) {
                        let before = sending.load(Ordering::SeqCst);
                        store.ping().wait().unwrap();
                        // The call began and ended while a large one was in flight.
                        if before && sending.load(Ordering::SeqCst) {
                            beside.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
            let large = store.clone();
            for round in 0..200 {
                sending.store(true, Ordering::SeqCst);
                let sum = large.sum(&numbers).wait().unwrap();
                sending.store(false, Ordering::SeqCst);
                assert_eq!(*sum.get(), MUCH as u64);
                if round >= 2 && beside.load(Ordering::SeqCst) > 50 {
                    break;
                }
            }
            over.store(true, Ordering::SeqCst);
        });
        assert!(beside.load(Ordering::SeqCst) > 50);
    }
}

#[test]
fn both_sides_send_much_to_each_other() {
    for address in ["tcp://127.0.0.1:0", "inproc://much-both"] {
        let mut options = ServerOptions::default();
        options.threads = 1;
        let serving = server(options).listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        assert!(client.export_server(&server(ServerOptions::default())));
        let store = client.lookup::<dyn Store>("store").wait().unwrap();
        let numbers = vec![1u64; MUCH / 4];
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        let back = store.back(MUCH as u64 / 4);
                        let sum = store.sum(&numbers);
                        let many = store.many(MUCH as u64 / 4).wait().unwrap();
                        assert_eq!(many.get().len(), MUCH / 4);
                        assert_eq!(*sum.wait().unwrap().get(), MUCH as u64 / 4);
                        assert_eq!(*back.wait().unwrap().get(), MUCH as u64 / 4);
                    }
                });
            }
        });
    }
}

/// If the server has no slot for a second connection, large calls use the first one.
#[test]
fn a_full_server_takes_large_calls_too() {
    let mut options = ServerOptions::default();
    options.max_connections = 1;
    let serving = server(options)
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect_with(serving.address(), &ClientOptions::default())
        .wait()
        .unwrap();
    let store = client.lookup::<dyn Store>("store").wait().unwrap();
    for _ in 0..3 {
        store.tell(&vec![1u64; MUCH / 8]).unwrap();
        let sum = store.sum(&vec![2u64; MUCH / 8]).wait().unwrap();
        assert_eq!(*sum.get(), MUCH as u64 / 4);
    }
    // Calls of a connection begin in order, but the last `tell` may end after `told` begins.
    let told = || *store.told().wait().unwrap().get();
    until(|| told() >= 3 * MUCH as u64 / 8);
    assert_eq!(told(), 3 * MUCH as u64 / 8);
}

/// A proxy. While its gate is closed, it forwards a limited number of bytes per connection.
struct Gate {
    closed: AtomicBool,
    stuck: AtomicU64,
    /// Number of bytes that the first client has received over its first connection.
    over_first: AtomicU64,
}

/// Number of bytes of a connection that pass a closed gate.
const THROUGH: usize = 64 << 10;

impl Gate {
    /// Starts a proxy in front of `server`. Returns it with the address for clients.
    fn before(server: &Address) -> (Arc<Self>, Address) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("tcp://{}", listener.local_addr().unwrap());
        let gate = Arc::new(Self {
            closed: AtomicBool::new(false),
            stuck: AtomicU64::new(0),
            over_first: AtomicU64::new(0),
        });
        let server = server.to_string().replace("tcp://", "");
        let shared = gate.clone();
        thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (mut to, mut from) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                let gate = shared.clone();
                thread::spawn(move || gate.let_through(server, client, number == 0));
            }
        });
        (gate, address.parse().unwrap())
    }

    fn let_through(&self, mut from: TcpStream, mut to: TcpStream, is_first: bool) {
        let (mut buffer, mut through) = (vec![0; THROUGH / 4], 0);
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if is_first {
                self.over_first.fetch_add(count as u64, Ordering::SeqCst);
            }
            if self.closed.load(Ordering::SeqCst) {
                through += count;
            }
            if through >= THROUGH {
                self.stuck.fetch_add(1, Ordering::SeqCst);
                while self.closed.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
                through = 0;
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    }
}

/// While a large result is held up, small calls are answered, both blocking and awaited ones.
#[test]
fn small_calls_go_beside_large_results() {
    let serving = server(ServerOptions::default());
    let serving = serving
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let (gate, address) = Gate::before(serving.address());
    let client = Client::connect(&address).wait().unwrap();
    let store = client.lookup::<dyn Store>("store").wait().unwrap();
    let count = MUCH as u64 / 4;
    // Other calls are in flight beside the large results, so the client eventually opens a second
    // connection. The server counts that connection before the client uses it.
    let waiting = store.wait();
    until(|| {
        let before = gate.over_first.load(Ordering::SeqCst);
        let many = store.many(count).wait().unwrap();
        assert_eq!(many.get().len() as u64, count);
        gate.over_first.load(Ordering::SeqCst) - before < MUCH as u64
    });
    let health = *client.reflection().health().wait().unwrap().get();
    assert_eq!(health.connections, 2);
    for is_awaited in [false, true] {
        gate.stuck.store(0, Ordering::SeqCst);
        gate.closed.store(true, Ordering::SeqCst);
        let many = store.many(count);
        let asking = thread::spawn(move || match is_awaited {
            false => many.wait().unwrap(),
            true => tokio_block_on(many).unwrap(),
        });
        until(|| gate.stuck.load(Ordering::SeqCst) > 0);
        for _ in 0..20 {
            store.ping().wait().unwrap();
        }
        assert!(!asking.is_finished());
        gate.closed.store(false, Ordering::SeqCst);
        assert!(asking.join().unwrap().get().iter().copied().eq(0..count));
    }
    drop(waiting);
}

/// Results that are never fetched are dropped and occupy no room.
#[test]
fn results_that_are_given_up_take_no_room() {
    let mut options = ServerOptions::default();
    options.max_backlog = MUCH as u64;
    let serving = server(options)
        .listen(&"inproc://much-given-up".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let store = client.lookup::<dyn Store>("store").wait().unwrap();
    let waiting = store.wait();
    for _ in 0..50 {
        let calls: Vec<_> = (0..3).map(|_| store.many(MUCH as u64 / 10)).collect();
        for (n, call) in calls.into_iter().enumerate() {
            match n {
                0 => assert_eq!(call.wait().unwrap().get().len(), MUCH / 10),
                1 => drop(call),
                _ => drop(tokio_block_on(call).unwrap()),
            }
        }
    }
    drop(waiting);
}

/// The results of dropped calls are freed long before their deadline, so the shutdown is immediate.
#[test]
fn results_that_are_given_up_are_let_go() {
    let serving = server(ServerOptions::default())
        .listen(&"inproc://much-let-go".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let store = client.lookup::<dyn Store>("store").wait().unwrap();
    let waiting = store.wait();
    let count = MUCH as u64 / 16;
    loop {
        drop(store.many(count).wait().unwrap());
        if client
            .reflection()
            .health()
            .wait()
            .unwrap()
            .get()
            .connections
            == 2
        {
            break;
        }
    }
    drop(store.many(count).wait().unwrap());
    for _ in 0..10 {
        let many = [store.many(count), store.many(count)];
        // By now both calls are answered.
        store.ping().wait().unwrap();
        drop(many);
    }
    drop(waiting);
    assert_eq!(serving.shutdown(Duration::from_secs(40)).wait().cut_off, 0);
}

fn tokio_block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().build().unwrap().block_on(future)
}
