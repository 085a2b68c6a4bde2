//! Objects that are passed by reference, over two kinds of connections.

use std::collections::HashSet;
use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::bound::Bound;
use jstream_rmi::{
    Address, CallError, Client, ClientOptions, Clock, Exclusive, Export, Outcome, Remote, Server,
    ServerOptions, Serving, Stub, WeakServer, context, remote,
};

use testing::until;

/// A counter.
#[remote]
trait Counter {
    fn add(&self, n: u64) -> u64;
    async fn add_later(&self, n: u64) -> u64;
    fn deadline(&self) -> bool;
    fn fail(&self) -> u64;
}

#[derive(Default)]
struct Count(AtomicU64);

#[remote]
impl Counter for Count {
    fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::Relaxed) + n
    }

    async fn add_later(&self, n: u64) -> u64 {
        jstream_transport::active::yield_now().await;
        self.add(n)
    }

    fn deadline(&self) -> bool {
        context().deadline().is_some()
    }

    fn fail(&self) -> u64 {
        panic!("as it should")
    }
}

/// A shelf that keeps counters and creates them.
#[remote]
trait Shelf {
    fn put(&self, counter: Remote<dyn Counter>) -> u64;
    async fn put_later(&self, counter: Remote<dyn Counter>, times: u64) -> u64;
    fn put_all(&self, counters: Vec<Remote<dyn Counter>>, one: Option<Remote<dyn Counter>>) -> u64;
    fn look(&self, counter: Remote<dyn Counter>) -> bool;
    fn make(&self) -> Remote<dyn Counter>;
    fn last(&self) -> Option<Remote<dyn Counter>>;
    fn all(&self) -> Vec<Remote<dyn Counter>>;
    fn take(&self, at: u64) -> Result<Remote<dyn Counter>, String>;
    fn clear(&self);
    async fn wait_with(&self, counter: Remote<dyn Counter>);
    /// Passes the last counter on to another shelf.
    fn pass_on(&self, to: Remote<dyn Shelf>) -> bool;
}

struct Board {
    server: WeakServer,
    kept: Mutex<Vec<Remote<dyn Counter>>>,
    /// The number of created counters that were reported as unreferenced.
    unreferenced: Arc<AtomicUsize>,
    own: Mutex<Vec<Export<dyn Counter>>>,
}

#[remote]
impl Shelf for Board {
    fn put(&self, counter: Remote<dyn Counter>) -> u64 {
        // The owner waits for this call and serves the nested call meanwhile.
        let count = *counter.add(1).wait().unwrap().get();
        self.kept.lock().unwrap().push(counter);
        count
    }

    async fn put_later(&self, counter: Remote<dyn Counter>, times: u64) -> u64 {
        let mut count = 0;
        for _ in 0..times {
            count = *counter.add_later(1).await.unwrap().get();
        }
        count
    }

    fn put_all(&self, counters: Vec<Remote<dyn Counter>>, one: Option<Remote<dyn Counter>>) -> u64 {
        let different: HashSet<_> = counters.iter().chain(&one).cloned().collect();
        self.kept.lock().unwrap().extend(counters);
        different.len() as u64
    }

    fn look(&self, counter: Remote<dyn Counter>) -> bool {
        self.kept.lock().unwrap().contains(&counter)
    }

    fn make(&self) -> Remote<dyn Counter> {
        let export = self
            .server
            .upgrade()
            .unwrap()
            .export::<dyn Counter>(Arc::new(Count::default()));
        let unreferenced = self.unreferenced.clone();
        export.when_unreferenced(move || {
            unreferenced.fetch_add(1, Ordering::Relaxed);
        });
        let made = export.remote();
        self.own.lock().unwrap().push(export);
        made
    }

    fn last(&self) -> Option<Remote<dyn Counter>> {
        self.kept.lock().unwrap().last().cloned()
    }

    fn all(&self) -> Vec<Remote<dyn Counter>> {
        self.kept.lock().unwrap().clone()
    }

    fn take(&self, at: u64) -> Result<Remote<dyn Counter>, String> {
        let kept = self.kept.lock().unwrap();
        let counter = kept.get(usize::try_from(at).unwrap());
        counter.cloned().ok_or_else(|| format!("no counter {at}"))
    }

