//! Asynchronous interceptors, which may wait before and after each call, on both sides.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use jstream_rmi::{
    AddressList, AsyncInterceptor, CallEnd, CallError, CallRequest, Client, ClientOptions,
    ClientSet, Clock, ConnectionState, Denied, Interceptors, Outcome, Remote, Retries, Server,
    ServerOptions, Serving, SetOptions, Side, Stream, Stub, WeakServer, context, remote,
};
use jstream_sync::parker::block_on;
use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(3600);

#[remote]
trait Desk {
    fn double(&self, numbers: &[u64]) -> Vec<u64>;
    async fn double_later(&self, numbers: &[u64]) -> Vec<u64>;
    fn token(&self) -> String;
    async fn token_later(&self) -> String;
    async fn waits(&self);
    #[remote(one_way)]
    fn note(&self, number: u64);
    fn counter(&self) -> Remote<dyn Counter>;
    fn read(&self, counter: Remote<dyn Counter>) -> u64;
    async fn sum(&self, numbers: Stream<u64>) -> u64;
    fn numbers(&self, count: u64) -> Stream<u64>;
}

#[remote]
trait Counter {
    fn next(&self) -> u64;
}

struct Counting(AtomicUsize);

impl Counter for Counting {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) as u64
    }
}

struct Plain {
    noted: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
    server: WeakServer,
}

struct Leaves(Arc<AtomicUsize>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn token() -> String {
    context()
        .metadata()
        .get("token")
        .unwrap_or("none")
        .to_owned()
}

#[remote]
impl Desk for Plain {
    fn double(&self, numbers: &[u64]) -> Vec<u64> {
        numbers.iter().map(|number| number * 2).collect()
    }

    async fn double_later(&self, numbers: &[u64]) -> Vec<u64> {
        jstream_transport::active::yield_now().await;
        self.double(numbers)
    }

    fn token(&self) -> String {
        token()
    }

    async fn token_later(&self) -> String {
        jstream_transport::active::yield_now().await;
        token()
    }

    async fn waits(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _leaves = Leaves(self.waiting.clone());
        pending().await
    }

    fn note(&self, number: u64) {
        self.noted.fetch_add(number as usize, Ordering::SeqCst);
    }

    fn counter(&self) -> Remote<dyn Counter> {
        let counter = Arc::new(Counting(AtomicUsize::new(0)));
        let server = self.server.upgrade().unwrap();
        server.export::<dyn Counter>(counter).into_remote()
    }

    fn read(&self, counter: Remote<dyn Counter>) -> u64 {
        *counter.next().wait().unwrap().get()
    }

    async fn sum(&self, mut numbers: Stream<u64>) -> u64 {
        let mut sum = 0;
        while let Some(number) = numbers.next().await {
            sum += *number.unwrap().get();
        }
        sum
    }

    fn numbers(&self, count: u64) -> Stream<u64> {
        Stream::of(0..count)
    }
}

/// The act of an interceptor before a call.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Pass,
    /// Wait until the gate is opened once.
    Gate,
    Yield,
    Panic,
    Deny,
}

/// A gate that lets one waiting future through each time that it is opened.
#[derive(Default)]
struct Gate {
    open: usize,
    wakers: VecDeque<Waker>,
}

struct Scripted {
    act: Mutex<Act>,
    gate: Mutex<Gate>,
    waiting: AtomicUsize,
    ended: Mutex<Vec<(String, Result<(), Outcome>)>>,
}

impl Scripted {
    fn new(act: Act) -> Arc<Self> {
        Arc::new(Self {
            act: Mutex::new(act),
            gate: Mutex::default(),
            waiting: AtomicUsize::new(0),
            ended: Mutex::default(),
        })
    }

    fn set(&self, act: Act) {
        *self.act.lock().unwrap() = act;
    }

    fn open(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.open += 1;
        gate.wakers.drain(..).for_each(Waker::wake);
    }

    fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    fn ended(&self) -> Vec<(String, Result<(), Outcome>)> {
        self.ended.lock().unwrap().clone()
    }
}

/// Counts a future from its first poll until it is dropped.
struct Counted<'c>(&'c AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Shared(Arc<Scripted>);

