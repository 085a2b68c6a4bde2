//! Capture of the traffic of connections, in files that `jstream-inspect` reads.

mod capturing;
mod disk;
mod options;
mod tape;

pub use self::capturing::Capture;
pub(crate) use self::capturing::Capturing;
pub use self::options::CaptureOptions;
pub(crate) use self::tape::Tape;
