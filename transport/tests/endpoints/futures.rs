//! Tickets as futures, under an executor that counts wake-ups.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self};

use jstream::Pool;
use jstream_transport::{
    Endpoint, Message, Options, RecvError, SendError, Unreceived, connect, listen,
};
use testing::patterns::bytes;
use testing::tasks::{Task, block_on, poll_once};
use testing::transport::{SCHEMES, fresh, header, pair};

fn number(message: &Message) -> u64 {
    message.header.words[0]
}

fn filled(payload: &[u8], pool: &Pool) -> jstream::MessageBuffer {
    pool.take(payload.len())
        .unwrap()
        .copy_from(payload)
        .unwrap()
}

fn send(endpoint: &Endpoint, number: u64, pool: &Pool) {
    let payload = filled(&number.to_le_bytes(), pool);
    endpoint.send_buffer(header(number), payload).unwrap();
}

#[test]
fn cancelled_futures_lose_no_message() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let task = Task::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..2000 {
                    send(&client, number, &options.pool);
                    if number % 16 == 0 {
                        thread::yield_now();
                    }
                }
            });
            let (mut next, mut dropped) = (0, 0);
            while next < 2000 {
                let mut receive = server.post_recv(None);
                // Drops every second future after one poll, whether it has a message or not.
                let polled = poll_once(Pin::new(&mut receive), &task);
                match polled {
                    Poll::Ready(message) => {
                        assert_eq!(number(&message.unwrap()), next, "{scheme}");
                        next += 1;
                    }
                    Poll::Pending if dropped % 2 == 0 => {
                        drop(receive);
                        dropped += 1;
                    }
                    Poll::Pending => {
                        assert_eq!(number(&block_on(receive).unwrap()), next, "{scheme}");
                        next += 1;
                        dropped += 1;
                    }
                }
            }
        });
        drop((client, server));
        assert_eq!(options.pool.stats().in_use, 0, "{scheme}");
    }
}

/// Futures are dropped while part of their message is in their jbuf.
#[test]
fn a_message_that_has_begun_survives_its_future() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let task = Task::new();
        let payload = bytes(8_000_000, 1);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..4 {
                    let message = filled(&payload, &options.pool);
                    client.send_buffer(header(round), message).unwrap();
                }
            });
            for round in 0..4 {
                let mut taken = false;
                for _ in 0..20 {
                    let mut receive = server.post_recv(options.pool.take(8_000_000).unwrap());
                    match poll_once(Pin::new(&mut receive), &task) {
                        Poll::Pending => drop(receive),
                        // The message completed in time.
                        Poll::Ready(message) => {
                            let message = message.unwrap();
                            assert_eq!(number(&message), round, "{scheme}");
                            assert!(message.payload.as_bytes() == payload, "{scheme}");
                            taken = true;
                            break;
                        }
                    }
                    // The rest may have arrived when the future was polled. The message is kept for
                    // the next receive.
                    if server.info().counters.messages_received > round {
                        break;
                    }
                }
                if !taken {
                    let message = block_on(server.post_recv(None)).unwrap();
                    assert_eq!(number(&message), round, "{scheme}");
                    assert!(message.payload.as_bytes() == payload, "{scheme}");
                }
            }
        });
        drop((client, server));
        assert_eq!(options.pool.stats().in_use, 0, "{scheme}");
    }
}

#[test]
fn a_task_is_woken_when_something_is_there() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let task = Task::new();
        for round in 0..100 {
            let mut receive = server.post_recv(None);
            assert!(poll_once(Pin::new(&mut receive), &task).is_pending());
            let before = task.woken();
            send(&client, round, &options.pool);
            task.wait(before);
            let message = loop {
                let before = task.woken();
                match poll_once(Pin::new(&mut receive), &task) {
                    Poll::Ready(message) => break message.unwrap(),
                    Poll::Pending => task.wait(before),
                }
            };
            assert_eq!(number(&message), round);
        }
        // One wake-up per message, and at most one more if a wake-up comes during a poll.
        assert!(task.woken() <= 200, "{scheme}: {}", task.woken());
        let rest = task.woken();
        send(&client, 100, &options.pool);
        assert_eq!(number(&server.recv_message().unwrap()), 100);
        assert_eq!(task.woken(), rest, "{scheme}: woken without a waiting task");
    }
}