    fn clear(&self) {
        self.kept.lock().unwrap().clear();
    }

    async fn wait_with(&self, counter: Remote<dyn Counter>) {
        let _counter = counter;
        std::future::pending::<()>().await;
    }

    fn pass_on(&self, to: Remote<dyn Shelf>) -> bool {
        let last = self.last();
        last.is_some_and(|last| to.put(last).wait().is_ok())
    }
}

struct Setup {
    server: Bound,
    serving: Serving,
    client: Client,
    shelf: ShelfStub,
    own: Server,
    board: Arc<Board>,
    /// A thread that receives messages of the server while the test does not wait.
    _hears: jstream_transport::active::Serving,
}

fn setup(address: &str, options: ServerOptions) -> Setup {
    let server = Server::new(options.clone());
    let board = Arc::new(Board {
        server: server.downgrade(),
        kept: Mutex::default(),
        unreferenced: Arc::default(),
        own: Mutex::default(),
    });
    server.bind::<dyn Shelf>("shelf", board.clone()).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let mut of_client = ClientOptions::default();
    of_client.clock = options.clock;
    of_client.lease = options.lease;
    let client = Client::connect_with(serving.address(), &of_client)
        .wait()
        .unwrap();
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    Setup {
        own: Server::default(),
        server: Bound(server, "shelf"),
        serving,
        _hears: client.start().unwrap(),
        client,
        shelf,
        board,
    }
}

/// Runs a test over both kinds of connections.
fn over_both(name: &str, test: impl Fn(Setup)) {
    for address in [
        format!("inproc://references-{name}"),
        "tcp://127.0.0.1:0".to_owned(),
    ] {
        test(setup(&address, ServerOptions::default()));
    }
}

#[test]
fn a_reference_that_is_passed_is_called() {
    over_both("passed", |setup| {
        let count = Arc::new(Count::default());
        let export = setup.own.export::<dyn Counter>(count.clone());
        assert_eq!(*setup.shelf.put(export.remote()).wait().unwrap().get(), 1);
        assert_eq!(export.references(), 1);
        let later = setup.shelf.put_later(export.remote(), 5).wait();
        assert_eq!(*later.unwrap().get(), 6);
        assert_eq!(count.0.load(Ordering::Relaxed), 6);
        assert_eq!(setup.own.references().leases, 1);

        setup.shelf.clear().wait().unwrap();
        until(|| export.references() == 0);
        let counts = setup.own.references();
        assert_eq!((counts.exports, counts.leases, counts.pins), (1, 0, 0));
        drop(export);
        assert_eq!(setup.own.references().exports, 0);
    });
}

#[test]
fn a_reference_that_comes_home_is_the_object() {
    over_both("home", |setup| {
        let count = Arc::new(Count::default());
        let export = setup.own.export::<dyn Counter>(count.clone());
        setup.shelf.put(export.remote()).wait().unwrap();
        let back = setup.shelf.last().wait().unwrap().unwrap();
        assert!(back.is_local());
        assert_eq!(back, export.remote());
        let local: Arc<Count> = back.local().unwrap();
        assert!(Arc::ptr_eq(&local, &count));
        assert!(back.local::<Exclusive<Count>>().is_none());
        // Local calls do not need the connection.
        setup.client.close();
        assert_eq!(*back.add(2).wait().unwrap().get(), 3);
        assert_eq!(*back.add_later(2).wait().unwrap().get(), 5);
    });
}

#[test]
fn one_that_comes_home_as_an_argument_is_the_object_too() {
    over_both("home-argument", |setup| {
        let made = setup.shelf.make().wait().unwrap();
        assert!(!made.is_local() && made.local::<Arc<Count>>().is_none());
        assert_eq!(*made.add(3).wait().unwrap().get(), 3);
        assert_eq!(*setup.shelf.put(made.clone()).wait().unwrap().get(), 4);
        assert!(setup.board.last().unwrap().local::<Arc<Count>>().is_some());
        assert!(*setup.shelf.look(made.clone()).wait().unwrap().get());
        // The reference was passed again, and is equal.
        assert_eq!(setup.shelf.last().wait().unwrap().unwrap(), made);
        assert_eq!(setup.client.references(), 2);
    });
}

