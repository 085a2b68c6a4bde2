//! Errors of calls, lookups and servers.
//!
//! The text of an error includes that of its cause, so `source()` returns `None`, and a report of
//! the chain shows no text twice. The cause is a public field; the raw identifier `r#source` keeps
//! `thiserror` from returning it by `source()`.

use std::time::Duration;
use std::{fmt, io};

use jstream::{ReadError, WriteError};
use jstream_active as active;
use jstream_active::JoinError;
use jstream_base::{Address, ListenError, RecvError, SendError};

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
        // Letters of all scripts are shown. What could move a cursor or change the direction of
        // text is escaped.
        if char.is_alphanumeric() || char.is_ascii_graphic() || char == ' ' {
            shown.push(char);
        } else {
            shown.extend(char.escape_debug());
        }
    }
    shown
}

/// Returns the reason after a colon, or nothing if there is no reason.
fn after_colon(reason: &str) -> String {
    match reason {
        "" => String::new(),
        reason => format!(": {reason}"),
    }
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

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DidNotRun => "did not run",
            Self::MayHaveRun => "may have run",
            Self::Ran => "ran",
        })
    }
}

/// Error of a call.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments could not be written.
    #[error("could not write the arguments of {method}, which did not run: {source}")]
    Arguments {
        /// The method.
        method: &'static str,
        /// The error of the writer.
        r#source: WriteError,
    },
    /// The call would carry too much metadata: that of the stub and what it inherits from the
    /// method that makes the call exceed a limit together.
    #[error("{method} was not called: {source}")]
    Metadata {
        /// The method.
        method: &'static str,
        /// The limit that is exceeded.
        r#source: MetadataError,
    },
    /// The call could not be sent.
    #[error("could not send the call of {method}: {source}")]
    NotSent {
        /// The method.
        method: &'static str,
        /// The error of the transport.
        r#source: SendError,
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
    #[error(
        "{method} returned no result before its deadline and {outcome}; allow it more time \
         (ClientOptions::call_timeout or the stub's `within`)"
    )]
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
    #[error("the call of {method} was cancelled; the method {outcome}")]
    Cancelled {
        /// The method.
        method: &'static str,
        /// Execution state of the method.
        outcome: Outcome,
    },
    /// The peer refused the call because the limit of suspended methods, streams or nested calls is
    /// reached, or did not [admit](crate::AdmissionOptions) it. As a rule, the transport has
    /// already resent the call several times, unless the peer says when to repeat it.
    #[error(
        "the peer is busy and refused the call of {method}: {}",
        WhenToRetry(*retry_after)
    )]
    Busy {
        /// The method.
        method: &'static str,
        /// The time after which the call may be repeated, at most a minute, if the peer has stated
        /// one. Calls that are repeated automatically wait for longer than that, or fail with this
        /// error if their deadlines do not allow it.
        retry_after: Option<Duration>,
    },
    /// The peer has shut down, or is shutting down, and did not run the call.
    #[error(
        "the peer has shut down or is shutting down, and did not run {method}; \
         repeat the call over a new connection"
    )]
    Ending {
        /// The method.
        method: &'static str,
    },
    /// The connection was lost, and could not be opened again in time
    /// ([`Reconnect::patience`](crate::Reconnect::patience), or the timeout of the call). The
    /// method did not run.
    #[error(
        "{method} did not run, because the connection to {address} was lost and has not been \
         opened again: {reason}"
    )]
    Disconnected {
        /// The method.
        method: &'static str,
        /// The address of the server.
        address: Address,
        /// The failure of the last attempt.
        reason: String,
    },
    /// The connection was lost, and with it the object: its trait is declared
    /// `#[remote(stateful)]`, or it is a [reference](crate::Remote) that is not
    /// [acquired again](crate::Remote::acquired_by). The method did not run.
    #[error(
        "{method} did not run, because the object \"{name}\" was lost with its connection; look it \
         up or acquire it again"
    )]
    ObjectLost {
        /// The method.
        method: &'static str,
        /// The name of the object, or of the trait of a reference.
        name: String,
    },
    /// The peer does not export the object, or no longer does.
    #[error("{method}: the peer does not export the object, or no longer does; look it up again")]
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
    /// The object has another version of the interface, in which the method is missing, or has
    /// types from which or to which no value can be converted. The call was not sent.
    #[error(
        "{method} was not called: {reason} (the server has another version of {interface}: \
         {own_id:#018x} here, {object_id:#018x} there)"
    )]
    OtherVersion {
        /// The method.
        method: &'static str,
        /// The difference.
        reason: String,
        /// The name of the trait.
        interface: &'static str,
        /// The [id](crate::Interface::id) of the interface of this program.
        own_id: u64,
        /// The id of the interface of the object.
        object_id: u64,
    },
    /// An interceptor of this side or of the peer denied the call.
    #[error("{method} was denied: {reason}")]
    Denied {
        /// The method.
        method: &'static str,
        /// The text of the interceptor.
        reason: String,
    },
    /// A layer around the calls of this side has ended the call with an error of its own, such as a
    /// timeout, or has panicked, or made a call again that can't be.
    #[error("a layer ended the call of {method}, which {outcome}: {reason}")]
    Layer {
        /// The method.
        method: &'static str,
        /// The error of the layer.
        reason: String,
        /// Execution state of the method.
        outcome: Outcome,
        /// True if the method is declared idempotent.
        idempotent: bool,
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
    #[error("{method} panicked at the peer{}", after_colon(reason))]
    Panicked {
        /// The method.
        method: &'static str,
        /// The advice of the peer if the method lacks a runtime, else empty: the text of a panic
        /// stays at the server.
        reason: String,
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
    /// returned `None` or an object of a third party. Or the object could not be
    /// [acquired again](crate::Remote::acquired_by).
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
    #[error("could not read the result of {method}, which ran: {source}")]
    Result {
        /// The method.
        method: &'static str,
        /// The error of the reader.
        r#source: ReadError,
    },
}

impl CallError {
    /// Returns whether the method ran.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Arguments { .. }
            | Self::Metadata { .. }
            | Self::UnknownObject { .. }
            | Self::UnknownMethod { .. }
            | Self::OtherVersion { .. }
            | Self::Busy { .. }
            | Self::Ending { .. }
            | Self::Disconnected { .. }
            | Self::ObjectLost { .. }
            | Self::Reference { .. }
            | Self::NotGiven { .. }
            | Self::Here { .. }
            | Self::Denied { .. }
            | Self::Refused { .. } => Outcome::DidNotRun,
            Self::Deadline { outcome, .. }
            | Self::Cancelled { outcome, .. }
            | Self::Layer { outcome, .. } => *outcome,
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
            | Self::Layer { idempotent, .. }
            | Self::Panicked { idempotent, .. }
                if *idempotent =>
            {
                true
            }
            _ => self.outcome() == Outcome::DidNotRun,
        }
    }

    /// Returns true if the connection to the peer was lost, or the peer is shutting down. Calls
    /// over another connection may succeed.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        match self {
            Self::Lost { .. }
            | Self::Ending { .. }
            | Self::Disconnected { .. }
            | Self::ObjectLost { .. } => true,
            Self::NotSent { source, .. } => !matches!(
                source,
                SendError::TooLarge { .. }
                    | SendError::NoBuffer { .. }
                    | SendError::TimedOut { .. }
                    | SendError::Forked { .. }
            ),
            _ => false,
        }
    }
}