impl AsyncInterceptor for Shared {
    async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
        if call.interface() != "Desk" {
            return Ok(());
        }
        let act = *self.0.act.lock().unwrap();
        let side = match call.side() {
            Side::Caller => "caller",
            Side::Callee => "callee",
        };
        match act {
            Act::Pass => {}
            Act::Yield => jstream_transport::active::yield_now().await,
            Act::Panic => panic!("as it should"),
            Act::Deny => return Err(Denied(format!("not {} at the {side}", call.method()))),
            Act::Gate => {
                self.0.waiting.fetch_add(1, Ordering::SeqCst);
                let _counted = Counted(&self.0.waiting);
                poll_fn(|context| {
                    let mut gate = self.0.gate.lock().unwrap();
                    if gate.open > 0 {
                        gate.open -= 1;
                        return Poll::Ready(());
                    }
                    gate.wakers.push_back(context.waker().clone());
                    Poll::Pending
                })
                .await;
            }
        }
        let token = call.metadata().get("token").unwrap_or("").to_owned() + side;
        call.metadata_mut().insert("token", &token)?;
        Ok(())
    }

    async fn after(&self, call: &CallRequest, end: &CallEnd) {
        if call.interface() == "Desk" {
            let mut ended = self.0.ended.lock().unwrap();
            ended.push((call.method().to_owned(), end.result));
        }
    }
}

struct Running {
    server: Server,
    _serving: Serving,
    noted: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
    client: Client,
    desk: DeskStub,
}

impl Running {
    fn new(client: Interceptors, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let mut options = ServerOptions::default();
        change(&mut options);
        let server = Server::new(options);
        let (noted, waiting) = (Arc::default(), Arc::default());
        let plain = Plain {
            noted: Arc::clone(&noted),
            waiting: Arc::clone(&waiting),
            server: server.downgrade(),
        };
        server.bind::<dyn Desk>("desk", Arc::new(plain)).unwrap();
        let serving = server
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let mut options = ClientOptions::default();
        options.interceptors = client;
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
        Self {
            server,
            _serving: serving,

            noted,
            waiting,
            client,
            desk,
        }
    }

    fn at_client(interceptor: &Arc<Scripted>) -> Self {
        let interceptors = Interceptors::default().and_async(Shared(interceptor.clone()));
        Self::new(interceptors, |_| {})
    }

    fn at_server(interceptor: &Arc<Scripted>) -> Self {
        let interceptors = Interceptors::default().and_async(Shared(interceptor.clone()));
        Self::new(Interceptors::default(), |options| {
            options.interceptors = interceptors;
        })
    }

    /// Returns an object of the client.
    fn counting(&self, first: usize) -> Remote<dyn Counter> {
        let counter = Arc::new(Counting(AtomicUsize::new(first)));
        self.client.export::<dyn Counter>(counter).into_remote()
    }

    /// Waits until neither side holds a reference or a suspended method.
    fn until_idle(&self) {
        until(|| self.server.references().exports == 1 && self.server.health().waiting == 0);
    }
}

