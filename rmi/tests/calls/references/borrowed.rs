//! References that a method borrows: `&P`, `&[P]`, `&[&[P]]` and deeper.
#![allow(clippy::type_complexity, reason = "slices of four levels")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream_rmi::{
    CallError, Client, Export, Outcome, Referring, Remote, Server, ServerOptions, Serving, Stream,
    remote,
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
        self.0.fetch_add(n, Ordering::Relaxed) + n
    }
}

#[derive(Referring, Clone)]
struct Named {
    name: String,
    counter: Remote<dyn Counter>,
}

#[remote(mock)]
trait Adder {
    fn one(&self, counter: &Remote<dyn Counter>) -> u64;
    fn some(&self, counters: &[Option<Remote<dyn Counter>>], add: u64) -> u64;
    fn grid(&self, rows: &[&[Remote<dyn Counter>]]) -> Vec<u64>;
    async fn later(&self, rows: &[&[Remote<dyn Counter>]], named: &[Referring<Named>]) -> String;
    fn cube(&self, planes: &[&[&[Remote<dyn Counter>]]]) -> Vec<Vec<u64>>;
    async fn deep(&self, all: &[&[&[&[Remote<dyn Counter>]]]]) -> Vec<u64>;
    fn items(&self, rows: &[&[Remote<dyn Counter>]]) -> Stream<u64>;
    /// Returns one of the references that it borrows.
    fn first<'a>(
        &self,
        rows: &'a [&'a [Remote<dyn Counter>]],
        text: &'a str,
    ) -> Option<Remote<dyn Counter>>;
    fn fails(&self, rows: &[&[Remote<dyn Counter>]]);
}

struct Here;

fn add(counter: &Remote<dyn Counter>, n: u64) -> u64 {
    *counter.add(n).wait().unwrap().get()
}

#[remote]
impl Adder for Here {
    fn one(&self, counter: &Remote<dyn Counter>) -> u64 {
        add(counter, 1)
    }

    fn some(&self, counters: &[Option<Remote<dyn Counter>>], n: u64) -> u64 {
        counters.iter().flatten().map(|one| add(one, n)).sum()
    }

    fn grid(&self, rows: &[&[Remote<dyn Counter>]]) -> Vec<u64> {
        let sums = rows
            .iter()
            .map(|row| row.iter().map(|one| add(one, 1)).sum());
        sums.collect()
    }

    async fn later(&self, rows: &[&[Remote<dyn Counter>]], named: &[Named]) -> String {
        let mut text = String::new();
        for row in rows {
            for one in *row {
                text += &one.add(1).await.unwrap().get().to_string();
            }
        }
        jstream_transport::active::yield_now().await;
        for Named { name, counter } in named {
            text += &format!(" {name} {}", counter.add(1).await.unwrap().get());
        }
        text
    }

    fn cube(&self, planes: &[&[&[Remote<dyn Counter>]]]) -> Vec<Vec<u64>> {
        planes.iter().map(|rows| self.grid(rows)).collect()
    }

    async fn deep(&self, all: &[&[&[&[Remote<dyn Counter>]]]]) -> Vec<u64> {
        jstream_transport::active::yield_now().await;
        let mut sums = Vec::new();
        for cube in all {
            for plane in *cube {
                for row in *plane {
                    for one in *row {
                        sums.push(*one.add(1).await.unwrap().get());
                    }
                }
            }
        }
        sums
    }

    fn items(&self, rows: &[&[Remote<dyn Counter>]]) -> Stream<u64> {
        Stream::of(self.grid(rows))
    }

    fn first<'a>(
        &self,
        rows: &'a [&'a [Remote<dyn Counter>]],
        _text: &'a str,
    ) -> Option<Remote<dyn Counter>> {
        rows.first()?.first().cloned()
    }

    fn fails(&self, _rows: &[&[Remote<dyn Counter>]]) {
        panic!("as it should");
    }
}

struct Setup {
    server: Server,
    client: Client,
    adder: AdderStub,
    counter: Export<dyn Counter>,
    _serving: Serving,
    _hears: jstream_transport::active::Serving,
}

