//! The hot paths, each prepared up to the operation that is counted.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use jstream::{Reader, Received, Transportable, Writer};
use jstream_rmi::{
    AddressList, Client, ClientOptions, ClientSet, LocalServer, ServerOptions, Serving, SetOptions,
    remote,
};
use jstream_transport::active::{Handlers, Peer, Request, Settings};
use jstream_transport::matching::{Arrival, Bounds, Envelope, Heading, Matcher, Post};
use jstream_transport::rank::{self, Mesh, Rank};
use jstream_transport::{Address, Endpoint, Header, Options, connect, listen};

use super::Failure;
use super::limits::OPERATIONS;

/// Operations of a path before the counted ones. They fill caches and lists that later operations
/// reuse.
const WARM_UP: u32 = 32;

const HEADER: Header = Header::new(1, [0; 3]);
const TAG: u64 = 7;

type Operation = Box<dyn FnMut() -> Result<(), Failure>>;

/// A path whose operation can be repeated.
pub(crate) struct HotPath {
    operation: Operation,
    /// Number of calls of `operation` that are counted.
    calls: u32,
}

impl HotPath {
    /// Creates a path, and warms it up.
    fn new(mut operation: impl FnMut() -> Result<(), Failure> + 'static) -> Self {
        for _ in 0..WARM_UP {
            must(operation());
        }
        Self {
            operation: Box::new(operation),
            calls: OPERATIONS,
        }
    }

    /// Repeats the operation. This is the counted part.
    pub(crate) fn repeat(mut self) -> Self {
        for _ in 0..self.calls {
            must((self.operation)());
        }
        self
    }
}

/// Returns the value of a result. A benchmark can only report a failure by a panic.
fn must<T>(result: Result<T, Failure>) -> T {
    match result {
        Ok(value) => value,
        Err(failure) => panic!("the path failed: {failure}"),
    }
}

#[derive(Transportable)]
struct Text {
    id: u64,
    text: String,
}

#[derive(Transportable)]
struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

#[derive(Transportable)]
struct Record {
    id: u64,
    name: String,
    scores: Vec<f32>,
}

fn text() -> Text {
    Text {
        id: 7,
        text: "a short text".to_owned(),
    }
}

/// Returns a list of four nodes.
fn list() -> Node {
    let first = Node {
        value: 0,
        next: None,
    };
    (1..4).fold(first, |next, value| Node {
        value,
        next: Some(Box::new(next)),
    })
}

fn records() -> Vec<Record> {
    let record = |id: u16| Record {
        id: u64::from(id),
        name: format!("record number {id}"),
        scores: vec![f32::from(id); 16],
    };
    (0..100).map(record).collect()
}

/// Writes a value into the same buffer repeatedly.
fn write<T: Transportable + 'static>(value: T) -> HotPath {
    let mut writer = Writer::new();
    let len = must(writer.message_len(&value).map_err(Failure::from));
    let mut buffer = Some(EmptyBuffer::heap(len));
    HotPath::new(move || {
        let into = buffer.take().ok_or("the buffer was lost")?;
        buffer = Some(writer.write(&value, into)?.into_empty());
        Ok(())
    })
}

/// Reads messages of a value, each in a buffer of its own.
fn read<T: Transportable + 'static>(value: &T) -> HotPath {
    let mut writer = Writer::new();
    let len = must(writer.message_len(value).map_err(Failure::from));
    let count = (WARM_UP + OPERATIONS) as usize;
    let message = |_| {
        must(
            writer
                .write(value, EmptyBuffer::heap(len))
                .map_err(Failure::from),
        )
    };
    let mut messages: Vec<MessageBuffer> = (0..count).map(message).collect();
    let mut received: Vec<Received<T>> = Vec::with_capacity(count);
    let mut reader = Reader::default();
    HotPath::new(move || {
        let message = messages.pop().ok_or("too few messages were prepared")?;
        received.push(reader.read(message)?);
        Ok(())
    })
}

pub(crate) fn write_u64() -> HotPath {
    write(7u64)
}

pub(crate) fn write_text() -> HotPath {
    write(text())
}

pub(crate) fn write_list() -> HotPath {
    write(list())
}

pub(crate) fn write_records() -> HotPath {
    write(records())
}

pub(crate) fn read_u64() -> HotPath {
    read(&7u64)
}

pub(crate) fn read_text() -> HotPath {
    read(&text())
}

pub(crate) fn read_list() -> HotPath {
    read(&list())
}

pub(crate) fn read_records() -> HotPath {
    read(&records())
}

/// Number of receives that are posted, or of messages that wait, in each matcher.
const POSTED: u32 = 100;

/// Number of matchers that take turns. Each hashes envelopes with a random key of its own, so with
/// many of them the counts of two runs are alike.
const MATCHERS: usize = 32;

