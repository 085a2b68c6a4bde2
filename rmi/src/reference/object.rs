//! Handles of objects, as stubs hold them, and placeholders for the results of calls in flight.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::frame::{Metadata, PROMISED, REGISTRY, Span};
use crate::interface::{MethodMap, VersionPairs};
use crate::reference::found::FoundObject;
use crate::reference::renewal::{MemberObject, Renewal, RenewedObject};
use crate::reference::retries::Retries;
use crate::session::{Connection, Import, Node};

/// Number of later calls after which an object is no longer called by the call's number, because
/// the server may have forgotten it.
const KNOWN_FOR: u32 = 512;

/// The object that a call has returned, once that is known. `None` if the call has failed.
pub(crate) type Became = OnceLock<Option<Object>>;

/// Placeholder for the object that a call in flight will return.
pub(crate) struct Ahead {
    /// Connection and number of the call. `None` for calls of local objects.
    at: Option<(Connection, u32)>,
    /// Shared with the calls that name this call, until they are over. The object is not released
    /// before that.
    became: Arc<Became>,
    /// True if one of these calls was one-way, so that its end is unknown.
    has_unanswered: AtomicBool,
}

impl Ahead {
    pub(crate) fn new(at: Option<(Connection, u32)>) -> Self {
        Self {
            at,
            became: Arc::default(),
            has_unanswered: AtomicBool::new(false),
        }
    }

    /// Records the outcome of the call.
    pub(crate) fn complete(&self, object: Option<Object>) {
        // The first outcome counts. A later one is that of a call which was dropped after its
        // result.
        drop(self.became.set(object));
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        self.became.get()?.as_ref()
    }

    /// Returns the connection and the number of the call. `None` for a call of a local object.
    pub(super) fn call(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, *number))
    }

    /// Returns the number by which the object is called before it is known.
    pub(super) fn destination(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, number | PROMISED))
    }

    /// Returns the number by which the object is called, as long as earlier calls by this number
    /// are in flight. This prevents later calls from overtaking them.
    pub(crate) fn ordered_destination(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        let is_alone =
            // Each call by the number holds a clone. If there is none, all of them have begun, so
            // that a call by the object can't overtake one.
            || Arc::strong_count(&self.became) == 1 && !self.has_unanswered.load(Ordering::Relaxed);
        let is_gone = self.became.get().is_some()
            // The server forgets results in the order of the calls. Half of what it remembers is a
            // margin for calls that are on their way.
            && (is_alone() || connection.session().promises.behind(*number) > KNOWN_FOR);
        (!is_gone).then_some((connection, number | PROMISED))
    }

    /// Records that a one-way call has named this call.
    pub(crate) fn called_one_way(&self) {
        // The flag is read by calls that are made after the one-way call. Calls of other threads
        // have no order with it.
        self.has_unanswered.store(true, Ordering::Relaxed);
    }

    /// Returns the handle that a call naming this one holds until it is over.
    pub(crate) fn called(&self) -> Arc<Became> {
        self.became.clone()
    }

    /// Returns the reason why the object can't be called, if any.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match (self.became.get(), &self.at) {
            (Some(None), _) => Some(
                "the call that should have returned the object failed or returned none: wait \
                     for that call to see why",
            ),
            (None, None) => Some(
                "the object is the result of a local call, or of one that waits for an \
                     interceptor, which has not ended: wait for it first",
            ),
            _ => None,
        }
    }
}

/// A remote object, as held by stubs.
#[derive(Clone)]
pub struct Object {
    pub(crate) place: ObjectPlace,
    /// Timeout of each call.
    pub(crate) span: Span,
    /// Retries of failed calls.
    pub(crate) retries: Option<Retries>,
    /// Metadata of each call.
    pub(crate) metadata: Metadata,
    /// The source of the object if its connection is lost.
    pub(crate) renewal: Option<Arc<dyn Renewal>>,
    /// The methods of the object if its interface has another version.
    pub(crate) methods: Option<Arc<MethodMap>>,
}

/// Location of an object.
#[derive(Clone)]
pub(crate) enum ObjectPlace {
    /// An object with a fixed number that every peer has: its registry or its reflection.
    Own(Connection, u32),
    /// An object of a peer.
    Import(Arc<Import>),
    /// An object of this program.
    Here(Arc<Node>),
    /// The result of a call in flight.
    Ahead(Arc<Ahead>),
    /// An object that the members of a set have. Each call chooses one of them, by the
    /// [`Renewal`] of the handle. This keeps the set.
    Set(Arc<dyn Any + Send + Sync>),
    /// An object of a set at the member that was chosen for a call, and whether the call is
    /// counted.
    Member(Arc<MemberObject>, bool),
}

