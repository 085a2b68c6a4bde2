//! Code of the program that calls run beside the methods: interceptors, subscribers of `tracing`,
//! destructors of objects, and notices. It panics, or makes calls over the connection that calls
//! it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use jstream_rmi::{
    CallEnd, CallInfo, Client, ClientOptions, Denied, Interceptor, Interceptors, Outcome, Remote,
    Server, ServerOptions, Serving, Watch, WeakServer, remote,
};
use jstream_transport::Options;
use testing::until;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[remote]
trait Part {
    fn number(&self) -> u64;
}

#[remote]
trait Service {
    fn double(&self, number: u64) -> u64;
    async fn later(&self, number: u64) -> u64;
    fn part(&self) -> Remote<dyn Part>;
}

/// An object that counts and panics when it is dropped.
struct Fragile(Arc<AtomicUsize>);

impl Part for Fragile {
    fn number(&self) -> u64 {
        7
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        assert!(thread::panicking(), "an object panics when it is dropped");
    }
}

struct Plain {
    server: WeakServer,
    dropped: Arc<AtomicUsize>,
    unreferenced: Arc<AtomicUsize>,
}

#[remote]
impl Service for Plain {
    fn double(&self, number: u64) -> u64 {
        number * 2
    }

    async fn later(&self, number: u64) -> u64 {
        jstream_transport::active::yield_now().await;
        number * 2
    }

    fn part(&self) -> Remote<dyn Part> {
        let server = self.server.upgrade().unwrap();
        let export = server.export::<dyn Part>(Arc::new(Fragile(self.dropped.clone())));
        let unreferenced = self.unreferenced.clone();
        export.when_unreferenced(move || {
            unreferenced.fetch_add(1, Ordering::SeqCst);
            panic!("a notice panics");
        });
        export.into_remote()
    }
}

struct Served {
    server: Server,
    serving: Serving,
    dropped: Arc<AtomicUsize>,
    unreferenced: Arc<AtomicUsize>,
}

fn traced() -> Options {
    let mut options = Options::default();
    options.trace_messages = true;
    options
}

fn serve(scheme: &str, interceptors: Interceptors) -> Served {
    let mut options = ServerOptions::default();
    options.transport = traced();
    options.interceptors = interceptors;
    let server = Server::new(options);
    let (dropped, unreferenced) = (Arc::default(), Arc::default());
    let plain = Plain {
        server: server.downgrade(),
        dropped: Arc::clone(&dropped),
        unreferenced: Arc::clone(&unreferenced),
    };
    server
        .bind::<dyn Service>("service", Arc::new(plain))
        .unwrap();
    let address = match scheme {
        "tcp" => "tcp://127.0.0.1:0".to_owned(),
        _ => {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let at = if scheme == "uds" { "@" } else { "" };
            format!("{scheme}://{at}callbacks-{}-{number}", std::process::id())
        }
    };
    Served {
        serving: server.listen(&address.parse().unwrap()).unwrap(),
        server,
        dropped,
        unreferenced,
    }
}

fn connect(served: &Served, interceptors: Interceptors) -> (Client, ServiceStub) {
    let mut options = ClientOptions::default();
    options.transport = traced();
    options.interceptors = interceptors;
    let client = Client::connect_with(served.serving.address(), &options);
    let client = client.wait().unwrap();
    let service = client.lookup::<dyn Service>("service").wait().unwrap();
    (client, service)
}

