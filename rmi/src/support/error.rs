//! Errors of calls, lookups and servers.

use std::io;

use jstream::{ReadError, WriteError};
use jstream_transport::active::JoinError;
use jstream_transport::{ListenError, RecvError, SendError, active};

/// Returns text from a peer in a form that is safe to print: truncated, and with control characters
/// escaped.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 1024;
    let mut shown = String::new();
    for char in text.chars() {
        if shown.len() >= LONGEST {
            shown.push('…');
            break;
        }
        if char.is_alphanumeric() || char.is_ascii_graphic() || char == ' ' {
            shown.push(char);
        } else {
            shown.extend(char.escape_debug());
        }
    }
    shown
}

/// Execution state of the method of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The method did not run, and will not.
    DidNotRun,
    /// Unknown: the method may have run.
    MayHaveRun,
    /// The method ran.
    Ran,
}

/// Error of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments could not be written.
    #[error("could not write the arguments of {method}")]
    Arguments {
        /// The method.
        method: &'static str,
        /// The error of the writer.
        source: WriteError,
    },
    /// The call could not be sent.
    #[error("could not send the call of {method}")]
    NotSent {
        /// The method.
        method: &'static str,
        /// The error of the transport.
        source: SendError,
    },
    /// The connection ended while the call was in flight.
    #[error("the connection ended during the call of {method}: {reason}")]
    Lost {
        /// The method.
        method: &'static str,
        /// The reason why the connection ended.
        reason: String,
        /// True if the method is declared idempotent.
        idempotent: bool,
    },
    /// The deadline of the call passed before its result arrived.
    #[error("{method} returned no result in time")]
    Deadline {
        /// The method.
        method: &'static str,
        /// Execution state of the method.
        outcome: Outcome,
        /// True if the method is declared idempotent.
        idempotent: bool,
    },
    /// The call was cancelled. Only code that waits for a call at another place than where it was
    /// made gets this error.
    #[error("the call of {method} was cancelled")]
    Cancelled {
        /// The method.
        method: &'static str,
        /// Execution state of the method.
        outcome: Outcome,
    },
    /// The peer refused the call because the limit of suspended methods, streams or nested calls is
    /// reached. As a rule, the transport has already resent the call several times.
    #[error("the peer is busy and refused the call of {method}: retry when other calls have ended")]
    Busy {
        /// The method.
        method: &'static str,
    },
    /// The peer is shutting down and accepts no more calls.
    #[error("the peer is shutting down and refused the call of {method}")]
    Ending {
        /// The method.
        method: &'static str,
    },
    /// The peer does not export the object, or no longer does.
    #[error("{method}: the peer does not export the object")]
    UnknownObject {
        /// The method.
        method: &'static str,
    },
    /// The object has no such method, or its method has other types.
    #[error("the peer has no method `{signature}`; {known}")]
    UnknownMethod {
        /// The signature of the method as it was called.
        signature: &'static str,
        /// The methods of the object, as stated by the peer.
        known: String,
    },
    /// An interceptor of this side or of the peer denied the call.
    #[error("{method} was denied: {reason}")]
    Denied {
        /// The method.
        method: &'static str,
        /// The text of the interceptor.
        reason: String,
    },
    /// The peer could not read the arguments.
    #[error("the peer could not read the arguments of {method}: {reason}")]
    Refused {
        /// The method.
        method: &'static str,
        /// The text of the peer.
        reason: String,
    },
    /// The method panicked. The server continues.
    #[error("{method} panicked at the peer")]
    Panicked {
        /// The method.
        method: &'static str,
        /// True if the method is declared idempotent.
        idempotent: bool,
    },
    /// The peer could not send the result.
    #[error("the result of {method} could not be sent: {reason}")]
    NoResult {
        /// The method.
        method: &'static str,
        /// The text of the peer.
        reason: String,
    },
    /// A reference among the arguments could not be passed.
    #[error("{method} was not called: {reason}")]
    Reference {
        /// The method.
        method: &'static str,
        /// The reason why it could not be passed.
        reason: String,
    },
    /// The call that should have returned the object returned none: it failed, was cancelled, or
    /// returned `None` or an object of a third party.
    #[error("{method} was not called: {reason}")]
    NotGiven {
        /// The method.
        method: &'static str,
        /// The reason.
        reason: String,
    },
    /// The object belongs to this program. Through a stub, methods of such objects cannot have
    /// streams, and their results must be awaited.
    #[error("{method}: the object belongs to this program; call it through `Remote::local`")]
    Here {
        /// The method.
        method: &'static str,
    },
    /// The result is not a reference of the expected type.
    #[error("the result of {method} cannot be used: {reason}")]
    Unfit {
        /// The method.
        method: &'static str,
        /// The reason.
        reason: String,
    },
    /// The result could not be read.
    #[error("could not read the result of {method}")]
    Result {
        /// The method.
        method: &'static str,
        /// The error of the reader.
        source: ReadError,
    },
}

