//! A forked process has copies of its parent's connections. Every use of them returns an error and
//! changes nothing in the parent.

use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use jstream_transport::active::{
    Backpressure, Handlers, Peer, PollGroup, Request, RequestError, Settings,
};
use jstream_transport::{
    CompletionQueue, Endpoint, Header, Options, Outcome, RecvError, SendError,
};
use testing::LONG;
use testing::process::alone;
use testing::tasks::block_on;
use testing::transport::{SCHEMES, default_pair};

/// Runs `work` in a forked child, and checks that the child succeeds.
fn in_child(work: impl FnOnce()) {
    // SAFETY: The child runs `work` on its only thread and exits. No other thread of this process
    // is inside the library or inside the allocator, whose locks the system keeps consistent across
    // a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let ended = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: `_exit` ends the process without running any other code of it.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `waitpid` waits for a child of this process, and writes to one integer, which is
    // live.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0), "the child has failed");
}

fn send(endpoint: &Endpoint, bytes: &[u8]) -> Result<(), SendError> {
    endpoint.send_message(Header::default(), &[IoSlice::new(bytes)])
}

fn exchange(one: &Endpoint, other: &Endpoint) {
    for (from, to) in [(one, other), (other, one)] {
        send(from, b"hello").unwrap();
        assert_eq!(to.recv_message().unwrap().payload.as_bytes(), b"hello");
    }
}

fn is_refused(endpoint: &Endpoint, queue: &CompletionQueue) {
    let error = send(endpoint, b"stray").unwrap_err();
    assert!(matches!(error, SendError::Forked { .. }), "{error}");
    let error = endpoint.recv_message().unwrap_err();
    assert!(matches!(error, RecvError::Forked { .. }), "{error}");
    let error = endpoint.recv_message_within(Duration::ZERO).unwrap_err();
    assert!(matches!(error, RecvError::Forked { .. }), "{error}");
    let missed = endpoint.post_recv(None).wait().unwrap_err();
    let error = RecvError::from(missed);
    assert!(matches!(error, RecvError::Forked { .. }), "{error}");
    let pool = Options::default().pool;
    let stray = pool.take(5).unwrap().copy_from(b"stray").unwrap();
    let unsent = endpoint.post_send(Header::default(), stray).wait();
    let error = SendError::from(unsent.unwrap_err());
    assert!(matches!(error, SendError::Forked { .. }), "{error}");
    queue.post_recv(endpoint, 9, None);
    while let Some(completion) = queue.wait(Duration::MAX) {
        match completion.outcome {
            Outcome::Received(Err(missed)) => {
                assert!(matches!(missed.error, RecvError::Forked { .. }), "{missed}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(block_on(queue.next()).is_err());
}

#[test]
fn endpoints_of_a_parent_are_refused_and_go_on_there() {
    alone(|| {
        for scheme in SCHEMES {
            let (client, server) = default_pair(scheme);
            exchange(&client, &server);
            let queue = CompletionQueue::new().unwrap();
            queue.post_recv(&server, 1, None);
            assert!(queue.poll().is_none());
            let mut all = Some((client, server, queue));
            in_child(|| {
                let (client, server, queue) = all.take().unwrap();
                is_refused(&client, &queue);
                is_refused(&server, &queue);
                server.close();
                drop((client, server, queue));
                // The `io_uring` ring of this thread belongs to the parent.
                if scheme != "uring" {
                    let (client, server) = default_pair(scheme);
                    exchange(&client, &server);
                }
            });
            let (client, server, queue) = all.unwrap();
            send(&client, b"posted").unwrap();
            assert_eq!(queue.wait(LONG).unwrap().user, 1);
            exchange(&client, &server);
        }
    });
}

fn joined(scheme: &str, handlers: &Handlers) -> (Peer, Peer) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let other = scope.spawn(|| Peer::join(server, handlers, Settings::default()).unwrap());
        let one = Peer::join(client, &Handlers::none(), Settings::default()).unwrap();
        (one, other.join().unwrap())
    })
}

fn is_forked<T: std::fmt::Debug>(outcome: Result<T, RequestError>) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, RequestError::Forked { .. }), "{error}");
}

#[test]
fn peers_and_bundles_of_a_parent_are_refused_and_go_on_there() {
    alone(|| {
        for scheme in SCHEMES {
            let handlers = Handlers::builder().on("echo", Request::echo).build();
            let (client, server) = joined(scheme, &handlers);
            let bundle = PollGroup::default();
            bundle.add(&server);
            let echo = client.handler("echo").unwrap();
            let mut all = Some((
                [(); 2].map(|()| client.request(echo, 1, b"before").unwrap()),
                client,
                server,
                bundle,
            ));
            in_child(|| {
                let ([first, second], client, server, bundle) = all.take().unwrap();
                is_forked(first.wait());
                is_forked(block_on(second));
                is_forked(client.request(echo, 0, &[]));
                is_forked(client.send_with(echo, 0, b"", Backpressure::Fail));
                is_forked(block_on(client.attendant().ready(0)));
                // Each of these calls would block for ever.
                bundle.serve();
                server.serve(None);
                drop(bundle.start().unwrap());
                assert!(client.has_ended());
                assert_eq!((bundle.poll(), server.poll()), (0, 0));
                drop((client, server, bundle));
            });
            let ([first, second], client, server, bundle) = all.unwrap();
            let serving = bundle.start().unwrap();
            for ticket in [first, second, client.request(echo, 1, b"before").unwrap()] {
                assert_eq!(ticket.wait().unwrap().payload.as_bytes(), b"before");
            }
            drop((serving, server));
        }
    });
}
