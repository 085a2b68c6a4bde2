//! Errors of parsing addresses.

use jstream_derive::ErrorDebug;
use thiserror::Error;

/// The reason why a text is not a valid [`Address`](crate::Address).
#[derive(ErrorDebug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text is longer than the limit.
    #[error("address of {length} bytes exceeds the limit of {max} bytes")]
    TooLong {
        /// The length of the text in bytes.
        length: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The text has no `://`.
    #[error("`{uri}` has no scheme; write for example inproc://name or tcp://host:port")]
    NoScheme {
        /// The text.
        uri: String,
    },
    /// The scheme does not belong to any known device.
    #[error("unknown scheme `{scheme}`; known schemes: {known}")]
    UnknownScheme {
        /// The text before `://`.
        scheme: String,
        /// The known schemes.
        known: &'static str,
    },
    /// The text after `://` is empty.
    #[error("the address has no name; write {scheme}://name")]
    EmptyName {
        /// The scheme of the address.
        scheme: &'static str,
    },
    /// The name has white space or control characters, which would be unreadable in a log.
    #[error("the name `{name}` has white space or control characters")]
    BadName {
        /// The name, escaped.
        name: String,
    },
    /// The text before the port is empty.
    #[error("the address has no host; write tcp://host:port, or 0.0.0.0 for all interfaces")]
    EmptyHost,
    /// The host is neither a valid host name nor an IP address.
    #[error(
        "`{host}` is neither a host name nor an IP address; IPv6 needs brackets: tcp://[::1]:80"
    )]
    BadHost {
        /// The host, escaped.
        host: String,
    },
    /// The address has no port.
    #[error("`{uri}` has no port; write tcp://host:port, with port 0 to listen on a free one")]
    NoPort {
        /// The address.
        uri: String,
    },
    /// The port is not a number from 0 to 65535.
    #[error("the port `{port}` is not a number from 0 to 65535")]
    BadPort {
        /// The port, escaped.
        port: String,
    },
}
