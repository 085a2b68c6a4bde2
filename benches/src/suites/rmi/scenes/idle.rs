//! Scene with clients that have looked up an object and are idle.

use std::time::Instant;

use super::{Scene, is_quick};
use crate::Failure;
use crate::measure::{Times, since};
use crate::suites::Bench;
use crate::suites::rmi::resident::resident;
use crate::suites::transport::Cores;

/// Runs the scene, and records the memory per connection and the latency of a call next to the idle
/// connections.
pub(super) fn run(bench: &mut Bench<'_>, name: &str, cores: Cores) -> Result<(), Failure> {
    bench.progress.step(&format!("rmi / {name}"));
    let count = if is_quick(bench) { 1_000 } else { 10_000 };
    let scene = Scene::start(name, cores.other)?;
    // The memory that the server allocates for its first clients is shared by all others.
    let (_client, service) = scene.client()?;
    let first = scene.clients(10)?;
    let before = (resident(scene.id())?, resident(None)?);
    let all = scene.clients(count)?;
    let after = (resident(scene.id())?, resident(None)?);
    let each = |after: usize, before| after.saturating_sub(before) as f64 / count as f64;
    let (server, client) = (each(after.0, before.0), each(after.1, before.1));
    let mut times = Vec::new();
    scene.during(|| {
        for _ in 0..1_000 {
            let start = Instant::now();
            service.null().wait()?;
            times.push(since(start, 1));
        }
        Ok(())
    })?;
    let times = Times::of(times, 1);
    bench.row(name, "jstream", "connections", count as f64, "count");
    bench.row(name, "jstream", "bytes", server, "B");
    bench.row(name, "jstream", "bytes_client", client, "B");
    bench.timed(name, "jstream", "rtt_p50", times.median, "ns", &times);
    if is_quick(bench) {
        bench.note(
            name,
            format!("with only {count} connections because of --quick"),
        );
    }
    drop((all, first));
    Ok(())
}
