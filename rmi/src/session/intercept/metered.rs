//! Metrics of calls.

use std::sync::Arc;

use crate::session::intercept::interceptor::{CallEnd, CallInfo, Denied, Interceptor, Side, Watch};
use crate::session::intercept::traced::name;

/// An interceptor that reports each call to the recorder of [`metrics`], with the labels `side`
/// (`caller` or `callee`), `interface` and `method`:
///
/// | name | kind | |
/// |---|---|---|
/// | `jstream_calls` | counter | ended calls, with label `outcome` (see [`Traced`](super::Traced)) |
/// | `jstream_calls_in_flight` | gauge | calls that have not ended |
/// | `jstream_call_seconds` | histogram | duration |
/// | `jstream_call_argument_bytes`, `jstream_call_result_bytes` | counters | bytes sent |
#[derive(Debug, Clone, Copy, Default)]
pub struct Metered;

type Labels = Arc<[metrics::Label]>;

fn labels(call: &CallInfo) -> Labels {
    let side = match call.side {
        Side::Caller => "caller",
        Side::Callee => "callee",
    };
    [
        ("side", side),
        ("interface", call.interface),
        ("method", call.method),
    ]
    .map(|(key, value)| metrics::Label::from_static_parts(key, value))
    .into()
}

impl Interceptor for Metered {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        let labels = labels(call);
        metrics::gauge!("jstream_calls_in_flight", labels.to_vec()).increment(1.0);
        Ok(Box::new(Counted(labels)))
    }
}

struct Counted(Labels);

impl Watch for Counted {
    fn after(&self, call: &CallInfo, end: &CallEnd) {
        let labels = &self.0;
        metrics::gauge!("jstream_calls_in_flight", labels.to_vec()).decrement(1.0);
        let outcome = metrics::Label::from_static_parts("outcome", name(end.result));
        let with_outcome: Vec<_> = labels.iter().cloned().chain([outcome]).collect();
        metrics::counter!("jstream_calls", with_outcome).increment(1);
        metrics::histogram!("jstream_call_seconds", labels.to_vec()).record(end.time.as_secs_f64());
        metrics::counter!("jstream_call_argument_bytes", labels.to_vec()).increment(call.bytes);
        metrics::counter!("jstream_call_result_bytes", labels.to_vec()).increment(end.bytes);
    }
}
