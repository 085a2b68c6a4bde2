//! Results of calls in flight as arguments of other calls. Over two kinds of connections.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, Metadata, Outcome, Referring, Remotable, Remote, RemoteCall, Server,
    ServerOptions, Serving, Stub, WeakServer, remote,
};

use testing::until;

#[remote]
trait Part {
    fn number(&self) -> u64;
    fn note(&self, what: u64);
    fn noted(&self) -> Vec<u64>;
    /// Notes the number of the other part.
    fn join(&self, other: Remote<dyn Part>);
    /// Returns another part.
    fn copy(&self) -> Remote<dyn Part>;
}

#[remote]
trait Shop {
    fn make(&self, number: u64) -> Remote<dyn Part>;
    /// Waits until the gate is open.
    async fn make_later(&self, number: u64) -> Remote<dyn Part>;
    async fn find(&self, number: u64) -> Option<Remote<dyn Part>>;
    async fn back(&self, part: Remote<dyn Part>) -> Remote<dyn Part>;
    fn fail(&self) -> Remote<dyn Part>;
    /// Returns the number of the part, which the server keeps.
    fn keep(&self, part: Remote<dyn Part>) -> u64;
    async fn keep_later(&self, part: Remote<dyn Part>) -> u64;
    fn keep_all(
        &self,
        parts: Vec<Remote<dyn Part>>,
        chest: Referring<Chest>,
        more: Option<Remote<dyn Part>>,
    ) -> Vec<u64>;
    /// Returns its argument.
    fn pass(&self, part: Remote<dyn Part>) -> Remote<dyn Part>;
    fn calls(&self) -> u64;
    async fn wait(&self);
}

#[derive(Referring)]
enum Chest {
    Empty,
    Parts {
        name: String,
        few: [Remote<dyn Part>; 2],
        many: Vec<Option<Remote<dyn Part>>>,
    },
}

#[derive(Default)]
struct Gate(AtomicBool);

impl Gate {
    async fn pass(&self) {
        while !self.0.load(Ordering::Relaxed) {
            jstream_transport::active::yield_now().await;
        }
    }

    fn open(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Number {
    server: WeakServer,
    number: u64,
    noted: Mutex<Vec<u64>>,
}

impl Part for Number {
    fn number(&self) -> u64 {
        self.number
    }

    fn note(&self, what: u64) {
        self.noted.lock().unwrap().push(what);
    }

    fn noted(&self) -> Vec<u64> {
        self.noted.lock().unwrap().clone()
    }

    fn join(&self, other: Remote<dyn Part>) {
        let number = number(&other);
        self.note(number);
    }

    fn copy(&self) -> Remote<dyn Part> {
        part(&self.server, self.number + 1)
    }
}

fn part(server: &WeakServer, number: u64) -> Remote<dyn Part> {
    let part = Number {
        server: server.clone(),
        number,
        noted: Mutex::default(),
    };
    let server = server.upgrade().unwrap();
    server.export::<dyn Part>(Arc::new(part)).into_remote()
}

fn number(part: &Remote<dyn Part>) -> u64 {
    *part.number().wait().unwrap().get()
}

struct Counter {
    server: WeakServer,
    gate: Arc<Gate>,
    kept: Arc<Mutex<Vec<Remote<dyn Part>>>>,
    calls: AtomicU64,
}

#[remote]
impl Shop for Counter {
    fn make(&self, number: u64) -> Remote<dyn Part> {
        part(&self.server, number)
    }

    async fn make_later(&self, number: u64) -> Remote<dyn Part> {
        self.gate.pass().await;
        part(&self.server, number)
    }

    async fn find(&self, number: u64) -> Option<Remote<dyn Part>> {
        self.gate.pass().await;
        (number != 0).then(|| part(&self.server, number))
    }

    async fn back(&self, part: Remote<dyn Part>) -> Remote<dyn Part> {
        self.gate.pass().await;
        part
    }

    fn fail(&self) -> Remote<dyn Part> {
        panic!("as it should")
    }

    fn keep(&self, part: Remote<dyn Part>) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(part.is_local());
        let number = number(&part);
        self.kept.lock().unwrap().push(part);
        number
    }

    async fn keep_later(&self, part: Remote<dyn Part>) -> u64 {
        jstream_transport::active::yield_now().await;
        self.keep(part)
    }

    fn keep_all(
        &self,
        parts: Vec<Remote<dyn Part>>,
        chest: Chest,
        more: Option<Remote<dyn Part>>,
    ) -> Vec<u64> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut all = parts;
        if let Chest::Parts { name, few, many } = chest {
            assert_eq!(name, "chest");
            all.extend(few.into_iter().chain(many.into_iter().flatten()));
        }
        all.extend(more);
        all.iter().map(number).collect()
    }

