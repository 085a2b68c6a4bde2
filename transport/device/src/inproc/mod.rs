//! Connections inside the process: queues through which buffers and objects move.
//!
//! | part | contents |
//! |---|---|
//! | `letter` | contents of the queue's slots |
//! | `bell` | wake-ups of sleeping threads and tasks |
//! | `halves` | the send half and the receive half of one direction |
//! | `names` | registry of listeners, with their backlogs |
//!
//! The queues between the halves are those of [`jstream_sync::ring`].

mod bell;
mod halves;
pub(super) mod letter;
#[cfg(all(test, loom))]
mod models;
mod names;

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use self::halves::{Direction, ReceiveHalf, SendHalf};
use self::letter::INLINE;
use self::names::{AcceptRequest, Backlog, RequestState, Unqueued};
use super::connection::{
    Accept, Accepted, Armed, Connection, Control, Device, Establish, Interest, Limits, MAX_REASON,
    PeerIdentity,
};
use super::deadline::Deadline;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{AcceptError, ConnectError, HandshakeError, ListenError};

const SCHEME: &str = "inproc";

/// Device of the addresses `inproc://name`.
pub(super) struct Inproc;

impl Device for Inproc {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        let backlog = Backlog::register(name_of(address), options.clone())
            .map_err(|source| ListenError::System {
                address: address.clone(),
                source,
            })?
            .ok_or_else(|| ListenError::InUse {
                address: address.clone(),
            })?;
        Ok(Box::new(NameListener {
            address: address.clone(),
            backlog,
        }))
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        let no_listener = || ConnectError::NoListener {
            address: address.clone(),
        };
        let handshake = |source| ConnectError::Handshake {
            address: address.clone(),
            source,
        };
        let backlog = Backlog::find(name_of(address)).ok_or_else(no_listener)?;
        let (ours, theirs) = pair(address, options, backlog.options());
        let request = AcceptRequest::new(theirs);
        backlog
            .push(&request, Deadline::after(options.connect_timeout))
            .map_err(|unqueued| match unqueued {
                Unqueued::Full => ConnectError::TimedOut {
                    address: address.clone(),
                    after: options.connect_timeout,
                },
                Unqueued::Closed => no_listener(),
            })?;
        match request.wait(Deadline::after(options.handshake_timeout)) {
            RequestState::Established => Ok(ours),
            RequestState::Refused(reason) => Err(ConnectError::Refused {
                address: address.clone(),
                reason,
            }),
            RequestState::Unheard => Err(no_listener()),
            RequestState::Dropped => Err(handshake(HandshakeError::Closed { received: 0 })),
            RequestState::Open | RequestState::Withdrawn => {
                backlog.forget(&request);
                Err(handshake(HandshakeError::TimedOut {
                    received: 0,
                    after: options.handshake_timeout,
                }))
            }
        }
    }
}

fn name_of(address: &Address) -> &str {
    let Address::Inproc { name, .. } = address else {
        panic!("the in-process device was given {address}")
    };
    name
}

/// Creates both sides of a connection. Each side receives according to its own options.
pub(super) fn pair(
    address: &Address,
    ours: &Options,
    theirs: &Options,
) -> (Connection, Connection) {
    let (to_us, from_them) = Direction::open(ours);
    let (to_them, from_us) = Direction::open(theirs);
    let [us, them] = [&to_us, &to_them].map(|sender| sender.direction().clone());
    (
        connection(address, to_them, from_them, &us, &them),
        connection(address, to_us, from_us, &them, &us),
    )
}

fn connection(
    address: &Address,
    outgoing: SendHalf,
    incoming: ReceiveHalf,
    to_us: &Arc<Direction>,
    to_them: &Arc<Direction>,
) -> Connection {
    Connection {
        peer: address.clone(),
        scheme: SCHEME,
        outgoing: Box::new(outgoing),
        incoming: Box::new(incoming),
        control: Arc::new(SideControl {
            to_us: to_us.clone(),
            to_them: to_them.clone(),
        }),
        limits: Limits {
            max_send: to_them.max_message(),
            max_receive: to_us.max_message(),
            inline: INLINE,
            eager: usize::MAX,
            moves: true,
        },
        identity: PeerIdentity::default(),
        degraded: Vec::new(),
    }
}

/// Control of one side of a connection.
struct SideControl {
    to_us: Arc<Direction>,
    to_them: Arc<Direction>,
}

impl Control for SideControl {
    fn close(&self) {
        self.to_us.close_receiver();
        self.to_them.close_sender();
    }
}

struct NameListener {
    address: Address,
    backlog: Arc<Backlog>,
}

impl Accept for NameListener {
    fn local(&self) -> &Address {
        &self.address
    }

    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError> {
        let closed = || AcceptError::ClosedLocally {
            address: self.address.clone(),
        };
        let request = self.backlog.pop().ok_or_else(closed)?;
        Ok(request.map(|request| Accepted {
            peer: self.address.clone(),
            half_made: Box::new(AcceptedRequest(request)),
        }))
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.backlog.event()
    }

    fn close(&self) {
        self.backlog.close();
    }
}

impl Drop for NameListener {
    fn drop(&mut self) {
        self.backlog.close();
    }
}

/// An accepted connection request that awaits its verdict. Inside the process there is nothing to
/// negotiate, so no call waits.
struct AcceptedRequest(Arc<AcceptRequest>);

impl Establish for AcceptedRequest {
    fn read_greeting(&mut self) -> Result<bool, HandshakeError> {
        Ok(true)
    }

    /// Succeeds unless the peer has given up.
    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError> {
        let connection = self.0.decide(RequestState::Established);
        let closed = HandshakeError::Closed { received: 0 };
        connection.map(Some).ok_or(closed)
    }

    fn decline(&mut self, reason: &str) {
        let cut = (0..=reason.len().min(MAX_REASON))
            .rev()
            .find_map(|length| reason.get(..length));
        let reason = cut.unwrap_or_default().escape_debug().to_string();
        self.0.decide(RequestState::Refused(reason));
    }

    fn timed_out(&self) -> HandshakeError {
        HandshakeError::Closed { received: 0 }
    }

    fn timeout(&self) -> Duration {
        Duration::MAX
    }

    fn arm(&mut self, _waker: &Waker) -> Armed {
        Armed::Ready
    }

    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)> {
        None
    }
}

impl Drop for AcceptedRequest {
    fn drop(&mut self) {
        self.0.decide(RequestState::Dropped);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
