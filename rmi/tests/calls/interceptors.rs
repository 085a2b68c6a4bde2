//! Interceptors, which see each call before and after it, on both sides.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use jstream_rmi::{
    CallEnd, CallError, CallInfo, Client, ClientOptions, Denied, Interceptor, Interceptors,
    Outcome, Retries, Server, ServerOptions, Serving, Side, Stub, Traced, Watch, remote,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use testing::until;

thread_local! {
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

#[remote]
trait Seen {
    fn add(&self, a: u64, b: u64) -> u64;
    fn fails(&self);
    fn inside(&self) -> u32;
    async fn inside_later(&self) -> u32;
    async fn waits(&self);
    #[remote(one_way)]
    fn note(&self, text: &str);
    fn span(&self) -> String;
}

struct Plain;

#[remote]
impl Seen for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a + b
    }

    fn fails(&self) {
        panic!("as it should");
    }

    fn inside(&self) -> u32 {
        INSIDE.get()
    }

    async fn inside_later(&self) -> u32 {
        jstream_transport::active::yield_now().await;
        INSIDE.get()
    }

    async fn waits(&self) {
        std::future::pending().await
    }

    fn note(&self, _text: &str) {}

    fn span(&self) -> String {
        let state = SPANS.get().unwrap().0.lock().unwrap();
        let inside = state.entered.iter().map(|id| state.spans[*id].0.name());
        inside.collect::<Vec<_>>().join(" ")
    }
}

#[remote]
trait Again {
    #[remote(idempotent)]
    fn twice(&self, n: u64) -> u64;
}

impl Again for Plain {
    fn twice(&self, n: u64) -> u64 {
        2 * n
    }
}

/// The observed calls: the interface, the method, and the length of the arguments.
type Described = Arc<Mutex<Vec<(&'static str, &'static str, u64)>>>;

struct Describing(Described);

impl Interceptor for Describing {
    fn before(&self, _: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        Ok(Box::new(Self(self.0.clone())))
    }
}

impl Watch for Describing {
    fn after(&self, call: &CallInfo, _: &CallEnd) {
        let described = (call.interface, call.method, call.bytes);
        self.0.lock().unwrap().push(described);
    }
}

/// Interceptors at the caller see the interface and the length of the arguments, also of calls that
/// are retried.
#[test]
fn a_caller_knows_its_calls() {
    let described = Described::default();
    let server = Server::default();
    server.bind::<dyn Again>("again", Arc::new(Plain)).unwrap();
    let address = "inproc://interceptors-caller".parse().unwrap();
    let _serving = server.listen(&address).unwrap();
    let mut options = ClientOptions::default();
    options.interceptors = Interceptors::default().and(Describing(described.clone()));
    let client = Client::connect_with(&address, &options).wait().unwrap();
    let again = client.lookup::<dyn Again>("again").wait().unwrap();
    described.lock().unwrap().clear();
    let retrying = again.retrying(Retries::default());
    for again in [&again, &retrying] {
        assert_eq!(*again.twice(4).wait().unwrap().get(), 8);
    }
    let described = described.lock().unwrap();
    let [plain, retried] = described[..] else {
        panic!("{described:?}");
    };
    assert_eq!((plain.0, plain.1), ("Again", "twice"));
    assert!(plain.2 > 0);
    assert_eq!(retried, plain);
}

/// The observed calls: the method, and the outcome.
type Log = Arc<Mutex<Vec<(&'static str, Result<(), Outcome>)>>>;

#[derive(Clone, Default)]
struct Logs(Log);

impl Interceptor for Logs {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        assert!(call.interface == "Seen" || call.interface == "Registry");
        let takes = matches!(call.method, "add" | "note" | "lookup");
        assert_eq!(call.side == Side::Callee && takes, call.bytes > 0);
        assert!(call.deadline.is_some());
        assert_eq!(call.peer.address.scheme(), "inproc");
        Ok(Box::new(Logged(self.0.clone())))
    }
}

struct Logged(Log);

impl Watch for Logged {
    fn run(&self, work: &mut dyn FnMut()) {
        INSIDE.set(INSIDE.get() + 1);
        work();
        INSIDE.set(INSIDE.get() - 1);
    }

    fn after(&self, call: &CallInfo, end: &CallEnd) {
        if call.method == "add" && end.result.is_ok() {
            assert!(end.bytes > 0);
        }
        self.0.lock().unwrap().push((call.method, end.result));
    }
}

fn connected(
    name: &str,
    server: Interceptors,
    client: Interceptors,
) -> (Serving, Client, SeenStub) {
    let mut options = ServerOptions::default();
    options.interceptors = server;
    let objects = Server::new(options);
    objects.bind::<dyn Seen>("seen", Arc::new(Plain)).unwrap();
    let address = format!("inproc://interceptors-{name}").parse().unwrap();
    let serving = objects.listen(&address).unwrap();
    let mut options = ClientOptions::default();
    options.interceptors = client;
    let client = Client::connect_with(&address, &options).wait().unwrap();
    let seen = client.lookup::<dyn Seen>("seen").wait().unwrap();
    (serving, client, seen)
}

