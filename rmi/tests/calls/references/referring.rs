//! Structs, enums and lists that contain references, as arguments and results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jstream::Transportable;
use jstream_rmi::{
    CallError, CallInfo, Client, Denied, Export, Interceptor, Interceptors, LookupError, Referring,
    Remote, Server, ServerOptions, Serving, Watch, remote,
};

use testing::until;

#[remote]
trait Counter {
    fn add(&self, n: u64) -> u64;
}

#[derive(Default)]
struct Count(AtomicU64);

impl Counter for Count {
    fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::SeqCst) + n
    }
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Label {
    text: String,
    weights: Vec<f64>,
}

#[derive(Referring)]
struct Pair(Remote<dyn Counter>, u8);

/// More fields than the derive puts into one tuple.
#[derive(Referring)]
struct Tray {
    id: u64,
    first: Remote<dyn Counter>,
    r#type: String,
    more: Vec<Remote<dyn Counter>>,
    label: Label,
    none: Option<Remote<dyn Counter>>,
    pairs: Vec<Referring<Pair>>,
    codes: Vec<u8>,
    ratio: f32,
    last: Result<Remote<dyn Counter>, String>,
}

#[remote]
trait Shelf {
    fn put(&self, tray: Referring<Tray>) -> u64;
    async fn put_later(&self, trays: Vec<Referring<Tray>>, times: u64) -> u64;
    fn take(&self, id: u64) -> Option<Referring<Tray>>;
    fn found(&self, id: u64) -> Result<Referring<Tray>, String>;
    fn clear(&self);
}

#[derive(Default)]
struct Kept(Mutex<Vec<Tray>>);

fn label() -> Label {
    Label {
        text: "five".to_owned(),
        weights: vec![0.5, 1.5],
    }
}

/// Calls each counter once and returns the sum of the results.
fn total(tray: &Tray) -> u64 {
    let pairs = tray.pairs.iter().map(|Pair(counter, _)| counter);
    let all = [&tray.first].into_iter().chain(&tray.more).chain(pairs);
    let all = all.chain(&tray.none).chain(&tray.last);
    let each = all.map(|counter| *counter.add(1).wait().unwrap().get());
    each.sum()
}

