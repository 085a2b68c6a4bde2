//! Layer 1: helpers that know nothing of calls, and the errors that the crate returns.
//!
//! Imports no other layer.

mod error;
mod operation;
mod rare_box;
mod sync;
mod wait;

pub use self::error::{
    AuthError, BindError, CallError, ConnectError, LookupError, MetadataError, Outcome, ServeError,
};
pub(crate) use self::error::{MOST_METADATA_BYTES, MOST_METADATA_ENTRIES, shown};
pub use self::operation::Operation;
pub(crate) use self::operation::{StepEnd, Steps};
pub(crate) use self::rare_box::RareBox;
pub(crate) use self::sync::lock;
pub(crate) use self::wait::{FirstWait, may_block, polls_tokio_task};
pub(crate) use jstream_sync::parker::block_on;