fn envelope(n: u32) -> Envelope {
    Envelope {
        context: 1,
        source: n % 4,
        tag: u64::from(n),
    }
}

/// Returns matchers, each after `prepare` with the numbers of the receives or messages.
fn matchers(
    prepare: impl Fn(&mut Matcher<u32, u64>, u32) -> Result<(), Failure>,
) -> Vec<Matcher<u32, u64>> {
    let prepared = |_| {
        let mut matcher = Matcher::new(Bounds::default());
        for _ in 0..4 {
            matcher.add_source();
        }
        for n in 0..POSTED {
            must(prepare(&mut matcher, n));
        }
        matcher
    };
    (0..MATCHERS).map(prepared).collect()
}

/// Calls `operate` with each matcher in turn, and with the number of the turn.
fn in_turn(
    mut matchers: Vec<Matcher<u32, u64>>,
    operate: impl Fn(&mut Matcher<u32, u64>, u32) -> Result<(), Failure> + 'static,
) -> HotPath {
    let (mut at, mut turn) = (0, 0);
    HotPath::new(move || {
        let matcher = matchers.get_mut(at).ok_or("there is no matcher")?;
        operate(matcher, turn)?;
        at += 1;
        if at == matchers.len() {
            (at, turn) = (0, turn + 1);
        }
        Ok(())
    })
}

/// Matches a message with the first of many posted receives, and posts another receive.
pub(crate) fn match_posted() -> HotPath {
    let matchers = matchers(|matcher, n| {
        matcher.post(envelope(n).into(), None, n)?;
        Ok(())
    });
    in_turn(matchers, |matcher, turn| {
        let heading = Heading::new(envelope(turn), 8);
        let Arrival::Matched(matched) = matcher.arrive(heading, 0)? else {
            return Err("a message did not match the posted receive".into());
        };
        matcher.post(envelope(turn + POSTED).into(), None, matched.receive)?;
        Ok(())
    })
}

/// Matches a receive with the first of many waiting messages, and lets another message wait.
pub(crate) fn match_waiting() -> HotPath {
    let matchers = matchers(|matcher, n| {
        matcher.arrive(Heading::new(envelope(n), 8), 0)?;
        Ok(())
    });
    in_turn(matchers, |matcher, turn| {
        let Post::Matched(matched) = matcher.post(envelope(turn).into(), None, 0)? else {
            return Err("a receive did not match the waiting message".into());
        };
        matcher.arrive(Heading::new(envelope(turn + POSTED), 8), matched.message)?;
        Ok(())
    })
}

/// Returns both ends of a new connection. The thread that makes the handshake at one end ends with
/// it.
fn pair(address: &Address) -> Result<(Endpoint, Endpoint), Failure> {
    let options = Options::default();
    let listener = listen(address, &options)?;
    let address = listener.local_address().clone();
    let connecting = thread::spawn(move || connect(&address, &options));
    let accepted = listener.accept()?.establish()?;
    let connected = connecting
        .join()
        .map_err(|_| "the connecting thread panicked")??;
    Ok((connected, accepted))
}

fn inproc() -> (Endpoint, Endpoint) {
    must(
        Address::inproc("counts")
            .map_err(Failure::from)
            .and_then(|address| pair(&address)),
    )
}

fn shm() -> (Endpoint, Endpoint) {
    let name = format!("counts-{}", std::process::id());
    must(
        Address::shm(&name)
            .map_err(Failure::from)
            .and_then(|address| pair(&address)),
    )
}

/// Sends 8 bytes, and receives them into memory of the program.
fn into_memory((sender, receiver): (Endpoint, Endpoint)) -> HotPath {
    HotPath::new(move || {
        sender.send_message(HEADER, &[IoSlice::new(&[7; 8])])?;
        receiver.recv_into(&mut [0; 8])?;
        Ok(())
    })
}

/// Sends 8 bytes, and receives them in a buffer of the pool.
fn into_jbuf((sender, receiver): (Endpoint, Endpoint)) -> HotPath {
    HotPath::new(move || {
        sender.send_message(HEADER, &[IoSlice::new(&[7; 8])])?;
        receiver.recv_message()?;
        Ok(())
    })
}

pub(crate) fn inproc_into_memory() -> HotPath {
    into_memory(inproc())
}

pub(crate) fn inproc_into_jbuf() -> HotPath {
    into_jbuf(inproc())
}

pub(crate) fn shm_into_memory() -> HotPath {
    into_memory(shm())
}

pub(crate) fn shm_into_jbuf() -> HotPath {
    into_jbuf(shm())
}

/// Posts a receive, sends 8 bytes to it, and takes them.
fn posted_receive([sender, receiver]: [Rank; 2]) -> HotPath {
    let mut buffer = Some(EmptyBuffer::heap(8));
    HotPath::new(move || {
        let into = buffer.take().ok_or("the buffer was lost")?;
        let request = receiver.buffers().irecv_into(0, TAG, into);
        sender.send(1, TAG, &[7u8; 8])?;
        buffer = Some(request.wait()?.payload.into_empty());
        Ok(())
    })
}

