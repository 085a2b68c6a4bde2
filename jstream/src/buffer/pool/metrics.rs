//! The counters of a pool, for the exporter that the program has.

use std::sync::Arc;

use super::{Pool, PoolStats};

impl Pool {
    /// Tells the program's recorder of [`metrics`] this moment's counts, of each size that was ever
    /// asked for, and of all: `jstream_pool_in_use`, `jstream_pool_high_water`,
    /// `jstream_pool_mapped_bytes`, `jstream_pool_heap_bytes`, `jstream_pool_fallbacks` and
    /// `jstream_pool_waits`, with the labels `pool` (its name) and `capacity` (in bytes, or `all`).
    ///
    /// The pool does so itself when it grows. Taking and giving back tell nothing.
    pub fn publish(&self) {
        let name = &self.options().name;
        for class in self.class_stats() {
            publish(name, class.capacity.to_string().into(), class.stats);
        }
        publish(name, Arc::from("all"), self.stats());
    }
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
