//! Errors of streams.

use jstream::{ReadError, WriteError};

use crate::support::CallError;

/// An error that ends a stream early.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The call whose result is the stream has failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The connection was lost.
    #[error("the connection ended while a stream was received: {reason}")]
    Lost {
        /// The reason of the loss.
        reason: String,
    },
    /// The connection was lost, and the call can't be [resumed](crate::guide::restarts).
    #[error("the stream of {method} was lost and can't be resumed: {reason}")]
    Unresumable {
        /// The method.
        method: &'static str,
        /// The reason.
        reason: String,
    },
    /// The sender has abandoned the stream: the call whose argument it is has ended.
    #[error("the sender has abandoned the stream")]
    GivenUp,
    /// The producer of the items has panicked.
    #[error("the producer of the items of a stream has panicked")]
    Panicked,
    /// The other side could not encode or send an item.
    #[error("the other side could not send an item of a stream")]
    Unsent,
    /// An item could not be encoded, in a stream that is taken in the program that makes it.
    #[error("an item of a stream could not be written: {0}")]
    WriteFailure(WriteError),
    /// Items could not be read.
    #[error("could not read an item of a stream: {source}")]
    Item {
        /// The reason why they are invalid.
        r#source: ReadError,
    },
    /// Items of another version of their type could not be converted.
    #[error("could not convert the items of a stream from another version: {reason}")]
    OtherVersion {
        /// The reason, which names the field.
        reason: String,
    },
    /// The peer has violated the protocol of streams.
    #[error("the peer has violated the protocol of streams: {rule}")]
    Broken {
        /// The violation.
        rule: &'static str,
    },
}
