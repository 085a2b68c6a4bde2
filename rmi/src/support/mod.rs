//! Layer 1: helpers that know nothing of calls, and the errors that the crate returns.
//!
//! Imports no other layer.

mod error;
mod rare_box;
mod sync;
mod wait;

pub(crate) use self::error::shown;
pub use self::error::{
    AuthError, BindError, CallError, ConnectError, LookupError, Outcome, ServeError,
};
pub(crate) use self::rare_box::RareBox;
pub(crate) use self::sync::lock;
pub(crate) use self::wait::block_on;
