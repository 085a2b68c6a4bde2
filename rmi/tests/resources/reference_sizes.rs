//! Heap usage of exported objects and of references to them.

use std::sync::{Arc, Mutex};

use jstream_rmi::{Client, Export, Remote, Server, remote};
use testing::allocator::live;
use testing::process::alone;

#[remote]
trait Small {
    async fn number(&self) -> u64;
}

#[remote]
trait Shelf {
    fn keep(&self, all: Vec<Remote<dyn Small>>);
    fn clear(&self);
}

struct Number(u64);

#[remote]
impl Small for Number {
    async fn number(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<Remote<dyn Small>>>);

impl Shelf for Kept {
    fn keep(&self, all: Vec<Remote<dyn Small>>) {
        self.0.lock().unwrap().extend(all);
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

const COUNT: usize = 50_000;

/// Maximum size of an export in bytes, including the object itself.
const MOST_FOR_AN_EXPORT: usize = 200;

/// Maximum size of a reference in bytes, on both sides, which are one process here.
const MOST_FOR_A_REFERENCE: usize = 600;

#[test]
fn exports_and_references_are_small() {
    alone(|| {
        let own = Server::default();
        let mut exports = Vec::with_capacity(COUNT);
        let before = live();
        exports.extend((0..COUNT as u64).map(|n| own.export::<dyn Small>(Arc::new(Number(n)))));
        let each = (live() - before) / COUNT;
        assert!(each <= MOST_FOR_AN_EXPORT, "an export takes {each} bytes");

        let server = Server::default();
        server
            .bind::<dyn Shelf>("shelf", Arc::new(Kept::default()))
            .unwrap();
        let address = "inproc://reference-sizes".parse().unwrap();
        let _serving = server.listen(&address).unwrap();
        let client = Client::connect(&address).wait().unwrap();
        let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
        let before = live();
        for some in exports.chunks(1000) {
            let all = some.iter().map(Export::remote).collect();
            shelf.keep(all).wait().unwrap();
        }
        assert_eq!(own.references().leases, COUNT);
        let each = (live() - before) / COUNT;
        assert!(
            each <= MOST_FOR_A_REFERENCE,
            "a reference takes {each} bytes"
        );
        shelf.clear().wait().unwrap();
    });
}
