//! Addresses of listeners, written as URIs.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::str::FromStr;

use crate::AddressError;

/// Schemes that [`Address`] accepts, for the error about an unknown scheme.
pub(crate) const SCHEMES: &str = "inproc, shm, uds, tcp, uring, tls, sim";

/// Maximum length of an address as a URI, in bytes. Bounds the error messages and tables that
/// contain addresses sent by a peer.
const MAX_LENGTH: usize = 512;

/// Maximum length of a shared memory name, in bytes. The name and the prefix that the device adds
/// fit into a socket name.
const MAX_SHM_NAME: usize = 80;

/// Maximum length of a socket path, in bytes: the size of `sun_path` in `sockaddr_un`, without the
/// terminating zero byte.
const MAX_SOCKET_PATH: usize = 107;

/// Address of a listener: `inproc://name`, `shm://name`, `shm:///path`, `uds:///path`,
/// `tcp://host:port`, `uring://host:port`, `tls://host:port` or `sim://name`.
///
/// The host is a name, an IPv4 address, or an IPv6 address in brackets. If the port is 0,
/// `listen` chooses any free port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Address {
    /// Inside this process.
    #[non_exhaustive]
    Inproc {
        /// The name of the listener.
        name: String,
    },
    /// Between processes of this host, through shared memory.
    #[non_exhaustive]
    Shm {
        /// The name of the listener. If it starts with `/`, it is the path of the listener's
        /// socket, which other users and containers can reach, too.
        name: String,
    },
    /// Over a Unix socket.
    #[non_exhaustive]
    Uds {
        /// The path of the socket. If the path starts with `@`, the rest is a name in the abstract
        /// namespace, without a file.
        path: String,
    },
    /// Over TCP.
    #[non_exhaustive]
    Tcp {
        /// A name, an IPv4 address or an IPv6 address (without its brackets).
        host: String,
        /// The port; 0 for any free port.
        port: u16,
    },
    /// Over TCP, with io_uring if the system supports it. The peer may use `tcp` instead.
    #[non_exhaustive]
    Uring {
        /// A name, an IPv4 address or an IPv6 address (without its brackets).
        host: String,
        /// The port; 0 for any free port.
        port: u16,
    },
    /// Over TLS with certificates on both sides. Requires the feature `tls`.
    #[non_exhaustive]
    Tls {
        /// A name, an IPv4 address or an IPv6 address (without its brackets).
        host: String,
        /// The port; 0 for any free port.
        port: u16,
    },
    /// Inside this process, over the network that `sim` simulates with faults.
    #[non_exhaustive]
    Sim {
        /// The name of the listener.
        name: String,
    },
}

/// Addresses of peers, which devices make from names and numbers that they know to be valid.
#[doc(hidden)]
impl Address {
    /// Returns `shm://name` without checking the name.
    #[must_use]
    pub fn shm_peer(name: String) -> Self {
        Self::Shm { name }
    }

    /// Returns `uds://path` without checking the path.
    #[must_use]
    pub fn uds_peer(path: String) -> Self {
        Self::Uds { path }
    }

    /// Returns `sim://name` without checking the name.
    #[must_use]
    pub fn sim_peer(name: String) -> Self {
        Self::Sim { name }
    }

    /// Returns `tcp://host:port`.
    #[must_use]
    pub fn tcp_peer(at: SocketAddr) -> Self {
        let (host, port) = (at.ip().to_string(), at.port());
        Self::Tcp { host, port }
    }

    /// Returns `uring://host:port`.
    #[must_use]
    pub fn uring_peer(at: SocketAddr) -> Self {
        let (host, port) = (at.ip().to_string(), at.port());
        Self::Uring { host, port }
    }

    /// Returns `tls://host:port`.
    #[must_use]
    pub fn tls_peer(at: SocketAddr) -> Self {
        let (host, port) = (at.ip().to_string(), at.port());
        Self::Tls { host, port }
    }
}

impl Address {
    /// Returns the address `inproc://name`.
    ///
    /// # Errors
    ///
    /// [`AddressError`] if `name` is empty, longer than 512 bytes, or contains white space or
    /// control characters.
    pub fn inproc(name: &str) -> Result<Self, AddressError> {
        Ok(Self::Inproc {
            name: check_name("inproc", name, MAX_LENGTH)?,
        })
    }

    /// Returns the address `shm://name`, or `shm:///path` if `name` starts with `/`.
    ///
    /// # Errors
    ///
    /// [`AddressError`] if `name` is empty, longer than 80 bytes (107 for a path, the limit of the
    /// system), or contains white space or control characters.
    pub fn shm(name: &str) -> Result<Self, AddressError> {
        let max = if name.starts_with('/') {
            MAX_SOCKET_PATH
        } else {
            MAX_SHM_NAME
        };
        Ok(Self::Shm {
            name: check_name("shm", name, max)?,
        })
    }

    /// Returns the address `uds://path`. If the path starts with `@`, the rest is a name in the
    /// abstract namespace, without a file.
    ///
    /// # Errors
    ///
    /// [`AddressError`] if `path` is empty, longer than 107 bytes (the limit of the system), or
    /// contains white space or control characters.
    pub fn uds(path: &str) -> Result<Self, AddressError> {
        Ok(Self::Uds {
            path: check_name("uds", path, MAX_SOCKET_PATH)?,
        })
    }

    /// Returns the address `sim://name`.
    ///
    /// # Errors
    ///
    /// As for [`inproc`](Self::inproc).
    pub fn sim(name: &str) -> Result<Self, AddressError> {
        Ok(Self::Sim {
            name: check_name("sim", name, MAX_LENGTH)?,
        })
    }

