//! Where jstream's subjects are found, and how they wait.

use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jstream_transport::{Address, Options};

use super::case::{Case, Way};
use crate::Failure;

/// A name that nobody else has.
pub(super) fn name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("jstream-benches-{}-{count}", process::id())
}

/// An address that nobody else has.
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

/// How long threads look that nobody stops while others are measured. No round waits for so long.
pub(super) const SPIN: Duration = Duration::from_millis(1);

/// The same for all of jstream's subjects.
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

/// The same, where both sides trust each other.
pub(super) fn trusting(case: &Case) -> Result<Options, Failure> {
    let options = options(case)?;
    // SAFETY: both processes are of this program, which names its addresses after itself; neither
    // reaches the memory of a connection but through it, and what they fork runs a program at once.
    Ok(unsafe { options.trust_peer() })
}
