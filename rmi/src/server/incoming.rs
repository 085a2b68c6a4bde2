//! A call at its server: its arguments, and where its result goes.

use std::cell::RefCell;
use std::sync::Arc;

use jstream::{Filled, ReadError, Reader, Received, Transportable, WriteError, Writer};
use jstream_transport::SendError;

use super::link::Link;
use crate::frame::Frame;

thread_local! {
    /// Arguments are read, and results written, by the thread that the method runs on.
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
    static WRITER: RefCell<Option<Writer>> = const { RefCell::new(None) };
}

/// A call whose arguments have arrived.
#[derive(Debug)]
pub struct Incoming {
    pub(super) payload: Filled,
    pub(super) answer: Answer,
}

/// Where the reply to a call goes.
#[derive(Debug)]
pub struct Answer {
    /// None where nobody waits for it.
    pub(super) number: Option<u64>,
    pub(super) link: Arc<Link>,
}

/// Why a call was not replied to.
#[derive(Debug)]
pub enum Failed {
    /// The object's interface has no such method.
    UnknownMethod,
    /// The arguments are damaged, or of other types.
    Arguments(ReadError),
    /// The result could not be written.
    Result(WriteError),
    /// The result could not be sent.
    Send(SendError),
}

impl Incoming {
    /// Reads the arguments where they are.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are not an `A`.
    pub fn arguments<A>(self) -> Result<(Received<A>, Answer), Failed>
    where
        A: Transportable + 'static,
    {
        let mut reader = READER.take().unwrap_or_default();
        reader.set_limits(self.answer.link.limits);
        let read = reader.read::<A>(self.payload);
        READER.set(Some(reader));
        let arguments = read.map_err(|failure| Failed::Arguments(failure.error))?;
        Ok((arguments, self.answer))
    }
}

impl Answer {
    /// Sends the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when it can't be written or sent.
    pub fn reply<R: Transportable>(self, result: &R) -> Result<(), Failed> {
        let Some(number) = self.number else {
            return Ok(());
        };
        let header = Frame::Reply { number }.header();
        written(result, |segments| {
            self.link.endpoint.send_message(header, segments)
        })
        .map_err(Failed::Result)?
        .map_err(Failed::Send)
    }
}

/// Hands a message to who sends it. The code of a value that is being written may write other messages.
pub(super) fn written<T, R>(
    value: &T,
    send: impl FnOnce(&[std::io::IoSlice<'_>]) -> R,
) -> Result<R, WriteError>
where
    T: Transportable,
{
    let mut writer = WRITER.take().unwrap_or_default();
    let result = writer.gather(value, send);
    WRITER.set(Some(writer));
    result
}
