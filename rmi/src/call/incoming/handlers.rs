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
        // Lent: the handler takes the request only when the method starts. Moving the request
        // through each function would copy it each time.
        .on_lent(CALLS, |request| {
            called(request);
            Outcome::Done
        })
        // The bits of the word which say that a call names others or has metadata. Calls without
        // these skip `admit`.
        .in_order(ordered, admit)
        .on(STREAMS, streamed)
        // These handlers wait for nothing, so they run at any depth of nesting: a thread that waits
        // deep in the stack for credit or an answer depends on them.
        .short()
        .on(REFERENCES, referenced)
        .short()
        .on(MOVING, moving)
        .in_order(u64::MAX, retire)
        .short()
        .executor(executor)
        .build()
}
