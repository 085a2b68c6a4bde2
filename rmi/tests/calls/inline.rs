//! Methods that do not wait complete on the thread that received the call, and the server counts
//! them as such.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{Client, Exclusive, Server, remote};

#[remote]
trait Counter {
    fn plain(&self, number: u64) -> u64;
    async fn could_wait(&self, number: u64) -> u64;
    async fn waits(&self);
    fn open(&self);
}

#[remote]
trait Sum {
    fn add(&mut self, number: u64) -> u64;
}

#[derive(Default)]
struct Here {
    is_open: AtomicBool,
}

#[remote]
impl Counter for Here {
    fn plain(&self, number: u64) -> u64 {
        number
    }

    async fn could_wait(&self, number: u64) -> u64 {
        number
    }

    async fn waits(&self) {
        let mut is_first = true;
        std::future::poll_fn(|task| {
            if !is_first && self.is_open.load(Ordering::Acquire) {
                return std::task::Poll::Ready(());
            }
            is_first = false;
            task.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }
}

struct Total(u64);

impl Sum for Total {
    fn add(&mut self, number: u64) -> u64 {
        self.0 += number;
        self.0
    }
}

const CALLS: u64 = 10_000;

fn methods_that_do_not_wait_run_inline(address: &str) {
    let server = Server::default();
    let here = Arc::new(Here::default());
    server.bind::<dyn Counter>("counter", here).unwrap();
    let total = Exclusive::new(Total(0));
    server.bind::<dyn Sum>("sum", total).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
    let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
    let before = server.health();
    thread::scope(|scope| {
        let call = |kind: u64| {
            for number in 0..CALLS / 4 {
                match kind {
                    0 => assert_eq!(*counter.plain(number).wait().unwrap().get(), number),
                    1 => assert_eq!(*counter.could_wait(number).wait().unwrap().get(), number),
                    // Some calls overlap.
                    2 if number % 10 == 0 => {
                        let calls: Vec<_> = (0..10).map(|_| counter.plain(number)).collect();
                        calls
                            .into_iter()
                            .for_each(|call| drop(call.wait().unwrap()));
                    }
                    2 => {}
                    _ => drop(sum.add(1).wait().unwrap()),
                }
            }
        };
        (0..4).for_each(|kind| drop(scope.spawn(move || call(kind))));
    });
    let after = *client.reflection().health().wait().unwrap().get();
    let (inline, moved) = (
        after.ran_inline - before.ran_inline,
        after.moved - before.moved,
    );
    // The last calls may not be counted yet.
    assert!(inline + moved + 10 >= CALLS, "{inline} {moved}");
    assert!(moved * 1000 <= CALLS, "{moved} of {inline} were moved");

    let waiting: Vec<_> = (0..20).map(|_| counter.waits()).collect();
    counter.open().wait().unwrap();
    waiting
        .into_iter()
        .for_each(|call| drop(call.wait().unwrap()));
    // The thread that moved the last call may not have counted it yet.
    let mut tries = 0;
    while server.health().moved - after.moved < 20 {
        tries += 1;
        assert!(tries < 10_000, "{:?}", server.health());
        thread::sleep(Duration::from_millis(1));
    }
    // The counts of closed listeners are kept.
    drop((counter, sum, client, serving));
    tries = 0;
    while server.health().ran_inline < after.ran_inline {
        tries += 1;
        assert!(tries < 10_000);
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn methods_that_do_not_wait_run_inline_over_inproc() {
    methods_that_do_not_wait_run_inline("inproc://inline");
}

#[test]
fn methods_that_do_not_wait_run_inline_over_shm() {
    methods_that_do_not_wait_run_inline(&format!("shm://jstream-inline-{}", std::process::id()));
}

#[test]
fn methods_that_do_not_wait_run_inline_over_tcp() {
    methods_that_do_not_wait_run_inline("tcp://127.0.0.1:0");
}