#[test]
fn many_at_once_keep_their_identity() {
    over_both("many", |setup| {
        let exports: Vec<_> = (0..100)
            .map(|_| setup.own.export::<dyn Counter>(Arc::new(Count::default())))
            .collect();
        let mut all: Vec<_> = exports.iter().map(Export::remote).collect();
        all.extend(exports.iter().map(Export::remote));
        let put = setup.shelf.put_all(all, Some(exports[7].remote())).wait();
        assert_eq!(*put.unwrap().get(), 100);
        assert_eq!(setup.own.references().leases, 100);
        let back = setup.shelf.all().wait().unwrap();
        assert_eq!(back.len(), 200);
        assert!(
            back[100..]
                .iter()
                .zip(&exports)
                .all(|(one, of)| *one == of.remote())
        );
        let none = setup.shelf.put_all(Vec::new(), None).wait();
        assert_eq!(*none.unwrap().get(), 0);
        setup.shelf.clear().wait().unwrap();
        until(|| setup.own.references().leases == 0);
    });
}

#[test]
fn results_may_have_none() {
    over_both("none", |setup| {
        assert!(setup.shelf.last().wait().unwrap().is_none());
        let refused = setup.shelf.take(3).wait().unwrap();
        assert_eq!(refused.unwrap_err(), "no counter 3");
    });
}

#[test]
fn the_owner_is_told_when_nobody_has_a_reference() {
    over_both("unreferenced", |setup| {
        let made = setup.shelf.make().wait().unwrap();
        let also = made.stub().clone();
        drop(made);
        // A stub counts as a reference, too.
        assert_eq!(*also.add(1).wait().unwrap().get(), 1);
        assert_eq!(setup.board.unreferenced.load(Ordering::Relaxed), 0);
        drop(also);
        until(|| setup.board.unreferenced.load(Ordering::Relaxed) == 1);
        assert_eq!(setup.server.references().leases, 0);
        // The export keeps the object alive.
        assert_eq!(setup.server.references().exports, 2);
    });
}

#[test]
fn what_is_let_go_lives_by_its_references() {
    over_both("let-go", |setup| {
        let own = &setup.own;
        let remote = own
            .export::<dyn Counter>(Arc::new(Count::default()))
            .into_remote();
        setup.shelf.put(remote.clone()).wait().unwrap();
        drop(remote);
        assert_eq!(own.references().exports, 1);
        let back = setup.shelf.last().wait().unwrap().unwrap();
        assert_eq!(*back.add(1).wait().unwrap().get(), 2);
        drop(back);
        setup.shelf.clear().wait().unwrap();
        until(|| own.references().exports == 0);
    });
}

#[test]
fn an_object_ends_with_its_export() {
    over_both("export", |setup| {
        let made = setup.shelf.make().wait().unwrap();
        setup.board.own.lock().unwrap().clear();
        let error = made.add(1).wait().unwrap_err();
        assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
        let export = setup.own.export::<dyn Counter>(Arc::new(Count::default()));
        let local = export.remote();
        drop(export);
        assert!(matches!(
            local.add(1).wait(),
            Err(CallError::UnknownObject { .. })
        ));
    });
}

#[test]
fn a_connection_that_ends_has_no_references() {
    over_both("ended", |setup| {
        let made = setup.shelf.make().wait().unwrap();
        assert_eq!(setup.server.references().leases, 1);
        let export = setup.own.export::<dyn Counter>(Arc::new(Count::default()));
        setup.shelf.put(export.remote()).wait().unwrap();
        setup.client.close();
        until(|| setup.server.references().leases == 0);
        until(|| setup.own.references().leases == 0);
        // The object is told after its leases are released.
        until(|| setup.board.unreferenced.load(Ordering::Relaxed) == 1);
        assert!(made.add(1).wait().is_err());
    });
}

