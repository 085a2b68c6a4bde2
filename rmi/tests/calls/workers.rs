//! The threads on which methods run: a single thread, or a runtime.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::thread;

use jstream_rmi::{Client, Exclusive, Local, LocalServer, Server, ServerOptions, context, remote};

use testing::until;

#[remote]
trait Counter {
    fn add(&self, n: u64) -> u64;
    /// Waits until the count is at least `n`.
    async fn reaches(&self, n: u64) -> u64;
    fn add_there(&self, n: u64) -> u64;
}

/// State that belongs to one thread.
#[derive(Default)]
struct Count {
    count: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

struct Here(Local<Rc<Count>>);

#[remote]
impl Counter for Here {
    fn add(&self, n: u64) -> u64 {
        self.0.with(|of| {
            of.count.set(of.count.get() + n);
            of.waiting.borrow_mut().drain(..).for_each(Waker::wake);
            of.count.get()
        })
    }

    async fn reaches(&self, n: u64) -> u64 {
        std::future::poll_fn(|task| {
            self.0.with(|of| {
                if of.count.get() >= n {
                    return Poll::Ready(of.count.get());
                }
                of.waiting.borrow_mut().push(task.waker().clone());
                Poll::Pending
            })
        })
        .await
    }

    fn add_there(&self, n: u64) -> u64 {
        let caller = context().caller().unwrap();
        let counter = caller.lookup::<dyn Counter>("counter").wait().unwrap();
        *counter.add(n).wait().unwrap().get()
    }
}

struct There(std::sync::atomic::AtomicU64);

impl Counter for There {
    fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::SeqCst) + n
    }

    fn reaches<'__call>(&'__call self, _: u64) -> jstream_rmi::BoxFuture<'__call, u64> {
        unimplemented!("nobody asks")
    }

    fn add_there(&self, _: u64) -> u64 {
        unimplemented!("nobody asks")
    }
}

#[test]
fn all_methods_run_on_one_thread() {
    let count = Rc::new(Count::default());
    let server = LocalServer::new(ServerOptions::default());
    let object = Here(Local::new(count.clone()));
    server
        .bind::<dyn Counter>("counter", Arc::new(object))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let callers = thread::spawn(move || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let client = Client::connect(serving.address()).wait().unwrap();
                    let objects = Server::default();
                    let there = Arc::new(There(Default::default()));
                    objects.bind::<dyn Counter>("counter", there).unwrap();
                    assert!(client.export_server(&objects));
                    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
                    let last = counter.reaches(400);
                    for n in 1..=100 {
                        counter.add(1).wait().unwrap();
                        let back = counter.add_there(2).wait().unwrap();
                        assert_eq!(*back.get(), 2 * n);
                    }
                    assert!(*last.wait().unwrap().get() >= 400);
                });
            }
        });
        serving.stop();
    });
    server.serve();
    callers.join().unwrap();
    assert_eq!(count.count.get(), 400);
}

#[remote]
trait Flag {
    fn set(&self);
    /// Yields until the flag is set.
    async fn is_set(&self);
}

struct Set(AtomicBool);

#[remote]
impl Flag for Set {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    async fn is_set(&self) {
        while !self.0.load(Ordering::SeqCst) {
            jstream_transport::active::yield_now().await;
        }
    }
}

#[test]
fn a_method_that_wakes_itself_lets_calls_come() {
    let server = LocalServer::new(ServerOptions::default());
    let flag = Arc::new(Set(AtomicBool::new(false)));
    server.bind::<dyn Flag>("flag", flag).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let caller = thread::spawn(move || {
        let client = Client::connect(serving.address()).wait().unwrap();
        let flag = client.lookup::<dyn Flag>("flag").wait().unwrap();
        let waits = flag.is_set();
        flag.set().wait().unwrap();
        waits.wait().unwrap();
        serving.stop();
    });
    server.serve();
    caller.join().unwrap();
}

#[test]
fn a_value_stays_on_its_thread() {
    struct Drops(Arc<AtomicBool>);
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let local = Local::new(Drops(dropped.clone()));
    let elsewhere = thread::scope(|scope| scope.spawn(|| local.with(|_| ())).join());
    assert!(elsewhere.is_err());
    local.with(|value| assert!(!value.0.load(Ordering::SeqCst)));
    drop(local);
    assert!(dropped.swap(false, Ordering::SeqCst));
    let flag = dropped.clone();
    thread::spawn(move || Local::new(Drops(flag)))
        .join()
        .map(drop)
        .unwrap();
    // The thread of the value has ended.
    until(|| dropped.load(Ordering::SeqCst));
}

#[test]
fn who_stops_a_server_waits_for_its_methods() {
    #[remote]
    trait Slow {
        async fn runs(&mut self, n: u64) -> u64;
    }
    struct Busy(Arc<AtomicBool>);
    #[remote]
    impl Slow for Busy {
        async fn runs(&mut self, n: u64) -> u64 {
            // Continues on another thread, and takes some time there.
            jstream_transport::active::yield_now().await;
            self.0.store(true, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(50));
            self.0.store(false, Ordering::SeqCst);
            n
        }
    }
    for _ in 0..3 {
        let runs = Arc::new(AtomicBool::new(false));
        let server = Server::default();
        let object = Exclusive::new(Busy(runs.clone()));
        server.bind::<dyn Slow>("slow", object).unwrap();
        let serving = server
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let slow = client.lookup::<dyn Slow>("slow").wait().unwrap();
        let call = slow.runs(1);
        until(|| runs.load(Ordering::SeqCst));
        serving.stop();
        assert!(!runs.load(Ordering::SeqCst));
        drop(call);
    }
}

#[cfg(feature = "tokio")]
#[test]
fn methods_use_the_runtime() {
    use std::time::Duration;

    use jstream_rmi::Workers;

    #[remote]
    trait Sleeps {
        async fn sleep(&self, millis: u64) -> u64;
        fn spawns(&self) -> bool;
    }
    struct Plain;
    #[remote]
    impl Sleeps for Plain {
        async fn sleep(&self, millis: u64) -> u64 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            tokio::spawn(async move { millis }).await.unwrap()
        }

        fn spawns(&self) -> bool {
            drop(tokio::spawn(async {}));
            tokio::runtime::Handle::try_current().is_ok()
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let drives = thread::spawn(move || {
        runtime.block_on(async {
            while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    });
    let mut options = ServerOptions::default();
    options.workers = Workers::tokio(handle);
    let server = Server::new(options);
    server
        .bind::<dyn Sleeps>("sleeps", Arc::new(Plain))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    assert!(*sleeps.spawns().wait().unwrap().get());
    let calls: Vec<_> = (0..20).map(|n| (n, sleeps.sleep(n))).collect();
    for (n, call) in calls {
        assert_eq!(*call.wait().unwrap().get(), n);
    }
    serving.stop();
    drop(end);
    drives.join().unwrap();
}
