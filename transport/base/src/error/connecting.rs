//! Errors of listening, accepting and connecting.

use std::fmt;
use std::io;
use std::time::Duration;

use jstream_derive::ErrorDebug;
use thiserror::Error;

use crate::Address;

/// The reason why listening on an address failed.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// This program was built without the device. The feature that it needs has the name of the
    /// address's scheme.
    #[error(
        "no device for {address}: this program was built without the feature `{}` of \
         jstream-transport or jstream-rmi",
        address.scheme()
    )]
    NoDevice {
        /// The address asked for.
        address: Address,
    },
    /// `Options::tls` has no server certificate.
    #[error("listening on {address} needs a server certificate; set `Options::tls`")]
    NoCertificate {
        /// The address asked for.
        address: Address,
    },
    /// The list of addresses to listen on is empty.
    #[error("no address was given to listen on")]
    NoAddress,
    /// Another listener uses the address.
    #[error("{address} is in use; stop the other listener or choose another address")]
    InUse {
        /// The address asked for.
        address: Address,
    },
    /// `Options::reuse_port` is set, and the address has no port.
    #[error(
        "{address} has no port that several listeners could share; use tcp, uring or tls, or unset \
         Options::reuse_port"
    )]
    NoPort {
        /// The address asked for.
        address: Address,
    },
    /// The service manager has given no sockets to this process.
    #[error(
        "the service manager has given no sockets to this process: {reason}; start it by a socket \
         unit of systemd"
    )]
    NotActivated {
        /// The reason.
        reason: String,
    },
    /// A descriptor that the service manager has given to this process can't be listened on.
    #[error(
        "can't listen on descriptor {descriptor} ({name}) of the service manager: {reason}; change \
         its socket unit"
    )]
    BadSocket {
        /// The number of the descriptor.
        descriptor: i32,
        /// The name of the descriptor in `LISTEN_FDNAMES`.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The host name could not be resolved to an address.
    #[error("{address} can't be resolved: {source}")]
    Resolve {
        /// The address asked for.
        address: Address,
        /// The error from the operating system.
        r#source: io::Error,
    },
    /// The operating system reported an error.
    #[error("can't listen on {address}: {source}")]
    System {
        /// The address asked for.
        address: Address,
        /// The error from the operating system.
        r#source: io::Error,
    },
}

/// The reason why no connection was accepted.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// No peer connected within the time limit.
    #[error("no peer connected to {address} within {after:?}")]
    TimedOut {
        /// The listener's address.
        address: Address,
        /// The time limit of the call.
        after: Duration,
    },
    /// The listener was closed by this program.
    #[error("the listener on {address} was closed")]
    ClosedLocally {
        /// The address that the listener had.
        address: Address,
    },
    /// The operating system reported a temporary error, for example that the process is out of file
    /// descriptors. The listener remains open; accept again.
    #[error("can't accept on {address} now: {source}; try again")]
    System {
        /// The listener's address.
        address: Address,
        /// The error from the operating system.
        r#source: io::Error,
    },
}

