//! The environment of a case: threads over a real device, or a simulation.

use std::error::Error;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use jstream::buffer::{MessageBuffer, Pool, PoolOptions};
use jstream_transport::sim::{self, Settings, Simulation, Stuck};
#[cfg(feature = "tls")]
use jstream_transport::tls::Tls;
use jstream_transport::{
    Address, ConnectError, Endpoint, Incoming, Listener, Options, connect, listen,
};

/// A timeout longer than any operation of these cases, so that a hang becomes a failure.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// The result of a case. An error is acceptable in a simulation with faults, and a failure without
/// faults.
pub(crate) type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// One run of a case.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) scheme: &'static str,
    /// True if the addresses are paths, where names are usual.
    has_paths: bool,
    kind: Kind,
    pools: Arc<Mutex<Vec<Pool>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Every task is a thread.
    Threads,
    /// A simulation without faults.
    Whole,
    /// A simulation in which connections break, but no bytes change.
    Breaking,
    /// A simulation in which bytes change.
    Corrupting,
}

impl Host {
    /// Creates a host for a scheme, such as `shm`, or for its addresses with a path, `shm_path`.
    fn new(scheme: &'static str, kind: Kind) -> Self {
        let name = scheme.strip_suffix("_path");
        Self {
            scheme: name.unwrap_or(scheme),
            has_paths: name.is_some(),
            kind,
            pools: Arc::default(),
        }
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.kind != Kind::Threads
    }

    /// Returns the first number on threads, and the second, smaller one in simulations, of which
    /// there are many.
    pub(crate) fn scaled<T>(&self, threads: T, simulated: T) -> T {
        if self.is_simulated() {
            simulated
        } else {
            threads
        }
    }

    /// Returns options with timeouts that a slow case does not reach.
    pub(crate) fn options(&self) -> Options {
        self.options_with(PoolOptions::default())
    }

    pub(crate) fn options_with(&self, pool: PoolOptions) -> Options {
        let pool = self.register(Pool::new(pool));
        let mut options = Options::new(pool);
        options.handshake_timeout = LONG;
        options.message_timeout = LONG;
        options.connect_timeout = LONG;
        options.send_timeout = LONG;
        if self.is_simulated() {
            options.spin = Duration::ZERO;
        }
        #[cfg(feature = "tls")]
        {
            let (identity, roots) = testing::certificates::local();
            let (chain, key) = (identity.chain.as_bytes(), identity.key.as_bytes());
            let tls = Tls::from_pem(chain, key, roots.as_bytes());
            options.tls = Some(tls.unwrap());
        }
        options
    }

    /// Returns a pool whose jbufs must be back at the end of the case.
    pub(crate) fn pool(&self) -> Pool {
        self.register(Pool::default())
    }

    fn register(&self, pool: Pool) -> Pool {
        self.pools.lock().unwrap().push(pool.clone());
        pool
    }

    /// Returns an unused address.
    pub(crate) fn address(&self) -> Address {
        fresh(self.scheme, self.has_paths)
    }

    pub(crate) fn listen(
        &self,
        options: &Options,
    ) -> Result<Listener, Box<dyn Error + Send + Sync>> {
        Ok(listen(&self.address(), options)?)
    }

    /// Returns both ends of a connection: the end that connected, then the end that accepted.
    pub(crate) async fn pair(
        &self,
        client: &Options,
        server: &Options,
    ) -> Result<(Endpoint, Endpoint), Box<dyn Error + Send + Sync>> {
        let listener = Arc::new(self.listen(server)?);
        self.join(&listener, client).await
    }

    /// Connects to `listener` and accepts the connection.
    pub(crate) async fn join(
        &self,
        listener: &Arc<Listener>,
        client: &Options,
    ) -> Result<(Endpoint, Endpoint), Box<dyn Error + Send + Sync>> {
        let address = listener.local_address().clone();
        let accepting = {
            let (listener, host) = (Arc::clone(listener), self.clone());
            self.spawn("accepts", async move {
                let incoming = host.accept(&listener).await?;
                Ok::<_, Box<dyn Error + Send + Sync>>(incoming.establish()?)
            })
        };
        let connected = self.connect(&address, client).await;
        if connected.is_err() {
            // A connection may never arrive.
            listener.closer().close();
        }
        let accepted = accepting.await;
        Ok((connected?, accepted?))
    }

