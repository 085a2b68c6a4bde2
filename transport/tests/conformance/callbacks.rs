//! Code of the program that the library calls: subscribers of `tracing`, wakers, destructors and
//! reclaim functions. It panics, or uses the connection that calls it, at each call in turn.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::Future;
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, Once};
use std::task::{Context, Poll, Wake, Waker};

use jstream::buffer::{Callback, EmptyBuffer, Pool, PoolOptions};
use jstream_transport::{
    CompletionQueue, Endpoint, Header, Message, Outcome as Completed, RecvError, Rights, SendError,
};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::host::{Host, Outcome, both, ensure, filled};
use testing::patterns::bytes;

/// Kind of the messages that callbacks send.
const LOGGED: u32 = 999;

/// Panic message of the callbacks, of which the panic hook prints nothing.
const ON_PURPOSE: &str = "a callback panics on purpose";

/// Maximum number of messages that the callbacks of one exchange send. Each may lead to others.
const MOST_LOGGED: usize = 30;

type Reaction = Rc<dyn Fn()>;

type Failure = Box<dyn Error + Send + Sync>;

thread_local! {
    /// Reaction of this thread to events; `None` also while it reacts.
    static ON_EVENT: RefCell<Option<Reaction>> = const { RefCell::new(None) };
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
        let thread = std::thread::current();
        if thread
            .name()
            .is_some_and(|name| name.starts_with("jstream-"))
        {
            panic!("{ON_PURPOSE}");
        }
        let Some(reaction) = ON_EVENT.take() else {
            return;
        };
        // The reaction is restored although it may panic.
        let _during = During::of(reaction.clone());
        reaction();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Guard that sets the reaction of this thread when it is dropped.
struct During(Option<Reaction>);

impl During {
    fn of(reaction: Reaction) -> Self {
        Self(Some(reaction))
    }
}

impl Drop for During {
    fn drop(&mut self) {
        ON_EVENT.set(self.0.take());
    }
}

/// Makes this thread react to events until the guard is dropped.
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

/// Makes this thread panic at its event with the number `at`, or at all of them.
fn panic_at(at: Option<usize>, count: &Rc<Cell<usize>>) -> During {
    let count = count.clone();
    react(move || {
        let number = count.replace(count.get() + 1);
        assert!(at.is_some_and(|at| at != number), "{ON_PURPOSE}");
    })
}

/// Makes this thread send a message over each of the endpoints at each event, and receive what has
/// arrived at the last one.
fn send_at(endpoints: &[&Endpoint], blocks: bool) -> During {
    let endpoints: Vec<_> = endpoints.iter().copied().cloned().collect();
    let left = Cell::new(MOST_LOGGED);
    react(move || {
        if left.get() == 0 {
            return;
        }
        left.set(left.get() - 1);
        for endpoint in &endpoints {
            let segments = [IoSlice::new(b"an event")];
            let header = Header::new(LOGGED, [0; 3]);
            let sent = if blocks {
                endpoint.send_message(header, &segments)
            } else {
                endpoint.try_send_message(header, &segments)
            };
            // The connection may be full, or have ended.
            drop(sent);
        }
        if let Some(last) = endpoints.last() {
            drop(last.recv_message_within(std::time::Duration::ZERO));
        }
    })
}

/// Receives the next message that no callback has sent.
async fn next(endpoint: &Endpoint) -> Result<Message, RecvError> {
    loop {
        let message = endpoint.post_recv(None).await.map_err(RecvError::from)?;
        if message.header.kind != LOGGED {
            return Ok(message);
        }
    }
}

/// Awaits `ask`, whose requests `server` serves because it receives meanwhile.
async fn asked<T>(
    pool: &Pool,
    client: &Endpoint,
    server: &Endpoint,
    ask: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let ask = async {
        let asked = ask.await;
        let send = client.post_send(Header::new(50, [0; 3]), filled(pool, b"behind"));
        let sent = send.await.map_err(SendError::from);
        if asked.is_err() {
            // Otherwise a server whose side has not failed waits forever.
            client.close();
        }
        sent?;
        asked
    };
    let (asked, received) = both(ask, next(server)).await;
    received?;
    asked
}

/// Posts operations of all sorts and awaits them.
async fn exchange(host: &Host, client: &Endpoint, server: &Endpoint) -> Outcome {
    let pool = host.pool();
    for (kind, size) in (0..).zip([0, 100, 5000, host.scaled(300_000, 20_000)]) {
        for (from, to) in [(client, server), (server, client)] {
            let payload = bytes(size, u64::from(kind));
            let send = from.post_send(Header::new(kind, [0; 3]), filled(&pool, &payload));
            let (sent, received) = both(send, next(to)).await;
            sent.map_err(SendError::from)?;
            let message = received?;
            let same = message.header.kind == kind && message.payload.as_bytes() == payload;
            host.intact(same, || format!("{kind}: {:?}", message.header))?;
        }
    }
    let exposure = server
        .remote()
        .expose(filled(&pool, &[0; 64]), Rights::Both)?;
    let key = exposure.key();
    let put = client.remote().post_put(&key, 0, filled(&pool, &[7; 64]));
    let get = client.remote().post_get(&key, 32, 8);
    let got = asked(&pool, client, server, async {
        put.await?;
        Ok(get.await?)
    });
    host.intact(got.await?.as_bytes() == [7; 8], || "another get".to_owned())?;
    let queue = CompletionQueue::new()?;
    queue.post_recv(server, 1, None);
    queue.post_send(client, 2, Header::new(60, [0; 3]), filled(&pool, b"queued"));
    let (mut has_sent, mut has_received) = (false, false);
    while !has_sent || !has_received {
        match queue.next().await?.outcome {
            Completed::Sent(sent) => {
                sent.map_err(SendError::from)?;
                has_sent = true;
            }
            Completed::Received(received) => {
                let message = received.map_err(RecvError::from)?;
                has_received = message.header.kind != LOGGED;
                if !has_received {
                    queue.post_recv(server, 1, None);
                    continue;
                }
                let same = message.payload.as_bytes() == b"queued";
                host.intact(same, || format!("{:?}", message.header))?;
            }
            _ => unreachable!(),
        }
    }
    Ok(())
}

/// Finishes one direction. The peer finds its end.
async fn end(client: Endpoint, server: Endpoint) -> Outcome {
    client.finish()?;
    loop {
        match next(&server).await {
            Ok(message) => ensure!(message.header.kind == LOGGED, "{:?}", message.header),
            Err(RecvError::Closed { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn traced(host: &Host) -> jstream_transport::Options {
    let mut options = host.options();
    options.trace_messages = true;
    options
}

pub(crate) async fn a_subscriber_that_panics_loses_nothing(host: Host) -> Outcome {
    let count = Rc::new(Cell::new(0));
    let all = panic_at(None, &count);
    let (client, server) = host.pair(&traced(&host), &traced(&host)).await?;
    exchange(&host, &client, &server).await?;
    end(client, server).await?;
    drop(all);
    let total = count.take();
    ensure!(total > 20, "only {total} events");
    for at in (0..total).step_by(host.scaled(1, 16)) {
        count.set(0);
        let _at = panic_at(Some(at), &count);
        let (client, server) = host.pair(&traced(&host), &traced(&host)).await?;
        exchange(&host, &client, &server).await?;
        end(client, server).await?;
    }
    Ok(())
}

pub(crate) async fn a_subscriber_may_send(host: Host) -> Outcome {
    let (client, server) = host.pair(&traced(&host), &traced(&host)).await?;
    let (log, logged) = host.pair(&traced(&host), &traced(&host)).await?;
    let sends = send_at(&[&client, &server, &log, &logged], false);
    exchange(&host, &client, &server).await?;
    drop(sends);
    // The endpoint that receives the log has received its own messages meanwhile.
    let _sends = send_at(&[&log, &logged], false);
    end(client, server).await
}

/// A waker that calls a function when it is woken, and another one when it is dropped.
struct Calls {
    woken: Box<dyn Fn() + Send + Sync>,
    dropped: Box<dyn Fn() + Send + Sync>,
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        (self.woken)();
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        (self.dropped)();
    }
}

fn calls(call: impl Fn() + Send + Sync + Clone + 'static) -> Waker {
    Arc::new(Calls {
        woken: Box::new(call.clone()),
        dropped: Box::new(call),
    })
    .into()
}

/// Polls a future with wakers of its own, each of which replaces the one before.
async fn polled_by<F: Future>(
    host: &Host,
    future: F,
    waker: impl Fn() -> Waker,
    peer: impl Future<Output = Outcome>,
) -> Result<F::Output, Failure> {
    let mut future = Box::pin(future);
    for _ in 0..3 {
        let waker = waker();
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        // The library may have dropped the others.
        drop(catch_unwind(AssertUnwindSafe(|| drop(waker))));
        if let Poll::Ready(output) = polled {
            peer.await?;
            return Ok(output);
        }
    }
    // The message may arrive while only these wakers wait for it, or be too long for that.
    let peer = async {
        peer.await?;
        host.pause().await;
        Outcome::Ok(())
    };
    let (output, peer) = both(future, peer).await;
    peer?;
    Ok(output)
}

pub(crate) async fn a_waker_may_panic_or_use_the_endpoint(host: Host) -> Outcome {
    // A waker that is dropped while a panic unwinds would end the process.
    let panics = || {
        if !std::thread::panicking() {
            panic!("{ON_PURPOSE}");
        }
    };
    for sends in [false, true] {
        let _quiet = react(|| {});
        let (client, server) = host.pair(&host.options(), &host.options()).await?;
        let pool = host.pool();
        let uses = |endpoint: &Endpoint| {
            let endpoint = endpoint.clone();
            move || {
                let header = Header::new(LOGGED, [0; 3]);
                drop(endpoint.try_send_message(header, &[]));
                drop(endpoint.post_recv(None));
                assert!(!endpoint.peer().to_string().is_empty());
            }
        };
        let made = || {
            let other = server.clone();
            match sends {
                false => calls(panics),
                true => calls(uses(&other)),
            }
        };
        let message = filled(&pool, &bytes(3000, 1));
        let send = async {
            let sent = client.post_send(Header::new(1, [0; 3]), message).await;
            sent.map(drop).map_err(SendError::from)?;
            Ok(())
        };
        let received = polled_by(&host, server.post_recv(None), made, send).await?;
        let message = received.map_err(RecvError::from)?;
        let same = message.payload.as_bytes() == bytes(3000, 1);
        host.intact(same, || format!("{:?}", message.header))?;
        // A get, and a queue with a task.
        let exposure = client
            .remote()
            .expose(filled(&pool, &[0; 64]), Rights::Both)?;
        let get = server.remote().post_get(&exposure.key(), 0, 8);
        let ask = polled_by(&host, get, made, async { Ok(()) });
        let got = asked(&pool, &server, &client, async { Ok(ask.await??) }).await?;
        host.intact(got.as_bytes() == [0; 8], || "another get".to_owned())?;
        let queue = CompletionQueue::new()?;
        queue.post_recv(&server, 3, None);
        let send = async {
            let send = client.post_send(Header::new(3, [0; 3]), filled(&pool, b"three"));
            send.await.map(drop).map_err(SendError::from)?;
            Ok(())
        };
        let completed = polled_by(&host, queue.next(), made, send).await??;
        ensure!(completed.user == 3, "{completed:?}");
        // Posted receives of the wakers are left, and end with the connection.
        client.close();
        server.close();
    }
    Ok(())
}

pub(crate) async fn a_reclaim_function_may_panic_or_send(host: Host) -> Outcome {
    for panics in [true, false] {
        let _quiet = react(|| {});
        let uses: Arc<Mutex<Option<Endpoint>>> = Arc::default();
        let _forgets = Forgets(uses.clone());
        let mut pool = PoolOptions::default();
        pool.reclaim = Some(Callback::new({
            let uses = uses.clone();
            move |buffer: EmptyBuffer| {
                drop(buffer);
                if panics {
                    panic!("{ON_PURPOSE}");
                }
                let endpoint = uses.lock().unwrap().clone();
                if let Some(endpoint) = endpoint {
                    drop(endpoint.try_send_message(Header::new(LOGGED, [0; 3]), &[]));
                }
            }
        }));
        let options = host.options_with(pool);
        let (client, server) = host.pair(&options, &options).await?;
        *uses.lock().unwrap() = Some(client.clone());
        for number in 0..20 {
            // The ticket is dropped, so the thread that completes the send drops the buffer.
            let size = [10, 5000, 100_000][number % 3];
            let payload = filled(&options.pool, &bytes(size, number as u64));
            drop(client.post_send(Header::new(1, [0; 3]), payload));
            let message = next(&server).await?;
            let same = message.payload.as_bytes() == bytes(size, number as u64);
            host.intact(same, || format!("{:?}", message.header))?;
        }
    }
    Ok(())
}

/// Guard that forgets an endpoint: a reclaim function must not own the connection whose pool it
/// belongs to.
struct Forgets(Arc<Mutex<Option<Endpoint>>>);

impl Drop for Forgets {
    fn drop(&mut self) {
        let endpoint = self.0.lock().unwrap().take();
        drop(endpoint);
    }
}

/// Blocking calls, from two threads.
fn talk(client: bool, endpoint: &Endpoint, host: &Host) -> Outcome {
    let (size, rounds) = (200_000, 3);
    let payload = bytes(size, 5);
    let small = bytes(200, 6);
    let mut memory = vec![0; size];
    for _ in 0..rounds {
        if client {
            endpoint.send_message(Header::new(1, [0; 3]), &[IoSlice::new(&small)])?;
            endpoint.scope(|scope| {
                let first = scope.post_send(Header::new(2, [0; 3]), &[IoSlice::new(&payload)]);
                let second = scope.post_send(Header::new(3, [0; 3]), &[IoSlice::new(&small)]);
                second.wait()?;
                first.wait()
            })?;
        }
        let mut expected = vec![1, 2, 3];
        while !expected.is_empty() {
            let header = endpoint.recv_into(&mut memory)?;
            if header.kind == LOGGED {
                continue;
            }
            ensure!(header.kind == expected.remove(0), "{header:?}");
            let right = if header.kind == 2 { &payload } else { &small };
            let same = memory[..header.length as usize] == right[..];
            host.intact(same, || format!("{header:?}"))?;
        }
        if !client {
            endpoint.send_message(Header::new(1, [0; 3]), &[IoSlice::new(&small)])?;
            endpoint.send_message(Header::new(2, [0; 3]), &[IoSlice::new(&payload)])?;
            let buffer = filled(&host.pool(), &small);
            endpoint
                .send_buffer(Header::new(3, [0; 3]), buffer)
                .map_err(SendError::from)?;
        }
    }
    Ok(())
}

pub(crate) async fn a_subscriber_that_panics_ends_no_blocking_call(host: Host) -> Outcome {
    let count = Rc::new(Cell::new(0));
    let mut total = usize::MAX;
    let mut at = None;
    while at.is_none_or(|at| at < total) {
        count.set(0);
        let all = panic_at(at, &count);
        let (client, server) = host.pair(&traced(&host), &traced(&host)).await?;
        let there = host.clone();
        let answers = host.spawn("answers", async move {
            let _all = panic_at(at, &Rc::default());
            talk(false, &server, &there)
        });
        talk(true, &client, &host)?;
        answers.await?;
        drop((client, all));
        total = total.min(count.get());
        at = Some(at.map_or(0, |at| at + 1));
    }
    ensure!(total > 10, "only {total} events");
    Ok(())
}

pub(crate) async fn a_subscriber_may_send_in_blocking_calls(host: Host) -> Outcome {
    let (client, server) = host.pair(&traced(&host), &traced(&host)).await?;
    let (log, logged) = host.pair(&traced(&host), &traced(&host)).await?;
    let there = host.clone();
    let answers = host.spawn("answers", async move {
        let _sends = send_at(&[&server, &logged, &log], true);
        talk(false, &server, &there)
    });
    let (log, logged) = host.pair(&traced(&host), &traced(&host)).await?;
    let sends = send_at(&[&client, &log, &logged], true);
    let talked = talk(true, &client, &host);
    drop(sends);
    talked?;
    answers.await
}