#[test]
fn each_side_sees_how_each_call_ends() {
    let [callee, caller] = [(); 2].map(|()| Logs::default());
    let (_serving, _client, seen) = connected(
        "ends",
        Interceptors::default().and(callee.clone()),
        Interceptors::default().and(caller.clone()),
    );
    assert_eq!(*seen.add(1, 2).wait().unwrap().get(), 3);
    seen.fails().wait().unwrap_err();
    seen.note("noted").unwrap();
    seen.within(Duration::from_millis(50))
        .waits()
        .wait()
        .unwrap_err();
    drop(seen.waits());
    seen.add(1, 2).wait().unwrap();
    let made = caller.0.lock().unwrap().clone();
    let methods: Vec<_> = made.iter().map(|(method, _)| *method).collect();
    let expected = ["lookup", "add", "fails", "note", "waits", "waits", "add"];
    assert_eq!(methods, expected);
    let may = Err(Outcome::MayHaveRun);
    let ends: Vec<_> = made.iter().map(|(_, end)| *end).collect();
    assert_eq!(&ends[..4], [Ok(()), Ok(()), may, Ok(())]);
    assert!(ends[4].is_err() && ends[5] == may && ends[6] == Ok(()));

    // The server sees the end of a method later than the client may. It does not see calls that
    // were cancelled before they began.
    let served = || {
        let mut served = callee.0.lock().unwrap().clone();
        served.retain(|(method, end)| *method != "waits" || *end != may);
        served.sort_by_key(|(method, _)| *method);
        served
    };
    until(|| served().len() >= 5);
    let ok = Ok(());
    let expected = [
        ("add", ok),
        ("add", ok),
        ("fails", may),
        ("lookup", ok),
        ("note", ok),
    ];
    assert_eq!(served(), expected);
}

#[test]
fn methods_run_inside() {
    let logs = Logs::default();
    let twice = Interceptors::default().and(logs.clone()).and(logs);
    let (_serving, _client, seen) = connected("inside", twice, Interceptors::default());
    assert_eq!(*seen.inside().wait().unwrap().get(), 2);
    assert_eq!(*seen.inside_later().wait().unwrap().get(), 2);
    assert_eq!(INSIDE.get(), 0);
}

struct Denies(&'static str);

impl Interceptor for Denies {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        if call.method == "add" {
            return Err(Denied(self.0.to_owned()));
        }
        Ok(Box::new(()))
    }
}

/// Panics before a method runs.
struct Panics;

impl Interceptor for Panics {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        assert!(call.method != "add", "one that panics");
        Ok(Box::new(()))
    }
}

#[test]
fn a_call_whose_interceptor_panics_ends_so() {
    let panics = Interceptors::default().and(Panics);
    let (_serving, _client, seen) = connected("panics", panics, Interceptors::default());
    for _ in 0..3 {
        let error = seen.add(1, 2).wait().unwrap_err();
        assert!(matches!(error, CallError::Panicked { .. }), "{error}");
        assert_eq!(*seen.inside().wait().unwrap().get(), 0);
    }
}

#[test]
fn calls_are_denied_on_either_side() {
    let denies = |why| Interceptors::default().and(Denies(why));
    for (name, server, client) in [
        ("server", denies("not there"), Interceptors::default()),
        ("client", Interceptors::default(), denies("not here")),
    ] {
        let (_serving, _client, seen) = connected(name, server, client);
        let denied = seen.add(1, 2).wait().unwrap_err();
        assert!(
            matches!(&denied, CallError::Denied { reason, .. } if reason.starts_with("not")),
            "{denied}"
        );
        assert_eq!(denied.outcome(), Outcome::DidNotRun);
        assert_eq!(*seen.inside().wait().unwrap().get(), 0);
    }
}

static SPANS: OnceLock<Spans> = OnceLock::new();

/// Records the names of spans and their fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    spans: Vec<(&'static Metadata<'static>, BTreeMap<&'static str, String>)>,
    entered: Vec<usize>,
}

struct Fields<'f>(&'f mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

fn place(of: &Id) -> usize {
    usize::try_from(of.into_u64()).unwrap() - 1
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "jstream_rmi::calls"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut state = self.0.lock().unwrap();
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        state.spans.push((span.metadata(), fields));
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut state = self.0.lock().unwrap();
        values.record(&mut Fields(&mut state.spans[place(span)].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(place(span));
    }

    fn exit(&self, span: &Id) {
        let mut state = self.0.lock().unwrap();
        let at = state.entered.iter().rposition(|id| *id == place(span));
        state.entered.remove(at.unwrap());
    }
}

#[test]
fn calls_are_spans() {
    let spans = SPANS.get_or_init(Spans::default);
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    let traced = || Interceptors::default().and(Traced);
    let (_serving, _client, seen) = connected("spans", traced(), traced());
    assert_eq!(*seen.add(1, 2).wait().unwrap().get(), 3);
    assert_eq!(seen.span().wait().unwrap().get(), &"jstream.serve");
    let found = || {
        let state = spans.0.lock().unwrap();
        let adds = state
            .spans
            .iter()
            .filter(|(_, fields)| fields["method"] == "\"add\"");
        let mut found: Vec<_> = adds
            .map(|(span, fields)| {
                assert_eq!(fields["interface"], "\"Seen\"");
                (span.name(), fields.get("outcome").cloned())
            })
            .collect();
        found.sort_unstable();
        found
    };
    let ok = Some("\"ok\"".to_owned());
    assert_eq!(
        found(),
        [("jstream.call", ok.clone()), ("jstream.serve", ok)]
    );
}