/// Four threads wait with futures at one endpoint, and three more with blocking calls. Each message
/// is received once.
#[test]
fn no_wake_is_lost_under_load() {
    const MESSAGES: u64 = 20_000;
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let (sum, count) = (AtomicU64::new(0), AtomicU64::new(0));
        let took = |message: Message| {
            // The end markers come last.
            if number(&message) == u64::MAX {
                return false;
            }
            sum.fetch_add(number(&message), Ordering::Relaxed);
            count.fetch_add(1, Ordering::Relaxed);
            true
        };
        thread::scope(|scope| {
            for waits in [true, true, true, true, false, false, false] {
                let (server, took) = (&server, &took);
                scope.spawn(move || {
                    let receive = || {
                        if waits {
                            block_on(server.post_recv(None)).unwrap()
                        } else {
                            server.recv_message().unwrap()
                        }
                    };
                    while took(receive()) {}
                });
            }
            for number in 0..MESSAGES {
                send(&client, number, &options.pool);
                if number % 100 == 0 {
                    thread::yield_now();
                }
            }
            for _ in 0..7 {
                send(&client, u64::MAX, &options.pool);
            }
        });
        assert_eq!(count.into_inner(), MESSAGES, "{scheme}");
        assert_eq!(sum.into_inner(), MESSAGES * (MESSAGES - 1) / 2, "{scheme}");
    }
}

/// Large messages in both directions at once, with futures only.
#[test]
fn a_task_that_sends_is_woken_when_there_is_room() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let payload = bytes(3_000_000, 3);
        thread::scope(|scope| {
            for (one, other) in [(&client, &server), (&server, &client)] {
                let (payload, pool) = (&payload, &options.pool);
                scope.spawn(move || {
                    block_on(async {
                        for round in 0..5 {
                            let message = filled(payload, pool);
                            one.post_send(header(round), message).await.unwrap();
                        }
                    });
                });
                scope.spawn(move || {
                    block_on(async {
                        for round in 0..5 {
                            let message = other.post_recv(None).await.unwrap();
                            assert_eq!(number(&message), round);
                            assert!(message.payload.as_bytes() == payload);
                        }
                    });
                });
            }
        });
    }
}

#[test]
fn the_task_that_polled_last_is_woken() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let (first, second) = (Task::new(), Task::new());
        let mut receive = server.post_recv(None);
        assert!(poll_once(Pin::new(&mut receive), &first).is_pending());
        assert!(poll_once(Pin::new(&mut receive), &second).is_pending());
        send(&client, 1, &options.pool);
        second.wait(0);
        while poll_once(Pin::new(&mut receive), &second).is_pending() {
            thread::yield_now();
        }
    }
}

/// A forgotten future keeps its jbuf for ever, receives its message, and blocks no other operation.
#[test]
#[cfg_attr(address_sanitizer, ignore = "leaks on purpose")]
fn a_forgotten_future_holds_up_nobody() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let task = Task::new();
        let mut forgotten = server.post_recv(options.pool.take(100).unwrap());
        assert!(poll_once(Pin::new(&mut forgotten), &task).is_pending());
        std::mem::forget(forgotten);
        let mut sent = client.post_send(header(0), filled(b"forgotten", &options.pool));
        let _ = poll_once(Pin::new(&mut sent), &task);
        std::mem::forget(sent);
        send(&client, 1, &options.pool);
        let message = block_on(server.post_recv(None)).unwrap();
        assert_eq!(
            number(&message),
            1,
            "{scheme}: the forgotten one had the first"
        );
        // The connection still works in the other direction.
        send(&server, 2, &options.pool);
        assert_eq!(number(&block_on(client.post_recv(None)).unwrap()), 2);
        client.close();
        let end = block_on(server.post_recv(None)).unwrap_err();
        assert!(
            matches!(end.error, RecvError::Closed { .. } | RecvError::Lost { .. }),
            "{scheme}: {end}"
        );
    }
}

/// Returns the output of the future that is ready first.
async fn select<A, B>(one: A, two: B) -> Result<A::Output, B::Output>
where
    A: Future + Unpin,
    B: Future + Unpin,
{
    let (mut one, mut two) = (one, two);
    poll_fn(move |context| {
        if let Poll::Ready(output) = Pin::new(&mut one).poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut two).poll(context).map(Err)
    })
    .await
}

#[test]
fn one_task_waits_for_several_endpoints() {
    for scheme in SCHEMES {
        let options = Options::default();
        let pairs = [(); 2].map(|()| pair(scheme, &options, &options));
        thread::scope(|scope| {
            for (client, _) in &pairs {
                let pool = &options.pool;
                scope.spawn(move || {
                    for number in 0..1000 {
                        send(client, number, pool);
                        if number % 32 == 0 {
                            thread::yield_now();
                        }
                    }
                });
            }
            block_on(async {
                let mut next = [0; 2];
                while next != [1000; 2] {
                    let [one, two] = [0, 1].map(|which| pairs[which].1.post_recv(None));
                    // The future that was not ready is dropped, and created again.
                    let (which, message) = match select(one, two).await {
                        Ok(message) => (0, message),
                        Err(message) => (1, message),
                    };
                    assert_eq!(number(&message.unwrap()), next[which], "{scheme}");
                    next[which] += 1;
                }
            });
        });
    }
}

