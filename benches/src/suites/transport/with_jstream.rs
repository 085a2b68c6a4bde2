//! Endpoints of jstream.

use std::hint::black_box;
use std::io::IoSlice;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jstream::buffer::{MessageBuffer, Pool};
use jstream::{Transportable, Writer};
use jstream_transport::{
    Address, Completion, CompletionQueue, Endpoint, Header, Options, Outcome, connect, listen,
};

use super::case::{Case, LARGE, Pattern, RECORDS, Way, Work};
use super::pair::Waiting;
use super::raw::spin;
use super::side::{Channel, FILL, Over, Samples, Side, sum};
use super::socket_buffers;
use super::trusted::Shared;
use crate::Failure;
use crate::measure::since;

/// Listens, and accepts the connections of the case.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Waiting, Failure> {
    let (case, subject) = (*case, subject.to_owned());
    let options = options(&case, &subject);
    let listener = listen(&address(&case, &subject)?, &options)?;
    let address = listener.local_address().to_string();
    Ok(Waiting::new(address.clone(), move || {
        let endpoints = (0..connections(&case)).map(|_| Ok(listener.accept()?.establish()?));
        let endpoints = endpoints.collect::<Result<_, Failure>>()?;
        socket_buffers::apply(&subject, &address)?;
        side(&case, &subject, &options, endpoints)
    }))
}

/// Connects to the listener.
pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Side>, Failure> {
    let (to, options) = (address.parse()?, options(case, subject));
    let endpoints = (0..connections(case)).map(|_| Ok(connect(&to, &options)?));
    let endpoints = endpoints.collect::<Result<_, Failure>>()?;
    socket_buffers::apply(subject, address)?;
    side(case, subject, &options, endpoints)
}

fn connections(case: &Case) -> usize {
    match case.pattern {
        Pattern::Connections(count) => count,
        _ => 1,
    }
}

fn options(case: &Case, subject: &str) -> Options {
    let mut options = Options::default();
    if subject == "jstream-trusted" {
        // SAFETY: both processes run this program, which names its addresses after its own process
        // id.
        options = unsafe { options.trust_peer() };
    }
    if case.pattern == Pattern::Large {
        options.max_message = 2 * LARGE as u64;
        options.queue_bytes = options.max_message;
    }
    options.spin = if case.spins {
        Duration::MAX
    } else {
        Duration::ZERO
    };
    options
}

/// Returns a unique address for the transport of the case.
fn address(case: &Case, subject: &str) -> Result<Address, Failure> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("jstream-benches-{}-{count}", process::id());
    Ok(match case.way {
        Way::Inproc => Address::inproc(&name)?,
        Way::Shm => Address::shm(&name)?,
        Way::Uds => Address::uds(&format!("@{name}"))?,
        Way::Uring if subject != "jstream-tcp" => Address::uring("127.0.0.1", 0)?,
        Way::Tcp | Way::Uring => Address::tcp("127.0.0.1", 0)?,
    })
}

/// Returns a side of the connections that sends and receives in the way of the subject.
fn side(
    case: &Case,
    subject: &str,
    options: &Options,
    endpoints: Vec<Endpoint>,
) -> Result<Box<dyn Side>, Failure> {
    if let Pattern::Connections(_) = case.pattern {
        return Ok(Box::new(Many::new(case, endpoints)?));
    }
    let endpoint = endpoints.into_iter().next().ok_or("no connection")?;
    if subject == "jstream-trusted" && !endpoint.info().degraded.is_empty() {
        return Err(endpoint.info().degraded.concat().into());
    }
    let messages = Messages {
        endpoint,
        sent: vec![FILL; case.bytes],
        received: vec![0; case.bytes],
    };
    Ok(match (case.pattern, subject) {
        (Pattern::Records, "jstream" | "jstream-trusted" | "jstream-endpoint") => {
            Box::new(Over::new(Records::new(messages.endpoint)))
        }
        (Pattern::Records, "jstream-sent-on") => {
            Box::new(Over::new(Received::new(messages.endpoint, records())))
        }
        (Pattern::Large, _) => {
            let words = if subject == "jstream-8" { 1 } else { LARGE / 8 };
            Box::new(Over::new(Received::new(
                messages.endpoint,
                vec![7u64; words],
            )))
        }
        (Pattern::Records, _) => {
            let anew = subject == "jstream-bytes";
            Box::new(Over::new(Encoded::new(messages.endpoint, anew)?))
        }
        (_, "jstream-trusted") => Box::new(Over::new(Shared {
            endpoint: messages.endpoint,
            ready: messages.sent,
            touch: case.touch,
        })),
        (_, "jstream-recv-into") => Box::new(Over::new(Into(messages))),
        (_, "jstream-filled") => Box::new(Over::new(Moving {
            pool: options.pool.clone(),
            kept: None,
            messages,
        })),
        _ => Box::new(Over::new(messages)),
    })
}