    fn pass(&self, part: Remote<dyn Part>) -> Remote<dyn Part> {
        part
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    async fn wait(&self) {
        std::future::pending().await
    }
}

struct Side {
    server: Server,
    gate: Arc<Gate>,
    kept: Arc<Mutex<Vec<Remote<dyn Part>>>>,
    serving: Serving,
    client: Client,
    shop: <dyn Shop as Remotable>::Stub,
}

impl Side {
    fn new(address: &str, options: ServerOptions) -> Self {
        let server = Server::new(options);
        let (gate, kept) = (Arc::<Gate>::default(), Arc::default());
        let shop = Counter {
            server: server.downgrade(),
            gate: gate.clone(),
            kept: Arc::clone(&kept),
            calls: AtomicU64::new(0),
        };
        server.bind::<dyn Shop>("shop", Arc::new(shop)).unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let shop = client.lookup::<dyn Shop>("shop").wait().unwrap();
        Self {
            server,
            gate,
            kept,
            serving,
            client,
            shop,
        }
    }

    fn calls(&self) -> u64 {
        *self.shop.calls().wait().unwrap().get()
    }

    /// Checks that all parts are released once neither side has references.
    fn assert_releases_all(&self) {
        self.kept.lock().unwrap().clear();
        until(|| {
            // The client serves, and so gives back what it has dropped.
            self.calls();
            let references = self.server.references();
            (references.leases, references.exports, references.pins) == (0, 1, 0)
        });
    }
}

fn each(name: &str, test: impl Fn(&Side)) {
    for address in [&format!("inproc://promises-{name}"), "tcp://127.0.0.1:0"] {
        test(&Side::new(address, ServerOptions::default()));
    }
}

fn ahead(call: &RemoteCall<Remote<dyn Part>>) -> Remote<dyn Part> {
    Remote::from_stub(call.pipelined())
}

fn again(stub: &PartStub) -> Remote<dyn Part> {
    Remote::from_stub(stub.clone())
}

fn not_given<T: std::fmt::Debug>(result: Result<T, CallError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("wait for that call to see why"), "{text}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
}

fn refused<T: std::fmt::Debug>(result: Result<T, CallError>, why: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, CallError::Reference { .. }), "{error:?}");
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn a_call_waits_for_its_argument() {
    each("waits", |side| {
        let make = side.shop.make_later(7);
        let part = make.pipelined();
        let kept: Vec<_> = (0..10).map(|_| side.shop.keep(again(&part))).collect();
        let later: Vec<_> = (0..10)
            .map(|_| side.shop.keep_later(again(&part)))
            .collect();
        // The connection is not blocked.
        assert_eq!(side.calls(), 0);
        side.gate.open();
        for call in kept.into_iter().chain(later) {
            assert_eq!(*call.wait().unwrap().get(), 7);
        }
        assert_eq!(side.calls(), 20);
        // The object is known by now.
        let reference = make.wait().unwrap();
        assert_eq!(*side.shop.keep(again(&part)).wait().unwrap().get(), 7);
        let kept = std::mem::take(&mut *side.kept.lock().unwrap());
        assert!(kept.iter().all(|one| *one == kept[0]));
        assert!(side.server.references().leases > 0);
        drop((reference, part, kept));
        side.assert_releases_all();
    });
}

