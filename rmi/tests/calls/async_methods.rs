//! Async methods, called as `dyn` and over a connection, methods on `&mut self`, and awaited calls.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::{
    CallError, Client, Exclusive, Outcome, Received, Remotable, Server, ServerOptions, Serves,
    Serving, Stub, remote,
};

use testing::tasks::block_on;
use testing::until;

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Order<'b> {
    id: u64,
    symbol: &'b str,
}

#[remote]
trait Desk {
    /// Completes without waiting.
    async fn dot(&self, a: &[f64], b: &[f64]) -> f64;
    async fn submit(&self, order: &Order<'_>) -> Result<u64, String>;
    async fn symbol<'a>(&self, order: &'a Order<'a>) -> &'a str;
    async fn keep(&self, order: Received<Order<'static>>) -> usize;
    async fn twice(&self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        self.plain(n).await_free() * 2
    }
    fn plain(&self, n: u64) -> u64;
    /// Waits until the gate is opened.
    async fn pass(&self) -> u64;
    fn open(&self);
    async fn panics(&self, late: bool);
    /// Returns the number of calls of `pass` that were dropped while they waited.
    fn dropped(&self) -> usize;
}

trait AwaitFree {
    fn await_free(self) -> Self;
}

impl AwaitFree for u64 {
    fn await_free(self) -> Self {
        self
    }
}

/// A gate at which tasks wait.
#[derive(Default)]
struct Gate(Mutex<(bool, Vec<Waker>)>);

impl Gate {
    async fn wait(&self) {
        std::future::poll_fn(|context| {
            let mut gate = self.0.lock().unwrap();
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        gate.1.drain(..).for_each(Waker::wake);
    }
}

#[derive(Default)]
struct Plain {
    gate: Gate,
    kept: Mutex<Vec<Received<Order<'static>>>>,
    dropped: AtomicUsize,
    waiting: AtomicUsize,
}

struct CountsDrop<'a>(&'a AtomicUsize);

impl Drop for CountsDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[remote]
impl Desk for Plain {
    async fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    async fn submit(&self, order: &Order<'_>) -> Result<u64, String> {
        // The order still lies in the receive buffer after the suspension.
        yielded().await;
        if order.symbol.is_empty() {
            return Err(format!("order {} has no symbol", order.id));
        }
        Ok(order.id)
    }

    async fn symbol<'a>(&self, order: &'a Order<'a>) -> &'a str {
        yielded().await;
        order.symbol
    }

    async fn keep(&self, order: Received<Order<'static>>) -> usize {
        let mut kept = self.kept.lock().unwrap();
        kept.push(order);
        kept.len()
    }

    fn plain(&self, n: u64) -> u64 {
        n
    }

    async fn pass(&self) -> u64 {
        let counts = CountsDrop(&self.dropped);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.gate.wait().await;
        std::mem::forget(counts);
        7
    }

    fn open(&self) {
        self.gate.open();
    }

    async fn panics(&self, late: bool) {
        if late {
            yielded().await;
        }
        panic!("a secret");
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }
}

/// Yields to other tasks once.
async fn yielded() {
    let mut before = true;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::take(&mut before) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// Polls futures in turn until all are ready.
async fn all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).map(Some).collect();
    let mut done: Vec<_> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            let Some(waiting) = future else { continue };
            if let Poll::Ready(output) = waiting.as_mut().poll(context) {
                *done = Some(output);
                *future = None;
            }
        }
        if futures.iter().all(Option::is_none) {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
    done.into_iter().map(Option::unwrap).collect()
}

fn served<T: Remotable + ?Sized>(address: &str, object: impl Serves<T>) -> (Serving, T::Stub) {
    served_with(address, object, ServerOptions::default())
}

fn served_with<T: Remotable + ?Sized>(
    address: &str,
    object: impl Serves<T>,
    options: ServerOptions,
) -> (Serving, T::Stub) {
    let server = Server::new(options);
    server.bind::<T>("object", object).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let stub = client.lookup::<T>("object").wait().unwrap();
    (serving, stub)
}

const TCP: &str = "tcp://127.0.0.1:0";

#[test]
fn async_methods_are_methods_of_trait_objects() {
    let desk: Box<dyn Desk> = Box::new(Plain::default());
    let desk = &*desk;
    assert_eq!(block_on(desk.dot(&[1.0, 2.0], &[3.0, 4.0])), 11.0);
    assert_eq!(block_on(desk.twice(4)), 8);
    let order = Order { id: 3, symbol: "S" };
    assert_eq!(block_on(desk.submit(&order)), Ok(3));
    assert_eq!(block_on(desk.symbol(&order)), "S");
}

fn each_kind_is_called(object: impl Serves<dyn Desk>, address: &str) {
    let (_serving, desk) = served::<dyn Desk>(address, object);
    let reply = desk.dot(&[1.0, 2.0], &[3.0, 4.0]).wait().unwrap();
    assert_eq!(*reply.get(), 11.0);
    let order = Order { id: 3, symbol: "S" };
    assert_eq!(*desk.submit(&order).wait().unwrap().get(), Ok(3));
    let nameless = Order { id: 4, symbol: "" };
    let refused = desk.submit(&nameless).wait().unwrap();
    assert_eq!(*refused.get(), Err("order 4 has no symbol"));
    assert_eq!(*desk.symbol(&order).wait().unwrap().get(), "S");
    assert_eq!(*desk.keep(&order).wait().unwrap().get(), 1);
    assert_eq!(*desk.twice(4).wait().unwrap().get(), 8);
    assert_eq!(*desk.twice(0).wait().unwrap().get(), 0);
    assert_eq!(*desk.plain(5).wait().unwrap().get(), 5);
    for late in [false, true] {
        let error = desk.panics(late).wait().unwrap_err();
        assert!(matches!(error, CallError::Panicked { .. }), "{error}");
    }
}

#[test]
fn each_kind_is_called_by_type() {
    each_kind_is_called(Arc::new(Plain::default()), TCP);
}

#[test]
fn each_kind_is_called_as_trait_object() {
    let object: Arc<dyn Desk> = Arc::new(Plain::default());
    each_kind_is_called(object, "inproc://async-as-object");
}

/// Checks that a waiting call is released by a later call on the same connection.
fn others_run_meanwhile(address: &str) {
    let object = Arc::new(Plain::default());
    let (_serving, desk) = served::<dyn Desk>(address, object.clone());
    let waiting: Vec<_> = (0..10).map(|_| desk.pass()).collect();
    assert_eq!(*desk.plain(1).wait().unwrap().get(), 1);
    // Another server thread may still be starting one of the calls.
    until(|| object.waiting.load(Ordering::SeqCst) >= 10);
    desk.open().wait().unwrap();
    for call in waiting {
        assert_eq!(*call.wait().unwrap().get(), 7);
    }
}

#[test]
fn others_run_meanwhile_over_tcp() {
    others_run_meanwhile(TCP);
}

#[test]
fn others_run_meanwhile_over_inproc() {
    others_run_meanwhile("inproc://others-run-meanwhile");
}

#[test]
fn what_another_thread_wakes_goes_on() {
    let object = Arc::new(Plain::default());
    let (_serving, desk) = served::<dyn Desk>(TCP, object.clone());
    let waiting = desk.pass();
    assert_eq!(*desk.plain(1).wait().unwrap().get(), 1);
    let opens = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        object.gate.open();
    });
    assert_eq!(*waiting.wait().unwrap().get(), 7);
    opens.join().unwrap();
}

