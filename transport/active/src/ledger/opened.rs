//! Open messages of the peer.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::outcomes::Violation;

/// Minimum number of slots in the contiguous table.
const NEAR: usize = 1024;

/// A task that can be cancelled together with its request.
pub(crate) trait Cancel: Send + Sync {
    fn cancel(self: Arc<Self>);
}

/// State of a message of the peer.
pub(crate) enum Open {
    No,
    /// The handler is not suspended, as far as is known.
    Running,
    /// The handler is suspended, and can be cancelled.
    Moved(Arc<dyn Cancel>),
}

/// Identifier of a message of the peer in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    /// A request, with the number chosen by the peer.
    Asked(u32),
    /// A one-way message, with a number chosen by this side.
    Told(u32),
}

impl Number {
    /// Returns the number of a request.
    #[inline]
    pub(crate) fn asked(self) -> Option<u32> {
        match self {
            Self::Asked(number) => Some(number),
            Self::Told(_) => None,
        }
    }
}

/// A slot for a message of the peer.
pub(super) struct OpenPlace {
    number: u32,
    pub(super) open: Open,
    /// True if the answer is not wanted.
    pub(super) cancelled: bool,
}

impl OpenPlace {
    fn free() -> Self {
        Self {
            number: 0,
            open: Open::No,
            cancelled: false,
        }
    }

    fn running(number: u32) -> Self {
        Self {
            number,
            open: Open::Running,
            cancelled: false,
        }
    }

    fn is_open(&self) -> bool {
        !matches!(self.open, Open::No)
    }
}

/// The open messages of the peer.
///
/// Peers use the lowest free numbers, so those within a window are contiguous. They may use any
/// number, however: higher ones have a slot in a map while they are open, so that they need no
/// memory for all lower ones.
pub(super) struct Opened {
    /// Requests by the slot index in their numbers. Indices from `most_near` on are in `far`.
    near: Vec<OpenPlace>,
    most_near: usize,
    far: BTreeMap<usize, OpenPlace>,
    /// Number of open requests.
    requests: usize,
    /// One-way messages.
    told: Vec<OpenPlace>,
    free_told: Vec<u32>,
}

/// Returns the slot index in the number of a request.
#[inline]
fn place_in(number: u32) -> usize {
    (number & 0xffff) as usize
}

impl Opened {
    /// Creates the table for a peer that may send `messages` messages.
    pub(super) fn new(messages: u32) -> Self {
        Self {
            near: Vec::new(),
            most_near: NEAR.max(messages as usize),
            far: BTreeMap::new(),
            requests: 0,
            told: Vec::new(),
            free_told: Vec::new(),
        }
    }

    /// Opens a request of the peer.
    #[inline]
    pub(super) fn open(&mut self, number: u32) -> Result<Number, Violation> {
        let index = place_in(number);
        if self.near.len() <= index {
            self.make_place(index);
        }
        match self.asked(index) {
            // A peer that uses a number twice could make two handlers answer one request.
            Some(place) if !place.is_open() => {
                *place = OpenPlace::running(number);
                self.requests = self.requests.saturating_add(1);
                Ok(Number::Asked(number))
            }
            _ => Err(Violation("request number is in use")),
        }
    }

    #[cold]
    fn make_place(&mut self, index: usize) {
        if index < self.most_near {
            let count = index.saturating_add(1);
            self.near.resize_with(count, OpenPlace::free);
        } else {
            self.far.entry(index).or_insert_with(OpenPlace::free);
        }
    }

    #[inline]
    fn asked(&mut self, index: usize) -> Option<&mut OpenPlace> {
        if index < self.most_near {
            return self.near.get_mut(index);
        }
        self.far.get_mut(&index)
    }

    /// Opens a one-way message. There are as many slots as messages were ever open at the same
    /// time.
    pub(super) fn enter_told(&mut self) -> Number {
        let index = self.free_told.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.told.len()).unwrap_or(u32::MAX);
            self.told.push(OpenPlace::free());
            index
        });
        if let Some(place) = self.told.get_mut(index as usize) {
            *place = OpenPlace::running(index);
        }
        Number::Told(index)
    }

    /// Returns the slot of a message, if it is open.
    #[inline]
    pub(super) fn get(&mut self, number: Number) -> Option<&mut OpenPlace> {
        let (place, number) = match number {
            Number::Asked(number) => (self.asked(place_in(number))?, number),
            Number::Told(index) => (self.told.get_mut(index as usize)?, index),
        };
        (place.number == number && place.is_open()).then_some(place)
    }

    /// Closes a message. Returns its state.
    #[inline]
    pub(super) fn close(&mut self, number: Number) -> Open {
        let place = self.get(number);
        let open = place.map_or(Open::No, |place| mem::replace(&mut place.open, Open::No));
        match number {
            // The number was chosen by this side and is closed once, so it needs no check.
            Number::Told(index) => self.free_told.push(index),
            Number::Asked(number) if !matches!(open, Open::No) => {
                self.requests = self.requests.saturating_sub(1);
                if place_in(number) >= self.most_near {
                    self.far.remove(&place_in(number));
                }
            }
            Number::Asked(_) => {}
        }
        open
    }

    /// Returns true if no request is open.
    pub(super) fn has_no_request(&self) -> bool {
        self.requests == 0
    }

    /// Returns the number of open messages.
    pub(super) fn count(&self) -> usize {
        let told = self.told.iter().filter(|place| place.is_open());
        self.requests.saturating_add(told.count())
    }

    /// Ends the table with the connection. Returns the tasks of suspended handlers.
    pub(super) fn end(&mut self) -> Vec<Arc<dyn Cancel>> {
        let requests = self.near.iter_mut().chain(self.far.values_mut());
        let open = requests
            .chain(&mut self.told)
            .filter(|place| place.is_open());
        // The messages stay open: their handlers still have to close them.
        let moved = open.filter_map(|place| match mem::replace(&mut place.open, Open::Running) {
            Open::Moved(task) => Some(task),
            Open::Running | Open::No => None,
        });
        moved.collect()
    }
}