impl Object {
    pub(crate) fn new(place: ObjectPlace, time: Duration) -> Self {
        Self {
            place,
            span: Span::new(time),
            retries: None,
            metadata: Metadata::default(),
            renewal: None,
            methods: None,
        }
    }

    /// Creates a handle of an object that was found by its name.
    pub(crate) fn found(found: FoundObject, time: Duration) -> Self {
        Self::new(ObjectPlace::Import(found.import), time).mapped(found.methods)
    }

    pub(crate) fn mapped(self, methods: Option<Arc<MethodMap>>) -> Self {
        Self { methods, ..self }
    }

    /// Returns the interfaces that the object's server has in another version, if any.
    pub(crate) fn versions(&self) -> Option<Arc<VersionPairs>> {
        Some(self.methods.as_ref()?.pairs().clone())
    }

    /// Returns the handle with a source that finds the object again.
    pub(crate) fn renewed_by(self, renewal: Arc<dyn Renewal>) -> Self {
        Self {
            renewal: Some(renewal),
            ..self
        }
    }

    /// Returns the handle of the same object over another connection, whose server may have
    /// another version of the interface.
    pub(crate) fn at(&self, renewed: RenewedObject) -> Self {
        let (place, methods, renewal) = match renewed {
            RenewedObject::Single(FoundObject { import, methods }) => {
                (ObjectPlace::Import(import), methods, self.renewal.clone())
            }
            RenewedObject::Member {
                object,
                is_counted,
                is_pinned,
            } => {
                // The member leads to the source, unless the call is pinned.
                let renewal = self.renewal.clone().filter(|_| is_pinned);
                let methods = object.methods().cloned();
                (ObjectPlace::Member(object, is_counted), methods, renewal)
            }
        };
        Self {
            place,
            span: self.span,
            retries: self.retries,
            metadata: self.metadata.clone(),
            renewal,
            methods,
        }
    }

    /// Returns the source of the object if its connection is lost.
    pub(crate) fn renewal(&self) -> Option<&Arc<dyn Renewal>> {
        match (&self.renewal, &self.place) {
            (None, ObjectPlace::Member(object, _)) => Some(object.source()),
            (renewal, _) => renewal.as_ref(),
        }
    }

    /// Returns true if each call has to choose a member of a set.
    pub(crate) fn is_of_set(&self) -> bool {
        matches!(self.place, ObjectPlace::Set(_))
    }

    /// Returns the reference of the peer's object, if there is one.
    pub(crate) fn import(&self) -> Option<&Arc<Import>> {
        match self.place() {
            ObjectPlace::Import(import) => Some(import),
            ObjectPlace::Member(object, _) => Some(object.import()),
            _ => None,
        }
    }

