//! A registry of several servers, as programs use it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jstream_transport::Address;

use super::registrar::located;
use super::{Change, Directory, DirectoryStub, EntryRef, NAME, Refusal};
use crate::client::{Client, ClientOptions};
use crate::error::{CallError, ConnectError, LookupError, shown};
use crate::interface::{Remotable, Stub};
use crate::reference::Owners;
use crate::reflection::Bound;
use crate::server::Serving;
use crate::stream::Stream;

/// A connection to a registry of several servers. Cheap to clone. What was bound by it is unbound when the last clone is
/// dropped, or the process ends.
#[derive(Clone)]
pub struct Names {
    directory: DirectoryStub,
    address: Address,
    options: Arc<ClientOptions>,
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
        let client = Client::connect_with(address, options);
        let client = client.map_err(|source| LookupError::Unreachable {
            name: NAME.to_owned(),
            addresses: address.to_string(),
            source: Some(Box::new(source)),
        })?;
        Ok(Self {
            directory: client.lookup::<dyn Directory>(NAME)?,
            address: address.clone(),
            options: Arc::new(options.clone()),
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

    /// The same in the place of what is bound to the name, whoever has bound it.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind), but that the name may be bound.
    pub fn rebind(&self, name: &str, serving: &Serving) -> Result<(), DirectoryError> {
        self.put(name, serving, true)
    }

    fn put(&self, name: &str, serving: &Serving, replace: bool) -> Result<(), DirectoryError> {
        let interface = serving.interface(name);
        let interface = interface.ok_or_else(|| DirectoryError::NotServed {
            name: name.to_owned(),
        })?;
        let addresses = serving.addresses().iter().map(Address::to_string);
        let addresses: Vec<String> = addresses.collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let entry = EntryRef {
            name,
            interface: interface.name(),
            id: interface.id(),
            description: interface.description(),
            addresses: &addresses,
        };
        let done = self.directory.bind(entry, replace).wait()?;
        done.get().map_err(|source| refused(name, source))
    }

    /// Frees a name, whoever has bound it; says whether something was bound to it.
    ///
    /// # Errors
    ///
    /// [`DirectoryError`] when the registry refuses, or can't be asked.
    pub fn unbind(&self, name: &str) -> Result<bool, DirectoryError> {
        let done = self.directory.unbind(name).wait()?;
        done.get().map_err(|source| refused(name, source))
    }

    /// The object that is bound to a name, at its server, which calls go to directly.
    ///
    /// # Errors
    ///
    /// [`LookupError`] when nothing is bound to it, when that has another interface, or when the registry or the server
    /// can't be reached.
    pub fn lookup<T: Remotable + ?Sized>(&self, name: &str) -> Result<T::Stub, LookupError> {
        let interface = T::interface();
        let found = self.directory.lookup(name).wait()?;
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
            let address = located(address, Some(&self.address));
            match self.owners.connect(&address, &self.options) {
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
        let list = self.directory.list().wait()?;
        let bound = list.get().iter().map(|of| Bound {
            name: of.name.to_owned(),
            interface: of.interface.to_owned(),
            id: of.id,
        });
        Ok(bound.collect())
    }

    /// All names that are bound, and then each change, for as long as the stream is taken. Who takes too slowly is
    /// [told](super::Event::Missed) so, as the last it gets, and may watch anew.
    pub fn watch(&self) -> Stream<Change> {
        self.directory.within(Duration::MAX).watch()
    }

    /// The registry itself.
    #[must_use]
    pub fn directory(&self) -> &DirectoryStub {
        &self.directory
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
        f.debug_tuple("Names").field(&self.address).finish()
    }
}
