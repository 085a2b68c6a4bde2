//! Handlers of the messages of a connection.
//!
//! Decision 074 has the reasons.

use std::sync::Arc;

use jstream_active::{Executor, Handlers, Outcome};

use crate::call::incoming::dispatch::called;
use crate::frame::{
    CALLS, HAS_METADATA, MOVING, PASSES_PROMISED, PROMISED, PROMISES, REFERENCES, STREAMS,
};
use crate::session::{admit, moving, referenced, retire, streamed};

/// Maximum number of plain methods that wait on threads other than the receiving ones.
pub(crate) const MOST_WAITING: usize = 16;

/// Creates the handlers of one side. Calls that are nested too deeply run on `executor`.
pub(crate) fn handlers(executor: Arc<dyn Executor>) -> Handlers {
    let ordered = u64::from(PROMISES | PROMISED | PASSES_PROMISED) | HAS_METADATA;
    Handlers::builder()
        .on_lent(CALLS, |request| {
            called(request);
            Outcome::Done
        })
        .in_order(ordered, admit)
        .on(STREAMS, streamed)
        .short()
        .on(REFERENCES, referenced)
        .short()
        .on(MOVING, moving)
        .in_order(u64::MAX, retire)
        .short()
        .executor(executor)
        .build()
}
