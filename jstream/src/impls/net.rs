//! Internet addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// The wire form of an [`IpAddr`]: its octets, of which version 4 uses the first four, followed by
/// zeroes, and the version.
type Ip = [u8; 17];

/// Returns the octets and the version of an address.
fn octets_of(ip: IpAddr) -> ([u8; 16], u8) {
    match ip {
        IpAddr::V4(ip) => (u128::from(u32::from_le_bytes(ip.octets())).to_le_bytes(), 4),
        IpAddr::V6(ip) => (ip.octets(), 6),
    }
}

/// Returns the address with these octets and this version.
fn ip_of(octets: [u8; 16], version: u32) -> Option<IpAddr> {
    match version {
        4 => {
            let octets = u32::try_from(u128::from_le_bytes(octets)).ok()?;
            Some(IpAddr::V4(octets.to_le_bytes().into()))
        }
        6 => Some(IpAddr::V6(octets.into())),
        _ => None,
    }
}

fn wire_of_ip(ip: IpAddr) -> Ip {
    let (octets, version) = octets_of(ip);
    let mut wire = [version; 17];
    if let Some(start) = wire.first_chunk_mut() {
        *start = octets;
    }
    wire
}

fn ip_of_wire(wire: Ip) -> Option<IpAddr> {
    let [octets @ .., version] = wire;
    ip_of(octets, version.into())
}

/// The wire form of a [`SocketAddrV4`]: the octets, and the port.
type SocketV4 = [u16; 3];

fn wire_of_v4(address: &SocketAddrV4) -> SocketV4 {
    let [a, b]: [u16; 2] = zerocopy::transmute!(address.ip().octets());
    [a, b, address.port()]
}

fn v4_of_wire([a, b, port]: SocketV4) -> SocketAddrV4 {
    let octets: [u8; 4] = zerocopy::transmute!([a, b]);
    SocketAddrV4::new(octets.into(), port)
}

/// The wire form of a [`SocketAddrV6`]: the octets, the flow, the scope, and the port, extended to
/// 32 bits so that there is no padding.
type SocketV6 = [u32; 7];

fn wire_of_v6(address: &SocketAddrV6) -> SocketV6 {
    let [a, b, c, d]: [u32; 4] = zerocopy::transmute!(address.ip().octets());
    let (flow, scope) = (address.flowinfo(), address.scope_id());
    [a, b, c, d, flow, scope, address.port().into()]
}

fn v6_of_wire([a, b, c, d, flow, scope, port]: SocketV6) -> Option<SocketAddrV6> {
    let octets: [u8; 16] = zerocopy::transmute!([a, b, c, d]);
    let port = u16::try_from(port).ok()?;
    Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, flow, scope))
}

/// The wire form of a [`SocketAddr`]: that of a [`SocketAddrV6`], and the version. Version 4 uses
/// only the octets, as in an [`Ip`], and the port.
type Socket = [u32; 8];

fn wire_of_socket(address: &SocketAddr) -> Socket {
    let (address, version) = match address {
        SocketAddr::V4(v4) => {
            let (octets, version) = octets_of(IpAddr::V4(*v4.ip()));
            (SocketAddrV6::new(octets.into(), v4.port(), 0, 0), version)
        }
        SocketAddr::V6(v6) => (*v6, 6),
    };
    let [a, b, c, d, flow, scope, port] = wire_of_v6(&address);
    [a, b, c, d, flow, scope, port, version.into()]
}

fn socket_of_wire([a, b, c, d, flow, scope, port, version]: Socket) -> Option<SocketAddr> {
    let v6 = v6_of_wire([a, b, c, d, flow, scope, port])?;
    if version == 6 {
        return Some(SocketAddr::V6(v6));
    }
    let bare = flow == 0 && scope == 0;
    let ip = ip_of(v6.ip().octets(), version).filter(|_| bare)?;
    Some(SocketAddr::new(ip, v6.port()))
}

opaque! {
    Ipv4Addr: [u8; 4], |ip| ip.octets(), |octets| Some(octets.into());
    Ipv6Addr: [u8; 16], |ip| ip.octets(), |octets| Some(octets.into());
    IpAddr: Ip, |ip| wire_of_ip(*ip), |wire| ip_of_wire(wire);
    SocketAddrV4: SocketV4, |address| wire_of_v4(address), |wire| Some(v4_of_wire(wire));
    SocketAddrV6: SocketV6, |address| wire_of_v6(address), |wire| v6_of_wire(wire);
    SocketAddr: Socket, |address| wire_of_socket(address), |wire| socket_of_wire(wire);
}
