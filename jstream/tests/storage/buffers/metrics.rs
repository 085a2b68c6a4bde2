//! Metrics of a pool, as the recorder of a program receives them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jstream::buffer::{Pool, PoolOptions, WhenLow};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit, with_local_recorder,
};

/// Metric values by name and labels: `name{label=value,...}`.
#[derive(Clone, Default)]
struct Values(Arc<Mutex<BTreeMap<String, f64>>>);

impl Values {
    fn get(&self, name: &str, labels: &str) -> Option<f64> {
        let key = format!("{name}{{{labels}}}");
        self.0.lock().unwrap().get(&key).copied()
    }

    fn one(&self, key: &Key) -> Arc<One> {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        Arc::new(One {
            values: self.clone(),
            key: format!("{}{{{}}}", key.name(), labels.join(",")),
        })
    }
}

struct One {
    values: Values,
    key: String,
}

impl One {
    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut values = self.values.0.lock().unwrap();
        let value = values.entry(self.key.clone()).or_default();
        *value = change(*value);
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.change(|sum| sum + value as f64);
    }

    fn absolute(&self, value: u64) {
        self.change(|_| value as f64);
    }
}

impl GaugeFn for One {
    fn increment(&self, value: f64) {
        self.change(|sum| sum + value);
    }

    fn decrement(&self, value: f64) {
        self.change(|sum| sum - value);
    }

    fn set(&self, value: f64) {
        self.change(|_| value);
    }
}

impl Recorder for Values {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.one(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn pool(name: &str) -> Pool {
    let mut options = PoolOptions::default();
    options.name = Arc::from(name);
    options.max_mapped = 256 * 1024;
    options.when_low = WhenLow::Heap { max_bytes: 1000 };
    Pool::new(options)
}

#[test]
fn what_a_pool_counts_is_exported() {
    let values = Values::default();
    with_local_recorder(&values, || {
        let pool = pool("wire");
        let jbufs = [pool.take(100_000).unwrap(), pool.take(100_000).unwrap()];
        let of_size = "pool=wire,capacity=131072";
        // The pool publishes its metrics when it grows.
        assert_eq!(values.get("jstream_pool_high_water", of_size), Some(2.0));
        assert_eq!(
            values.get("jstream_pool_mapped_bytes", of_size),
            Some(262_144.0)
        );
        let heap = pool.take(700).unwrap();
        assert!(pool.take(700).is_err());
        // The pool publishes its metrics when it runs low.
        let all = "pool=wire,capacity=all";
        let small = "pool=wire,capacity=1024";
        assert_eq!(values.get("jstream_pool_fallbacks", small), Some(1.0));
        assert_eq!(values.get("jstream_pool_fallbacks", all), Some(1.0));
        assert_eq!(values.get("jstream_pool_heap_bytes", all), Some(768.0));
        assert_eq!(values.get("jstream_pool_waits", all), Some(0.0));
        assert_eq!(values.get("jstream_pool_in_use", all), Some(2.0));
        drop((jbufs, heap));
        pool.publish();
        assert_eq!(values.get("jstream_pool_in_use", of_size), Some(0.0));
        assert_eq!(values.get("jstream_pool_heap_bytes", all), Some(0.0));
        assert_eq!(values.get("jstream_pool_high_water", all), Some(2.0));
        drop(pool);
        assert_eq!(
            values.get("jstream_pool_leaked_jbufs", "pool=wire"),
            None,
            "no buffer was in use"
        );
    });
}

#[test]
fn leaks_are_exported() {
    let values = Values::default();
    with_local_recorder(&values, || {
        for _ in 0..2 {
            let pool = pool("leaky");
            let out = [pool.take(300).unwrap(), pool.take(400).unwrap()];
            drop(pool);
            drop(out);
        }
    });
    let label = "pool=leaky";
    assert_eq!(values.get("jstream_pool_leaked_jbufs", label), Some(4.0));
    assert_eq!(
        values.get("jstream_pool_leaked_bytes", label),
        Some(4.0 * 512.0)
    );
}

/// A recorder that panics at each metric.
struct Broken;

impl Recorder for Broken {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        panic!("no counters")
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("no gauges")
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("no histograms")
    }
}

#[test]
fn a_recorder_that_panics_does_no_harm() {
    with_local_recorder(&Broken, || {
        let pool = Pool::default();
        let jbuf = pool.take(300).unwrap();
        assert_eq!(pool.stats().in_use, 1);
        drop(pool);
        drop(jbuf);
    });
}