pub(crate) fn posted_receive_threads() -> HotPath {
    let ranks = rank::threads(2, &rank::Options::default());
    let ranks = <[Rank; 2]>::try_from(ranks);
    posted_receive(must(ranks.map_err(|_| "two ranks were not created".into())))
}

pub(crate) fn posted_receive_shm() -> HotPath {
    let (first, second) = shm();
    let options = rank::Options::default();
    let rank = |rank, endpoint| {
        let mesh = Mesh::new(rank, 2, &options).endpoint(1 - rank, endpoint);
        must(mesh.map_err(Failure::from)).build()
    };
    posted_receive([rank(0, first), rank(1, second)])
}

/// Requests an active message, runs its handler, and takes the answer.
pub(crate) fn active_message() -> HotPath {
    let (asking, answering) = inproc();
    let serve = thread::spawn(move || {
        let handlers = Handlers::builder().on("echo", |request: Request| {
            let word = request.word();
            request.reply(word, &[]);
        });
        Peer::join(answering, &handlers.build(), Settings::default())
    });
    let asking = Peer::join(asking, &Handlers::none(), Settings::default());
    let asking = must(asking.map_err(Failure::from));
    let Ok(answering) = serve.join() else {
        panic!("the thread of the answering peer panicked");
    };
    let answering = must(answering.map_err(Failure::from));
    let handler = must(asking.handler("echo").map_err(Failure::from));
    HotPath::new(move || {
        let mut ticket = asking.request(handler, 7, &[])?;
        answering.poll();
        let answer = ticket.try_take().ok_or("the request was not answered")??;
        if answer.word != 7 {
            return Err("the answer is wrong".into());
        }
        Ok(())
    })
}

#[remote]
trait Service {
    fn null(&self);

    /// Calls `null` of this service over another connection, and then stops serving.
    async fn call_null(&self);
}

/// A service that calls itself, so that one thread is client and server.
#[derive(Default)]
struct Caller {
    stub: OnceLock<ServiceStub>,
    serving: Mutex<Option<Serving>>,
}

#[remote]
impl Service for Caller {
    fn null(&self) {}

    async fn call_null(&self) {
        let Some(stub) = self.stub.get() else {
            return;
        };
        for _ in 0..OPERATIONS {
            must(stub.null().await.map_err(Failure::from));
        }
        let serving = self
            .serving
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(serving);
    }
}

/// Calls a method without arguments and result through a client that reconnects, as clients do.
pub(crate) fn null_call() -> HotPath {
    calls_of(|address| {
        let client = Client::connect(address).wait()?;
        Ok(client.lookup::<dyn Service>("service").wait()?)
    })
}

/// Does the same through a client that does not reconnect.
pub(crate) fn null_call_once_connected() -> HotPath {
    calls_of(|address| {
        let mut options = ClientOptions::default();
        options.reconnect = None;
        let client = Client::connect_with(address, &options).wait()?;
        Ok(client.lookup::<dyn Service>("service").wait()?)
    })
}

/// Does the same through a set with one member.
pub(crate) fn null_call_set_of_one() -> HotPath {
    calls_of(|address| {
        let mut options = SetOptions::default();
        // The thread of the set stays off the connection.
        options.watch = Duration::from_secs(3600);
        let set = ClientSet::open_with(AddressList::new([address.clone()])?, &options)?;
        let stub = set.get::<dyn Service>("service");
        match set.ready().wait() {
            true => Ok(stub),
            false => Err("the set has not found the service".into()),
        }
    })
}

/// Calls a method without arguments and result as a task, and serves these calls. The counted part
/// includes the call that starts the task, and the end of the server.
fn calls_of(lookup: fn(&Address) -> Result<ServiceStub, Failure>) -> HotPath {
    let server = LocalServer::new(ServerOptions::default());
    let caller = Arc::new(Caller::default());
    must(
        server
            .bind::<dyn Service>("service", caller.clone())
            .map_err(Failure::from),
    );
    let address = must(Address::inproc("counts").map_err(Failure::from));
    let serving = must(server.listen(&address).map_err(Failure::from));
    let mut slot = caller
        .serving
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    *slot = Some(serving);
    drop(slot);
    thread::spawn(move || {
        let first = must(lookup(&address));
        let is_first = caller.stub.set(must(lookup(&address))).is_ok();
        assert!(is_first, "the service has one stub");
        // The connection may end before the answer.
        let _ = first.call_null().wait();
    });
    HotPath {
        operation: Box::new(move || {
            server.serve();
            Ok(())
        }),
        calls: 1,
    }
}
