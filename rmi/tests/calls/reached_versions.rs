//! Calls between versions whose references lead to changed traits, and whose streams have changed
//! items.
#![deny(warnings)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jstream::Transportable;
use jstream_rmi::{
    CallError, Client, Remote, Server, Serving, Stream, StreamError, WeakServer, remote,
};
use testing::until;

/// Addresses of all tests. The names differ in each.
fn addresses(name: &str) -> [String; 3] {
    [
        format!("inproc://{name}"),
        format!("shm://{name}"),
        "tcp://127.0.0.1:0".to_owned(),
    ]
}

#[derive(Transportable)]
struct Item {
    id: u64,
    #[transportable(default = 4)]
    weight: u32,
}

#[remote]
trait Shelf {
    fn count(&self) -> u64;
    fn put(&self, item: &Item, #[remote(default = 2)] times: u64) -> u64;
    fn last(&self) -> Item;
    fn part(&self, name: &str) -> Remote<dyn Shelf>;
}

#[remote]
trait Viewer {
    fn view_all(&self, items: Stream<Item>) -> u64;
    fn view(&self, item: &Item) -> u64;
}

/// A trait that has not changed itself.
#[remote]
trait Store {
    fn open(&self, name: &str) -> Option<Remote<dyn Shelf>>;
    fn show(&self, viewer: Remote<dyn Viewer>, id: u64) -> u64;
    fn show_twice(&self, viewers: Vec<Remote<dyn Viewer>>) -> u64;
    fn is_own(&self, shelf: Remote<dyn Shelf>) -> bool;
    fn fill(&self, shelf: Remote<dyn Shelf>) -> u64;
}

/// A trait whose streams have changed.
#[remote]
trait Belt {
    fn total(&self, items: Stream<Item>, more: Stream<u64>) -> u64;
    fn items(&self, from: u64) -> Stream<Item>;
}

#[derive(Default)]
struct Board {
    weights: AtomicU64,
    parts: Mutex<Vec<String>>,
    server: Option<WeakServer>,
}

#[remote]
impl Shelf for Board {
    fn count(&self) -> u64 {
        self.weights.load(Ordering::SeqCst)
    }

    fn put(&self, item: &Item, times: u64) -> u64 {
        let weight = u64::from(item.weight) * times;
        self.weights.fetch_add(weight, Ordering::SeqCst) + weight
    }

    fn last(&self) -> Item {
        let weight = u32::try_from(self.count()).unwrap();
        Item {
            id: 1 << 40,
            weight,
        }
    }

    fn part(&self, name: &str) -> Remote<dyn Shelf> {
        self.parts.lock().unwrap().push(name.to_owned());
        let server = self.server.as_ref().and_then(WeakServer::upgrade).unwrap();
        let board = Board {
            server: self.server.clone(),
            ..Board::default()
        };
        server.export(Arc::new(board)).into_remote()
    }
}

struct House(WeakServer);

#[remote]
impl Store for House {
    fn open(&self, name: &str) -> Option<Remote<dyn Shelf>> {
        let board = Board {
            server: Some(self.0.clone()),
            ..Board::default()
        };
        let server = self.0.upgrade()?;
        (!name.is_empty()).then(|| server.export(Arc::new(board)).into_remote())
    }

    fn show(&self, viewer: Remote<dyn Viewer>, id: u64) -> u64 {
        let one = viewer.view(&Item { id, weight: 5 }).wait();
        let one = one.map_or(0, |one| *one.get());
        let items = (0..10).map(|id| Item { id, weight: 1 });
        one + *viewer.view_all(Stream::of(items)).wait().unwrap().get()
    }

    fn show_twice(&self, viewers: Vec<Remote<dyn Viewer>>) -> u64 {
        let views = viewers.iter().map(|viewer| {
            let viewed = viewer.view(&Item { id: 3, weight: 1 }).wait();
            *viewed.unwrap().get()
        });
        views.sum()
    }

