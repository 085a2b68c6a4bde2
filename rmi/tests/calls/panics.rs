//! Panics in the user code that a call runs: each ends only its own call, and the server continues.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use jstream::{Adapter, Transportable};
use jstream_rmi::{Call, CallError, Client, Outcome, Received, Server, Serving, Stub, remote};

use testing::until;

/// A number whose conversion panics when it is read or written, depending on its value.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Touchy(u64);

const IN_READ: u64 = 1;
const IN_WRITE: u64 = 2;

struct Touching;

impl Adapter<Touchy> for Touching {
    type Wire = u64;
    type Error = Infallible;

    fn to_wire(value: &Touchy) -> u64 {
        assert_ne!(value.0, IN_WRITE, "while it is written");
        value.0
    }

    fn from_wire(wire: &u64) -> Result<Touchy, Infallible> {
        assert_ne!(*wire, IN_READ, "while it is read");
        Ok(Touchy(*wire))
    }
}

#[derive(Transportable, Debug, Clone, Copy)]
struct Holds {
    #[transportable(with = Touching)]
    value: Touchy,
}

#[derive(Transportable, Debug, Clone, Copy)]
#[transportable(verify = check)]
struct Checked {
    number: u64,
}

fn check(checked: &Checked) -> Result<(), &'static str> {
    assert_ne!(checked.number, 13, "in the check");
    if checked.number == 14 {
        Err("not 14")
    } else {
        Ok(())
    }
}

/// A value whose `Drop` panics.
struct Heavy;

impl Drop for Heavy {
    fn drop(&mut self) {
        assert!(thread::panicking(), "in Drop");
    }
}

#[remote]
trait Frail {
    fn add(&self, a: u64, b: u64) -> u64;
    fn take(&self, value: Holds) -> u64;
    fn give(&self, value: u64) -> Holds;
    fn checked(&self, value: &Checked) -> u64;
    fn heavy(&self) -> u64;
    async fn heavy_future(&self, ends: bool) -> u64;
    async fn keeps(&self, value: Received<Checked>) -> u64;
    #[remote(one_way)]
    fn told(&self, value: &Checked);
}

#[derive(Default)]
struct Plain {
    waiting: Arc<AtomicU64>,
}

/// A value that is kept across an `.await`.
struct Kept(#[allow(dead_code, reason = "it is dropped")] Received<Checked>);

#[remote]
impl Frail for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a + b
    }

    fn take(&self, value: Holds) -> u64 {
        value.value.0
    }

    fn give(&self, value: u64) -> Holds {
        Holds {
            value: Touchy(value),
        }
    }

    fn checked(&self, value: &Checked) -> u64 {
        value.number
    }

    fn heavy(&self) -> u64 {
        let _heavy = Heavy;
        7
    }

    async fn heavy_future(&self, ends: bool) -> u64 {
        let _heavy = Heavy;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if !ends {
            std::future::pending::<()>().await;
        }
        jstream_transport::active::yield_now().await;
        7
    }

    async fn keeps(&self, value: Received<Checked>) -> u64 {
        let _kept = Kept(value);
        jstream_transport::active::yield_now().await;
        panic!("with what it keeps");
    }

    fn told(&self, value: &Checked) {
        assert_ne!(value.number, 13, "it was checked");
        panic!("nobody waits");
    }
}

struct Setup {
    _serving: Serving,
    frail: FrailStub,
    other: FrailStub,
    waiting: Arc<AtomicU64>,
}

fn setup() -> Setup {
    let server = Server::default();
    let object = Plain::default();
    let waiting = object.waiting.clone();
    server.bind::<dyn Frail>("frail", Arc::new(object)).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let [frail, other] = [(); 2].map(|()| {
        let client = Client::connect(serving.address()).wait().unwrap();
        client.lookup::<dyn Frail>("frail").wait().unwrap()
    });
    Setup {
        _serving: serving,
        frail,
        other,
        waiting,
    }
}