    /// Returns a handle of the object over a connection that is open, as far as that is known, for
    /// a call whose streams or references belong to one connection.
    #[doc(hidden)]
    #[must_use]
    pub fn current(&self) -> Cow<'_, Self> {
        match self.renewed_handle() {
            Some(renewed) => Cow::Owned(renewed),
            None => Cow::Borrowed(self),
        }
    }

    /// Returns a handle of the object over a connection that is open, if the connection of this one
    /// was lost and the object has been found again, or if each call chooses a connection. Else
    /// begins to look for it.
    #[inline]
    pub(crate) fn renewed_handle(&self) -> Option<Self> {
        match self.needs_renewal() {
            true => self.renew_handle(),
            false => None,
        }
    }

    /// Returns true if a call has to choose a connection, or to find the object over another one,
    /// because the connection of this handle was lost or its server is shutting down.
    #[inline]
    pub(crate) fn needs_renewal(&self) -> bool {
        let is_retired = |(connection, _): (&Connection, u32)| connection.peer().is_retired();
        // An object of a set is at no peer, so each call chooses.
        self.renewal().is_some() && self.place.at_peer().is_none_or(is_retired)
    }

    /// Returns true if the connection of this handle was lost and the object is looked for, so that
    /// a call is not sent before it is found.
    pub(crate) fn is_renewed_first(&self) -> bool {
        let connection = self.place.at_peer().map(|(connection, _)| connection);
        // Only the end counts here: over a connection that is retired, the object is still the one
        // that the map of methods describes.
        self.renewal.is_some() && connection.is_some_and(|of| of.peer().has_ended())
    }

    /// Returns a handle of the object over another connection, if it is known there. Else begins to
    /// look for it.
    pub(crate) fn renew_handle(&self) -> Option<Self> {
        let renewal = self.renewal()?;
        match renewal.known() {
            Some(renewed) => Some(self.at(renewed)),
            None => {
                renewal.clone().begin();
                None
            }
        }
    }

    /// Creates a handle of an object of this program.
    pub(crate) fn local(node: Arc<Node>) -> Self {
        // A call within the program has no peer that could be silent.
        Self::new(ObjectPlace::Here(node), Duration::MAX)
    }

    /// Creates a handle of an object that a peer has sent.
    pub(crate) fn imported(import: Arc<Import>) -> Self {
        let time = import.connection().session().terms.time;
        Self::new(ObjectPlace::Import(import), time)
    }

    /// Creates a handle of the object that a call in flight will return.
    pub(crate) fn ahead(ahead: Arc<Ahead>) -> Self {
        let time = ahead
            .destination()
            .map_or(Duration::MAX, |(at, _)| at.session().terms.time);
        Self::new(ObjectPlace::Ahead(ahead), time)
    }

    #[inline]
    pub(crate) fn place(&self) -> &ObjectPlace {
        match &self.place {
            // Resolved at each use, so that a stub which was made before the result becomes one of
            // the object.
            ObjectPlace::Ahead(ahead) => ahead.object().map_or(&self.place, Self::place),
            place => place,
        }
    }

    /// Returns the object itself if it belongs to this program.
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self.place() {
            ObjectPlace::Here(node) => Some(node),
            _ => None,
        }
    }

    /// Returns a number that is equal for handles of the same object. Each object of a peer has
    /// only one import.
    pub(crate) fn identity(&self) -> usize {
        match self.place() {
            ObjectPlace::Here(node) => Arc::as_ptr(node) as usize,
            ObjectPlace::Import(import) => Arc::as_ptr(import) as usize,
            ObjectPlace::Ahead(ahead) => Arc::as_ptr(ahead) as usize,
            ObjectPlace::Member(object, _) => Arc::as_ptr(object.import()) as usize,
            ObjectPlace::Set(set) => Arc::as_ptr(set).cast::<()>() as usize,
            ObjectPlace::Own(peer, number) => {
                let peer = Arc::as_ptr(peer.references()) as usize;
                // The registry and the reflection of a connection share its table, whose address is
                // even. One more tells them apart.
                peer.wrapping_add(usize::from(*number != REGISTRY))
            }
        }
    }

    /// Returns the connection to the object, or `None` if it belongs to this program.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        Some(self.destination()?.0)
    }

    /// Returns the connection to the object, with the number by which the peer knows it.
    pub(crate) fn destination(&self) -> Option<(&Connection, u32)> {
        if let ObjectPlace::Ahead(ahead) = &self.place {
            // Asked before the result is used: calls that were made by the number may still wait at
            // the server, and this one must not overtake them.
            if let Some(destination) = ahead.ordered_destination() {
                return Some(destination);
            }
        }
        match self.place() {
            ObjectPlace::Own(connection, number) => Some((connection, *number)),
            ObjectPlace::Import(import) => Some((import.connection(), import.number())),
            ObjectPlace::Member(object, _) => object.destination(),
            ObjectPlace::Ahead(ahead) => ahead.destination(),
            ObjectPlace::Here(_) | ObjectPlace::Set(_) => None,
        }
    }

    pub(crate) fn within(&self, time: Duration) -> Self {
        let object = Self {
            retries: self.retries,
            renewal: self.renewal.clone(),
            methods: self.methods.clone(),
            ..Self::new(self.place.clone(), time)
        };
        object.with_metadata(self.metadata.clone())
    }

    pub(crate) fn with_metadata(&self, metadata: Metadata) -> Self {
        Self {
            metadata,
            ..self.clone()
        }
    }

    pub(crate) fn retrying(&self, retries: Retries) -> Self {
        Self {
            retries: Some(retries),
            ..self.clone()
        }
    }
}

/// Creates a handle of an object with a fixed number that every peer has.
pub(crate) fn own(connection: &Connection, number: u32) -> Object {
    let time = connection.session().terms.time;
    Object::new(ObjectPlace::Own(connection.clone(), number), time)
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut object = f.debug_struct("Object");
        match self.place() {
            ObjectPlace::Here(node) => object.field("here", node),
            _ => object.field("number", &self.destination().map(|(_, number)| number)),
        };
        object.finish()
    }
}

impl ObjectPlace {
    /// Returns the connection and number of the object if neither can change.
    #[inline]
    pub(crate) fn at_peer(&self) -> Option<(&Connection, u32)> {
        match self {
            Self::Own(connection, number) => Some((connection, *number)),
            Self::Import(import) => Some((import.connection(), import.number())),
            Self::Member(object, _) => object.destination(),
            Self::Here(_) | Self::Ahead(_) | Self::Set(_) => None,
        }
    }
}
