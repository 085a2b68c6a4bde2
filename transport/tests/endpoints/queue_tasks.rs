//! Completion queues with tasks, with programs that poll, and beside other receives.

use std::future::Future;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread::{self};
use std::time::Duration;

use jstream_transport::{CompletionQueue, Options};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use testing::LONG;
use testing::tasks::{Task, block_on};
use testing::transport::queues::received;
use testing::transport::{SCHEMES, pair, send};

#[test]
fn tasks_share_a_queue() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        let (user, ..) = received(block_on(queue.next()).unwrap());
                        if user == 1 {
                            break;
                        }
                        count.fetch_add(1, Ordering::Relaxed);
                        queue.post_recv(&server, 0, None);
                    }
                });
            }
            queue.post_recv(&server, 0, None);
            for number in 0..3000 {
                send(&client, number, b"", &options.pool);
                if number % 64 == 0 {
                    thread::yield_now();
                }
            }
            while count.load(Ordering::Relaxed) < 3000 {
                thread::yield_now();
            }
            // The first of these completes the pending receive; the others end the tasks.
            for _ in 0..4 {
                queue.post_recv(&server, 1, None);
            }
            for number in 0..4 {
                send(&client, number, b"", &options.pool);
            }
        });
        assert_eq!(count.into_inner(), 3001, "{scheme}");
    }
}

/// A dropped future takes no completion, and another future of the same task still gets its
/// completion.
#[test]
fn a_dropped_future_takes_nothing() {
    let options = Options::default();
    let (client, server) = pair("tcp", &options, &options);
    let queue = CompletionQueue::new().unwrap();
    let task = Task::new();
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    for number in 0..200 {
        queue.post_recv(&server, number, None);
        let mut stays = pin!(queue.next());
        assert!(stays.as_mut().poll(&mut context).is_pending());
        {
            let mut goes = pin!(queue.next());
            assert!(goes.as_mut().poll(&mut context).is_pending());
        }
        let before = task.woken();
        send(&client, number, b"x", &options.pool);
        task.wait(before);
        let completion = loop {
            match stays.as_mut().poll(&mut context) {
                Poll::Ready(completion) => break completion.unwrap(),
                Poll::Pending => thread::park_timeout(LONG),
            }
        };
        assert_eq!(received(completion), (number, number, b"x".to_vec()));
    }
}

fn is_readable(queue: &CompletionQueue, timeout: Duration) -> bool {
    let mut fds = [PollFd::new(queue, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::try_from(timeout).unwrap())).unwrap() > 0
}

#[test]
fn its_descriptor_can_be_polled() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        let _ = queue.as_fd();
        for number in 0..100 {
            queue.post_recv(&server, number, None);
            assert!(queue.poll().is_none(), "{scheme}");
            assert!(!is_readable(&queue, Duration::ZERO), "{scheme}");
            send(&client, number, b"x", &options.pool);
            let completion = loop {
                assert!(is_readable(&queue, LONG), "{scheme}");
                if let Some(completion) = queue.poll() {
                    break completion;
                }
            };
            assert_eq!(received(completion).1, number);
        }
        // A completion that was produced by another thread's receive is signalled too.
        queue.post_recv(&server, 100, None);
        assert!(queue.poll().is_none());
        thread::scope(|scope| {
            let other = scope.spawn(|| server.recv_message_within(LONG).unwrap());
            send(&client, 100, b"x", &options.pool);
            send(&client, 101, b"x", &options.pool);
            assert!(is_readable(&queue, LONG), "{scheme}");
            assert_eq!(other.join().unwrap().header.words[0], 101);
        });
        assert_eq!(received(queue.wait(LONG).unwrap()).1, 100);
    }
}

/// A future and a blocking call progress at an endpoint whose completion queue is not polled.
#[test]
fn others_do_not_depend_on_a_queue() {
    for scheme in SCHEMES {
        let options = Options::default();
        let (client, server) = pair(scheme, &options, &options);
        let queue = CompletionQueue::new().unwrap();
        for round in 0..100 {
            queue.post_recv(&server, round, None);
            if round % 3 > 0 {
                assert!(queue.poll().is_none());
            }
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    if round % 2 == 0 {
                        block_on(server.post_recv(None)).unwrap()
                    } else {
                        server.recv_message_within(LONG).unwrap()
                    }
                });
                send(&client, 2 * round, b"", &options.pool);
                thread::yield_now();
                send(&client, 2 * round + 1, b"", &options.pool);
                let message = other.join().unwrap();
                assert_eq!(message.header.words[0], 2 * round + 1, "{scheme}");
            });
            assert_eq!(received(queue.poll().unwrap()).1, 2 * round, "{scheme}");
        }
    }
}
