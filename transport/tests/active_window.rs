//! Tasks that ask more than the other side takes at once, on one thread: who blocked it would wait for ever.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread;

use common::tasks::block_on;
use common::{LONG, default_pair, over_devices};
use jstream::Received;
use jstream_transport::active::{Handlers, Peer, Request, RequestError, Settings};

/// How many tasks there are, and how often each of them asks.
const TASKS: u64 = 20;
const TIMES: u64 = 15;

type Task<'t> = Pin<Box<dyn Future<Output = ()> + 't>>;

fn joined(scheme: &str, handlers: &Handlers) -> (Peer, Peer) {
    let (client, server) = default_pair(scheme);
    let mut settings = Settings::default();
    (settings.window_messages, settings.window_bytes) = (2, 100);
    settings.credit_timeout = LONG;
    thread::scope(|scope| {
        let other = scope.spawn(|| Peer::join(server, handlers, settings.clone()).unwrap());
        let one = Peer::join(client, &Handlers::none(), settings.clone()).unwrap();
        (one, other.join().unwrap())
    })
}

/// Polls all tasks until they are done, and serves beside, in this very thread.
fn run(server: &Peer, mut tasks: Vec<Task<'_>>) {
    let mut attendant = server.attendant();
    block_on(poll_fn(|context: &mut Context<'_>| {
        tasks.retain_mut(|task| task.as_mut().poll(context).is_pending());
        if tasks.is_empty() {
            return Poll::Ready(());
        }
        while attendant.attend(context.waker()) {}
        Poll::Pending
    }));
}

fn handlers(told: &Arc<AtomicU64>) -> Handlers {
    let told = told.clone();
    Handlers::builder()
        .on("echo", Request::echo)
        .on("tell", move |request| {
            told.fetch_add(request.word(), Ordering::Relaxed);
        })
        .function("sum", |numbers: Received<Vec<u64>>| {
            numbers.get().iter().sum::<u64>()
        })
        .build()
}

fn tasks_wait_for_their_turns_on_one_thread(scheme: &str) {
    let told = Arc::new(AtomicU64::new(0));
    let (client, server) = joined(scheme, &handlers(&told));
    let (echo, tell) = (
        client.handler("echo").unwrap(),
        client.handler("tell").unwrap(),
    );
    let sum = client.function::<Vec<u64>, u64>("sum").unwrap();
    let answered = Cell::new(0);
    let (client, answered) = (&client, &answered);
    let sum = &sum;
    let ask = |task: u64| async move {
        for time in 0..TIMES {
            let bytes = [u8::try_from(time).unwrap(); 40];
            match (task + time) % 4 {
                0 => {
                    let ticket = client.request_async(echo, time, &bytes).unwrap();
                    assert_eq!(ticket.await.unwrap().payload.as_bytes(), bytes);
                }
                1 => {
                    let ticket = client.call_async(sum, &vec![task, time]).unwrap();
                    assert_eq!(*ticket.await.unwrap().get(), task + time);
                }
                2 => client.send_async(tell, 1, &bytes).unwrap().await.unwrap(),
                _ => {
                    client.ready(bytes.len()).await.unwrap();
                    // No other task runs in between.
                    let ticket = client.try_request(echo, time, &bytes).unwrap();
                    assert_eq!(ticket.await.unwrap().payload.as_bytes(), bytes);
                }
            }
            answered.set(answered.get() + 1);
        }
    };
    let tasks = (0..TASKS).map(|task| Box::pin(ask(task)) as Task<'_>);
    run(&server, tasks.collect());
    assert_eq!(answered.get(), TASKS * TIMES);
    // What was told last is on its way.
    let last = client.request_async(echo, 0, &[]).unwrap();
    let last: Task<'_> = Box::pin(async { drop(last.await.unwrap()) });
    run(&server, vec![last]);
    assert_eq!(told.load(Ordering::Relaxed), TASKS * TIMES / 4);
}

fn who_waits_for_its_turn_is_told_of_the_end(scheme: &str) {
    let told = Arc::new(AtomicU64::new(0));
    let (client, server) = joined(scheme, &handlers(&told));
    let echo = client.handler("echo").unwrap();
    let asked = [(); 2].map(|()| client.try_request(echo, 0, &[]).unwrap());
    let full = client.try_request(echo, 0, &[]).unwrap_err();
    assert!(matches!(full, RequestError::NoCredit), "{full}");
    let (ready, told) = (client.ready(0), client.send_async(echo, 0, &[]).unwrap());
    let closing = thread::spawn(move || server.close());
    let ended = block_on(ready).unwrap_err();
    assert!(matches!(ended, RequestError::Ended { .. }), "{ended}");
    let ended = block_on(told).unwrap_err();
    assert!(matches!(ended, RequestError::Ended { .. }), "{ended}");
    closing.join().unwrap();
    drop(asked);
}

over_devices!(inproc shm uds tcp uring: {
    tasks_wait_for_their_turns_on_one_thread
    who_waits_for_its_turn_is_told_of_the_end
});
