//! Blocking sockets that send a length and the bytes of a message, and receive a result in the same
//! form. Also contains the code shared by all subjects that send bytes instead of calls.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::thread;

use rustix::time::ClockId;

use super::address::name;
use super::case::{Case, IN_FLIGHT, Way, What};
#[cfg(feature = "tls")]
use super::certificates::Certificates;
use super::pair::Serving;
use super::samples::Samples;
use super::service::{Arguments, Expected, Given, Tally, computed, sum_of_bytes, tally_of_bytes};
use super::subject::{Caller, one_by_one};
use crate::Failure;

/// Bytes of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    bytes: [u8; 16],
    len: usize,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Computes the result for the bytes of a call.
pub(super) fn answer(what: What, bytes: &[u8]) -> Answer {
    let word = |word: [u8; 8]| (u128::from(u64::from_le_bytes(word)), 8);
    let (result, len) = match what {
        What::Null | What::Flood | What::Waits | What::Objects(_) | What::Stream => (0, 0),
        What::Sum(_) => word(sum_of_bytes(bytes).to_le_bytes()),
        What::Untouched(_) => word(computed(ClockId::ThreadCPUTime).to_le_bytes()),
        What::Structs(_) => {
            let Tally { count, sum } = tally_of_bytes(bytes);
            (u128::from(count) | u128::from(sum.to_bits()) << 64, 16)
        }
    };
    Answer {
        bytes: result.to_le_bytes(),
        len,
    }
}

/// Decodes the bytes of a result.
fn given(what: What, bytes: &[u8]) -> Result<Given, Failure> {
    let word = |place: usize| -> Result<u64, Failure> {
        let word = bytes.get(place..place + 8).ok_or("a result is too short")?;
        Ok(u64::from_le_bytes(word.try_into()?))
    };
    Ok(match what {
        What::Null | What::Flood | What::Waits | What::Objects(_) | What::Stream => Given::Nothing,
        What::Sum(_) => Given::Sum(f64::from_bits(word(0)?)),
        What::Untouched(_) => Given::Computed(word(0)?),
        What::Structs(_) => Given::Tally(Tally {
            count: word(0)?,
            sum: f64::from_bits(word(8)?),
        }),
    })
}

/// One side of a connection for messages.
pub(super) trait Channel {
    fn send(&mut self, message: &[u8]) -> Result<(), Failure>;

    /// Receives a message, and returns the result of `look` for its bytes.
    fn recv<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Result<R, Failure>;

    /// Sends `count` empty messages, at most [`IN_FLIGHT`], and receives as many.
    fn burst(&mut self, count: usize) -> Result<(), Failure>;
}

/// The calling side, which sends bytes and receives a result.
pub(super) struct Exchange<C> {
    what: What,
    channel: C,
    message: Vec<u8>,
    expected: Expected,
}

impl<C: Channel> Exchange<C> {
    pub(super) fn new(case: &Case, channel: C) -> Self {
        let arguments = Arguments::of(case);
        Self {
            what: case.what,
            channel,
            message: arguments.bytes(),
            expected: Expected::of(case, &arguments),
        }
    }

    fn call(&mut self) -> Result<Given, Failure> {
        self.channel.send(&self.message)?;
        let given = self.channel.recv(|bytes| given(self.what, bytes))??;
        self.expected.check(given)?;
        Ok(given)
    }
}

impl<C: Channel> Caller for Exchange<C> {
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        one_by_one(samples, || self.call())
    }

    fn flood(&mut self, calls: usize) -> Result<(), Failure> {
        for _ in 0..calls / IN_FLIGHT {
            self.channel.burst(IN_FLIGHT)?;
        }
        Ok(())
    }
}