#[test]
fn a_result_that_has_been_returned_already_is_passed() {
    each("known", |side| {
        let make = side.shop.make(3);
        // By now the server has returned the part, and the client has not read that.
        side.calls();
        assert_eq!(*side.shop.keep(ahead(&make)).wait().unwrap().get(), 3);
        // The result of a call whose argument was not known is passed as well.
        let mut metadata = Metadata::default();
        metadata.insert("tenant", "acme").unwrap();
        let shop = side.shop.with_metadata(metadata);
        let passed = shop.pass(ahead(&make));
        let again = side.shop.pass(ahead(&passed));
        assert_eq!(*side.shop.keep(ahead(&again)).wait().unwrap().get(), 3);
        let parts = [make, passed, again].map(|call| call.wait().unwrap());
        assert!(parts[0] == parts[1] && parts[1] == parts[2]);
        drop(parts);
        side.assert_releases_all();
    });
}

#[test]
fn arguments_of_all_kinds_wait() {
    each("kinds", |side| {
        let calls: Vec<_> = (0..8).map(|n| side.shop.make_later(n)).collect();
        let known = side.shop.make(8).wait().unwrap();
        let one = |n: usize| ahead(&calls[n]);
        let chest = Chest::Parts {
            name: "chest".to_owned(),
            few: [one(3), one(1)],
            many: vec![None, Some(one(4)), Some(known.clone()), Some(one(5))],
        };
        let all = side
            .shop
            .keep_all(vec![one(1), one(2), one(1)], chest, Some(one(6)));
        let few = side.shop.keep_all(Vec::new(), Chest::Empty, Some(one(7)));
        assert_eq!(side.calls(), 0);
        side.gate.open();
        assert_eq!(few.wait().unwrap().get(), &[7]);
        assert_eq!(all.wait().unwrap().get(), &[1, 2, 1, 3, 1, 4, 8, 5, 6]);
        drop((calls, known));
        side.assert_releases_all();
    });
}

/// The object that is called, and its arguments, are results of calls in flight. Calls of one
/// object run in the order in which they were made.
#[test]
fn both_the_object_and_its_argument_wait() {
    each("both", |side| {
        let (make, other) = (side.shop.make_later(1), side.shop.find(2));
        let (part, other) = (make.pipelined(), other);
        let copies: Vec<_> = (0..20).map(|_| part.copy()).collect();
        let joins: Vec<_> = (0..20)
            .flat_map(|n| {
                let copy = ahead(&copies[n as usize]);
                let found = Remote::from_stub(other.pipelined());
                let joins = [found, again(&part), copy].map(|other| part.join(other));
                joins.into_iter().chain([part.note(100 + n)])
            })
            .collect();
        side.gate.open();
        joins
            .into_iter()
            .for_each(|call| drop(call.wait().unwrap()));
        let noted = part.noted().wait().unwrap().get().to_vec();
        let expected = (0..20).flat_map(|n| [2, 1, 2, 100 + n]);
        assert_eq!(noted, expected.collect::<Vec<u64>>());
        drop((make, part, other, copies));
        side.assert_releases_all();
    });
}

/// Calls whose object is the argument of the other one do not wait for each other.
#[test]
fn two_calls_pass_the_object_of_the_other_one() {
    each("mutual", |side| {
        let calls: Vec<_> = (0..40).map(|n| side.shop.make_later(n)).collect();
        let parts: Vec<_> = calls.iter().map(RemoteCall::pipelined).collect();
        let joins: Vec<_> = (0..parts.len())
            .flat_map(|one| [(one, one ^ 1), (one, 39 - one), (one, one)])
            .map(|(one, other)| parts[one].join(again(&parts[other])))
            .collect();
        side.gate.open();
        joins
            .into_iter()
            .for_each(|call| drop(call.wait().unwrap()));
        for (n, part) in (0..).zip(&parts) {
            let noted = part.noted().wait().unwrap().get().to_vec();
            assert_eq!(noted, [n ^ 1, 39 - n, n]);
        }
        drop((calls, parts));
        side.assert_releases_all();
    });
}

