//! Writing: one pass over the program's objects that lays them out in the order in which the reader
//! will meet them.

mod append;
mod arena;
mod blame_field;
mod classes;
mod contiguous;
mod draft;
mod error;
mod fast_path;
mod forward;
mod jobs;
mod limit_counts;
mod limits;
mod paths;
mod scratch;
mod shared;
mod targets;
mod text_buffer;
mod work_queue;
mod write_back;
mod write_back_state;
mod writer;

pub use self::draft::Draft;
pub(crate) use self::draft::bulk_align;
pub use self::error::{WriteError, WriteFailure};
pub use self::forward::{ForwardFailure, ForwardedMessage};
pub(crate) use self::write_back::{Segments, erase};
pub use self::writer::Writer;
