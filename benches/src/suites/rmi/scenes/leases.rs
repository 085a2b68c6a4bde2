//! Scene with a client that only keeps references to many objects.

use std::thread;
use std::time::{Duration, Instant};

use super::{Scene, is_quick};
use crate::Failure;
use crate::suites::Bench;
use crate::suites::rmi::resident::{computed, resident};
use crate::suites::rmi::with_objects::given;
use crate::suites::transport::Cores;

pub(super) const COUNT: usize = 1_000_000;

/// Duration of a lease, a thirtieth of the default.
pub(super) const LEASE: Duration = Duration::from_secs(2);

/// Runs the scene, and records the memory per reference and the processor share that each side
/// uses.
pub(super) fn run(bench: &mut Bench<'_>, name: &str, cores: Cores) -> Result<(), Failure> {
    bench.progress.step(&format!("rmi / {name}"));
    let scene = Scene::start(name, cores.other)?;
    let (_client, service) = scene.client()?;
    let before = (resident(scene.id())?, resident(None)?);
    let all = scene.during(|| given(&service))?;
    if all.len() != COUNT {
        return Err(format!("{} references arrived instead of {COUNT}", all.len()).into());
    }
    let after = (resident(scene.id())?, resident(None)?);
    let time = LEASE * if is_quick(bench) { 2 } else { 5 };
    let (start, busy) = (Instant::now(), (computed(scene.id())?, computed(None)?));
    thread::sleep(time);
    let then = (computed(scene.id())?, computed(None)?);
    let share =
        |then: u64, busy: u64| (then - busy) as f64 / start.elapsed().as_nanos() as f64 * 100.0;
    // The references are still valid.
    scene.during(|| {
        for one in all.iter().step_by(1_000) {
            one.null().wait()?;
        }
        Ok(())
    })?;
    let each = |after: usize, before| after.saturating_sub(before) as f64 / COUNT as f64;
    bench.row(name, "jstream", "bytes", each(after.0, before.0), "B");
    bench.row(
        name,
        "jstream",
        "bytes_client",
        each(after.1, before.1),
        "B",
    );
    bench.row(name, "jstream", "cpu_server", share(then.0, busy.0), "%");
    bench.row(name, "jstream", "cpu_client", share(then.1, busy.1), "%");
    let lease = LEASE.as_secs();
    bench.note(
        name,
        format!("with leases of {lease} s instead of the default of 60 s"),
    );
    Ok(())
}
