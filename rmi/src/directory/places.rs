//! Locations: the host of a caller of the registry, and the reachability of servers from there.

use jstream_base::Address;

use crate::directory::protocol::Refusal;
use crate::session::{self, Connection, context, is_loopback, located};

/// Maximum number of addresses of a server. `LONGEST_ADDRESS` is the maximum length of each in
/// bytes. Protects against oversized entries.
pub(super) const MOST_ADDRESSES: usize = 8;

pub(super) const LONGEST_ADDRESS: usize = 512;

/// Returns the connection of the current call. `None` if the call comes from this program.
pub(super) fn caller() -> Option<Connection> {
    Some(Connection::from_peer(context().call?.peer()))
}

/// Returns a number that identifies a connection during its lifetime.
pub(super) fn number(of: Option<&Connection>) -> usize {
    // The session outlives the callback at the end of its connection, which removes the names of
    // this number. So a later session at the same address finds none of them.
    of.map_or(0, |of| std::ptr::from_ref(of.session()).addr())
}

/// Returns true if the caller is this program, or [near](session::is_near).
fn is_near(of: Option<&Connection>) -> bool {
    of.is_none_or(session::is_near)
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

/// Returns the addresses of a server that other programs can use, as seen from this process.
pub(super) fn usable(
    addresses: &[&str],
    caller: Option<&Connection>,
) -> Result<Vec<String>, Refusal> {
    if addresses.len() > MOST_ADDRESSES || addresses.iter().any(|of| of.len() > LONGEST_ADDRESS) {
        return Err(Refusal::TooLong);
    }
    let from = caller.map(|caller| caller.peer().endpoint().peer());
    // A near server at all interfaces is on this host, so clients replace its host by that of the
    // registry.
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
        other => is_near(caller) || !is_loopback(other),
    }
}