#[test]
fn waiting_calls_are_limited() {
    let mut options = ServerOptions::default();
    options.max_waiting = 2;
    // With one thread, each call starts to wait before the next one begins.
    options.threads = 1;
    let (_serving, desk) = served_with::<dyn Desk>(TCP, Arc::new(Plain::default()), options);
    let waiting = [desk.pass(), desk.pass()];
    let error = desk.plain(1).wait().unwrap_err();
    assert!(matches!(
        error,
        CallError::Busy {
            method: "plain",
            ..
        }
    ));
    assert!(error.can_be_repeated());
    drop(waiting);
    let again = (0..1000).find_map(|_| desk.plain(1).wait().ok());
    assert_eq!(*again.unwrap().get(), 1);
}

#[test]
fn a_connection_that_ends_ends_its_methods() {
    let object = Arc::new(Plain::default());
    let (serving, desk) = served::<dyn Desk>(TCP, object.clone());
    let waiting = desk.pass();
    desk.plain(1).wait().unwrap();
    serving.stop();
    let error = waiting.wait().unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::MayHaveRun);
    assert_eq!(object.dropped(), 1);
}

#[test]
fn calls_are_awaited() {
    for address in [TCP, "inproc://calls-are-awaited"] {
        let (_serving, desk) = served::<dyn Desk>(address, Arc::new(Plain::default()));
        block_on(async {
            assert_eq!(*desk.plain(5).await.unwrap().get(), 5);
            let calls = (0..100).map(|n| desk.twice(n)).collect();
            for (n, reply) in (0..).zip(all(calls).await) {
                assert_eq!(*reply.unwrap().get(), 2 * n);
            }
        });
    }
}

