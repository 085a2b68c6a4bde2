//! Location of peers: whether they are on this host, and what their addresses mean elsewhere.

use std::net::{IpAddr, Ipv4Addr};

use jstream_base::Address;

use crate::session::connection::Connection;

/// Returns true if the connection comes from this host and, where the system tells the user, from
/// the user of this process or from root. A TCP connection does not tell its user.
pub(crate) fn is_near(of: &Connection) -> bool {
    let endpoint = of.peer().endpoint();
    match endpoint.peer() {
        Address::Inproc { .. } => true,
        Address::Shm { .. } | Address::Uds { .. } => {
            // The kernel reports the user of such a connection. Another user of this host is
            // treated as a stranger: what leads to servers of this user is not for it.
            endpoint.info().peer_user.is_some_and(is_trusted_user)
        }
        address => is_loopback(address),
    }
}

/// Returns true for root and for the user of this process.
fn is_trusted_user(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

fn host(of: &Address) -> Option<&str> {
    match of {
        Address::Tcp { host, .. } | Address::Uring { host, .. } | Address::Tls { host, .. } => {
            Some(host)
        }
        _ => None,
    }
}

/// Returns true if the address is of a network, and leads to the host on which it is used.
pub(crate) fn is_loopback(address: &Address) -> bool {
    host(address).is_some_and(|host| {
        let ip = host.parse::<IpAddr>();
        // An IPv4 loopback address that is mapped to IPv6 leads to this host as well, and would
        // otherwise pass the check.
        host == "localhost" || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
    })
}

/// Replaces the host of an address for all interfaces by the host of `on`.
pub(crate) fn located(address: Address, on: Option<&Address>) -> Address {
    let names_none = |host: &str| {
        let ip = host.parse::<IpAddr>();
        // A name is never taken for an address of all interfaces, because resolving it here would
        // block and say nothing of the other host.
        ip.is_ok_and(|ip| ip.to_canonical().is_unspecified())
    };
    match on.and_then(host) {
        Some(on) if host(&address).is_some_and(names_none) => with_host(address, on),
        _ => address,
    }
}

fn with_host(address: Address, host: &str) -> Address {
    let moved = match &address {
        Address::Tcp { port, .. } => Address::tcp(host, *port),
        Address::Uring { port, .. } => Address::uring(host, *port),
        Address::Tls { port, .. } => Address::tls(host, *port),
        _ => return address,
    };
    // The host comes from an address that was parsed before, so it can't be invalid.
    moved.unwrap_or(address)
}

/// Returns the address by which `to` reaches a server that this program reaches at `address`, if
/// there is one. A loopback address becomes one for all interfaces, which the receiver
/// [locates](located) on the host of this program. Other addresses that lead to this host alone are
/// not for peers on other hosts.
pub(crate) fn passed_address(address: &Address, to: &Connection) -> Option<Address> {
    if is_near(to) {
        return Some(address.clone());
    }
    if is_loopback(address) {
        let all = Ipv4Addr::UNSPECIFIED.to_string();
        return Some(with_host(address.clone(), &all));
    }
    (!is_local(address)).then(|| address.clone())
}

/// Returns the address of a server that `from` has passed to this program, as used here. Returns
/// `None` if the address leads to this host, although `from` is on another one.
pub(crate) fn received_address(address: Address, from: &Connection) -> Option<Address> {
    // A program on another host that names such an address wants this one to connect to its own
    // servers, which may trust local connections (a confused deputy).
    let is_foreign = !is_near(from) && (is_local(&address) || is_loopback(&address));
    (!is_foreign).then(|| located(address, Some(from.peer().endpoint().peer())))
}

/// Returns true if the address is one within a host, or within a program.
fn is_local(address: &Address) -> bool {
    matches!(
        address,
        Address::Inproc { .. } | Address::Shm { .. } | Address::Uds { .. }
    )
}
