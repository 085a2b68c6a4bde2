//! Mark of the processes that a job has on a host.
//!
//! Decision 095 has the reasons.

use std::io;

use jstream_transport::rank::world::Session;

/// A random value in the environment of the processes that a job has on one host.
///
/// The session of the world would not do: two agents of a job may be on one host, and the guard of
/// the one that ends first must not kill the processes of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// The environment variable with the mark.
    pub(crate) const VARIABLE: &str = "JRUN_JOB";

    pub(crate) fn new() -> io::Result<Self> {
        // A session is a random number, too.
        Ok(Self(Session::new()?.to_string()))
    }

    /// Returns the mark with this value. `None` if it is empty.
    pub(crate) fn of_value(value: &str) -> Option<Self> {
        (!value.is_empty()).then(|| Self(value.to_owned()))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }
}
