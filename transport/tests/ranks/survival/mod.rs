//! Ranks that fail: communicators are revoked, and the survivors agree and go on.

mod agreement;
mod revocation;
mod shrinking;

use std::time::Duration;

use jstream_transport::rank::{Error, Options};

/// Options with a timeout that ends a test which hangs.
fn brief() -> Options {
    let mut options = Options::default();
    options.collective_timeout = Duration::from_secs(60);
    options
}

/// Returns the context and the rank that an error of a revoked communicator names.
fn revocation(error: &Error) -> Option<(u32, u32)> {
    match error {
        Error::Revoked { context, rank } => Some((*context, *rank)),
        Error::Collective { source, .. } => revocation(source),
        _ => None,
    }
}
