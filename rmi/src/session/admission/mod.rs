//! Admission of calls: the number of calls that run at once, a queue for others, and quotas of the
//! callers.
//!
//! A call that arrives takes a token of its caller, and a permit to run. If as many calls run as
//! the adaptive limit allows, the call waits in the queue of its caller. The queues are served in
//! turn, so that a caller with many calls does not delay those of others. A call that is refused
//! did not run, and its caller learns when to try again.

mod callers;
mod control;
mod limit;
mod options;

pub(crate) use self::control::{AdmissionControl, Asked, CallerHandle, QueueEnd, RunPermit};
pub use self::control::{AdmissionStatus, RefusalCounts};
pub use self::options::AdmissionOptions;
