//! Addresses, message headers, options and errors, which all layers of the transport share.
//!
//! The crate is an implementation detail of `jstream-transport`, which exports its public types.
//! Its own interface may change in any release.
//!
//! Decision 083 has the reasons.

// The lowest crate of the transport says it once. The others are then not compiled, and do not
// fail in their own ways.
#[cfg(not(target_os = "linux"))]
compile_error!(
    "the transport of jstream needs Linux: its devices wait with epoll and eventfd, and share \
     memory by memfd. On other systems, use the crate `jstream` alone, for example to read and \
     write messages in buffers"
);

mod address;
pub mod byte_limit;
mod error;
pub mod events;
pub mod frame;
mod header;
mod options;
#[cfg(unix)]
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
