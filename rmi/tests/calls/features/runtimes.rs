//! Clients and servers in a program that uses tokio.

use std::future::poll_fn;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use jstream_rmi::directory::{self, Directory, Names, Registrar};
use jstream_rmi::{
    Address, CallError, Client, LookupError, Server, ServerOptions, Serving, Stream, Workers,
    remote,
};
use tokio::runtime::{Builder, Handle, Runtime};

use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Sleeps {
    async fn sleep(&self, millis: u64) -> u64;
    fn is_in_a_runtime(&self) -> bool;
    fn count(&self, to: u64) -> Stream<u64>;
    fn takes(&self, items: Stream<u64>) -> u64;
    async fn waits(&self) -> u64;
    async fn is_notified(&self);
    fn holds(&self);
}

#[derive(Default)]
struct Plain {
    stub: Mutex<Option<SleepsStub>>,
    held: Arc<(Mutex<bool>, Condvar)>,
    holding: Arc<AtomicUsize>,
    notify: tokio::sync::Notify,
}

#[remote]
impl Sleeps for Plain {
    async fn sleep(&self, millis: u64) -> u64 {
        self.holding.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(millis)).await;
        tokio::spawn(async move { millis }).await.unwrap()
    }

    fn is_in_a_runtime(&self) -> bool {
        Handle::try_current().is_ok()
    }

    fn count(&self, to: u64) -> Stream<u64> {
        Stream::of(0..to)
    }

    fn takes(&self, items: Stream<u64>) -> u64 {
        items.map(|item| *item.unwrap().get()).sum()
    }

    /// Blocks a thread of the runtime, as a method must not.
    async fn waits(&self) -> u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let stub = self.stub.lock().unwrap().clone().unwrap();
        u64::from(*stub.is_in_a_runtime().wait().unwrap().get())
    }

    async fn is_notified(&self) {
        self.holding.fetch_add(1, Ordering::SeqCst);
        self.notify.notified().await;
    }

    fn holds(&self) {
        self.holding.fetch_add(1, Ordering::SeqCst);
        let held = self.held.0.lock().unwrap();
        drop(self.held.1.wait_while(held, |open| !*open).unwrap());
    }
}

