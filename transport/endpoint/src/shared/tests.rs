//! Tests with a scripted device.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, Weak, mpsc};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::{BufferWriter, MessageBuffer};

use super::{Half, Patience, Shared};
use crate::Endpoint;
use crate::gate::Credit;
use crate::ops::Notify;
use crate::receiving::{Choice, ReceiveSink, Replies};
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::byte_limit::ByteTotal;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{
    Armed, Body, Connection, Control, Fault, Incoming, Interest, Limits, Outbound, Outgoing,
    Payload, Push,
};
use jstream_device::deadline::Deadline;

/// Timeout after which a hanging test fails.
const LONG: Duration = Duration::from_secs(60);
/// Send timeout, longer than any test.
const NEVER: Duration = Duration::from_secs(240);
const ONE: Credit = Credit::of_message(0);

/// State of the scripted device, and its instructions.
#[derive(Default)]
struct Script {
    has_room: bool,
    /// Kinds of the messages that were sent.
    sent: Vec<u32>,
    here: VecDeque<Header>,
    /// For each payload that was received, the number of messages that had been sent before.
    sent_before: Vec<usize>,
    /// Waker to be called when there is room.
    waker: Option<Waker>,
}

#[derive(Clone)]
struct Scripted(Arc<Mutex<Script>>, Arc<File>);

