//! The exchange of greetings before the first message.
//!
//! The client sends its hello. The server answers with its own hello and a verdict, which accepts
//! or refuses the connection. A server that can't parse the client's hello answers too, so that
//! both sides learn the reason.

use std::time::Duration;

use super::hello::Hello;
use super::{Short, Wire, read_exact, write_all};
use crate::connection::MAX_REASON;
use crate::deadline::Deadline;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, HandshakeError};

/// Time limit for sending a refusal.
pub(crate) const BRIEFLY: Duration = Duration::from_millis(200);

const ACCEPTED: u8 = 0;
const REFUSED: u8 = 1;

/// Length of the verdict that a server sends after its hello: the verdict, a reserved byte, the
/// length of the reason that follows as a little-endian `u16`, and four reserved bytes.
const VERDICT_LENGTH: usize = 8;

/// Parses a verdict. Returns the length in bytes of the reason that follows, or `None` if the
/// client was accepted.
fn read_verdict(bytes: [u8; VERDICT_LENGTH]) -> Result<Option<usize>, HandshakeError> {
    let [verdict, first, low, high, rest @ ..] = bytes;
    let reason = usize::from(u16::from_le_bytes([low, high]));
    let reserved = first != 0 || rest != [0; 4];
    match verdict {
        ACCEPTED if !reserved && reason == 0 => Ok(None),
        REFUSED if !reserved && reason <= MAX_REASON => Ok(Some(reason)),
        _ => Err(HandshakeError::Reserved {
            theirs: u64::from_le_bytes(bytes),
        }),
    }
}

/// The reason why a server did not accept the client.
#[derive(Debug)]
pub(crate) enum Unwelcome {
    /// The server refused. Has the reason, escaped.
    Refused(String),
    /// The handshake failed.
    Handshake(HandshakeError),
}

impl Unwelcome {
    /// Converts this to an error about `address`.
    pub(crate) fn at(self, address: &Address) -> ConnectError {
        let address = address.clone();
        match self {
            Self::Refused(reason) => ConnectError::Refused { address, reason },
            Self::Handshake(source) => ConnectError::Handshake { address, source },
        }
    }
}

impl From<HandshakeError> for Unwelcome {
    fn from(error: HandshakeError) -> Self {
        Self::Handshake(error)
    }
}

/// Performs the client's part: sends the hello, and reads the server's hello and verdict. Reads
/// none of the bytes after them.
pub(crate) fn greet(wire: &dyn Wire, options: &Options) -> Result<Hello, Unwelcome> {
    greet_until(wire, options, Deadline::after(options.handshake_timeout))
}

/// Like [`greet`], with a deadline instead of the handshake timeout.
pub(crate) fn greet_until(
    wire: &dyn Wire,
    options: &Options,
    deadline: Deadline,
) -> Result<Hello, Unwelcome> {
    // A server that refuses may close the connection without reading the hello. So an error of this
    // write counts only if the server closed the connection without an answer.
    let sent = write_all(wire, &Hello::of(options).to_bytes(), deadline);
    let heard = hear(wire, deadline, options);
    if let Err(HandshakeError::Closed { .. }) = heard {
        in_words(sent, 0, options)?;
    }
    let theirs = heard?;
    let mut verdict = [0; VERDICT_LENGTH];
    in_words(
        read_exact(wire, &mut verdict, deadline),
        Hello::WIRE_LENGTH,
        options,
    )?;
    let Some(length) = read_verdict(verdict)? else {
        return Ok(theirs);
    };
    let mut reason = [0; MAX_REASON];
    let reason = reason.get_mut(..length).unwrap_or_default();
    let before = Hello::WIRE_LENGTH.saturating_add(VERDICT_LENGTH);
    in_words(read_exact(wire, reason, deadline), before, options)?;
    let reason = String::from_utf8_lossy(reason).escape_debug().collect();
    Err(Unwelcome::Refused(reason))
}

