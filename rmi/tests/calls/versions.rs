//! Lookups by programs that were built from another version of a trait.
#![deny(warnings)]

use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::directory::{self, Directory, Names, Registrar};
use jstream_rmi::{Client, LookupError, Server, ServerOptions, Serving, remote};

#[derive(Transportable)]
struct Point {
    x: u64,
}

/// The trait of the server.
#[remote]
trait Plane {
    fn add(&self, point: &Point) -> u64;
    fn total(&self) -> u64;
    fn reset(&self);
}

struct Flat;

impl Plane for Flat {
    fn add(&self, point: &Point) -> u64 {
        point.x + 1
    }

    fn total(&self) -> u64 {
        7
    }

    fn reset(&self) {}
}

/// The trait before `reset` was added.
mod older {
    use super::Point;

    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn add(&self, p: &Point) -> u64;
        fn total(&self) -> u64;
    }
}

/// The trait with other types.
mod changed {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Point {
        pub(super) x: u32,
    }

    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn add(&self, point: &Point) -> u64;
        fn total(&self) -> u64;
        fn reset(&self, all: bool);
        fn more(&self);
    }
}

/// The trait with methods at other places.
mod moved {
    #[jstream_rmi::remote]
    pub(super) trait Plane {
        fn total(&self) -> u64;
    }
}

fn serve(address: &str, options: ServerOptions) -> Serving {
    let server = Server::new(options);
    server.bind::<dyn Plane>("plane", Arc::new(Flat)).unwrap();
    server.listen(&address.parse().unwrap()).unwrap()
}

fn difference(error: LookupError) -> String {
    match error {
        LookupError::OtherInterface { difference, .. } => difference,
        error => panic!("{error}"),
    }
}

#[test]
fn an_object_may_have_further_methods() {
    let serving = serve("inproc://versions-older", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let plane = client.lookup::<dyn older::Plane>("plane").wait().unwrap();
    assert_eq!(*plane.add(&Point { x: 4 }).wait().unwrap().get(), 5);
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
}

#[test]
fn a_mismatch_shows_what_differs() {
    let serving = serve("inproc://versions-changed", ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client
        .lookup::<dyn changed::Plane>("plane")
        .wait()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"plane\" is bound to an object of another interface: add: Point.x: u32 here, u64 there; \
         `fn reset(&self, all: bool)` here, `fn reset(&self)` there; `fn more(&self)` is missing \
         there; build both sides from the same definition"
    );
    let point = changed::Point { x: 1 };
    assert_eq!(point.x, 1);
    let error = client
        .lookup::<dyn moved::Plane>("plane")
        .wait()
        .unwrap_err();
    assert_eq!(
        difference(error),
        "total is method 0 here, 1 there; add methods behind the others"
    );
}

#[test]
fn without_reflection_a_mismatch_shows_the_signatures() {
    let mut options = ServerOptions::default();
    options.reflects = false;
    let serving = serve("inproc://versions-silent", options);
    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client
        .lookup::<dyn older::Plane>("plane")
        .wait()
        .unwrap_err();
    assert_eq!(
        difference(error),
        "Plane { fn add(&self, p: &Point) -> u64 } here, Plane { fn add(&self, point: &Point) -> \
         u64; fn total(&self) -> u64; fn reset(&self) } there"
    );
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
    let serving = serve("tcp://127.0.0.1:0", ServerOptions::default());
    let names = Names::connect(registry.address()).wait().unwrap();
    names.bind("plane", &serving).wait().unwrap();
    let plane = names.lookup::<dyn older::Plane>("plane").wait().unwrap();
    assert_eq!(*plane.total().wait().unwrap().get(), 7);
    let error = names
        .lookup::<dyn changed::Plane>("plane")
        .wait()
        .unwrap_err();
    let difference = difference(error);
    assert!(
        difference.starts_with("add: Point.x: u32 here, u64 there; "),
        "{difference}"
    );
}
