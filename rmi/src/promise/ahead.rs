//! What a call on its way will give, at its caller; and what calls that others may name say of themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::frame::{PROMISE_NUMBERS, PROMISED};
use crate::object::Object;
use crate::session::Connection;

/// An object is called by its call's number only so long: later the server may have forgotten that.
const KNOWN_FOR: u32 = 512;

/// What stands behind the arguments of a call that others name: its number and the id of an interface.
const LENGTH: usize = 12;

/// A call that others may name, as it says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) number: u32,
    pub(super) interface: u64,
}

impl Made {
    /// What stands behind the arguments.
    pub(crate) fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (number, interface) = bytes.split_at_mut(4);
        number.copy_from_slice(&self.number.to_le_bytes());
        interface.copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// The same, and how long the arguments are.
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

/// What a call has given, when that is known: nothing where it has failed.
pub(crate) type Became = OnceLock<Option<Object>>;

/// What a call on its way will give, at its caller.
pub(crate) struct Ahead {
    /// None of a call of an object of this program.
    at: Option<(Connection, u32)>,
    /// Calls that name it have one, too, until they are over: so long the object is not given back.
    became: Arc<Became>,
    /// One of these is not answered, so that nobody knows when it is over.
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

    /// The call is over.
    pub(crate) fn settle(&self, object: Option<Object>) {
        drop(self.became.set(object));
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        self.became.get()?.as_ref()
    }

    /// By what number it is called meanwhile.
    pub(crate) fn way(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, number | PROMISED))
    }

    /// The same, also of what has come, while others called it so that are not over: none is to overtake them.
    pub(crate) fn way_behind_others(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        let is_alone =
            || Arc::strong_count(&self.became) == 1 && !self.has_unanswered.load(Ordering::Relaxed);
        let is_gone = self.became.get().is_some()
            && (is_alone() || connection.session().promises.behind(*number) > KNOWN_FOR);
        (!is_gone).then_some((connection, number | PROMISED))
    }

    /// A call has named it that nobody answers.
    pub(crate) fn called_one_way(&self) {
        self.has_unanswered.store(true, Ordering::Relaxed);
    }

    /// What a call that names it has until it is over.
    pub(crate) fn called(&self) -> Arc<Became> {
        self.became.clone()
    }

    /// Why it can't be called.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match (self.became.get(), &self.at) {
            (Some(None), _) => {
                Some("the call that was to give its object was given up, or gave none")
            }
            (None, None) => Some(
                "the call that gives its object is of an object of this program: wait for that first",
            ),
            _ => None,
        }
    }
}
