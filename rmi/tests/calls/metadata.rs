//! Metadata that travels with calls.

use std::sync::{Arc, Mutex};

use jstream::capture::{CaptureReader, Kind, Record};
use jstream_rmi::__private::metadata_of;
use jstream_rmi::{
    CallError, CallInfo, Capture, Client, ClientOptions, Denied, Interceptor, Interceptors,
    Metadata, MetadataError, Outcome, Remote, Retries, Server, ServerOptions, Serving, Side,
    Stream, Stub, Watch, WeakServer, context, remote,
};

use testing::until;

#[remote]
trait Relay {
    /// Returns the metadata of its call.
    fn seen(&self) -> String;
    fn length(&self, bytes: &[u8]) -> u64;
    #[remote(idempotent)]
    fn seen_again(&self) -> String;
    async fn seen_later(&self) -> String;
    /// Returns the metadata of a call that this method makes.
    fn nested(&self) -> String;
    async fn nested_later(&self) -> String;
    fn nested_apart(&self) -> String;
    /// Adds an entry to a nested call.
    fn nested_more(&self) -> Result<String, String>;
    /// Calls the caller back.
    fn back(&self) -> String;
    #[remote(one_way)]
    fn note(&self);
    fn other(&self) -> Remote<dyn Relay>;
    fn counted(&self, numbers: Stream<u64>) -> String;
    fn items(&self) -> Stream<String>;
}

#[derive(Default)]
struct Here {
    next: Option<RelayStub>,
    noted: Arc<Mutex<Vec<String>>>,
    server: Option<WeakServer>,
}

fn seen() -> String {
    format!("{:?}", context().metadata())
}

impl Here {
    fn next(&self) -> &RelayStub {
        self.next.as_ref().unwrap()
    }
}

#[remote]
impl Relay for Here {
    fn seen(&self) -> String {
        seen()
    }

    fn length(&self, bytes: &[u8]) -> u64 {
        assert!(!context().metadata().is_empty());
        bytes.len() as u64
    }

    fn seen_again(&self) -> String {
        seen()
    }

    async fn seen_later(&self) -> String {
        jstream_transport::active::yield_now().await;
        seen()
    }

    fn nested(&self) -> String {
        self.next().seen().wait().unwrap().get().to_string()
    }

    async fn nested_later(&self) -> String {
        jstream_transport::active::yield_now().await;
        self.next().seen_later().await.unwrap().get().to_string()
    }

    fn nested_apart(&self) -> String {
        let apart = context().with_metadata(Metadata::default());
        let call = apart.enter(|| self.next().seen());
        call.wait().unwrap().get().to_string()
    }

    fn nested_more(&self) -> Result<String, String> {
        let call = self.next().with_metadata(one("more", "m")).seen();
        call.wait()
            .map(|seen| seen.get().to_string())
            .map_err(|error| {
                assert_eq!(error.outcome(), Outcome::DidNotRun);
                error.to_string()
            })
    }

    fn back(&self) -> String {
        let caller = context().caller().unwrap();
        let relay = caller.lookup::<dyn Relay>("relay").wait().unwrap();
        relay.seen().wait().unwrap().get().to_string()
    }

    fn note(&self) {
        self.noted.lock().unwrap().push(seen());
    }

    fn other(&self) -> Remote<dyn Relay> {
        let server = self.server.as_ref().unwrap().upgrade().unwrap();
        server
            .export::<dyn Relay>(Arc::new(Self::default()))
            .into_remote()
    }

    fn counted(&self, numbers: Stream<u64>) -> String {
        format!("{} {}", numbers.count(), seen())
    }

    fn items(&self) -> Stream<String> {
        Stream::of([seen()])
    }
}

fn one(key: &str, value: &str) -> Metadata {
    let mut metadata = Metadata::default();
    metadata.insert(key, value).unwrap();
    metadata
}

/// A server behind another one, and a client of the first.
struct Chain {
    relay: RelayStub,
    client: Client,
    noted: Arc<Mutex<Vec<String>>>,
    _serving: [Serving; 2],
}

