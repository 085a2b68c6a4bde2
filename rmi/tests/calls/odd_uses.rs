//! Unusual uses of the API: arguments that make calls while they are written, empty and very long
//! arguments, calls that are dropped and kept in any order, and objects that are unbound while they
//! run.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jstream::{Adapter, Transportable};
use jstream_rmi::{
    BindError, Call, CallError, Client, ClientOptions, Context, LookupError, Outcome, Server,
    ServerOptions, Serving, Stub, context, remote,
};

thread_local! {
    /// The stub that is called while a value is written or read.
    static CALLED: RefCell<Option<OddStub>> = const { RefCell::new(None) };
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

/// A number whose conversion makes a call.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Calling(u64);

struct ByCall;

fn call_inside() {
    let called = CALLED.take();
    if let Some(called) = called {
        assert_eq!(*called.add(1, 2).wait().unwrap().get(), 3);
        CALLED.set(Some(called));
    }
}

impl Adapter<Calling> for ByCall {
    type Wire = u64;
    type Error = Infallible;

    fn to_wire(value: &Calling) -> u64 {
        call_inside();
        assert!(!FAILS.replace(false), "while it is written");
        value.0
    }

    fn from_wire(wire: &u64) -> Result<Calling, Infallible> {
        call_inside();
        Ok(Calling(*wire))
    }
}

#[derive(Transportable, Debug, Clone, Copy)]
struct Item {
    #[transportable(with = ByCall)]
    value: Calling,
}

/// A linked list of any length.
#[derive(Transportable, Clone, Copy)]
struct Chain<'b> {
    next: Option<&'b Chain<'b>>,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Nothing;

#[remote]
trait Odd {
    fn add(&self, a: u64, b: u64) -> u64;
    fn take(&self, value: Item) -> u64;
    fn give(&self, n: u64) -> Item;
    fn units(&self, units: &[()], nothing: Nothing, none: &[Nothing]) -> u64;
    fn empty(&self, text: &str, bytes: &[u8], texts: &[&str], all: &[&[u64]]) -> u64;
    fn chain(&self, chain: &Chain<'_>) -> u64;
    fn bytes(&self, bytes: &[u8]) -> u64;
    fn repeated(&self, count: u64) -> Vec<u8>;
    /// Unbinds its own name and drops its server.
    fn ends_itself(&self) -> u64;
    fn context(&self);
    async fn later(&self, n: u64) -> u64;
    /// Calls itself over new connections, `times` levels deep.
    fn deeper(&self, times: u64) -> u64;
    /// Blocks its thread until `until` calls have blocked.
    fn blocks(&self, until: u64) -> u64;
}

#[derive(Default)]
struct Object {
    server: Mutex<Option<Server>>,
    address: Mutex<Option<jstream_rmi::Address>>,
    contexts: Mutex<Vec<Context>>,
    dropped: Option<mpsc::Sender<()>>,
    blocked: Mutex<u64>,
    more: Condvar,
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(dropped) = self.dropped.take() {
            dropped.send(()).unwrap();
            // The thread that drops the object must not be affected by this panic.
            panic!("while it is dropped");
        }
    }
}

#[remote]
impl Odd for Object {
    fn add(&self, a: u64, b: u64) -> u64 {
        a + b
    }

    fn take(&self, value: Item) -> u64 {
        value.value.0
    }

    fn give(&self, n: u64) -> Item {
        Item { value: Calling(n) }
    }

    fn units(&self, units: &[()], _: Nothing, none: &[Nothing]) -> u64 {
        (units.len() + none.len()) as u64
    }

    fn empty(&self, text: &str, bytes: &[u8], texts: &[&str], all: &[&[u64]]) -> u64 {
        let inner: usize = all.iter().map(|one| one.len()).sum();
        (text.len() + bytes.len() + texts.concat().len() + inner) as u64
    }

    fn chain(&self, chain: &Chain<'_>) -> u64 {
        let next = std::iter::successors(Some(chain), |chain| chain.next);
        next.count() as u64
    }

    fn bytes(&self, bytes: &[u8]) -> u64 {
        bytes.len() as u64
    }

    fn repeated(&self, count: u64) -> Vec<u8> {
        vec![7; usize::try_from(count).unwrap()]
    }

    fn ends_itself(&self) -> u64 {
        let server = self.server.lock().unwrap().take();
        server.map_or(0, |server| u64::from(server.unbind("odd")))
    }

    fn context(&self) {
        self.contexts.lock().unwrap().push(context());
    }

    async fn later(&self, n: u64) -> u64 {
        n
    }

    fn deeper(&self, times: u64) -> u64 {
        let address = self.address.lock().unwrap().clone().unwrap();
        if times == 0 {
            return 0;
        }
        let odd = Client::connect(&address)
            .wait()
            .unwrap()
            .lookup::<dyn Odd>("odd")
            .wait();
        1 + *odd.unwrap().deeper(times - 1).wait().unwrap().get()
    }

    fn blocks(&self, until: u64) -> u64 {
        let mut blocked = self.blocked.lock().unwrap();
        *blocked += 1;
        self.more.notify_all();
        while *blocked < until {
            blocked = self.more.wait(blocked).unwrap();
        }
        *blocked
    }
}

struct Setup {
    odd: OddStub,
    object: Arc<Object>,
    server: Server,
    serving: Serving,
}

const MOST: u64 = 1 << 20;

fn set_up(address: &str) -> Setup {
    let mut options = ServerOptions::default();
    options.transport.max_message = MOST;
    let server = Server::new(options);
    let object = Arc::new(Object::default());
    server.bind::<dyn Odd>("odd", object.clone()).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    *object.address.lock().unwrap() = Some(serving.address().clone());
    let mut options = ClientOptions::default();
    // A call that hangs fails.
    options.call_timeout = Duration::from_secs(20);
    let client = Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    Setup {
        odd: client.lookup::<dyn Odd>("odd").wait().unwrap(),
        object,
        server,
        serving,
    }
}

/// Returns a stub whose client writes arguments that the server refuses.
fn without_limits(of: &Setup) -> (Client, OddStub) {
    let mut options = ClientOptions::default();
    options.limits.depth = None;
    options.limits.zero_sized = usize::MAX;
    let client = Client::connect_with(of.serving.address(), &options);
    let client = client.wait().unwrap();
    let odd = client.lookup::<dyn Odd>("odd").wait().unwrap();
    (client, odd)
}

fn each_device(name: &str, test: impl Fn(Setup)) {
    test(set_up("tcp://127.0.0.1:0"));
    test(set_up(&format!("inproc://odd-{name}")));
}

#[test]
fn values_call_while_they_are_written_and_read() {
    each_device("inside", |of| {
        let value = Item { value: Calling(5) };
        CALLED.set(Some(of.odd.clone()));
        assert_eq!(*of.odd.take(value).wait().unwrap().get(), 5);
        let given = of.odd.give(6).wait().unwrap();
        assert_eq!(given.get().value, Calling(6));
        CALLED.take();
        // A conversion that panics leaves the connection intact.
        FAILS.set(true);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            drop(of.odd.take(value).wait());
        }));
        assert!(panicked.is_err());
        assert_eq!(*of.odd.take(value).wait().unwrap().get(), 5);
    });
}

