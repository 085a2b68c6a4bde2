//! Servers that answer by themselves, and so can break the protocol or hide that they end.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jstream::{Transportable, Writer};
use jstream_rmi::{
    Address, CallError, Client, Clock, Options, Outcome, Stream, StreamError, Stub, remote,
};
use jstream_transport::{Endpoint, Header, connect, listen};
use testing::frames::{HELLO, REPLY, REQUEST, table};

use crate::{LONG, options};

/// The codes of answers.
pub(crate) const RESULT: u64 = 0;
pub(crate) const ENDING: u64 = 10;

/// Result of looking up a name.
#[derive(Transportable)]
#[repr(u8)]
#[expect(dead_code, reason = "all variants of the protocol")]
enum Found<'b> {
    Object { number: u32 },
    Unknown,
    Other(&'b str),
}

/// A call of an object that was looked up.
pub(crate) struct RawCall<'a> {
    endpoint: &'a Endpoint,
    number: u64,
    pub(crate) method: u64,
    /// Number of calls over the connection before this one.
    pub(crate) before: u64,
}

impl RawCall<'_> {
    /// Answers with a code and a message.
    pub(crate) fn answer<T: Transportable>(&self, code: u64, message: &T) {
        send(
            self.endpoint,
            Header::new(REPLY, [self.number, code, 0]),
            message,
        );
    }
}

fn send<T: Transportable>(endpoint: &Endpoint, header: Header, message: &T) {
    let sent = Writer::new().gather(message, |segments| endpoint.send_message(header, segments));
    // The client may have closed the connection.
    let _ = sent.unwrap();
}

/// A server that finds an object under each name. Ends when it is dropped.
pub(crate) struct RawServer {
    address: Address,
    thread: Option<JoinHandle<()>>,
}

impl RawServer {
    pub(crate) fn start(
        address: &Address,
        answer: impl Fn(&RawCall<'_>) + Send + Sync + 'static,
    ) -> Self {
        let listener = listen(address, &Options::default()).unwrap();
        let answer = Arc::new(answer);
        let thread = thread::spawn(move || {
            loop {
                let endpoint = listener.accept().unwrap().establish().unwrap();
                let header = Header::new(HELLO, [1, 1000, 1 << 30]);
                let table = table();
                let segments = [IoSlice::new(&table)];
                endpoint.send_message(header, &segments).unwrap();
                let hello = endpoint.recv_message().unwrap();
                if hello.header.words[0] == STOP {
                    return;
                }
                let answer = answer.clone();
                thread::spawn(move || serve(&endpoint, answer.as_ref()));
            }
        });
        Self {
            address: address.clone(),
            thread: Some(thread),
        }
    }
}

/// A version that no client has. It ends the server.
const STOP: u64 = 99;

impl Drop for RawServer {
    fn drop(&mut self) {
        let endpoint = connect(&self.address, &Options::default()).unwrap();
        let header = Header::new(HELLO, [STOP, 0, 0]);
        endpoint.send_message(header, &[IoSlice::new(&[])]).unwrap();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(endpoint: &Endpoint, answer: &dyn Fn(&RawCall<'_>)) {
    let mut before = 0;
    while let Ok(message) = endpoint.recv_message() {
        let [first, word, _] = message.header.words;
        if message.header.kind != REQUEST {
            continue;
        }
        let (number, object, method) =
            (first & 0xffff_ffff, word & 0xffff_ffff, word >> 32 & 0x7fff);
        if object == 0 {
            let found = Found::Object { number: 1 };
            send(endpoint, Header::new(REPLY, [number, RESULT, 0]), &found);
            continue;
        }
        let call = RawCall {
            endpoint,
            number,
            method,
            before,
        };
        answer(&call);
        before += 1;
    }
}

#[remote]
trait Feed {
    #[remote(resume = "from")]
    fn numbers(&self, from: u64) -> Stream<u64>;
    #[remote(idempotent)]
    fn ping(&self) -> u64;
}

const NUMBERS: u64 = 0;

#[test]
fn a_stream_whose_items_are_missing_ends_at_its_deadline() {
    for is_ending in [false, true] {
        let address: Address = format!("inproc://raw-missing-{is_ending}").parse().unwrap();
        let _server = RawServer::start(&address, move |call| match call.method {
            // Five frames, of which none comes.
            NUMBERS => call.answer(RESULT, &5u64),
            _ if is_ending && call.before == 2 => call.answer(ENDING, &()),
            _ => call.answer(RESULT, &7u64),
        });
        let mut options = options(LONG);
        options.clock = Clock::paused();
        let clock = options.clock.clone();
        let client = Client::connect_with(&address, &options).wait().unwrap();
        let feed = client.lookup::<dyn Feed>("feed").wait().unwrap();
        let mut stream = feed.within(Duration::from_secs(1)).numbers(0);
        // The answer has arrived before the one of this call.
        assert_eq!(*feed.ping().wait().unwrap().get(), 7);
        let mut context = Context::from_waker(Waker::noop());
        assert!(stream.poll_next(&mut context).is_pending());
        // The server may say that it ends. The call is made over another connection then, and the
        // first one stays open for the stream.
        assert_eq!(*feed.ping().wait().unwrap().get(), 7);
        let (sender, receiver) = channel();
        thread::spawn(move || {
            assert!(
                stream
                    .poll_next(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
            sender.send(None).unwrap();
            let error = stream.next().wait().unwrap().unwrap_err();
            assert!(stream.next().wait().is_none());
            sender.send(Some(error)).unwrap();
        });
        assert!(
            receiver
                .recv_timeout(LONG)
                .expect("a poll returns")
                .is_none()
        );
        clock.advance(Duration::from_secs(2));
        let error = receiver.recv_timeout(LONG).expect("the stream ends");
        let Some(StreamError::Call(error)) = error else {
            panic!("{error:?}");
        };
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::Ran);
    }
}

#[test]
fn a_server_that_returns_calls_after_long_does_not_make_them_repeat_for_ever() {
    let address: Address = "inproc://raw-returns".parse().unwrap();
    let patience = Duration::from_millis(20);
    let _server = RawServer::start(&address, move |call| {
        thread::sleep(patience * 2);
        call.answer(ENDING, &());
    });
    let client = Client::connect_with(&address, &options(patience));
    let client = client.wait().unwrap();
    let feed = client.lookup::<dyn Feed>("feed").wait().unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(feed.within(Duration::MAX).numbers(0).next().wait()));
    let item = receiver.recv_timeout(LONG).expect("the call ends");
    let error = item.unwrap().unwrap_err();
    assert!(
        matches!(error, StreamError::Call(CallError::Disconnected { .. })),
        "{error}"
    );
}
