//! Reflection: descriptions of a server's objects, and calls that need nothing but these.

use std::sync::Arc;
use std::time::Duration;

use jstream::schema::{Kind, Schema};
use jstream::{Limits, Reader, Transportable, Writer};
use jstream_rmi::{
    CallError, Client, LookupError, Outcome, Server, ServerOptions, Serving, Stream, remote,
};

use testing::until;

#[derive(Transportable, Debug, Clone, Copy)]
struct Leg {
    price: f64,
    count: u32,
}

#[remote]
trait Desk {
    fn value(&self, legs: &[Leg], factor: f64) -> f64;
    #[remote(idempotent)]
    fn name(&self) -> String;
    #[remote(one_way)]
    fn note(&self, text: &str);
    fn prices(&self, of: Stream<u64>) -> Stream<f64>;
    fn fails(&self);
    async fn waits(&self, millis: u64);
}

struct Plain;

#[remote]
impl Desk for Plain {
    fn value(&self, legs: &[Leg], factor: f64) -> f64 {
        let all = legs.iter().map(|leg| leg.price * f64::from(leg.count));
        factor * all.sum::<f64>()
    }

    fn name(&self) -> String {
        "desk".to_owned()
    }

    fn note(&self, _text: &str) {}

    fn prices(&self, _of: Stream<u64>) -> Stream<f64> {
        Stream::of(std::iter::empty())
    }

    fn fails(&self) {
        panic!("as it should");
    }

    async fn waits(&self, _millis: u64) {
        std::future::pending().await
    }
}

#[remote]
trait Other {
    fn nothing(&self);
}

impl Other for Plain {
    fn nothing(&self) {}
}

fn serve(name: &str, options: ServerOptions) -> (Server, Serving) {
    let server = Server::new(options);
    server.bind::<dyn Desk>("desk", Arc::new(Plain)).unwrap();
    server
        .bind::<dyn Other>("another", Arc::new(Plain))
        .unwrap();
    let address = format!("inproc://reflection-{name}").parse().unwrap();
    let serving = server.listen(&address).unwrap();
    (server, serving)
}

fn message<T: Transportable>(of: &T) -> Vec<u8> {
    let bytes = Writer::new().gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    bytes.unwrap()
}

#[test]
fn what_is_bound_is_told_with_its_signatures() {
    let (_server, serving) = serve("bound", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let bound = client.reflection().bound().wait().unwrap();
    let bound: Vec<_> = bound
        .get()
        .iter()
        .map(|of| (of.name, of.interface))
        .collect();
    assert_eq!(bound, [("another", "Other"), ("desk", "Desk")]);

    let desk = client.describe("desk").wait().unwrap();
    let description = desk.description();
    assert_eq!(description.name, "Desk");
    let id = client.reflection().bound().wait().unwrap().get()[1].id;
    assert_eq!(description.id, id);
    let told: Vec<_> = description
        .methods
        .iter()
        .map(|of| (of.name, of.text))
        .collect();
    assert_eq!(
        told,
        [
            ("value", "fn value(&self, legs: &[Leg], factor: f64) -> f64"),
            ("name", "fn name(&self) -> String"),
            ("note", "fn note(&self, text: &str)"),
            ("prices", "fn prices(&self, of: Stream<u64>) -> Stream<f64>"),
            ("fails", "fn fails(&self)"),
            ("waits", "async fn waits(&self, millis: u64)"),
        ]
    );
    let flags = description
        .methods
        .iter()
        .map(|of| (of.one_way, of.idempotent, of.streams));
    let flags: Vec<_> = flags.collect();
    let none = (false, false, false);
    let expected = [
        none,
        (false, true, false),
        (true, false, false),
        (false, false, true),
        none,
        none,
    ];
    assert_eq!(flags, expected);

    let (schema, root) = Schema::from_bytes(description.methods[0].arguments).unwrap();
    let Kind::Struct(fields) = &schema.get(root).unwrap().kind else {
        panic!("the arguments are a tuple");
    };
    assert_eq!(fields.len(), 2);
    let (result, root) = Schema::from_bytes(description.methods[0].result).unwrap();
    assert_eq!(result.descriptor(root), jstream::descriptor::<f64>());
}

#[test]
fn methods_are_called_by_their_descriptions() {
    let (_server, serving) = serve("called", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let desk = client.describe("desk").wait().unwrap();
    let legs = [
        Leg {
            price: 2.0,
            count: 3,
        },
        Leg {
            price: 0.5,
            count: 4,
        },
    ];
    let result = desk.call(0, &message(&(&legs[..], 10.0f64))).unwrap();
    let mut reader = Reader::new(Limits::default());
    let value = reader
        .read::<f64>(result)
        .map_err(|failed| failed.error)
        .unwrap();
    assert_eq!(*value.get(), 80.0);

    assert!(desk.call(2, &message(&("noted",))).unwrap().is_empty());

    let refused = desk.call(0, &message(&7u32)).unwrap_err();
    assert!(matches!(refused, CallError::Refused { .. }), "{refused}");
    let unknown = desk.call(77, &[]).unwrap_err();
    assert!(
        matches!(unknown, CallError::UnknownMethod { .. }),
        "{unknown}"
    );
    let panicked = desk.call(4, &message(&())).unwrap_err();
    assert!(matches!(panicked, CallError::Panicked { .. }), "{panicked}");
    let late = client
        .describe("desk")
        .wait()
        .unwrap()
        .within(Duration::from_millis(20));
    let late = late.call(5, &message(&(1u64,))).unwrap_err();
    assert!(matches!(late, CallError::Deadline { .. }), "{late}");

    let nobody = client.describe("nobody").wait().unwrap_err();
    assert!(matches!(nobody, LookupError::Unknown { .. }), "{nobody}");
}

#[test]
fn health_counts_what_is_under_way() {
    let mut options = ServerOptions::default();
    options.max_connections = 2;
    let (_server, serving) = serve("health", options);
    let client = Client::connect(serving.address()).wait().unwrap();
    let health = || *client.reflection().health().wait().unwrap().get();
    let before = health();
    assert!(before.serving);
    assert_eq!(
        (before.names, before.connections, before.waiting),
        (2, 1, 0)
    );
    assert_eq!((before.refused_connections, before.refused_calls), (0, 0));

    let _held = client.lookup::<dyn Desk>("desk").wait().unwrap();
    let other = Client::connect(serving.address()).wait().unwrap();
    let desk = other.lookup::<dyn Desk>("desk").wait().unwrap();
    let waits = desk.waits(1);
    // Calls of one connection begin in order.
    desk.name().wait().unwrap();
    assert_eq!((health().connections, health().waiting), (2, 1));
    Client::connect(serving.address()).wait().unwrap_err();
    assert_eq!(health().refused_connections, 1);
    drop(waits);
    until(|| health().waiting == 0);
}

#[test]
fn who_is_to_know_nothing_is_told_nothing() {
    let mut options = ServerOptions::default();
    options.reflects = false;
    let (_server, serving) = serve("nothing", options);
    let client = Client::connect(serving.address()).wait().unwrap();
    let refused = client.reflection().bound().wait().unwrap_err();
    assert!(
        matches!(refused, CallError::UnknownObject { .. }),
        "{refused}"
    );
    assert_eq!(refused.outcome(), Outcome::DidNotRun);
    client.lookup::<dyn Desk>("desk").wait().unwrap();
}
