//! The caller's side of pipelined calls: the placeholder for a result in flight, and the trailer of
//! calls that others may name.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::frame::{PROMISE_NUMBERS, PROMISED};
use crate::object::Object;
use crate::session::Connection;

/// Number of later calls after which an object is no longer called by the call's number, because
/// the server may have forgotten it.
const KNOWN_FOR: u32 = 512;

/// Length in bytes of the trailer after the arguments: the number of the call and the id of an
/// interface.
const LENGTH: usize = 12;

/// The trailer of a call that other calls may name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTrailer {
    pub(crate) number: u32,
    pub(super) interface: u64,
}

impl CallTrailer {
    /// Encodes the trailer.
    pub(crate) fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (number, interface) = bytes.split_at_mut(4);
        number.copy_from_slice(&self.number.to_le_bytes());
        interface.copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// Decodes the trailer of a payload. Returns it with the length of the arguments.
    pub(crate) fn of(payload: &[u8]) -> Option<(Self, usize)> {
        let length = payload.len().checked_sub(LENGTH)?;
        let (number, interface) = payload.get(length..)?.split_at_checked(4)?;
        let made = Self {
            number: u32::from_le_bytes(number.try_into().ok()?),
            interface: u64::from_le_bytes(interface.try_into().ok()?),
        };
        (made.number < PROMISE_NUMBERS).then_some((made, length))
    }
}

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
    pub(crate) fn settle(&self, object: Option<Object>) {
        drop(self.became.set(object));
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        self.became.get()?.as_ref()
    }

    /// Returns the number by which the object is called before it is known.
    pub(crate) fn way(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, number | PROMISED))
    }

    /// Returns the number by which the object is called, as long as earlier calls by this number
    /// are in flight. This prevents later calls from overtaking them.
    pub(crate) fn way_behind_others(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        let is_alone =
            || Arc::strong_count(&self.became) == 1 && !self.has_unanswered.load(Ordering::Relaxed);
        let is_gone = self.became.get().is_some()
            && (is_alone() || connection.session().promises.behind(*number) > KNOWN_FOR);
        (!is_gone).then_some((connection, number | PROMISED))
    }

    /// Records that a one-way call has named this call.
    pub(crate) fn called_one_way(&self) {
        self.has_unanswered.store(true, Ordering::Relaxed);
    }

    /// Returns the handle that a call naming this one holds until it is over.
    pub(crate) fn called(&self) -> Arc<Became> {
        self.became.clone()
    }

    /// Returns the reason why the object can't be called, if any.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match (self.became.get(), &self.at) {
            (Some(None), _) => {
                Some("the call that should have returned the object failed or returned none")
            }
            (None, None) => Some(
                "the object is the result of a local call, which has not ended: wait for it first",
            ),
            _ => None,
        }
    }
}
