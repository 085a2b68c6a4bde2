//! Calls between programs that were built from different versions of a trait.
#![deny(warnings)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::directory::{self, Directory, Names, Registrar};
use jstream_rmi::{
    CallError, CallerMethod, CallerVersion, Client, ClientOptions, ConnectionState, LookupError,
    Metadata, Outcome, Retries, Server, ServerOptions, Serving, Stream, Stub, remote,
};
use testing::until;

#[derive(Transportable)]
struct Point {
    x: u64,
    #[transportable(default = 3)]
    weight: u32,
}

/// A class of trait objects, of which both versions have one.
#[jstream::transportable]
trait Shape: Send + Sync {
    fn area(&self) -> u64;
}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Square {
    side: u64,
    #[transportable(default = 2)]
    height: u64,
}

impl Shape for Square {
    fn area(&self) -> u64 {
        self.side * self.height
    }
}

#[derive(Transportable, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Small,
    Large,
}

/// Default of the argument of the same name.
fn factor() -> u64 {
    10
}

/// The trait of the server.
#[remote(renamed_from = "Plain")]
trait Plane {
    fn total(&self) -> u64;
    #[remote(renamed_from = "plus")]
    fn add(&self, point: &Point, #[remote(default = factor())] factor: u64) -> u64;
    fn area(&self, shape: &dyn Shape) -> u64;
    fn kind(&self, kind: &Kind) -> u64;
    fn texts(&self, #[remote(default = "none")] text: &str, of: Option<u32>) -> String;
    fn reset(&self);
    fn point(&self, x: u64) -> Point;
    fn sum(&self, items: Stream<u64>, #[remote(renamed_from = "base")] start: u64) -> u64;
    #[remote(one_way)]
    fn note(&self, value: u64);
    #[remote(idempotent)]
    async fn later(&self, value: u64, #[remote(default)] more: u64) -> u64;
}

#[derive(Default)]
struct Flat {
    noted: Arc<AtomicU64>,
}

#[remote]
impl Plane for Flat {
    fn total(&self) -> u64 {
        7
    }

    fn add(&self, point: &Point, factor: u64) -> u64 {
        (point.x + u64::from(point.weight)) * factor
    }

    fn area(&self, shape: &dyn Shape) -> u64 {
        shape.area()
    }

    fn kind(&self, kind: &Kind) -> u64 {
        u64::from(*kind == Kind::Large)
    }

    fn texts(&self, text: &str, of: Option<u32>) -> String {
        format!("{text} {of:?}")
    }

    fn reset(&self) {}

    fn point(&self, x: u64) -> Point {
        Point { x, weight: 5 }
    }

    fn sum(&self, items: Stream<u64>, start: u64) -> u64 {
        start + items.map(|item| *item.unwrap().get()).sum::<u64>()
    }

    fn note(&self, value: u64) {
        self.noted.store(value, Ordering::Relaxed);
    }

    async fn later(&self, value: u64, more: u64) -> u64 {
        value + more
    }
}

/// The trait before the changes.
mod older {
    use jstream::Transportable;
    use jstream_rmi::{Stream, remote};

    #[derive(Transportable, Debug)]
    pub(super) struct Point {
        pub(super) x: u32,
    }

    #[jstream::transportable]
    pub(super) trait Shape: Send + Sync {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Square {
        pub(super) side: u64,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            self.side
        }
    }

    #[derive(Transportable, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub(super) enum Kind {
        Small,
        Medium,
        Large,
    }

    #[remote]
    pub(super) trait Plain {
        fn plus(&self, point: &Point) -> u64;
        fn kind(&self, kind: &Kind) -> u64;
        fn total(&self) -> u64;
        fn area(&self, shape: &dyn Shape) -> u64;
        fn texts(&self) -> String;
        fn reset(&self, all: bool);
        fn point(&self, x: u64) -> Point;
        fn gone(&self) -> u64;
        fn sum(&self, base: u32, items: Stream<u64>) -> u64;
        #[remote(one_way)]
        fn note(&self, value: u32);
        #[remote(idempotent)]
        async fn later(&self, value: u64) -> u64;
    }
}

/// The trait with the same methods at other places.
mod moved {
    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn reset(&self);
        fn total(&self) -> u64;
    }
}

/// A trait of which no method can be called.
mod changed {
    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn total(&self) -> bool;
        fn more(&self);
    }
}

fn serve(address: &str, options: ServerOptions) -> (Serving, Arc<AtomicU64>) {
    let server = Server::new(options);
    let flat = Flat::default();
    let noted = flat.noted.clone();
    server.bind::<dyn Plane>("plane", Arc::new(flat)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (serving, noted)
}

fn difference(error: LookupError) -> String {
    match error {
        LookupError::OtherInterface { difference, .. } => difference,
        error => panic!("{error}"),
    }
}

/// Calls each method of the older version.
fn call_all(client: &Client, noted: &AtomicU64) {
    let plane = client.lookup::<dyn older::Plain>("plane").wait().unwrap();
    let point = older::Point { x: 4 };
    // A widened number, two defaults, and a renamed method of a renamed trait.
    assert_eq!(*plane.plus(&point).wait().unwrap().get(), 70);
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    assert_eq!(*plane.kind(&older::Kind::Small).wait().unwrap().get(), 0);
    assert_eq!(*plane.kind(&older::Kind::Large).wait().unwrap().get(), 1);
    let error = plane.kind(&older::Kind::Medium).wait().unwrap_err();
    assert!(matches!(&error, CallError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("Medium"), "{error}");
    // The connection goes on.
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let square = older::Square { side: 3 };
    assert_eq!(*plane.area(&square).wait().unwrap().get(), 6);
    // The old method has no arguments, so its message is empty.
    assert_eq!(*plane.texts().wait().unwrap().get(), "none None");
    // An argument that the server lacks.
    plane.reset(true).wait().unwrap();
    // A result that the caller narrows has no rule, so the method alone is refused.
    let error = plane.point(1).wait().unwrap_err();
    let CallError::OtherVersion { reason, .. } = &error else {
        panic!("{error}");
    };
    assert!(reason.contains("x: "), "{reason}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    let error = plane.gone().wait().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("gone was not called: `fn gone(&self) -> u64` is missing there"),
        "{text}"
    );
    let sum = plane.sum(5, Stream::of([1, 2])).wait();
    assert_eq!(*sum.unwrap().get(), 8);
    plane.note(9).unwrap();
    assert_eq!(*plane.later(6).wait().unwrap().get(), 6);
    assert_eq!(noted.load(Ordering::Relaxed), 9);
}

/// The older server.
struct Old;

#[remote]
impl older::Plain for Old {
    fn plus(&self, point: &older::Point) -> u64 {
        100 + u64::from(point.x)
    }

    fn kind(&self, _: &older::Kind) -> u64 {
        0
    }

    fn total(&self) -> u64 {
        8
    }

    fn area(&self, shape: &dyn older::Shape) -> u64 {
        shape.area()
    }

    fn texts(&self) -> String {
        "older".to_owned()
    }

    fn reset(&self, _: bool) {}

    fn point(&self, x: u64) -> older::Point {
        older::Point {
            x: u32::try_from(x).unwrap(),
        }
    }

    fn gone(&self) -> u64 {
        1
    }

    fn sum(&self, base: u32, items: Stream<u64>) -> u64 {
        u64::from(base) + items.map(|item| *item.unwrap().get()).sum::<u64>()
    }

    fn note(&self, _: u32) {}

    async fn later(&self, value: u64) -> u64 {
        value
    }
}

#[test]
fn methods_are_called_by_their_names_and_converted() {
    for address in [
        "inproc://versions-all",
        "shm://versions-all",
        "tcp://127.0.0.1:0",
    ] {
        let (serving, noted) = serve(address, ServerOptions::default());
        let client = Client::connect(serving.address()).wait().unwrap();
        call_all(&client, &noted);
        let mut options = ClientOptions::default();
        options.reconnect = None;
        let client = Client::connect_with(serving.address(), &options).wait();
        call_all(&client.unwrap(), &noted);
    }
}

#[test]
fn a_newer_client_calls_an_older_server() {
    let server = Server::default();
    server
        .bind::<dyn older::Plain>("plane", Arc::new(Old))
        .unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let plane = client.lookup::<dyn Plane>("plane").wait().unwrap();
    assert_eq!(*plane.total().wait().unwrap().get(), 8);
    // The result gets the default of its new field.
    let point = plane.point(3).wait().unwrap();
    assert_eq!((point.get().x, point.get().weight), (3, 3));
    assert_eq!(*plane.later(5, 9).wait().unwrap().get(), 5);
    assert_eq!(*plane.texts("lost", None).wait().unwrap().get(), "older");
    // The older server does not accept larger numbers, and knows no newer variants.
    let point = Point { x: 1, weight: 1 };
    let error = plane.add(&point, 1).wait().unwrap_err();
    let CallError::OtherVersion { reason, .. } = &error else {
        panic!("{error}");
    };
    assert!(reason.contains("arguments can't be converted"), "{reason}");
    assert!(reason.contains("point.x: "), "{reason}");
    assert_eq!(*plane.kind(&Kind::Small).wait().unwrap().get(), 0);
}

/// The trait with the same types, one of which has trait objects of other classes.
mod classes {
    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn area(&self, shape: &dyn super::older::Shape) -> u64;
        fn total(&self) -> u64;
    }

    #[jstream_rmi::remote]
    pub(super) trait Areas {
        fn area(&self, shape: &dyn super::older::Shape) -> u64;
    }

    pub(super) mod newer {
        #[jstream_rmi::remote]
        pub(in super::super) trait Areas {
            fn area(&self, shape: &dyn super::super::Shape) -> u64;
        }
    }

    /// A trait with the class of the older version, and one more.
    pub(super) mod more {
        #[jstream::transportable]
        pub(in super::super) trait Shape: Send + Sync {
            fn area(&self) -> u64;
        }

        #[derive(jstream::Transportable)]
        #[transportable(implements(Shape))]
        pub(in super::super) struct Square {
            pub(in super::super) side: u64,
        }

        #[derive(jstream::Transportable)]
        #[transportable(implements(Shape))]
        pub(in super::super) struct Circle {
            pub(in super::super) radius: u64,
        }

        impl Shape for Square {
            fn area(&self) -> u64 {
                self.side * self.side
            }
        }

        impl Shape for Circle {
            fn area(&self) -> u64 {
                self.radius * self.radius * 3
            }
        }

        #[jstream_rmi::remote]
        pub(in super::super) trait Areas {
            fn area(&self, shape: &dyn Shape) -> u64;
        }
    }
}

impl classes::newer::Areas for Flat {
    fn area(&self, shape: &dyn Shape) -> u64 {
        shape.area()
    }
}

impl classes::more::Areas for Flat {
    fn area(&self, shape: &dyn classes::more::Shape) -> u64 {
        shape.area()
    }
}

#[test]
fn nothing_is_converted_if_one_side_has_more_classes() {
    let server = Server::default();
    let flat = Arc::new(Flat::default());
    let bound = server.bind::<dyn classes::more::Areas>("areas", flat);
    bound.unwrap();
    let serving = server.listen(&"inproc://versions-more-classes".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    // A connection has room for 64 objects that convert.
    let look_up = || client.lookup::<dyn classes::Areas>("areas").wait().unwrap();
    let stubs: Vec<_> = (0..65).map(|_| look_up()).collect();
    for areas in &stubs {
        let area = areas.area(&older::Square { side: 3 }).wait();
        assert_eq!(*area.unwrap().get(), 9);
    }
    let shapes: [&dyn classes::more::Shape; 2] = [
        &classes::more::Square { side: 2 },
        &classes::more::Circle { radius: 2 },
    ];
    let areas = client.lookup::<dyn classes::more::Areas>("areas").wait();
    let areas = areas.unwrap();
    let areas = shapes.map(|shape| *areas.area(shape).wait().unwrap().get());
    assert_eq!(areas, [4, 12]);
}

#[test]
fn without_reflection_interfaces_of_the_same_id_are_found() {
    let mut options = ServerOptions::default();
    options.reflects = false;
    let server = Server::new(options);
    let flat = Arc::new(Flat::default());
    let bound = server.bind::<dyn classes::more::Areas>("areas", flat);
    bound.unwrap();
    let serving = server.listen(&"inproc://versions-same-id".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let areas = client.lookup::<dyn classes::Areas>("areas").wait().unwrap();
    let area = areas.area(&older::Square { side: 3 }).wait();
    assert_eq!(*area.unwrap().get(), 9);
}

#[test]
fn classes_are_converted_in_interfaces_that_are_equal_otherwise() {
    let server = Server::default();
    let flat = Arc::new(Flat::default());
    let bound = server.bind::<dyn classes::newer::Areas>("areas", flat.clone());
    bound.unwrap();
    server.bind::<dyn Plane>("plane", flat).unwrap();
    let serving = server.listen(&"inproc://versions-classes".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let square = older::Square { side: 3 };
    let areas = client.lookup::<dyn classes::Areas>("areas").wait().unwrap();
    assert_eq!(*areas.area(&square).wait().unwrap().get(), 6);
    let plane = client.lookup::<dyn classes::Plane>("plane").wait().unwrap();
    assert_eq!(*plane.area(&square).wait().unwrap().get(), 6);
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
}

#[test]
fn methods_may_have_other_places() {
    let (serving, _) = serve("inproc://versions-moved", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let plane = client.lookup::<dyn moved::Plane>("plane").wait().unwrap();
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    plane.reset().wait().unwrap();
    // Stubs that are made from it call the same methods.
    let plane = plane.within(Duration::from_secs(60));
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let mut metadata = Metadata::default();
    metadata.insert("key", "value").unwrap();
    let plane = plane.with_metadata(metadata);
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let plane = plane.with_metadata(Metadata::default());
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let retrying = plane.retrying(Retries::default());
    assert_eq!(*retrying.total().wait().unwrap().get(), 7);
}

#[test]
fn objects_of_other_versions_are_released() {
    let server = Server::default();
    let flat = Arc::new(Flat::default());
    server.bind::<dyn Plane>("plane", flat.clone()).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let exports = server.references().exports;
    let plane = client.lookup::<dyn older::Plain>("plane").wait().unwrap();
    assert_eq!(server.references().exports, exports);
    // The name is the only owner of the object.
    assert!(server.unbind("plane"));
    until(|| Arc::strong_count(&flat) == 1);
    let error = plane.later(1).wait().unwrap_err();
    assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
    // A connection has room for 64 objects at a time.
    drop(plane);
    let names: Vec<String> = (0..65).map(|number| format!("plane {number}")).collect();
    for name in &names {
        let flat = Arc::new(Flat::default());
        server.bind::<dyn Plane>(name, flat).unwrap();
    }
    let look_up = |name: &str| client.lookup::<dyn older::Plain>(name).wait();
    let mut stubs = Vec::new();
    until(|| {
        stubs.extend(look_up(&names[stubs.len()]).ok());
        stubs.len() == 64
    });
    let refused = difference(look_up(&names[64]).err().unwrap());
    assert!(
        refused.contains("limit of objects in other versions"),
        "{refused}"
    );
    // Each of them may be looked up again.
    let more = names[..64].iter().map(|name| look_up(name).unwrap());
    stubs.extend(more.collect::<Vec<_>>());
    drop(stubs);
    until(|| look_up(&names[64]).is_ok());
    drop(client);
    until(|| server.references().leases == 0);
}

#[test]
fn stubs_of_other_versions_share_an_object() {
    let (serving, _) = serve("inproc://versions-shared", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let look_up = || client.lookup::<dyn older::Plain>("plane").wait().unwrap();
    let mut stubs: Vec<_> = (0..200).map(|_| look_up()).collect();
    assert_eq!(client.references(), 1);
    // The object is there until the last of them is dropped.
    let last = stubs.pop().unwrap();
    drop(stubs);
    assert_eq!(*last.total().wait().unwrap().get(), 7);
    drop(last);
    assert_eq!(*look_up().total().wait().unwrap().get(), 7);
}

#[test]
fn a_stub_follows_its_object_to_a_server_of_another_version() {
    let (serving, _) = serve("tcp://127.0.0.1:0", ServerOptions::default());
    let address = serving.address().clone();
    let client = Client::connect(&address).wait().unwrap();
    let newer = client.lookup::<dyn Plane>("plane").wait().unwrap();
    let older = client.lookup::<dyn older::Plain>("plane").wait().unwrap();
    assert_eq!(*newer.later(1, 2).wait().unwrap().get(), 3);
    assert_eq!(*older.later(1).wait().unwrap().get(), 1);
    drop(serving);
    let server = Server::default();
    server
        .bind::<dyn older::Plain>("plane", Arc::new(Old))
        .unwrap();
    let serving = server.listen(&address).unwrap();
    assert_eq!(*newer.later(1, 2).wait().unwrap().get(), 1);
    let point = older::Point { x: 7 };
    assert_eq!(*older.plus(&point).wait().unwrap().get(), 107);
    drop(serving);
    let (_serving, _) = serve(&address.to_string(), ServerOptions::default());
    assert_eq!(*newer.later(1, 2).wait().unwrap().get(), 3);
    assert_eq!(*older.plus(&point).wait().unwrap().get(), 100);
}

/// A trait to which a method was added.
#[remote]
trait Grown {
    fn first(&self) -> u64;
    #[remote(idempotent)]
    fn second(&self) -> u64;
}

mod small {
    #[jstream_rmi::remote]
    pub(super) trait Grown {
        fn first(&self) -> u64;
    }
}

struct Numbers;

impl Grown for Numbers {
    fn first(&self) -> u64 {
        1
    }

    fn second(&self) -> u64 {
        2
    }
}

impl small::Grown for Numbers {
    fn first(&self) -> u64 {
        3
    }
}

#[test]
fn a_method_that_the_server_lacked_is_called_after_its_restart() {
    let server = Server::default();
    let bound = server.bind::<dyn small::Grown>("numbers", Arc::new(Numbers));
    bound.unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let address = serving.address().clone();
    let client = Client::connect(&address).wait().unwrap();
    let look_up = || client.lookup::<dyn Grown>("numbers").wait().unwrap();
    let (stub, other) = (look_up(), look_up());
    let retrying = look_up().retrying(Retries::default());
    assert_eq!(*stub.first().wait().unwrap().get(), 3);
    for stub in [&stub, &other, &retrying] {
        let error = stub.second().wait().unwrap_err();
        assert!(matches!(error, CallError::OtherVersion { .. }), "{error}");
    }
    let _thread = client.start().unwrap();
    drop(serving);
    until(|| matches!(client.state(), ConnectionState::Lost { .. }));
    let server = Server::default();
    server
        .bind::<dyn Grown>("numbers", Arc::new(Numbers))
        .unwrap();
    let _serving = server.listen(&address).unwrap();
    for stub in [&stub, &other, &retrying] {
        assert_eq!(*stub.second().wait().unwrap().get(), 2);
        assert_eq!(*stub.first().wait().unwrap().get(), 1);
    }
}

/// A generic trait that has another name now.
#[remote(instances(Depot<u64>), renamed_from = "Shed")]
trait Depot<T> {
    fn put(&self, item: &T, #[remote(default)] times: u64) -> u64;
}

mod generic {
    #[jstream_rmi::remote(instances(Shed<u64>))]
    pub(super) trait Shed<T> {
        fn put(&self, item: &T) -> u64;
    }
}

impl Depot<u64> for Numbers {
    fn put(&self, item: &u64, times: u64) -> u64 {
        item + times
    }
}

#[test]
fn a_generic_trait_may_be_renamed() {
    let server = Server::default();
    let bound = server.bind::<dyn Depot<u64>>("depot", Arc::new(Numbers));
    bound.unwrap();
    let serving = server.listen(&"inproc://versions-generic".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let shed = client.lookup::<dyn generic::Shed<u64>>("depot").wait();
    assert_eq!(*shed.unwrap().put(&4).wait().unwrap().get(), 4);
}

#[test]
fn an_object_of_which_no_method_fits_is_refused() {
    let (serving, _) = serve("inproc://versions-changed", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client.lookup::<dyn changed::Plane>("plane").wait();
    let difference = difference(error.err().unwrap());
    assert!(
        difference.contains("its result can't be converted: "),
        "{difference}"
    );
    assert!(
        difference.ends_with("; more: `fn more(&self)` is missing there"),
        "{difference}"
    );
}

#[test]
fn without_reflection_a_mismatch_shows_the_signatures() {
    let mut options = ServerOptions::default();
    options.reflects = false;
    let (serving, _) = serve("inproc://versions-silent", options);
    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client.lookup::<dyn moved::Plane>("plane").wait();
    let difference = difference(error.err().unwrap());
    assert!(
        difference
            .starts_with("Plane { fn reset(&self); fn total(&self) -> u64 } here, Plane { fn "),
        "{difference}"
    );
    // Nor does the server say which types can't be converted.
    let caller = CallerVersion::default();
    let found = client.registry().lookup_version("plane", 0, &caller);
    let found = found.wait().unwrap();
    assert_eq!(found.get().number, None);
    assert_eq!(found.get().reason, "the server does not allow reflection");
}

#[test]
fn a_registry_leaves_the_comparison_to_the_server() {
    let server = Server::default();
    let registrar = Arc::new(Registrar::default());
    server
        .bind::<dyn Directory>(directory::NAME, registrar)
        .unwrap();
    let registry = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let registry = registry.unwrap();
    let (serving, _) = serve("tcp://127.0.0.1:0", ServerOptions::default());
    let names = Names::connect(registry.address()).wait().unwrap();
    names.bind("plane", &serving).wait().unwrap();
    let plane = names.lookup::<dyn older::Plain>("plane").wait().unwrap();
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let error = names.lookup::<dyn changed::Plane>("plane").wait();
    let difference = difference(error.err().unwrap());
    assert!(
        difference.contains("its result can't be converted: "),
        "{difference}"
    );
}

#[test]
fn descriptions_of_callers_are_bounded() {
    let (serving, _) = serve("inproc://versions-hostile", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let description = client.reflection().describe("plane").wait().unwrap();
    let version = description.get().as_ref().unwrap().version;
    let method = |index, arguments| CallerMethod {
        index,
        argument_names: vec!["point".to_owned(); 3],
        arguments,
        frames: Vec::new(),
    };
    let look_up = |client: &Client, methods, classes| {
        let caller = CallerVersion {
            methods,
            classes,
            reached: Vec::new(),
        };
        let found = client.registry().lookup_version("plane", version, &caller);
        found.wait().unwrap().to_owned().unwrap()
    };
    let found = |methods, classes| look_up(&client, methods, classes);
    let many = (0..11).map(|_| method(0, Vec::new())).collect();
    let refused = found(many, Vec::new());
    assert_eq!(refused.number, None);
    assert!(refused.reason.contains("11 methods"), "{}", refused.reason);
    let long = found(vec![method(0, vec![0; 256 << 10])], vec![vec![0]]);
    assert!(long.number.is_none() && long.reason.contains("262160 bytes"));
    let classes = found(Vec::new(), vec![Vec::new(); 257]);
    assert!(classes.number.is_none() && classes.reason.contains("257 classes"));
    let mut named = method(0, vec![0]);
    named.argument_names = vec!["a".repeat(128 << 10); 2];
    let named = found(vec![named], Vec::new());
    assert!(named.number.is_none() && named.reason.contains("262145 bytes"));
    // The descriptions of all objects together; nobody made stubs of these.
    let other = Client::connect(serving.address()).wait().unwrap();
    let given = |byte| look_up(&other, vec![method(0, vec![byte; 255 << 10])], Vec::new());
    let first: Vec<_> = (0..4).map(|byte| given(byte).number.unwrap()).collect();
    let refused = given(4);
    assert!(refused.number.is_none() && refused.reason.contains("limit of objects"));
    // A description that is known needs no room, and leads to the same object.
    let again: Vec<_> = (0..4).map(|byte| given(byte).number.unwrap()).collect();
    assert_eq!(first, again);
    // The reason why a method is refused is known, too.
    assert_eq!(given(3).refused.len(), 1);
    // Schemas that are no schemas, indices that no method has, and one method twice.
    let bytes = jstream::schema::Schema::of::<(u64,)>();
    let valid = bytes.0.to_bytes(bytes.1);
    let mut methods = vec![method(1, valid.clone()), method(1, valid.clone())];
    methods.extend([method(2, vec![7; 40]), method(900, valid.clone())]);
    let mut odd = valid.clone();
    for at in 0..odd.len() {
        odd[at] ^= 0x55;
        let found = found(vec![method(1, odd.clone())], vec![odd.clone()]);
        assert!(found.refused.len() <= 1);
        odd[at] ^= 0x55;
    }
    // Nobody made stubs of these objects, so they stay until the connection ends.
    let other = Client::connect(serving.address()).wait().unwrap();
    let given = look_up(&other, methods, vec![valid]);
    let refused: Vec<u16> = given.refused.iter().map(|of| of.index).collect();
    assert!(given.number.is_some());
    assert_eq!(refused, [1, 2]);
}

mod keys {
    use jstream_rmi::remote;

    #[remote]
    pub(super) trait Keys {
        fn audit(&self, key: u64) -> u64;
        fn get(&self, key: u64) -> u64;
        fn remove(&self, key: u64) -> u64;
    }

    pub(super) mod older {
        use jstream_rmi::remote;

        #[remote]
        pub(in super::super) trait Keys {
            fn get(&self, key: u64) -> u64;
            fn remove(&self, key: u64) -> u64;
        }
    }
}

struct Drawer;

impl keys::older::Keys for Drawer {
    fn get(&self, key: u64) -> u64 {
        key
    }

    fn remove(&self, _: u64) -> u64 {
        unreachable!("no test calls this")
    }
}

#[test]
fn a_refused_call_is_repeated_as_the_same_method() {
    let mut options = ServerOptions::default();
    options.admission.calls_per_second = 8;
    options.admission.burst = 8;
    let server = Server::new(options);
    server
        .bind::<dyn keys::older::Keys>("keys", Arc::new(Drawer))
        .unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let keys = client.lookup::<dyn keys::Keys>("keys").wait().unwrap();
    for key in 0..12 {
        assert_eq!(*keys.get(key).wait().unwrap().get(), key);
    }
    assert!(server.admission().refused.rate > 0);
    let error = keys.audit(1).wait().unwrap_err();
    assert!(matches!(error, CallError::OtherVersion { .. }), "{error}");
}
