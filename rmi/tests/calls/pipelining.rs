//! Pipelined calls: calls of objects that calls in flight will return. Over two kinds of
//! connections.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, Outcome, Remote, Server, ServerOptions, Serving, Stub, WeakServer, remote,
};

use testing::until;

/// A folder that opens other folders.
#[remote]
trait Folder {
    fn name(&self) -> String;
    fn open(&self, name: &str) -> Remote<dyn Folder>;
    /// Waits until the gate is open.
    async fn open_later(&self, name: &str) -> Remote<dyn Folder>;
    async fn find(&self, name: &str) -> Option<Remote<dyn Folder>>;
    async fn ask(&self, name: &str) -> Result<Remote<dyn Folder>, String>;
    async fn back(&self, one: Remote<dyn Folder>) -> Remote<dyn Folder>;
    fn fail(&self) -> Remote<dyn Folder>;
    fn note(&self, what: u64);
    fn noted(&self) -> Vec<u64>;
    async fn wait(&self);
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

struct Plain {
    server: WeakServer,
    gate: Arc<Gate>,
    calls: Arc<AtomicU64>,
    name: String,
    noted: Mutex<Vec<u64>>,
}

impl Plain {
    fn below(&self, name: &str) -> Remote<dyn Folder> {
        let below = Self {
            server: self.server.clone(),
            gate: self.gate.clone(),
            calls: self.calls.clone(),
            name: format!("{}/{name}", self.name),
            noted: Mutex::default(),
        };
        self.server
            .upgrade()
            .unwrap()
            .export(Arc::new(below))
            .into_remote()
    }
}

#[remote]
impl Folder for Plain {
    fn name(&self) -> String {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.name.clone()
    }

    fn open(&self, name: &str) -> Remote<dyn Folder> {
        self.below(name)
    }

    async fn open_later(&self, name: &str) -> Remote<dyn Folder> {
        self.gate.pass().await;
        self.below(name)
    }

    async fn find(&self, name: &str) -> Option<Remote<dyn Folder>> {
        self.gate.pass().await;
        (!name.is_empty()).then(|| self.below(name))
    }

    async fn ask(&self, name: &str) -> Result<Remote<dyn Folder>, String> {
        self.gate.pass().await;
        if name.is_empty() {
            return Err("no name".to_owned());
        }
        Ok(self.below(name))
    }

    async fn back(&self, one: Remote<dyn Folder>) -> Remote<dyn Folder> {
        self.gate.pass().await;
        one
    }

    fn fail(&self) -> Remote<dyn Folder> {
        panic!("as it should")
    }

    fn note(&self, what: u64) {
        self.noted.lock().unwrap().push(what);
    }

    fn noted(&self) -> Vec<u64> {
        self.noted.lock().unwrap().clone()
    }

