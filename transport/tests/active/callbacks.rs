//! Code of the program that active messages call: subscribers of `tracing`, wakers, taps,
//! executors, destructors, and functions that run at the end of a connection. It panics, or makes
//! requests over the connection that calls it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use jstream_transport::Options;
use jstream_transport::active::{
    Executor, Handlers, Job, Peer, PollGroup, Request, Settings, Tap, Tapped, ThreadPool, Ticket,
    yield_now,
};
use testing::over_devices;
use testing::tasks::block_on;
use testing::transport::pair;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Panic message of the callbacks, of which the panic hook prints nothing.
const ON_PURPOSE: &str = "a callback panics on purpose";

thread_local! {
    /// Reaction of this thread to events; `None` also while it reacts.
    static ON_EVENT: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// The subscriber of this process. It reacts as the thread of the event wants. On threads of the
/// library it always panics.
struct Reacting;

impl Subscriber for Reacting {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        let thread = thread::current();
        if thread
            .name()
            .is_some_and(|name| name.starts_with("jstream-"))
        {
            panic!("{ON_PURPOSE}");
        }
        if let Some(reaction) = ON_EVENT.take() {
            let _during = During(Some(reaction.clone()));
            reaction();
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Guard that sets the reaction of this thread when it is dropped.
struct During(Option<Rc<dyn Fn()>>);

impl Drop for During {
    fn drop(&mut self) {
        ON_EVENT.set(self.0.take());
    }
}

fn react(reaction: impl Fn() + 'static) -> During {
    static SUBSCRIBED: Once = Once::new();
    SUBSCRIBED.call_once(|| {
        tracing::subscriber::set_global_default(Reacting).unwrap();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
            if text != Some(ON_PURPOSE) {
                hook(info);
            }
        }));
    });
    During(ON_EVENT.replace(Some(Rc::new(reaction))))
}

fn quiet() -> During {
    react(|| {})
}

fn panics() {
    // A panic while another one unwinds would end the process.
    if !thread::panicking() {
        panic!("{ON_PURPOSE}");
    }
}

/// Joins both ends of a connection whose messages are traced.
fn joined(
    scheme: &str,
    ours: &Handlers,
    theirs: &Handlers,
    settings: impl Fn() -> Settings,
) -> (Peer, Peer) {
    let mut options = Options::default();
    options.trace_messages = true;
    let (client, server) = pair(scheme, &options, &options);
    let (theirs, settings_there) = (theirs.clone(), settings());
    let joining = thread::spawn(move || Peer::join(server, &theirs, settings_there).unwrap());
    let client = Peer::join(client, ours, settings()).unwrap();
    (client, joining.join().unwrap())
}

fn answer(request: Request) {
    let word = request.word();
    request.reply(word, &[]);
}

fn table() -> Handlers {
    Handlers::builder()
        .on("echo", answer)
        .on_async("later", |request| async move {
            yield_now().await;
            answer(request);
        })
        .on("worker", answer)
        .worker()
        .build()
}

/// Makes requests of all handlers, as a thread and as a task.
fn ask(peer: &Peer) {
    for (number, name) in (1..).zip(["echo", "later", "worker", "echo"]) {
        let handler = peer.handler(name).unwrap();
        let reply = peer.request(handler, number, &[1; 100]).unwrap();
        let other = peer.request(handler, number + 10, &[2; 100]).unwrap();
        assert_eq!(block_on(other).unwrap().word, number + 10);
        assert_eq!(reply.wait().unwrap().word, number);
    }
}

fn a_subscriber_that_panics_loses_nothing(scheme: &str) {
    let _panics = react(panics);
    let (client, server) = joined(scheme, &table(), &table(), Settings::default);
    let there = server.clone();
    let serving = thread::spawn(move || {
        let _panics = react(panics);
        there.serve(None);
    });
    ask(&client);
    client.close();
    serving.join().unwrap();
    // A group of threads, which survive.
    let (client, server) = joined(scheme, &table(), &table(), Settings::default);
    let group = PollGroup::default();
    group.add(&server);
    let threads = group.start_many(2, 4, |work| work()).unwrap();
    ask(&client);
    ask(&client);
    client.close();
    drop(threads);
}

