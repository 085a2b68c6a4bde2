//! Where the streams of calls go that have no connection: nowhere.

use std::io::IoSlice;
use std::task::{Poll, Waker};
use std::time::Instant;

use jstream::Limits;
use jstream_transport::SendError;
use jstream_transport::active::Attendant;

use super::line::{Line, Streams};
use super::tasks::Signal;
use super::word::Window;

/// The line of a call to an object of this program, which is not made when it has streams.
#[derive(Debug, Default)]
pub(crate) struct Nowhere(Streams);

impl Line for Nowhere {
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
        Window::of(1, 1)
    }
}
