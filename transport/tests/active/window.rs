//! Senders that exceed the window of their peer: tasks on one thread, which would deadlock if one
//! of them blocked the thread, and threads in nested waits of handlers.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Instant;

use jstream::Received;
use jstream_transport::active::{
    Backpressure, Guarded, Handlers, Peer, Request, RequestError, Settings, ThreadPool,
};
use testing::tasks::block_on;
use testing::transport::filled;
use testing::transport::peers::joined_by;
use testing::{LONG, over_devices};

/// The number of tasks, and the number of requests of each task.
const TASKS: u64 = 20;
const TIMES: u64 = 15;

type Task<'t> = Pin<Box<dyn Future<Output = ()> + 't>>;

fn joined(scheme: &str, handlers: &Handlers) -> (Peer, Peer) {
    joined_within(scheme, &Handlers::none(), handlers, (2, 100))
}

fn joined_within(
    scheme: &str,
    here: &Handlers,
    there: &Handlers,
    window: (u16, u64),
) -> (Peer, Peer) {
    let mut settings = Settings::default();
    (settings.window_messages, settings.window_bytes) = window;
    settings.credit_timeout = LONG;
    joined_by(scheme, here, there, &settings)
}

fn until(happens: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !happens() {
        assert!(Instant::now() < until, "timed out");
        thread::yield_now();
    }
}

/// Polls all tasks until they are done, and serves on the same thread.
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
                    let ticket = client
                        .request_with(echo, time, &bytes, Backpressure::Queue)
                        .unwrap();
                    assert_eq!(ticket.await.unwrap().payload.as_bytes(), bytes);
                }
                1 => {
                    let ticket = client
                        .call_with(sum, &vec![task, time], Backpressure::Queue)
                        .unwrap();
                    assert_eq!(*ticket.await.unwrap().get(), task + time);
                }
                2 => client
                    .send_with(tell, 1, &bytes, Backpressure::Queue)
                    .unwrap()
                    .await
                    .unwrap(),
                _ => {
                    client.attendant().ready(bytes.len()).await.unwrap();
                    // No other task runs in between, so the credit is still there.
                    let ticket = client
                        .request_with(echo, time, &bytes, Backpressure::Fail)
                        .unwrap();
                    assert_eq!(ticket.await.unwrap().payload.as_bytes(), bytes);
                }
            }
            answered.set(answered.get() + 1);
        }
    };
    let tasks = (0..TASKS).map(|task| Box::pin(ask(task)) as Task<'_>);
    run(&server, tasks.collect());
    assert_eq!(answered.get(), TASKS * TIMES);
    // The last one-way messages may still be under way; a request arrives after them.
    let last = client
        .request_with(echo, 0, b"", Backpressure::Queue)
        .unwrap();
    let last: Task<'_> = Box::pin(async { drop(last.await.unwrap()) });
    run(&server, vec![last]);
    assert_eq!(told.load(Ordering::Relaxed), TASKS * TIMES / 4);
}

fn who_waits_for_its_turn_is_told_of_the_end(scheme: &str) {
    let told = Arc::new(AtomicU64::new(0));
    let (client, server) = joined(scheme, &handlers(&told));
    let echo = client.handler("echo").unwrap();
    let asked = [(); 2].map(|()| {
        client
            .request_with(echo, 0, b"", Backpressure::Fail)
            .unwrap()
    });
    let full = client
        .request_with(echo, 0, b"", Backpressure::Fail)
        .unwrap_err();
    assert!(matches!(full, RequestError::NoCredit), "{full}");
    let (ready, told) = (
        client.attendant().ready(0),
        client.send_with(echo, 0, b"", Backpressure::Queue).unwrap(),
    );
    let closing = thread::spawn(move || server.close());
    let ended = block_on(ready).unwrap_err();
    assert!(matches!(ended, RequestError::Ended { .. }), "{ended}");
    let ended = block_on(told).unwrap_err();
    assert!(matches!(ended, RequestError::Ended { .. }), "{ended}");
    closing.join().unwrap();
    drop(asked);
}

