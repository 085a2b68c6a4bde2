//! Of texts that should be addresses.

use thiserror::Error;

/// Why a text is not an [`Address`](crate::Address).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Nothing that long is an address.
    #[error("an address of {length} bytes is too long; at most {max} are allowed")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The most that is allowed.
        max: usize,
    },
    /// There is no `://`.
    #[error("`{uri}` has no scheme; write for example inproc://name or tcp://host:port")]
    NoScheme {
        /// The text.
        uri: String,
    },
    /// No device goes by that scheme.
    #[error("no device has the scheme `{scheme}`; known are: {known}")]
    UnknownScheme {
        /// What stands before `://`.
        scheme: String,
        /// The schemes there are.
        known: &'static str,
    },
    /// Nothing stands after `://`.
    #[error("the address has no name; write {scheme}://name")]
    EmptyName {
        /// Its scheme.
        scheme: &'static str,
    },
    /// A name that nobody could read in a log.
    #[error("the name `{name}` holds white space or control characters")]
    BadName {
        /// The name, escaped.
        name: String,
    },
    /// Nothing stands before the port.
    #[error("the address has no host; write tcp://host:port, with 0.0.0.0 to listen everywhere")]
    EmptyHost,
    /// No host has such a name.
    #[error(
        "`{host}` is neither a host name nor an IP address; IPv6 needs brackets: tcp://[::1]:80"
    )]
    BadHost {
        /// The host, escaped.
        host: String,
    },
    /// There is no port.
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
