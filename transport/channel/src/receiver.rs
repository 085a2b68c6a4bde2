//! The receiving side of a channel.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use jstream::{Received, Transportable};

use super::described::learn_description;
use super::error::RecvError;
use super::near::{NearLink, Parcel};
use super::object_form::ObjectForm;
use super::peer_set::PeerSet;
use super::peers::{PeerConnection, PeerSnapshot};
use super::versions::Version;
use jstream_base::Address;
use jstream_base::Header;
use jstream_device::deadline::Deadline;
use jstream_endpoint::object::{message_of, object_of, read, read_with};
use jstream_endpoint::queue::Done;
use jstream_endpoint::receiving::{Arrived, Inbound};
use jstream_endpoint::shared::Shared;
use jstream_endpoint::spin::Spin;
use jstream_endpoint::{CompletionQueue, Endpoint, Message, RecvObjectError};

/// Number of objects taken directly from connections in a row, after which the completion queue is
/// polled first.
const IN_A_ROW: u32 = 64;

pub(super) type Outcome<O> = Result<O, RecvError>;

/// The receiving side of a channel. Clones share the senders, and any number of threads and tasks
/// may receive at the same time. Each object goes to one of them.
///
/// The objects of one sender arrive in order, and the senders are served in round-robin order.
/// While objects arrive quickly, they are taken directly from the connections. A receiver that
/// blocks waits for all senders at once.
///
/// Dropping the last clone closes the channel. Objects that were sent but not received are lost.
pub struct Receiver<T: Transportable + 'static> {
    pub(super) peers: Arc<PeerSet<T>>,
    waits: Arc<WaitState>,
}

/// State of waiting, shared by the clones.
#[derive(Debug)]
struct WaitState {
    /// Outcomes of recent waits, from which the spin duration is chosen.
    habit: AtomicU8,
    /// Number of objects taken since the completion queue was polled last.
    in_a_row: AtomicU32,
}