fn setup(address: &str, options: ServerOptions) -> Setup {
    let server = Server::new(options);
    server.bind::<dyn Adder>("adder", Arc::new(Here)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    Setup {
        adder: client.lookup::<dyn Adder>("adder").wait().unwrap(),
        counter: client.export::<dyn Counter>(Arc::new(Count::default())),
        _hears: client.start().unwrap(),
        client,
        server,
        _serving: serving,
    }
}

fn each(name: &str, test: impl Fn(Setup)) {
    for address in [&format!("inproc://borrowed-{name}"), "tcp://127.0.0.1:0"] {
        test(setup(address, ServerOptions::default()));
    }
}

#[test]
fn borrowed_references_are_called() {
    each("called", |setup| {
        let (adder, one) = (&setup.adder, setup.counter.remote());
        assert_eq!(*adder.one(&one).wait().unwrap().get(), 1);
        let some = [None, Some(one.clone()), Some(one.clone())];
        assert_eq!(*adder.some(&some, 2).wait().unwrap().get(), 3 + 5);
        assert_eq!(*adder.some(&[], 2).wait().unwrap().get(), 0);
        let row = vec![one.clone(); 3];
        let rows: [&[_]; 3] = [&row, &[], &row[..1]];
        assert_eq!(adder.grid(&rows).wait().unwrap().get(), &[6 + 7 + 8, 0, 9]);
        assert_eq!(adder.grid(&[]).wait().unwrap().get(), &[0u64; 0]);
        let named = Named {
            name: "a".to_owned(),
            counter: one.clone(),
        };
        let later = adder.later(&rows[1..], &[named.clone(), named]);
        assert_eq!(*later.wait().unwrap().get(), "10 a 11 a 12");
        let items: Vec<u64> = adder
            .items(&rows)
            .map(|item| *item.unwrap().get())
            .collect();
        assert_eq!(items, [13 + 14 + 15, 0, 16]);
        let first = adder.first(&rows, "text").wait().unwrap().unwrap();
        assert!(first == one && first.is_local());
        assert!(adder.first(&rows[1..2], "text").wait().unwrap().is_none());
        drop((first, row, some, one));
        // The server keeps none of them.
        until(|| setup.counter.references() == 0);
    });
}

#[test]
fn slices_of_slices_are_borrowed_at_any_depth() {
    each("deep", |setup| {
        let (adder, one) = (&setup.adder, setup.counter.remote());
        let row = vec![one.clone(); 3];
        let plane: [&[_]; 3] = [&row, &[], &row[..1]];
        let cube: [&[&[_]]; 3] = [&plane, &[], &plane[1..]];
        let sums = adder.cube(&cube).wait().unwrap();
        assert_eq!(sums.get(), &[&[1 + 2 + 3, 0, 4][..], &[], &[0, 5]]);
        let deep = adder.deep(&[&cube, &[], &cube[2..]]).wait().unwrap();
        assert_eq!(deep.get(), &[6, 7, 8, 9, 10, 11]);
        assert!(adder.deep(&[]).wait().unwrap().get().is_empty());
        drop((row, one));
        until(|| setup.counter.references() == 0);
    });
}

#[test]
fn references_of_a_method_that_fails_are_given_back() {
    each("fails", |setup| {
        let one = setup.counter.remote();
        let row = [one];
        let rows: [&[_]; 2] = [&row, &row];
        let error = setup.adder.fails(&rows).wait().unwrap_err();
        assert!(matches!(error, CallError::Panicked { .. }), "{error:?}");
        until(|| setup.counter.references() == 0);
    });
}

#[test]
fn borrowed_references_count_as_references() {
    let mut options = ServerOptions::default();
    options.max_references = 4;
    let setup = setup("inproc://borrowed-limit", options);
    let all: Vec<_> = (0..5)
        .map(|_| {
            setup
                .client
                .export::<dyn Counter>(Arc::new(Count::default()))
        })
        .collect();
    let all: Vec<_> = all.iter().map(Export::remote).collect();
    let error = setup
        .adder
        .grid(&[&all[..3], &all[3..]])
        .wait()
        .unwrap_err();
    assert_eq!(error.outcome(), Outcome::DidNotRun, "{error:?}");
    let few = setup.adder.grid(&[&all[..1], &all[1..2]]).wait().unwrap();
    assert_eq!(few.get(), &[1, 1]);
}

#[test]
fn local_objects_and_mocks_borrow_references() {
    let server = Server::default();
    let here = server.export::<dyn Adder>(Arc::new(Here));
    let counter = server.export::<dyn Counter>(Arc::new(Count::default()));
    let one = counter.remote();
    let stub = here.remote().stub().clone();
    assert_eq!(
        stub.grid(&[std::slice::from_ref(&one), &[]])
            .wait()
            .unwrap()
            .get(),
        &[1, 0]
    );

    let mock = Arc::new(AdderMock::default());
    mock.expect_grid(|rows| rows.iter().map(|row| row.len() as u64).collect());
    let mocked = server.export::<dyn Adder>(mock.clone());
    let stub = mocked.remote().stub().clone();
    let lengths = stub.grid(&[&[one.clone(), one.clone()], &[one]]).wait();
    assert_eq!(lengths.unwrap().get(), &[2, 1]);
    assert_eq!(mock.calls_of_grid(), 1);
}

/// An interface whose methods borrow references.
#[remote]
trait Sum {
    fn one(&self, counter: &Remote<dyn Counter>) -> u64;
    fn rows(&self, rows: &[&[Remote<dyn Counter>]]) -> Vec<u64>;
}

impl Sum for Here {
    fn one(&self, counter: &Remote<dyn Counter>) -> u64 {
        add(counter, 1)
    }

    fn rows(&self, rows: &[&[Remote<dyn Counter>]]) -> Vec<u64> {
        Adder::grid(self, rows)
    }
}

/// An interface with the same methods, which takes references by value.
mod by_value {
    use jstream_rmi::{Remote, remote};

    #[remote]
    pub(super) trait Sum {
        fn one(&self, counter: Remote<dyn super::Counter>) -> u64;
        fn rows(&self, rows: Vec<Vec<Remote<dyn super::Counter>>>) -> Vec<u64>;
    }
}

#[test]
fn a_method_may_borrow_what_its_caller_passes_by_value() {
    each("by-value", |setup| {
        setup.server.bind::<dyn Sum>("sum", Arc::new(Here)).unwrap();
        let sum = setup.client.lookup::<dyn by_value::Sum>("sum").wait();
        let (sum, one) = (sum.unwrap(), setup.counter.remote());
        assert_eq!(*sum.one(one.clone()).wait().unwrap().get(), 1);
        let rows = vec![vec![one.clone()], vec![], vec![one]];
        assert_eq!(sum.rows(rows).wait().unwrap().get(), &[2, 0, 3]);
    });
}
