//! Locations: the host of a caller of the registry, and the reachability of servers from there.

use std::net::IpAddr;

use jstream_base::Address;

use crate::directory::protocol::Refusal;
use crate::session::{Connection, context};

/// Maximum number of addresses of a server. `LONGEST_ADDRESS` is the maximum length of each in
/// bytes. Protects against oversized entries.
pub(super) const MOST_ADDRESSES: usize = 8;

pub(super) const LONGEST_ADDRESS: usize = 512;

/// Returns the connection of the current call. `None` if the call comes from this program.
pub(super) fn caller() -> Option<Connection> {
    Some(Connection::of(context().call?.peer()))
}

/// Returns a number that identifies a connection during its lifetime.
pub(super) fn number(of: Option<&Connection>) -> usize {
    of.map_or(0, |of| std::ptr::from_ref(of.session()).addr())
}

/// Returns true if the connection comes from this host and, where the system tells the user, from
/// the user of this process or from root. A TCP connection does not tell its user.
fn is_near(of: Option<&Connection>) -> bool {
    of.is_none_or(|of| {
        let endpoint = of.peer().endpoint();
        match endpoint.peer() {
            Address::Inproc { .. } => true,
            Address::Shm { .. } | Address::Uds { .. } => {
                endpoint.info().peer_user.is_some_and(is_trusted_user)
            }
            address => host(address).is_some_and(is_loopback),
        }
    })
}

/// Returns true for root and for the user of this process.
fn is_trusted_user(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

/// Returns true if the caller has proved the secret of the registry's server, or is this program.
pub(super) fn is_trusted(of: Option<&Connection>) -> bool {
    of.is_none_or(|of| of.session().terms.secret.is_some())
}

/// Returns true if the caller may bind names.
pub(super) fn may_change(of: Option<&Connection>) -> bool {
    is_near(of) || is_trusted(of)
}

fn is_inproc(of: Option<&Connection>) -> bool {
    of.is_none_or(|of| matches!(of.peer().endpoint().peer(), Address::Inproc { .. }))
}

fn host(of: &Address) -> Option<&str> {
    match of {
        Address::Tcp { host, .. } | Address::Uring { host, .. } | Address::Tls { host, .. } => {
            Some(host)
        }
        _ => None,
    }
}

fn is_loopback(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Replaces the host of an address for all interfaces by the host of `on`.
pub(super) fn located(address: Address, on: Option<&Address>) -> Address {
    let names_none = |host: &String| {
        let ip = host.parse::<IpAddr>();
        ip.is_ok_and(|ip| ip.to_canonical().is_unspecified())
    };
    let Some(on) = on.and_then(host) else {
        return address;
    };
    let moved = match &address {
        Address::Tcp { host, port, .. } if names_none(host) => Address::tcp(on, *port),
        Address::Uring { host, port, .. } if names_none(host) => Address::uring(on, *port),
        Address::Tls { host, port, .. } if names_none(host) => Address::tls(on, *port),
        _ => return address,
    };
    moved.unwrap_or(address)
}

/// Returns the addresses of a server that other programs can use, as seen from this process.
pub(super) fn usable(
    addresses: &[&str],
    caller: Option<&Connection>,
) -> Result<Vec<String>, Refusal> {
    if addresses.len() > MOST_ADDRESSES || addresses.iter().any(|of| of.len() > LONGEST_ADDRESS) {
        return Err(Refusal::TooLong);
    }
    let from = caller.map(|caller| caller.peer().endpoint().peer());
    let from = from.filter(|_| !is_near(caller));
    let parsed = addresses.iter().filter_map(|of| of.parse().ok());
    let usable = parsed.filter(|of| leads(of, caller));
    let all: Vec<_> = usable.map(|of| located(of, from).to_string()).collect();
    if all.is_empty() {
        return Err(Refusal::NoAddress);
    }
    Ok(all)
}

/// Returns true if an address may lead to the same server from this process and from the caller.
pub(super) fn leads(address: &Address, caller: Option<&Connection>) -> bool {
    match address {
        Address::Inproc { .. } => is_inproc(caller),
        Address::Shm { .. } | Address::Uds { .. } => is_near(caller),
        other => is_near(caller) || !host(other).is_some_and(is_loopback),
    }
}
