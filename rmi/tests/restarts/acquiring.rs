//! References whose server was restarted.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Address, AsyncInterceptor, CallError, CallRequest, Client, ConnectionState, Denied,
    Interceptors, Outcome, Remote, Server, Serving, Side, Stream, Stub, WeakServer, remote,
};
use jstream_sync::parker::block_on;
use testing::until;

use crate::raw::{ENDING, RawServer};
use crate::{LONG, addresses, listen, options};

#[remote]
trait Shop {
    fn cart(&self, customer: u64) -> Remote<dyn Cart>;
    /// Returns none or an error from the second server on.
    fn rare_cart(&self) -> Option<Remote<dyn Cart>>;
    fn checked_cart(&self) -> Result<Remote<dyn Cart>, String>;
    /// Never returns at the second server.
    #[remote(idempotent)]
    async fn late_cart(&self) -> Remote<dyn Cart>;
    /// Never returns at the second server, and must not be repeated.
    async fn unique_cart(&self) -> Remote<dyn Cart>;
    fn generation(&self) -> u64;
}

#[remote]
trait Cart {
    fn customer(&self) -> u64;
    fn generation(&self) -> u64;
    fn item(&self, number: u64) -> Remote<dyn Cart>;
    #[remote(resume = "from")]
    fn items(&self, from: u64) -> Stream<u64>;
    #[remote(one_way)]
    fn add(&self, number: u64);
}

/// The calls of all servers of a test.
#[derive(Default)]
struct Log {
    carts: Mutex<Vec<u64>>,
    waiting: AtomicU64,
}

struct Plain {
    server: WeakServer,
    generation: u64,
    customer: u64,
    log: Arc<Log>,
}

impl Plain {
    fn export(&self, customer: u64) -> Remote<dyn Cart> {
        self.log.carts.lock().unwrap().push(customer);
        let cart = Self {
            server: self.server.clone(),
            generation: self.generation,
            customer,
            log: self.log.clone(),
        };
        let server = self.server.upgrade().unwrap();
        server.export::<dyn Cart>(Arc::new(cart)).into_remote()
    }
}

#[remote]
impl Shop for Plain {
    fn cart(&self, customer: u64) -> Remote<dyn Cart> {
        self.export(customer)
    }

    fn rare_cart(&self) -> Option<Remote<dyn Cart>> {
        (self.generation == 0).then(|| self.export(1))
    }

    fn checked_cart(&self) -> Result<Remote<dyn Cart>, String> {
        match self.generation {
            0 => Ok(self.export(1)),
            _ => Err("closed".to_owned()),
        }
    }

