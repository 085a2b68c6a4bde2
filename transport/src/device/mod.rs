//! What carries messages.

#[allow(dead_code, reason = "used by the devices to come")]
mod connection;
mod deadline;
mod inproc;
mod link;
mod listener;
#[allow(dead_code, reason = "used by the devices to come")]
mod poll;
pub mod sim;
#[allow(dead_code, reason = "used by the devices to come")]
mod stream;
#[allow(dead_code, reason = "used by the devices to come")]
mod tcp;

pub use link::{Closer, Link, Message, Receiver, Sender};
pub use listener::{Incoming, Listener};

use crate::address::Address;
use crate::error::{ConnectError, ListenError};
use crate::options::Options;

mod sealed {
    pub trait Sealed {}
}

/// A way for messages to travel.
///
/// A device promises reliable, ordered, bounded messages with a fixed header, and says when the
/// peer is gone. It is sealed: the promises are what the layers above rely on.
pub trait Device: sealed::Sealed + Send + Sync {
    /// What the device's addresses begin with.
    fn scheme(&self) -> &'static str;

    /// Listens on an address of this device; see [`listen()`].
    ///
    /// # Errors
    ///
    /// [`ListenError`].
    ///
    /// # Panics
    ///
    /// When the address has another scheme.
    fn listen(&self, address: &Address, options: &Options) -> Result<Listener, ListenError>;

    /// Connects to an address of this device; see [`connect()`].
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    ///
    /// # Panics
    ///
    /// When the address has another scheme.
    fn connect(&self, address: &Address, options: &Options) -> Result<Link, ConnectError>;
}

/// All devices, the cheapest first.
#[must_use]
pub fn devices() -> &'static [&'static dyn Device] {
    &[&inproc::Inproc]
}

/// Listens on `address`; the links it accepts receive according to `options`.
///
/// # Errors
///
/// [`ListenError`] when the address is in use, unknown, or refused by the system.
pub fn listen(address: &Address, options: &Options) -> Result<Listener, ListenError> {
    device(address).listen(address, options)
}

/// Connects to whoever listens on `address`, receiving according to `options`.
///
/// # Errors
///
/// [`ConnectError`] when nobody answers there, or with something else than this protocol.
pub fn connect(address: &Address, options: &Options) -> Result<Link, ConnectError> {
    device(address).connect(address, options)
}

fn device(address: &Address) -> &'static dyn Device {
    match address {
        Address::Inproc { .. } => &inproc::Inproc,
        _ => todo!("the devices to come"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::SCHEMES;

    #[test]
    fn every_device_is_known_by_its_scheme() {
        let schemes: Vec<_> = devices().iter().map(|device| device.scheme()).collect();
        assert_eq!(schemes.join(", "), SCHEMES);
    }
}
