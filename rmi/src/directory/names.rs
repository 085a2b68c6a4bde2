//! The client side of a registry of several servers.

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use jstream_base::Address;

use crate::call::Bound;
use crate::client::{Client, ClientOptions, Owners};
use crate::directory::changes::Changes;
use crate::directory::link::{BoundEntry, Link};
use crate::directory::places::MOST_ADDRESSES;
use crate::directory::protocol::{DirectoryStub, Entry, Refusal};
use crate::reference::Remotable;
use crate::server::Serving;
use crate::session::located;
use crate::support::{CallError, ConnectError, LookupError, Operation, shown};

/// Name of the threads of awaited operations.
const THREAD: &str = "jstream-names";

/// A connection to a registry of several servers. Cheap to clone. The names that it has bound are
/// unbound when the last clone is dropped, or the process ends.
///
/// If the connection is lost, for example because the registry restarts, it is replaced: at the
/// next use, or, if this connection has bound names or is watched, as soon as the registry is back.
/// The names that it has bound are then bound again, except those that other programs have bound
/// meanwhile. A name that another program has unbound is bound again, too.
#[derive(Clone)]
pub struct Names {
    link: Arc<Link>,
    owners: Arc<Owners>,
}

/// Error of an operation of a registry.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The registry refuses the change.
    #[error("\"{name}\" was not changed: {source}")]
    Refused {
        /// The name.
        name: String,
        /// The reason.
        r#source: Refusal,
    },
    /// The server itself has not bound an object to the name.
    #[error("the server has no object named \"{name}\"; bind it there first")]
    NotServed {
        /// The name.
        name: String,
    },
    /// The system can't start a thread to keep the connection to the registry.
    #[error("could not start the thread for the connection to the registry: {0}")]
    Thread(io::Error),
    /// The call to the registry failed.
    #[error("the call to the registry failed: {0}")]
    Call(CallError),
}

impl From<CallError> for DirectoryError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl Names {
    /// Connects to the registry at an address.
    ///
    /// Each operation of a registry begins when it is waited for or first polled. As a future, it
    /// has a thread of its own, because it may have to connect again.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if the registry can't be reached, or the server has none.
    pub fn connect(address: &Address) -> Operation<Result<Self, LookupError>> {
        Self::connect_with(address, &ClientOptions::default())
    }