fn chain(name: &str, options: ServerOptions, client: &ClientOptions) -> Chain {
    let last = Server::default();
    last.bind::<dyn Relay>("relay", Arc::new(Here::default()))
        .unwrap();
    let last = last
        .listen(&format!("inproc://metadata-{name}-last").parse().unwrap())
        .unwrap();
    let next = Client::connect(last.address()).wait().unwrap();
    let next = next.lookup::<dyn Relay>("relay").wait().unwrap();
    let server = Server::new(options);
    let noted = Arc::default();
    let here = Here {
        next: Some(next),
        noted: Arc::clone(&noted),
        server: Some(server.downgrade()),
    };
    server.bind::<dyn Relay>("relay", Arc::new(here)).unwrap();
    let serving = server
        .listen(&format!("inproc://metadata-{name}").parse().unwrap())
        .unwrap();
    let client = Client::connect_with(serving.address(), client)
        .wait()
        .unwrap();
    let relay = client.lookup::<dyn Relay>("relay").wait().unwrap();
    Chain {
        relay,
        client,
        noted,
        _serving: [last, serving],
    }
}

fn plain(name: &str) -> Chain {
    chain(name, ServerOptions::default(), &ClientOptions::default())
}

const KV: &str = "{\"k\": \"v\"}";

#[test]
fn methods_see_the_metadata_of_their_call() {
    let chain = plain("methods");
    let relay = chain.relay.with_metadata(one("k", "v"));
    assert_eq!(*relay.seen().wait().unwrap().get(), KV);
    assert_eq!(*relay.seen_later().wait().unwrap().get(), KV);
    assert_eq!(
        *relay
            .retrying(Retries::default())
            .seen_again()
            .wait()
            .unwrap()
            .get(),
        KV
    );
    relay.note().unwrap();
    until(|| *chain.noted.lock().unwrap() == [KV]);
    let items: Vec<_> = relay
        .items()
        .map(|item| item.unwrap().get().to_string())
        .collect();
    assert_eq!(items, [KV]);
    let counted = relay.counted(Stream::of([1, 2])).wait().unwrap();
    assert_eq!(*counted.get(), format!("2 {KV}"));
    // Other stubs of the object, and later calls, have none.
    assert_eq!(*chain.relay.seen().wait().unwrap().get(), "{}");
    assert_eq!(
        *relay
            .with_metadata(Metadata::default())
            .seen()
            .wait()
            .unwrap()
            .get(),
        "{}"
    );
    let within = relay.within(std::time::Duration::from_secs(9));
    assert_eq!(*within.seen().wait().unwrap().get(), KV);
}

#[test]
fn pipelined_and_large_calls_carry_metadata() {
    let chain = plain("pipelined");
    let relay = chain.relay.with_metadata(one("k", "v"));
    let other = relay.other();
    let seen = other.pipelined().with_metadata(one("k", "v")).seen();
    assert_eq!(*seen.wait().unwrap().get(), KV);
    let other = other.wait().unwrap();
    let seen = other.stub().with_metadata(one("a", "b")).seen();
    assert_eq!(*seen.wait().unwrap().get(), "{\"a\": \"b\"}");
    for _ in 0..3 {
        let bytes = vec![7; 1 << 20];
        assert_eq!(*relay.length(&bytes).wait().unwrap().get(), 1 << 20);
    }
}

