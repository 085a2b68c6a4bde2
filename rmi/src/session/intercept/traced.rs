//! `tracing` spans of calls.

use tracing::Span;

use crate::session::intercept::interceptor::{CallEnd, CallInfo, Denied, Interceptor, Side, Watch};
use crate::support::Outcome;

/// An interceptor that creates a [`tracing`] span for each call, with level DEBUG and target
/// `jstream_rmi::calls`: `jstream.call` at the caller, and `jstream.serve` at the callee, where the
/// method runs within the span.
///
/// The fields are `interface`, `method`, `object`, `peer` and `bytes` from the start, and `outcome`
/// and `result_bytes` when the call has ended. The outcome is `ok`, `did_not_run`, `may_have_run`
/// or `ran`. These names are stable.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced;

impl Interceptor for Traced {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        macro_rules! span {
            ($name:literal) => {
                tracing::debug_span!(
                    target: "jstream_rmi::calls",
                    $name,
                    interface = call.interface,
                    method = call.method,
                    object = call.object,
                    peer = %call.peer,
                    bytes = call.bytes,
                    outcome = tracing::field::Empty,
                    result_bytes = tracing::field::Empty,
                )
            };
        }
        Ok(Box::new(Spanned(match call.side {
            Side::Caller => span!("jstream.call"),
            Side::Callee => span!("jstream.serve"),
        })))
    }
}

struct Spanned(Span);

impl Watch for Spanned {
    fn run(&self, work: &mut dyn FnMut()) {
        self.0.in_scope(work);
    }

    fn after(&self, _: &CallInfo, end: &CallEnd) {
        self.0.record("outcome", name(end.result));
        self.0.record("result_bytes", end.bytes);
    }
}

/// Returns the name of an outcome in fields and labels.
pub(super) fn name(result: Result<(), Outcome>) -> &'static str {
    match result {
        Ok(()) => "ok",
        Err(Outcome::DidNotRun) => "did_not_run",
        Err(Outcome::MayHaveRun) => "may_have_run",
        Err(Outcome::Ran) => "ran",
    }
}
