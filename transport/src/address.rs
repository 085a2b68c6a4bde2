//! Where a listener is, as a URI.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::error::AddressError;

/// The schemes that [`Address`] knows, for the error about the others.
pub(crate) const SCHEMES: &str = "inproc, tcp";

/// The most bytes an address may have as a URI. Answers the threat of error texts and tables
/// that grow with what somebody else sends.
const MAX_LENGTH: usize = 512;

/// Where a listener is: `inproc://name` or `tcp://host:port`.
///
/// The host is a name, an IPv4 address, or an IPv6 address in brackets. Port 0 asks
/// [`listen`](crate::listen) for any free port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Address {
    /// Inside this process.
    #[non_exhaustive]
    Inproc {
        /// The name it listens under.
        name: String,
    },
    /// Over TCP.
    #[non_exhaustive]
    Tcp {
        /// A name, an IPv4 address or an IPv6 address (without its brackets).
        host: String,
        /// The port; 0 for any that is free.
        port: u16,
    },
}

impl Address {
    /// The address `inproc://name`.
    ///
    /// # Errors
    ///
    /// [`AddressError`] when `name` is empty, too long, or holds white space or control
    /// characters.
    pub fn inproc(name: &str) -> Result<Self, AddressError> {
        check_length(name)?;
        if name.is_empty() {
            return Err(AddressError::EmptyName);
        }
        if name.chars().any(is_unprintable) {
            return Err(AddressError::BadName {
                name: name.escape_debug().collect(),
            });
        }
        Ok(Self::Inproc { name: name.into() })
    }

    /// The address `tcp://host:port`; an IPv6 `host` comes without its brackets.
    ///
    /// # Errors
    ///
    /// [`AddressError`] when `host` is empty, too long, or can't be a host.
    pub fn tcp(host: &str, port: u16) -> Result<Self, AddressError> {
        check_length(host)?;
        if host.is_empty() {
            return Err(AddressError::EmptyHost);
        }
        let wrong = |c: char| is_unprintable(c) || matches!(c, '/' | '[' | ']' | '@');
        // An IPv6 address may name its interface: fe80::1%eth0.
        let bare = host.split('%').next().unwrap_or(host);
        if host.chars().any(wrong) || (host.contains(':') && bare.parse::<Ipv6Addr>().is_err()) {
            return Err(AddressError::BadHost {
                host: host.escape_debug().collect(),
            });
        }
        Ok(Self::Tcp {
            host: host.into(),
            port,
        })
    }

    /// What stands before `://`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Inproc { .. } => "inproc",
            Self::Tcp { .. } => "tcp",
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(uri: &str) -> Result<Self, AddressError> {
        check_length(uri)?;
        let Some((scheme, rest)) = uri.split_once("://") else {
            return Err(AddressError::NoScheme { uri: uri.into() });
        };
        match scheme {
            "inproc" => Self::inproc(rest),
            "tcp" => {
                let (host, port) = split_port(rest)?;
                let port = port.parse().map_err(|_| AddressError::BadPort {
                    port: port.escape_debug().collect(),
                })?;
                Self::tcp(host, port)
            }
            _ => Err(AddressError::UnknownScheme {
                scheme: scheme.escape_debug().collect(),
                known: SCHEMES,
            }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inproc { name } => write!(f, "inproc://{name}"),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
        }
    }
}

/// `host:port` or `[host]:port` in its two parts.
fn split_port(authority: &str) -> Result<(&str, &str), AddressError> {
    let missing = || AddressError::NoPort {
        uri: format!("tcp://{authority}"),
    };
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or_else(missing)?;
        let port = rest.strip_prefix(':').ok_or_else(missing)?;
        // Only IPv6 addresses stand in brackets.
        if !host.is_empty() && !host.contains(':') {
            return Err(AddressError::BadHost {
                host: host.escape_debug().collect(),
            });
        }
        return Ok((host, port));
    }
    let (host, port) = authority.rsplit_once(':').ok_or_else(missing)?;
    if host.contains(':') {
        return Err(AddressError::BadHost {
            host: host.escape_debug().collect(),
        });
    }
    if port.is_empty() {
        return Err(missing());
    }
    Ok((host, port))
}

fn check_length(text: &str) -> Result<(), AddressError> {
    if text.len() > MAX_LENGTH {
        return Err(AddressError::TooLong {
            length: text.len(),
            max: MAX_LENGTH,
        });
    }
    Ok(())
}

fn is_unprintable(c: char) -> bool {
    c.is_control() || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn good_addresses_come_back_as_they_were() {
        for uri in [
            "inproc://a",
            "inproc://some/long.name:7",
            "tcp://localhost:0",
            "tcp://127.0.0.1:65535",
            "tcp://[::1]:80",
            "tcp://[fe80::1%eth0]:1",
        ] {
            assert_eq!(uri.parse::<Address>().unwrap().to_string(), uri);
        }
        assert_eq!(
            "tcp://[::1]:80".parse(),
            Ok(Address::tcp("::1", 80).unwrap())
        );
        assert_eq!(Address::inproc("x").unwrap().scheme(), "inproc");
    }

    #[test]
    fn bad_addresses_say_what_is_wrong() {
        let long = format!("inproc://{}", "x".repeat(600));
        for (uri, text) in [
            ("name", "no scheme"),
            ("udp://host:1", "inproc, tcp"),
            ("inproc://", "has no name"),
            ("inproc://a b", "white space"),
            ("tcp://", "no port"),
            ("tcp://host", "no port"),
            ("tcp://host:", "no port"),
            ("tcp://[::1]", "no port"),
            ("tcp://[::1", "no port"),
            ("tcp://:1", "has no host"),
            ("tcp://[]:1", "has no host"),
            ("tcp://host:65536", "65536"),
            ("tcp://host:http", "http"),
            ("tcp://::1:80", "brackets"),
            ("tcp://[host]:80", "brackets"),
            ("tcp://a/b:80", "brackets"),
            (&long, "609 bytes"),
        ] {
            let error = uri.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(text), "{uri}: {error}");
            assert!(error.len() < 1024, "{uri}: {error}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_prints_and_parses_again(
            text in "(inproc|tcp)://[ -~\\[\\]:%é]{0,24}(:[0-9]{0,6})?",
        ) {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
        }
    }
}
