//! Layer 8: clients, which connect to servers.
//!
//! Imports the layers before it, up to `call`.

mod connect;
mod handle;
mod options;
mod other_version;
mod reconnect;
#[cfg(feature = "tower")]
mod service;

#[cfg(feature = "directory")]
pub(crate) use self::connect::Owners;
pub(crate) use self::connect::{claim, connect};
pub(crate) use self::handle::find_object;
pub use self::handle::{Client, WeakClient};
pub use self::options::ClientOptions;
pub(crate) use self::reconnect::FindObject;
pub use self::reconnect::{ConnectionState, Reconnect, StateChanges};
#[cfg(feature = "tower")]
pub use self::service::StubService;