#[test]
fn calls_that_are_given_up_leave_nothing() {
    over_both("given-up", |setup| {
        let export = setup.own.export::<dyn Counter>(Arc::new(Count::default()));
        drop(setup.shelf.wait_with(export.remote()));
        let shortly = setup.shelf.within(Duration::from_millis(30));
        let late = shortly.wait_with(export.remote()).wait().unwrap_err();
        assert!(matches!(late, CallError::Deadline { .. }), "{late}");
        // The references in results that are never taken are released.
        for _ in 0..20 {
            drop(setup.shelf.make());
        }
        until(|| {
            let (here, there) = (setup.own.references(), setup.server.references());
            (here.leases, here.pins, there.leases) == (0, 0, 0)
        });
    });
}

#[test]
fn calls_of_a_local_reference_are_calls() {
    let own = Server::default();
    let export = own.export::<dyn Counter>(Arc::new(Count::default()));
    let remote = export.remote();
    assert!(!*remote.deadline().wait().unwrap().get());
    let within = remote.within(Duration::from_secs(1000));
    assert!(*within.deadline().wait().unwrap().get());
    let over = remote.within(Duration::ZERO).add(1).wait().unwrap_err();
    assert_eq!(over.outcome(), Outcome::DidNotRun);
    let panicked = remote.fail().wait().unwrap_err();
    assert!(matches!(panicked, CallError::Panicked { .. }), "{panicked}");
    drop(remote.add_later(1));
    assert_eq!(*remote.add(1).wait().unwrap().get(), 1);

    // References in local calls are passed as they are.
    let board = Arc::new(Board {
        server: own.downgrade(),
        kept: Mutex::default(),
        unreferenced: Arc::default(),
        own: Mutex::default(),
    });
    let shelf = own.export::<dyn Shelf>(board);
    assert_eq!(*shelf.remote().put(remote.clone()).wait().unwrap().get(), 2);
    assert_eq!(shelf.remote().last().wait().unwrap(), Some(remote));
    assert_eq!(own.references().leases, 0);
}