    fn is_own(&self, shelf: Remote<dyn Shelf>) -> bool {
        shelf.local::<Arc<Board>>().is_some()
    }

    fn fill(&self, shelf: Remote<dyn Shelf>) -> u64 {
        let item = Item { id: 1, weight: 3 };
        *shelf.put(&item, 7).wait().unwrap().get()
    }
}

struct Conveyor;

#[remote]
impl Belt for Conveyor {
    fn total(&self, items: Stream<Item>, more: Stream<u64>) -> u64 {
        let items = items.map(|item| item.map_or(1000, |item| u64::from(item.get().weight)));
        let more = more.map(|item| *item.unwrap().get());
        items.sum::<u64>() + more.sum::<u64>()
    }

    fn items(&self, from: u64) -> Stream<Item> {
        Stream::of((from..from + 1000).map(|id| Item { id, weight: 1 }))
    }
}

mod older {
    use jstream::Transportable;
    use jstream_rmi::{Remote, Stream, remote};

    #[derive(Transportable)]
    pub(super) struct Item {
        #[transportable(narrow)]
        pub(super) id: u32,
    }

    #[remote]
    pub(super) trait Shelf {
        fn part(&self, name: &str) -> Remote<dyn Shelf>;
        fn last(&self) -> Item;
        fn put(&self, item: &Item) -> u64;
        fn count(&self) -> u64;
    }

    #[remote]
    pub(super) trait Viewer {
        fn view(&self, item: &Item) -> u64;
        fn view_all(&self, items: Stream<Item>) -> u64;
    }

    #[remote]
    pub(super) trait Store {
        fn open(&self, name: &str) -> Option<Remote<dyn Shelf>>;
        fn show(&self, viewer: Remote<dyn Viewer>, id: u64) -> u64;
        fn show_twice(&self, viewers: Vec<Remote<dyn Viewer>>) -> u64;
        fn is_own(&self, shelf: Remote<dyn Shelf>) -> bool;
        fn fill(&self, shelf: Remote<dyn Shelf>) -> u64;
    }

    #[remote]
    pub(super) trait Belt {
        fn items(&self, from: u64) -> Stream<Item>;
        fn total(&self, items: Stream<Item>, more: Stream<u32>) -> u64;
    }
}

/// A viewer and a shelf of the older version.
#[derive(Default)]
struct Old(AtomicU64);

impl older::Viewer for Old {
    fn view(&self, item: &older::Item) -> u64 {
        100 + u64::from(item.id)
    }

    fn view_all(&self, items: Stream<older::Item>) -> u64 {
        items.map(|item| u64::from(item.unwrap().get().id)).sum()
    }
}

impl older::Shelf for Old {
    fn part(&self, _: &str) -> Remote<dyn older::Shelf> {
        unreachable!("no test calls this")
    }

    fn last(&self) -> older::Item {
        older::Item { id: 8 }
    }

    fn put(&self, item: &older::Item) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + u64::from(item.id)
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

struct OldHouse(Arc<Old>, WeakServer);

impl older::Store for OldHouse {
    fn open(&self, _: &str) -> Option<Remote<dyn older::Shelf>> {
        let server = self.1.upgrade()?;
        Some(server.export(self.0.clone()).into_remote())
    }

    fn show(&self, viewer: Remote<dyn older::Viewer>, id: u64) -> u64 {
        let id = u32::try_from(id).unwrap();
        let viewed = viewer.view(&older::Item { id }).wait().unwrap();
        let items = (0..10).map(|id| older::Item { id });
        *viewed.get() + *viewer.view_all(Stream::of(items)).wait().unwrap().get()
    }

    fn show_twice(&self, _: Vec<Remote<dyn older::Viewer>>) -> u64 {
        0
    }

    fn is_own(&self, shelf: Remote<dyn older::Shelf>) -> bool {
        shelf.is_local()
    }