pub(super) const HEADER: Header = Header::new(1, [0; 3]);

/// Channel that sends directly from the program's memory and receives into jbufs.
struct Messages {
    endpoint: Endpoint,
    sent: Vec<u8>,
    /// Receive buffer of [`Into`].
    received: Vec<u8>,
}

impl Channel for Messages {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        if let Some(fill) = fill {
            self.sent.fill(fill);
        }
        Ok(self
            .endpoint
            .send_message(HEADER, &[IoSlice::new(&self.sent)])?)
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let message = self.endpoint.recv_message()?;
        Ok(if look {
            sum(message.payload.as_bytes())
        } else {
            0
        })
    }
}

/// Channel that sends like [`Messages`] and receives into memory of the program.
struct Into(Messages);

impl Channel for Into {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        self.0.send(fill)
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        self.0.endpoint.recv_into(&mut self.0.received)?;
        Ok(if look { sum(&self.0.received) } else { 0 })
    }
}

/// Channel that sends back each jbuf that it has received. The first jbuf is taken from the pool.
struct Moving {
    messages: Messages,
    pool: Pool,
    /// Last jbuf received.
    kept: Option<MessageBuffer>,
}

impl Channel for Moving {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        let mut filled = match self.kept.take() {
            Some(filled) => filled,
            None => self
                .pool
                .take(self.messages.sent.len())?
                .copy_from(&self.messages.sent)?,
        };
        if let Some(fill) = fill {
            filled.as_bytes_mut().fill(fill);
        }
        self.messages.endpoint.send_buffer(HEADER, filled)?;
        Ok(())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let message = self.messages.endpoint.recv_message()?;
        let bytes = message.payload.as_bytes();
        let sum = if look { sum(bytes) } else { 0 };
        self.kept = Some(message.payload);
        Ok(sum)
    }
}

/// A record with text and numbers.
#[derive(Transportable)]
pub(super) struct Record {
    id: u64,
    name: String,
    scores: Vec<f32>,
}

pub(super) fn records() -> Vec<Record> {
    let record = |i: usize| Record {
        id: i as u64,
        name: format!("record number {i}"),
        scores: vec![i as f32; 16],
    };
    (0..RECORDS).map(record).collect()
}

/// Channel of objects that are written directly to the connection, and read in the jbufs in which
/// they arrive.
struct Records {
    endpoint: Endpoint,
    value: Vec<Record>,
}

impl Records {
    fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            value: records(),
        }
    }
}

impl Channel for Records {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        Ok(self.endpoint.send(&self.value)?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let received = self.endpoint.recv::<Vec<Record>>()?;
        Ok(black_box(&received).get().len() as u64)
    }
}

/// Channel of an object that is sent on as received, in the same jbuf.
struct Received<T: Transportable + 'static> {
    endpoint: Endpoint,
    first: T,
    kept: Option<jstream::Received<T>>,
}

impl<T: Transportable> Received<T> {
    fn new(endpoint: Endpoint, first: T) -> Self {
        Self {
            endpoint,
            first,
            kept: None,
        }
    }
}

