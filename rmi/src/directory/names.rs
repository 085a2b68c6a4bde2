//! A registry of several servers, as programs use it.

use std::fmt;
use std::io;
use std::sync::Arc;

use jstream_transport::Address;

use super::changes::Changes;
use super::link::Link;
use super::places::located;
use super::{DirectoryStub, Entry, Refusal};
use crate::client::{Client, ClientOptions};
use crate::error::{CallError, ConnectError, LookupError, shown};
use crate::interface::Remotable;
use crate::reference::Owners;
use crate::reflection::Bound;
use crate::server::Serving;

/// A connection to a registry of several servers. Cheap to clone. What was bound by it is unbound when the last clone is
/// dropped, or the process ends.
///
/// When the connection is lost, as the registry is restarted, another one is made: at once by who uses this, and as soon as
/// the registry is back where something was bound by it, or is watched. Names that were bound by it are bound again then, but
/// for those that others have bound meanwhile; one that somebody else has unbound is bound again, too, as long as its server
/// keeps this.
#[derive(Clone)]
pub struct Names {
    link: Arc<Link>,
    owners: Arc<Owners>,
}

/// Why a registry did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// It refuses to.
    #[error("\"{name}\" is not changed: {source}")]
    Refused {
        /// The name.
        name: String,
        /// Why.
        source: Refusal,
    },
    /// The server that is to be bound has bound nothing to that name itself.
    #[error("the server has no \"{name}\" itself; bind an object to it there first")]
    NotServed {
        /// The name.
        name: String,
    },
    /// There is no thread that would keep the connection to it.
    #[error("no thread for the connection to the registry")]
    Thread(#[source] io::Error),
    /// It could not be asked.
    #[error("the registry could not be asked")]
    Call(#[from] CallError),
}

impl Names {
    /// Connects to the registry that is served at an address.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when it can't be reached, or has no registry of this kind.
    pub fn connect(address: &Address) -> Result<Self, LookupError> {
        Self::connect_with(address, &ClientOptions::default())
    }

    /// Connects with options of one's own, which count for the servers that are found there, too.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_with(address: &Address, options: &ClientOptions) -> Result<Self, LookupError> {
        Ok(Self {
            link: Link::connect(address, options)?,
            owners: Arc::default(),
        })
    }

    /// Binds what a server has bound to a name to the same name here, as long as this connection lasts.
    ///
    /// # Errors
    ///
    /// [`DirectoryError`] when the server has no such name, when it is bound here already, and when the registry refuses or
    /// can't be asked.
    pub fn bind(&self, name: &str, serving: &Serving) -> Result<(), DirectoryError> {
        self.put(name, serving, false)
    }

    /// Binds as [`bind`](Self::bind) does, and replaces the object that is bound to the name, if any.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind), except that the name may be bound by these `Names`. A name that another
    /// connection has bound is refused with [`Refusal::NotBinder`], unless the
    /// [registry](super#who-may-change-names) allows it.
    pub fn rebind(&self, name: &str, serving: &Serving) -> Result<(), DirectoryError> {
        self.put(name, serving, true)
    }

    fn put(&self, name: &str, serving: &Serving, replace: bool) -> Result<(), DirectoryError> {
        let interface = serving.interface(name);
        let interface = interface.ok_or_else(|| DirectoryError::NotServed {
            name: name.to_owned(),
        })?;
        let addresses = serving.addresses().iter().map(Address::to_string);
        let entry = Entry {
            name: name.to_owned(),
            interface: interface.name().to_owned(),
            id: interface.id(),
            description: interface.description().to_owned(),
            addresses: addresses.collect(),
        };
        self.link.keep().map_err(DirectoryError::Thread)?;
        let addresses: Vec<&str> = entry.addresses.iter().map(String::as_str).collect();
        // The connection may be made anew meanwhile.
        let before = self.link.remember(name, Some(entry.clone()));
        let done = self.link.ask(true, |directory| {
            let done = directory.bind(entry.borrowed(&addresses), replace).wait();
            done.map(|done| *done.get())
        });
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
    /// [`DirectoryError`] if the registry cannot be asked, or refuses: with [`Refusal::NotBinder`] if another
    /// connection has bound the name, unless the [registry](super#who-may-change-names) allows it.
    pub fn unbind(&self, name: &str) -> Result<bool, DirectoryError> {
        let before = self.link.remember(name, None);
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

    /// The object that is bound to a name, at its server, which calls go to directly.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when nothing is bound to it, when that has another interface, or when the registry or the server
    /// can't be reached.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        let found = self
            .link
            .ask(true, |directory| directory.lookup(name).wait())?;
        let entry = found.get().ok_or_else(|| LookupError::Unknown {
            name: name.to_owned(),
        })?;
        if entry.id != interface.id() {
            return Err(LookupError::OtherInterface {
                name: name.to_owned(),
                expected: interface.differs_from(entry.description),
                found: shown(entry.description),
            });
        }
        let reached = || {
            let owner = self.owner(entry.addresses);
            owner.map_err(|source| LookupError::Unreachable {
                name: name.to_owned(),
                addresses: shown(&entry.addresses.join(", ")),
                source: source.map(Box::new),
            })
        };
        let owner = reached()?;
        match owner.lookup::<T>(name) {
            // It was a connection that nobody had used since it ended.
            Err(LookupError::Call(_)) if owner.connection().peer().has_ended() => {
                reached()?.lookup::<T>(name)
            }
            found => found,
        }
    }

    /// A connection to the first of these that can be reached.
    fn owner(&self, addresses: &[&str]) -> Result<Client, Option<ConnectError>> {
        let mut failed = None;
        for address in addresses {
            let Ok(address) = address.parse() else {
                continue;
            };
            let address = located(address, Some(self.link.address()));
            match self.owners.connect(&address, self.link.options()) {
                Ok(client) => return Ok(client),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed)
    }

    /// All names that are bound, in order, with the interfaces of what is bound to them.
    ///
    /// # Errors
    ///
    /// [`CallError`] when the registry can't be asked.
    pub fn list(&self) -> Result<Vec<Bound>, CallError> {
        let list = self.link.ask(true, |directory| directory.list().wait())?;
        let bound = list.get().iter().map(|of| Bound {
            name: of.name.to_owned(),
            interface: of.interface.to_owned(),
            id: of.id,
        });
        Ok(bound.collect())
    }

    /// All names that are bound, and then each change, for as long as it is looked at, also when the registry is restarted.
    /// Who takes too slowly is [told](super::Event::Missed) so, as the last it gets, and may watch anew.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Thread`] when the system is out of threads.
    pub fn watch(&self) -> Result<Changes, DirectoryError> {
        self.link.keep().map_err(DirectoryError::Thread)?;
        Ok(Changes::new(self.link.clone()))
    }

    /// The registry itself, by the connection that there is now.
    #[must_use]
    pub fn directory(&self) -> DirectoryStub {
        self.link.current().directory
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
