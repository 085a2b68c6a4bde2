//! Layers of tower around all calls of a client or a server.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use jstream_rmi::{
    CallError, CallRequest, CallResponse, CallService, Client, ClientOptions, Interceptors,
    Outcome, Server, ServerOptions, remote,
};
use testing::until;
use tower::retry::Policy;
use tower::{Service, ServiceBuilder};

#[remote]
trait Desk {
    fn length(&self, numbers: &[u64]) -> u64;
    async fn hold(&self);
    #[remote(idempotent)]
    fn fails_first(&self, numbers: &[u64]) -> u64;
    fn fails_first_once(&self);
}

struct Plain {
    gate: tokio::sync::Semaphore,
    running: AtomicUsize,
    most_running: AtomicUsize,
    count: AtomicUsize,
}

struct Runs<'p>(&'p Plain);

impl Drop for Runs<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

#[remote]
impl Desk for Plain {
    fn length(&self, numbers: &[u64]) -> u64 {
        numbers.len() as u64
    }

    async fn hold(&self) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        let _runs = Runs(self);
        self.most_running.fetch_max(running, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
    }

    fn fails_first(&self, numbers: &[u64]) -> u64 {
        assert!(
            self.count.fetch_add(1, Ordering::SeqCst) > 0,
            "as it should"
        );
        numbers.len() as u64
    }

    fn fails_first_once(&self) {
        self.fails_first(&[]);
    }
}

struct Running {
    server: Server,
    plain: Arc<Plain>,
    desk: DeskStub,
}

impl Running {
    fn new(client: Interceptors, server: Interceptors) -> Self {
        let mut options = ServerOptions::default();
        options.interceptors = server;
        let server = Server::new(options);
        let plain = Arc::new(Plain {
            gate: tokio::sync::Semaphore::new(0),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
        });
        server.bind::<dyn Desk>("desk", plain.clone()).unwrap();
        let serving = server
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let mut options = ClientOptions::default();
        options.interceptors = client;
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let desk = client.lookup::<dyn Desk>("desk").wait().unwrap();
        // The server listens until the process ends.
        std::mem::forget(serving);
        Self {
            server,
            plain,
            desk,
        }
    }

    fn running(&self) -> usize {
        self.plain.running.load(Ordering::SeqCst)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn a_timeout_of_tower_ends_all_methods_at_the_client() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let layer = ServiceBuilder::new().timeout(Duration::from_millis(50));
    let running = Running::new(
        Interceptors::default().layer(&layer.into_inner()),
        Interceptors::default(),
    );
    let late = runtime
        .block_on(async { running.desk.hold().await })
        .unwrap_err();
    assert!(
        matches!(
            &late,
            CallError::Layer {
                outcome: Outcome::MayHaveRun,
                ..
            }
        ),
        "{late}"
    );
    // The method is cancelled with its call.
    until(|| running.running() == 0);
    let length = runtime.block_on(async { running.desk.length(&[1, 2]).await });
    assert_eq!(*length.unwrap().get(), 2);
}

#[test]
fn a_timeout_of_tower_ends_async_methods_at_the_server() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let layer = ServiceBuilder::new().timeout(Duration::from_millis(50));
    let running = Running::new(
        Interceptors::default(),
        Interceptors::default().layer(&layer.into_inner()),
    );
    drop(_entered);
    let late = running.desk.hold().wait().unwrap_err();
    assert!(
        matches!(
            &late,
            CallError::Deadline {
                outcome: Outcome::MayHaveRun,
                ..
            }
        ),
        "{late}"
    );
    until(|| running.running() == 0);
    assert_eq!(*running.desk.length(&[1, 2]).wait().unwrap().get(), 2);
    until(|| running.server.health().waiting == 0);
}

