//! Devices, which transport messages: `inproc`, `shm`, `uds`, `tcp`, `uring`, `tls` and `sim`.
//!
//! [`connection`] is the interface that each device implements and that endpoints use. Devices know
//! nothing of endpoints.
//!
//! | module | contents |
//! |---|---|
//! | [`connection`] | traits of devices and of the two halves of a connection |
//! | [`deadline`], [`poll`] | deadlines, and sleeping on several descriptors |
//! | `inproc` | queues within the process |
//! | `shm` | memory shared between processes |
//! | `stream` | messages on byte streams, used by the devices of sockets and by `sim` |
//! | `uds`, `tcp`, `tls`, `uring` | sockets |
//! | [`sim`] | simulated network |
//!
//! The crate is an implementation detail of `jstream-transport`. Its interface may change in any
//! release.

mod activation;
pub mod connection;
mod credentials;
pub mod deadline;
mod inproc;
pub mod poll;
#[cfg_attr(not(feature = "shm"), path = "no_shm.rs")]
mod shm;
#[cfg_attr(not(feature = "sim"), path = "no_sim.rs")]
pub mod sim;
mod stream;
mod tcp;
#[cfg(feature = "tls")]
mod tls;
mod uds;
mod unix_name;
#[cfg(feature = "uring")]
mod uring;

pub use self::activation::take_activated;
pub use self::inproc::letter::{INLINE, SlotMessage};
pub use self::shm::Outbox;

use self::connection::Device;

/// Returns all devices, the one with the lowest overhead first.
pub fn devices() -> &'static [&'static dyn Device] {
    &[
        &inproc::Inproc,
        #[cfg(feature = "shm")]
        &shm::Shm,
        &uds::Uds,
        &tcp::Tcp,
        #[cfg(feature = "uring")]
        &uring::Uring,
        #[cfg(feature = "tls")]
        &tls::TlsDevice,
        #[cfg(feature = "sim")]
        &sim::Sim,
    ]
}

/// Returns the device with the given URI scheme, if this program was built with it.
pub fn by_scheme(scheme: &str) -> Option<&'static dyn Device> {
    devices()
        .iter()
        .copied()
        .find(|device| device.scheme() == scheme)
}