#[test]
fn leases_are_renewed_and_end() {
    for address in ["inproc://references-leases", "tcp://127.0.0.1:0"] {
        let clock = Clock::paused();
        let mut options = ServerOptions::default();
        options.clock = clock.clone();
        options.lease = Duration::from_secs(600);
        let setup = setup(address, options);
        let made = setup.shelf.make().wait().unwrap();
        let export = setup.own.export::<dyn Counter>(Arc::new(Count::default()));
        setup.shelf.put(export.remote()).wait().unwrap();
        // Both sides renew their leases at half time, so the references stay valid for any time.
        for _ in 0..10 {
            clock.advance(Duration::from_secs(301));
            // The renewals arrive before the answer.
            assert!(made.add(1).wait().is_ok());
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(setup.server.references().leases, 1);
        assert_eq!(export.references(), 1);
        assert_eq!(setup.board.unreferenced.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn leases_that_nobody_renews_end() {
    let clock = Clock::paused();
    let mut options = ServerOptions::default();
    options.clock = clock.clone();
    let setup = setup("inproc://references-expired", options.clone());
    // A client with a paused clock, which never renews its lease.
    let mut silent = ClientOptions::default();
    silent.clock = Clock::paused();
    let client = Client::connect_with(setup.serving.address(), &silent)
        .wait()
        .unwrap();
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    let made = shelf.make().wait().unwrap();
    assert_eq!(setup.server.references().leases, 1);
    clock.advance(options.lease);
    assert_eq!(setup.server.references().leases, 0);
    assert_eq!(setup.board.unreferenced.load(Ordering::Relaxed), 1);
    let error = made.add(1).wait().unwrap_err();
    assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
    // An object that is bound to a name has no lease.
    let other = shelf.make().wait().unwrap();
    assert_eq!(*other.add(1).wait().unwrap().get(), 1);
    assert_ne!(made, other);
}

#[test]
fn a_program_that_computes_loses_nothing() {
    let mut options = ServerOptions::default();
    options.lease = Duration::from_millis(1500);
    let setup = setup("tcp://127.0.0.1:0", options);
    let made = setup.shelf.make().wait().unwrap();
    // Longer than some leases, without a call.
    thread::sleep(Duration::from_secs(5));
    assert_eq!(setup.board.unreferenced.load(Ordering::Relaxed), 0);
    assert_eq!(*made.add(1).wait().unwrap().get(), 1);
}

#[test]
fn objects_of_third_parties_are_claimed_from_their_owners() {
    over_both("owner", |owner| {
        let mut options = ServerOptions::default();
        options.third_parties = true;
        let third = setup("tcp://127.0.0.1:0", options);
        let made = owner.shelf.make().wait().unwrap();
        let count = third.shelf.put(made.clone()).wait().unwrap();
        assert_eq!(*count.get(), 1);
        assert_eq!(owner.server.references().leases, 2);
        drop(made);
        until(|| owner.server.references().leases == 1);
        let last = third.board.last().unwrap();
        assert_eq!(*last.add(1).wait().unwrap().get(), 2);
        drop(last);
        third.shelf.clear().wait().unwrap();
        until(|| owner.server.references().leases == 0);
    });
}

/// Returns an address of this host that is not recognised as local, if there is one.
fn outside() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Connecting a UDP socket sends nothing.
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

/// The receiver is on another host, as far as the address of its connection tells. The sender
/// reaches the owner by an address that leads to it on the sender's host only.
#[test]
fn addresses_within_a_host_are_not_passed_to_others() {
    let Some(ip) = outside() else {
        eprintln!("skipped: this host has no address but its loopback");
        return;
    };
    let mut options = ServerOptions::default();
    options.third_parties = true;
    let third = setup("tcp://0.0.0.0:0", options);
    let port = third.serving.address().to_string();
    let (_, port) = port.rsplit_once(':').unwrap();
    let address = Address::tcp(&ip.to_string(), port.parse().unwrap()).unwrap();
    let client = Client::connect(&address).wait().unwrap();
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();

    // The loopback address is replaced by that of the sender's host, where the owner listens, too.
    let owner = setup("tcp://0.0.0.0:0", ServerOptions::default());
    let made = owner.shelf.make().wait().unwrap();
    assert_eq!(*shelf.put(made).wait().unwrap().get(), 1);
    let last = third.board.last().unwrap();
    assert_eq!(*last.add(1).wait().unwrap().get(), 2);
    drop(last);

    let at_loopback = setup("tcp://127.0.0.1:0", ServerOptions::default());
    let made = at_loopback.shelf.make().wait().unwrap();
    let error = shelf.put(made).wait().unwrap_err();
    let place = format!("tcp://{ip}");
    assert!(error.to_string().contains(&place), "{error}");

    let name = format!("shm://third-party-{}", std::process::id());
    let within = setup(&name, ServerOptions::default());
    let made = within.shelf.make().wait().unwrap();
    let error = shelf.put(made).wait().unwrap_err();
    assert!(error.to_string().contains("another"), "{error}");
    third.shelf.clear().wait().unwrap();
}

#[test]
fn third_parties_are_refused_where_that_is_not_wanted() {
    let owner = setup("tcp://127.0.0.1:0", ServerOptions::default());
    let third = setup("tcp://127.0.0.1:0", ServerOptions::default());
    let made = owner.shelf.make().wait().unwrap();
    let error = third.shelf.put(made).wait().unwrap_err();
    assert!(error.to_string().contains("third_parties"), "{error}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    // A reference that returns to its owner is not one of a third party.
    let export = owner.own.export::<dyn Counter>(Arc::new(Count::default()));
    owner.shelf.put(export.remote()).wait().unwrap();
    let shelf = third.own.export::<dyn Shelf>(third.board.clone());
    let passed = owner.shelf.pass_on(shelf.remote()).wait().unwrap();
    assert!(*passed.get(), "it goes home");
}

#[test]
fn there_are_as_many_as_may_be() {
    let mut options = ServerOptions::default();
    options.max_references = 10;
    let setup = setup("tcp://127.0.0.1:0", options);
    let some: Vec<_> = (0..9).map(|_| setup.shelf.make().wait().unwrap()).collect();
    let error = setup.shelf.make().wait().unwrap_err();
    assert!(error.to_string().contains("max_references"), "{error}");
    drop(some);
    until(|| setup.server.references().leases == 0);
    setup.shelf.make().wait().unwrap();
}