impl CallError {
    /// Returns whether the method ran.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Arguments { .. }
            | Self::UnknownObject { .. }
            | Self::UnknownMethod { .. }
            | Self::Busy { .. }
            | Self::Ending { .. }
            | Self::Reference { .. }
            | Self::NotGiven { .. }
            | Self::Here { .. }
            | Self::Denied { .. }
            | Self::Refused { .. } => Outcome::DidNotRun,
            Self::Deadline { outcome, .. } | Self::Cancelled { outcome, .. } => *outcome,
            Self::NotSent { source, .. } => match source {
                SendError::TooLarge { .. }
                | SendError::NoBuffer { .. }
                | SendError::TimedOut { .. }
                | SendError::Stalled { .. }
                | SendError::Closed { .. } => Outcome::DidNotRun,
                // The message may have been complete when the connection broke.
                _ => Outcome::MayHaveRun,
            },
            Self::Lost { .. } | Self::Panicked { .. } => Outcome::MayHaveRun,
            Self::NoResult { .. } | Self::Unfit { .. } | Self::Result { .. } => Outcome::Ran,
        }
    }

    /// Returns true if repeating the call is safe: the method did not run, or is declared
    /// `#[remote(idempotent)]`. The repeated call may still fail.
    #[must_use]
    pub fn can_be_repeated(&self) -> bool {
        match self {
            Self::Lost { idempotent, .. }
            | Self::Deadline { idempotent, .. }
            | Self::Panicked { idempotent, .. }
                if *idempotent =>
            {
                true
            }
            _ => self.outcome() == Outcome::DidNotRun,
        }
    }
}

/// Error of connecting to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The connection could not be established.
    #[error(transparent)]
    Connect(#[from] jstream_transport::ConnectError),
    /// The peer is not an RMI peer, or closed the connection at once, as a server does that has
    /// reached its limit of connections. If the server requires a
    /// [secret](crate::ClientOptions::secret) and this side has none, the handshake fails with this
    /// error, too.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The two sides don't know the same [secret](crate::Secret).
    #[error(transparent)]
    Secret(#[from] AuthError),
    /// The peer uses active messages, but does not serve calls.
    #[error("the peer does not serve calls: {0}")]
    NoCalls(#[from] active::LookupError),
}

/// Error of looking up a name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No object is bound to the name.
    #[error("nothing is bound to \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The object that is bound to the name has another interface.
    #[error(
        "\"{name}\" is bound to a {found}, which differs from the {expected} of this program; \
         build both sides from the same definition"
    )]
    OtherInterface {
        /// The name.
        name: String,
        /// The requested interface, with the methods that the object lacks.
        expected: String,
        /// The interface of the object, with its methods.
        found: String,
    },
    /// The call of the registry failed.
    #[error("the call of the registry failed")]
    Call(#[from] CallError),
    /// The name is bound, but its server could not be reached at any of its addresses.
    #[error("\"{name}\" is bound, but its server can't be reached at {addresses}")]
    Unreachable {
        /// The name.
        name: String,
        /// The addresses.
        addresses: String,
        /// The error of the last address, if there is one.
        source: Option<Box<ConnectError>>,
    },
}

/// Error of binding a name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// The name is bound already.
    #[error("\"{name}\" is bound already; use `rebind` to replace it")]
    Taken {
        /// The name.
        name: String,
    },
    /// The name exceeds the maximum length.
    #[error("the name of {len} bytes exceeds the limit of {max} bytes (ServerOptions::max_name)")]
    TooLong {
        /// The length of the name in bytes.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// Error of starting to listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Listening at the address failed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The thread of the listener could not be started.
    #[error("could not start the thread of the listener")]
    Thread(#[source] std::io::Error),
}

/// Errors of mutual authentication. The connection is closed after each of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The operating system did not provide random numbers.
    #[error("the operating system provided no random numbers")]
    Random(#[source] io::Error),
    /// The challenge or the proof could not be sent.
    #[error("could not send the proof of the secret")]
    Send(#[from] SendError),
    /// The peer did not answer. A server that rejects a proof closes the connection.
    #[error("received no proof of the secret from the peer, which may have another secret: {0}")]
    Receive(#[from] RecvError),
    /// The peer sent something other than the expected authentication message.
    #[error("the peer did not ask for a secret: set the same secret on both sides, or on neither")]
    NotAsked,
    /// The proof of the peer is wrong.
    #[error("the peer has another secret")]
    Wrong,
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_peers_say_is_tamed() {
        assert_eq!(shown("fn f(&self) -> Größe"), "fn f(&self) -> Größe");
        assert_eq!(shown("\u{1b}[2J\n\u{202e}"), "\\u{1b}[2J\\n\\u{202e}");
        let long = shown(&"x".repeat(1 << 20));
        assert!(long.len() < 1100 && long.ends_with('…'));
    }
}