/// Two futures of one endpoint in one task: if one is dropped, the other still waits.
#[test]
fn a_dropped_future_leaves_its_neighbour_waiting() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let task = Task::new();
        for round in 0..100 {
            let mut goes = server.post_recv(None);
            let mut stays = server.post_recv(None);
            assert!(poll_once(Pin::new(&mut goes), &task).is_pending());
            assert!(poll_once(Pin::new(&mut stays), &task).is_pending());
            drop(goes);
            let before = task.woken();
            send(&client, round, &options.pool);
            task.wait(before);
            let message = loop {
                let before = task.woken();
                match poll_once(Pin::new(&mut stays), &task) {
                    Poll::Ready(message) => break message.unwrap(),
                    Poll::Pending => task.wait(before),
                }
            };
            assert_eq!(number(&message), round, "{scheme}");
        }
    }
}

#[test]
fn the_end_wakes_tasks() {
    for scheme in SCHEMES {
        for closes in [true, false] {
            let options = Options::default();
            let (client, server) = pair(scheme, &options, &options);
            let task = Task::new();
            let mut receive = server.post_recv(options.pool.take(10).unwrap());
            assert!(poll_once(Pin::new(&mut receive), &task).is_pending());
            if closes {
                server.close();
            } else {
                drop(client);
            }
            let Unreceived { error, buffer, .. } = loop {
                match poll_once(Pin::new(&mut receive), &task) {
                    Poll::Ready(message) => break message.unwrap_err(),
                    Poll::Pending => task.wait(0),
                }
            };
            assert!(buffer.is_some(), "{scheme}: the jbuf comes back");
            let expected = match error {
                RecvError::ClosedLocally { .. } => closes,
                RecvError::Closed { .. } => !closes,
                _ => false,
            };
            assert!(expected, "{scheme}: {error}");
        }
    }
}

#[test]
fn a_peer_that_does_not_read_is_an_error_of_the_future() {
    let mut options = Options::default();
    options.send_timeout = testing::SHORT;
    let (client, _server) = pair("tcp", &options, &options);
    let payload = bytes(30_000_000, 1);
    let unsent = block_on(client.post_send(header(0), filled(&payload, &options.pool)));
    let unsent = unsent.unwrap_err();
    assert!(
        matches!(unsent.error, SendError::Stalled { .. }),
        "{unsent}"
    );
    assert!(unsent.filled.as_bytes() == payload, "the jbuf comes back");
}

#[test]
fn a_task_accepts() {
    for scheme in SCHEMES {
        let options = Options::default();
        let listener = listen(&fresh(scheme), &options).unwrap();
        thread::scope(|scope| {
            let accepting = scope.spawn(|| {
                block_on(async {
                    let server = listener.accept_async().await.unwrap().establish().unwrap();
                    server.post_recv(None).await.unwrap()
                })
            });
            let client = connect(listener.local_address(), &options).unwrap();
            send(&client, 3, &options.pool);
            assert_eq!(number(&accepting.join().unwrap()), 3, "{scheme}");
        });
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("panic in a waker");
    }
}

/// A waker that panics affects neither the sender nor the next task.
#[test]
fn a_waker_that_panics_holds_up_nobody() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let bad = Waker::from(Arc::new(Panics));
        let task = Task::new();
        let mut first = pin!(server.post_recv(None));
        let mut second = pin!(server.post_recv(None));
        let polled = first.as_mut().poll(&mut Context::from_waker(&bad));
        assert!(polled.is_pending(), "{scheme}");
        assert!(poll_once(second.as_mut(), &task).is_pending(), "{scheme}");
        let before = task.woken();
        send(&client, 1, &options.pool);
        send(&client, 2, &options.pool);
        task.wait(before);
        let message = loop {
            let before = task.woken();
            match poll_once(second.as_mut(), &task) {
                Poll::Ready(message) => break message,
                Poll::Pending => task.wait(before),
            }
        };
        assert_eq!(number(&message.unwrap()), 2, "{scheme}");
        let Poll::Ready(message) = poll_once(first.as_mut(), &task) else {
            panic!("{scheme}: the first future is not ready")
        };
        assert_eq!(number(&message.unwrap()), 1, "{scheme}");
    }
}