/// The ends of calls that an interceptor has seen.
type Ends = Arc<Mutex<Vec<(&'static str, Result<(), Outcome>)>>>;

/// Records the ends of calls.
struct Records(Ends);

impl Interceptor for Records {
    fn before(&self, _: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        Ok(Box::new(Recording(self.0.clone())))
    }
}

struct Recording(Ends);

impl Watch for Recording {
    fn after(&self, call: &CallInfo, end: &CallEnd) {
        let mut ends = self.0.lock().unwrap();
        ends.push((call.method, end.result));
    }
}

/// Panics after each call, when it stops to watch, and before calls of one method.
struct Panics(&'static str);

impl Interceptor for Panics {
    fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        assert_ne!(call.method, self.0, "an interceptor panics before a call");
        Ok(Box::new(Panicking))
    }
}

struct Panicking;

impl Watch for Panicking {
    fn after(&self, _: &CallInfo, _: &CallEnd) {
        panic!("an interceptor panics after a call");
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        assert!(
            thread::panicking(),
            "an interceptor panics when it is dropped"
        );
    }
}

#[test]
fn interceptors_that_panic_change_no_outcome() {
    let (here, there) = (Ends::default(), Ends::default());
    let interceptors = |ends: &Ends, method| {
        Interceptors::default()
            .and(Records(ends.clone()))
            .and(Panics(method))
            .and(Panics(""))
    };
    let served = serve("inproc", interceptors(&there, "later"));
    let (client, service) = connect(&served, interceptors(&here, "part"));
    for number in 0..5 {
        assert_eq!(*service.double(number).wait().unwrap().get(), 2 * number);
        // The callee's interceptor panics before the method.
        service.later(number).wait().unwrap_err();
        // The caller's interceptor panics before the call is sent.
        assert!(catch_unwind(AssertUnwindSafe(|| service.part().wait())).is_err());
    }
    drop(client);
    let of = |ends: &Ends, wanted: &str| -> Vec<_> {
        let ends = ends.lock().unwrap();
        let ends = ends.iter().filter(|(method, _)| *method == wanted);
        ends.map(|(_, result)| *result).collect()
    };
    assert_eq!(of(&here, "double"), [Ok(()); 5]);
    assert_eq!(of(&there, "double"), [Ok(()); 5]);
    assert_eq!(of(&there, "later"), [Err(Outcome::DidNotRun); 5]);
    assert_eq!(of(&here, "later").len(), 5);
    assert_eq!(of(&here, "part"), [Err(Outcome::DidNotRun); 5]);
    assert_eq!(of(&there, "part"), []);
}

#[test]
fn objects_that_panic_when_they_are_dropped_are_released() {
    for scheme in ["inproc", "tcp"] {
        let served = serve(scheme, Interceptors::default());
        let (client, service) = connect(&served, Interceptors::default());
        let parts: Vec<_> = (0..10).map(|_| service.part().wait().unwrap()).collect();
        drop(parts);
        until(|| served.dropped.load(Ordering::SeqCst) == 10);
        until(|| served.unreferenced.load(Ordering::SeqCst) == 10);
        // Others are released when the connection ends.
        let part = service.part().wait().unwrap();
        assert_eq!(*service.double(4).wait().unwrap().get(), 8);
        drop((part, service, client));
        until(|| served.dropped.load(Ordering::SeqCst) == 11);
        let (_client, service) = connect(&served, Interceptors::default());
        assert_eq!(*service.double(5).wait().unwrap().get(), 10);
        drop(served.server);
    }
}

/// A subscriber that calls a function for each event.
struct Reacts(Box<dyn Fn() + Send + Sync>);

impl Subscriber for Reacts {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        (self.0)();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

thread_local! {
    static CALLED: Rc<Cell<usize>> = Rc::default();
}

#[test]
fn subscribers_may_panic_or_make_calls() {
    for scheme in ["inproc", "shm", "uds", "tcp"] {
        let served = serve(scheme, Interceptors::default());
        let (client, service) = connect(&served, Interceptors::default());
        let work = || {
            for number in 0..10 {
                assert_eq!(*service.double(number).wait().unwrap().get(), 2 * number);
                assert_eq!(*service.later(number).wait().unwrap().get(), 2 * number);
                let part = service.part().wait().unwrap();
                assert_eq!(*part.stub().number().wait().unwrap().get(), 7);
            }
        };
        let panics = Reacts(Box::new(|| panic!("a subscriber panics")));
        tracing::subscriber::with_default(panics, work);
        let inner = service.clone();
        let calls = Reacts(Box::new(move || {
            CALLED.with(|called| {
                let number = called.replace(called.get() + 1) as u64;
                assert_eq!(*inner.double(number).wait().unwrap().get(), 2 * number);
            });
        }));
        tracing::subscriber::with_default(calls, work);
        assert!(CALLED.with(|called| called.take()) > 10, "{scheme}");
        drop((service, client));
    }
}