#[test]
fn nothing_runs_on_arguments_that_were_not_given() {
    each("failed", |side| {
        let (good, fails) = (side.shop.make_later(1), side.shop.fail());
        let dropped = side.shop.make_later(2);
        let none = side.shop.find(0);
        let own = Server::default();
        let mine = part(&own.downgrade(), 9);
        let back = side.shop.back(mine.clone());
        let gone = dropped.pipelined();
        let none_stub = none.pipelined();
        let calls = [
            side.shop.keep(ahead(&fails)),
            side.shop.keep(Remote::from_stub(none_stub.clone())),
            side.shop.keep(ahead(&back)),
        ];
        let many = side.shop.keep_all(
            vec![ahead(&good), ahead(&fails)],
            Chest::Empty,
            Some(ahead(&good)),
        );
        // A call that depends on a call which does not run does not run, either.
        let chain = side.shop.pass(ahead(&fails));
        let chained = side.shop.keep(ahead(&chain));
        // The calls of an object go on behind one whose argument was not given.
        let part = good.pipelined();
        let joins = [part.join(ahead(&fails)), part.join(ahead(&back))];
        let note = part.note(5);
        let lost = side.shop.keep(again(&gone));
        drop(dropped);
        not_given(lost.wait());
        side.gate.open();
        for call in calls.into_iter().chain([chained]) {
            not_given(call.wait());
        }
        not_given(many.wait());
        not_given(chain.wait());
        joins.into_iter().for_each(|join| not_given(join.wait()));
        note.wait().unwrap();
        assert_eq!(part.noted().wait().unwrap().get(), &[5]);
        assert_eq!(side.calls(), 0);
        // The client knows by now.
        not_given(side.shop.keep(again(&gone)).wait());
        assert!(none.wait().unwrap().is_none());
        not_given(side.shop.keep(Remote::from_stub(none_stub)).wait());
        fails.wait().unwrap_err();
        // An object of the caller has arrived with the result.
        assert!(back.wait().unwrap().is_local());
        drop((good, gone, part, mine));
        side.assert_releases_all();
    });
}

#[test]
fn results_of_other_connections_and_too_many_are_refused() {
    each("refused", |side| {
        let other = Client::connect(side.serving.address()).wait().unwrap();
        let shop = other.lookup::<dyn Shop>("shop").wait().unwrap();
        let make = side.shop.make_later(1);
        let elsewhere = shop.keep(ahead(&make)).wait();
        refused(elsewhere, "made over another connection");
        let calls: Vec<_> = (0..17).map(|n| side.shop.make_later(n)).collect();
        let keep_all = |count: usize| {
            let parts = calls[..count].iter().chain(&calls[..count]);
            side.shop
                .keep_all(parts.map(ahead).collect(), Chest::Empty, None)
        };
        let (most, more) = (keep_all(16), keep_all(17));
        refused(more.wait(), "more than 16 calls");
        side.gate.open();
        let expected: Vec<_> = (0..16).chain(0..16).collect();
        assert_eq!(most.wait().unwrap().get().to_vec(), expected);
        drop((make, calls));
        side.assert_releases_all();
    });
}

#[test]
fn held_calls_have_deadlines_and_are_given_up() {
    each("deadlines", |side| {
        let (make, other) = (side.shop.make_later(1), side.shop.make_later(2));
        let soon = side.shop.within(Duration::from_millis(20));
        let late = soon.keep(ahead(&make)).wait();
        assert!(matches!(late, Err(CallError::Deadline { .. })), "{late:?}");
        drop(side.shop.keep(ahead(&make)));
        let part = make.pipelined();
        let late = part.within(Duration::from_millis(20)).join(ahead(&other));
        assert!(matches!(late.wait(), Err(CallError::Deadline { .. })));
        // By now the server has processed the deadlines and the cancellation.
        assert_eq!(side.calls(), 0);
        side.gate.open();
        part.join(ahead(&other)).wait().unwrap();
        assert_eq!(part.noted().wait().unwrap().get(), &[2]);
        assert_eq!(*side.shop.keep(ahead(&make)).wait().unwrap().get(), 1);
        assert_eq!(side.calls(), 1);
        drop((make, other, part));
        side.assert_releases_all();
    });
}