/// Blocking threads and polling tasks share a connection, and each may be the poller for a while.
#[test]
fn threads_and_tasks_share_a_connection() {
    for address in [TCP, "inproc://threads-and-tasks"] {
        let (_serving, desk) = served::<dyn Desk>(address, Arc::new(Plain::default()));
        thread::scope(|scope| {
            for thread in 0..6u64 {
                let desk = desk.clone();
                scope.spawn(move || {
                    for i in 0..300 {
                        let n = thread * 1000 + i;
                        match (thread + i) % 3 {
                            0 => assert_eq!(*desk.plain(n).wait().unwrap().get(), n),
                            1 => assert_eq!(*block_on(desk.plain(n)).unwrap().get(), n),
                            _ => {
                                // A call that is polled once and dropped. At that time it may be
                                // the one that receives for the others.
                                let mut call = Box::pin(desk.twice(n));
                                let polled =
                                    call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                                drop((polled, call));
                            }
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn a_call_moves_between_polling_and_waiting() {
    let (_serving, desk) = served::<dyn Desk>(TCP, Arc::new(Plain::default()));
    let mut call = desk.pass();
    let polled = pin!(&mut call).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    desk.open().wait().unwrap();
    assert_eq!(*call.wait().unwrap().get(), 7);
}

#[remote]
trait Ledger {
    fn add(&mut self, n: u64) -> u64;
    async fn add_later(&mut self, n: u64) -> u64;
    fn sum(&self) -> u64;
    async fn last(&self) -> u64;
    fn add_all(&mut self, all: Received<[u64; 4]>) -> u64;
}

#[derive(Default)]
struct Book(Vec<u64>);

#[remote]
impl Ledger for Book {
    fn add(&mut self, n: u64) -> u64 {
        self.0.push(n);
        self.sum()
    }

    async fn add_later(&mut self, n: u64) -> u64 {
        let before = self.0.len();
        yielded().await;
        assert_eq!(before, self.0.len(), "the object is this method's alone");
        self.add(n)
    }

    fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    async fn last(&self) -> u64 {
        self.0.last().copied().unwrap_or_default()
    }

    fn add_all(&mut self, all: Received<[u64; 4]>) -> u64 {
        self.0.extend(all.get());
        self.sum()
    }
}

#[test]
fn methods_on_mut_self_run_one_at_a_time() {
    let object = Exclusive::new(Book::default());
    let (serving, first) = served::<dyn Ledger>(TCP, object.clone());
    let second = Client::connect(serving.address()).wait().unwrap();
    let second = second.lookup::<dyn Ledger>("object").wait().unwrap();
    thread::scope(|scope| {
        for stub in [first.clone(), second, first.clone()] {
            scope.spawn(move || {
                let later: Vec<_> = (0..100).map(|_| stub.add_later(1)).collect();
                for _ in 0..100 {
                    stub.add(1).wait().unwrap();
                }
                for call in later {
                    call.wait().unwrap();
                }
            });
        }
    });
    assert_eq!(*first.sum().wait().unwrap().get(), 600);
    assert_eq!(*first.add_all(&[1, 2, 3, 4]).wait().unwrap().get(), 610);
    assert_eq!(*first.last().wait().unwrap().get(), 4);
    object.with(|book| book.0.clear());
    assert_eq!(*first.sum().wait().unwrap().get(), 0);
}

#[test]
fn a_trait_object_is_served_alone_too() {
    let object: Box<dyn Ledger> = Box::new(Book::default());
    let (_serving, stub) = served::<dyn Ledger>(TCP, Exclusive::from(object));
    assert_eq!(*stub.add(2).wait().unwrap().get(), 2);
    assert_eq!(*stub.add_later(3).wait().unwrap().get(), 5);
}

#[test]
fn a_turn_that_another_program_part_has_is_waited_for() {
    let object = Exclusive::new(Book::default());
    let (_serving, stub) = served::<dyn Ledger>(TCP, object.clone());
    let (taken, is_taken) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let holds = thread::spawn(move || {
        object.with(|book| {
            taken.send(()).unwrap();
            released.recv().unwrap();
            book.0.push(40);
        });
    });
    is_taken.recv().unwrap();
    let waits = stub.within(Duration::from_secs(100)).add(2);
    release.send(()).unwrap();
    assert_eq!(*waits.wait().unwrap().get(), 42);
    holds.join().unwrap();
}

/// The lifetime of a call is named `'call` where the user has no such name.
#[remote]
trait Names {
    async fn longest(&self, of: &[&str]) -> usize {
        fn longer<'call>(one: &'call str, other: &'call str) -> &'call str {
            if one.len() > other.len() { one } else { other }
        }
        of.iter().fold("", |one, other| longer(one, other)).len()
    }

    async fn first<'call>(&self, of: &'call [&'call str]) -> &'call str;
}

struct Namer;

#[remote]
impl Names for Namer {
    async fn first<'call>(&self, of: &'call [&'call str]) -> &'call str {
        fn at<'call_>(of: &[&'call_ str], index: usize) -> &'call_ str {
            of.get(index).copied().unwrap_or_default()
        }
        let mut index = 0;
        'call__: loop {
            if index == of.len() || !at(of, index).is_empty() {
                break 'call__ at(of, index);
            }
            index += 1;
        }
    }
}

#[test]
fn a_program_may_use_the_name_of_the_generated_lifetime() {
    let (_serving, stub) = served::<dyn Names>(TCP, Arc::new(Namer));
    assert_eq!(*stub.longest(&["a", "bcd", "ef"]).wait().unwrap().get(), 3);
    assert_eq!(*stub.first(&["", "bcd", "ef"]).wait().unwrap().get(), "bcd");
}
