//! Publication of a pool's counts through the `metrics` crate.

use std::sync::Arc;

use super::callback::Callback;
use super::stats::{Leak, PoolStats};

/// Publishes the buffers that were in use when a pool was closed. Catches a panic of the recorder.
pub(super) fn leaked(pool: &Arc<str>, leak: Leak) {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Callback::new({
        let labels = [("pool", pool.clone())];
        move |leak: Leak| {
            metrics::counter!("jstream_pool_leaked_jbufs", &labels).increment(count(leak.jbufs));
            metrics::counter!("jstream_pool_leaked_bytes", &labels).increment(count(leak.bytes));
        }
    })
    .call(leak);
}

/// Publishes the current counts of one size, or of all.
pub(super) fn publish(pool: &Arc<str>, capacity: Arc<str>, stats: PoolStats) {
    let labels = [("pool", pool.clone()), ("capacity", capacity)];
    let gauges = [
        ("jstream_pool_in_use", stats.in_use),
        ("jstream_pool_high_water", stats.high_water),
        ("jstream_pool_mapped_bytes", stats.mapped),
        ("jstream_pool_heap_bytes", stats.on_heap),
    ];
    for (name, value) in gauges {
        #[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
        metrics::gauge!(name, &labels).set(value as f64);
    }
    metrics::counter!("jstream_pool_fallbacks", &labels).absolute(stats.fallbacks);
    metrics::counter!("jstream_pool_waits", &labels).absolute(stats.waits);
}