    async fn late_cart(&self) -> Remote<dyn Cart> {
        if self.generation == 1 {
            self.log.waiting.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        self.export(self.generation)
    }

    async fn unique_cart(&self) -> Remote<dyn Cart> {
        self.late_cart().await
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}

impl Cart for Plain {
    fn customer(&self) -> u64 {
        self.customer
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn item(&self, number: u64) -> Remote<dyn Cart> {
        self.export(self.customer * 100 + number)
    }

    fn items(&self, from: u64) -> Stream<u64> {
        let (mut next, waits) = (from, self.generation == 0);
        Stream::polled(move |_: &mut std::task::Context<'_>| {
            if waits && next == from + 3 {
                return std::task::Poll::Pending;
            }
            next += 1;
            std::task::Poll::Ready((next <= 10).then_some(next - 1))
        })
    }

    fn add(&self, number: u64) {
        self.log.carts.lock().unwrap().push(number);
    }
}

fn start(address: &Address, log: &Arc<Log>, generation: u64) -> Serving {
    let server = Server::default();
    let shop = Plain {
        server: server.downgrade(),
        generation,
        customer: 0,
        log: log.clone(),
    };
    server.bind::<dyn Shop>("shop", Arc::new(shop)).unwrap();
    // The references of the server need it.
    let serving = listen(&server, address);
    KEPT.lock().unwrap().push(server);
    serving
}

static KEPT: Mutex<Vec<Server>> = Mutex::new(Vec::new());

fn connect(address: &Address, patience: Duration) -> (Client, ShopStub) {
    let client = Client::connect_with(address, &options(patience))
        .wait()
        .unwrap();
    let shop = client.lookup::<dyn Shop>("shop").wait().unwrap();
    (client, shop)
}

/// Waits until the client has found the new server. Over TCP, a call may detect the loss.
fn find(shop: &ShopStub, generation: u64) {
    until(|| {
        shop.generation()
            .wait()
            .is_ok_and(|found| *found.get() == generation)
    });
}

#[test]
fn references_say_that_their_object_is_lost() {
    for address in addresses("lost") {
        let log = Arc::default();
        let serving = start(&address, &log, 0);
        let (_client, shop) = connect(&address, LONG);
        let cart = shop.cart(7).wait().unwrap();
        assert_eq!(*cart.customer().wait().unwrap().get(), 7);
        serving.stop();
        let serving = start(&address, &log, 1);
        find(&shop, 1);
        for error in [
            cart.customer().wait().unwrap_err(),
            block_on(cart.customer()).unwrap_err(),
            cart.retrying(jstream_rmi::Retries::default())
                .customer()
                .wait()
                .unwrap_err(),
            cart.item(1).wait().unwrap_err(),
            cart.add(1).unwrap_err(),
        ] {
            assert!(matches!(error, CallError::ObjectLost { .. }), "{error}");
            assert!(error.is_disconnected());
            assert_eq!(error.outcome(), Outcome::DidNotRun);
            assert!(error.to_string().contains("\"Cart\""), "{error}");
        }
        // The stub that was found by its name is not lost.
        assert_eq!(*shop.generation().wait().unwrap().get(), 1);
        serving.stop();
    }
}

#[test]
fn a_recipe_acquires_a_reference_again() {
    for address in addresses("recipe") {
        let log = Arc::<Log>::default();
        let mut serving = start(&address, &log, 0);
        let (_client, shop) = connect(&address, LONG);
        let open = |shop: &ShopStub| shop.cart(7);
        let cart = open(&shop).wait().unwrap().acquired_by(&shop, open);
        let item = |cart: &CartStub| cart.item(3);
        let item = item(&cart).wait().unwrap().acquired_by(cart.stub(), item);
        for generation in 1..4 {
            serving.stop();
            serving = start(&address, &log, generation);
            find(&shop, generation);
            // Both recipes run: that of the cart, and that of its item.
            assert_eq!(*item.customer().wait().unwrap().get(), 703);
            assert_eq!(*block_on(item.generation()).unwrap().get(), generation);
            assert_eq!(*cart.generation().wait().unwrap().get(), generation);
            assert_eq!(*block_on(cart.customer()).unwrap().get(), 7);
        }
        assert_eq!(*log.carts.lock().unwrap(), [7, 703, 7, 703, 7, 703, 7, 703]);
        serving.stop();
    }
}

#[test]
fn calls_share_one_acquisition() {
    let address: Address = "inproc://acquiring-shared".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let runs = Arc::new(AtomicU64::new(0));
    let cart = shop.cart(7).wait().unwrap();
    let cart = cart.acquired_by(&shop, {
        let runs = runs.clone();
        move |shop: &ShopStub| {
            runs.fetch_add(1, Ordering::SeqCst);
            shop.cart(7)
        }
    });
    serving.stop();
    let calls: Vec<_> = (0..16)
        .map(|call| {
            let cart = cart.clone();
            thread::spawn(move || match call % 4 {
                0 => *block_on(cart.customer()).unwrap().get(),
                // Gives up, and another call goes on.
                1 => {
                    let brief = cart.within(Duration::from_millis(10));
                    brief
                        .customer()
                        .wait()
                        .map_or(7, |customer| *customer.get())
                }
                2 => {
                    let mut dropped = cart.customer();
                    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                    drop(std::pin::Pin::new(&mut dropped).poll(&mut context));
                    7
                }
                _ => *cart.customer().wait().unwrap().get(),
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(30));
    let serving = start(&address, &log, 1);
    for call in calls {
        assert_eq!(call.join().unwrap(), 7);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(*log.carts.lock().unwrap(), [7, 7]);
    serving.stop();
}

#[test]
fn a_recipe_that_fails_is_the_error_of_the_calls() {
    let address: Address = "inproc://acquiring-fails".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let rare = shop.rare_cart().wait().unwrap().unwrap();
    let rare = rare.acquired_by(&shop, |shop: &ShopStub| shop.rare_cart());
    let checked = shop.checked_cart().wait().unwrap().unwrap();
    let checked = checked.acquired_by(&shop, |shop: &ShopStub| shop.checked_cart());
    let panics = shop.cart(1).wait().unwrap();
    let is_broken = Arc::new(AtomicBool::new(true));
    let panics = panics.acquired_by(&shop, {
        let is_broken = is_broken.clone();
        move |shop: &ShopStub| {
            assert!(!is_broken.load(Ordering::SeqCst), "as it should");
            shop.cart(5)
        }
    });
    // This one needs the reference that it acquires.
    let own = Arc::new(Mutex::new(None::<Remote<dyn Cart>>));
    let cycle = shop.cart(1).wait().unwrap().acquired_by(&shop, {
        let own = own.clone();
        move |shop: &ShopStub| {
            let cart = own.lock().unwrap().clone();
            if let Some(cart) = cart {
                let error = cart.customer().wait().unwrap_err();
                assert!(error.to_string().contains("needs the reference"), "{error}");
            }
            shop.cart(9)
        }
    });
    *own.lock().unwrap() = Some(cycle.clone());
    serving.stop();
    let serving = start(&address, &log, 1);
    for (cart, text) in [
        (&rare, "no object"),
        (&checked, "no object"),
        (&panics, "panicked"),
        (&rare, "no object"),
    ] {
        for error in [
            cart.customer().wait().unwrap_err(),
            block_on(cart.customer()).unwrap_err(),
        ] {
            assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
            assert_eq!(error.outcome(), Outcome::DidNotRun);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
    // A later call runs the recipe again.
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!(*panics.customer().wait().unwrap().get(), 5);
    assert_eq!(*cycle.customer().wait().unwrap().get(), 9);
    own.lock().unwrap().take();
    serving.stop();
}

#[test]
fn a_recipe_that_may_have_run_is_repeated_only_if_idempotent() {
    let address: Address = "inproc://acquiring-uncertain".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let late = shop.late_cart().wait().unwrap();
    let late = late.acquired_by(&shop, |shop: &ShopStub| shop.late_cart());
    let unique = shop.unique_cart().wait().unwrap();
    let unique = unique.acquired_by(&shop, |shop: &ShopStub| shop.unique_cart());
    serving.stop();
    let serving = start(&address, &log, 1);
    let [late, unique] = [late, unique]
        .map(|cart| thread::spawn(move || cart.customer().wait().map(|customer| *customer.get())));
    until(|| log.waiting.load(Ordering::SeqCst) == 2);
    serving.stop();
    let serving = start(&address, &log, 2);
    assert_eq!(late.join().unwrap().unwrap(), 2);
    let error = unique.join().unwrap().unwrap_err();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
    assert!(error.to_string().contains("connection ended"), "{error}");
    serving.stop();
}

#[test]
fn waits_for_a_reference_end_with_patience() {
    let address: Address = "inproc://acquiring-patience".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (client, shop) = connect(&address, Duration::from_millis(60));
    let cart = shop.cart(1).wait().unwrap();
    let cart = cart.acquired_by(&shop, |shop: &ShopStub| shop.cart(1));
    let late = shop.late_cart().wait().unwrap();
    let late = late.acquired_by(&shop, |shop: &ShopStub| shop.late_cart());
    serving.stop();
    for error in [
        cart.customer().wait().unwrap_err(),
        block_on(cart.customer()).unwrap_err(),
    ] {
        assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
    }
    let serving = start(&address, &log, 1);
    find(&shop, 1);
    // The recipe does not return. Its time, or that of the wait, is over first.
    let error = late.customer().wait().unwrap_err();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("late_cart returned no result before its deadline")
            || text.contains("has not returned in time"),
        "{text}"
    );
    assert!(log.waiting.load(Ordering::SeqCst) > 0, "the recipe has run");
    assert_eq!(*cart.customer().wait().unwrap().get(), 1);
    // Nothing keeps the client.
    let weak = client.downgrade();
    let mut pending = late.customer();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    drop(std::pin::Pin::new(&mut pending).poll(&mut context));
    drop((pending, cart, late, shop, client));
    until(|| weak.upgrade().is_none());
    serving.stop();
}

#[test]
fn streams_and_one_way_calls_use_the_acquired_reference() {
    let address: Address = "inproc://acquiring-streams".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let cart = shop.cart(1).wait().unwrap();
    let cart = cart.acquired_by(&shop, |shop: &ShopStub| shop.cart(1));
    let mut items = cart.items(4);
    for number in 4..7 {
        assert_eq!(*items.next().wait().unwrap().unwrap().get(), number);
    }
    serving.stop();
    let serving = start(&address, &log, 1);
    let rest: Vec<_> = items.map(|item| *item.unwrap().get()).collect();
    assert_eq!(rest, [7, 8, 9]);
    cart.add(33).unwrap();
    until(|| log.carts.lock().unwrap().contains(&33));
    assert_eq!(log.carts.lock().unwrap()[..2], [1, 1]);
    serving.stop();
}

#[test]
fn a_reference_leaves_a_server_that_is_shutting_down() {
    let address: Address = "inproc://acquiring-goodbye".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let cart = shop.cart(1).wait().unwrap();
    let cart = cart.acquired_by(&shop, |shop: &ShopStub| shop.cart(1));
    let ended = serving.shutdown(LONG).wait();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    let serving = start(&address, &log, 1);
    assert_eq!(*cart.generation().wait().unwrap().get(), 1);
    serving.stop();
}

#[test]
fn calls_that_do_not_wait_acquire_a_reference_too() {
    for address in addresses("impatient") {
        let log = Arc::<Log>::default();
        let serving = start(&address, &log, 0);
        let (_client, shop) = connect(&address, LONG);
        let open = |shop: &ShopStub| shop.cart(1);
        let [item, note] = [(); 2].map(|()| open(&shop).wait().unwrap().acquired_by(&shop, open));
        serving.stop();
        let serving = start(&address, &log, 1);
        until(|| item.item(2).wait().is_ok());
        until(|| note.add(44).is_ok());
        until(|| log.carts.lock().unwrap().contains(&44));
        let mut carts = log.carts.lock().unwrap().clone();
        carts.retain(|cart| *cart == 1);
        assert_eq!(carts, [1; 4]);
        serving.stop();
    }
}

#[test]
fn a_wait_for_a_reference_has_its_own_time() {
    let address: Address = "inproc://acquiring-stale".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let patience = Duration::from_secs(2);
    let (client, shop) = connect(&address, patience);
    let cart = shop.cart(1).wait().unwrap();
    let cart = cart.acquired_by(&shop, |shop: &ShopStub| shop.cart(1));
    let mut items = cart.items(4);
    for number in 4..7 {
        assert_eq!(*items.next().wait().unwrap().unwrap().get(), number);
    }
    serving.stop();
    // One-way calls do not wait for the acquisition that they begin.
    until(|| {
        let is_lost = matches!(client.state(), ConnectionState::Lost { .. });
        cart.add(1).is_err() && is_lost
    });
    thread::sleep(patience + Duration::from_millis(100));
    assert!(poll(&mut items).is_pending());
    let serving = start(&address, &log, 1);
    let rest: Vec<_> = items.map(|item| *item.unwrap().get()).collect();
    assert_eq!(rest, [7, 8, 9]);
    serving.stop();
}

fn poll(items: &mut Stream<u64>) -> Poll<Option<u64>> {
    let polled = items.poll_next(&mut Context::from_waker(Waker::noop()));
    polled.map(|item| item.map(|item| *item.unwrap().get()))
}

/// An interceptor of the recipe's call.
#[derive(Clone, Default)]
struct Script(Arc<ScriptState>);

#[derive(Default)]
struct ScriptState {
    /// Polled for each call of `Shop::cart`.
    poll: Mutex<Option<PollScript>>,
    /// The last waker of that call.
    waker: Mutex<Option<Waker>>,
}

type PollScript = Box<dyn FnMut() -> Poll<()> + Send>;

impl Script {
    fn set(&self, poll: impl FnMut() -> Poll<()> + Send + 'static) {
        *self.0.poll.lock().unwrap() = Some(Box::new(poll));
    }

    fn wake(&self) {
        self.0.waker.lock().unwrap().take().unwrap().wake();
    }
}

impl AsyncInterceptor for Script {
    async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
        if call.side() == Side::Caller && call.method() == "cart" {
            poll_fn(|context| {
                *self.0.waker.lock().unwrap() = Some(context.waker().clone());
                let mut script = self.0.poll.lock().unwrap().take();
                let polled = script.as_mut().map_or(Poll::Ready(()), |poll| poll());
                let mut next = self.0.poll.lock().unwrap();
                *next = next.take().or(script);
                polled
            })
            .await;
        }
        Ok(())
    }
}

/// Returns a reference that a call within the script acquires again, after its server was started
/// again.
fn scripted(name: &str, script: &Script) -> (Serving, Client, Remote<dyn Cart>) {
    let address: Address = format!("inproc://acquiring-{name}").parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let mut options = options(LONG);
    options.interceptors = Interceptors::default().and_async(script.clone());
    let client = Client::connect_with(&address, &options).wait().unwrap();
    let shop = client.lookup::<dyn Shop>("shop").wait().unwrap();
    let open = |shop: &ShopStub| shop.cart(7);
    let cart = open(&shop).wait().unwrap().acquired_by(&shop, open);
    serving.stop();
    let serving = start(&address, &log, 1);
    find(&shop, 1);
    (serving, client, cart)
}

/// Counts its calls.
#[derive(Default)]
struct CountingWaker(AtomicU64);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_wake_up_while_another_thread_polls_the_acquisition_is_not_lost() {
    let script = Script::default();
    let (serving, _client, cart) = scripted("wake", &script);
    script.set(|| Poll::Pending);
    let woken = Arc::new(CountingWaker::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut call = cart.customer();
    assert!(Pin::new(&mut call).poll(&mut context).is_pending());
    // Polls the acquisition once, and leaves it.
    let (begin, begun) = channel();
    let (go, goes) = channel::<()>();
    script.set(move || {
        begin.send(()).unwrap();
        goes.recv_timeout(LONG).unwrap();
        Poll::Pending
    });
    let one_way = thread::spawn({
        let cart = cart.clone();
        move || cart.add(1).is_err()
    });
    begun.recv_timeout(LONG).unwrap();
    script.wake();
    assert!(Pin::new(&mut call).poll(&mut context).is_pending());
    let before = woken.0.load(Ordering::SeqCst);
    script.set(|| Poll::Ready(()));
    go.send(()).unwrap();
    assert!(one_way.join().unwrap());
    assert!(woken.0.load(Ordering::SeqCst) > before, "the call is woken");
    assert_eq!(*block_on(call).unwrap().get(), 7);
    serving.stop();
}

#[test]
fn a_task_on_the_thread_that_acquires_a_reference_waits_for_it() {
    let script = Script::default();
    let (serving, _client, cart) = scripted("nested", &script);
    let nested = Arc::new(Mutex::new(None));
    script.set({
        let (cart, nested) = (cart.clone(), nested.clone());
        let mut polls = 0;
        move || {
            polls += 1;
            // The first poll is part of the recipe, which must not need the reference.
            if polls == 2 {
                let mut task = cart.customer();
                let mut context = Context::from_waker(Waker::noop());
                assert!(Pin::new(&mut task).poll(&mut context).is_pending());
                *nested.lock().unwrap() = Some(task);
                // A thread would wait for itself.
                let error = cart.generation().wait().unwrap_err();
                assert!(
                    error.to_string().contains("the one that acquires"),
                    "{error}"
                );
            }
            match polls {
                1 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        }
    });
    assert_eq!(*cart.customer().wait().unwrap().get(), 7);
    let task = nested.lock().unwrap().take().unwrap();
    assert_eq!(*block_on(task).unwrap().get(), 7);
    serving.stop();
}

#[test]
fn a_recipe_leaves_a_server_that_is_ending() {
    let address: Address = "inproc://acquiring-ending".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, 0);
    let (_client, shop) = connect(&address, LONG);
    let most = Arc::new(AtomicU64::new(0));
    let source: Address = "inproc://acquiring-ending-source".parse().unwrap();
    let _server = RawServer::start(&source, {
        let most = most.clone();
        move |call| {
            most.fetch_max(call.before + 1, Ordering::SeqCst);
            call.answer(ENDING, &());
        }
    });
    let (_other, source) = connect(&source, Duration::from_millis(200));
    let cart = shop.cart(1).wait().unwrap();
    let cart = cart.acquired_by(&source, |shop: &ShopStub| shop.cart(1));
    serving.stop();
    let serving = start(&address, &log, 1);
    find(&shop, 1);
    let error = cart.customer().wait().unwrap_err();
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    // It asks no server again that is ending.
    assert_eq!(most.load(Ordering::SeqCst), 1);
    serving.stop();
}