#[test]
fn nothing_is_taken_as_well() {
    each_device("nothing", |of| {
        let odd = &of.odd;
        assert_eq!(*odd.empty("", &[], &[], &[]).wait().unwrap().get(), 0);
        assert_eq!(
            *odd.empty("", &[], &["", ""], &[&[], &[]])
                .wait()
                .unwrap()
                .get(),
            0
        );
        let units = vec![(); 1 << 40];
        let reply = odd.units(&units[..100], Nothing, &[Nothing; 3]).wait();
        assert_eq!(*reply.unwrap().get(), 103);
        // Units take no space in a message, but reading them takes time, so their number is
        // limited.
        let error = odd.units(&units, Nothing, &[]).wait().unwrap_err();
        assert!(matches!(error, CallError::Arguments { .. }), "{error}");
        let (_client, odd) = without_limits(&of);
        let error = odd.units(&units, Nothing, &[]).wait().unwrap_err();
        assert!(matches!(error, CallError::Refused { .. }), "{error}");
    });
}

#[test]
fn arguments_and_results_have_a_longest() {
    each_device("longest", |of| {
        let large = vec![1; usize::try_from(MOST).unwrap() + 1];
        let error = of.odd.bytes(&large).wait().unwrap_err();
        // The call fails before anything is sent, or the connection ends. The server never runs it.
        assert_ne!(error.outcome(), Outcome::Ran);
        let odd = Client::connect(of.serving.address()).wait().unwrap();
        let odd = odd.lookup::<dyn Odd>("odd").wait().unwrap();
        assert_eq!(*odd.bytes(&large[..1000]).wait().unwrap().get(), 1000);
        let error = odd.repeated(100 << 20).wait().unwrap_err();
        assert!(matches!(error, CallError::NoResult { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::Ran);
        assert_eq!(odd.repeated(1000).wait().unwrap().get().len(), 1000);
    });
}

#[test]
fn long_chains_are_refused_and_no_stack_is_used_up() {
    fn chain<T>(length: usize, with: impl FnOnce(&Chain<'_>) -> T) -> T {
        let arena = typed_arena::Arena::with_capacity(length);
        let mut first = None;
        for _ in 0..length {
            first = Some(&*arena.alloc(Chain { next: first }));
        }
        with(first.unwrap())
    }
    each_device("chains", |of| {
        let odd = &of.odd;
        let error = chain(50_000, |chain| odd.chain(chain).wait()).unwrap_err();
        assert!(matches!(error, CallError::Arguments { .. }), "{error}");
        let (_client, unlimited) = without_limits(&of);
        let error = chain(50_000, |chain| unlimited.chain(chain).wait()).unwrap_err();
        assert!(matches!(error, CallError::Refused { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
        let reply = chain(900, |chain| odd.chain(chain).wait()).unwrap();
        assert_eq!(*reply.get(), 900);
    });
}

#[test]
fn names_are_any_text() {
    each_device("names", |of| {
        let client = Client::connect(of.serving.address()).wait().unwrap();
        let odd: Arc<Object> = Arc::default();
        for name in [
            "",
            "\0",
            "a\nb",
            "odd ",
            "\u{1b}[2J",
            "Größe",
            &"x".repeat(256),
        ] {
            of.server.bind::<dyn Odd>(name, odd.clone()).unwrap();
            let stub = client.lookup::<dyn Odd>(name).wait().unwrap();
            assert_eq!(*stub.add(1, 1).wait().unwrap().get(), 2);
        }
        let long = of.server.bind::<dyn Odd>(&"x".repeat(257), odd);
        assert!(matches!(
            long,
            Err(BindError::TooLong { len: 257, max: 256 })
        ));
        // No lookup is sent for a name that is too long to be bound.
        let error = client
            .lookup::<dyn Odd>(&"x".repeat(100_000))
            .wait()
            .unwrap_err();
        assert!(matches!(error, LookupError::Unknown { .. }), "{error}");
        let all = client.registry().list().wait().unwrap();
        assert_eq!(all.get().len(), 8);
        // A stub may outlive its client and the name of its object.
        let stub = client.lookup::<dyn Odd>("").wait().unwrap();
        drop(client);
        assert!(of.server.unbind(""));
        let error = stub.add(1, 1).wait().unwrap_err();
        assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
    });
}

#[test]
fn objects_end_while_they_run() {
    each_device("ends", |of| {
        *of.object.server.lock().unwrap() = Some(of.server.clone());
        let other = of.odd.later(3);
        assert_eq!(*of.odd.ends_itself().wait().unwrap().get(), 1);
        assert_eq!(*other.wait().unwrap().get(), 3);
        let error = of.odd.add(1, 2).wait().unwrap_err();
        assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
        // The name is free for another object, which panics when it is dropped.
        let (dropped, when) = mpsc::channel();
        let mut odd = Object::default();
        odd.dropped = Some(dropped);
        let odd = Arc::new(odd);
        of.server.bind::<dyn Odd>("odd", odd.clone()).unwrap();
        *odd.server.lock().unwrap() = Some(of.server.clone());
        let client = Client::connect(of.serving.address()).wait().unwrap();
        let stub = client.lookup::<dyn Odd>("odd").wait().unwrap();
        drop(odd);
        // The call holds the last handle of the object. Either it has ended before the panic, or
        // the panic ends it.
        let result = stub.ends_itself().wait();
        when.recv().unwrap();
        if let Err(error) = result {
            assert!(matches!(error, CallError::Panicked { .. }), "{error}");
        }
        of.server
            .bind::<dyn Odd>("odd", Arc::new(Object::default()))
            .unwrap();
        let stub = client.lookup::<dyn Odd>("odd").wait().unwrap();
        assert_eq!(*stub.add(1, 2).wait().unwrap().get(), 3);
    });
}

#[test]
fn calls_are_dropped_kept_and_waited_for_in_any_order() {
    each_device("orders", |of| {
        let mut calls: Vec<Call<u64>> = (0..200)
            .map(|n| {
                if n % 3 == 0 {
                    of.odd.later(n)
                } else {
                    of.odd.add(n, 0)
                }
            })
            .collect();
        // Another thread waits for some of the calls, some are dropped, and the rest is waited for
        // in reverse order.
        let others: Vec<_> = calls.drain(100..150).collect();
        let other = thread::spawn(move || {
            let all = others.into_iter().rev();
            all.map(|call| *call.wait().unwrap().get()).sum::<u64>()
        });
        drop(calls.drain(20..60));
        calls.reverse();
        let sum: u64 = calls
            .into_iter()
            .map(|call| *call.wait().unwrap().get())
            .sum();
        let rest: u64 = (0..20).chain(60..100).chain(150..200).sum();
        assert_eq!(sum, rest);
        assert_eq!(other.join().unwrap(), (100..150).sum::<u64>());
        // A call that is not waited for does not hold up others.
        let unasked = of.odd.add(1, 2);
        assert_eq!(*of.odd.add(2, 2).wait().unwrap().get(), 4);
        drop(unasked);
        // A call may outlive all other handles of its connection.
        let Setup { odd, serving, .. } = of;
        let last = odd.add(20, 22);
        drop(odd);
        assert_eq!(*last.wait().unwrap().get(), 42);
        drop(serving);
    });
}

#[test]
fn replies_outlive_their_connection() {
    each_device("replies", |of| {
        let replies: Vec<_> = (0..50)
            .map(|n| of.odd.repeated(n).wait().unwrap())
            .collect();
        drop(of);
        for (n, reply) in replies.iter().enumerate() {
            assert_eq!(*reply.get(), vec![7; n]);
        }
    });
}

#[test]
fn times_are_any_time() {
    each_device("times", |of| {
        let error = of.odd.within(Duration::ZERO).add(1, 2).wait().unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::DidNotRun);
        for time in [
            Duration::MAX,
            Duration::from_secs(u64::MAX),
            Duration::from_secs(1 << 40),
        ] {
            let reply = of.odd.within(time).add(1, 2).wait().unwrap();
            assert_eq!(*reply.get(), 3);
        }
        let tiny = of.odd.within(Duration::from_nanos(1)).add(1, 2).wait();
        if let Err(error) = tiny {
            assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        }
    });
}

#[test]
fn contexts_outlive_their_calls() {
    each_device("contexts", |of| {
        of.odd.context().wait().unwrap();
        let kept = of.object.contexts.lock().unwrap().pop().unwrap();
        assert!(!kept.is_cancelled());
        // The cancellation of a later call does not affect the kept context.
        let left = of.odd.later(1);
        drop(left);
        of.odd.add(1, 2).wait().unwrap();
        assert!(!kept.is_cancelled());
        assert!(kept.time_left() > Some(Duration::ZERO));
        let Setup { odd, serving, .. } = of;
        drop((odd, serving));
        // The connection is gone, so either result is valid, but the call must return at once.
        let _ = kept.is_over();
    });
}

#[test]
fn methods_call_their_own_server() {
    each_device("deeper", |of| {
        assert_eq!(*of.odd.deeper(12).wait().unwrap().get(), 12);
    });
}

#[test]
fn methods_that_block_hold_up_nobody() {
    each_device("block", |of| {
        let client = Client::connect(of.serving.address()).wait().unwrap();
        let other = client.lookup::<dyn Odd>("odd").wait().unwrap();
        for turn in 1..=3 {
            let until = 12 * turn;
            let blocked: Vec<_> = (1..12).map(|_| of.odd.blocks(until)).collect();
            assert_eq!(*other.add(1, 2).wait().unwrap().get(), 3);
            assert_eq!(*other.blocks(until).wait().unwrap().get(), until);
            for call in blocked {
                assert_eq!(*call.wait().unwrap().get(), until);
            }
        }
    });
}

#[test]
fn servers_end_and_begin_at_the_same_place() {
    let at = |port: u16| format!("tcp://127.0.0.1:{port}");
    let of = set_up(&at(0));
    let address = of.serving.address().clone();
    drop(of);
    for _ in 0..5 {
        let of = set_up(&address.to_string());
        assert_eq!(*of.odd.add(1, 2).wait().unwrap().get(), 3);
        let lost: Vec<Call<u64>> = (0..10).map(|n| of.odd.later(n)).collect();
        let Setup { odd, serving, .. } = of;
        drop(serving);
        for call in lost {
            if let Err(error) = call.wait() {
                assert_ne!(error.outcome(), Outcome::Ran);
            }
        }
        drop(odd);
    }
}
