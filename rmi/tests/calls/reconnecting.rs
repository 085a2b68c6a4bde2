//! Clients whose server is restarted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jstream_rmi::{
    Address, CallError, Client, ClientOptions, ConnectionState, LookupError, Outcome, Reconnect,
    Remote, Server, Serving, Stream, Stub, remote,
};
use jstream_sync::parker::block_on;
use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Shop {
    fn add(&self, number: u64) -> u64;
    fn generation(&self) -> u64;
    fn echo(&self, text: &str) -> String;
    #[remote(idempotent)]
    fn look(&self) -> u64;
    #[remote(one_way)]
    fn note(&self, number: u64);
    async fn hold(&self) -> u64;
    #[remote(idempotent)]
    async fn hold_idempotent(&self) -> u64;
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

/// The objects of a server. `generation` is the number of starts of the server before it.
struct Plain {
    generation: u64,
    sum: AtomicU64,
}

impl Plain {
    fn of(generation: u64) -> Arc<Self> {
        Arc::new(Self {
            generation,
            sum: AtomicU64::new(0),
        })
    }
}

#[remote]
impl Shop for Plain {
    fn add(&self, number: u64) -> u64 {
        self.sum.fetch_add(number, Ordering::SeqCst) + number
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn echo(&self, text: &str) -> String {
        text.to_owned()
    }

    fn look(&self) -> u64 {
        self.generation
    }

    fn note(&self, number: u64) {
        self.add(number);
    }

    async fn hold(&self) -> u64 {
        match self.generation {
            0 => std::future::pending().await,
            generation => generation,
        }
    }

    async fn hold_idempotent(&self) -> u64 {
        self.hold().await
    }

    fn counter(&self) -> Remote<dyn Counter> {
        let export = Server::default().export::<dyn Counter>(Self::of(self.generation));
        export.into_remote()
    }

    fn up_to(&self, count: u64) -> Stream<u64> {
        Stream::of(0..count)
    }
}

impl Counter for Plain {
    fn next(&self) -> u64 {
        self.add(1)
    }
}

impl Session for Plain {
    fn count(&self) -> u64 {
        self.add(1)
    }
}

fn start(address: &Address, generation: u64) -> (Serving, Arc<Plain>) {
    let server = Server::default();
    let object = Plain::of(generation);
    server.bind::<dyn Shop>("shop", object.clone()).unwrap();
    server
        .bind::<dyn Session>("session", object.clone())
        .unwrap();
    // The address may still be taken for a moment.
    let mut serving = server.listen(address);
    for _ in 0..100 {
        if serving.is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
        serving = server.listen(address);
    }
    (serving.unwrap(), object)
}

fn quick() -> ClientOptions {
    let mut options = ClientOptions::default();
    let mut reconnect = Reconnect::default();
    reconnect.first_pause = Duration::from_millis(2);
    reconnect.longest_pause = Duration::from_millis(20);
    options.reconnect = Some(reconnect);
    options
}

fn impatient(patience: Duration) -> ClientOptions {
    let mut options = quick();
    if let Some(reconnect) = &mut options.reconnect {
        reconnect.patience = patience;
    }
    options
}

fn connect(address: &Address, options: &ClientOptions) -> (Client, ShopStub) {
    let client = Client::connect_with(address, options).wait().unwrap();
    let shop = client.lookup::<dyn Shop>("shop").wait().unwrap();
    (client, shop)
}

fn addresses(name: &str) -> Vec<Address> {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    [
        format!("inproc://reconnecting-{name}"),
        format!("uds://@reconnecting-{name}-{}", std::process::id()),
        format!("shm://reconnecting-{name}-{}", std::process::id()),
        format!("tcp://127.0.0.1:{port}"),
    ]
    .map(|address| address.parse().unwrap())
    .to_vec()
}

#[test]
fn stubs_go_on_with_the_new_server() {
    for address in addresses("stubs") {
        let (serving, _) = start(&address, 0);
        let (client, shop) = connect(&address, &quick());
        let clone = shop.within(LONG);
        assert_eq!(*shop.generation().wait().unwrap().get(), 0);
        serving.stop();
        for generation in 1..4 {
            let (next, object) = start(&address, generation);
            // Over TCP, the first call may be what detects the end, and may then have run.
            assert_eq!(*shop.look().wait().unwrap().get(), generation);
            assert_eq!(*shop.generation().wait().unwrap().get(), generation);
            assert_eq!(*clone.add(5).wait().unwrap().get(), 5);
            assert_eq!(*block_on(shop.add(6)).unwrap().get(), 11);
            assert_eq!(object.sum.load(Ordering::SeqCst), 11);
            assert_eq!(
                client.state(),
                ConnectionState::Open {
                    reconnects: generation
                }
            );
            next.stop();
        }
    }
}

#[test]
fn calls_wait_until_the_server_is_back() {
    for address in addresses("wait") {
        let (serving, _) = start(&address, 0);
        let (client, shop) = connect(&address, &quick());
        serving.stop();
        // Over TCP, the first call may be what detects the end, and may then have run.
        let first = shop.clone();
        let first = thread::spawn(move || first.look().wait().map(|reply| *reply.get()));
        until(|| matches!(client.state(), ConnectionState::Lost { attempts: 1.., .. }));
        let long = "x".repeat(100_000);
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let (shop, long) = (shop.clone(), long.clone());
                thread::spawn(move || match number % 4 {
                    0 => *shop.generation().wait().unwrap().get(),
                    1 => *block_on(shop.generation()).unwrap().get(),
                    2 => shop.echo(&long).wait().unwrap().get().len() as u64,
                    _ => shop.echo("").wait().unwrap().get().len() as u64,
                })
            })
            .collect();
        let looked_up = {
            let client = client.clone();
            thread::spawn(move || client.lookup::<dyn Shop>("shop").wait().map(drop))
        };
        until(|| matches!(client.state(), ConnectionState::Lost { attempts: 4.., .. }));
        let (_serving, _) = start(&address, 7);
        assert_eq!(first.join().unwrap().unwrap(), 7);
        let results: Vec<u64> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(results, [7, 7, 100_000, 0, 7, 7, 100_000, 0]);
        looked_up.join().unwrap().unwrap();
    }
}

