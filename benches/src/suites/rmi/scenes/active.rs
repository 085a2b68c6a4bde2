//! Scene with clients that call without a pause.

use std::thread;
use std::time::{Duration, Instant};

use jstream_rmi::Client;

use super::{Scene, is_quick};
use crate::Failure;
use crate::suites::Bench;
use crate::suites::rmi::with_objects::ServiceStub;
use crate::suites::transport::Cores;

/// Number of threads that share the clients.
const THREADS: usize = 4;

/// Runs the scene, and records the rate of calls of all clients together.
pub(super) fn run(bench: &mut Bench<'_>, name: &str, cores: Cores) -> Result<(), Failure> {
    bench.progress.step(&format!("rmi / {name}"));
    let (count, time) = if is_quick(bench) {
        (200, Duration::from_millis(300))
    } else {
        (1_000, Duration::from_secs(5))
    };
    let scene = Scene::start(name, cores.other)?;
    let all = scene.clients(count)?;
    let start = Instant::now();
    let calls = scene.during(|| {
        thread::scope(|scope| {
            let parts = all.chunks(count.div_ceil(THREADS));
            let callers: Vec<_> = parts
                .map(|part| scope.spawn(move || calls(part, start + time)))
                .collect();
            let each = callers.into_iter().map(|caller| {
                let calls = caller.join();
                calls.unwrap_or_else(|_| Err("a client panicked".into()))
            });
            each.sum::<Result<usize, Failure>>()
        })
    })?;
    let rate = calls as f64 / start.elapsed().as_secs_f64();
    bench.row(name, "jstream", "connections", count as f64, "count");
    bench.row(name, "jstream", "rate", rate, "1/s");
    if is_quick(bench) {
        bench.note(
            name,
            format!("with only {count} clients because of --quick"),
        );
    }
    Ok(())
}

/// Makes calls of each client in turn until `until`, and returns the number of answers. Returns an
/// error if a call fails.
fn calls(clients: &[(Client, ServiceStub)], until: Instant) -> Result<usize, Failure> {
    let mut answered = 0;
    while Instant::now() < until {
        let calls: Vec<_> = clients.iter().map(|(_, stub)| stub.null()).collect();
        for call in calls {
            call.wait()?;
            answered += 1;
        }
    }
    Ok(answered)
}