fn a_subscriber_may_make_requests(scheme: &str) {
    let _quiet = quiet();
    let (client, server) = joined(scheme, &table(), &table(), Settings::default);
    let there = server.clone();
    let serving = thread::spawn(move || there.serve(None));
    let asked = Rc::new(Cell::new(0));
    let echo = client.handler("echo").unwrap();
    let asks = react({
        let (client, asked) = (client.clone(), asked.clone());
        move || {
            if asked.get() < 20 {
                asked.set(asked.get() + 1);
                let reply = client.request(echo, 7, b"an event").unwrap().wait();
                assert_eq!(reply.unwrap().word, 7);
            }
        }
    });
    ask(&client);
    drop(asks);
    assert!(asked.get() >= 5, "{}", asked.get());
    client.close();
    serving.join().unwrap();
}

struct PanicsWhenWoken;

impl Wake for PanicsWhenWoken {
    fn wake(self: Arc<Self>) {
        panics();
    }
}

impl Drop for PanicsWhenWoken {
    fn drop(&mut self) {
        panics();
    }
}

fn wakers_that_panic_lose_no_answer(scheme: &str) {
    let _quiet = quiet();
    let (client, server) = joined(scheme, &table(), &table(), Settings::default);
    let there = server.clone();
    let serving = thread::spawn(move || there.serve(None));
    let later = client.handler("later").unwrap();
    let mut tickets: Vec<_> = (0..20)
        .map(|number| Box::pin(client.request(later, number, &[]).unwrap()))
        .collect();
    let poll = |ticket: &mut Pin<Box<Ticket>>| {
        let waker = Waker::from(Arc::new(PanicsWhenWoken));
        let polled = Future::poll(ticket.as_mut(), &mut Context::from_waker(&waker));
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(waker)));
        drop(dropped);
        polled
    };
    for (number, mut ticket) in (0..).zip(tickets.drain(..)) {
        let mut answered = None;
        for _ in 0..3 {
            if let Poll::Ready(reply) = poll(&mut ticket) {
                answered = Some(reply);
                break;
            }
        }
        // Another ticket receives the answer, and calls the waker.
        let other = client.request(later, 100, &[]).unwrap();
        assert_eq!(other.wait().unwrap().word, 100);
        let reply = answered.unwrap_or_else(|| block_on(ticket));
        assert_eq!(reply.unwrap().word, number);
    }
    client.close();
    serving.join().unwrap();
}

#[derive(Debug)]
struct PanickingTap;

impl Tap for PanickingTap {
    fn joined(&self, _: &[&str], _: &[&str]) {
        panics();
    }

    fn message(&self, _: &Tapped<'_>) {
        panics();
    }
}

/// An executor that panics after it has scheduled a job.
struct Panicking(ThreadPool);

impl Executor for Panicking {
    fn execute(&self, job: Job) {
        self.0.execute(job);
        panics();
    }
}

/// A value that counts and panics when it is dropped.
struct PanicsWhenDropped(Arc<AtomicUsize>);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panics();
    }
}

fn other_callbacks_may_panic(scheme: &str) {
    let _quiet = quiet();
    let (dropped, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let captured = PanicsWhenDropped(dropped.clone());
    let handlers = Handlers::builder()
        .on("echo", answer)
        .on_async("later", |request| async move {
            yield_now().await;
            answer(request);
        })
        .on("worker", move |request| {
            assert_eq!(captured.0.load(Ordering::Relaxed), 0);
            answer(request);
        })
        .worker()
        .on("in order", answer)
        .in_order(1, |request| {
            drop(request);
            panics();
            None
        })
        .executor(Arc::new(Panicking(ThreadPool::new(2))))
        .build();
    let settings = || {
        let mut settings = Settings::default();
        settings.tap = Some(Arc::new(PanickingTap));
        settings
    };
    let (client, server) = joined(scheme, &Handlers::none(), &handlers, settings);
    drop(handlers);
    assert!(server.attach(Arc::new(PanicsWhenDropped(dropped.clone()))));
    for panicking in [true, false] {
        let ended = ended.clone();
        server.on_end(move || {
            ended.fetch_add(1, Ordering::Relaxed);
            if panicking {
                panics();
            }
        });
    }
    let there = server.clone();
    let serving = thread::spawn(move || there.serve(None));
    ask(&client);
    let in_order = client.handler("in order").unwrap();
    let returned = client.request(in_order, 1, &[]).unwrap().wait();
    assert!(returned.is_err(), "{returned:?}");
    ask(&client);
    client.close();
    serving.join().unwrap();
    drop(server);
    assert_eq!(ended.load(Ordering::Relaxed), 2);
    testing::until(|| dropped.load(Ordering::Relaxed) == 2);
}

over_devices!(inproc shm uds tcp uring: {
    a_subscriber_that_panics_loses_nothing
    a_subscriber_may_make_requests
    wakers_that_panic_lose_no_answer
    other_callbacks_may_panic
});
