//! A call at its server: its arguments, and where its result goes.

use std::cell::RefCell;
use std::sync::Arc;

use jstream::{Filled, ReadError, Reader, Received, Transportable, WriteError, Writer};
use jstream_transport::SendError;

use super::link::Link;
use crate::frame::Frame;
use crate::stream::{Ended, Line, Stop, Stream};

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
    /// More streams than there may be.
    Streams,
    /// Who makes the items of a stream has panicked.
    Panicked,
    /// A stream can't be sent.
    Stream(&'static str),
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
    /// A stream that is an argument.
    ///
    /// # Errors
    ///
    /// [`Failed::Streams`] when the peer has too many, or that one already.
    pub fn argument<T: Transportable + 'static>(&self, number: u64) -> Result<Stream<T>, Failed> {
        if self.link.streams().count() >= self.link.max_streams {
            return Err(Failed::Streams);
        }
        let line: Arc<dyn Line> = self.link.clone();
        Stream::argument(&line, number).ok_or(Failed::Streams)
    }

    /// Sends the items of a stream as the result.
    ///
    /// # Errors
    ///
    /// [`Failed::Stream`] when not all of them were sent, else as for [`reply`](Self::reply).
    pub async fn stream<T>(self, stream: Stream<T>, word: u64) -> Result<(), Failed>
    where
        T: Transportable + 'static,
    {
        let sent = stream.result(self.link.clone(), word).await;
        match sent {
            Ok(frames) => self.reply(&frames),
            Err(Ended::Unwritten(error)) => Err(Failed::Result(error)),
            Err(Ended::Unsent(error)) => Err(Failed::Send(error)),
            // Nobody hears of it.
            Err(Ended::Stopped(Stop::Lost(_) | Stop::Unwanted)) => self.reply(&0u64),
            Err(Ended::Stopped(Stop::Broken(rule))) => Err(Failed::Stream(rule)),
            Err(Ended::Failed(_)) => Err(Failed::Panicked),
            Err(Ended::Received) => {
                let why = "its items come from a peer: a stream is to be made of them";
                Err(Failed::Stream(why))
            }
        }
    }

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
