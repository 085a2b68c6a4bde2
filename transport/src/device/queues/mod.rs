//! Links inside the process: queues that jbufs move through.

mod channel;
mod names;

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::Filled;

use self::channel::{Channel, End, Refusal};
use self::names::Backlog;
use super::link::{Close, Closer, Link, Message, ReceiveHalf, SendHalf, payload_length};
use super::listener::{Accept, Establish, Incoming, Listener};
use super::{Device, sealed};
use crate::address::Address;
use crate::error::{
    AcceptError, ConnectError, HandshakeError, ListenError, RecvError, SendError, Unsent,
};
use crate::header::Header;
use crate::options::Options;

/// The device of `inproc://name`.
pub(super) struct Inproc;

impl sealed::Sealed for Inproc {}

impl Device for Inproc {
    fn scheme(&self) -> &'static str {
        "inproc"
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Listener, ListenError> {
        let backlog = Backlog::register(name_of(address), options.clone()).ok_or_else(|| {
            ListenError::InUse {
                address: address.clone(),
            }
        })?;
        let listening = Listening {
            address: address.clone(),
            backlog,
        };
        Ok(Listener::new(address.clone(), listening))
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Link, ConnectError> {
        let no_listener = || ConnectError::NoListener {
            address: address.clone(),
        };
        let backlog = Backlog::of(name_of(address)).ok_or_else(no_listener)?;
        let (ours, theirs) = pair(address, options, backlog.options());
        backlog
            .push(theirs, options.connect_timeout)
            .map_err(|refusal| match refusal {
                Refusal::Full => ConnectError::TimedOut {
                    address: address.clone(),
                    after: options.connect_timeout,
                },
                Refusal::Gone | Refusal::ClosedLocally => no_listener(),
            })?;
        Ok(ours)
    }
}

fn name_of(address: &Address) -> &str {
    let Address::Inproc { name } = address else {
        panic!("the in-process device was given {address}")
    };
    name
}

/// Both ends of a new link, each of which receives according to its own options.
fn pair(address: &Address, ours: &Options, theirs: &Options) -> (Link, Link) {
    let to_us = Arc::new(Channel::new(ours));
    let to_them = Arc::new(Channel::new(theirs));
    (
        link(address, ours, &to_us, &to_them),
        link(address, theirs, &to_them, &to_us),
    )
}

fn link(
    address: &Address,
    options: &Options,
    to_us: &Arc<Channel>,
    to_them: &Arc<Channel>,
) -> Link {
    let side = Arc::new(Side {
        to_us: to_us.clone(),
        to_them: to_them.clone(),
        peer: address.clone(),
    });
    let closer = Closer::of(&side);
    let sender = InprocSender {
        side: side.clone(),
        send_timeout: options.send_timeout,
    };
    Link::new(address.clone(), sender, InprocReceiver { side }, closer)
}

/// One end of a link.
struct Side {
    to_us: Arc<Channel>,
    to_them: Arc<Channel>,
    peer: Address,
}

impl Close for Side {
    fn close(&self) {
        self.to_us.end_receiver(End::Closed);
        self.to_them.end_sender(End::Closed);
    }
}

struct InprocSender {
    side: Arc<Side>,
    send_timeout: Duration,
}

impl InprocSender {
    /// Waits until a message of `length` bytes may be queued.
    fn admit(&self, length: Option<u64>) -> Result<u64, SendError> {
        let channel = &self.side.to_them;
        let max = channel.max_message();
        let length = length
            .filter(|length| *length <= max)
            .ok_or_else(|| SendError::TooLarge {
                length: length.unwrap_or(u64::MAX),
                max,
                peer: self.side.peer.clone(),
            })?;
        channel
            .wait_for_room(length, self.send_timeout)
            .map_err(|refusal| self.refused(refusal))?;
        Ok(length)
    }

    fn refused(&self, refusal: Refusal) -> SendError {
        let peer = self.side.peer.clone();
        match refusal {
            Refusal::Full => SendError::TimedOut {
                after: self.send_timeout,
                peer,
            },
            Refusal::Gone => SendError::Closed { peer },
            Refusal::ClosedLocally => SendError::ClosedLocally { peer },
        }
    }

    fn copy(&self, length: u64, segments: &[IoSlice<'_>]) -> Result<Filled, SendError> {
        // What is longer than an address space, no pool has.
        let capacity = usize::try_from(length).unwrap_or(usize::MAX);
        let spent = self.side.to_them.pool().take(capacity);
        let mut filling = spent
            .map_err(|source| SendError::NoBuffer {
                length,
                peer: self.side.peer.clone(),
                source,
            })?
            .filling();
        for segment in segments {
            if !filling.extend(segment) {
                unreachable!("the jbuf has room for all segments");
            }
        }
        Ok(filling.finish())
    }
}

impl SendHalf for InprocSender {
    fn send(&mut self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        let length = self.admit(payload_length(segments))?;
        let filled = self.copy(length, segments)?;
        let message = Message::new(header.with_length(length), filled);
        self.side
            .to_them
            .push(message)
            .map_err(|(refusal, _)| self.refused(refusal))
    }

    fn send_filled(&mut self, header: Header, filled: Filled) -> Result<(), Unsent> {
        let length = match self.admit(Some(filled.len() as u64)) {
            Ok(length) => length,
            Err(error) => return Err(Unsent { error, filled }),
        };
        let message = Message::new(header.with_length(length), filled);
        self.side
            .to_them
            .push(message)
            .map_err(|(refusal, message)| Unsent {
                error: self.refused(refusal),
                filled: message.payload,
            })
    }

    fn max_message(&self) -> u64 {
        self.side.to_them.max_message()
    }
}

impl Drop for InprocSender {
    fn drop(&mut self) {
        self.side.to_them.end_sender(End::Dropped);
    }
}

struct InprocReceiver {
    side: Arc<Side>,
}

impl ReceiveHalf for InprocReceiver {
    fn receive(&mut self, timeout: Option<Duration>) -> Result<Message, RecvError> {
        self.side.to_us.pop(timeout).map_err(|refusal| {
            let peer = self.side.peer.clone();
            match refusal {
                Refusal::Full => RecvError::TimedOut {
                    after: timeout.unwrap_or_default(),
                    peer,
                },
                Refusal::Gone => RecvError::Closed { peer },
                Refusal::ClosedLocally => RecvError::ClosedLocally { peer },
            }
        })
    }

    fn max_message(&self) -> u64 {
        self.side.to_us.max_message()
    }
}

impl Drop for InprocReceiver {
    fn drop(&mut self) {
        self.side.to_us.end_receiver(End::Dropped);
    }
}

struct Listening {
    address: Address,
    backlog: Arc<Backlog>,
}

impl Accept for Listening {
    fn accept(&self) -> Result<Incoming, AcceptError> {
        match self.backlog.pop() {
            Some(link) => Ok(Incoming::new(self.address.clone(), Ready(link))),
            None => Err(AcceptError::ClosedLocally {
                address: self.address.clone(),
            }),
        }
    }

    fn closer(&self) -> Closer {
        Closer::of(&self.backlog)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.backlog.close();
    }
}

/// Inside the process there is nothing to agree on.
struct Ready(Link);

impl Establish for Ready {
    fn establish(self: Box<Self>) -> Result<Link, HandshakeError> {
        Ok(self.0)
    }
}
