//! Clients that connect again after their connection was lost.

mod changes;
mod counters;
mod named_object;
mod options;
mod reconnection;
mod reopening;

pub use self::changes::StateChanges;
pub(crate) use self::named_object::{FindObject, NamedObject};
pub use self::options::{ConnectionState, Reconnect};
pub(crate) use self::reconnection::Reconnection;
pub(crate) use self::reopening::when_open;
