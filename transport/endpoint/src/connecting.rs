//! Connecting to a listener.

use super::endpoint::Endpoint;
use jstream_base::Address;
use jstream_base::ConnectError;
use jstream_base::Options;
use jstream_base::events::emit;
use tracing::Level;

/// Connects to the listener at `address`. The endpoint receives according to `options`.
///
/// # Errors
///
/// [`ConnectError`] if no listener answers at the address, or if the peer does not speak this
/// protocol.
pub fn connect(address: &Address, options: &Options) -> Result<Endpoint, ConnectError> {
    let connected = jstream_device::by_scheme(address.scheme())
        .ok_or_else(|| ConnectError::NoDevice {
            address: address.clone(),
        })
        .and_then(|device| device.connect(address, options));
    match connected {
        Ok(connection) => Ok(Endpoint::new(address, connection, options)),
        Err(error) => {
            let (address, reason) = (address.clone(), error.to_string());
            emit(Level::DEBUG, move || {
                tracing::debug!(%address, error = reason, "not connected");
            });
            Err(error)
        }
    }
}

/// Connects to the cheapest of `addresses` that works. [`Endpoint::info`] returns which one it
/// was. The order is: inside the process, shared memory, Unix socket, TCP, io_uring.
///
/// # Errors
///
/// [`ConnectError::NoneWorks`] with the error of the address that was tried last, or
/// [`ConnectError::NoAddress`] if `addresses` is empty.
pub fn connect_cheapest(
    addresses: &[Address],
    options: &Options,
) -> Result<Endpoint, ConnectError> {
    let mut last = None;
    for device in jstream_device::devices() {
        for address in addresses {
            if address.scheme() == device.scheme() {
                match connect(address, options) {
                    Ok(endpoint) => return Ok(endpoint),
                    Err(error) => last = Some(error),
                }
            }
        }
    }
    let unknown = |address: &&Address| jstream_device::by_scheme(address.scheme()).is_none();
    let last = last.or_else(|| {
        let address = addresses.iter().find(unknown)?.clone();
        Some(ConnectError::NoDevice { address })
    });
    Err(match last {
        Some(last) => ConnectError::NoneWorks {
            tried: addresses.len(),
            last: Box::new(last),
        },
        None => ConnectError::NoAddress,
    })
}
