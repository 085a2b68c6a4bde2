//! Sources of the members of a set.

use std::io;
use std::net::ToSocketAddrs;
use std::task::Waker;

use jstream_base::Address;

/// A source of the members of a [`ClientSet`](crate::ClientSet): a list, a name service, or code of
/// the program.
pub trait MemberSource: Send + Sync + 'static {
    /// Returns the address that stands for all members in errors.
    fn address(&self) -> &Address;

    /// Returns the members, each with its addresses in order of preference. Called by a thread of
    /// its own, again and again; it may block, and is then not called again until it returns. If
    /// the result is an error or empty, the members stay the same. The source may wake `changed`
    /// when the list has changed, to be called at once.
    ///
    /// # Errors
    ///
    /// The reason why the members are not known at present.
    fn members(&self, changed: &Waker) -> io::Result<Vec<Vec<Address>>>;
}

/// A list of addresses, each of one member.
#[derive(Debug, Clone)]
pub struct AddressList(Vec<Address>);

impl AddressList {
    /// Creates a list.
    ///
    /// # Errors
    ///
    /// An error of kind [`io::ErrorKind::InvalidInput`] if there is no address.
    pub fn new(addresses: impl IntoIterator<Item = Address>) -> io::Result<Self> {
        let list: Vec<Address> = addresses.into_iter().collect();
        match list.is_empty() {
            true => Err(invalid("a set needs an address")),
            false => Ok(Self(list)),
        }
    }
}

impl MemberSource for AddressList {
    fn address(&self) -> &Address {
        match self.0.first() {
            Some(first) => first,
            None => unreachable!("the list is not empty"),
        }
    }

    fn members(&self, _: &Waker) -> io::Result<Vec<Vec<Address>>> {
        Ok(self.0.iter().map(|address| vec![address.clone()]).collect())
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

    fn members(&self, _: &Waker) -> io::Result<Vec<Vec<Address>>> {
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
            Some(vec![located.ok()?])
        });
        Ok(located.collect())
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
