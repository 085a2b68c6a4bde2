//! The exchange of greetings before the first message.
//!
//! The client sends its hello. The server answers with its own hello and a verdict, which accepts
//! or refuses the connection. A server that can't parse the client's hello answers too, so that
//! both sides learn the reason.

use std::io::{self, IoSlice};

use super::hello::Hello;
use super::{Short, Wire, read_exact, read_some, write_all};
use crate::connection::{Farewell, Interest, MAX_REASON};
use crate::deadline::Deadline;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, HandshakeError};

/// Maximum number of pieces that are discarded at once of a peer that is refused.
const LAST_WORDS: usize = 64;

const ACCEPTED: u8 = 0;
const REFUSED: u8 = 1;

/// The beginning of an alert of TLS, with which servers answer a hello that they do not expect.
const ALERT: [u8; 2] = [0x15, 3];

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
    let sent = write_all(wire, &Hello::from_options(options).to_bytes(), deadline);
    let heard = read_reply(wire, deadline, options);
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

/// The server's part of an exchange of greetings, which does not block. Nothing behind the client's
/// hello is read, unless the client is refused.
#[derive(Default)]
pub(crate) struct Welcoming {
    heard: [u8; Hello::WIRE_LENGTH],
    received: usize,
    /// The hello of the client, once it is complete.
    theirs: Option<Hello>,
    /// The answer, once there is one, and the number of its bytes that were sent.
    answer: Vec<u8>,
    sent: usize,
    /// True if the answer is a refusal.
    refuses: bool,
    /// True if the sending direction was ended after a refusal.
    ended: bool,
}

impl Welcoming {
    /// Receives the client's hello. Returns true once it is complete. A client whose hello is
    /// invalid is refused.
    pub(crate) fn read_hello(
        &mut self,
        wire: &dyn Wire,
        options: &Options,
    ) -> Result<bool, HandshakeError> {
        while let Some(rest) = self.heard.get_mut(self.received..) {
            if rest.is_empty() {
                break;
            }
            match read_some(wire, rest) {
                Ok(Some(0)) => {
                    let received = self.received;
                    return Err(HandshakeError::Closed { received });
                }
                Ok(Some(n)) => self.received = self.received.saturating_add(n),
                Ok(None) => return Ok(false),
                Err(source) => return Err(HandshakeError::System { source }),
            }
        }
        if self.theirs.is_none() {
            let theirs = Hello::from_bytes(&self.heard);
            let theirs = theirs.inspect_err(|error| {
                self.decline(options, &error.to_string());
            });
            self.theirs = Some(theirs?);
        }
        Ok(true)
    }

    /// Tells a client whose hello was heard that it is accepted. Returns its hello when the answer
    /// was sent.
    pub(crate) fn accept(
        &mut self,
        wire: &dyn Wire,
        options: &Options,
    ) -> Result<Option<Hello>, HandshakeError> {
        if self.answer.is_empty() {
            self.answer = answer(options, ACCEPTED, "");
        }
        let sent = self.send(wire);
        let sent = sent.map_err(|source| HandshakeError::System { source })?;
        Ok(self.theirs.filter(|_| sent))
    }

    /// Makes the answer a refusal, which [`farewell`](Self::farewell) sends, unless an answer is
    /// being sent.
    pub(crate) fn decline(&mut self, options: &Options, reason: &str) {
        if self.sent == 0 {
            self.answer = refusal(options, reason);
            self.refuses = true;
        }
    }

    /// Sends the rest of a refusal, and discards what the client still sends.
    pub(crate) fn farewell(&mut self, wire: &dyn Wire) -> Farewell {
        if !self.refuses {
            return Farewell::Gone;
        }
        match self.send(wire) {
            Ok(false) => return Farewell::Untold,
            Ok(true) if !self.ended => {
                wire.end_sending();
                self.ended = true;
            }
            Ok(true) => {}
            Err(_) => return Farewell::Gone,
        }
        discard(wire)
    }

    /// Returns the readiness to wait for.
    pub(crate) fn interest(&self) -> Interest {
        if self.sent < self.answer.len() {
            Interest::Writable
        } else {
            Interest::Readable
        }
    }

    /// Returns the error of a client that did not complete its part in time.
    pub(crate) fn timed_out(&self, options: &Options) -> HandshakeError {
        HandshakeError::TimedOut {
            received: self.received,
            after: options.handshake_timeout,
        }
    }

