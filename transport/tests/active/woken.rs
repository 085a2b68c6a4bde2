//! The threads on which woken handlers continue.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Instant;

use jstream_transport::active::{Handlers, Request, yield_now};
use testing::transport::peers::joined;
use testing::{LONG, over_devices};

/// Wakes its own task, and is ready at the next poll.
async fn again() {
    let mut is_again = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_again, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A handler that wakes itself continues on its first thread, once; a handler that yields moves to
/// another thread.
fn one_that_wakes_itself_goes_on_where_it_began(scheme: &str) {
    type Seen = Arc<Mutex<Vec<ThreadId>>>;
    let (wakes, yields) = (Seen::default(), Seen::default());
    let note = |seen: &Seen| seen.lock().unwrap().push(thread::current().id());
    let (waking, yielding) = (wakes.clone(), yields.clone());
    let handlers = Handlers::builder()
        // The yield that this handler requested does not affect the next handler.
        .on_async("glances", |request: Request| async move {
            let mut yielding = pin!(yield_now());
            poll_fn(|context| {
                assert!(yielding.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
            request.echo();
        })
        .on_async("wakes", move |request: Request| {
            let seen = waking.clone();
            async move {
                note(&seen);
                for _ in 0..3 {
                    again().await;
                    note(&seen);
                }
                request.echo();
            }
        })
        .on_async("yields", move |request: Request| {
            let seen = yielding.clone();
            async move {
                note(&seen);
                yield_now().await;
                note(&seen);
                request.echo();
            }
        })
        .build();
    let counted = handlers.clone();
    let (client, server) = joined(scheme, &Handlers::none(), &handlers);
    let serving = thread::spawn(move || {
        server.serve(None);
        thread::current().id()
    });
    for name in ["glances", "wakes", "yields"] {
        let handler = client.handler(name).unwrap();
        client.request(handler, 0, &[]).unwrap().wait().unwrap();
    }
    drop(client);
    let server = serving.join().unwrap();
    let wakes = wakes.lock().unwrap();
    assert_eq!(wakes[..2], [server; 2]);
    assert!(wakes[2] != server && wakes[3] != server);
    let yields = yields.lock().unwrap();
    assert!(yields[0] == server && yields[1] != server);
    assert_eq!(counted.counters().moved, 2);
}

/// A condition that a task waits for.
#[derive(Default)]
struct Gate {
    waiting: Mutex<Option<Waker>>,
    open: OnceLock<()>,
}

impl Gate {
    async fn pass(&self) {
        poll_fn(|context| {
            *self.waiting.lock().unwrap() = Some(context.waker().clone());
            match self.open.get() {
                Some(()) => Poll::Ready(()),
                None => Poll::Pending,
            }
        })
        .await;
    }

    fn open(&self) {
        self.open.set(()).unwrap();
        self.waiting.lock().unwrap().take().unwrap().wake();
    }
}

/// If both sides are in one process, a thread of one side that wakes a task of the other side does
/// not run that task, because the task may wait for a request that only this thread serves.
fn a_task_of_the_other_side_goes_on_elsewhere(scheme: &str) {
    let gate = Arc::new(Gate::default());
    let (passed, opened) = (gate.clone(), gate);
    let here = Handlers::builder()
        .on("open", move |request| {
            opened.open();
            request.echo();
        })
        .on("ping", Request::echo)
        .build();
    let there = Handlers::builder()
        .on_async("task", move |request: Request| {
            let gate = passed.clone();
            async move {
                gate.pass().await;
                let peer = request.peer();
                let ping = peer.handler("ping").unwrap();
                let mut ticket = peer.request(ping, 0, &[]).unwrap();
                ticket
                    .wait_deadline(Instant::now() + LONG)
                    .unwrap()
                    .unwrap();
                request.echo();
            }
        })
        .on("poke", |request| {
            let peer = request.peer();
            let open = peer.handler("open").unwrap();
            peer.request(open, 0, &[]).unwrap().wait().unwrap();
            request.echo();
        })
        .build();
    let (client, server) = joined(scheme, &here, &there);
    let serving = thread::spawn(move || server.serve(None));
    let task = client.handler("task").unwrap();
    let ticket = client.request(task, 0, &[]).unwrap();
    let poke = client.handler("poke").unwrap();
    client.request(poke, 0, &[]).unwrap().wait().unwrap();
    ticket.wait().unwrap();
    drop(client);
    serving.join().unwrap();
}

over_devices!(inproc shm tcp uds: {
    one_that_wakes_itself_goes_on_where_it_began
    a_task_of_the_other_side_goes_on_elsewhere
});
