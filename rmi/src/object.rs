//! Objects as stubs hold them, and how their methods are called.

mod calls;
mod carrying;
mod going;
mod messages;
mod plain;
mod time;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::carrying::DropResult;
use self::plain::Plain;
use crate::again::Retries;
use crate::exports::Node;
use crate::frame::Span;
use crate::promise::Ahead;
use crate::reference::Import;
use crate::registry::REGISTRY;
use crate::session::Connection;

/// An object of a server, as stubs hold it.
#[derive(Clone)]
pub struct Object {
    place: Place,
    /// How long a call waits.
    span: Span,
    /// How it is made again.
    retries: Option<Retries>,
    /// What its calls say, where all of them say the same.
    plain: Option<Plain>,
}

/// Where an object is.
#[derive(Clone)]
pub(crate) enum Place {
    /// What every peer has, by this number: its registry, or what it says of itself.
    Own(Connection, u32),
    /// At a peer.
    Import(Arc<Import>),
    /// In this program.
    Here(Arc<Node>),
    /// A call on its way will give it.
    Ahead(Arc<Ahead>),
}

impl Object {
    pub(crate) fn new(place: Place, time: Duration) -> Self {
        let span = Span::new(time);
        Self {
            plain: Plain::of(&place, &span),
            place,
            span,
            retries: None,
        }
    }

    /// An object of this program.
    pub(crate) fn here(node: Arc<Node>) -> Self {
        Self::new(Place::Here(node), Duration::MAX)
    }

    /// An object that has come from a peer.
    pub(crate) fn imported(import: Arc<Import>) -> Self {
        let time = import.connection().session().terms.time;
        Self::new(Place::Import(import), time)
    }

    /// What the call gives that is on its way.
    pub(crate) fn ahead(ahead: Arc<Ahead>) -> Self {
        let time = ahead
            .way()
            .map_or(Duration::MAX, |(at, _)| at.session().terms.time);
        Self::new(Place::Ahead(ahead), time)
    }

    #[inline]
    pub(crate) fn place(&self) -> &Place {
        match &self.place {
            Place::Ahead(ahead) => ahead.object().map_or(&self.place, Self::place),
            place => place,
        }
    }

    /// The object itself, where it is one of this program.
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self.place() {
            Place::Here(node) => Some(node),
            Place::Own(..) | Place::Import(_) | Place::Ahead(_) => None,
        }
    }

    /// The same for objects that are the same. Objects of a peer are here once.
    pub(crate) fn identity(&self) -> usize {
        match self.place() {
            Place::Here(node) => Arc::as_ptr(node) as usize,
            Place::Import(import) => Arc::as_ptr(import) as usize,
            Place::Ahead(ahead) => Arc::as_ptr(ahead) as usize,
            Place::Own(peer, number) => {
                let peer = Arc::as_ptr(peer.references()) as usize;
                peer.wrapping_add(usize::from(*number != REGISTRY))
            }
        }
    }

    /// The connection by which it is reached. None in this program.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        Some(self.way()?.0)
    }

    /// The same, and by what number.
    fn way(&self) -> Option<(&Connection, u32)> {
        if let Place::Ahead(ahead) = &self.place {
            if let Some(way) = ahead.way_behind_others() {
                return Some(way);
            }
        }
        match self.place() {
            Place::Own(connection, number) => Some((connection, *number)),
            Place::Import(import) => Some((import.connection(), import.number())),
            Place::Ahead(ahead) => ahead.way(),
            Place::Here(_) => None,
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

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut object = f.debug_struct("Object");
        match self.place() {
            Place::Here(node) => object.field("here", node),
            Place::Own(..) | Place::Import(_) | Place::Ahead(_) => {
                object.field("number", &self.way().map(|(_, number)| number))
            }
        };
        object.finish()
    }
}
