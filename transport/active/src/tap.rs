//! Observation of the messages of a connection.

use std::fmt;
use std::io::IoSlice;

use super::frame::Frame;

/// Observer of the messages of a connection, for diagnosis; see
/// [`Settings::tap`](super::Settings::tap).
///
/// The tap is called by the threads that send and receive, maybe concurrently. It must not block,
/// and must not use the connection.
pub trait Tap: fmt::Debug + Send + Sync {
    /// Called when both sides know each other's handlers. The index of a name is the number by
    /// which messages refer to the handler.
    fn joined(&self, ours: &[&str], theirs: &[&str]);

    /// Called when a message is about to be sent, or has been received and not been processed.
    fn message(&self, message: &Tapped<'_>);
}

/// An observed message.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Tapped<'t> {
    /// True if the message is sent, false if it was received.
    pub sent: bool,
    /// Kind of the message.
    pub kind: TappedKind,
    /// The word of a request, one-way message or answer.
    pub word: u64,
    /// The payload in segments, as on the wire.
    pub payload: &'t [IoSlice<'t>],
}

/// Kind of an observed message. The numbers of requests are reused after the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TappedKind {
    /// A request.
    Request {
        /// Number of the request.
        number: u32,
        /// Number of the handler.
        handler: u16,
    },
    /// A one-way message.
    OneWay {
        /// Number of the handler.
        handler: u16,
    },
    /// An answer.
    Reply {
        /// Number of the request.
        number: u32,
    },
    /// Return of a request.
    Return {
        /// Number of the request.
        number: u32,
        /// Code of the reason.
        reason: u16,
        /// Length in bytes of the explanation at the end of the payload.
        text: u16,
    },
    /// Return of a one-way message.
    Bounce {
        /// Code of the reason.
        reason: u16,
        /// Length in bytes of the explanation at the end of the payload.
        text: u16,
    },
    /// Cancellation of a request.
    Cancel {
        /// Number of the request.
        number: u32,
    },
}

/// Converts a frame for the tap. Frames without a message are not shown.
pub(super) fn tapped<'t>(
    sent: bool,
    frame: Frame,
    payload: &'t [IoSlice<'t>],
) -> Option<Tapped<'t>> {
    let (kind, word) = match frame {
        Frame::Hello { .. } | Frame::Credit => return None,
        Frame::Request {
            number,
            handler,
            word,
        } => (TappedKind::Request { number, handler }, word),
        Frame::Send { handler, word } => (TappedKind::OneWay { handler }, word),
        Frame::Reply { number, word } => (TappedKind::Reply { number }, word),
        Frame::Return {
            number,
            reason,
            word,
            text,
        } => {
            let kind = TappedKind::Return {
                number,
                reason,
                text,
            };
            (kind, word)
        }
        Frame::Bounce {
            reason, word, text, ..
        } => (TappedKind::Bounce { reason, text }, word),
        Frame::Cancel { number } => (TappedKind::Cancel { number }, 0),
    };
    Some(Tapped {
        sent,
        kind,
        word,
        payload,
    })
}