#[test]
fn a_limit_of_concurrent_calls_holds_for_all_calls_of_either_side() {
    let layer = || Interceptors::default().layer(&tower::limit::ConcurrencyLimitLayer::new(2));
    for running in [
        Running::new(layer(), Interceptors::default()),
        Running::new(Interceptors::default(), layer()),
    ] {
        let calls: Vec<_> = (0..6).map(|_| running.desk.hold()).collect();
        let waits = std::thread::spawn(move || {
            jstream_sync::parker::block_on(async {
                let mut calls: Vec<_> = calls.into_iter().map(Box::pin).collect();
                std::future::poll_fn(|context| {
                    calls.retain_mut(|call| match call.as_mut().poll(context) {
                        std::task::Poll::Ready(result) => {
                            result.unwrap();
                            false
                        }
                        std::task::Poll::Pending => true,
                    });
                    match calls.is_empty() {
                        true => std::task::Poll::Ready(()),
                        false => std::task::Poll::Pending,
                    }
                })
                .await;
            });
        });
        until(|| running.running() == 2);
        for _ in 0..6 {
            until(|| running.running() > 0);
            running.plain.gate.add_permits(1);
        }
        waits.join().unwrap();
        assert_eq!(running.plain.most_running.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn a_call_that_nobody_waits_for_does_not_block_others() {
    let layer = Interceptors::default().layer(&tower::limit::ConcurrencyLimitLayer::new(1));
    let running = Running::new(layer, Interceptors::default());
    let held = running.desk.hold();
    until(|| running.running() == 1);
    // The first waits for the end of the held call, and nobody polls it.
    let unpolled = running.desk.length(&[1]);
    let waiting = running.desk.length(&[1, 2]);
    let waits = std::thread::spawn(move || *waiting.wait().unwrap().get());
    running.plain.gate.add_permits(1);
    held.wait().unwrap();
    assert_eq!(waits.join().unwrap(), 2);
    assert_eq!(*running.desk.length(&[]).wait().unwrap().get(), 0);
    assert_eq!(*unpolled.wait().unwrap().get(), 1);
}

#[test]
fn load_shedding_refuses_calls_before_they_are_sent() {
    let layer = ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(1)
        .into_inner();
    let running = Running::new(
        Interceptors::default().layer(&layer),
        Interceptors::default(),
    );
    let held = running.desk.hold();
    until(|| running.running() == 1);
    let shed = running.desk.length(&[]).wait().unwrap_err();
    assert!(
        matches!(
            &shed,
            CallError::Layer {
                outcome: Outcome::DidNotRun,
                ..
            }
        ),
        "{shed}"
    );
    running.plain.gate.add_permits(1);
    held.wait().unwrap();
    assert_eq!(*running.desk.length(&[1]).wait().unwrap().get(), 1);
}

/// Polls each call for the first time with a waker that panics.
#[derive(Clone)]
struct PanickingWaker;

impl Wake for PanickingWaker {
    fn wake(self: Arc<Self>) {
        panic!("as it should");
    }
}

struct WakesWrongly<S>(S);

impl<S> Service<CallRequest> for WakesWrongly<S>
where
    S: Service<CallRequest, Response = CallResponse, Error = CallError>,
    S::Future: Send + 'static,
{
    type Response = CallResponse;
    type Error = CallError;
    type Future = Pin<Box<dyn Future<Output = Result<CallResponse, CallError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: CallRequest) -> Self::Future {
        let mut call = Box::pin(self.0.call(request));
        let mut waker = Some(Waker::from(Arc::new(PanickingWaker)));
        Box::pin(poll_fn(move |context| match waker.take() {
            Some(waker) => call.as_mut().poll(&mut Context::from_waker(&waker)),
            None => call.as_mut().poll(context),
        }))
    }
}

#[test]
fn a_waker_that_panics_harms_no_call_that_was_sent() {
    let layer = tower::layer::layer_fn(WakesWrongly::<CallService>);
    let running = Running::new(
        Interceptors::default().layer(&layer),
        Interceptors::default(),
    );
    assert_eq!(*running.desk.length(&[1, 2]).wait().unwrap().get(), 2);
}

/// Repeats each call that has failed, once.
#[derive(Clone)]
struct OnceMore(bool);

impl Policy<CallRequest, CallResponse, CallError> for OnceMore {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut CallRequest,
        result: &mut Result<CallResponse, CallError>,
    ) -> Option<Self::Future> {
        let repeats = result.is_err() && !std::mem::replace(&mut self.0, true);
        repeats.then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &CallRequest) -> Option<CallRequest> {
        Some(request.clone())
    }
}

fn retry() -> Interceptors {
    Interceptors::default().layer(&tower::retry::RetryLayer::new(OnceMore(false)))
}

#[test]
fn a_repeated_call_is_made_again_if_its_arguments_were_kept() {
    let running = Running::new(retry().keeping_arguments(), Interceptors::default());
    assert_eq!(*running.desk.fails_first(&[1, 2]).wait().unwrap().get(), 2);
    assert_eq!(running.plain.count.load(Ordering::SeqCst), 2);
}

#[test]
fn a_repeated_call_fails_if_its_arguments_were_not_kept() {
    let running = Running::new(retry(), Interceptors::default());
    let failed = running.desk.fails_first_once().wait().unwrap_err();
    assert!(failed.to_string().contains("keeping_arguments"), "{failed}");
    assert_eq!(failed.outcome(), Outcome::MayHaveRun);
    assert_eq!(running.plain.count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_repeated_call_fails_if_the_first_may_have_run() {
    let running = Running::new(retry().keeping_arguments(), Interceptors::default());
    let failed = running.desk.fails_first_once().wait().unwrap_err();
    assert!(failed.to_string().contains("idempotent"), "{failed}");
    assert_eq!(failed.outcome(), Outcome::MayHaveRun);
    assert!(!failed.can_be_repeated());
    assert_eq!(running.plain.count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_layer_of_the_server_runs_a_method_once() {
    let running = Running::new(Interceptors::default(), retry());
    let failed = running.desk.fails_first(&[1]).wait().unwrap_err();
    assert!(matches!(failed, CallError::Panicked { .. }), "{failed}");
    assert_eq!(running.plain.count.load(Ordering::SeqCst), 1);
    assert_eq!(*running.desk.fails_first(&[1]).wait().unwrap().get(), 1);
}