impl<T: Transportable + 'static> Receiver<T> {
    pub(super) fn new(peers: Arc<PeerSet<T>>) -> Self {
        Self {
            peers,
            waits: Arc::new(WaitState {
                habit: AtomicU8::new(0),
                in_a_row: AtomicU32::new(0),
            }),
        }
    }

    /// Returns the address of the channel. Port 0 is replaced by the actual port.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.peers.address
    }

    /// Starts the spinning of a wait.
    pub(super) fn begin_spin(&self, deadline: Deadline) -> Spin {
        let habit = self.waits.habit.load(Ordering::Relaxed);
        Spin::begin(self.peers.options.spin, habit, deadline)
    }

    /// Ends the spinning of a wait, and records its outcome.
    pub(super) fn end_spin(&self, spin: Spin) {
        let mut habit = self.waits.habit.load(Ordering::Relaxed);
        spin.end(&mut habit);
        self.waits.habit.store(habit, Ordering::Relaxed);
    }

    pub(super) fn queue(&self) -> &CompletionQueue {
        let Some(queue) = &self.peers.queue else {
            unreachable!("a receiving side has a queue")
        };
        queue
    }

    /// Returns an object that has already arrived: from the connection for peers without a posted
    /// receive, from the completion queue for the others. If `settled`, objects that a sender in
    /// this process is still inserting into its ring are waited for, so that no object sent earlier
    /// is missed.
    #[inline]
    pub(super) fn attempt<O: ObjectForm<T>>(&self, settled: bool) -> Option<Outcome<O>> {
        if let Some(link) = self.peers.alone() {
            if let Some(parcel) = if settled {
                link.take_settled()
            } else {
                link.take()
            } {
                return Some(Self::unpack(parcel, link));
            }
            if !link.has_ended() {
                return None;
            }
        }
        self.attempt_all(settled)
    }

    fn attempt_all<O: ObjectForm<T>>(&self, settled: bool) -> Option<Outcome<O>> {
        let PeerSnapshot {
            count,
            is_posted,
            is_closed,
            first,
        } = self.peers.snapshot();
        if is_closed {
            return Some(self.closed());
        }
        if is_posted && self.waits.in_a_row.load(Ordering::Relaxed) >= IN_A_ROW {
            if let Some(outcome) = self.poll_queue() {
                return Some(outcome);
            }
        }
        let others = (1..count).map(|_| self.peers.next_to_poll());
        for connection in std::iter::once(first).chain(others).flatten() {
            let outcome = match &connection {
                PeerConnection::Far(endpoint) => self.poll_endpoint(endpoint),
                PeerConnection::Near(link) => self.poll_link(link, settled),
            };
            if let Some(outcome) = outcome {
                let in_a_row = &self.waits.in_a_row;
                let more = in_a_row.load(Ordering::Relaxed).saturating_add(1);
                in_a_row.store(more, Ordering::Relaxed);
                return Some(outcome);
            }
        }
        if is_posted { self.poll_queue() } else { None }
    }

    #[inline]
    fn unpack<O: ObjectForm<T>>(parcel: Parcel<T>, link: &NearLink<T>) -> Outcome<O> {
        let mut kept = None;
        let outcome = O::of_parcel(parcel, link, &mut kept);
        if let Some(parcel) = kept {
            link.keep(parcel);
        }
        outcome
    }

    /// Returns an object from a sender in this process. A sender that has ended sends no more, but
    /// the objects that it has already sent are still received.
    fn poll_link<O: ObjectForm<T>>(
        &self,
        link: &Arc<NearLink<T>>,
        settled: bool,
    ) -> Option<Outcome<O>> {
        let has_ended = link.has_ended();
        let parcel = if settled || has_ended {
            link.take_settled()
        } else {
            link.take()
        };
        if let Some(parcel) = parcel {
            return Some(Self::unpack(parcel, link));
        }
        if has_ended {
            self.peers.remove(&PeerConnection::Near(link.clone()));
            return self.peers.is_closed().then(|| self.closed());
        }
        None
    }

    /// Returns an object from a sender outside of this process.
    fn poll_endpoint<O: ObjectForm<T>>(&self, endpoint: &Endpoint) -> Option<Outcome<O>> {
        let shared = endpoint.shared();
        let mut inbound = Inbound::empty();
        if !shared.poll_message(&mut inbound) {
            return None;
        }
        let version = self.peers.versions.get(shared);
        let object = match (inbound.other, version) {
            (None, None) => read(inbound.message, shared),
            (None, Some(version)) => read_version(&version, inbound.message, shared),
            (Some(Ok(arrived)), _) => self.object_of(arrived, shared),
            (Some(Err(error)), _) => return self.handle_error(endpoint, error),
        };
        Some(self.outcome(object))
    }

    /// Returns the object of a message from a sender outside of this process, whatever its version.
    fn object_of(
        &self,
        arrived: Arrived,
        shared: &Arc<Shared>,
    ) -> Result<(Header, Received<T>), RecvObjectError> {
        match self.peers.versions.get(shared) {
            Some(version) => read_version(&version, message_of(arrived, shared)?, shared),
            None => object_of(arrived, shared),
        }
    }

    fn poll_queue<O: ObjectForm<T>>(&self) -> Option<Outcome<O>> {
        self.waits.in_a_row.store(0, Ordering::Relaxed);
        while let Some(done) = self.queue().poll_done() {
            if let Some(outcome) = self.handle_completion(done) {
                return Some(outcome);
            }
        }
        None
    }

    /// Converts a completion of the queue to an outcome, if it has one.
    pub(super) fn handle_completion<O: ObjectForm<T>>(&self, done: Done) -> Option<Outcome<O>> {
        match done {
            Done::Received(_, receipt, endpoint) => {
                self.peers
                    .handle_received(&endpoint, receipt.is_ok(), self.queue());
                match receipt {
                    Ok(arrived) => Some(self.outcome(self.object_of(arrived, endpoint.shared()))),
                    Err(missed) => self.handle_error(&endpoint, missed.error),
                }
            }
            Done::Sent(..) | Done::Ready(_) => None,
            Done::Called => self.peers.handle_call(self.queue()).then(|| self.closed()),
        }
    }

    fn outcome<O: ObjectForm<T>>(
        &self,
        read: Result<(Header, Received<T>), RecvObjectError>,
    ) -> Outcome<O> {
        match read {
            Ok((_, received)) => O::of_received(received, self.address()),
            Err(RecvObjectError::Read { peer, source, .. }) => {
                Err(RecvError::Read { peer, source })
            }
            Err(RecvObjectError::Receive(error)) => Err(RecvError::NoRoom(error)),
        }
    }

    /// Converts an error of an endpoint. Returns `None` if receiving continues. If the connection
    /// has ended, it is removed.
    fn handle_error<O>(
        &self,
        endpoint: &Endpoint,
        error: jstream_base::RecvError,
    ) -> Option<Outcome<O>> {
        use jstream_base::RecvError::{
            Cancelled, Closed, Empty, NoBuffer, Object, TimedOut, TooSmall,
        };
        match error {
            Empty | Cancelled | TimedOut { .. } | TooSmall { .. } => None,
            NoBuffer { .. } | Object { .. } => Some(Err(RecvError::NoRoom(error))),
            Closed { .. } => {
                self.peers.remove(&PeerConnection::Far(endpoint.clone()));
                self.peers.is_closed().then(|| self.closed())
            }
            source => self
                .peers
                .remove(&PeerConnection::Far(endpoint.clone()))
                .then(|| {
                    Err(RecvError::Lost {
                        peer: endpoint.peer().clone(),
                        source,
                    })
                }),
        }
    }

    fn closed<O>(&self) -> Outcome<O> {
        Err(RecvError::Closed {
            address: self.address().clone(),
        })
    }
}

/// Reads an object of another version, which may bring schemas along.
fn read_version<T: Transportable + 'static>(
    version: &Version,
    mut message: Message,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    version.with_reader(|reader| {
        learn_description(reader, &mut message);
        read_with(reader.reader(), message, shared)
    })
}

impl<T: Transportable + 'static> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self {
            peers: self.peers.clone(),
            waits: self.waits.clone(),
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver")
            .field(&self.peers.address)
            .finish()
    }
}
