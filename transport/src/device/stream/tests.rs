//! The halves of connections, driven as the endpoints do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use jstream::buffer::{Filled, Pool, Spent};

use super::assembly::FAREWELL;
use super::hello::Hello;
use crate::address::Address;
use crate::device::connection::*;
use crate::device::deadline::Deadline;
use crate::device::poll::sleep_on;
use crate::header::Header;
use crate::options::Options;

/// Longer than anything here takes, so that a hang becomes a failure.
const LONG: Duration = Duration::from_secs(60);

/// Options with which nothing times out.
pub(crate) fn options() -> Options {
    let mut options = Options::new(Pool::default());
    options.handshake_timeout = LONG;
    options
}

/// The next connection of a listener.
pub(crate) fn accept(listener: &dyn Accept) -> Accepted {
    loop {
        if let Some(accepted) = listener.try_accept().unwrap() {
            return accepted;
        }
        let slept = sleep_on(
            [(listener.source(), Interest::Readable)],
            Deadline::after(LONG),
        );
        assert!(slept.unwrap(), "nobody came");
    }
}

/// Both ends of a connection: the one that connected, the one that accepted.
pub(crate) fn pair(device: &dyn Device, at: &Address) -> (Connection, Connection) {
    let listener = device.listen(at, &options()).unwrap();
    let at = listener.local();
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| device.connect(at, &options()).unwrap());
        let accepted = accept(&*listener).half_made.establish().unwrap();
        (connecting.join().unwrap(), accepted)
    })
}

/// Sends all of a message.
pub(crate) fn send(outgoing: &mut dyn Outgoing, kind: u32, body: Body<'_>) -> Result<(), Fault> {
    let length: usize = match &body {
        Body::Borrowed(segments) => segments.iter().map(|segment| segment.len()).sum(),
        Body::Owned(filled) => filled.len(),
        Body::Object(_) | Body::Taken => unreachable!(),
    };
    let mut message = Outbound {
        header: Header::new(kind, [1, 2, 3]).with_length(length as u64),
        body,
        taken: 0,
    };
    while outgoing.push(&mut message)? != Push::Done {
        outgoing.wait(Deadline::after(LONG))?;
    }
    Ok(())
}

/// How a receiver waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    Blocking,
    Spinning,
    Polling,
}

pub(crate) const WAYS: [Way; 3] = [Way::Blocking, Way::Spinning, Way::Polling];

/// Receives a message, into a jbuf of the program where there is one.
pub(crate) fn recv(
    incoming: &mut dyn Incoming,
    way: Way,
    posted: Option<Spent>,
) -> Result<(Header, Filled), Fault> {
    let mut into = None;
    let header = loop {
        match incoming.header()? {
            Some(header) => break header,
            None => rest(incoming, &mut into, way)?,
        }
    };
    let mut into = posted.map(Spent::filling);
    loop {
        match incoming.payload(&mut into)? {
            Some(Payload::Bytes(filled)) => return Ok((header, filled)),
            Some(Payload::Object(_)) => unreachable!(),
            None => rest(incoming, &mut into, way)?,
        }
    }
}

fn rest(
    incoming: &mut dyn Incoming,
    into: &mut Option<jstream::buffer::Filling>,
    way: Way,
) -> Result<(), Fault> {
    match way {
        Way::Blocking => incoming.wait(into, Deadline::after(LONG))?,
        Way::Spinning => std::thread::yield_now(),
        Way::Polling => {
            if incoming.arm(None) == Armed::Source {
                let source = [(incoming.source(), Interest::Readable)];
                assert!(sleep_on(source, Deadline::after(LONG)).unwrap());
            }
        }
    }
    Ok(())
}

/// Bytes that differ from place to place and from message to message.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        })
        .collect()
}
