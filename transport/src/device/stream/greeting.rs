//! What both sides say before the first message.
//!
//! The client says who it is; the server says who it is, and whether it wants the connection. A
//! server that does not understand its client answers all the same, so that both learn why.

use std::time::Duration;

use zerocopy::byteorder::little_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::hello::Hello;
use super::{Short, Wire, read_exact, write_all};
use crate::address::Address;
use crate::device::connection::MAX_REASON;
use crate::device::deadline::Deadline;
use crate::error::{ConnectError, HandshakeError};
use crate::options::Options;

/// How long a refusal may take.
pub(crate) const BRIEFLY: Duration = Duration::from_millis(200);

const ACCEPTED: u8 = 0;
const REFUSED: u8 = 1;

/// What a server says behind its hello, as it travels: little-endian. The reason follows.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct WireVerdict {
    verdict: u8,
    reserved: u8,
    /// How many bytes of UTF-8 follow.
    reason: U16,
    reserved_too: U32,
}

const VERDICT_LENGTH: usize = size_of::<WireVerdict>();

impl WireVerdict {
    /// Understands a verdict: how many bytes of a reason follow it, or `None` if it is favourable.
    fn read(bytes: [u8; VERDICT_LENGTH]) -> Result<Option<usize>, HandshakeError> {
        let wire: WireVerdict = zerocopy::transmute!(bytes);
        let reason = usize::from(wire.reason.get());
        let reserved = wire.reserved != 0 || wire.reserved_too != U32::ZERO;
        match wire.verdict {
            ACCEPTED if !reserved && reason == 0 => Ok(None),
            REFUSED if !reserved && reason <= MAX_REASON => Ok(Some(reason)),
            _ => Err(HandshakeError::Reserved {
                theirs: u64::from_le_bytes(bytes),
            }),
        }
    }
}

/// Why a client is not welcome.
#[derive(Debug)]
pub(crate) enum Unwelcome {
    /// For this reason, escaped.
    Refused(String),
    /// The two sides don't understand each other.
    Handshake(HandshakeError),
}

impl Unwelcome {
    /// The same, said of `address`.
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

/// The client's part: says who we are, hears who they are, and whether we are welcome. Reads
/// nothing of what follows.
pub(crate) fn greet(wire: &dyn Wire, options: &Options) -> Result<Hello, Unwelcome> {
    greet_until(wire, options, Deadline::after(options.handshake_timeout))
}

/// As [`greet`], of whose time a part has gone.
pub(crate) fn greet_until(
    wire: &dyn Wire,
    options: &Options,
    deadline: Deadline,
) -> Result<Hello, Unwelcome> {
    // A server that refuses need not have read this: what it says counts, not that it has gone.
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
    let Some(length) = WireVerdict::read(verdict)? else {
        return Ok(theirs);
    };
    let mut reason = [0; MAX_REASON];
    let reason = reason.get_mut(..length).unwrap_or_default();
    let before = Hello::WIRE_LENGTH.saturating_add(VERDICT_LENGTH);
    in_words(read_exact(wire, reason, deadline), before, options)?;
    let reason = String::from_utf8_lossy(reason).escape_debug().collect();
    Err(Unwelcome::Refused(reason))
}

/// The server's part, for a client that is welcome. Reads nothing of what follows.
pub(crate) fn welcome(wire: &dyn Wire, options: &Options) -> Result<Hello, HandshakeError> {
    welcome_until(wire, options, Deadline::after(options.handshake_timeout))
}

/// As [`welcome`], of whose time a part has gone.
pub(crate) fn welcome_until(
    wire: &dyn Wire,
    options: &Options,
    deadline: Deadline,
) -> Result<Hello, HandshakeError> {
    let theirs = match hear(wire, deadline, options) {
        Ok(theirs) => theirs,
        Err(error) => {
            // Who is silent or gone hears nothing more.
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

/// The server's part, for a client that is not: says why, without waiting long.
pub(crate) fn refuse(wire: &dyn Wire, options: &Options, reason: &str) {
    let deadline = Deadline::after(options.handshake_timeout.min(BRIEFLY));
    // Their hello is read, whatever it says: a connection that is closed with bytes unread is reset,
    // and the reason could be lost.
    let _ = read_exact(wire, &mut [0; Hello::WIRE_LENGTH], deadline);
    // Nobody is told when nobody listens any more.
    let _ = write_all(wire, &refusal(options, reason), deadline);
    wire.end_sending();
}

fn refusal(options: &Options, reason: &str) -> Vec<u8> {
    answer(options, REFUSED, cut(reason))
}

/// The hello, the verdict, and a reason of at most `MAX_REASON` bytes.
fn answer(options: &Options, verdict: u8, reason: &str) -> Vec<u8> {
    let wire = WireVerdict {
        verdict,
        reserved: 0,
        reason: u16::try_from(reason.len()).unwrap_or_default().into(),
        reserved_too: U32::ZERO,
    };
    let mut bytes = Hello::of(options).to_bytes().to_vec();
    bytes.extend(wire.as_bytes());
    bytes.extend(reason.as_bytes());
    bytes
}

/// As many whole characters as travel.
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

/// What went wrong, after `before` bytes of the greeting.
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

    /// What a client says to a server that has said `bytes`.
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
