//! Error types of this crate, grouped by operation.

mod address;
mod connecting;
mod messages;

pub use self::address::AddressError;
pub use self::connecting::{AcceptError, ConnectError, HandshakeError, ListenError};
pub use self::messages::{HeaderError, RecvError, SendError};