/// The reason why connecting to an address failed.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// This program was built without the device. The feature that it needs has the name of the
    /// address's scheme.
    #[error(
        "no device for {address}: this program was built without the feature `{}` of \
         jstream-transport or jstream-rmi",
        address.scheme()
    )]
    NoDevice {
        /// The address asked for.
        address: Address,
    },
    /// `Options::tls` does not say which certificates to trust.
    #[error("connecting to {address} needs trusted certificates; set `Options::tls`")]
    NoCertificate {
        /// The address asked for.
        address: Address,
    },
    /// All of several addresses failed.
    #[error("{}{last}", FailedAddresses(*.tried))]
    NoneWorks {
        /// Number of addresses that were tried.
        tried: usize,
        /// The error of the last address.
        last: Box<ConnectError>,
    },
    /// The list of addresses to connect to is empty.
    #[error("no address was given to connect to")]
    NoAddress,
    /// No listener in this process has the name.
    #[error("no listener in this process has the address {address}; listen on it first")]
    NoListener {
        /// The address asked for.
        address: Address,
    },
    /// The listener's queue of pending connections stayed full until the time limit.
    #[error("{address} did not accept the connection within {after:?}; its queue is full")]
    TimedOut {
        /// The address asked for.
        address: Address,
        /// The time that the call waited.
        after: Duration,
    },
    /// The host name could not be resolved to an address.
    #[error("{address} can't be resolved: {source}")]
    Resolve {
        /// The address asked for.
        address: Address,
        /// The error from the operating system.
        r#source: io::Error,
    },
    /// All of the host's addresses failed.
    #[error("can't reach {address}{}: {source}{}", TriedAddresses(*.tried), Remedy(address, r#source))]
    Unreachable {
        /// The address asked for.
        address: Address,
        /// Number of addresses that the host has.
        tried: usize,
        /// The error from the operating system for the last address.
        r#source: io::Error,
    },
    /// The listener refused the connection.
    #[error("{address} refused the connection: {reason}")]
    Refused {
        /// The address asked for.
        address: Address,
        /// The reason that the listener gave, escaped.
        reason: String,
    },
    /// The peer answered, but the handshake failed.
    #[error("the handshake with {address} failed: {source}")]
    Handshake {
        /// The address asked for.
        address: Address,
        /// The error of the handshake.
        r#source: HandshakeError,
    },
}

/// The reason why the handshake of a connection failed.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The peer uses another protocol.
    #[error("the peer does not speak this protocol: it began with {theirs:02x?}, not {ours:02x?}")]
    Magic {
        /// The magic bytes of this protocol.
        ours: [u8; 8],
        /// The first bytes that the peer sent.
        theirs: [u8; 8],
    },
    /// The peer expects TLS.
    #[error("the peer expects TLS; use tls://host:port on both sides")]
    Encrypted,
    /// The peer has another version of the protocol.
    #[error("the peer has protocol version {theirs}, this program {ours}; update the older one")]
    Version {
        /// The version of this program.
        ours: u32,
        /// The peer's version.
        theirs: u32,
    },
    /// The peer's byte order differs from this program's.
    #[error(
        "the peer's byte order mark reads as {theirs:#06x}, not as {ours:#06x}; \
         objects can't be shared in place"
    )]
    ByteOrder {
        /// The byte order mark of this program.
        ours: u16,
        /// The peer's byte order mark, read in this program's byte order.
        theirs: u16,
    },
    /// The peer's pointer width differs from this program's.
    #[error("the peer's pointers have {theirs} bits, not {ours}; objects can't be shared in place")]
    PointerWidth {
        /// The pointer width of this program in bits.
        ours: u8,
        /// The peer's pointer width in bits.
        theirs: u8,
    },
    /// The peer set reserved bytes, which have no meaning in this version.
    #[error("the peer's reserved bytes are {theirs:#x} instead of 0; is it a later version?")]
    Reserved {
        /// The value of the reserved bytes.
        theirs: u64,
    },
    /// The peer's greeting was not complete within the time limit.
    #[error("the peer sent {received} bytes of its greeting within {after:?}")]
    TimedOut {
        /// Number of bytes received.
        received: usize,
        /// The time limit of the handshake.
        after: Duration,
    },
    /// The peer closed the connection before its greeting was complete.
    #[error("the peer closed the connection after {received} bytes of its greeting")]
    Closed {
        /// Number of bytes received.
        received: usize,
    },
    /// The TLS handshake failed: a certificate is missing, unknown, expired or belongs to another
    /// host, the two sides have no cipher suite in common, or the peer does not speak TLS.
    #[error("the TLS handshake with the peer failed: {reason}")]
    Tls {
        /// The first 256 bytes of a description.
        reason: String,
    },
    /// The connection failed during the handshake.
    #[error("the connection broke: {source}")]
    System {
        /// The error from the operating system.
        r#source: io::Error,
    },
}

/// Formats the number of addresses of a host that were tried, unless it was one.
struct TriedAddresses(usize);

impl fmt::Display for TriedAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 | 1 => Ok(()),
            many => write!(
                f,
                " at any of its {many} addresses, of which the last failed"
            ),
        }
    }
}

