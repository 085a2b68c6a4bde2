//! Calls with many bytes of arguments and results, beside small ones.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use jstream_rmi::{Client, ClientOptions, Server, ServerOptions, context, remote};

#[remote]
trait Store {
    fn ping(&self);
    fn sum(&self, numbers: &[u64]) -> u64;
    fn many(&self, count: u64) -> Vec<u64>;
    /// Sends so many to its caller.
    fn back(&self, count: u64) -> u64;
    #[remote(one_way)]
    fn tell(&self, numbers: &[u64]);
    fn told(&self) -> u64;
}

#[derive(Default)]
struct Here {
    told: AtomicU64,
}

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
        let store = caller.lookup::<dyn Store>("store").unwrap();
        *store.sum(&vec![1; count as usize]).wait().unwrap().get()
    }

    fn tell(&self, numbers: &[u64]) {
        self.told
            .fetch_add(numbers.iter().sum::<u64>(), Ordering::SeqCst);
    }

    fn told(&self) -> u64 {
        self.told.load(Ordering::SeqCst)
    }
}

fn server(options: ServerOptions) -> Server {
    let server = Server::new(options);
    let object = Arc::new(Here::default());
    server.bind::<dyn Store>("store", object).unwrap();
    server
}

const MUCH: usize = 4 << 20;

/// While a thread sends one large call after another, others are answered.
#[test]
fn small_calls_go_beside_large_ones() {
    let name = format!("shm://jstream-much-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", &name, "inproc://much"] {
        let server = server(ServerOptions::default());
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).unwrap();
        let store = client.lookup::<dyn Store>("store").unwrap();
        let numbers = vec![1u64; MUCH];
        let (sending, beside) = (AtomicBool::new(false), AtomicU64::new(0));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::SeqCst) {
                        let before = sending.load(Ordering::SeqCst);
                        store.ping().wait().unwrap();
                        // It began and ended while the same large one was on its way.
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
        let client = Client::connect(serving.address()).unwrap();
        assert!(client.export(&server(ServerOptions::default())));
        let store = client.lookup::<dyn Store>("store").unwrap();
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

/// Where there is no place for a second connection, one does.
#[test]
fn a_full_server_takes_large_calls_too() {
    let mut options = ServerOptions::default();
    options.max_connections = 1;
    let serving = server(options)
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect_with(serving.address(), &ClientOptions::default()).unwrap();
    let store = client.lookup::<dyn Store>("store").unwrap();
    for _ in 0..3 {
        store.tell(&vec![1u64; MUCH / 8]).unwrap();
        let sum = store.sum(&vec![2u64; MUCH / 8]).wait().unwrap();
        assert_eq!(*sum.get(), MUCH as u64 / 4);
    }
    assert_eq!(*store.told().wait().unwrap().get(), 3 * MUCH as u64 / 8);
}
