//! Objects as held by stubs, and calls of their methods.

mod calls;
mod messages;
mod outgoing_call;
mod plain;
mod result_fetch;
mod time;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::plain::Plain;
pub(crate) use self::result_fetch::DropResult;
use crate::exports::Node;
use crate::frame::Span;
use crate::pipelining::Ahead;
use crate::reference::Import;
use crate::registry::REGISTRY;
use crate::retry::Retries;
use crate::session::Connection;

/// A remote object, as held by stubs.
#[derive(Clone)]
pub struct Object {
    place: ObjectPlace,
    /// Timeout of each call.
    span: Span,
    /// Retries of failed calls.
    retries: Option<Retries>,
    /// Precomputed header of its calls, if all of them use the same.
    plain: Option<Plain>,
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
}

impl Object {
    pub(crate) fn new(place: ObjectPlace, time: Duration) -> Self {
        let span = Span::new(time);
        Self {
            plain: Plain::of(&place, &span),
            place,
            span,
            retries: None,
        }
    }

    /// Creates a handle of an object of this program.
    pub(crate) fn here(node: Arc<Node>) -> Self {
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
            .way()
            .map_or(Duration::MAX, |(at, _)| at.session().terms.time);
        Self::new(ObjectPlace::Ahead(ahead), time)
    }

    #[inline]
    pub(crate) fn place(&self) -> &ObjectPlace {
        match &self.place {
            ObjectPlace::Ahead(ahead) => ahead.object().map_or(&self.place, Self::place),
            place => place,
        }
    }

    /// Returns the object itself if it belongs to this program.
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self.place() {
            ObjectPlace::Here(node) => Some(node),
            ObjectPlace::Own(..) | ObjectPlace::Import(_) | ObjectPlace::Ahead(_) => None,
        }
    }

    /// Returns a number that is equal for handles of the same object. Each object of a peer has
    /// only one import.
    pub(crate) fn identity(&self) -> usize {
        match self.place() {
            ObjectPlace::Here(node) => Arc::as_ptr(node) as usize,
            ObjectPlace::Import(import) => Arc::as_ptr(import) as usize,
            ObjectPlace::Ahead(ahead) => Arc::as_ptr(ahead) as usize,
            ObjectPlace::Own(peer, number) => {
                let peer = Arc::as_ptr(peer.references()) as usize;
                peer.wrapping_add(usize::from(*number != REGISTRY))
            }
        }
    }

    /// Returns the connection to the object, or `None` if it belongs to this program.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        Some(self.way()?.0)
    }

    /// Returns the connection to the object, with the number by which the peer knows it.
    fn way(&self) -> Option<(&Connection, u32)> {
        if let ObjectPlace::Ahead(ahead) = &self.place {
            if let Some(way) = ahead.way_behind_others() {
                return Some(way);
            }
        }
        match self.place() {
            ObjectPlace::Own(connection, number) => Some((connection, *number)),
            ObjectPlace::Import(import) => Some((import.connection(), import.number())),
            ObjectPlace::Ahead(ahead) => ahead.way(),
            ObjectPlace::Here(_) => None,
        }
    }

    pub(crate) fn within(&self, time: Duration) -> Self {
        Self {
            retries: self.retries,
            ..Self::new(self.place.clone(), time)
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
            ObjectPlace::Own(..) | ObjectPlace::Import(_) | ObjectPlace::Ahead(_) => {
                object.field("number", &self.way().map(|(_, number)| number))
            }
        };
        object.finish()
    }
}
