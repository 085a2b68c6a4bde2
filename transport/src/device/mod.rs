//! Devices, which transport messages.

pub(crate) mod connection;
pub(crate) mod deadline;
pub(crate) mod inproc;
pub(crate) mod poll;
pub(crate) mod shm;
pub mod sim;
mod stream;
mod tcp;
#[cfg(feature = "tls")]
mod tls;
mod uds;
mod uring;

use self::connection::Device;

/// Returns all devices, the one with the lowest overhead first.
pub(crate) fn devices() -> &'static [&'static dyn Device] {
    &[
        &inproc::Inproc,
        &shm::Shm,
        &uds::Uds,
        &tcp::Tcp,
        &uring::Uring,
        #[cfg(feature = "tls")]
        &tls::TlsDevice,
        &sim::Sim,
    ]
}

/// Returns the device with the given URI scheme, if this program was built with it.
pub(crate) fn by_scheme(scheme: &str) -> Option<&'static dyn Device> {
    devices()
        .iter()
        .copied()
        .find(|device| device.scheme() == scheme)
}