    pub(crate) async fn connect(
        &self,
        address: &Address,
        options: &Options,
    ) -> Result<Endpoint, ConnectError> {
        connect(address, options)
    }

    pub(crate) async fn accept(
        &self,
        listener: &Listener,
    ) -> Result<Incoming, Box<dyn Error + Send + Sync>> {
        Ok(listener.accept_async().await?)
    }

    /// Runs `future` concurrently with this task.
    pub(crate) fn spawn<T, F>(&self, name: &str, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        if self.is_simulated() {
            return Task::Simulated(sim::spawn(name, future));
        }
        let done = Arc::new(Done::default());
        let there = Arc::clone(&done);
        let body = move || {
            let _done = there;
            let _rings = Rings(&_done);
            block_on(future)
        };
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(body)
            .unwrap();
        Task::Thread(Some(thread), done)
    }

    /// Pauses this task: for a fixed time on threads, for a time that depends on the seed in a
    /// simulation.
    pub(crate) async fn pause(&self) {
        if self.is_simulated() {
            sim::sleep(Duration::from_millis(3)).await;
        } else {
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Pauses this task briefly.
    pub(crate) async fn pause_for(&self, turns: u64) {
        for _ in 0..turns % 5 {
            if self.is_simulated() {
                sim::sleep(Duration::from_micros(100)).await;
            } else {
                thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// Checks that the received bytes are the sent bytes. Only a fault that changes bytes excuses a
    /// difference.
    pub(crate) fn intact(&self, same: bool, what: impl FnOnce() -> String) -> Outcome {
        if same {
            return Ok(());
        }
        let what = what();
        assert_eq!(self.kind, Kind::Corrupting, "{what}");
        Err(what.into())
    }
}

/// Returns an error if the condition is false, which a fault may excuse.
macro_rules! ensure {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err(format!($($what)+).into());
        }
    };
}
pub(crate) use ensure;

/// Returns an unused address.
fn fresh(scheme: &str, has_path: bool) -> Address {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let uri = match scheme {
        _ if has_path => {
            let folder = std::env::temp_dir();
            format!(
                "{scheme}://{}/jstream-conformance-{process}-{number}",
                folder.display()
            )
        }
        "tcp" | "uring" | "tls" => format!("{scheme}://127.0.0.1:0"),
        "uds" => format!("uds://@jstream-conformance-{process}-{number}"),
        _ => format!("{scheme}://conformance-{process}-{number}"),
    };
    uri.parse().unwrap()
}

/// Returns a jbuf with `bytes`.
pub(crate) fn filled(pool: &Pool, bytes: &[u8]) -> MessageBuffer {
    pool.take(bytes.len()).unwrap().copy_from(bytes).unwrap()
}

/// A concurrent task. As a future, it returns the output of the task.
pub(crate) enum Task<T> {
    Simulated(sim::Task<T>),
    Thread(Option<JoinHandle<T>>, Arc<Done>),
}

#[derive(Default)]
pub(crate) struct Done(Mutex<(bool, Option<Waker>)>);

/// Wakes the waiting task when its thread ends, even by a panic.
struct Rings<'d>(&'d Done);

impl Drop for Rings<'_> {
    fn drop(&mut self) {
        let mut done = self.0.0.lock().unwrap();
        done.0 = true;
        if let Some(waker) = done.1.take() {
            waker.wake();
        }
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match self.get_mut() {
            Self::Simulated(task) => Pin::new(task).poll(context),
            Self::Thread(thread, done) => {
                let mut done = done.0.lock().unwrap();
                if !done.0 {
                    done.1 = Some(context.waker().clone());
                    return Poll::Pending;
                }
                match thread.take().unwrap().join() {
                    Ok(output) => Poll::Ready(output),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
    }
}

/// Runs a future to completion on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// Runs a case on threads. A hang is a failure.
pub(crate) fn on_threads<F>(scheme: &'static str, case: fn(Host) -> F)
where
    F: Future<Output = Outcome> + 'static,
{
    let (tell, told) = mpsc::channel();
    let name = thread::current().name().unwrap_or("case").to_owned();
    let thread = thread::Builder::new().name(name).spawn(move || {
        let host = Host::new(scheme, Kind::Threads);
        let pools = Arc::clone(&host.pools);
        let outcome = block_on(case(host));
        tell.send(()).unwrap();
        outcome.unwrap();
        all_back(&pools);
    });
    let thread = thread.unwrap();
    let timed_out = Err(mpsc::RecvTimeoutError::Timeout);
    assert_ne!(told.recv_timeout(LONG), timed_out, "it hangs");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs a case in many simulations (`JSTREAM_SCHEDULES`, or 25 times the effort of the tests). Half
/// of them have no faults, in a quarter connections break, and in a quarter bytes change.
pub(crate) fn in_simulations<F>(case: fn(Host) -> F)
where
    F: Future<Output = Outcome> + 'static,
{
    let schedules = match std::env::var("JSTREAM_SCHEDULES") {
        Ok(number) => number.parse().unwrap(),
        Err(_) => 25 * u64::from(testing::effort()),
    };
    for seed in 0..schedules {
        let kind = match seed % 4 {
            2 => Kind::Breaking,
            3 => Kind::Corrupting,
            _ => Kind::Whole,
        };
        let ran = std::panic::catch_unwind(|| simulate(case, seed, kind));
        if let Err(panic) = ran {
            eprintln!("seed {seed}, {kind:?}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Runs a simulation, and returns its result and its trace for comparison.
pub(crate) fn simulate<F>(case: fn(Host) -> F, seed: u64, kind: Kind) -> (String, u64)
where
    F: Future<Output = Outcome> + 'static,
{
    let mut settings = Settings::new(seed);
    settings.max_steps = 2_000_000;
    settings.faults = faults(kind);
    let mut simulation = Simulation::new(settings);
    let host = Host::new("sim", kind);
    let pools = Arc::clone(&host.pools);
    let outcome = simulation.run(async move {
        let case = case(host);
        if kind == Kind::Corrupting {
            // A changed length can make a receiver wait for bytes that never arrive.
            unless(case, sim::sleep(Duration::from_secs(24 * 3600))).await
        } else {
            case.await
        }
    });
    all_back(&pools);
    let words = match outcome {
        Ok(Ok(())) => "done".into(),
        Ok(Err(error)) => {
            assert_ne!(kind, Kind::Whole, "error without a fault: {error}");
            error.to_string()
        }
        Err(stuck @ Stuck::Deadlock { .. }) => panic!("{stuck}"),
        Err(stuck) => panic!("{stuck}"),
    };
    (words, simulation.trace())
}

fn faults(kind: Kind) -> sim::Faults {
    let mut faults = match kind {
        Kind::Breaking => sim::Faults::ALL,
        _ => sim::Faults::NONE,
    };
    faults.corrupt = if kind == Kind::Corrupting { 500 } else { 0 };
    faults
}

/// Returns both outputs. Polls both futures, because a posted operation makes progress only when it
/// is polled.
pub(crate) async fn both<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut two) = (None, None);
    std::future::poll_fn(|context| {
        if one.is_none() {
            one = ready(first.as_mut().poll(context));
        }
        if two.is_none() {
            two = ready(second.as_mut().poll(context));
        }
        match (one.take(), two.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (one, two) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Returns the output of `future`, or an error if `end` is ready first.
async fn unless(future: impl Future<Output = Outcome>, end: impl Future<Output = ()>) -> Outcome {
    let (mut future, mut end) = (pin!(future), pin!(end));
    std::future::poll_fn(|context| {
        if let Poll::Ready(outcome) = future.as_mut().poll(context) {
            return Poll::Ready(outcome);
        }
        end.as_mut()
            .poll(context)
            .map(|()| Err("the case did not end".into()))
    })
    .await
}

/// Checks that every jbuf is back in its pool.
fn all_back(pools: &Mutex<Vec<Pool>>) {
    // Threads that end connections may take a moment.
    let late = Condvar::new();
    let mut pools = pools.lock().unwrap();
    for _ in 0..200 {
        if pools.iter().all(|pool| pool.stats().in_use == 0) {
            return;
        }
        pools = late
            .wait_timeout(pools, Duration::from_millis(10))
            .unwrap()
            .0;
    }
    let in_use: Vec<_> = pools.iter().map(|pool| pool.stats().in_use).collect();
    panic!("jbufs still in use: {in_use:?}");
}