fn serve(options: ServerOptions) -> (Serving, Arc<Plain>) {
    let server = Server::new(options);
    let plain = Arc::new(Plain::default());
    server.bind::<dyn Sleeps>("sleeps", plain.clone()).unwrap();
    let at: Address = "tcp://127.0.0.1:0".parse().unwrap();
    (server.listen(&at).unwrap(), plain)
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn threads() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

async fn connected(serving: &Serving) -> SleepsStub {
    let client = Client::connect(serving.address()).await.unwrap();
    client.lookup::<dyn Sleeps>("sleeps").await.unwrap()
}

#[test]
fn client_and_server_share_the_thread_of_a_runtime() {
    one_thread().block_on(async {
        // The methods sleep by the timer of the runtime, which nobody has named.
        let (serving, plain) = serve(ServerOptions::default());
        let sleeps = connected(&serving).await;
        assert!(*sleeps.is_in_a_runtime().await.unwrap().get());
        let calls: Vec<_> = (0..20).map(|n| (n, sleeps.sleep(n))).collect();
        for (n, call) in calls {
            assert_eq!(*call.await.unwrap().get(), n);
        }
        let before = plain.holding.load(Ordering::SeqCst);
        let running = sleeps.sleep(50);
        while plain.holding.load(Ordering::SeqCst) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let ending = tokio::spawn(serving.shutdown(LONG));
        // The method began before the shutdown, so it may finish.
        assert_eq!(*running.await.unwrap().get(), 50);
        drop(sleeps);
        let ended = ending.await.unwrap();
        assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    });
}

#[test]
fn each_step_of_a_registry_is_awaited() {
    one_thread().block_on(async {
        let (serving, _) = serve(ServerOptions::default());
        let registry = Server::default();
        let registrar = Arc::new(Registrar::default());
        registry
            .bind::<dyn Directory>(directory::NAME, registrar)
            .unwrap();
        let registry = registry
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let names = Names::connect(registry.address()).await.unwrap();
        names.bind("sleeps", &serving).await.unwrap();
        assert_eq!(names.list().await.unwrap()[0].name, "sleeps");
        let sleeps = names.lookup::<dyn Sleeps>("sleeps").await.unwrap();
        assert_eq!(*sleeps.sleep(1).await.unwrap().get(), 1);
        assert!(names.unbind("sleeps").await.unwrap());
        let unknown = names.lookup::<dyn Sleeps>("sleeps").await.unwrap_err();
        assert!(matches!(unknown, LookupError::Unknown { .. }), "{unknown}");
        let client = Client::connect(serving.address()).await.unwrap();
        let described = client.describe("sleeps").await.unwrap();
        assert_eq!(described.description().name, "Sleeps");
        assert!(client.describe("nobody").await.is_err());
    });
}

#[test]
fn connecting_blocks_no_thread_of_a_runtime() {
    // The server accepts connections and stays silent.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", silent.local_addr().unwrap());
    let address = address.parse().unwrap();
    one_thread().block_on(async {
        let began = Instant::now();
        let connecting = Client::connect(&address);
        let timeout = tokio::time::timeout(Duration::from_millis(20), connecting);
        assert!(timeout.await.is_err());
        assert!(began.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn options_decide_before_the_current_runtime() {
    let runtime = one_thread();
    let _entered = runtime.enter();
    let mut options = ServerOptions::default();
    options.workers = Workers::threads(1);
    let (serving, _) = serve(options);
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    assert!(!*sleeps.is_in_a_runtime().wait().unwrap().get());
}

#[test]
fn options_for_two_servers_name_no_runtime() {
    let options = ServerOptions::default();
    let runtime = threads();
    let inside = {
        let _entered = runtime.enter();
        serve(options.clone()).0
    };
    let outside = serve(options).0;
    for (serving, is_in_a_runtime) in [(inside, true), (outside, false)] {
        let client = Client::connect(serving.address()).wait().unwrap();
        let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
        let reply = sleeps.is_in_a_runtime().wait().unwrap();
        assert_eq!(*reply.get(), is_in_a_runtime);
    }
}

#[test]
fn a_method_without_a_runtime_is_told_how_to_get_one() {
    let (serving, _) = serve(ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    let error = sleeps.sleep(1).wait().unwrap_err();
    assert!(matches!(error, CallError::Panicked { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("start the server inside the runtime"),
        "{text}"
    );
    assert!(*sleeps.count(1).next().wait().unwrap().unwrap().get() == 0);

    // A runtime without a timer has its own advice.
    let runtime = Builder::new_multi_thread().build().unwrap();
    let _entered = runtime.enter();
    let (serving, _) = serve(ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    let text = sleeps.sleep(1).wait().unwrap_err().to_string();
    assert!(text.contains("`enable_all`"), "{text}");
}

/// Runs `waits`, and returns the text of its panic.
fn panic_of(waits: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(waits)).err()?;
    Some(panic.downcast_ref::<String>().unwrap().clone())
}

/// Fails if one of the blocking waits does not panic, or panics although it may block.
fn all_waits(serving: &Serving, sleeps: &SleepsStub, may_block: bool) {
    let at = serving.address();
    let client = Client::connect(at);
    let (sender, items) = jstream_rmi::stream(1);
    let taken = sleeps.takes(items);
    let mut counted = sleeps.count(3);
    let waits: [(&str, Option<String>); 5] = [
        ("Operation::wait", panic_of(|| drop(client.wait().unwrap()))),
        (
            "Call::wait",
            panic_of(|| drop(sleeps.is_in_a_runtime().wait().unwrap())),
        ),
        ("Stream::next", panic_of(|| drop(counted.next().wait()))),
        ("Stream::next", panic_of(|| drop(counted.by_ref().last()))),
        (
            "Sending::wait",
            panic_of(|| assert!(sender.send(1).wait().is_ok())),
        ),
    ];
    drop((sender, taken));
    for (name, panic) in waits {
        let is_right = match &panic {
            None => may_block || !cfg!(debug_assertions),
            Some(text) => {
                !may_block && text.contains(name) && text.contains("use `.await` instead")
            }
        };
        assert!(is_right, "{name}: {panic:?}");
    }
}

#[test]
fn a_wait_in_a_task_says_what_to_do_instead() {
    let (serving, _) = serve(ServerOptions::default());
    let serving = Arc::new(serving);
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    for runtime in [one_thread(), threads()] {
        let (of_task, stub) = (serving.clone(), sleeps.clone());
        runtime.block_on(async move {
            all_waits(&of_task, &stub, false);
            let spawned = tokio::spawn({
                let (serving, stub) = (of_task.clone(), stub.clone());
                async move { all_waits(&serving, &stub, false) }
            });
            spawned.await.unwrap();
            // The task goes on as before.
            assert!(!*stub.is_in_a_runtime().await.unwrap().get());
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::task::spawn_blocking(move || all_waits(&of_task, &stub, true))
                .await
                .unwrap();
        });
    }
    // A task may leave the runtime in which it runs, if that has several threads.
    let (of_task, stub) = (serving.clone(), sleeps.clone());
    threads().block_on(async move {
        let spawned = tokio::spawn(async move {
            tokio::task::block_in_place(|| all_waits(&of_task, &stub, true));
            all_waits(&of_task, &stub, false);
        });
        spawned.await.unwrap();
    });
    // A runtime may be current where no task runs.
    let runtime = one_thread();
    let _entered = runtime.enter();
    all_waits(&serving, &sleeps, true);
    // Futures of this crate run without a runtime, too.
    let polled = sleeps.is_in_a_runtime();
    drop(polled);
}

#[cfg(debug_assertions)]
#[test]
fn a_method_that_blocks_its_runtime_is_told() {
    let runtime = threads();
    let _entered = runtime.enter();
    let (serving, plain) = serve(ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    *plain.stub.lock().unwrap() = Some(sleeps.clone());
    let text = sleeps.waits().wait().unwrap_err().to_string();
    assert!(
        text.contains("must `.await` instead of `.wait()`"),
        "{text}"
    );
    // The stub in the object keeps a connection of the server to itself.
    *plain.stub.lock().unwrap() = None;
}

#[test]
fn a_server_that_a_task_drops_does_not_block_it() {
    let (serving, plain) = serve(ServerOptions::default());
    let client = Client::connect(serving.address()).wait().unwrap();
    let sleeps = client.lookup::<dyn Sleeps>("sleeps").wait().unwrap();
    let held = sleeps.holds();
    until(|| plain.holding.load(Ordering::SeqCst) == 1);
    // The method ends only after this.
    one_thread().block_on(async { drop(serving) });
    assert!(held.wait().is_err());
    *plain.held.0.lock().unwrap() = true;
    plain.held.1.notify_all();
}

#[test]
fn a_server_whose_runtime_nobody_drives_can_be_dropped() {
    let runtime = one_thread();
    let (serving, plain, call) = runtime.block_on(async {
        let (serving, plain) = serve(ServerOptions::default());
        let sleeps = connected(&serving).await;
        let call = sleeps.is_notified();
        until(|| plain.holding.load(Ordering::SeqCst) == 1);
        (serving, plain, call)
    });
    // Queues the method at the runtime.
    plain.notify.notify_one();
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(serving);
        done.send(()).unwrap();
    });
    ended.recv_timeout(LONG).unwrap();
    drop(call);
}

#[test]
fn a_shutdown_blocks_no_thread_of_a_runtime() {
    one_thread().block_on(async {
        let (serving, plain) = serve(ServerOptions::default());
        let sleeps = connected(&serving).await;
        let held = sleeps.holds();
        until(|| plain.holding.load(Ordering::SeqCst) == 1);
        let mut ending = serving.shutdown(LONG);
        // It waits for the method, and the task goes on.
        poll_fn(|context| {
            assert!(std::pin::Pin::new(&mut ending).poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        let busy = loop {
            match sleeps.is_in_a_runtime().await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert!(matches!(busy, CallError::Ending { .. }), "{busy}");
        *plain.held.0.lock().unwrap() = true;
        plain.held.1.notify_all();
        held.await.unwrap();
        let ended = ending.await;
        assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    });
}
