//! Metrics of calls.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

use jstream_rmi::{Client, ClientOptions, Interceptors, Metered, Server, ServerOptions, remote};
use testing::until;

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

#[remote]
trait Sum {
    fn add(&self, a: u64, b: u64) -> u64;
    fn fails(&self);
    #[remote(idempotent)]
    fn again(&self);
}

struct Plain;

impl Sum for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn fails(&self) {
        panic!("as it should");
    }

    fn again(&self) {}
}

/// The sums of the recorded values by name and labels.
type Values = Arc<Mutex<BTreeMap<String, f64>>>;

#[derive(Clone, Default)]
struct Kept(Values);

struct One(Values, String);

impl One {
    fn add(&self, n: f64) {
        *self.0.lock().unwrap().entry(self.1.clone()).or_default() += n;
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.add(f64::from(u32::try_from(value).unwrap()));
    }

    fn absolute(&self, _: u64) {}
}

impl GaugeFn for One {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    fn set(&self, _: f64) {}
}

impl HistogramFn for One {
    fn record(&self, _: f64) {
        self.add(1.0);
    }
}

impl Kept {
    fn one(&self, key: &Key) -> Arc<One> {
        let labels = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()));
        let labels: Vec<_> = labels.collect();
        Arc::new(One(
            self.0.clone(),
            format!("{} {}", key.name(), labels.join(" ")),
        ))
    }

    fn value(&self, name: &str) -> f64 {
        self.0
            .lock()
            .unwrap()
            .get(name)
            .copied()
            .unwrap_or(f64::NAN)
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.one(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.one(key))
    }
}

#[test]
#[allow(clippy::float_cmp, reason = "sums of small whole numbers")]
fn calls_are_counted() {
    let kept = Kept::default();
    metrics::set_global_recorder(kept.clone()).unwrap();
    let mut options = ServerOptions::default();
    options.interceptors = Interceptors::default().and(Metered);
    let server = Server::new(options);
    server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
    let serving = server.listen(&"inproc://metered".parse().unwrap()).unwrap();
    let mut options = ClientOptions::default();
    options.interceptors = Interceptors::default().and(Metered);
    let client = Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
    for n in 0..3 {
        sum.add(n, 1).wait().unwrap();
    }
    sum.fails().wait().unwrap_err();
    // When the server has stopped, it has recorded the last call too.
    let address = serving.address().clone();
    serving.stop();
    let attempts = format!("jstream_client_connect_failures address={address}");
    let call = sum.again();
    let call = thread::spawn(|| call.wait().map(drop));
    until(|| kept.value(&attempts) >= 1.0);
    let serving = server.listen(&address).unwrap();
    call.join().unwrap().unwrap();
    let reconnects = format!("jstream_client_reconnects address={address}");
    assert_eq!(kept.value(&reconnects), 1.0);
    drop((sum, client));
    serving.stop();
    let labels = |method: &str| format!("side=callee interface=Sum method={method}");
    let value = |name: &str, method: &str| kept.value(&format!("{name} {}", labels(method)));
    assert_eq!(
        kept.value(&format!("jstream_calls {} outcome=ok", labels("add"))),
        3.0
    );
    let failed = format!("jstream_calls {} outcome=may_have_run", labels("fails"));
    assert_eq!(kept.value(&failed), 1.0);
    assert_eq!(value("jstream_calls_in_flight", "add"), 0.0);
    assert_eq!(value("jstream_call_seconds", "add"), 3.0);
    assert!(value("jstream_call_argument_bytes", "add") > 0.0);
    assert!(value("jstream_call_result_bytes", "add") > 0.0);
    // The caller has written what the callee has received.
    let of_caller = "jstream_call_argument_bytes side=caller interface=Sum method=add";
    assert_eq!(
        kept.value(of_caller),
        value("jstream_call_argument_bytes", "add")
    );
}
