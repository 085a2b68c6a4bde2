//! Reading: one pass that checks a message and makes it native where it lies.

mod byte_check;
mod checks;
mod choose;
mod claim;
mod cycles;
mod describe;
mod error;
mod fault;
mod layout;
mod limits;
mod lists;
mod locate;
mod owners;
mod pass;
mod queue;
mod reader;
mod refusal;
mod shared;
mod trace;

pub(crate) use byte_check::{bytes_at_most, has_many_tags, tags_at_most};
pub(crate) use choose::choose;
pub use claim::assert_form;
pub(crate) use describe::short;
pub use error::{ReadError, ReadFailure, Segment as MessageSegment};
pub(crate) use fault::NONE;
pub use fault::{Edge, Fault, FaultKind};
pub use limits::Limits;
pub use pass::Pass;
pub use reader::Reader;
pub use refusal::Refusal;
pub(crate) use shared::{FurtherEdge, SharedTable};
pub use trace::Trace;
