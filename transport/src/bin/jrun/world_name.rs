//! Names and addresses of the listeners of rank 0.

use std::io;
use std::net::IpAddr;

use jstream_transport::rank::world::Session;
use jstream_transport::{Address, AddressError};

/// Returns a random name. It is visible to other users, so it tells nothing about the session.
pub(crate) fn random() -> io::Result<String> {
    let mut name = Session::new()?.to_string();
    name.truncate(16);
    Ok(format!("jrun-{name}"))
}

/// Returns the addresses of rank 0 if all ranks are on its host.
pub(crate) fn addresses_on_one_host(name: &str) -> String {
    let local = format!("uds://@{name}");
    match cfg!(feature = "shm") {
        true => format!("shm://{name} {local}"),
        false => local,
    }
}

/// Returns the addresses of rank 0 if ranks of other hosts reach it at an IP address.
pub(crate) fn addresses_on_hosts(
    name: &str,
    ip: IpAddr,
    port: u16,
) -> Result<String, AddressError> {
    let tcp = Address::tcp(&ip.to_string(), port)?;
    Ok(match cfg!(feature = "shm") {
        true => format!("shm://{name} {tcp}"),
        false => tcp.to_string(),
    })
}
