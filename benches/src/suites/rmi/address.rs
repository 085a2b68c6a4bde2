//! Addresses and transport options of jstream's subjects.

use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jstream_transport::{Address, Options};

use super::case::{Case, Way};
use crate::Failure;

/// Returns a name that is unique on this machine: it contains the process id and a counter.
pub(super) fn name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("jstream-benches-{}-{count}", process::id())
}

/// Returns a unique address for the transport of the case.
pub(super) fn address(case: &Case) -> Result<Address, Failure> {
    let name = name();
    Ok(match case.way {
        Way::Inproc => Address::inproc(&name)?,
        Way::Shm => Address::shm(&name)?,
        Way::Uds => Address::uds(&format!("@{name}"))?,
        Way::Tcp => Address::tcp("127.0.0.1", 0)?,
        #[cfg(feature = "tls")]
        Way::Tls => Address::tls("127.0.0.1", 0)?,
    })
}

/// Spin time of threads in this process, which cannot be stopped while other subjects are measured.
/// No call within a round waits that long.
pub(super) const SPIN: Duration = Duration::from_millis(1);

/// Returns the transport options of all of jstream's subjects.
pub(super) fn options(case: &Case) -> Result<Options, Failure> {
    let mut options = Options::default();
    #[cfg(feature = "tls")]
    if case.way == Way::Tls {
        options.tls = Some(super::certificates::Certificates::of_run()?.tls()?);
    }
    options.spin = match (case.spins(), case.way) {
        (true, Way::Inproc) => SPIN,
        (true, _) => Duration::MAX,
        (false, _) => Duration::ZERO,
    };
    Ok(options)
}

/// Returns the options for two sides that trust each other.
pub(super) fn trusting(case: &Case) -> Result<Options, Failure> {
    let options = options(case)?;
    // SAFETY: both processes run this program, which names its addresses after its own process id.
    // Neither process accesses the memory of a connection other than through that connection. A
    // child that either process forks executes another program immediately.
    Ok(unsafe { options.trust_peer() })
}
