//! Active messages between two threads of this process over the devices: the measurements of table
//! 2 of the paper on optimistic active messages, and its ping-pong of operations that wait.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jstream_transport::active::{Guarded, Handler, Handlers, Peer, Request, Settings};
use jstream_transport::{Address, Endpoint, Header, Options, connect, listen};

use super::{Cores, SUITE};
use crate::Failure;
use crate::measure::{self, since};
use crate::suites::Bench;

/// Names of the cases, in the order in which they are run.
pub(super) const NAMES: [&str; 9] = [
    "active/inproc/4",
    "active/inproc/512",
    "active/inproc/4096",
    "active/shm/4",
    "active/shm/512",
    "active/shm/4096",
    "active/tcp/4",
    "active/tcp/4096",
    "active/shm/await",
];

/// Requests per round, enough that reading the clock does not matter.
const OPERATIONS: usize = 256;

/// Requests before these in each round.
const UNCOUNTED: usize = 16;

/// Spin time of waiting threads, far more than a request takes: the wake-up of threads is not
/// measured.
const SPIN: Duration = Duration::from_micros(200);

/// A way to run an operation on the other side.
struct Subject {
    name: &'static str,
    work: Box<dyn FnMut() -> Result<(), Failure>>,
    /// Thread of the other side, which ends when `work` is dropped.
    _server: JoinHandle<()>,
}

/// Runs the case `case`.
pub(super) fn run(bench: &mut Bench<'_>, case: &str, cores: Cores) -> Result<(), Failure> {
    let mut parts = case.split('/').skip(1);
    let scheme = parts.next().unwrap_or_default();
    let bytes = parts.next().unwrap_or_default().parse::<usize>();
    bench.progress.step(&format!("{SUITE} / {case}"));
    let mut subjects = Vec::new();
    match bytes {
        Ok(bytes) => {
            subjects.push(Box::new(bare(scheme, bytes, cores)?));
            for name in [
                "jstream",
                "jstream-async",
                "jstream-worker",
                "thread-per-call",
            ] {
                subjects.push(Box::new(requests(name, scheme, bytes, cores)?));
            }
        }
        Err(_) => {
            for name in ["jstream", "jstream-async", "jstream-worker"] {
                subjects.push(Box::new(waits(name, scheme, cores)?));
            }
        }
    }
    let times = measure::interleave(&mut subjects, &bench.effort, |subject| {
        // By then the threads of other subjects, which run on the same core, have stopped spinning.
        // So has that of this subject, which the first operations wake.
        thread::sleep(2 * SPIN);
        for _ in 0..UNCOUNTED {
            (subject.work)()?;
        }
        let begin = Instant::now();
        for _ in 0..OPERATIONS {
            (subject.work)()?;
        }
        Ok::<_, Failure>(since(begin, OPERATIONS))
    })?;
    for (subject, times) in subjects.iter().zip(times) {
        let median = times.median;
        bench.timed(case, subject.name, "rtt_p50", median, "ns", &times);
    }
    Ok(())
}

/// Returns one end of a new connection, and passes the other end to `serve` on a new thread.
fn joined(
    scheme: &str,
    cores: Cores,
    serve: impl FnOnce(Endpoint) + Send + 'static,
) -> Result<(Endpoint, JoinHandle<()>), Failure> {
    let name = format!("bench-active-{}-{:?}", std::process::id(), Instant::now());
    let address: Address = match scheme {
        "tcp" => "tcp://127.0.0.1:0".parse()?,
        "shm" => Address::shm(&name.replace(|c: char| !c.is_alphanumeric(), "-"))?,
        _ => format!(
            "inproc://{}",
            name.replace(|c: char| !c.is_alphanumeric(), "-")
        )
        .parse()?,
    };
    let mut options = Options::default();
    options.spin = SPIN;
    let listener = listen(&address, &options)?;
    let address = listener.local_address().clone();
    let server = thread::spawn(move || {
        cores.pin_other();
        let accepted = listener.accept().ok().map(|incoming| incoming.establish());
        if let Some(Ok(endpoint)) = accepted {
            serve(endpoint);
        }
    });
    Ok((connect(&address, &options)?, server))
}