/// Payloads in jbufs obey each choice, and a thread waits for a queued one-way message.
fn jbufs_and_queued_messages_wait_for_credit(scheme: &str) {
    let told = Arc::new(AtomicU64::new(0));
    let (client, server) = joined(scheme, &handlers(&told));
    let (echo, tell) = (
        client.handler("echo").unwrap(),
        client.handler("tell").unwrap(),
    );
    let jbuf = || filled(b"jbuf");
    let asked = [(); 2].map(|()| client.request(echo, 0, b"").unwrap());
    let refused = client.request_with(echo, 0, jbuf(), Backpressure::Fail);
    assert!(matches!(refused, Err(RequestError::NoCredit)));
    let refused = client.send_with(tell, 1, jbuf(), Backpressure::Fail);
    assert!(matches!(refused, Err(RequestError::NoCredit)));
    let late = Backpressure::Wait(Some(Instant::now()));
    let late = client.request_with(echo, 0, jbuf(), late);
    assert!(matches!(late, Err(RequestError::TimedOut { .. })));
    // Dropped while it is queued, so it is not sent.
    drop(
        client
            .send_with(tell, 100, jbuf(), Backpressure::Queue)
            .unwrap(),
    );
    let queued = client
        .send_with(tell, 1, jbuf(), Backpressure::Queue)
        .unwrap();
    let last = client
        .request_with(echo, 0, jbuf(), Backpressure::Queue)
        .unwrap();
    let status = server.status();
    assert_eq!(
        (status.under_way, status.outstanding, status.has_served),
        (0, 0, false)
    );
    let serving = server.start().unwrap();
    queued.wait().unwrap();
    for ticket in asked {
        ticket.wait().unwrap();
    }
    assert_eq!(last.wait().unwrap().payload.as_bytes(), b"jbuf");
    client
        .send_with(tell, 1, jbuf(), Backpressure::Wait(None))
        .unwrap()
        .wait()
        .unwrap();
    drop(client.request(echo, 0, b"").unwrap().wait().unwrap());
    assert_eq!(told.load(Ordering::Relaxed), 2);
    assert!(server.status().has_served);
    assert_eq!(client.status().outstanding, 0);
    drop(serving);
}

/// The moment at which a handler sends a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// The window is still full.
    First,
    /// The free window has been reserved for the outer wait of the same thread.
    Second,
    /// Like `Second`, but the handler retries in a loop.
    Again,
}

/// A thread waits for credit, and a handler that runs inside that wait waits for credit too.
fn who_waits_beneath_another_one_does_not_hold_it_up(scheme: &str, asks: Asks) {
    let has_room = asks != Asks::First;
    // More than half of the window, in bytes.
    const LENGTH: usize = 60;
    let (begun, answered) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let (begins, goes_on) = (begun.clone(), answered.clone());
    let handler = Handlers::builder()
        .on("ask", move |request| {
            begins.store(true, Ordering::Release);
            until(|| !has_room || goes_on.load(Ordering::Acquire));
            let peer = request.peer();
            let echo = peer.handler("echo").unwrap();
            let asked = match asks {
                Asks::Again => {
                    let attendant = peer.attendant();
                    attendant.wait_until(None, |waker| {
                        let _ = waker.map(|waker| attendant.wake_at_credit(waker));
                        let asked = peer.request_with(echo, 0, &[3; LENGTH], Backpressure::Fail);
                        asked.ok()
                    })
                }
                _ => peer.request(echo, 0, &[3; LENGTH]).ok(),
            };
            let reply = asked.unwrap().wait();
            request.reply(reply.unwrap().payload.len() as u64, &[]);
        })
        .build();
    let told = Arc::new(AtomicU64::new(0));
    let (client, server) = joined_within(scheme, &handler, &handlers(&told), (8, 100));
    let (echo, tell) = (
        client.handler("echo").unwrap(),
        client.handler("tell").unwrap(),
    );
    thread::scope(|scope| {
        let first = client.request(echo, 0, &[1; LENGTH]).unwrap();
        scope.spawn(|| {
            let ask = server.handler("ask").unwrap();
            // The client runs this request while it waits for the answer to its first one.
            let reply = server.request(ask, 0, &[]).unwrap().wait().unwrap();
            assert_eq!(reply.word, LENGTH as u64);
            server.serve(None);
        });
        let receiving = scope.spawn(|| {
            until(|| begun.load(Ordering::Acquire));
            if has_room {
                first.wait().unwrap();
                answered.store(true, Ordering::Release);
                return None;
            }
            Some(first)
        });
        client.send(tell, 1, &[2; LENGTH]).unwrap();
        if let Some(first) = receiving.join().unwrap() {
            first.wait().unwrap();
        }
        client.request(echo, 0, &[]).unwrap().wait().unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
        client.close();
    });
}