/// Large calls go over a second connection, and so have a capture file of their own.
#[test]
fn large_calls_carry_metadata_over_the_lane() {
    let folder = std::env::temp_dir().join(format!("jstream-lane-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let capture = Capture::new(&folder).unwrap();
    let mut options = ClientOptions::default();
    options.capture = Some(capture.clone());
    let chain = chain("lane", ServerOptions::default(), &options);
    let relay = chain.relay.with_metadata(one("k", "v"));
    let bytes = vec![7; 1 << 20];
    for _ in 0..3 {
        assert_eq!(*relay.seen().wait().unwrap().get(), KV);
        assert_eq!(*relay.length(&bytes).wait().unwrap().get(), 1 << 20);
    }
    drop((relay, chain));
    capture.flush();
    assert_eq!(capture.lost(), 0);
    let mut found = Vec::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let file = std::fs::File::open(file.unwrap().path()).unwrap();
        let mut reader = CaptureReader::new(std::io::BufReader::new(file)).unwrap();
        let mut calls = Vec::new();
        while let Some(record) = reader.read().unwrap() {
            let Record::Message(message) = record else {
                continue;
            };
            // The registry has the number 0.
            if message.kind == Kind::Request && message.call.is_some_and(|(object, _)| object > 0) {
                let (payload, metadata) = metadata_of(message.word, &message.payload).unwrap();
                calls.push((payload.len() > 1 << 20, metadata));
            }
        }
        found.push(calls);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let calls = |is_large| vec![(is_large, one("k", "v")); 3];
    found.sort_by_key(|calls| calls.first().map(|(is_large, _)| *is_large));
    assert_eq!(found, [calls(false), calls(true)]);
}

#[test]
fn nested_calls_inherit_metadata() {
    let chain = plain("nested");
    let relay = chain.relay.with_metadata(one("k", "v"));
    assert_eq!(*relay.nested().wait().unwrap().get(), KV);
    assert_eq!(*relay.nested_later().wait().unwrap().get(), KV);
    assert_eq!(*relay.nested_apart().wait().unwrap().get(), "{}");
    let more = relay.nested_more().wait().unwrap();
    assert_eq!(*more.get(), Ok("{\"k\": \"v\", \"more\": \"m\"}"));
    let own = Server::default();
    own.bind::<dyn Relay>("relay", Arc::new(Here::default()))
        .unwrap();
    assert!(chain.client.export_server(&own));
    assert_eq!(*relay.back().wait().unwrap().get(), KV);
    assert_eq!(*chain.relay.nested().wait().unwrap().get(), "{}");
    // Outside of methods, a context with metadata has the same effect.
    let context = context().with_metadata(one("k", "v"));
    let calls = context.enter(|| (chain.relay.seen(), chain.relay.nested()));
    assert_eq!(*calls.0.wait().unwrap().get(), KV);
    assert_eq!(*calls.1.wait().unwrap().get(), KV);
}

#[test]
fn local_calls_carry_metadata() {
    let server = Server::default();
    let here = server.export::<dyn Relay>(Arc::new(Here::default()));
    let stub = here.remote().stub().with_metadata(one("k", "v"));
    assert_eq!(*stub.seen().wait().unwrap().get(), KV);
    assert_eq!(*stub.seen_later().wait().unwrap().get(), KV);
}

#[test]
fn more_than_the_limit_is_not_sent() {
    let chain = plain("limit");
    let mut full = Metadata::default();
    for place in 0..Metadata::MAX_ENTRIES {
        full.insert(&format!("k{place}"), "v").unwrap();
    }
    let relay = chain.relay.with_metadata(full);
    let more = relay.nested_more().wait().unwrap();
    let more = more.get().unwrap_err();
    assert!(
        more.contains("seen was not called") && more.contains("MAX_ENTRIES"),
        "{more}"
    );
    let long = "v".repeat(Metadata::MAX_BYTES - 5);
    let relay = chain.relay.with_metadata(one("k", &long));
    assert_eq!(relay.nested().wait().unwrap().get().len(), long.len() + 9);
    let call = context().with_metadata(one("a", "")).enter(|| relay.seen());
    let error = call.wait().unwrap_err();
    let bytes = Metadata::MAX_BYTES + 5;
    assert!(
        matches!(&error, CallError::Metadata { source, .. } if *source == MetadataError::Bytes { bytes }),
        "{error}"
    );
    assert_eq!(error.outcome(), Outcome::DidNotRun);
}

/// An interceptor that adds an entry to the calls of its side, and keeps what it sees.
#[derive(Clone, Default)]
struct Traces(Arc<Mutex<Vec<(Side, String)>>>);

impl Interceptor for Traces {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        if call.method != "lookup" {
            let seen = format!("{:?}", call.metadata);
            self.0.lock().unwrap().push((call.side, seen));
        }
        Ok(Box::new(Traced))
    }
}

struct Traced;

impl Watch for Traced {
    fn add_metadata(&self, metadata: &mut Metadata) -> Result<(), Denied> {
        let depth = metadata.get("depth").map_or(0, str::len);
        Ok(metadata.insert("depth", &"+".repeat(depth + 1))?)
    }
}

#[test]
fn interceptors_see_and_add_metadata() {
    let traces = Traces::default();
    let mut server = ServerOptions::default();
    server.interceptors = Interceptors::default().and(traces.clone());
    let mut client = ClientOptions::default();
    client.interceptors = Interceptors::default()
        .and(traces.clone())
        .and(traces.clone());
    let chain = chain("interceptors", server, &client);
    let relay = chain.relay.with_metadata(one("k", "v"));
    let seen = "{\"k\": \"v\", \"depth\": \"++\"}";
    assert_eq!(*relay.nested().wait().unwrap().get(), seen);
    let found = traces.0.lock().unwrap().clone();
    assert_eq!(
        found,
        [
            (Side::Caller, KV.to_owned()),
            (Side::Caller, "{\"k\": \"v\", \"depth\": \"+\"}".to_owned()),
            (Side::Callee, seen.to_owned()),
        ]
    );
    relay.note().unwrap();
    until(|| *chain.noted.lock().unwrap() == [seen]);
}