#[test]
fn nothing_is_left_of_a_connection_that_ends() {
    each("ends", |side| {
        let (make, other) = (side.shop.make_later(1), side.shop.make_later(2));
        let own = Server::default();
        let mine = part(&own.downgrade(), 9);
        let part = make.pipelined();
        let held: Vec<_> = (0..50)
            .map(|_| {
                side.shop
                    .keep_all(vec![ahead(&make), mine.clone()], Chest::Empty, None)
            })
            .collect();
        let joins: Vec<_> = (0..50).map(|_| part.join(ahead(&other))).collect();
        side.calls();
        assert!(own.references().pins > 0);
        side.client.close();
        held.into_iter()
            .for_each(|call| drop(call.wait().unwrap_err()));
        joins
            .into_iter()
            .for_each(|call| drop(call.wait().unwrap_err()));
        side.gate.open();
        until(|| {
            let references = side.server.references();
            (references.leases, references.exports, references.pins) == (0, 1, 0)
        });
        until(|| side.server.health().waiting == 0);
        assert_eq!(own.references().pins, 0);
    });
}

#[test]
fn a_server_that_ends_refuses_held_calls() {
    for address in ["inproc://promises-shutdown", "tcp://127.0.0.1:0"] {
        let side = Side::new(address, ServerOptions::default());
        let make = side.shop.make_later(1);
        let held = [side.shop.keep(ahead(&make)), side.shop.keep(ahead(&make))];
        let join = make.pipelined().join(ahead(&make));
        side.calls();
        let (serving, kept, gate) = (side.serving, side.kept, side.gate);
        std::thread::scope(|scope| {
            scope.spawn(|| serving.shutdown(Duration::from_secs(60)).wait());
            for call in held {
                let error = call.wait().unwrap_err();
                assert!(matches!(error, CallError::Ending { .. }), "{error:?}");
            }
            let error = join.wait().unwrap_err();
            assert!(matches!(error, CallError::Ending { .. }), "{error:?}");
            gate.open();
            make.wait().unwrap();
        });
        assert!(kept.lock().unwrap().is_empty());
    }
}

/// If no more calls may wait, further ones are held as well, and all of them run in the end.
#[test]
fn calls_are_held_beyond_the_limit_of_waiting_calls() {
    for address in ["inproc://promises-places", "tcp://127.0.0.1:0"] {
        let mut options = ServerOptions::default();
        options.max_waiting = 2;
        let side = Side::new(address, options);
        let waiting = || side.server.health().waiting;
        let (make, fills) = (side.shop.make_later(1), side.shop.wait());
        let part = make.pipelined();
        until(|| waiting() == 2);
        let joins: Vec<_> = (0..20)
            .flat_map(|n| [part.note(100 + n), part.join(ahead(&make))])
            .collect();
        let kept: Vec<_> = (0..20).map(|_| side.shop.keep(ahead(&make))).collect();
        side.gate.open();
        joins
            .into_iter()
            .for_each(|call| drop(call.wait().unwrap()));
        kept.into_iter()
            .for_each(|call| assert_eq!(*call.wait().unwrap().get(), 1));
        let noted = part.noted().wait().unwrap().get().to_vec();
        let expected = (0..20).flat_map(|n| [100 + n, 1]);
        assert_eq!(noted, expected.collect::<Vec<u64>>());
        drop((fills, make, part));
        side.assert_releases_all();
    }
}

/// A call of a local object gets a handle of the result, as it does of any other object.
#[test]
fn a_local_call_gets_the_result_in_flight() {
    each("local", |side| {
        let own = Server::default();
        let mine = part(&own.downgrade(), 9);
        let make = side.shop.make(4);
        mine.join(ahead(&make)).wait().unwrap();
        assert_eq!(mine.noted().wait().unwrap().get(), &[4]);
        // The result of a local call is passed once the call has ended.
        let copy = mine.copy();
        assert_eq!(number(&copy.wait().unwrap()), 10);
    });
}