    /// Connects with custom options, which also apply to the connections to the servers that are
    /// looked up.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(
        address: &Address,
        options: &ClientOptions,
    ) -> Operation<Result<Self, LookupError>> {
        let (address, options) = (address.clone(), options.clone());
        Operation::blocking(THREAD, move || {
            Ok(Self {
                link: Link::connect(&address, &options)?,
                owners: Arc::default(),
            })
        })
    }

    /// Binds an object of a server at the registry, under the name that it has at the server, for
    /// the lifetime of this connection.
    ///
    /// # Errors
    ///
    /// [`DirectoryError`] if the server has no such name, if the name is already bound at the
    /// registry, or if the registry refuses or can't be reached.
    pub fn bind(&self, name: &str, serving: &Serving) -> Operation<Result<(), DirectoryError>> {
        self.put(name, serving, (false, None))
    }

    /// Binds a name like [`bind`](Self::bind) that several servers may have. The first program
    /// declares the key, of 16 to 256 random bytes, and all others have to know it. Each of these
    /// `Names` may bind the name for one server. [`RegistryNames`](crate::RegistryNames) has all of
    /// them as members of a set.
    ///
    /// The registry receives the key, so connect to it over TLS or within the host. A
    /// [capture](crate::Capture) of the connection contains it.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind). A name with another key is refused with
    /// [`Refusal::WrongKey`], and one that is bound for a single server with [`Refusal::Taken`].
    pub fn bind_shared(
        &self,
        name: &str,
        serving: &Serving,
        key: &[u8],
    ) -> Operation<Result<(), DirectoryError>> {
        self.put(name, serving, (false, Some(key.to_vec())))
    }

    /// Binds a name like [`bind`](Self::bind), and replaces the object that is bound to it, if any.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind), except that the name may be bound by these `Names`. A name that
    /// another connection has bound is refused with [`Refusal::NotBinder`], unless the
    /// [registry](super#who-may-change-names) allows it.
    pub fn rebind(&self, name: &str, serving: &Serving) -> Operation<Result<(), DirectoryError>> {
        self.put(name, serving, (true, None))
    }

    fn put(
        &self,
        name: &str,
        serving: &Serving,
        (replace, key): (bool, Option<Vec<u8>>),
    ) -> Operation<Result<(), DirectoryError>> {
        let interface = serving.interface(name);
        let addresses = serving.addresses().iter().map(Address::to_string);
        let entry = interface.map(|interface| Entry {
            name: name.to_owned(),
            interface: interface.name().to_owned(),
            id: interface.id(),
            description: interface.description().to_owned(),
            addresses: addresses.collect(),
        });
        let (names, name) = (self.clone(), name.to_owned());
        Operation::blocking(THREAD, move || match entry {
            Some(entry) => names.put_entry(&name, &BoundEntry { entry, key }, replace),
            None => Err(DirectoryError::NotServed { name }),
        })
    }

    fn put_entry(
        &self,
        name: &str,
        bound: &BoundEntry,
        replace: bool,
    ) -> Result<(), DirectoryError> {
        // The name lasts as long as the connection, so its end has to be noticed from now on.
        self.link.keep().map_err(DirectoryError::Thread)?;
        // The entry is recorded first, because the connection may be replaced during the call.
        let before = self.link.remember(name, Some(bound.clone()));
        let done = self
            .link
            // Binding the same entry twice is harmless.
            .ask(true, |directory| bound.bind(directory, replace));
        // The name is bound. Only its place in the file is missing.
        let is_bound = matches!(done, Ok(Ok(()) | Err(Refusal::NotKept)));
        if !is_bound {
            self.link.remember(name, before);
        }
        done?.map_err(|source| refused(name, source))
    }

    /// Frees a name. Returns true if something was bound to it.
    ///
    /// # Errors
    ///
    /// [`DirectoryError`] if the registry cannot be asked, or refuses: with [`Refusal::NotBinder`]
    /// if another connection has bound the name, unless the [registry](super#who-may-change-names)
    /// allows it.
    pub fn unbind(&self, name: &str) -> Operation<Result<bool, DirectoryError>> {
        let (names, name) = (self.clone(), name.to_owned());
        Operation::blocking(THREAD, move || names.free(&name))
    }

    fn free(&self, name: &str) -> Result<bool, DirectoryError> {
        // Removed first, so that a connection which is renewed meanwhile does not bind the name
        // again.
        let before = self.link.remember(name, None);
        // Freeing twice could free a name that another program has bound in between.
        let done = self.link.ask(false, |directory| {
            let done = directory.unbind(name).wait();
            done.map(|done| *done.get())
        });
        if matches!(
            done,
            Err(_) | Ok(Err(Refusal::NotAllowed | Refusal::NotBinder))
        ) {
            self.link.remember(name, before);
        }
        done?.map_err(|source| refused(name, source))
    }

    /// Returns the stub of the object that is bound to a name. Calls go to its server directly.
    /// Connecting to the addresses of the server takes
    /// [`ClientOptions::call_timeout`] for all of them together.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if the name is not bound, if its object has another interface, or if the
    /// registry or the server can't be reached.
    pub fn lookup<T: Remotable + ?Sized>(
        &self,
        name: &str,
    ) -> Operation<Result<T::Stub, LookupError>> {
        let (names, name) = (self.clone(), name.to_owned());
        Operation::blocking(THREAD, move || names.find::<T>(&name))
    }

    fn find<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        let until = Instant::now().checked_add(self.link.options().call_timeout);
        let found = self
            .link
            .ask(true, |directory| directory.lookup(name).wait())?;
        let entry = found.get().ok_or_else(|| LookupError::Unknown {
            name: name.to_owned(),
        })?;
        let reached = || {
            let owner = self.owner(entry.addresses, until);
            owner.map_err(|source| LookupError::Unreachable {
                name: name.to_owned(),
                addresses: shown(&entry.addresses.join(", ")),
                source: source.map(Box::new),
            })
        };
        let owner = match reached() {
            // Only the server can tell whether its object has these methods, too.
            Err(_) if entry.id != interface.id() => {
                let (expected, found) = (
                    interface.differs_from(entry.description),
                    shown(entry.description),
                );
                return Err(LookupError::OtherInterface {
                    name: name.to_owned(),
                    difference: format!("{expected} here, {found} there"),
                    expected,
                    found,
                });
            }
            reached => reached?,
        };
        match owner.lookup::<T>(name).wait() {
            // An unused connection to the server had ended.
            Err(LookupError::Call(_)) if owner.connection().peer().has_ended() => {
                reached()?.lookup::<T>(name).wait()
            }
            found => found,
        }
    }

    /// Returns the address of the registry.
    pub(crate) fn address(&self) -> &Address {
        self.link.address()
    }

    /// Returns the addresses of each of the servers that have bound a name, as used here, up to
    /// this number of servers.
    pub(crate) fn addresses(
        &self,
        name: &str,
        most: usize,
    ) -> Result<Vec<Vec<Address>>, CallError> {
        let found = self
            .link
            .ask(true, |directory| directory.servers(name).wait())?;
        let servers = found.get().iter().take(most).map(|entry| {
            let addresses = entry.addresses.iter().take(MOST_ADDRESSES);
            let parsed = addresses.filter_map(|address| address.parse().ok());
            parsed
                .map(|address| located(address, Some(self.link.address())))
                .collect()
        });
        Ok(servers.collect())
    }

    /// Connects to the first of the addresses that can be reached, by this time. A registry accepts
    /// no more addresses than are tried here.
    fn owner(
        &self,
        addresses: &[&str],
        until: Option<Instant>,
    ) -> Result<Client, Option<ConnectError>> {
        let mut failed = None;
        for address in addresses.iter().take(MOST_ADDRESSES) {
            let Ok(address) = address.parse() else {
                continue;
            };
            let address = located(address, Some(self.link.address()));
            let mut options = self.link.options().clone();
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                // At least one address is tried, also if the time is over.
                if left.is_zero() && failed.is_some() {
                    break;
                }
                limit(&mut options, left);
            }
            match self.owners.connect(&address, &options) {
                Ok(connection) => return Ok(Client::from_connection(connection)),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed)
    }

    /// Returns all bound names in order, with the interfaces of their objects.
    ///
    /// # Errors
    ///
    /// [`CallError`] if the call to the registry fails.
    pub fn list(&self) -> Operation<Result<Vec<Bound>, CallError>> {
        let names = self.clone();
        Operation::blocking(THREAD, move || names.all())
    }

    fn all(&self) -> Result<Vec<Bound>, CallError> {
        let list = self.link.ask(true, |directory| directory.list().wait())?;
        let bound = list.get().iter().map(|of| Bound {
            name: of.name.to_owned(),
            interface: of.interface.to_owned(),
            id: of.id,
        });
        Ok(bound.collect())
    }

    /// Watches the registry: returns all bound names, followed by their changes, also across
    /// restarts of the registry. If the watcher is too slow, it receives
    /// [`Event::Missed`](super::Event::Missed) as its last event, and can watch again.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Thread`] if no thread can be started.
    pub fn watch(&self) -> Result<Changes, DirectoryError> {
        self.link.keep().map_err(DirectoryError::Thread)?;
        Ok(Changes::new(self.link.clone()))
    }

    /// Returns the stub of the registry itself, over the current connection.
    #[must_use]
    pub fn directory(&self) -> DirectoryStub {
        self.link.current().directory
    }
}

/// Limits each step of connecting to this time.
fn limit(options: &mut ClientOptions, left: Duration) {
    for timeout in [
        &mut options.transport.connect_timeout,
        &mut options.transport.handshake_timeout,
        &mut options.messages.handshake_timeout,
    ] {
        *timeout = left.min(*timeout);
    }
}

fn refused(name: &str, source: Refusal) -> DirectoryError {
    DirectoryError::Refused {
        name: name.to_owned(),
        source,
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Names").field(self.link.address()).finish()
    }
}
