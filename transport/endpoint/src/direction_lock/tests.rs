//! Tests with a device whose descriptors can't be registered with epoll.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::fs::File;
use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use jstream::buffer::{BufferWriter, EmptyBuffer};

use crate::Endpoint;
use jstream_base::Header;
use jstream_base::Options;
use jstream_device::connection::{
    Armed, Connection, Control, Fault, Incoming, Interest, Limits, Outbound, Outgoing, Payload,
    Push,
};
use jstream_device::deadline::Deadline;

/// A device that takes and delivers nothing. Its source is a regular file, which epoll does not
/// support.
struct Plain(File);

impl Plain {
    fn open() -> Box<Self> {
        Box::new(Self(File::open("/proc/self/exe").unwrap()))
    }
}

impl Control for Plain {
    fn close(&self) {}
}

// SAFETY: It reads no memory of a message.
unsafe impl Outgoing for Plain {
    fn push(&mut self, _: &mut Outbound<'_>) -> Result<Push, Fault> {
        Ok(Push::Untouched)
    }

    fn abandon(&mut self, _: &mut Outbound<'_>) {}

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        Armed::Source
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        (self.0.as_fd(), Interest::Writable)
    }

    fn wait(&mut self, _: Deadline) -> Result<(), Fault> {
        Ok(())
    }
}

impl Incoming for Plain {
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        Ok(None)
    }

    fn payload(&mut self, _: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        Ok(None)
    }

    fn lift_limit(&mut self) {}

    fn begun(&self) -> u64 {
        0
    }

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        Armed::Source
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn wait(&mut self, _: &mut Option<BufferWriter>, _: Deadline) -> Result<(), Fault> {
        Ok(())
    }
}

/// A waker that uses the endpoint on the thread that calls it.
struct Eager {
    endpoint: Endpoint,
    woken: AtomicU32,
}

impl Wake for Eager {
    fn wake(self: Arc<Self>) {
        self.endpoint
            .recv_message_within(Duration::ZERO)
            .unwrap_err();
        self.endpoint
            .try_send_message(Header::default(), &[])
            .unwrap_err();
        self.woken.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls the operation that `post` returns with an [`Eager`] waker.
fn is_woken_without_the_lock<F: Future + Unpin>(post: impl Fn(&Endpoint) -> F + Send + 'static) {
    let address = "inproc://plain".parse().unwrap();
    let connection = Connection {
        peer: "inproc://plain".parse().unwrap(),
        identity: jstream_device::connection::PeerIdentity::default(),
        scheme: "inproc",
        outgoing: Plain::open(),
        incoming: Plain::open(),
        control: Arc::new(*Plain::open()),
        limits: Limits::of_lengths(1000, 1000, 0),
        degraded: Vec::new(),
    };
    let endpoint = Endpoint::new(&address, connection, &Options::default());
    let (done, told) = mpsc::channel();
    thread::spawn(move || {
        let mut posted = post(&endpoint);
        let eager = Arc::new(Eager {
            endpoint: endpoint.clone(),
            woken: AtomicU32::new(0),
        });
        let waker = Waker::from(eager.clone());
        let polled = Pin::new(&mut posted).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let woken = eager.woken.load(Ordering::Relaxed);
        endpoint.close();
        done.send(woken).unwrap();
        // The waker keeps the connection alive, and the posted operation keeps the waker alive.
        drop(posted);
    });
    let woken = told.recv_timeout(Duration::from_secs(60));
    assert!(woken.expect("the waker waits for the lock that it was called under") > 0);
}

#[test]
fn a_task_is_told_to_look_itself_without_the_lock_of_what_receives() {
    is_woken_without_the_lock(|endpoint| endpoint.post_recv(None));
}

#[test]
fn a_task_is_told_to_look_itself_without_the_lock_of_what_sends() {
    is_woken_without_the_lock(|endpoint| {
        let filled = EmptyBuffer::heap(1).copy_from(&[1]).unwrap();
        endpoint.post_send(Header::default(), filled)
    });
}