/// Creates the subject that uses the endpoints directly.
fn bare(scheme: &str, bytes: usize, cores: Cores) -> Result<Subject, Failure> {
    let (endpoint, server) = joined(scheme, cores, |endpoint| {
        while endpoint.recv_message().is_ok() {
            if endpoint.send_message(Header::new(2, [0; 3]), &[]).is_err() {
                return;
            }
        }
    })?;
    let payload = vec![7; bytes];
    Ok(Subject {
        name: "endpoint",
        work: Box::new(move || {
            endpoint.send_message(Header::new(1, [0; 3]), &[IoSlice::new(&payload)])?;
            endpoint.recv_message()?;
            Ok(())
        }),
        _server: server,
    })
}

/// Returns a table with one handler that increments a number. `name` selects how the handler runs.
fn table(name: &str) -> Handlers {
    let count = Arc::new(Guarded::new(0u64));
    let builder = Handlers::builder();
    let inc = move |request: Request, count: &Guarded<u64>| {
        let mut value = count.lock();
        *value = value.wrapping_add(1);
        let now = *value;
        drop(value);
        request.reply(now, &[]);
    };
    match name {
        "jstream-async" => builder.on_async("inc", move |request| {
            let count = count.clone();
            async move { inc(request, &count) }
        }),
        "thread-per-call" => builder.on("inc", move |request| {
            let count = count.clone();
            drop(thread::spawn(move || inc(request, &count)));
        }),
        "jstream-worker" => builder
            .on("inc", move |request| inc(request, &count))
            .worker(),
        _ => builder.on("inc", move |request| inc(request, &count)),
    }
    .build()
}

fn requests(
    name: &'static str,
    scheme: &str,
    bytes: usize,
    cores: Cores,
) -> Result<Subject, Failure> {
    let (peer, server) = asked(move || table(name), scheme, cores)?;
    let inc = peer.handler("inc")?;
    let payload = vec![7; bytes];
    Ok(Subject {
        name,
        work: Box::new(move || {
            peer.request(inc, 0, &payload)?.wait()?;
            Ok(())
        }),
        _server: server,
    })
}

/// Connects the requesting side. The handlers are created on the thread that runs them, so that
/// their memory is not adjacent to that of other threads.
fn asked(
    handlers: impl FnOnce() -> Handlers + Send + 'static,
    scheme: &str,
    cores: Cores,
) -> Result<(Peer, JoinHandle<()>), Failure> {
    let (endpoint, server) = joined(scheme, cores, move |endpoint| {
        if let Ok(peer) = Peer::join(endpoint, &handlers(), Settings::default()) {
            peer.serve(None);
        }
    })?;
    let peer = Peer::join(endpoint, &Handlers::none(), Settings::default())?;
    Ok((peer, server))
}

/// Creates a subject that requests an operation that waits for the next increment, and then the
/// increment, and waits for both.
fn waits(name: &'static str, scheme: &str, cores: Cores) -> Result<Subject, Failure> {
    let (peer, server) = asked(move || waiting_table(name), scheme, cores)?;
    let (value, inc): (Handler, Handler) = (peer.handler("await value")?, peer.handler("inc")?);
    let mut turn = 0u64;
    let waits = name != "jstream";
    Ok(Subject {
        name: if waits { name } else { "ready" },
        work: Box::new(move || {
            // The subject that does not wait asks for the current value.
            let ahead = u64::from(waits);
            let waiting = peer.request(value, turn.wrapping_add(ahead), &[])?;
            peer.request(inc, 0, &[])?.wait()?;
            waiting.wait()?;
            turn = turn.wrapping_add(1);
            Ok(())
        }),
        _server: server,
    })
}

fn waiting_table(name: &str) -> Handlers {
    let count = Arc::new(Guarded::new(0u64));
    let (waited, changed) = (count.clone(), count);
    let builder = Handlers::builder().on_async("await value", move |request: Request| {
        let count = waited.clone();
        async move {
            let wanted = request.word();
            let value = *count.when(|value| *value >= wanted).await;
            request.reply(value, &[]);
        }
    });
    let builder = if name == "jstream-worker" {
        builder.worker()
    } else {
        builder
    };
    let builder = builder.on("inc", move |request| {
        let mut value = changed.lock();
        *value = value.wrapping_add(1);
        let now = *value;
        drop(value);
        request.reply(now, &[]);
    });
    builder.build()
}