/// Errors of the system: the host, or this process, has as many open files as it may. No
/// [`io::ErrorKind`] stands for them.
const NFILE: i32 = 23;
const MFILE: i32 = 24;

/// Formats the step that helps against an error of connecting to an address, if one is known.
struct Remedy<'e>(&'e Address, &'e io::Error);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind::{
            ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound, PermissionDenied,
            TimedOut,
        };
        let Self(address, error) = self;
        f.write_str(match error.kind() {
            _ if matches!(error.raw_os_error(), Some(NFILE | MFILE)) => {
                "; close connections or files, or raise the limit of open files (`ulimit -n`)"
            }
            ConnectionRefused | NotFound => match address {
                Address::Shm { name } if !name.starts_with('/') => {
                    "; is the server running? Other users and containers reach it at a path in a \
                     folder that they share, `shm:///path`"
                }
                Address::Uds { path } if path.starts_with('@') => {
                    "; is the server running? Other containers reach it at a path in a folder that \
                     they share, `uds:///path`"
                }
                _ => "; is the server running?",
            },
            TimedOut | HostUnreachable | NetworkUnreachable => {
                "; is the host up, and does a firewall let this host through?"
            }
            PermissionDenied if matches!(address, Address::Shm { .. } | Address::Uds { .. }) => {
                "; the listener's `Options::socket_mode` and the folder must permit this user to \
                 connect"
            }
            _ => "",
        })
    }
}

/// Formats the number of addresses that failed, unless it was one.
struct FailedAddresses(usize);

impl fmt::Display for FailedAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 | 1 => Ok(()),
            many => write!(
                f,
                "none of {many} addresses could be reached; the last failed: "
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn the_number_of_addresses_is_told_if_there_are_several() {
        let text = |tried| {
            let unreachable = ConnectError::Unreachable {
                address: "tcp://127.0.0.1:1".parse().unwrap(),
                tried,
                source: io::ErrorKind::ConnectionRefused.into(),
            };
            assert!(unreachable.source().is_none());
            let last = Box::new(unreachable);
            let several = ConnectError::NoneWorks { tried, last };
            several.to_string()
        };
        let once = "can't reach tcp://127.0.0.1:1: connection refused; is the server running?";
        assert_eq!(text(1), once);
        let thrice = "none of 3 addresses could be reached; the last failed: \
                      can't reach tcp://127.0.0.1:1 at any of its 3 addresses, of which the last \
                      failed: connection refused; is the server running?";
        assert_eq!(text(3), thrice);
    }

    #[test]
    fn the_remedy_is_one_for_the_error() {
        let numbers = [Errno::NFILE, Errno::MFILE].map(Errno::raw_os_error);
        assert_eq!(numbers, [NFILE, MFILE]);
        let text = |address: &str, source: io::Error| {
            let unreachable = ConnectError::Unreachable {
                address: address.parse().unwrap(),
                tried: 1,
                source,
            };
            unreachable.to_string()
        };
        let errno = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        let server = "is the server running?";
        for (address, error, remedy, is_for_server) in [
            (
                "tcp://h:1",
                Errno::MFILE,
                "; close connections or files",
                false,
            ),
            (
                "shm://a",
                Errno::NFILE,
                "; close connections or files",
                false,
            ),
            ("tcp://h:1", Errno::CONNREFUSED, server, true),
            ("shm://a", Errno::CONNREFUSED, "`shm:///path`", true),
            ("shm:///a", Errno::NOENT, server, true),
            ("uds://@a", Errno::CONNREFUSED, "`uds:///path`", true),
            ("uds:///a", Errno::ACCESS, "Options::socket_mode", false),
            ("tcp://h:1", Errno::HOSTUNREACH, "; is the host up", false),
            ("tcp://h:1", Errno::NOMEM, "", false),
        ] {
            let text = text(address, errno(error));
            assert!(text.contains(remedy), "{text}");
            assert_eq!(text.contains(server), is_for_server, "{text}");
        }
        let text = text("shm:///a", errno(Errno::NOENT));
        assert!(text.ends_with(server), "{text}");
    }
}
