//! The address at which the ranks of all hosts reach rank 0.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// The address of a host for itself.
const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The addresses of a host, as far as its agent knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostAddresses {
    /// The addresses of the client and of the server of the agent's `ssh` connection. `None` if
    /// another program has started the agent.
    pub(crate) ssh: Option<(IpAddr, IpAddr)>,
    /// The address from which the host sends to other networks.
    pub(crate) route: Option<IpAddr>,
}

impl HostAddresses {
    /// Returns the addresses of this host. `connection` is the value of `SSH_CONNECTION`.
    pub(crate) fn of_this_host(connection: Option<&str>) -> Self {
        Self {
            ssh: connection.and_then(ends_of),
            route: route(),
        }
    }

    /// Sets that `jrun` has started the agent on its own host.
    pub(crate) fn set_beside_jrun(&mut self) {
        self.ssh = Some((LOCALHOST, LOCALHOST));
    }

    /// Returns true if the agent is on the host of `jrun`.
    fn is_beside_jrun(&self) -> bool {
        self.ssh.is_some_and(|(_, server)| server.is_loopback())
    }
}

/// Returns the address of the first host under which the others reach it. `None` if it is unknown.
pub(crate) fn address_of_first(hosts: &[HostAddresses]) -> Option<IpAddr> {
    let first = hosts.first()?;
    if hosts.iter().all(HostAddresses::is_beside_jrun) {
        return Some(LOCALHOST);
    }
    match first.ssh {
        None if hosts.len() == 1 => Some(LOCALHOST),
        None => first.route,
        Some((_, server)) if !server.is_loopback() => Some(server),
        Some(_) => {
            // The first host is that of jrun, which others see as the client of their connections.
            let others = hosts.iter().filter(|host| !host.is_beside_jrun());
            let client = others.filter_map(|host| host.ssh).next();
            client.map(|(client, _)| client).or(first.route)
        }
    }
}

/// Parses the value of `SSH_CONNECTION`: address and port of the client, and those of the server.
fn ends_of(connection: &str) -> Option<(IpAddr, IpAddr)> {
    let mut words = connection.split_whitespace();
    let client: IpAddr = words.next()?.parse().ok()?;
    let server: IpAddr = words.nth(1)?.parse().ok()?;
    Some((client.to_canonical(), server.to_canonical()))
}

/// Returns the address from which this host sends to other networks.
fn route() -> Option<IpAddr> {
    // Connecting a datagram socket sends nothing. The address is one for documentation.
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let local = socket.local_addr().ok()?.ip();
    (!local.is_unspecified() && !local.is_loopback()).then_some(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(connection: &str, route: &str) -> HostAddresses {
        HostAddresses {
            ssh: ends_of(connection),
            route: route.parse().ok(),
        }
    }

    #[test]
    fn the_first_host_is_reached_by_the_others() {
        let near = "127.0.0.1 7 127.0.0.1 22";
        let far = "192.0.2.1 7 192.0.2.2 22";
        for (hosts, expected) in [
            (vec![host(far, "")], Some("192.0.2.2")),
            (vec![host(far, ""), host(near, "")], Some("192.0.2.2")),
            // The first host is that of jrun.
            (vec![host(near, ""), host(far, "")], Some("192.0.2.1")),
            (
                vec![host(near, "10.0.0.1"), host("", "10.0.0.2")],
                Some("10.0.0.1"),
            ),
            (
                vec![host("::1 7 ::1 22", ""), host(near, "")],
                Some("127.0.0.1"),
            ),
            (vec![host("", "10.0.0.1")], Some("127.0.0.1")),
            // Other programs than ssh tell no addresses.
            (
                vec![host("", "10.0.0.1"), host("", "10.0.0.2")],
                Some("10.0.0.1"),
            ),
            (vec![host("", ""), host("", "10.0.0.2")], None),
            (vec![], None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(address_of_first(&hosts), expected, "{hosts:?}");
        }
    }

    #[test]
    fn connections_of_ssh_are_parsed() {
        let mapped = ends_of("::ffff:192.0.2.1 50000 ::ffff:192.0.2.2 22").unwrap();
        assert_eq!(mapped.1.to_string(), "192.0.2.2");
        for wrong in ["", "a b c d", "192.0.2.1 7", "UNKNOWN 65535 UNKNOWN 65535"] {
            assert_eq!(ends_of(wrong), None, "{wrong}");
        }
    }
}
