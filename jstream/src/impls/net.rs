//! Internet addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use zerocopy::{FromBytes, IntoBytes};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// The wire form of an [`IpAddr`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct Ip {
    /// The octets of the address. Version 4 uses the first four, followed by zeroes.
    octets: [u8; 16],
    /// 4 or 6.
    version: u8,
}

impl Ip {
    fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self {
                octets: u128::from(u32::from_le_bytes(ip.octets())).to_le_bytes(),
                version: 4,
            },
            IpAddr::V6(ip) => Self {
                octets: ip.octets(),
                version: 6,
            },
        }
    }

    fn get(self) -> Option<IpAddr> {
        match self.version {
            4 => {
                let octets = u32::try_from(u128::from_le_bytes(self.octets)).ok()?;
                Some(IpAddr::V4(octets.to_le_bytes().into()))
            }
            6 => Some(IpAddr::V6(self.octets.into())),
            _ => None,
        }
    }
}

/// The wire form of a [`SocketAddrV4`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct SocketV4 {
    octets: [u8; 4],
    port: u16,
}

/// The wire form of a [`SocketAddrV6`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct SocketV6 {
    octets: [u8; 16],
    flow: u32,
    scope: u32,
    /// The port, extended to 32 bits so that there is no padding.
    port: u32,
}

impl SocketV6 {
    fn of(address: &SocketAddrV6) -> Self {
        Self {
            octets: address.ip().octets(),
            flow: address.flowinfo(),
            scope: address.scope_id(),
            port: address.port().into(),
        }
    }

    fn get(self) -> Option<SocketAddrV6> {
        let port = u16::try_from(self.port).ok()?;
        let ip = Ipv6Addr::from(self.octets);
        Some(SocketAddrV6::new(ip, port, self.flow, self.scope))
    }
}

/// The wire form of a [`SocketAddr`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct Socket {
    /// The address. Version 4 uses only the octets, as in an [`Ip`], and the port.
    address: SocketV6,
    /// 4 or 6.
    version: u32,
}

impl Socket {
    fn of(address: &SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Self {
                address: SocketV6 {
                    octets: Ip::of(IpAddr::V4(*v4.ip())).octets,
                    flow: 0,
                    scope: 0,
                    port: v4.port().into(),
                },
                version: 4,
            },
            SocketAddr::V6(v6) => Self {
                address: SocketV6::of(v6),
                version: 6,
            },
        }
    }

    fn get(self) -> Option<SocketAddr> {
        let Self { address, version } = self;
        if version == 6 {
            return address.get().map(SocketAddr::V6);
        }
        let ip = Ip {
            octets: address.octets,
            version: u8::try_from(version).ok()?,
        };
        let port = u16::try_from(address.port).ok()?;
        let bare = address.flow == 0 && address.scope == 0;
        let ip = ip.get().filter(|_| bare)?;
        Some(SocketAddr::new(ip, port))
    }
}

opaque! {
    Ipv4Addr: [u8; 4], |ip| ip.octets(), |octets| Some(octets.into());
    Ipv6Addr: [u8; 16], |ip| ip.octets(), |octets| Some(octets.into());
    IpAddr: Ip, |ip| Ip::of(*ip), |ip| ip.get();
    SocketAddrV4: SocketV4,
        |address| SocketV4 { octets: address.ip().octets(), port: address.port() },
        |address| Some(Self::new(address.octets.into(), address.port));
    SocketAddrV6: SocketV6, |address| SocketV6::of(address), |address| address.get();
    SocketAddr: Socket, |address| Socket::of(address), |address| address.get();
}
