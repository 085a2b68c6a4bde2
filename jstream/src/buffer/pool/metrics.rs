//! Publication of a pool's counts through the `metrics` crate.

use std::sync::Arc;

use super::{Callback, Leak, Pool, PoolStats};

impl Pool {
    /// Publishes the current counts to the program's recorder of [`metrics`], for each size that
    /// was ever requested and for the whole pool: `jstream_pool_in_use`, `jstream_pool_high_water`,
    /// `jstream_pool_mapped_bytes`, `jstream_pool_heap_bytes`, `jstream_pool_fallbacks` and
    /// `jstream_pool_waits`, with the labels `pool` (its name) and `capacity` (in bytes, or `all`).
    ///
    /// The pool calls this method when it grows, and when it is low. Taking and returning buffers
    /// publishes nothing. When the last handle of the pool is dropped, the buffers still in use are
    /// added to `jstream_pool_leaked_jbufs` and `jstream_pool_leaked_bytes`, with the label `pool`.
    pub fn publish(&self) {
        let name = &self.options().name;
        for class in self.class_stats() {
            publish(name, class.capacity.to_string().into(), class.stats);
        }
        publish(name, Arc::from("all"), self.stats());
    }
}

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

fn publish(pool: &Arc<str>, capacity: Arc<str>, stats: PoolStats) {
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
