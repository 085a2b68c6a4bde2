//! Files of objects.

mod contents;
mod error;
mod format;
mod map;
mod output;
mod reader;
mod source;
mod target;
mod verify;
mod writer;

pub use contents::Entry;
pub use error::FileError;
pub use map::FileMap;
pub use reader::{FileReader, Objects, ReadOptions};
pub use writer::{FileWriter, WriteOptions};
