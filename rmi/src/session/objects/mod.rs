//! Exported objects, and the calls that arrive for them.

mod call_version;
mod callee;
mod context;
mod converted;
mod incoming;
mod local_slot;
mod node;
mod recent;

pub(crate) use self::call_version::CallVersion;
pub(crate) use self::callee::Callee;
#[cfg(test)]
pub(crate) use self::callee::tests::{Nothing, nothing};
pub use self::context::{Context, context};
pub(crate) use self::context::{
    Plain, entered, has_deadline, inherited_deadline, inherited_metadata, is_called, passes_on,
};
pub(crate) use self::incoming::Rest;
pub use self::incoming::{Answer, Failed, Incoming};
pub(crate) use self::local_slot::{LocalOutcome, LocalSlot};
pub(crate) use self::node::{Counts, Home, Node, Owned};
pub(crate) use self::recent::{Callable, changed, recent};