/// Starts another server with the objects of the tests.
fn serve(address: &str) -> (Server, Serving) {
    let server = Server::default();
    let plain = Plain {
        noted: Arc::default(),
        waiting: Arc::default(),
        server: server.downgrade(),
    };
    server.bind::<dyn Desk>("desk", Arc::new(plain)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (server, serving)
}

/// Calls methods of all kinds.
fn call_all(running: &Running) {
    let desk = &running.desk;
    let numbers = [1, 2, 3];
    assert_eq!(desk.double(&numbers).wait().unwrap().get(), &[2, 4, 6]);
    let reply = block_on(desk.double_later(&numbers)).unwrap();
    assert_eq!(reply.get(), &[2, 4, 6]);
    let retrying = desk.retrying(Retries::default());
    assert_eq!(retrying.double(&numbers).wait().unwrap().get(), &[2, 4, 6]);
    let counter = desk.counter().wait().unwrap();
    assert_eq!(*counter.next().wait().unwrap().get(), 0);
    assert_eq!(*desk.read(counter).wait().unwrap().get(), 1);
    let own = running.counting(7);
    assert_eq!(*desk.read(own).wait().unwrap().get(), 7);
    let sum = desk.sum(Stream::of(0..100)).wait().unwrap();
    assert_eq!(*sum.get(), 4950);
    let mut numbers = desk.numbers(100);
    let mut count = 0;
    while let Some(number) = block_on(numbers.next()) {
        assert_eq!(*number.unwrap().get(), count);
        count += 1;
    }
    assert_eq!(count, 100);
    drop(numbers);
    running.until_idle();
}

#[test]
fn all_calls_pass_interceptors_that_are_ready_or_wait_on_either_side() {
    for act in [Act::Pass, Act::Yield] {
        let interceptor = Scripted::new(act);
        call_all(&Running::at_client(&interceptor));
        let at_client = interceptor.ended();
        let interceptor = Scripted::new(act);
        call_all(&Running::at_server(&interceptor));
        until(|| interceptor.ended().len() == at_client.len());
        assert!(at_client.iter().all(|(_, result)| result.is_ok()));
        assert!(interceptor.ended().iter().all(|(_, result)| result.is_ok()));
    }
}

#[test]
fn metadata_of_interceptors_reaches_the_method() {
    for (at_client, at_server, expected) in [
        (Act::Pass, Act::Pass, "callercallee"),
        (Act::Yield, Act::Yield, "callercallee"),
    ] {
        let interceptors = [at_client, at_server]
            .map(|act| Interceptors::default().and_async(Shared(Scripted::new(act))));
        let [client, server] = interceptors;
        let running = Running::new(client, |options| options.interceptors = server);
        assert_eq!(*running.desk.token().wait().unwrap().get(), expected);
        let reply = block_on(running.desk.token_later()).unwrap();
        assert_eq!(*reply.get(), expected);
        running.until_idle();
    }
}

#[test]
fn a_denied_call_does_not_run() {
    let interceptor = Scripted::new(Act::Deny);
    for (running, side) in [
        (Running::at_client(&interceptor), "caller"),
        (Running::at_server(&interceptor), "callee"),
    ] {
        let denied = running.desk.double(&[1]).wait().unwrap_err();
        let expected = format!("not double at the {side}");
        assert!(
            matches!(&denied, CallError::Denied { reason, .. } if *reason == expected),
            "{denied}"
        );
        let own = running.counting(0);
        let denied = running.desk.read(own).wait().unwrap_err();
        assert_eq!(denied.outcome(), Outcome::DidNotRun);
        running.until_idle();
    }
    assert_eq!(interceptor.ended(), []);
}

#[test]
fn a_panic_ends_one_call() {
    let interceptor = Scripted::new(Act::Pass);
    let running = Running::at_client(&interceptor);
    interceptor.set(Act::Panic);
    let failed = running.desk.double(&[1]).wait().unwrap_err();
    assert!(
        matches!(
            &failed,
            CallError::Layer {
                outcome: Outcome::DidNotRun,
                ..
            }
        ),
        "{failed}"
    );
    interceptor.set(Act::Pass);
    running.desk.double(&[1]).wait().unwrap();

    let running = Running::at_server(&interceptor);
    interceptor.set(Act::Panic);
    for failed in [
        running.desk.double(&[1]).wait().map(drop),
        running.desk.double_later(&[1]).wait().map(drop),
    ] {
        let failed = failed.unwrap_err();
        assert!(matches!(&failed, CallError::Panicked { .. }), "{failed}");
    }
    interceptor.set(Act::Pass);
    running.desk.double(&[1]).wait().unwrap();
    running.until_idle();
}

#[test]
fn the_deadline_ends_an_interceptor_that_never_ends() {
    let interceptor = Scripted::new(Act::Gate);
    for running in [
        Running::at_client(&interceptor),
        Running::at_server(&interceptor),
    ] {
        let desk = running.desk.within(Duration::from_millis(50));
        for late in [
            desk.double(&[1]).wait().map(drop),
            block_on(desk.double(&[1])).map(drop),
            desk.waits().wait().map(drop),
        ] {
            let late = late.unwrap_err();
            assert!(matches!(late, CallError::Deadline { .. }), "{late}");
        }
        until(|| interceptor.waiting() == 0);
        assert_eq!(running.waiting.load(Ordering::SeqCst), 0);
        running.until_idle();
    }
}

#[test]
fn a_dropped_call_drops_the_interceptor() {
    let interceptor = Scripted::new(Act::Gate);
    for running in [
        Running::at_client(&interceptor),
        Running::at_server(&interceptor),
    ] {
        let desk = running.desk.within(LONG);
        let calls = [desk.double(&[1]), desk.double_later(&[1])];
        until(|| interceptor.waiting() == 2);
        drop(calls);
        until(|| interceptor.waiting() == 0);
        running.until_idle();
    }
}

#[test]
fn a_dropped_call_ends_the_method_behind_the_interceptor() {
    for act in [Act::Pass, Act::Yield] {
        let interceptor = Scripted::new(act);
        let running = Running::at_server(&interceptor);
        let call = running.desk.within(LONG).waits();
        until(|| running.waiting.load(Ordering::SeqCst) == 1);
        drop(call);
        until(|| running.waiting.load(Ordering::SeqCst) == 0);
        running.until_idle();
    }
}

#[test]
fn a_connection_that_ends_drops_its_interceptors() {
    let interceptor = Scripted::new(Act::Gate);
    let running = Running::at_server(&interceptor);
    let call = running.desk.within(LONG).double(&[1]);
    until(|| interceptor.waiting() == 1);
    running.client.close();
    until(|| interceptor.waiting() == 0);
    assert!(call.wait().is_err());
}

#[test]
fn calls_that_wait_in_interceptors_count_as_waiting() {
    let interceptor = Scripted::new(Act::Gate);
    let interceptors = Interceptors::default().and_async(Shared(interceptor.clone()));
    let running = Running::new(Interceptors::default(), |options| {
        options.interceptors = interceptors;
        options.max_waiting = 2;
    });
    let desk = running.desk.within(LONG);
    let calls = [desk.double(&[1]), desk.double(&[2])];
    until(|| running.server.health().waiting == 2);
    let busy = desk.double(&[3]).wait().unwrap_err();
    assert!(matches!(busy, CallError::Busy { .. }), "{busy}");
    assert_eq!(interceptor.waiting(), 2);
    interceptor.open();
    interceptor.open();
    for call in calls {
        call.wait().unwrap();
    }
    running.until_idle();
}

#[test]
fn one_way_calls_need_an_interceptor_that_is_ready() {
    let interceptor = Scripted::new(Act::Pass);
    let running = Running::at_client(&interceptor);
    running.desk.note(5).unwrap();
    until(|| running.noted.load(Ordering::SeqCst) == 5);
    interceptor.set(Act::Gate);
    let failed = running.desk.note(5).unwrap_err();
    assert_eq!(failed.outcome(), Outcome::DidNotRun);
    assert!(failed.to_string().contains("one-way"), "{failed}");
    interceptor.set(Act::Deny);
    let denied = running.desk.note(5).unwrap_err();
    assert!(matches!(denied, CallError::Denied { .. }), "{denied}");
    // At the server, an interceptor of a one-way call may wait.
    let running = Running::at_server(&interceptor);
    interceptor.set(Act::Gate);
    running.desk.note(5).unwrap();
    until(|| interceptor.waiting() == 1);
    interceptor.open();
    until(|| running.noted.load(Ordering::SeqCst) == 5);
}

/// Fails or waits after each call of `note`.
struct After(fn());

impl AsyncInterceptor for After {
    async fn before(&self, _: &mut CallRequest) -> Result<(), Denied> {
        Ok(())
    }

    async fn after(&self, call: &CallRequest, _: &CallEnd) {
        if call.method() == "note" {
            self.0();
            pending().await
        }
    }
}

#[test]
fn one_way_calls_that_were_sent_may_have_run_whatever_fails_behind_them() {
    let panics = Interceptors::default().and_async(After(|| panic!("as it should")));
    let running = Running::new(panics, |_| {});
    let failed = running.desk.note(5).unwrap_err();
    assert!(matches!(&failed, CallError::Layer { .. }), "{failed}");
    assert_eq!(failed.outcome(), Outcome::MayHaveRun);
    assert!(!failed.can_be_repeated());
    until(|| running.noted.load(Ordering::SeqCst) == 5);
    // An interceptor that waits behind the call is dropped.
    let waits = Interceptors::default().and_async(After(|| {}));
    let running = Running::new(waits, |_| {});
    running.desk.note(5).unwrap();
    until(|| running.noted.load(Ordering::SeqCst) == 5);
    // The reason why a message was not sent outlasts such an interceptor.
    running.client.close();
    let failed = running.desk.note(5).unwrap_err();
    assert!(failed.to_string().contains("has ended"), "{failed}");
    assert_eq!(failed.outcome(), Outcome::DidNotRun);
}

/// Waits for its turn, and lets a call through when its deadline has passed.
struct Late(Clock);

impl AsyncInterceptor for Late {
    async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
        if call.interface() == "Desk" {
            jstream_transport::active::yield_now().await;
            self.0.advance(LONG);
        }
        Ok(())
    }
}