/// Performs the server's part for a client that is accepted. Reads none of the bytes after the
/// hello.
pub(crate) fn welcome(wire: &dyn Wire, options: &Options) -> Result<Hello, HandshakeError> {
    welcome_until(wire, options, Deadline::after(options.handshake_timeout))
}

/// Like [`welcome`], with a deadline instead of the handshake timeout.
pub(crate) fn welcome_until(
    wire: &dyn Wire,
    options: &Options,
    deadline: Deadline,
) -> Result<Hello, HandshakeError> {
    let theirs = match hear(wire, deadline, options) {
        Ok(theirs) => theirs,
        Err(error) => {
            // A client that is silent or gone gets no answer.
            if !matches!(
                error,
                HandshakeError::TimedOut { .. }
                    | HandshakeError::Closed { .. }
                    | HandshakeError::System { .. }
            ) {
                let deadline = deadline.or_sooner(Deadline::after(BRIEFLY));
                let _ = write_all(wire, &refusal(options, &error.to_string()), deadline);
                wire.end_sending();
            }
            return Err(error);
        }
    };
    let answer = answer(options, ACCEPTED, "");
    in_words(
        write_all(wire, &answer, deadline),
        Hello::WIRE_LENGTH,
        options,
    )?;
    Ok(theirs)
}

/// Performs the server's part for a client that is refused: sends the reason, and blocks only
/// briefly.
pub(crate) fn refuse(wire: &dyn Wire, options: &Options, reason: &str) {
    let deadline = Deadline::after(options.handshake_timeout.min(BRIEFLY));
    // The client's hello is read and ignored. If a connection is closed with unread bytes, the
    // kernel resets it, and the reason could be lost.
    let _ = read_exact(wire, &mut [0; Hello::WIRE_LENGTH], deadline);
    // A failure is ignored, because then no peer is listening.
    let _ = write_all(wire, &refusal(options, reason), deadline);
    wire.end_sending();
}

fn refusal(options: &Options, reason: &str) -> Vec<u8> {
    answer(options, REFUSED, cut(reason))
}

/// Returns the bytes of the hello, the verdict, and a reason of at most `MAX_REASON` bytes.
fn answer(options: &Options, verdict: u8, reason: &str) -> Vec<u8> {
    let length = u16::try_from(reason.len()).unwrap_or_default();
    let [low, high] = length.to_le_bytes();
    let verdict: [u8; VERDICT_LENGTH] = [verdict, 0, low, high, 0, 0, 0, 0];
    let mut bytes = Hello::of(options).to_bytes().to_vec();
    bytes.extend(verdict);
    bytes.extend(reason.as_bytes());
    bytes
}

/// Truncates a reason to `MAX_REASON` bytes at a character boundary.
fn cut(reason: &str) -> &str {
    let mut end = reason.len().min(MAX_REASON);
    while !reason.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    reason.get(..end).unwrap_or_default()
}

fn hear(wire: &dyn Wire, deadline: Deadline, options: &Options) -> Result<Hello, HandshakeError> {
    let mut bytes = [0; Hello::WIRE_LENGTH];
    in_words(read_exact(wire, &mut bytes, deadline), 0, options)?;
    Hello::from_bytes(&bytes)
}