    /// Returns the address `tcp://host:port`. An IPv6 `host` is passed without brackets.
    ///
    /// # Errors
    ///
    /// [`AddressError`] if `host` is empty, longer than 512 bytes, or not a valid host.
    pub fn tcp(host: &str, port: u16) -> Result<Self, AddressError> {
        let host = check_host(host)?;
        Ok(Self::Tcp { host, port })
    }

    /// Returns the address `uring://host:port`.
    ///
    /// # Errors
    ///
    /// As for [`tcp`](Self::tcp).
    pub fn uring(host: &str, port: u16) -> Result<Self, AddressError> {
        let host = check_host(host)?;
        Ok(Self::Uring { host, port })
    }

    /// Returns the address `tls://host:port`.
    ///
    /// # Errors
    ///
    /// As for [`tcp`](Self::tcp).
    pub fn tls(host: &str, port: u16) -> Result<Self, AddressError> {
        let host = check_host(host)?;
        Ok(Self::Tls { host, port })
    }

    /// Returns the part of a peer's address by which limits count its connections together: the
    /// host, or the /64 network of an IPv6 address, because one host has all addresses of it. Local
    /// peers without an address count as one source for each scheme.
    #[must_use]
    pub fn source(&self) -> String {
        let (Self::Tcp { host, .. } | Self::Uring { host, .. } | Self::Tls { host, .. }) = self
        else {
            return self.scheme().to_owned();
        };
        match host.parse::<std::net::Ipv6Addr>() {
            Ok(address) if address.to_ipv4_mapped().is_none() => {
                let network = address.to_bits() >> 64;
                format!("{network:x}/64")
            }
            _ => host.clone(),
        }
    }

    /// Returns the scheme: the part before `://`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Inproc { .. } => "inproc",
            Self::Shm { .. } => "shm",
            Self::Uds { .. } => "uds",
            Self::Tcp { .. } => "tcp",
            Self::Uring { .. } => "uring",
            Self::Tls { .. } => "tls",
            Self::Sim { .. } => "sim",
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
            "shm" => Self::shm(rest),
            "uds" => Self::uds(rest),
            "tcp" | "uring" | "tls" => {
                let (host, port) = split_port(scheme, rest)?;
                let port = port.parse().map_err(|_| AddressError::BadPort {
                    port: port.escape_debug().collect(),
                })?;
                match scheme {
                    "tcp" => Self::tcp(host, port),
                    "uring" => Self::uring(host, port),
                    _ => Self::tls(host, port),
                }
            }
            "sim" => Self::sim(rest),
            _ => Err(AddressError::UnknownScheme {
                scheme: scheme.escape_debug().collect(),
                known: SCHEMES,
            }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme();
        match self {
            Self::Inproc { name } | Self::Shm { name } | Self::Sim { name } => {
                write!(f, "{scheme}://{name}")
            }
            Self::Uds { path } => write!(f, "{scheme}://{path}"),
            Self::Tcp { host, port } | Self::Uring { host, port } | Self::Tls { host, port } => {
                if host.contains(':') {
                    write!(f, "{scheme}://[{host}]:{port}")
                } else {
                    write!(f, "{scheme}://{host}:{port}")
                }
            }
        }
    }
}

/// Splits `host:port` or `[host]:port` into host and port.
fn split_port<'a>(scheme: &str, authority: &'a str) -> Result<(&'a str, &'a str), AddressError> {
    let missing = || AddressError::NoPort {
        uri: format!("{scheme}://{authority}"),
    };
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or_else(missing)?;
        let port = rest.strip_prefix(':').ok_or_else(missing)?;
        // Only IPv6 addresses may be in brackets.
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

fn check_name(scheme: &'static str, name: &str, max: usize) -> Result<String, AddressError> {
    if name.len() > max {
        return Err(AddressError::TooLong {
            length: name.len(),
            max,
        });
    }
    if name.is_empty() {
        return Err(AddressError::EmptyName { scheme });
    }
    if name.chars().any(is_unprintable) {
        return Err(AddressError::BadName {
            name: name.escape_debug().collect(),
        });
    }
    Ok(name.into())
}

fn check_host(host: &str) -> Result<String, AddressError> {
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
    Ok(host.into())
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
    fn a_source_is_a_host_or_its_network() {
        let of = |uri: &str| uri.parse::<Address>().unwrap().source();
        assert_eq!(of("tcp://127.0.0.1:4"), of("tls://127.0.0.1:5"));
        assert_ne!(of("tcp://127.0.0.1:4"), of("tcp://127.0.0.2:4"));
        assert_eq!(of("tcp://[2001:db8::1]:4"), of("tcp://[2001:db8::ffff]:4"));
        assert_ne!(of("tcp://[2001:db8::1]:4"), of("tcp://[2001:db8:1::1]:4"));
        assert_eq!(of("uds:///one"), of("uds:///two"));
    }

    #[test]
    fn valid_addresses_are_printed_unchanged() {
        for uri in [
            "inproc://a",
            "inproc://some/long.name:7",
            "shm://bus",
            "shm:///run/app/bus",
            "tcp://localhost:0",
            "tcp://127.0.0.1:65535",
            "tcp://[::1]:80",
            "tcp://[fe80::1%eth0]:1",
            "tls://[::1]:0",
            "tls://host.example:443",
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
    fn errors_of_addresses_name_the_fault() {
        let long = format!("inproc://{}", "x".repeat(600));
        for (uri, text) in [
            ("name", "no scheme"),
            ("udp://host:1", "inproc, shm, uds, tcp, uring, tls, sim"),
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
        fn printed_addresses_are_parsed_to_the_same(
            text in "(inproc|tcp|tls)://[ -~\\[\\]:%é]{0,24}(:[0-9]{0,6})?",
        ) {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
        }
    }
}
