//! Addresses, message headers, options and errors, which all layers of the transport share.
//!
//! The crate is an implementation detail of `jstream-transport`, which exports its public types.
//! Its own interface may change in any release.

mod address;
pub mod byte_limit;
mod error;
pub mod events;
pub mod frame;
mod header;
mod options;
pub mod process;
#[cfg(feature = "tls")]
pub mod tls;

pub use self::address::Address;
pub use self::error::{
    AcceptError, AddressError, ConnectError, HandshakeError, HeaderError, ListenError, RecvError,
    SendError,
};
pub use self::header::Header;
pub use self::options::Options;