/// Converts a failure after `before` bytes of the greeting to a handshake error.
fn in_words(
    done: Result<(), Short>,
    before: usize,
    options: &Options,
) -> Result<(), HandshakeError> {
    done.map_err(|short| match short {
        Short::TimedOut { received } => HandshakeError::TimedOut {
            received: received.saturating_add(before),
            after: options.handshake_timeout,
        },
        Short::Ended { received } => HandshakeError::Closed {
            received: received.saturating_add(before),
        },
        Short::Broken(source) => HandshakeError::System { source },
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use socket2::{Domain, Socket, Type};

    use super::super::socket::SocketWire;
    use super::*;

    fn pair() -> (SocketWire, SocketWire) {
        let (a, b) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        (SocketWire::new(a), SocketWire::new(b))
    }

    fn options(max_message: u64) -> Options {
        let mut options = Options::new(jstream::buffer::Pool::default());
        options.max_message = max_message;
        options.handshake_timeout = Duration::from_secs(60);
        options
    }

    /// Returns the error of a client whose server has sent `bytes`.
    fn answered(bytes: &[u8]) -> Unwelcome {
        let (client, server) = pair();
        write_all(&server, bytes, Deadline::NEVER).unwrap();
        server.end_sending();
        greet(&client, &options(1)).unwrap_err()
    }

    #[test]
    fn both_learn_what_the_other_takes() {
        let (client, server) = pair();
        thread::scope(|scope| {
            let greeted = scope.spawn(|| greet(&client, &options(7)));
            assert_eq!(welcome(&server, &options(8)).unwrap().max_message, 7);
            assert_eq!(greeted.join().unwrap().unwrap().max_message, 8);
        });
    }

    #[test]
    fn a_refusal_says_why() {
        let long = "\u{e4}".repeat(200);
        for (reason, heard) in [
            ("", ""),
            ("full\n", "full\\n"),
            (&long, &"\u{e4}".repeat(MAX_REASON / 2)),
        ] {
            let (client, server) = pair();
            thread::scope(|scope| {
                let greeted = scope.spawn(|| greet(&client, &options(1)));
                refuse(&server, &options(1), reason);
                drop(server);
                let unwelcome = greeted.join().unwrap().unwrap_err();
                assert!(
                    matches!(&unwelcome, Unwelcome::Refused(reason) if reason == heard),
                    "{unwelcome:?}"
                );
            });
        }
        let refused = Unwelcome::Refused("full".into());
        let text = refused.at(&"uds:///x".parse().unwrap()).to_string();
        assert_eq!(text, "uds:///x refused the connection: full");
    }

    #[test]
    fn a_server_tells_a_stranger_why() {
        let (client, server) = pair();
        let mut hello = Hello { max_message: 1 }.to_bytes();
        hello[8] = 9;
        write_all(&client, &hello, Deadline::NEVER).unwrap();
        let error = welcome(&server, &options(1)).unwrap_err();
        assert!(matches!(error, HandshakeError::Version { theirs: 9, .. }));
        drop(server);
        let mut answer = [0; Hello::WIRE_LENGTH + VERDICT_LENGTH];
        read_exact(&client, &mut answer, Deadline::NEVER).unwrap();
        assert_eq!(answer[Hello::WIRE_LENGTH], REFUSED);
    }

    #[test]
    fn verdicts_that_nobody_gives() {
        let hello = Hello { max_message: 1 }.to_bytes();
        for verdict in [
            [2, 0, 0, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 1, 0, 0, 0, 0, 0],
            [1, 0, 1, 1, 0, 0, 0, 0],
            [1, 0, 0xff, 0xff, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, 0, 0, 1],
        ] {
            let unwelcome = answered(&[&hello[..], &verdict].concat());
            let expected = u64::from_le_bytes(verdict);
            assert!(
                matches!(unwelcome, Unwelcome::Handshake(HandshakeError::Reserved { theirs })
                    if theirs == expected),
                "{unwelcome:?}"
            );
        }
    }

    #[test]
    fn an_answer_that_ends_says_where() {
        let whole = refusal(&options(1), "no");
        assert_eq!(whole.len(), 42);
        for end in 0..whole.len() {
            let unwelcome = answered(&whole[..end]);
            assert!(
                matches!(unwelcome, Unwelcome::Handshake(HandshakeError::Closed { received })
                    if received == end),
                "{unwelcome:?}"
            );
        }
    }

    #[test]
    fn who_says_nothing_is_not_waited_for() {
        let (client, server) = pair();
        let mut options = options(1);
        options.handshake_timeout = Duration::from_millis(50);
        let error = welcome(&server, &options).unwrap_err();
        assert!(matches!(
            error,
            HandshakeError::TimedOut { received: 0, .. }
        ));
        let unwelcome = greet(&client, &options).unwrap_err();
        assert!(matches!(
            unwelcome,
            Unwelcome::Handshake(HandshakeError::TimedOut { received: 0, .. })
        ));
        refuse(&server, &options, "late");
    }
}