#[test]
fn a_method_does_not_begin_after_its_deadline_behind_an_interceptor_that_waits() {
    let clock = Clock::paused();
    let running = Running::new(Interceptors::default(), |options| {
        options.clock = clock.clone();
        options.interceptors = Interceptors::default().and_async(Late(clock));
    });
    let desk = running.desk.within(LONG / 2);
    let late = desk.double(&[1]).wait().unwrap_err();
    assert!(matches!(late, CallError::Deadline { .. }), "{late}");
    assert_eq!(late.outcome(), Outcome::DidNotRun);
    // Other calls have time.
    running.desk.within(LONG * 2).double(&[1]).wait().unwrap();
    running.until_idle();
}

#[test]
fn calls_within_interceptors_wait_for_a_server_that_comes_back() {
    for (act, name) in [(Act::Pass, "pass"), (Act::Yield, "yield")] {
        let address = format!("inproc://interceptors-{name}");
        let (server, serving) = serve(&address);
        let interceptor = Scripted::new(act);
        let mut options = ClientOptions::default();
        options.interceptors = Interceptors::default().and_async(Shared(interceptor.clone()));
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
        assert_eq!(desk.double(&[1]).wait().unwrap().get(), &[2]);
        serving.stop();
        drop(server);
        until(|| matches!(client.state(), ConnectionState::Lost { .. }));
        let call = desk.double(&[2]);
        let waits = std::thread::spawn(move || call.wait().unwrap().get().to_vec());
        let _served = serve(&address);
        assert_eq!(waits.join().unwrap(), [4]);
        let ended = interceptor.ended();
        assert_eq!(
            ended,
            [("double".to_owned(), Ok(())), ("double".to_owned(), Ok(()))]
        );
    }
}