/// Formats the time at which a refused call may be repeated.
struct WhenToRetry(Option<Duration>);

impl fmt::Display for WhenToRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => write!(f, "retry after {time:?}"),
            None => f.write_str("retry when other calls have ended"),
        }
    }
}

/// Maximum number of entries of metadata.
pub(crate) const MOST_METADATA_ENTRIES: usize = 32;

/// Maximum length of metadata in bytes.
pub(crate) const MOST_METADATA_BYTES: usize = 4096;

/// Error of adding an entry to [`Metadata`](crate::Metadata).
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The key is empty, or has other characters than visible ASCII without upper-case letters.
    #[error(
        "the metadata key {key:?} is invalid: use one or more visible ASCII characters, without \
         upper-case letters"
    )]
    Key {
        /// The key.
        key: String,
    },
    /// There would be more entries than [`Metadata::MAX_ENTRIES`](crate::Metadata::MAX_ENTRIES).
    #[error(
        "the metadata would have more than {} entries (Metadata::MAX_ENTRIES): remove others first",
        MOST_METADATA_ENTRIES
    )]
    Entries,
    /// The entries would take more bytes than [`Metadata::MAX_BYTES`](crate::Metadata::MAX_BYTES).
    #[error(
        "the metadata would take {bytes} bytes, and the limit is {} (Metadata::MAX_BYTES): shorten \
         or remove values",
        MOST_METADATA_BYTES
    )]
    Bytes {
        /// The number of bytes.
        bytes: usize,
    },
}