fn who_waits_beneath_a_handler_that_waits_lets_it_go_first(scheme: &str) {
    who_waits_beneath_another_one_does_not_hold_it_up(scheme, Asks::First);
}

fn room_that_was_given_beneath_a_handler_that_waits_is_taken_back(scheme: &str) {
    who_waits_beneath_another_one_does_not_hold_it_up(scheme, Asks::Second);
    who_waits_beneath_another_one_does_not_hold_it_up(scheme, Asks::Again);
}

/// An answer frees credit for a waiting message and wakes a task. The message is sent although the
/// task occupies the receiving thread until that message has been handled.
fn who_waits_for_room_goes_before_what_an_answer_wakes(scheme: &str) {
    let (waits, told) = (Arc::<AtomicBool>::default(), Arc::new(AtomicU64::new(0)));
    let (waiting, was_told) = (waits.clone(), told.clone());
    let goes = Handlers::builder()
        .on_async("go", move |request: Request| {
            let (waits, told) = (waiting.clone(), was_told.clone());
            async move {
                let peer = request.peer();
                let (hold, tell) = (peer.handler("hold").unwrap(), peer.handler("tell").unwrap());
                let mut held = peer
                    .request_with(hold, 0, b"", Backpressure::Queue)
                    .unwrap();
                let departure = peer.send_with(tell, 1, b"", Backpressure::Queue).unwrap();
                let answer = poll_fn(|context| {
                    let polled = Pin::new(&mut held).poll(context);
                    waits.fetch_or(polled.is_pending(), Ordering::Release);
                    polled
                });
                drop(answer.await.unwrap());
                until(|| told.load(Ordering::Relaxed) == 1);
                departure.await.unwrap();
                request.reply(0, &[]);
            }
        })
        .build();
    let counted = told.clone();
    let there = Handlers::builder()
        .on("hold", move |request| {
            until(|| waits.load(Ordering::Acquire));
            request.reply(0, &[]);
        })
        .on("tell", move |request: Request| {
            counted.fetch_add(request.word(), Ordering::Relaxed);
        })
        .build();
    let (client, server) = joined_within(scheme, &goes, &there, (1, 100));
    let serving = client.start().unwrap();
    let go = server.handler("go").unwrap();
    server.request(go, 0, &[]).unwrap().wait().unwrap();
    drop(serving);
}

fn what_was_let_go_goes_on_though_it_has_waited_for_its_turn(scheme: &str) {
    let (gate, done) = (Arc::new(Guarded::new(false)), Arc::new(AtomicU64::new(0)));
    let (its, counted) = (gate.clone(), done.clone());
    let there = Handlers::builder()
        .on("echo", Request::echo)
        .on_async("work", move |request: Request| {
            let (gate, done) = (its.clone(), counted.clone());
            async move {
                drop(gate.when(|open| *open).await);
                done.fetch_add(1, Ordering::Relaxed);
                request.reply(0, &[]);
            }
        })
        .build();
    let (client, server) = joined_within(scheme, &Handlers::none(), &there, (2, 100));
    let serving = server.start().unwrap();
    let (echo, work) = (
        client.handler("echo").unwrap(),
        client.handler("work").unwrap(),
    );
    let firsts = [(); 2].map(|()| client.request(echo, 0, &[]).unwrap());
    let waited = client
        .request_with(work, 0, b"", Backpressure::Queue)
        .unwrap();
    for first in firsts {
        first.wait().unwrap();
    }
    waited.detach();
    // A cancellation would arrive before this request.
    client.request(echo, 0, &[]).unwrap().wait().unwrap();
    *gate.lock() = true;
    until(|| done.load(Ordering::Relaxed) == 1);
    drop(serving);
}

