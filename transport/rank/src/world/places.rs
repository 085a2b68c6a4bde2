//! Listening addresses of members.

use std::net::IpAddr;

use super::error::WorldError;
use super::session::Session;
use jstream_base::Address;
use jstream_base::AddressError;

/// Information of a member about itself, from which it derives its listening addresses.
pub(super) struct Whereabouts<'w> {
    pub(super) rank: u32,
    pub(super) session: Session,
    /// The host under which rank 0 sees this member; empty if it was not reached over a network.
    pub(super) seen: &'w str,
}

impl Whereabouts<'_> {
    /// Returns a listening address for each address of rank 0, on the same device, with a separate
    /// name or port. The name ends in `service`, if that is not empty.
    pub(super) fn beside(
        &self,
        given: &[Address],
        service: &str,
    ) -> Result<Vec<Address>, WorldError> {
        let dash = if service.is_empty() { "" } else { "-" };
        let name = || {
            let session = self.session.short();
            format!("jsw-{session}-{}{dash}{service}", self.rank)
        };
        let mut places = Vec::with_capacity(given.len());
        for address in given {
            let place = match address {
                Address::Inproc { .. } => Address::inproc(&name()),
                // Other users and containers may see the folder only.
                Address::Shm { name: path, .. } if path.starts_with('/') => {
                    Address::shm(&format!("{path}.{}{dash}{service}", self.rank))
                }
                Address::Shm { .. } => Address::shm(&name()),
                Address::Sim { .. } => Address::sim(&name()),
                // An abstract name disappears with its process.
                Address::Uds { path, .. } if path.starts_with('@') => {
                    Address::uds(&format!("@{}", name()))
                }
                Address::Uds { path, .. } => {
                    Address::uds(&format!("{path}.{}{dash}{service}", self.rank))
                }
                Address::Tcp { host, .. } => Address::tcp(self.host(host), 0),
                Address::Uring { host, .. } => Address::uring(self.host(host), 0),
                Address::Tls { host, .. } => Address::tls(self.host(host), 0),
                other => Ok(other.clone()),
            }?;
            // Several given addresses may lead to the same place, at which one can listen once.
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Ok(places)
    }

    /// Returns the host to listen on. A member that reaches rank 0 without a network is on the same
    /// host.
    fn host<'h>(&'h self, given: &'h str) -> &'h str {
        if self.seen.is_empty() {
            given
        } else {
            self.seen
        }
    }

    /// Returns the address at which others reach a listener. An unspecified IP address is replaced
    /// by the known host.
    pub(super) fn public(&self, local: &Address) -> Result<Address, AddressError> {
        match local {
            Address::Tcp { host, port, .. } if self.replaces(host) => {
                Address::tcp(self.seen, *port)
            }
            Address::Uring { host, port, .. } if self.replaces(host) => {
                Address::uring(self.seen, *port)
            }
            Address::Tls { host, port, .. } if self.replaces(host) => {
                Address::tls(self.seen, *port)
            }
            _ => Ok(local.clone()),
        }
    }

    fn replaces(&self, host: &str) -> bool {
        is_unspecified(host) && !self.seen.is_empty()
    }
}

/// Returns true if a host stands for all interfaces.
pub(super) fn is_unspecified(host: &str) -> bool {
    host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified())
}

/// Returns the host of a network address, or an empty string.
pub(super) fn host_of(address: &Address) -> &str {
    match address {
        Address::Tcp { host, .. } | Address::Uring { host, .. } | Address::Tls { host, .. } => host,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(uris: &[&str]) -> Vec<Address> {
        uris.iter().map(|uri| uri.parse().unwrap()).collect()
    }

    #[test]
    fn each_device_has_a_place_beside() {
        let session: Session = "0123456789abcdef0000000000000000".parse().unwrap();
        let mut whereabouts = Whereabouts {
            rank: 3,
            session,
            seen: "",
        };
        let given = addresses(&[
            "shm://w",
            "shm:///run/w",
            "uds:///tmp/w",
            "uds://@w",
            "tcp://h:7",
            "uring://h:7",
        ]);
        let places = whereabouts.beside(&given, "").unwrap();
        let name = "jsw-0123456789abcdef-3";
        let expected = [
            &format!("shm://{name}"),
            "shm:///run/w.3",
            "uds:///tmp/w.3",
            &format!("uds://@{name}"),
            "tcp://h:0",
            "uring://h:0",
        ];
        assert_eq!(places, addresses(&expected));
        whereabouts.seen = "192.0.2.7";
        let given = addresses(&["tcp://h:7", "tcp://g:8"]);
        let places = whereabouts.beside(&given, "").unwrap();
        assert_eq!(places, addresses(&["tcp://192.0.2.7:0"]));
        let [any, one] = ["tcp://0.0.0.0:9", "tcp://h:9"].map(|uri| uri.parse().unwrap());
        assert_eq!(whereabouts.public(&any), "tcp://192.0.2.7:9".parse());
        assert_eq!(whereabouts.public(&one), Ok(one));
        let long: Address = format!("uds:///{}", "x".repeat(106)).parse().unwrap();
        assert!(whereabouts.beside(&[long], "").is_err());
    }
}