#[test]
fn a_wait_ends_with_patience_and_with_the_deadline() {
    let address: Address = "inproc://reconnecting-patience".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &impatient(Duration::from_millis(50)));
    serving.stop();
    for error in [
        shop.add(1).wait().unwrap_err(),
        block_on(shop.add(1)).unwrap_err(),
        shop.retrying(jstream_rmi::Retries::default())
            .look()
            .wait()
            .unwrap_err(),
    ] {
        assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
        assert!(error.is_disconnected() && error.can_be_repeated());
        let text = error.to_string();
        assert!(text.contains("no listener"), "{text}");
    }
    let error = client.lookup::<dyn Shop>("shop").wait().map(drop);
    let error = error.unwrap_err();
    assert!(
        matches!(&error, LookupError::Call(CallError::Disconnected { .. })),
        "{error}"
    );
    assert!(!block_on(client.connected()));

    let (serving, _) = start(&address, 1);
    let (_client, shop) = connect(&address, &quick());
    serving.stop();
    let before = Instant::now();
    let brief = shop.within(Duration::from_millis(50));
    for error in [
        brief.add(1).wait().unwrap_err(),
        block_on(brief.add(1)).unwrap_err(),
    ] {
        assert_eq!(error.outcome(), Outcome::DidNotRun, "{error}");
    }
    assert!(before.elapsed() < LONG);
}

#[test]
fn calls_that_may_have_run_are_repeated_if_idempotent() {
    for address in addresses("uncertain") {
        let (serving, _) = start(&address, 0);
        let (_client, shop) = connect(&address, &quick());
        let (uncertain, harmless) = (shop.hold(), shop.hold_idempotent());
        let awaited = shop.hold_idempotent();
        // They run now, because an answer came after they were sent.
        shop.generation().wait().unwrap();
        serving.stop();
        let (_serving, _) = start(&address, 3);
        let error = uncertain.wait().unwrap_err();
        assert_eq!(error.outcome(), Outcome::MayHaveRun, "{error}");
        assert!(error.is_disconnected(), "{error}");
        assert_eq!(*harmless.wait().unwrap().get(), 3);
        assert_eq!(*block_on(awaited).unwrap().get(), 3);
    }
}