#[test]
fn calls_of_a_set_pass_the_interceptors_of_its_options() {
    for (act, name) in [(Act::Pass, "pass"), (Act::Yield, "yield")] {
        let servers = [1, 2].map(|number| serve(&format!("inproc://set-{name}-{number}")));
        let addresses = servers.iter().map(|(_, serving)| serving.address().clone());
        let interceptor = Scripted::new(act);
        let mut options = SetOptions::default();
        options.client.interceptors =
            Interceptors::default().and_async(Shared(interceptor.clone()));
        let list = AddressList::new(addresses).unwrap();
        let set = ClientSet::open_with(list, &options).unwrap();
        let desk = set.get::<dyn Desk>("desk");
        for number in 0..20 {
            let reply = desk.double(&[number]).wait().unwrap();
            assert_eq!(reply.get(), &[number * 2]);
        }
        interceptor.set(Act::Deny);
        let denied = desk.double(&[1]).wait().unwrap_err();
        assert!(matches!(denied, CallError::Denied { .. }), "{denied}");
        assert_eq!(interceptor.ended().len(), 20);
    }
}

#[test]
fn results_of_calls_that_wait_in_interceptors_are_named_later() {
    let interceptor = Scripted::new(Act::Pass);
    let running = Running::at_client(&interceptor);
    // The call is sent at once, so another one can name its result.
    let counter = running.desk.counter();
    let next = counter.pipelined().next();
    assert_eq!(*next.wait().unwrap().get(), 0);
    interceptor.set(Act::Gate);
    let counter = running.desk.counter();
    let unknown = counter.pipelined().next().wait().unwrap_err();
    assert!(matches!(unknown, CallError::NotGiven { .. }), "{unknown}");
    let pipelined = counter.pipelined();
    interceptor.open();
    let counter = counter.wait().unwrap();
    assert_eq!(*pipelined.next().wait().unwrap().get(), 0);
    drop((pipelined, counter));
}

#[test]
fn pipelined_calls_run_behind_interceptors_that_wait_at_the_server() {
    for act in [Act::Pass, Act::Yield] {
        let interceptor = Scripted::new(act);
        let running = Running::at_server(&interceptor);
        for _ in 0..100 {
            let counter = running.desk.counter();
            let next = counter.pipelined().next();
            assert_eq!(*next.wait().unwrap().get(), 0);
            counter.wait().unwrap();
        }
        running.until_idle();
    }
}