    fn fill(&self, shelf: Remote<dyn older::Shelf>) -> u64 {
        let put = shelf.put(&older::Item { id: 1 }).wait();
        *put.unwrap().get()
    }
}

/// A viewer of the newer version.
struct Eye;

impl Viewer for Eye {
    fn view_all(&self, items: Stream<Item>) -> u64 {
        items
            .map(|item| u64::from(item.unwrap().get().weight))
            .sum()
    }

    fn view(&self, item: &Item) -> u64 {
        item.id * 10 + u64::from(item.weight)
    }
}

fn serve(address: &str) -> (Server, Serving) {
    let server = Server::default();
    let house = House(server.downgrade());
    server.bind::<dyn Store>("store", Arc::new(house)).unwrap();
    server.bind::<dyn Belt>("belt", Arc::new(Conveyor)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (server, serving)
}

#[test]
fn references_to_objects_of_changed_traits_are_called() {
    for address in addresses("reached-called") {
        let (server, serving) = serve(&address);
        let client = Client::connect(serving.address()).wait().unwrap();
        let store = client.lookup::<dyn older::Store>("store").wait().unwrap();
        let shelf = store.open("a").wait().unwrap().unwrap();
        // The argument gets the default of its new field, and the method that of its new argument.
        assert_eq!(*shelf.put(&older::Item { id: 1 }).wait().unwrap().get(), 8);
        assert_eq!(*shelf.count().wait().unwrap().get(), 8);
        // A value that does not fit fails its call alone.
        let error = shelf.last().wait().err().unwrap();
        assert!(error.to_string().contains("id"), "{error}");
        // Objects that such an object returns.
        let part = shelf.part("b").wait().unwrap().part("c").wait().unwrap();
        assert_eq!(*part.put(&older::Item { id: 1 }).wait().unwrap().get(), 8);
        // What was given comes home.
        assert!(*store.is_own(shelf.clone()).wait().unwrap().get());
        assert!(store.open("").wait().unwrap().is_none());
        drop((shelf, part));
        drop(store);
        until(|| server.references().leases == 0);
        until(|| server.references().exports == 2);
    }
}

#[test]
fn objects_of_a_caller_are_called_in_its_version() {
    for address in addresses("reached-given") {
        let (server, serving) = serve(&address);
        let client = Client::connect(serving.address()).wait().unwrap();
        let store = client.lookup::<dyn older::Store>("store").wait().unwrap();
        let old = Arc::new(Old::default());
        let viewer = client.export::<dyn older::Viewer>(old.clone());
        assert_eq!(*store.show(viewer.remote(), 3).wait().unwrap().get(), 148);
        // The caller's version has no such number, so the call of its object fails.
        let shown = store.show(viewer.remote(), 1 << 40).wait().unwrap();
        assert_eq!(*shown.get(), 45);
        let both = vec![viewer.remote(), viewer.remote()];
        assert_eq!(*store.show_twice(both).wait().unwrap().get(), 206);
        let shelf = client.export::<dyn older::Shelf>(old.clone());
        assert_eq!(*store.fill(shelf.remote()).wait().unwrap().get(), 1);
        assert!(!*store.is_own(shelf.remote()).wait().unwrap().get());
        // The caller receives what its objects' users drop while it waits for a call.
        until(|| {
            assert!(store.open("").wait().unwrap().is_none());
            viewer.references() == 0 && shelf.references() == 0
        });
        drop((viewer, shelf));
        assert_eq!(Arc::strong_count(&old), 1);
        assert_eq!(server.references().pins, 0);
    }
}

#[test]
fn a_newer_caller_reaches_objects_of_an_older_server() {
    for address in addresses("reached-older") {
        let server = Server::default();
        let old = Arc::new(Old::default());
        let house = OldHouse(old.clone(), server.downgrade());
        server
            .bind::<dyn older::Store>("store", Arc::new(house))
            .unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let store = client.lookup::<dyn Store>("store").wait().unwrap();
        let shelf = store.open("a").wait().unwrap().unwrap();
        let item = Item { id: 5, weight: 1 };
        assert_eq!(*shelf.put(&item, 1).wait().unwrap().get(), 5);
        let last = shelf.last().wait().unwrap();
        assert_eq!((last.get().id, last.get().weight), (8, 4));
        let viewer = client.export::<dyn Viewer>(Arc::new(Eye));
        // 2 * 10 + 4, and the default weights of ten items.
        assert_eq!(*store.show(viewer.remote(), 2).wait().unwrap().get(), 64);
        let board = client.export::<dyn Shelf>(Arc::new(Board::default()));
        assert_eq!(*store.fill(board.remote()).wait().unwrap().get(), 8);
        drop(shelf);
        until(|| server.references().leases == 1);
    }
}

#[test]
fn pipelined_calls_of_changed_traits_are_converted() {
    for address in addresses("reached-pipelined") {
        let (server, serving) = serve(&address);
        let client = Client::connect(serving.address()).wait().unwrap();
        let store = client.lookup::<dyn older::Store>("store").wait().unwrap();
        let open = store.open("a");
        let shelf = open.pipelined();
        let put = shelf.put(&older::Item { id: 1 });
        let count = shelf.count();
        let part = shelf.part("b");
        let deep = part.pipelined().put(&older::Item { id: 1 });
        assert_eq!(*put.wait().unwrap().get(), 8);
        assert_eq!(*count.wait().unwrap().get(), 8);
        assert_eq!(*deep.wait().unwrap().get(), 8);
        drop(open.wait().unwrap());
        // Promised arguments.
        let open = store.open("b");
        let own = store.is_own(Remote::from_stub(open.pipelined()));
        assert!(*own.wait().unwrap().get());
        let none = store.open("");
        let error = none.pipelined().count().wait().unwrap_err();
        assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
        drop((
            open.wait().unwrap(),
            part.wait().unwrap(),
            none.wait().unwrap(),
            shelf,
        ));
        // The caller gives back what came too late while it waits for a call.
        until(|| {
            assert!(store.open("").wait().unwrap().is_none());
            server.references().leases == 0
        });
    }
}

#[test]
fn items_of_streams_are_converted() {
    for address in addresses("reached-streams") {
        let (_server, serving) = serve(&address);
        let client = Client::connect(serving.address()).wait().unwrap();
        let belt = client.lookup::<dyn older::Belt>("belt").wait().unwrap();
        let items = (0..1000).map(|id| older::Item { id });
        let total = belt.total(Stream::of(items), Stream::of([5, 6])).wait();
        assert_eq!(*total.unwrap().get(), 4011);
        let ids = belt.items(7).map(|item| u64::from(item.unwrap().get().id));
        assert_eq!(ids.sum::<u64>(), (7..1007).sum::<u64>());
        // An item that does not fit ends its stream, and nothing else.
        let failed = Iterator::next(&mut belt.items(1 << 40)).unwrap();
        let failed = failed.err().unwrap();
        assert!(
            matches!(failed, StreamError::OtherVersion { .. }),
            "{failed}"
        );
        // A received stream is passed on in the version of this program.
        let relayed = belt.total(belt.items(0), Stream::of([1])).wait();
        assert_eq!(*relayed.unwrap().get(), 4001);
    }
}

#[test]
fn equal_versions_need_no_conversion() {
    let (server, serving) = serve("inproc://reached-equal");
    let client = Client::connect(serving.address()).wait().unwrap();
    let store = client.lookup::<dyn Store>("store").wait().unwrap();
    let shelf = store.open("a").wait().unwrap().unwrap();
    let item = Item { id: 1, weight: 2 };
    assert_eq!(*shelf.put(&item, 3).wait().unwrap().get(), 6);
    let viewer = client.export::<dyn Viewer>(Arc::new(Eye));
    assert_eq!(*store.show(viewer.remote(), 2).wait().unwrap().get(), 35);
    drop(shelf);
    until(|| server.references().leases == 0);
    let belt = client.lookup::<dyn Belt>("belt").wait().unwrap();
    let weights = belt.items(0).map(|item| item.unwrap().get().weight);
    assert_eq!(weights.sum::<u32>(), 1000);
}
