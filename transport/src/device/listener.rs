//! The side that is connected to.

use std::fmt;

use super::link::{Closer, Link};
use crate::address::Address;
use crate::error::{AcceptError, HandshakeError};

/// What a device does behind a [`Listener`].
pub(super) trait Accept: Send + Sync {
    fn accept(&self) -> Result<Incoming, AcceptError>;
    fn closer(&self) -> Closer;
}

/// What a device does behind an [`Incoming`].
pub(super) trait Establish: Send {
    fn establish(self: Box<Self>) -> Result<Link, HandshakeError>;
}

/// Accepts connections at an address. Dropping it frees the address.
pub struct Listener {
    local: Address,
    device: Box<dyn Accept>,
}

impl Listener {
    pub(super) fn new(local: Address, device: impl Accept + 'static) -> Self {
        Self {
            local,
            device: Box::new(device),
        }
    }

    /// Where it listens, with the port that port 0 became.
    #[must_use]
    pub fn local_address(&self) -> &Address {
        &self.local
    }

    /// Waits for the next connection. Several threads may wait at once.
    ///
    /// # Errors
    ///
    /// [`AcceptError`]. After [`AcceptError::System`] the listener lives on.
    pub fn accept(&self) -> Result<Incoming, AcceptError> {
        self.device.accept()
    }

    /// What ends the listening from another thread. Connections already established live on.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.device.closer()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.local).finish()
    }
}

/// A connection that was accepted but has not said who it is.
pub struct Incoming {
    peer: Address,
    device: Box<dyn Establish>,
}

impl Incoming {
    pub(super) fn new(peer: Address, device: impl Establish + 'static) -> Self {
        Self {
            peer,
            device: Box::new(device),
        }
    }

    /// Where it comes from.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.peer
    }

    /// Exchanges greetings and makes the link. A silent peer makes this wait until
    /// [`Options::handshake_timeout`](crate::Options::handshake_timeout): call it on another
    /// thread than the one that accepts.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] when the peer is silent, gone, or does not fit.
    pub fn establish(self) -> Result<Link, HandshakeError> {
        self.device.establish()
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incoming").field(&self.peer).finish()
    }
}