impl Scripted {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    /// Blocks until `has_come` returns a value.
    fn until<R>(&self, details: &str, mut has_come: impl FnMut(&mut Script) -> Option<R>) -> R {
        let begun = Instant::now();
        loop {
            if let Some(result) = has_come(&mut self.script()) {
                return result;
            }
            assert!(begun.elapsed() < LONG, "{details}");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Control for Scripted {
    fn close(&self) {}
}

// SAFETY: It reads no memory after a call.
unsafe impl Outgoing for Scripted {
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault> {
        let mut script = self.script();
        if !script.has_room {
            return Ok(Push::Untouched);
        }
        script.sent.push(message.header.kind);
        Ok(Push::Done)
    }

    fn abandon(&mut self, _: &mut Outbound<'_>) {}

    fn arm(&mut self, waker: Option<&Waker>) -> Armed {
        let mut script = self.script();
        script.waker = waker.cloned();
        match script.has_room {
            true => Armed::Ready,
            false => Armed::Waker,
        }
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        (self.1.as_fd(), Interest::Writable)
    }

    fn wait(&mut self, _: Deadline) -> Result<(), Fault> {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

impl Incoming for Scripted {
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        Ok(self.script().here.front().copied())
    }

    fn payload(&mut self, _: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        let mut script = self.script();
        script.here.pop_front();
        let sent = script.sent.len();
        script.sent_before.push(sent);
        Ok(Some(Payload::Bytes(MessageBuffer::nothing())))
    }

    fn lift_limit(&mut self) {}

    fn begun(&self) -> u64 {
        0
    }

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        Armed::Waker
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.1.as_fd()
    }

    fn wait(&mut self, _: &mut Option<BufferWriter>, _: Deadline) -> Result<(), Fault> {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

/// Creates a connection whose device has no room for messages.
fn scripted() -> (Endpoint, Scripted) {
    scripted_with(NEVER)
}

fn scripted_with(send_timeout: Duration) -> (Endpoint, Scripted) {
    let file = File::open("/proc/self/exe").unwrap();
    let device = Scripted(Arc::default(), Arc::new(file));
    let connection = Connection {
        peer: "inproc://scripted".parse().unwrap(),
        identity: jstream_device::connection::PeerIdentity::default(),
        scheme: "inproc",
        outgoing: Box::new(device.clone()),
        incoming: Box::new(device.clone()),
        control: Arc::new(device.clone()),
        limits: Limits::of_lengths(1000, 1000, 1000),
        degraded: Vec::new(),
    };
    let mut options = Options::default();
    options.send_timeout = send_timeout;
    let address = "inproc://scripted".parse().unwrap();
    (Endpoint::new(&address, connection, &options), device)
}

fn message(kind: u32) -> Outbound<'static> {
    Outbound {
        header: Header::new(kind, [0; 3]),
        body: Body::Borrowed(&[]),
        is_exchange: false,
        taken: 0,
    }
}

fn post(shared: &Arc<Shared>, kind: u32, cost: Credit) {
    shared.post_with_credit(message(kind), None, Notify::Nobody, cost);
}

#[test]
fn who_has_paid_does_not_wait_for_those_who_have_not() {
    let (endpoint, device) = scripted();
    let shared = endpoint.shared();
    post(shared, 0, Credit::FREE);
    for kind in 1..4 {
        post(shared, kind, ONE);
    }
    let (done, sent) = mpsc::channel();
    let sender = endpoint.clone();
    thread::spawn(move || {
        let header = Header::new(4, [0; 3]);
        done.send(
            sender
                .shared()
                .send_segments(header, &[], Patience::For(NEVER), ONE),
        )
    });
    // Not under the lock of the script: a sender takes that lock while it holds the lock of the
    // direction.
    let begun = Instant::now();
    while shared.sending.lock().has_credit(ONE) {
        assert!(begun.elapsed() < LONG, "the message was not paid for");
        thread::sleep(Duration::from_millis(1));
    }
    post(shared, 5, ONE);
    assert!(shared.waits_for_credit());
    device.script().has_room = true;
    let sent = sent.recv_timeout(LONG);
    sent.expect("it waits for one that has no credit").unwrap();
    assert_eq!(device.script().sent, [0, 1, 2, 3, 4]);
    shared.sending.lock().restore_credit(ONE).unwrap();
    assert_eq!(device.script().sent, [0, 1, 2, 3, 4, 5]);
}

/// A receive sink that answers every message, as if a caller waited that drives the answers.
struct Answering;

impl ReceiveSink for Answering {
    fn choose(&self, _: &Header, _: &mut Replies) -> Choice {
        Choice::Brief
    }

    fn take(&self, header: &Header, _: Payload, _: &mut Replies) -> Result<(), HeaderError> {
        Err(HeaderError::Rank { kind: header.kind })
    }

    fn take_brief(
        &self,
        header: &Header,
        _: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        replies.push(message(header.kind), Notify::Request);
        Ok(())
    }

    fn starve(&self) {}

    fn lose(&self, _: RecvError) {}
}

#[test]
fn an_answer_goes_on_beside_who_sleeps_since_before() {
    let (endpoint, device) = scripted();
    let shared = endpoint.shared();
    assert!(shared.set_receive_sink(Arc::new(Answering)));
    // The task waits, and nothing was to be sent when it began to.
    assert!(shared.progress(Half::In, Some(Waker::noop()), None));
    assert!(device.script().waker.is_none());
    device.script().here.push_back(Header::new(7, [0; 3]));
    shared.drive();
    let room = device.until("nobody waits for room", |script| script.waker.take());
    device.script().has_room = true;
    room.wake();
    device.until("nobody sends it", |script| {
        (script.sent == [7]).then_some(())
    });
}

#[test]
fn answers_are_sent_before_a_long_message_is_received() {
    let (endpoint, device) = scripted();
    let shared = endpoint.shared();
    assert!(shared.set_receive_sink(Arc::new(Answering)));
    let kinds_and_lengths = [(1, 8), (2, 8), (3, 1 << 20)];
    {
        let mut script = device.script();
        script.has_room = true;
        let headers =
            kinds_and_lengths.map(|(kind, length)| Header::new(kind, [0; 3]).with_length(length));
        script.here.extend(headers);
    }
    shared.drive();
    // The answer to the first message goes with that to the second one.
    assert_eq!(device.script().sent_before, [0, 0, 2]);
    assert_eq!(device.script().sent, [1, 2, 3]);
}

/// The message times out although other tasks drive the direction all the time, while the device
/// stays armed: the tasks of a server whose pool is full do.
#[test]
fn a_message_times_out_while_other_tasks_poll() {
    let (endpoint, _device) = scripted_with(Duration::from_secs(1));
    let shared = endpoint.shared();
    let (charge, total) = {
        let total = Arc::new(ByteTotal::default());
        let connection: Weak<Shared> = Arc::downgrade(shared);
        (total.holder(connection).charge_anyway(100), total)
    };
    shared.post_with_position(message(1), None, Some(charge), |_, _| {});
    shared.carry();
    assert_eq!(total.bytes(), 100);
    let begun = Instant::now();
    while shared.has_unsent() {
        shared.progress(Half::Out, Some(Waker::noop()), None);
        assert!(begun.elapsed() < LONG, "it does not time out");
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(total.bytes(), 0, "its bytes are still charged");
}
