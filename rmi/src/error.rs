//! Why a call, a lookup or a server failed.

use crate::auth::AuthError;
use jstream::{ReadError, WriteError};
use jstream_transport::active::{self, JoinError};
use jstream_transport::{ListenError, SendError};

/// What a peer says, cut to a length that can be shown, with nothing that a terminal obeys.
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

/// Whether the method of a failed call ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did not, and will not.
    DidNotRun,
    /// Nobody here can know.
    MayHaveRun,
    /// It did.
    Ran,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments could not be written.
    #[error("the arguments of {method} were not sent")]
    Arguments {
        /// The method.
        method: &'static str,
        /// What prevented it.
        source: WriteError,
    },
    /// The call could not be sent.
    #[error("the call of {method} was not sent")]
    NotSent {
        /// The method.
        method: &'static str,
        /// What prevented it.
        source: SendError,
    },
    /// The connection ended while the call was on its way.
    #[error("the peer was lost while {method} was called: {reason}")]
    Lost {
        /// The method.
        method: &'static str,
        /// How the connection ended.
        reason: String,
        /// Whether the method says that it may be called again.
        idempotent: bool,
    },
    /// The time of the call was over before its result had come.
    #[error("{method} has no result in time")]
    Deadline {
        /// The method.
        method: &'static str,
        /// Whether it ran.
        outcome: Outcome,
        /// Whether it says that it may be called again.
        idempotent: bool,
    },
    /// The call was given up. Only who waits for a call elsewhere than where it was made sees this.
    #[error("the call of {method} was given up")]
    Cancelled {
        /// The method.
        method: &'static str,
        /// Whether it ran.
        outcome: Outcome,
    },
    /// As many methods wait at the peer as may for one connection, or they are nested too deep, and that for longer than the
    /// call was sent again and again.
    #[error("the peer takes no call of {method} before others have ended")]
    Busy {
        /// The method.
        method: &'static str,
    },
    /// The peer is going to end, and takes no more calls.
    #[error("the peer ends, and takes no call of {method}")]
    Ending {
        /// The method.
        method: &'static str,
    },
    /// The object is not exported by the peer, or not any more.
    #[error("{method}: the peer has no such object")]
    UnknownObject {
        /// The method.
        method: &'static str,
    },
    /// The object has no such method, or one with other types.
    #[error("the peer has no method `{signature}`; {known}")]
    UnknownMethod {
        /// The method as it was called.
        signature: &'static str,
        /// What the peer says that it has.
        known: String,
    },
    /// An interceptor, of this side or the peer's, did not let the call through.
    #[error("{method} was denied: {reason}")]
    Denied {
        /// The method.
        method: &'static str,
        /// What it says.
        reason: String,
    },
    /// The peer refused the arguments.
    #[error("the peer could not read the arguments of {method}: {reason}")]
    Refused {
        /// The method.
        method: &'static str,
        /// What it says.
        reason: String,
    },
    /// The method panicked; the server lives on.
    #[error("{method} panicked at the peer")]
    Panicked {
        /// The method.
        method: &'static str,
        /// Whether it says that it may be called again.
        idempotent: bool,
    },
    /// The peer could not send the result.
    #[error("the result of {method} could not be sent: {reason}")]
    NoResult {
        /// The method.
        method: &'static str,
        /// What it says.
        reason: String,
    },
    /// A reference among the arguments could not be passed.
    #[error("{method} was not called: {reason}")]
    Reference {
        /// The method.
        method: &'static str,
        /// What prevents it.
        reason: String,
    },
    /// The call that was to give the object gave none: it failed, was given up, or its result is none or an object of
    /// somebody else.
    #[error("{method} was not called: {reason}")]
    NotGiven {
        /// The method.
        method: &'static str,
        /// What is known of it.
        reason: String,
    },
    /// The object is one of this program, whose methods have no streams by a stub, and are waited for.
    #[error("{method} is a method of this program's own object: call it by `Remote::local`")]
    Here {
        /// The method.
        method: &'static str,
    },
    /// The result is no reference of the type that it is to be.
    #[error("the result of {method} is of no use: {reason}")]
    Unfit {
        /// The method.
        method: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The result could not be read.
    #[error("the result of {method} is damaged")]
    Result {
        /// The method.
        method: &'static str,
        /// What is wrong with it.
        source: ReadError,
    },
}

impl CallError {
    /// Whether the method ran.
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

    /// Whether the same call can be made again without harm: its method did not run, or is declared
    /// `#[remote(idempotent)]`. Whether it helps is another question.
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

/// Why there is no connection to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] jstream_transport::ConnectError),
    /// The peer does not speak of calls, or has ended the connection at once: a server with as many connections as it
    /// takes does so. One that asks for a [secret](crate::ClientOptions::secret), of which this side has none, says no
    /// hello.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The two sides don't know the same [secret](crate::Secret).
    #[error(transparent)]
    Secret(#[from] AuthError),
    /// The peer speaks of something else.
    #[error("the peer serves no calls: {0}")]
    NoCalls(#[from] active::LookupError),
}

/// Why a name was not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// Nothing is bound to the name.
    #[error("nothing is bound to \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
    },
    /// What is bound to the name has another interface.
    #[error(
        "\"{name}\" is bound to a {found}, which differs from the {expected} of this program; \
         build both sides from the same definition"
    )]
    OtherInterface {
        /// The name.
        name: String,
        /// The interface asked for, with the methods that the other lacks.
        expected: String,
        /// The interface it has, with its methods.
        found: String,
    },
    /// The registry could not be asked.
    #[error("the registry could not be asked")]
    Call(#[from] CallError),
    /// The server that has bound the name could not be reached at any of its addresses.
    #[error("\"{name}\" is bound, but its server can't be reached at {addresses}")]
    Unreachable {
        /// The name.
        name: String,
        /// The addresses.
        addresses: String,
        /// What prevented it at the last of them, where there is one.
        source: Option<Box<ConnectError>>,
    },
}

/// Why a name was not bound.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// Something is bound to the name already.
    #[error("\"{name}\" is bound already; use `rebind` to replace it")]
    Taken {
        /// The name.
        name: String,
    },
    /// The name is longer than names may be.
    #[error("a name of {len} bytes is too long: at most {max} are allowed")]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address could not be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// No thread could be started.
    #[error("no thread for the listener")]
    Thread(#[source] std::io::Error),
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
