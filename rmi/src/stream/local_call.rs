//! A connection stand-in for streams of calls without a connection.

use std::io::IoSlice;
use std::task::{Poll, Waker};
use std::time::Instant;

use jstream::Limits;
use jstream_active::Attendant;
use jstream_base::SendError;

use crate::frame::Window;
use crate::session::{Line, Signal, Streams};

/// The connection of a call of a local object. Such calls fail if they have streams, so no frame is
/// ever sent.
#[derive(Debug, Default)]
pub(crate) struct LocalCallStreams(Streams);

impl Line for LocalCallStreams {
    fn poll_send(&self, _: u64, _: &[IoSlice<'_>], _: &Waker) -> Poll<Result<(), SendError>> {
        Poll::Ready(Ok(()))
    }

    fn post(&self, _: u64) {}

    fn wait(&self, _: &Signal, _: Option<Instant>) {}

    fn attendant(&self) -> Option<Attendant> {
        None
    }

    fn streams(&self) -> &Streams {
        &self.0
    }

    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn window(&self) -> Window {
        Window::new(1, 1)
    }
}