/// Checks that the call fails with a panic of its method, and that nothing else is affected.
fn assert_panics<R: Transportable + 'static>(of: &Setup, call: impl Fn() -> Call<R>) {
    assert_fails(of, call, |error| {
        assert!(matches!(error, CallError::Panicked { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::MayHaveRun);
    });
}

/// Checks that the call fails with a panic before its method began, and that nothing else is
/// affected.
fn assert_panics_early<R: Transportable + 'static>(of: &Setup, call: impl Fn() -> Call<R>) {
    assert_fails(of, call, |error| {
        assert!(matches!(error, CallError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("panicked"), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
    });
}

/// Checks that the call fails, and that nothing else is affected.
fn assert_fails<R: Transportable + 'static>(
    of: &Setup,
    call: impl Fn() -> Call<R>,
    is_right: impl Fn(&CallError),
) {
    for _ in 0..20 {
        let beside = (of.frail.add(1, 2), call(), of.frail.add(3, 4));
        let Err(error) = beside.1.wait() else {
            panic!("the call succeeded");
        };
        is_right(&error);
        let told = error.to_string();
        assert!(!told.contains("while") && !told.contains("Drop"), "{told}");
        assert_eq!(*beside.0.wait().unwrap().get(), 3);
        assert_eq!(*beside.2.wait().unwrap().get(), 7);
    }
    assert_eq!(*of.other.add(5, 6).wait().unwrap().get(), 11);
}

#[test]
fn while_arguments_are_read() {
    let of = setup();
    let touchy = Holds {
        value: Touchy(IN_READ),
    };
    assert_panics_early(&of, || of.frail.take(touchy));
    assert_panics_early(&of, || of.frail.checked(&Checked { number: 13 }));
    let refused = of
        .frail
        .checked(&Checked { number: 14 })
        .wait()
        .unwrap_err();
    assert!(matches!(refused, CallError::Refused { .. }), "{refused}");
}

#[test]
fn while_the_result_is_written() {
    let of = setup();
    assert_panics(&of, || of.frail.give(IN_WRITE));
    assert_eq!(of.frail.give(5).wait().unwrap().get().value, Touchy(5));
}

#[test]
fn in_drop_of_what_a_method_has() {
    let of = setup();
    assert_panics(&of, || of.frail.heavy());
    assert_panics(&of, || of.frail.heavy_future(true));
    assert_panics(&of, || of.frail.keeps(&Checked { number: 1 }));
}

#[test]
fn in_drop_of_a_future_that_is_ended() {
    let of = setup();
    for begun in 1..=20 {
        let call = of.frail.heavy_future(false);
        until(|| of.waiting.load(Ordering::SeqCst) >= begun);
        drop(call);
        assert_eq!(*of.frail.add(1, 2).wait().unwrap().get(), 3);
    }
    let late = of
        .frail
        .within(Duration::from_millis(20))
        .heavy_future(false);
    let late = late.wait().unwrap_err();
    assert!(
        matches!(
            late,
            CallError::Deadline { .. } | CallError::Panicked { .. }
        ),
        "{late}"
    );
    assert_eq!(*of.other.add(5, 6).wait().unwrap().get(), 11);
}

#[test]
fn in_calls_that_nobody_answers() {
    let of = setup();
    for number in [1, 13] {
        for _ in 0..300 {
            of.frail.told(&Checked { number }).unwrap();
        }
    }
    assert_eq!(*of.frail.add(1, 2).wait().unwrap().get(), 3);
    assert_eq!(*of.other.add(5, 6).wait().unwrap().get(), 11);
}

/// An object whose `Drop` panics, and whose method waits at a door.
struct Ends {
    door: Arc<(Mutex<bool>, Condvar)>,
    _heavy: Heavy,
}

#[remote]
trait Last {
    fn wait(&self) -> u64;
}

impl Last for Ends {
    fn wait(&self) -> u64 {
        let (open, changed) = &*self.door;
        let mut open = open.lock().unwrap();
        *open = true;
        changed.notify_all();
        drop(changed.wait_while(open, |open| *open).unwrap());
        7
    }
}

#[test]
fn in_drop_of_the_object() {
    let server = Server::default();
    let door = Arc::<(Mutex<bool>, Condvar)>::default();
    let object = Ends {
        door: door.clone(),
        _heavy: Heavy,
    };
    server.bind::<dyn Last>("last", Arc::new(object)).unwrap();
    server
        .bind::<dyn Frail>("frail", Arc::new(Plain::default()))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let last = client.lookup::<dyn Last>("last").wait().unwrap();
    let frail = client.lookup::<dyn Frail>("frail").wait().unwrap();
    let waits = last.wait();
    {
        let (inside, changed) = &*door;
        let inside = inside.lock().unwrap();
        drop(changed.wait_while(inside, |inside| !*inside).unwrap());
    }
    // From now on the call holds the last handle of the object, and drops it.
    assert!(server.unbind("last"));
    *door.0.lock().unwrap() = false;
    door.1.notify_all();
    match waits.wait() {
        Ok(result) => assert_eq!(*result.get(), 7),
        Err(error) => assert!(matches!(error, CallError::Panicked { .. }), "{error}"),
    }
    assert_eq!(*frail.add(1, 2).wait().unwrap().get(), 3);
    let gone = last.wait().wait().unwrap_err();
    assert!(matches!(gone, CallError::UnknownObject { .. }), "{gone}");
}