    /// Sends the rest of the answer. Returns true if all of it was sent.
    fn send(&mut self, wire: &dyn Wire) -> io::Result<bool> {
        loop {
            let rest = self.answer.get(self.sent..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(true);
            }
            match wire.try_write(&[IoSlice::new(rest)])? {
                Some(n) => self.sent = self.sent.saturating_add(n),
                None => return Ok(false),
            }
        }
    }
}

/// Discards what a peer sends after it was told why it is refused, until it has gone.
pub(crate) fn discard(wire: &dyn Wire) -> Farewell {
    let mut piece = [0; 1024];
    for _ in 0..LAST_WORDS {
        match read_some(wire, &mut piece) {
            Ok(Some(0)) | Err(_) => return Farewell::Gone,
            Ok(Some(_)) => {}
            Ok(None) => return Farewell::Told,
        }
    }
    Farewell::Gone
}

fn refusal(options: &Options, reason: &str) -> Vec<u8> {
    answer(options, REFUSED, cut(reason))
}

/// Returns the bytes of the hello, the verdict, and a reason of at most `MAX_REASON` bytes.
fn answer(options: &Options, verdict: u8, reason: &str) -> Vec<u8> {
    let length = u16::try_from(reason.len()).unwrap_or_default();
    let [low, high] = length.to_le_bytes();
    let verdict: [u8; VERDICT_LENGTH] = [verdict, 0, low, high, 0, 0, 0, 0];
    let mut bytes = Hello::from_options(options).to_bytes().to_vec();
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

fn read_reply(
    wire: &dyn Wire,
    deadline: Deadline,
    options: &Options,
) -> Result<Hello, HandshakeError> {
    let mut bytes = [0; Hello::WIRE_LENGTH];
    let read = read_exact(wire, &mut bytes, deadline);
    if bytes.starts_with(&ALERT) {
        return Err(HandshakeError::Encrypted);
    }
    in_words(read, 0, options)?;
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
    use std::time::Duration;

    use socket2::{Domain, Socket, Type};

    use super::super::socket::SocketWire;
    use super::*;

    fn pair() -> (SocketWire, SocketWire) {
        let (a, b) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        (SocketWire::new(a), SocketWire::new(b))
    }

    /// Repeats `step` until it returns a value, or nothing has arrived for the handshake timeout.
    fn repeat<T>(
        wire: &SocketWire,
        options: &Options,
        mut step: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let deadline = Deadline::after(options.handshake_timeout);
        loop {
            let done = step();
            if done.is_some() || deadline.has_passed() {
                return done;
            }
            wire.sleep(Interest::Readable, deadline).unwrap();
        }
    }

    fn welcome(wire: &SocketWire, options: &Options) -> Result<Hello, HandshakeError> {
        let mut welcoming = Welcoming::default();
        let heard = repeat(wire, options, || {
            match welcoming.read_hello(wire, options) {
                Ok(false) => None,
                done => Some(done),
            }
        });
        match heard {
            Some(Ok(_)) => Ok(welcoming.accept(wire, options)?.unwrap()),
            Some(Err(error)) => {
                welcoming.farewell(wire);
                Err(error)
            }
            None => Err(welcoming.timed_out(options)),
        }
    }

    fn refuse(wire: &SocketWire, options: &Options, reason: &str) {
        let mut welcoming = Welcoming::default();
        repeat(wire, options, || {
            matches!(welcoming.read_hello(wire, options), Ok(true)).then_some(())
        });
        welcoming.decline(options, reason);
        welcoming.farewell(wire);
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
    fn an_alert_of_tls_is_understood() {
        let alert = [0x15, 3, 3, 0, 2, 2, 10];
        let Unwelcome::Handshake(error) = answered(&alert) else {
            panic!("it is no refusal")
        };
        assert!(matches!(error, HandshakeError::Encrypted), "{error}");
    }

    #[test]
    fn both_sides_learn_the_limits_of_the_peer() {
        let (client, server) = pair();
        thread::scope(|scope| {
            let greeted = scope.spawn(|| greet(&client, &options(7)));
            assert_eq!(welcome(&server, &options(8)).unwrap().max_message, 7);
            assert_eq!(greeted.join().unwrap().unwrap().max_message, 8);
        });
    }

    #[test]
    fn a_refusal_has_a_reason() {
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
    fn refuses_a_stranger_with_a_reason() {
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
    fn reports_the_length_of_a_truncated_answer() {
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
    fn times_out_on_a_silent_peer() {
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