    async fn wait(&self) {
        std::future::pending().await
    }
}

struct Side {
    server: Server,
    gate: Arc<Gate>,
    calls: Arc<AtomicU64>,
    _serving: Serving,
    client: Client,
    root: <dyn Folder as jstream_rmi::Remotable>::Stub,
}

fn side(address: &str, options: ServerOptions) -> Side {
    let server = Server::new(options);
    let (gate, calls) = (Arc::<Gate>::default(), Arc::default());
    let root = Plain {
        server: server.downgrade(),
        gate: gate.clone(),
        calls: Arc::clone(&calls),
        name: String::new(),
        noted: Mutex::default(),
    };
    server.bind::<dyn Folder>("root", Arc::new(root)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let root = client.lookup::<dyn Folder>("root").wait().unwrap();
    Side {
        server,
        gate,
        calls,
        _serving: serving,
        client,
        root,
    }
}

fn each(name: &str, test: impl Fn(&Side)) {
    for address in [&format!("inproc://pipelining-{name}"), "tcp://127.0.0.1:0"] {
        test(&side(address, ServerOptions::default()));
    }
}

fn not_given<T: std::fmt::Debug>(result: Result<T, CallError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error:?}");
    assert!(
        error.to_string().contains("wait for that call to see why"),
        "{error}"
    );
    assert_eq!(error.outcome(), Outcome::DidNotRun);
}

#[test]
fn a_call_waits_for_its_object() {
    each("waits", |side| {
        let open = side.root.open_later("a");
        let a = open.pipelined();
        let names: Vec<_> = (0..10).map(|_| a.name()).collect();
        // The connection is not blocked.
        side.root.name().wait().unwrap();
        assert_eq!(side.calls.load(Ordering::Relaxed), 1);
        side.gate.open();
        for name in names {
            assert_eq!(*name.wait().unwrap().get(), "/a");
        }
        // Once the result has arrived, the stub calls the object directly.
        let reference = open.wait().unwrap();
        assert_eq!(*a.name().wait().unwrap().get(), "/a");
        assert!(Remote::<dyn Folder>::from_stub(a) == reference);
    });
}

#[test]
fn chains_of_calls_run_once_each() {
    each("chains", |side| {
        let a = side.root.open_later("a");
        let b = a.pipelined().open_later("b");
        let c = b.pipelined().open("c");
        let c = c.pipelined();
        let notes: Vec<_> = (0..50).map(|n| c.note(n)).collect();
        side.gate.open();
        for note in notes {
            note.wait().unwrap();
        }
        // Several threads serve, and the calls still run in order.
        let noted = c.noted().wait().unwrap().get().to_vec();
        assert_eq!(noted, (0..50).collect::<Vec<u64>>());
        assert_eq!(*c.name().wait().unwrap().get(), "/a/b/c");
    });
}

#[test]
fn what_has_been_given_already_is_called() {
    each("given", |side| {
        let open = side.root.open("a");
        side.root.name().wait().unwrap();
        assert_eq!(*open.pipelined().name().wait().unwrap().get(), "/a");
        let (find, ask) = (side.root.find("b"), side.root.ask("c"));
        let names = [find.pipelined().name(), ask.pipelined().name()];
        side.gate.open();
        let names = names.map(|name| name.wait().unwrap().get().to_string());
        assert_eq!(names, ["/b", "/c"]);
    });
}

#[test]
fn nothing_runs_on_what_was_not_given() {
    each("failed", |side| {
        let first = [side.root.fail(), side.root.open_later("dropped")];
        let [fails, dropped] = first.map(|call| (call.pipelined(), call));
        let failed = [fails.0.name(), fails.0.open("x").pipelined().name()];
        let lost = [dropped.0.name(), dropped.0.open("x").pipelined().name()];
        drop(dropped.1);
        for call in lost {
            not_given(call.wait());
        }
        let (find, ask) = (side.root.find(""), side.root.ask(""));
        let none = [find.pipelined().name(), ask.pipelined().name()];
        let own = Server::default();
        let export = own.export::<dyn Folder>(Arc::new(Plain {
            server: own.downgrade(),
            gate: side.gate.clone(),
            calls: side.calls.clone(),
            name: "mine".to_owned(),
            noted: Mutex::default(),
        }));
        let back = side.root.back(export.remote());
        let home = back.pipelined();
        let mine = home.name();
        side.gate.open();
        for call in failed.into_iter().chain(none).chain([mine]) {
            not_given(call.wait());
        }
        not_given(dropped.0.name().wait());
        assert_eq!(side.calls.load(Ordering::Relaxed), 0);
        // An object of the caller itself can be called once its reference has come back.
        assert!(back.wait().unwrap().is_local());
        assert_eq!(*home.name().wait().unwrap().get(), "mine");
        drop((home, export));
        assert_eq!(*side.root.name().wait().unwrap().get(), "");
    });
}

#[test]
fn held_calls_have_deadlines_and_are_given_up() {
    each("deadlines", |side| {
        let open = side.root.open_later("a");
        let a = open.pipelined();
        let late = a.within(Duration::from_millis(20)).name().wait();
        assert!(matches!(late, Err(CallError::Deadline { .. })), "{late:?}");
        drop(a.name());
        // By now the server has processed the deadline and the cancellation.
        side.root.noted().wait().unwrap();
        side.gate.open();
        assert_eq!(
            *a.open("b").pipelined().name().wait().unwrap().get(),
            "/a/b"
        );
        assert_eq!(side.calls.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn nothing_is_left_of_a_connection_that_ends() {
    each("ends", |side| {
        let open = side.root.open_later("a");
        let a = open.pipelined();
        let held: Vec<_> = (0..100).map(|_| a.open("b")).collect();
        side.root.name().wait().unwrap();
        side.client.close();
        for call in held {
            assert!(call.wait().is_err());
        }
        side.gate.open();
        until(|| side.server.references().leases == 0 && side.server.references().exports == 1);
        assert_eq!(side.server.references().pins, 0);
    });
}

#[test]
fn chains_have_an_end() {
    each("long", |side| {
        let mut calls = vec![side.root.open_later("a")];
        for _ in 0..80 {
            let next = calls.last().unwrap().pipelined().open("a");
            calls.push(next);
        }
        // By now all calls have arrived.
        side.root.noted().wait().unwrap();
        side.gate.open();
        not_given(calls.pop().unwrap().wait());
        calls.swap_remove(60).wait().unwrap();
    });
}

/// If no more calls may wait, further calls wait in order. Calls that are made once there is room
/// are queued behind them.
#[test]
fn who_finds_no_place_keeps_its_turn() {
    for address in ["inproc://pipelining-places", "tcp://127.0.0.1:0"] {
        let mut options = ServerOptions::default();
        options.max_waiting = 2;
        let side = side(address, options);
        let waiting = || side.server.health().waiting;
        // The first call is held, and the others are queued behind it.
        let (open, fills) = (side.root.open_later("a"), side.root.wait());
        let a = open.pipelined();
        until(|| waiting() == 2);
        let mut notes: Vec<_> = (0..20).map(|n| a.note(n)).collect();
        thread::sleep(Duration::from_millis(20));
        side.gate.open();
        until(|| waiting() < 2);
        notes.extend((20..40).map(|n| a.note(n)));
        notes
            .into_iter()
            .for_each(|note| drop(note.wait().unwrap()));
        // Now the object is known, and two calls wait again.
        let open = side.root.open("b");
        let b = open.pipelined();
        b.note(0).wait().unwrap();
        let also = side.root.wait();
        until(|| waiting() == 2);
        let mut notes: Vec<_> = (1..20).map(|n| b.note(n)).collect();
        thread::sleep(Duration::from_millis(20));
        drop(also);
        until(|| waiting() < 2);
        notes.extend((20..40).map(|n| b.note(n)));
        notes
            .into_iter()
            .for_each(|note| drop(note.wait().unwrap()));
        for folder in [&a, &b] {
            let noted = folder.noted().wait().unwrap().get().to_vec();
            assert!(noted.iter().copied().eq(0..40), "{noted:?}");
        }
        assert_eq!(side.server.health().refused_calls, 0);
        drop((fills, open));
    }
}

/// Queues that wait for a slot proceed one after another, although none of their calls waits
/// itself. A call whose deadline passes ends in its place in the queue.
#[test]
fn many_rows_wait_for_one_place() {
    let mut options = ServerOptions::default();
    options.max_waiting = 1;
    let side = side("inproc://pipelining-rows", options);
    let opened: Vec<_> = (0..20).map(|_| side.root.open("a")).collect();
    let folders: Vec<_> = opened.iter().map(|open| open.pipelined()).collect();
    folders
        .iter()
        .for_each(|of| drop(of.note(0).wait().unwrap()));
    let fills = side.root.wait();
    until(|| side.server.health().waiting == 1);
    let brief = folders[3].within(Duration::from_millis(50)).note(9);
    let notes: Vec<_> = folders
        .iter()
        .flat_map(|of| [of.note(1), of.note(2)])
        .collect();
    let late = brief.wait().unwrap_err();
    assert!(matches!(late, CallError::Deadline { .. }), "{late:?}");
    drop(fills);
    notes
        .into_iter()
        .for_each(|note| drop(note.wait().unwrap()));
    for of in folders {
        assert_eq!(of.noted().wait().unwrap().get(), &[0, 1, 2]);
    }
}
