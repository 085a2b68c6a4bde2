//! Sources of the members of a set.

use std::io;
use std::net::ToSocketAddrs;
use std::task::Waker;

use jstream_base::Address;

/// A server in the list of a [`MemberSource`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedMember {
    /// The addresses of the server, in order of preference.
    pub addresses: Vec<Address>,
    /// The zone of the server, such as a data centre; see [`SetOptions::zone`](crate::SetOptions).
    pub zone: Option<String>,
}

impl ListedMember {
    /// Creates the entry of a server without a zone.
    #[must_use]
    pub fn new(addresses: Vec<Address>) -> Self {
        Self {
            addresses,
            zone: None,
        }
    }

    /// Returns the entry with a zone.
    #[must_use]
    pub fn in_zone(self, zone: &str) -> Self {
        Self {
            zone: Some(zone.to_owned()),
            ..self
        }
    }
}

/// A source of the members of a [`ClientSet`](crate::ClientSet): a list, a name service, or code of
/// the program.
pub trait MemberSource: Send + Sync + 'static {
    /// Returns the address that stands for all members in errors.
    fn address(&self) -> &Address;

    /// Returns the members. Called by a thread of
    /// its own, again and again; it may block, and is then not called again until it returns. If
    /// the result is an error or empty, the members stay the same. The source may wake `changed`
    /// when the list has changed, to be called at once.
    ///
    /// # Errors
    ///
    /// The reason why the members are not known at present.
    fn members(&self, changed: &Waker) -> io::Result<Vec<ListedMember>>;
}

/// A list of addresses, each of one member.
#[derive(Debug, Clone)]
pub struct AddressList {
    first: Address,
    members: Vec<ListedMember>,
}

impl AddressList {
    /// Creates a list.
    ///
    /// # Errors
    ///
    /// An error of kind [`io::ErrorKind::InvalidInput`] if there is no address.
    pub fn new(addresses: impl IntoIterator<Item = Address>) -> io::Result<Self> {
        let members = addresses.into_iter();
        Self::from_members(
            members
                .map(|address| ListedMember::new(vec![address]))
                .collect(),
        )
    }

    /// Creates a list of addresses in zones.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn in_zones<'z>(
        addresses: impl IntoIterator<Item = (&'z str, Address)>,
    ) -> io::Result<Self> {
        let members = addresses.into_iter();
        let member = |(zone, address)| ListedMember::new(vec![address]).in_zone(zone);
        Self::from_members(members.map(member).collect())
    }

    fn from_members(members: Vec<ListedMember>) -> io::Result<Self> {
        let mut all = members.iter().flat_map(|member| &member.addresses);
        match all.next().cloned() {
            Some(first) => Ok(Self { first, members }),
            None => Err(invalid("a set needs an address")),
        }
    }
}

impl MemberSource for AddressList {
    fn address(&self) -> &Address {
        &self.first
    }

    fn members(&self, _: &Waker) -> io::Result<Vec<ListedMember>> {
        Ok(self.members.clone())
    }
}

/// All records of a host name, each a member at the same port, such as those of a headless service
/// of Kubernetes. The system resolves the name.
#[derive(Debug, Clone)]
pub struct HostRecords(Address);

impl HostRecords {
    /// Creates the source of the records of the host in an address of `tcp` or `uring`.
    ///
    /// # Errors
    ///
    /// An error of kind [`io::ErrorKind::InvalidInput`] for other addresses. A server that is
    /// reached over TLS has to be known by its own name, so such servers need a list.
    pub fn new(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp { .. } | Address::Uring { .. } => Ok(Self(address.clone())),
            _ => Err(invalid("only hosts of tcp and uring have records")),
        }
    }
}

impl MemberSource for HostRecords {
    fn address(&self) -> &Address {
        &self.0
    }

    fn members(&self, _: &Waker) -> io::Result<Vec<ListedMember>> {
        let (Address::Tcp { host, port, .. } | Address::Uring { host, port, .. }) = &self.0 else {
            return Err(invalid("only hosts of tcp and uring have records"));
        };
        let records = (host.as_str(), *port).to_socket_addrs()?;
        let located = records.filter_map(|record| {
            let host = record.ip().to_string();
            let located = match &self.0 {
                Address::Uring { .. } => Address::uring(&host, record.port()),
                _ => Address::tcp(&host, record.port()),
            };
            Some(ListedMember::new(vec![located.ok()?]))
        });
        Ok(located.collect())
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