#[remote]
impl Shelf for Kept {
    fn put(&self, tray: Tray) -> u64 {
        assert_eq!(
            (tray.label.clone(), tray.r#type.as_str()),
            (label(), "wood")
        );
        assert_eq!((tray.codes.as_slice(), tray.ratio), (&[1, 2, 3][..], 0.25));
        assert_eq!(tray.pairs.first().map(|pair| pair.1), Some(9));
        let total = total(&tray);
        self.0.lock().unwrap().push(tray);
        total
    }

    async fn put_later(&self, trays: Vec<Tray>, times: u64) -> u64 {
        let mut count = 0;
        for tray in trays.iter().cycle().take(usize::try_from(times).unwrap()) {
            count = *tray.first.add(1).await.unwrap().get();
        }
        self.0.lock().unwrap().extend(trays);
        count
    }

    fn take(&self, id: u64) -> Option<Tray> {
        let mut all = self.0.lock().unwrap();
        let place = all.iter().position(|tray| tray.id == id)?;
        Some(all.swap_remove(place))
    }

    fn found(&self, id: u64) -> Result<Tray, String> {
        self.take(id).ok_or_else(|| format!("no tray {id}"))
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

/// Returns a tray whose references all lead to the same counter.
fn tray(id: u64, counter: &Export<dyn Counter>) -> Tray {
    let one = || counter.remote();
    Tray {
        id,
        first: one(),
        r#type: "wood".to_owned(),
        more: vec![one(), one()],
        label: label(),
        none: None,
        pairs: vec![Pair(one(), 9)],
        codes: vec![1, 2, 3],
        ratio: 0.25,
        last: Ok(one()),
    }
}

fn serve(address: &str) -> (Server, Serving) {
    let server = Server::default();
    let shelf = Arc::new(Kept::default());
    server.bind::<dyn Shelf>("shelf", shelf).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (server, serving)
}

#[test]
fn structs_are_passed_with_their_references() {
    for address in ["tcp://127.0.0.1:0", "inproc://referring-structs"] {
        let (server, serving) = serve(address);
        let own = Server::default();
        let count = Arc::new(Count::default());
        let counter = own.export::<dyn Counter>(count.clone());
        let client = Client::connect(serving.address()).wait().unwrap();
        let _serves = client.start().unwrap();
        let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();

        let sum = shelf.put(tray(5, &counter)).wait().unwrap();
        assert_eq!(*sum.get(), 1 + 2 + 3 + 4 + 5);
        // The kept references hold one lease, independent of the other fields of the struct.
        until(|| counter.references() == 1);
        let later = shelf.put_later(vec![tray(6, &counter), tray(7, &counter)], 4);
        assert_eq!(*later.wait().unwrap().get(), 9);

        // The references that come back are local, and lead to the exported object.
        let back = shelf.take(5).wait().unwrap().unwrap();
        assert_eq!(back.label, label());
        assert!(Arc::ptr_eq(
            &back.more[1].local::<Arc<Count>>().unwrap(),
            &count
        ));
        assert!(back.last.unwrap().is_local() && back.none.is_none());
        assert_eq!(*back.pairs[0].0.add(1).wait().unwrap().get(), 10);
        let missing = shelf.found(5).wait().unwrap();
        assert_eq!(missing.err().as_deref(), Some("no tray 5"));
        let found = shelf.found(6).wait().unwrap().unwrap();
        assert_eq!(found.id, 6);

        shelf.clear().wait().unwrap();
        until(|| counter.references() == 0);
        assert_eq!(server.references().pins + own.references().pins, 0);
    }
}

#[test]
fn they_may_go_to_objects_of_the_same_program() {
    let own = Server::default();
    let counter = own.export::<dyn Counter>(Arc::new(Count::default()));
    let shelf = own.export::<dyn Shelf>(Arc::new(Kept::default()));
    let shelf = shelf.remote();
    let sum = shelf.put(tray(1, &counter)).wait().unwrap();
    assert_eq!(*sum.get(), 15);
    let back = shelf.take(1).wait().unwrap().unwrap();
    assert_eq!(*back.first.add(1).wait().unwrap().get(), 6);
}

/// A struct and a trait of the same names with other fields.
mod other {
    use jstream_rmi::{Referring, Remote, remote};

    #[derive(Referring)]
    pub(super) struct Pair(pub(super) Remote<dyn super::Counter>, pub(super) u16);

    #[remote]
    pub(super) trait Pairs {
        fn put(&self, pair: Referring<Pair>);
    }
}

#[remote]
trait Pairs {
    fn put(&self, pair: Referring<Pair>);
}

struct Nothing;

impl Pairs for Nothing {
    fn put(&self, _: Pair) {}
}

#[test]
fn a_struct_with_other_fields_is_another_one() {
    let server = Server::default();
    server
        .bind::<dyn Pairs>("pairs", Arc::new(Nothing))
        .unwrap();
    let serving = server.listen(&"inproc://referring-other".parse().unwrap());
    let serving = serving.unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    client.lookup::<dyn Pairs>("pairs").wait().unwrap();
    let other = client
        .lookup::<dyn other::Pairs>("pairs")
        .wait()
        .unwrap_err();
    assert!(
        matches!(other, LookupError::OtherInterface { .. }),
        "{other}"
    );
}

#[derive(Referring)]
enum Notice {
    Quiet,
    One(Remote<dyn Counter>, u8),
    Many {
        all: [Remote<dyn Counter>; 2],
        r#for: Box<[Option<Remote<dyn Counter>>]>,
        label: Label,
    },
    Empty(),
    Within(Referring<Pair>, Vec<Vec<Referring<Pair>>>),
    Last {},
}

#[derive(Referring)]
enum Single {
    Only(Remote<dyn Counter>),
    /// The name of an associated type in the generated code.
    #[allow(dead_code, reason = "only the name matters")]
    Wire,
}

#[remote]
trait Board {
    fn notify(&self, notices: Vec<Referring<Notice>>) -> String;
    fn grid(&self, grid: Vec<[Vec<Remote<dyn Counter>>; 2]>) -> Box<[Vec<Remote<dyn Counter>>]>;
    async fn single(&self, single: Referring<Single>) -> Referring<Notice>;
}

struct Wall;

impl Notice {
    fn references(&self) -> Vec<&Remote<dyn Counter>> {
        match self {
            Self::Quiet | Self::Empty() | Self::Last {} => Vec::new(),
            Self::One(one, _) => vec![one],
            Self::Many { all, r#for, .. } => all.iter().chain(r#for.iter().flatten()).collect(),
            Self::Within(pair, more) => {
                let more = more.iter().flatten();
                [pair].into_iter().chain(more).map(|pair| &pair.0).collect()
            }
        }
    }
}

#[remote]
impl Board for Wall {
    fn notify(&self, notices: Vec<Notice>) -> String {
        let each = notices.iter().map(|notice| {
            let all = notice.references();
            let sums = all.iter().map(|one| *one.add(1).wait().unwrap().get());
            let last = sums.max().unwrap_or(0);
            let text = match notice {
                Notice::Quiet => "quiet".to_owned(),
                Notice::One(_, n) => format!("one {n}"),
                Notice::Many { label, r#for, .. } => format!("{} {}", label.text, r#for.len()),
                Notice::Empty() => "empty".to_owned(),
                Notice::Within(pair, more) => format!("within {} {}", pair.1, more.len()),
                Notice::Last {} => "last".to_owned(),
            };
            format!("{text}: {last}")
        });
        each.collect::<Vec<_>>().join(", ")
    }

    fn grid(&self, grid: Vec<[Vec<Remote<dyn Counter>>; 2]>) -> Box<[Vec<Remote<dyn Counter>>]> {
        grid.into_iter().flatten().collect()
    }

    async fn single(&self, single: Single) -> Notice {
        let Single::Only(only) = single else {
            return Notice::Quiet;
        };
        only.add(1).await.unwrap();
        Notice::One(only, 3)
    }
}

fn notices(counter: &Export<dyn Counter>) -> Vec<Notice> {
    let one = || counter.remote();
    vec![
        Notice::Quiet,
        Notice::One(one(), 7),
        Notice::Many {
            all: [one(), one()],
            r#for: [None, Some(one()), None].into(),
            label: label(),
        },
        Notice::Empty(),
        Notice::Within(Pair(one(), 1), vec![vec![], vec![Pair(one(), 2)]]),
        Notice::Last {},
    ]
}

const NOTIFIED: &str = "quiet: 0, one 7: 1, five 3: 4, empty: 0, within 1 2: 6, last: 0";

#[test]
fn enums_and_nested_lists_are_passed_with_their_references() {
    for address in ["tcp://127.0.0.1:0", "inproc://referring-enums"] {
        let server = Server::default();
        server.bind::<dyn Board>("board", Arc::new(Wall)).unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let own = Server::default();
        let counter = own.export::<dyn Counter>(Arc::new(Count::default()));
        let client = Client::connect(serving.address()).wait().unwrap();
        let _serves = client.start().unwrap();
        let board = client.lookup::<dyn Board>("board").wait().unwrap();

        let notified = board.notify(notices(&counter)).wait().unwrap();
        assert_eq!(*notified.get(), NOTIFIED);
        assert_eq!(*board.notify(Vec::new()).wait().unwrap().get(), "");

        let one = || counter.remote();
        let grid = vec![[vec![], vec![one()]], [vec![one(), one()], vec![]]];
        let back = board.grid(grid).wait().unwrap();
        let lengths: Vec<_> = back.iter().map(Vec::len).collect();
        assert_eq!(lengths, [0, 1, 2, 0]);
        assert!(back.iter().flatten().all(Remote::is_local));

        let single = board.single(Single::Only(one())).wait().unwrap();
        assert!(matches!(&single, Notice::One(one, 3) if one.is_local()));
        until(|| counter.references() == 0);
        assert_eq!(server.references().pins + own.references().pins, 0);
    }
}

#[test]
fn enums_are_passed_within_a_program() {
    let own = Server::default();
    let counter = own.export::<dyn Counter>(Arc::new(Count::default()));
    let board = own.export::<dyn Board>(Arc::new(Wall)).into_remote();
    let notified = board.notify(notices(&counter)).wait().unwrap();
    assert_eq!(*notified.get(), NOTIFIED);
}

/// Denies the calls of one method.
struct Deny;

impl Interceptor for Deny {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        match call.method {
            "notify" => Err(Denied("as it should".to_owned())),
            _ => Ok(Box::new(())),
        }
    }
}

#[test]
fn references_of_denied_calls_stay_with_their_caller() {
    let mut options = ServerOptions::default();
    options.interceptors = Interceptors::default().and(Deny);
    let server = Server::new(options);
    server.bind::<dyn Board>("board", Arc::new(Wall)).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let own = Server::default();
    let counter = own.export::<dyn Counter>(Arc::new(Count::default()));
    let client = Client::connect(serving.address()).wait().unwrap();
    let board = client.lookup::<dyn Board>("board").wait().unwrap();
    let denied = board.notify(notices(&counter)).wait().unwrap_err();
    assert!(matches!(denied, CallError::Denied { .. }), "{denied}");
    let counts = own.references();
    assert_eq!(
        (counter.references(), counts.leases, counts.pins),
        (0, 0, 0)
    );
}
