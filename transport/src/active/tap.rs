//! What sees the messages of a connection.

use std::fmt;
use std::io::IoSlice;

use super::frame::Frame;

/// Sees each message of a connection as it is on its way, for whoever looks for what is wrong:
/// [`Settings::tap`](super::Settings::tap).
///
/// It is called by who sends and who receives, perhaps by several threads at once, and must not wait, nor use the
/// connection.
pub trait Tap: fmt::Debug + Send + Sync {
    /// Both sides know the handlers of each other: their names, at the places that messages have them by.
    fn joined(&self, ours: &[&str], theirs: &[&str]);

    /// A message is about to be sent, or has come and was not looked at.
    fn message(&self, message: &Tapped<'_>);
}

/// A message that is seen.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Tapped<'t> {
    /// Whether it is sent; otherwise it has come.
    pub sent: bool,
    /// What it is.
    pub kind: TappedKind,
    /// The word of a request, a message, or an answer.
    pub word: u64,
    /// What it carries, in parts, as it is on the wire.
    pub payload: &'t [IoSlice<'t>],
}

/// What a message is. Requests have numbers, which begin anew when they have been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TappedKind {
    /// A request of the handler at this place.
    Request {
        /// Its number.
        number: u32,
        /// The place of the handler.
        handler: u16,
    },
    /// A message that nobody answers.
    OneWay {
        /// The place of the handler.
        handler: u16,
    },
    /// An answer.
    Reply {
        /// The number of the request.
        number: u32,
    },
    /// A request comes back.
    Return {
        /// Its number.
        number: u32,
        /// Why, by a number.
        reason: u16,
        /// How many bytes at the end of the payload say why.
        text: u16,
    },
    /// A message that nobody answers comes back.
    Bounce {
        /// Why, by a number.
        reason: u16,
        /// How many bytes at the end of the payload say why.
        text: u16,
    },
    /// The answer to a request is not wanted any more.
    Cancel {
        /// The number of the request.
        number: u32,
    },
}

/// What a tap sees of a frame. Credit alone is no message.
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