/// Error of connecting to a server.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The connection could not be established.
    #[error(transparent)]
    Connect(#[from] jstream_base::ConnectError),
    /// The peer is not an RMI peer, or closed the connection at once, as a server does that has too
    /// many connections in the handshake. If the server requires a
    /// [secret](crate::ClientOptions::secret) and this side has none, the handshake fails with this
    /// error, too.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The two sides don't know the same [secret](crate::Secret).
    #[error(transparent)]
    Secret(#[from] AuthError),
    /// The peer uses active messages, but does not serve calls.
    #[error("the peer does not serve calls: {0}")]
    NoCalls(active::LookupError),
}

impl From<active::LookupError> for ConnectError {
    fn from(error: active::LookupError) -> Self {
        Self::NoCalls(error)
    }
}

/// Error of looking up a name.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
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
        "\"{name}\" is bound to an object of another interface: {difference}; build both sides from \
         the same definition"
    )]
    OtherInterface {
        /// The name.
        name: String,
        /// The requested interface, with the methods that the object lacks.
        expected: String,
        /// The interface of the object, with its methods.
        found: String,
        /// The methods that differ, and in which type. Methods that the object has in addition
        /// are no difference.
        difference: String,
    },
    /// The call of the registry failed.
    #[error("the lookup failed: {0}")]
    Call(CallError),
    /// The name is bound, but its server could not be reached at any of its addresses.
    #[error(
        "\"{name}\" is bound, but its server can't be reached at {addresses}{}",
        LastFailure(source)
    )]
    Unreachable {
        /// The name.
        name: String,
        /// The addresses.
        addresses: String,
        /// The error of the last address, if there is one.
        r#source: Option<Box<ConnectError>>,
    },
    /// The registry of several servers could not be reached.
    #[error("the registry at {address} can't be reached: {source}")]
    RegistryUnreachable {
        /// The address of the registry.
        address: Address,
        /// The reason.
        r#source: Box<ConnectError>,
    },
    /// The server at the address has no registry of several servers.
    #[error(
        "the server at {address} is not a registry of several servers; \
         start one with `jregistry serve`, or bind a `Registrar`"
    )]
    NotARegistry {
        /// The address.
        address: Address,
    },
    /// The registry at the address has another version than this program.
    #[error(
        "the registry at {address} has another version than this program; \
         build both from the same release"
    )]
    RegistryVersion {
        /// The address.
        address: Address,
    },
}

impl From<CallError> for LookupError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// Formats the reason for which no address could be reached, if one is known.
struct LastFailure<'e>(&'e Option<Box<ConnectError>>);

impl fmt::Display for LastFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

/// Error of binding a name.
#[derive(jstream_derive::ErrorDebug, thiserror::Error, PartialEq, Eq)]
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
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Listening at the address failed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The thread of the listener could not be started.
    #[error("could not start the thread of the listener: {0}")]
    Thread(io::Error),
}

/// Errors of mutual authentication. The connection is closed after each of them.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The operating system did not provide random numbers.
    #[error("the operating system provided no random numbers: {0}")]
    Random(io::Error),
    /// The challenge or the proof could not be sent.
    #[error("could not send the proof of the secret: {0}")]
    Send(SendError),
    /// The peer did not answer. A server that rejects a proof closes the connection.
    #[error("received no proof of the secret from the peer, which may have another secret: {0}")]
    Receive(RecvError),
    /// The peer sent something other than the expected authentication message.
    #[error("the peer did not ask for a secret: set the same secret on both sides, or on neither")]
    NotAsked,
    /// The proof of the peer is wrong.
    #[error("the peer has another secret; set the same one on both sides")]
    Wrong,
}

impl From<SendError> for AuthError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

impl From<RecvError> for AuthError {
    fn from(error: RecvError) -> Self {
        Self::Receive(error)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use jstream_base::SendError;

    use super::{CallError, LookupError, Outcome, shown};

    #[test]
    fn texts_include_those_of_the_causes_and_what_to_do() {
        let refused = || CallError::NotSent {
            method: "big",
            source: SendError::TooLarge {
                length: 5_000_000,
                max: 4_000_000,
                peer: "inproc://server".parse().unwrap(),
            },
        };
        let text = refused().to_string();
        for part in [
            "big",
            "5000000",
            "4000000",
            "raise the Options::max_message",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(refused().source().is_none());
        let lookup = LookupError::from(refused());
        assert!(lookup.to_string().ends_with(&text), "{lookup}");
        assert!(lookup.source().is_none());
        let late = CallError::Deadline {
            method: "slow",
            outcome: Outcome::MayHaveRun,
            idempotent: false,
        };
        assert!(late.to_string().contains("slow"), "{late}");
        assert!(late.to_string().contains("may have run"), "{late}");
    }

    #[test]
    fn errors_of_a_registry_name_its_address_only() {
        let address = || "tcp://127.0.0.1:7000".parse().unwrap();
        for error in [
            LookupError::RegistryUnreachable {
                address: address(),
                source: Box::new(jstream_base::ConnectError::NoAddress.into()),
            },
            LookupError::NotARegistry { address: address() },
            LookupError::RegistryVersion { address: address() },
        ] {
            let text = error.to_string();
            assert!(text.contains("tcp://127.0.0.1:7000"), "{text}");
            assert!(!text.contains("jstream.directory"), "{text}");
        }
    }

    #[test]
    fn what_peers_say_is_tamed() {
        assert_eq!(shown("fn f(&self) -> Größe"), "fn f(&self) -> Größe");
        assert_eq!(shown("\u{1b}[2J\n\u{202e}"), "\\u{1b}[2J\\n\\u{202e}");
        let long = shown(&"x".repeat(1 << 20));
        assert!(long.len() < 1100 && long.ends_with('…'));
    }
}