#[test]
fn calls_move_from_a_server_that_is_shutting_down() {
    let address: Address = "inproc://reconnecting-drain".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (_client, shop) = connect(&address, &quick());
    let held = shop.hold();
    shop.generation().wait().unwrap();
    let ending = thread::spawn(move || serving.shutdown(LONG).wait());
    // A new server listens while the old one waits for the method that is held.
    let (_next, object) = start(&address, 1);
    until(|| *shop.generation().wait().unwrap().get() == 1);
    assert_eq!(*shop.add(2).wait().unwrap().get(), 2);
    assert_eq!(object.sum.load(Ordering::SeqCst), 2);
    drop(held);
    ending.join().unwrap();
}

#[test]
fn no_call_is_lost_while_servers_are_shut_down_in_turn() {
    for address in addresses("rolls") {
        let mut running = start(&address, 0).0;
        let address = running.address().clone();
        let done = AtomicBool::new(false);
        let calls = AtomicU64::new(0);
        let _last = thread::scope(|scope| {
            for kind in 0..5 {
                let (address, done, calls) = (&address, &done, &calls);
                scope.spawn(move || {
                    let (_client, shop) = connect(address, &quick());
                    while !done.load(Ordering::SeqCst) {
                        match kind {
                            0 => drop(block_on(shop.add(1)).unwrap()),
                            1 => drop(shop.echo(&"long ".repeat(60_000)).wait().unwrap()),
                            // Several calls are in flight at a time.
                            2 => {
                                let sent = [(); 20].map(|()| shop.add(1));
                                sent.into_iter().for_each(|call| drop(call.wait().unwrap()));
                            }
                            _ => drop(shop.add(1).wait().unwrap()),
                        }
                        calls.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for generation in 1..6 {
                let before = calls.load(Ordering::SeqCst);
                until(|| calls.load(Ordering::SeqCst) > before + 50);
                let ended = running.shutdown(LONG).wait();
                assert_eq!((ended.cut_off, ended.abandoned), (0, false));
                running = start(&address, generation).0;
            }
            done.store(true, Ordering::SeqCst);
            running
        });
    }
}

#[test]
fn an_unused_client_leaves_a_server_that_is_shutting_down() {
    for address in addresses("unused") {
        let (running, _) = start(&address, 0);
        let address = running.address().clone();
        let (client, shop) = connect(&address, &quick());
        let changes = client.state_changes().unwrap();
        running.shutdown(LONG).wait();
        until(|| matches!(client.state(), ConnectionState::Lost { .. }));
        let _running = start(&address, 1);
        // The first call is not lost, though it may not be repeated.
        assert_eq!(*shop.generation().wait().unwrap().get(), 1);
        drop(changes);
    }
}

#[test]
fn stateful_objects_are_lost() {
    let address: Address = "inproc://reconnecting-stateful".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    let session = client.lookup::<dyn Session>("session").wait().unwrap();
    assert_eq!(*session.count().wait().unwrap().get(), 1);
    serving.stop();
    let (_serving, _) = start(&address, 1);
    assert_eq!(*shop.generation().wait().unwrap().get(), 1);
    for error in [
        session.count().wait().unwrap_err(),
        block_on(session.count()).unwrap_err(),
    ] {
        assert!(matches!(error, CallError::ObjectLost { .. }), "{error}");
        assert!(error.to_string().contains("\"session\""), "{error}");
    }
    let session = client.lookup::<dyn Session>("session").wait().unwrap();
    assert_eq!(*session.count().wait().unwrap().get(), 1);
}

#[test]
fn references_streams_and_one_way_calls_use_the_new_connection() {
    let address: Address = "inproc://reconnecting-others".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    let old = shop.counter().wait().unwrap();
    assert_eq!(*old.next().wait().unwrap().get(), 1);
    serving.stop();
    let (_serving, object) = start(&address, 1);
    // Such calls do not wait for the connection.
    assert!(block_on(client.connected()));
    until(|| shop.counter().wait().is_ok());
    assert_eq!(shop.up_to(5).filter_map(Result::ok).count(), 5);
    shop.note(4).unwrap();
    until(|| object.sum.load(Ordering::SeqCst) == 4);
    // References to objects of the old server stay lost.
    let error = old.next().wait().unwrap_err();
    assert!(error.is_disconnected(), "{error}");
}

#[test]
fn changes_of_the_state_are_observed() {
    let address: Address = "inproc://reconnecting-state".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    let mut changes = client.state_changes().unwrap();
    assert_eq!(changes.wait(Duration::ZERO), None);
    let pending = shop.hold();
    serving.stop();
    assert!(pending.wait().is_err());
    assert!(matches!(
        changes.wait(LONG),
        Some(ConnectionState::Lost { .. })
    ));
    let (_serving, _) = start(&address, 1);
    shop.generation().wait().unwrap();
    until(|| client.state() == ConnectionState::Open { reconnects: 1 });
    assert!(changes.wait(LONG).is_some());
    client.close();
    until(|| block_on(changes.next()) == ConnectionState::Closed);
    let error = shop.generation().wait().unwrap_err();
    assert!(error.to_string().contains("closed the client"), "{error}");
}

#[test]
fn a_name_that_is_bound_late_is_found() {
    let address: Address = "inproc://reconnecting-late".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    serving.stop();
    let empty = Server::default();
    let _serving = empty.listen(&address).unwrap();
    let call = thread::spawn(move || shop.generation().wait().map(|reply| *reply.get()));
    until(|| client.state() == ConnectionState::Open { reconnects: 1 });
    thread::sleep(Duration::from_millis(30));
    empty.bind::<dyn Shop>("shop", Plain::of(9)).unwrap();
    assert_eq!(call.join().unwrap().unwrap(), 9);
}

#[test]
fn another_interface_ends_the_wait() {
    mod other {
        #[jstream_rmi::remote]
        pub(super) trait Shop {
            fn add(&self, number: &str);
        }
    }
    struct Other;
    impl other::Shop for Other {
        fn add(&self, _: &str) {}
    }
    let address: Address = "inproc://reconnecting-interface".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (_client, shop) = connect(&address, &quick());
    serving.stop();
    let server = Server::default();
    server
        .bind::<dyn other::Shop>("shop", Arc::new(Other))
        .unwrap();
    let serving = server.listen(&address).unwrap();
    let error = shop.add(1).wait().unwrap_err();
    assert!(error.to_string().contains("another interface"), "{error}");
    // A later server has the interface again. An answer of this one may still be on its way.
    serving.stop();
    let (_serving, _) = start(&address, 2);
    until(|| shop.look().wait().is_ok_and(|reply| *reply.get() == 2));
}

#[test]
fn a_client_that_was_dropped_leaves_nothing() {
    let address: Address = "inproc://reconnecting-dropped".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    let weak = client.downgrade();
    serving.stop();
    let mut call = Box::pin(shop.generation());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    drop((call, shop, client));
    until(|| weak.upgrade().is_none());
}

#[test]
fn panicking_wakers_do_not_stop_the_others() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("as it should");
        }
    }
    let address: Address = "inproc://reconnecting-wakers".parse().unwrap();
    let (serving, _) = start(&address, 0);
    let (client, shop) = connect(&address, &quick());
    serving.stop();
    let mut call = Box::pin(shop.generation());
    let waker = Arc::new(Panics).into();
    let mut context = std::task::Context::from_waker(&waker);
    assert!(call.as_mut().poll(&mut context).is_pending());
    let other = {
        let shop = shop.clone();
        thread::spawn(move || shop.generation().wait().map(|reply| *reply.get()))
    };
    until(|| matches!(client.state(), ConnectionState::Lost { attempts: 2.., .. }));
    let (_serving, _) = start(&address, 1);
    assert_eq!(other.join().unwrap().unwrap(), 1);
}