macro_rules! channel {
    ($($t:ty),*) => {$(
        impl Channel for Received<$t> {
            fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
                match self.kept.take() {
                    Some(kept) => self.endpoint.send_received(0, kept).map_err(|e| e.error)?,
                    None => self.endpoint.send(&self.first)?,
                }
                Ok(())
            }

            fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
                let kept = self.endpoint.recv::<$t>()?;
                let length = kept.get().len() as u64;
                self.kept = Some(kept);
                Ok(length)
            }
        }
    )*};
}

channel!(Vec<u64>, Vec<Record>);

/// Channel of the bytes of the same objects, which are not read as objects.
struct Encoded {
    endpoint: Endpoint,
    /// Source from which the bytes are copied for each message, which corresponds to the writing of
    /// objects. `None` if they are sent unmodified.
    anew: Option<Vec<u8>>,
    bytes: Vec<u8>,
    sum: u64,
}

impl Encoded {
    fn new(endpoint: Endpoint, anew: bool) -> Result<Self, Failure> {
        let collect = |segments: &[IoSlice<'_>]| {
            segments
                .iter()
                .flat_map(|segment| segment.iter().copied())
                .collect::<Vec<u8>>()
        };
        let bytes = Writer::new().gather(&records(), collect)?;
        Ok(Self {
            endpoint,
            sum: sum(&bytes),
            anew: anew.then(|| bytes.clone()),
            bytes,
        })
    }
}

impl Channel for Encoded {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        if let Some(anew) = &self.anew {
            self.bytes.copy_from_slice(anew);
        }
        Ok(self
            .endpoint
            .send_message(HEADER, &[IoSlice::new(&self.bytes)])?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let message = self.endpoint.recv_message()?;
        let sum = sum(message.payload.as_bytes());
        if sum != self.sum {
            return Err("the received bytes differ from the bytes sent".into());
        }
        Ok(sum)
    }
}

/// Many connections, whose messages arrive through one completion queue.
struct Many {
    endpoints: Vec<Endpoint>,
    queue: CompletionQueue,
    /// True if the side spins and never sleeps.
    spins: bool,
    sent: Vec<u8>,
    samples: Samples,
}

impl Many {
    fn new(case: &Case, endpoints: Vec<Endpoint>) -> Result<Self, Failure> {
        let queue = CompletionQueue::new()?;
        for (user, endpoint) in (0..).zip(&endpoints) {
            queue.post_recv(endpoint, user, None);
        }
        Ok(Self {
            endpoints,
            queue,
            spins: case.spins,
            sent: vec![FILL; case.bytes],
            samples: Samples::default(),
        })
    }

    fn next(&self) -> Result<Completion, Failure> {
        if self.spins {
            return spin(|| Ok(self.queue.poll()));
        }
        let completion = self.queue.wait(Duration::from_secs(60));
        completion.ok_or_else(|| "no message arrived within 60 s".into())
    }

    /// Receives `count` messages in the order in which they arrive, and answers each if `answer`.
    fn serve(&mut self, count: usize, answer: bool) -> Result<(), Failure> {
        for _ in 0..count {
            let completion = self.next()?;
            let Outcome::Received(message) = completion.outcome else {
                return Err("a completion is not that of a receive".into());
            };
            let message = message.map_err(|e| e.error)?;
            black_box(sum(message.payload.as_bytes()));
            let endpoint = self.endpoints.get(completion.user as usize);
            let endpoint = endpoint.ok_or("no such connection")?;
            self.queue
                .post_recv(endpoint, completion.user, message.payload.into_empty());
            if answer {
                endpoint.send_message(HEADER, &[IoSlice::new(&self.sent)])?;
            }
        }
        Ok(())
    }
}

impl Side for Many {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let start = Instant::now();
            for _ in 0..work.batch {
                for endpoint in &self.endpoints {
                    endpoint.send_message(HEADER, &[IoSlice::new(&self.sent)])?;
                }
                self.serve(self.endpoints.len(), false)?;
            }
            self.samples.push(since(start, work.batch * work.share()));
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        self.serve(work.exchanges() * self.endpoints.len(), true)
    }
}
