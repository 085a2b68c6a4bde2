//! Collective operations: the schedules of `jstream-collective`, executed with messages between
//! ranks.
//!
//! Messages of collective operations go in a context of their own, with the number of the operation
//! as their tag. The descriptor of their elements includes the arguments of the operation. So a
//! rank that calls another operation, or with other arguments, is noticed by the first rank that
//! gets a message from it.

mod call;
mod execution;
pub(crate) mod kept;
mod layouts;
mod object_exchange;
pub(crate) mod objects;
mod operations;
mod plans;
mod posted;
mod round;
mod scoped;
mod scratch;
mod settings;

pub use self::scoped::ScopedCollective;
