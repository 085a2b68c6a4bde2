//! The steps of a handshake: a [`Newcomer`] exchanges the greetings of the device, and becomes a
//! [`Candidate`], which exchanges those of the layer above.
//!
//! Dropping either of them ends the connection, so an eviction only drops the task.
//!
//! Decision 113 has the reasons.

use std::fmt;
use std::io::IoSlice;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;

use crate::endpoint::Endpoint;
use crate::listener::Incoming;
use crate::message::Message;
use jstream::buffer::EmptyBuffer;
use jstream_base::{Address, HandshakeError, Header, RecvError, SendError};
use jstream_device::connection::Farewell;

/// Maximum number of messages of a candidate that is dismissed which are discarded.
const LAST_MESSAGES: usize = 64;

/// Progress of a newcomer, which its task tells the acceptor.
#[derive(Debug, Default)]
pub(super) struct NewcomerState {
    has_greeted: AtomicBool,
    is_leaving: AtomicBool,
}

impl NewcomerState {
    /// Returns true if the newcomer has sent a complete greeting of the device.
    pub(super) fn has_greeted(&self) -> bool {
        self.has_greeted.load(Ordering::Relaxed)
    }

    /// Returns true if the newcomer was refused, and is given a moment to close its connection.
    pub(super) fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    fn greet(&self) {
        self.has_greeted.store(true, Ordering::Relaxed);
    }

    fn mark_leaving(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }
}

/// A connection that was accepted, before its greetings were exchanged. Dropping it resets the
/// connection.
#[must_use = "a newcomer that is neither established nor refused is dropped"]
pub struct Newcomer {
    /// `None` once it was established or refused.
    incoming: Option<Incoming>,
    state: Arc<NewcomerState>,
}

impl Newcomer {
    pub(super) fn new(incoming: Incoming, state: Arc<NewcomerState>) -> Self {
        Self {
            incoming: Some(incoming),
            state,
        }
    }

    /// Returns the address of the peer.
    ///
    /// # Panics
    ///
    /// Never, because only methods that consume the newcomer take the connection.
    #[must_use]
    pub fn peer(&self) -> &Address {
        match &self.incoming {
            Some(incoming) => incoming.peer(),
            None => unreachable!("a newcomer has a connection"),
        }
    }

    /// Waits for the greeting of the device. Afterwards the newcomer can be refused such that it
    /// learns the reason.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the peer is gone or incompatible.
    pub async fn read_greeting(&mut self) -> Result<(), HandshakeError> {
        let closed = HandshakeError::Closed { received: 0 };
        let incoming = self.incoming.as_mut().ok_or(closed)?;
        let heard = incoming
            .advance(|half_made| match half_made.read_greeting() {
                Ok(true) => Some(Ok(())),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            })
            .await;
        self.state.greet();
        if heard.is_err() {
            self.await_close().await;
        }
        heard
    }

    /// Exchanges the greetings of the device.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the peer is gone or incompatible.
    pub async fn establish(mut self) -> Result<Candidate, HandshakeError> {
        self.read_greeting().await?;
        let closed = HandshakeError::Closed { received: 0 };
        let incoming = self.incoming.as_mut().ok_or(closed)?;
        let accepted = incoming
            .advance(|half_made| half_made.accept().transpose())
            .await;
        match accepted {
            Ok(connection) => {
                let endpoint = incoming.endpoint(connection);
                self.incoming = None;
                Ok(Candidate {
                    endpoint: Some(endpoint),
                    state: self.state.clone(),
                })
            }
            Err(error) => {
                self.await_close().await;
                Err(error)
            }
        }
    }

    /// Refuses the connection. The peer's `connect` fails with
    /// [`ConnectError::Refused`](jstream_base::ConnectError::Refused), with the first 256 bytes of
    /// the reason, if it has been [heard](Self::read_greeting).
    pub async fn refuse(mut self, reason: &str) {
        if let Some(incoming) = &mut self.incoming {
            incoming.decline(reason);
        }
        self.await_close().await;
    }

    /// Waits until a peer that was refused has closed its connection.
    async fn await_close(&mut self) {
        self.state.mark_leaving();
        if let Some(incoming) = &mut self.incoming {
            let left = incoming.advance(|half_made| match half_made.farewell() {
                Farewell::Gone => Some(Ok(())),
                Farewell::Untold | Farewell::Told => None,
            });
            // A failure means that the peer has gone, too.
            let _ = left.await;
        }
        self.incoming = None;
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let socket = self
            .incoming
            .as_ref()
            .filter(|_| !self.state.is_leaving())
            .and_then(Incoming::socket);
        if let Some(socket) = socket {
            // The connection is reset, so that the system keeps nothing of it. Sockets that are not
            // of TCP refuse this, and keep nothing anyway.
            let _ = SockRef::from(&socket).set_linger(Some(Duration::ZERO));
        }
    }
}

impl fmt::Debug for Newcomer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Newcomer").field(&self.incoming).finish()
    }
}

/// An established connection whose peer is not admitted yet. Dropping it ends the connection.
#[must_use = "a candidate that is not admitted is dropped"]
pub struct Candidate {
    /// `None` once it was admitted.
    endpoint: Option<Endpoint>,
    state: Arc<NewcomerState>,
}

impl Candidate {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub async fn send(&self, header: Header, payload: &[u8]) -> Result<(), SendError> {
        let filled = self.shared().gather(&[IoSlice::new(payload)]);
        self.post_send(header, filled).await?;
        Ok(())
    }

    /// Waits for a message whose payload has at most `most` bytes.
    ///
    /// # Errors
    ///
    /// [`RecvError`].
    pub async fn receive(&self, most: usize) -> Result<Message, RecvError> {
        Ok(self.post_recv(EmptyBuffer::heap(most)).await?)
    }

    /// Admits the peer: the connection does not belong to the acceptor any more.
    ///
    /// # Panics
    ///
    /// Never, because only this method takes the endpoint.
    #[must_use]
    pub fn admit(mut self) -> Endpoint {
        match self.endpoint.take() {
            Some(endpoint) => endpoint,
            None => unreachable!("a candidate has an endpoint"),
        }
    }

    /// Waits until a peer that was told why it is refused has closed its connection. Unread bytes
    /// are received and discarded, because otherwise the system would reset the connection.
    pub async fn dismiss(self) {
        self.state.mark_leaving();
        for _ in 0..LAST_MESSAGES {
            if self.receive(0).await.is_err() {
                return;
            }
        }
    }
}

impl Deref for Candidate {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        match &self.endpoint {
            Some(endpoint) => endpoint,
            None => unreachable!("a candidate has an endpoint"),
        }
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.close();
        }
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Candidate").field(&self.endpoint).finish()
    }
}