/// There are 65,536 request numbers, and an answer that was not taken yet still holds its number.
#[test]
fn who_waits_for_a_number_is_told_of_one() {
    let ran = Arc::new(AtomicU64::new(0));
    let counted = ran.clone();
    let there = Handlers::builder()
        .on("count", move |request| {
            counted.fetch_add(1, Ordering::Relaxed);
            request.reply(0, &[]);
        })
        .build();
    let window = (u16::MAX, 1 << 20);
    let (client, server) = joined_within("inproc", &Handlers::none(), &there, window);
    let serving = server.start().unwrap();
    let count = client.handler("count").unwrap();
    let asked = u64::from(u16::MAX) + 1;
    let ask = |i| {
        // The answers are received now and then, since the other side does not wait for long.
        if i % 1024 == 0 {
            client.poll();
        }
        client.request(count, 0, &[]).unwrap()
    };
    let mut tickets: Vec<_> = (0..asked).map(ask).collect();
    until(|| client.poll() == 0 && ran.load(Ordering::Relaxed) == asked);
    // Waits for the last answer, which may still be under way.
    until(|| client.poll() == 0 && server.status().under_way == 0);
    client.poll();
    let full = client
        .request_with(count, 0, b"", Backpressure::Fail)
        .unwrap_err();
    assert!(matches!(full, RequestError::NoCredit), "{full}");
    let waits = client
        .request_with(count, 0, b"", Backpressure::Queue)
        .unwrap();
    let mut ready = std::pin::pin!(client.attendant().ready(0));
    let task = testing::tasks::Task::new();
    assert!(testing::tasks::poll_once(ready.as_mut(), &task).is_pending());
    let before = task.woken();
    // From here on, the test does not poll the client.
    drop(tickets.swap_remove(0));
    until(|| ran.load(Ordering::Relaxed) == asked + 1);
    assert!(task.woken() > before);
    waits.wait().unwrap();
    drop((tickets, serving));
}

/// Answers that several threads queue return credit in the order in which they are sent, so a peer
/// that uses its whole window keeps its connection.
fn answers_of_many_threads_give_back_in_order(scheme: &str) {
    const LONG_ONE: usize = 16_000;
    let handlers = Handlers::builder()
        .on("answer", |request| {
            let answer = vec![7; 10 * LONG_ONE + request.bytes().len()];
            request.reply(0, &answer);
        })
        .worker()
        .executor(Arc::new(ThreadPool::new(4)))
        .build();
    let (client, server) = joined_within(scheme, &Handlers::none(), &handlers, (8, 5 * 16_000));
    let serving = thread::spawn(move || server.serve(None));
    let answer = client.handler("answer").unwrap();
    thread::scope(|scope| {
        for asker in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for turn in 0..200 {
                    let bytes = vec![1; if (turn + asker) % 2 == 0 { 1 } else { LONG_ONE }];
                    let reply = client.request(answer, 0, &bytes).unwrap().wait().unwrap();
                    assert_eq!(reply.payload.len(), 10 * LONG_ONE + bytes.len());
                }
            });
        }
    });
    drop(client);
    serving.join().unwrap();
}

over_devices!(inproc shm uds tcp uring: {
    tasks_wait_for_their_turns_on_one_thread
    who_waits_for_its_turn_is_told_of_the_end
    jbufs_and_queued_messages_wait_for_credit
    who_waits_beneath_a_handler_that_waits_lets_it_go_first
    room_that_was_given_beneath_a_handler_that_waits_is_taken_back
    who_waits_for_room_goes_before_what_an_answer_wakes
    what_was_let_go_goes_on_though_it_has_waited_for_its_turn
    answers_of_many_threads_give_back_in_order
});