/// Serves one connection until the peer closes it.
pub(super) fn serve(case: &Case) -> Result<Serving, Failure> {
    let what = case.what;
    let server = thread::Builder::new().name("raw".to_owned());
    if case.way == Way::Uds {
        let name = name();
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        let server = server.spawn(move || -> Result<(), Failure> {
            Stream::new(listener.accept()?.0).serve(what)
        })?;
        return Ok(Serving::new(name, server));
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    #[cfg(feature = "tls")]
    let is_encrypted = case.is_encrypted();
    let server = server.spawn(move || -> Result<(), Failure> {
        let socket = listener.accept()?.0;
        socket.set_nodelay(true)?;
        #[cfg(feature = "tls")]
        if is_encrypted {
            return Stream::new(Certificates::of_run()?.accepted(socket)?).serve(what);
        }
        Stream::new(socket).serve(what)
    })?;
    Ok(Serving::new(address, server))
}

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    if case.way == Way::Uds {
        let address = SocketAddr::from_abstract_name(address)?;
        let socket = UnixStream::connect_addr(&address)?;
        return Ok(Box::new(Exchange::new(case, Stream::new(socket))));
    }
    let socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    #[cfg(feature = "tls")]
    if case.is_encrypted() {
        let stream = Stream::new(Certificates::of_run()?.connected(socket)?);
        return Ok(Box::new(Exchange::new(case, stream)));
    }
    Ok(Box::new(Exchange::new(case, Stream::new(socket))))
}

/// Size in bytes of the length that precedes each message.
const LENGTH: usize = 8;

/// A socket with its send and receive buffers.
struct Stream<S> {
    socket: S,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// Start of the bytes in `received` that were not read yet.
    start: usize,
    end: usize,
}

impl<S: Read + Write> Stream<S> {
    fn new(socket: S) -> Self {
        Self {
            socket,
            sent: Vec::new(),
            received: vec![0; 1 << 16],
            start: 0,
            end: 0,
        }
    }

    fn serve(&mut self, what: What) -> Result<(), Failure> {
        loop {
            let answer = self.recv(|bytes| answer(what, bytes))?;
            push(&mut self.sent, answer.as_ref());
            // Messages that arrived together are answered together.
            if self.start == self.end {
                self.flush()?;
            }
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.socket.write_all(&self.sent)?;
        self.sent.clear();
        Ok(())
    }

    /// Receives until `count` unread bytes are available.
    fn fill(&mut self, count: usize) -> Result<(), Failure> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.start + count > self.received.len() {
            self.received.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let len = self.received.len().max(count);
            self.received.resize(len, 0);
        }
        while self.end - self.start < count {
            let room = self.received.get_mut(self.end..).unwrap_or_default();
            match self.socket.read(room)? {
                0 => return Err("the other side has ended".into()),
                more => self.end += more,
            }
        }
        Ok(())
    }
}

/// Appends a message to the send buffer.
fn push(sent: &mut Vec<u8>, message: &[u8]) {
    sent.extend((message.len() as u64).to_le_bytes());
    sent.extend(message);
}

impl<S: Read + Write> Channel for Stream<S> {
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        // A message that does not change is not copied again.
        if self.sent.len() != LENGTH + message.len() {
            self.sent.clear();
            push(&mut self.sent, message);
        }
        self.socket.write_all(&self.sent)?;
        Ok(())
    }

    fn recv<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Result<R, Failure> {
        self.fill(LENGTH)?;
        let length = self.received.get(self.start..self.start + LENGTH);
        let length = u64::from_le_bytes(length.unwrap_or_default().try_into()?) as usize;
        self.fill(LENGTH + length)?;
        let start = self.start + LENGTH;
        let message = self.received.get(start..start + length);
        self.start = start + length;
        Ok(look(message.unwrap_or_default()))
    }

    fn burst(&mut self, count: usize) -> Result<(), Failure> {
        self.sent.clear();
        for _ in 0..count {
            push(&mut self.sent, &[]);
        }
        self.flush()?;
        for _ in 0..count {
            self.recv(|_| ())?;
        }
        Ok(())
    }
}
