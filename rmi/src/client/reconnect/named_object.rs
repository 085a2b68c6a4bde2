//! Objects that a client has looked up by their names.
//!
//! Decision 118 has the reasons.

use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use jstream_sync::lock;

use super::options::ConnectionState;
use super::reconnection::{Reconnection, WantedObject};
use crate::interface::Interface;
use crate::reference::{FoundObject, Renewal, RenewalError, RenewedObject};
use crate::session::{CallLayers, Connection, Import};
use crate::support::LookupError;

/// Function that looks up an object, and blocks for as long as a handshake may take.
pub(crate) type FindObject =
    fn(&Connection, &str, &'static Interface, Duration) -> Result<FoundObject, LookupError>;

/// An object that is looked up again over each new connection.
pub(crate) struct NamedObject {
    reconnection: Arc<Reconnection>,
    name: String,
    interface: &'static Interface,
    find: FindObject,
    found: Mutex<LastLookup>,
}

/// The last result of the lookup.
struct LastLookup {
    /// Generation of the connection of the object.
    generation: u64,
    object: FoundObject,
    /// The generation of a connection over which the object can't be found, and the reason.
    failure: Option<(u64, String)>,
}

impl NamedObject {
    pub(crate) fn new(
        reconnection: Arc<Reconnection>,
        name: String,
        (interface, find): (&'static Interface, FindObject),
        (object, generation): (FoundObject, u64),
    ) -> Arc<Self> {
        let found = Mutex::new(LastLookup {
            generation,
            object,
            failure: None,
        });
        Arc::new(Self {
            reconnection,
            name,
            interface,
            find,
            found,
        })
    }
}

impl WantedObject for NamedObject {
    fn look_up(&self, connection: &Connection, generation: u64) -> Result<(), String> {
        // Another call has found the object meanwhile.
        if lock(&self.found).generation == generation {
            return Ok(());
        }
        // Before the lookup: a server that ends while it answers must be noticed.
        self.reconnection.attend(connection, generation);
        let time = self.reconnection.lookup_timeout();
        // Without the lock, because it blocks for as long as a handshake.
        let failure = match (self.find)(connection, &self.name, self.interface, time) {
            Ok(object) => {
                let found = LastLookup {
                    generation,
                    object,
                    failure: None,
                };
                let before = std::mem::replace(&mut *lock(&self.found), found);
                // Releases the object of the old connection, without the lock.
                drop(before);
                return Ok(());
            }
            Err(error) => error,
        };
        let reason = failure.to_string();
        // A name that is bound to another interface will not change by waiting, unlike a name that
        // is not bound yet.
        if matches!(failure, LookupError::OtherInterface { .. }) {
            // With the generation, so that the failure ends with this connection.
            lock(&self.found).failure = Some((generation, reason));
            return Ok(());
        }
        Err(reason)
    }
}

impl NamedObject {
    /// Returns the reason why the object can't be found over the present connection. A later server
    /// may have it again.
    fn failure_over_open_connection(&self) -> Option<String> {
        let open = self.reconnection.open_generation()?;
        let failure = lock(&self.found).failure.clone();
        failure
            .filter(|(generation, _)| *generation == open)
            .map(|(_, reason)| reason)
    }

    fn wanted(self: &Arc<Self>) -> Weak<dyn WantedObject> {
        let this: Weak<Self> = Arc::downgrade(self);
        this
    }
}

impl Renewal for NamedObject {
    fn layers(&self) -> Option<CallLayers> {
        self.reconnection.layers()
    }

    fn known(&self) -> Option<RenewedObject> {
        let open = self.reconnection.open_generation()?;
        let found = lock(&self.found);
        // An object of an earlier connection is kept until the new one is found, but not called.
        (found.generation == open).then(|| RenewedObject::Single(found.object.clone()))
    }

    fn begin(self: Arc<Self>) {
        // Another object of this name would not have the state.
        if !self.interface.is_stateful() {
            self.reconnection.begin(Some(self.wanted()));
        }
    }

    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        if self.interface.is_stateful() {
            return Poll::Ready(Err(self.failure()));
        }
        if let Some(object) = self.known() {
            return Poll::Ready(Ok(object));
        }
        if key.is_none() {
            // Each call causes a lookup: if the server was replaced, an idle connection does not
            // show that.
            lock(&self.found).failure = None;
        }
        self.reconnection.register(key, context.waker());
        // It may have been found before the waker was registered.
        if let Some(object) = self.known() {
            return Poll::Ready(Ok(object));
        }
        if self.failure_over_open_connection().is_some()
            || self.reconnection.state() == ConnectionState::Closed
        {
            return Poll::Ready(Err(self.failure()));
        }
        self.reconnection.begin(Some(self.wanted()));
        Poll::Pending
    }

    fn cancel(&self, key: u64) {
        self.reconnection.cancel(key);
    }

    fn abandon(&self, import: &Import) {
        // The connection stays open for the calls in flight. Later calls and lookups find it
        // retired, and connect.
        import.connection().retire();
    }

    fn patience(&self) -> Duration {
        self.reconnection.patience()
    }

    fn failure(&self) -> RenewalError {
        if self.interface.is_stateful() {
            return RenewalError::Lost {
                name: self.name.clone(),
            };
        }
        let failure = self.failure_over_open_connection();
        RenewalError::Disconnected {
            address: self.reconnection.address().clone(),
            reason: failure.unwrap_or_else(|| self.reconnection.reason()),
        }
    }

    fn interface(&self) -> &'static Interface {
        self.interface
    }
}
