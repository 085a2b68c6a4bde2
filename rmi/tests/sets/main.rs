//! Clients of several servers: which server gets a call, and what becomes of calls while servers
//! come and go.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod choice;
mod lists;
mod policies;
mod processes;
mod registries;
mod restarts;
mod unreachable;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Address, AddressList, CallError, ClientSet, MemberState, Outcome, Reconnect, Remote, Server,
    ServerOptions, Serving, SetOptions, Stream, remote,
};
use tokio::sync::Notify;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Shop {
    /// Records the number, and returns that of the server.
    fn buy(&self, number: u64) -> u64;
    #[remote(idempotent)]
    fn look(&self) -> u64;
    /// Waits while the server holds its calls.
    async fn wait(&self, number: u64) -> u64;
    #[remote(idempotent)]
    async fn seek(&self, number: u64) -> u64;
    /// Panics while the server is broken.
    fn risk(&self) -> u64;
    #[remote(one_way)]
    fn note(&self, number: u64);
    fn counter(&self) -> Remote<dyn Counter>;
    fn up_to(&self, count: u64) -> Stream<u64>;
}

#[remote]
trait Counter {
    fn next(&self) -> u64;
}

#[remote(stateful)]
trait Session {
    fn count(&self) -> u64;
}

/// The calls that have run, and how often.
#[derive(Default)]
struct Ledger(Mutex<BTreeMap<u64, u32>>);

impl Ledger {
    fn record(&self, number: u64) {
        *self.0.lock().unwrap().entry(number).or_default() += 1;
    }

    fn times(&self, number: u64) -> u32 {
        self.0.lock().unwrap().get(&number).copied().unwrap_or(0)
    }

    /// Checks that the outcome of a call is true.
    fn check(&self, number: u64, outcome: &Result<u64, CallError>) {
        let times = self.times(number);
        match outcome.as_ref().map_err(CallError::outcome) {
            Ok(_) | Err(Outcome::Ran) => assert_eq!(times, 1, "call {number}"),
            Err(Outcome::DidNotRun) => assert_eq!(times, 0, "call {number}: {outcome:?}"),
            Err(Outcome::MayHaveRun) => assert!(times <= 1, "call {number}: {outcome:?}"),
        }
    }
}

struct Plain {
    id: u64,
    ledger: Arc<Ledger>,
    calls: AtomicU64,
    holds: AtomicBool,
    is_broken: AtomicBool,
    released: Notify,
    /// Time that each call takes.
    delay: Duration,
}

impl Plain {
    fn begin(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if !self.delay.is_zero() {
            thread::sleep(self.delay);
        }
    }

    fn hold(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    fn release(&self) {
        self.holds.store(false, Ordering::SeqCst);
        self.released.notify_waiters();
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

#[remote]
impl Shop for Plain {
    fn buy(&self, number: u64) -> u64 {
        self.begin();
        self.ledger.record(number);
        self.id
    }

    fn look(&self) -> u64 {
        self.begin();
        self.id
    }

    async fn wait(&self, number: u64) -> u64 {
        self.begin();
        loop {
            let released = self.released.notified();
            if !self.holds.load(Ordering::SeqCst) {
                break;
            }
            released.await;
        }
        self.ledger.record(number);
        self.id
    }

    async fn seek(&self, number: u64) -> u64 {
        self.wait(number).await
    }

    fn risk(&self) -> u64 {
        self.begin();
        assert!(!self.is_broken.load(Ordering::SeqCst), "as it should");
        self.id
    }

    fn note(&self, number: u64) {
        self.ledger.record(number);
    }

    fn counter(&self) -> Remote<dyn Counter> {
        let counts = Arc::new(Counts(AtomicU64::new(0)));
        Server::default()
            .export::<dyn Counter>(counts)
            .into_remote()
    }

    fn up_to(&self, count: u64) -> Stream<u64> {
        Stream::of(0..count)
    }
}

struct Counts(AtomicU64);

impl Counter for Counts {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

impl Session for Counts {
    fn count(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// A server of the tests.
struct Running {
    serving: Option<Serving>,
    server: Server,
    object: Arc<Plain>,
    address: Address,
}

impl Running {
    fn start(address: &Address, id: u64, ledger: &Arc<Ledger>) -> Self {
        Self::start_with(
            address,
            id,
            ledger,
            ServerOptions::default(),
            Duration::ZERO,
        )
    }

    fn start_with(
        address: &Address,
        id: u64,
        ledger: &Arc<Ledger>,
        options: ServerOptions,
        delay: Duration,
    ) -> Self {
        let server = Server::new(options);
        let object = Arc::new(Plain {
            id,
            ledger: ledger.clone(),
            calls: AtomicU64::new(0),
            holds: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            released: Notify::new(),
            delay,
        });
        server.bind::<dyn Shop>("shop", object.clone()).unwrap();
        let session = Arc::new(Counts(AtomicU64::new(0)));
        server.bind::<dyn Session>("session", session).unwrap();
        // The address may still be taken for a moment.
        let mut serving = server.listen(address);
        for _ in 0..500 {
            if serving.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
            serving = server.listen(address);
        }
        let serving = serving.unwrap();
        Self {
            address: serving.address().clone(),
            serving: Some(serving),
            server,
            object,
        }
    }

    fn stop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.stop();
        }
    }

    fn connections(&self) -> u64 {
        self.server.health().connections
    }
}

/// Returns a free address for each of `count` servers, once for each device.
fn addresses(name: &str, count: u64) -> Vec<Vec<Address>> {
    let process = std::process::id();
    let on = |pattern: &dyn Fn(u64) -> String| -> Vec<Address> {
        (0..count).map(|at| pattern(at).parse().unwrap()).collect()
    };
    // Each has an IP address of its own, which outgoing connections do not use.
    let free = |at| {
        static LISTS: AtomicU64 = AtomicU64::new(0);
        let list = LISTS.fetch_add(1, Ordering::SeqCst);
        let host = format!("127.{}.{}.{}", process % 200 + 2, list % 250, at + 1);
        let tcp = std::net::TcpListener::bind((host.as_str(), 0)).unwrap();
        tcp.local_addr().unwrap()
    };
    vec![
        on(&|at| format!("inproc://sets-{name}-{at}")),
        on(&|at| format!("uds://@sets-{name}-{process}-{at}")),
        on(&|at| format!("shm://sets-{name}-{process}-{at}")),
        on(&|at| format!("tcp://{}", free(at))),
    ]
}

fn start_all(addresses: &[Address], ledger: &Arc<Ledger>) -> Vec<Running> {
    let ids = 0..;
    let each = addresses.iter().zip(ids);
    each.map(|(address, id)| Running::start(address, id, ledger))
        .collect()
}

fn quick() -> SetOptions {
    let mut options = SetOptions::default();
    let mut reconnect = Reconnect::default();
    reconnect.first_pause = Duration::from_millis(2);
    reconnect.longest_pause = Duration::from_millis(20);
    options.client.reconnect = Some(reconnect);
    options.watch = Duration::from_millis(5);
    options
}

fn set_of(addresses: &[Address]) -> ClientSet {
    let list = AddressList::new(addresses.iter().cloned()).unwrap();
    ClientSet::open_with(list, &quick()).unwrap()
}

/// Returns the number of members that are open.
fn open(set: &ClientSet) -> usize {
    let members = set.members();
    let open = members.iter().filter(|one| one.state == MemberState::Open);
    open.count()
}
