//! The objects that the other side of a connection was given and may call, without I/O.
//!
//! Both sides count the arrivals of each reference. The other side gives a reference back by
//! sending the number of arrivals that it has dropped. References that are in flight meanwhile are
//! not included, regardless of the order of messages.
//!
//! Decision 078 has the reasons.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::frame::{OBJECT_NUMBERS, REGISTRY};
use crate::session::objects::{Node, changed};
use crate::session::references::imports::Import;

/// Objects that the other side may call. Their numbers are local to the connection and are not
/// reused.
#[derive(Default)]
pub(crate) struct Given {
    objects: FxHashMap<u32, GivenEntry>,
    /// Number of each object, by its address.
    numbers: FxHashMap<usize, u32>,
    number: u32,
    /// Total number of references that were given.
    count: u64,
    leased: usize,
    /// References that return to the other side, their owner, until it has received them.
    home: FxHashMap<u64, Arc<Import>>,
}

struct GivenEntry {
    node: Arc<Node>,
    /// True if the object was given as a reference, and not only looked up by name.
    leased: bool,
    named: bool,
    /// Number of known arrivals, less the number that was given back.
    balance: i64,
    /// Calls in flight that give the object.
    pins: u32,
}

impl GivenEntry {
    fn is_over(&self) -> bool {
        self.pins == 0 && self.balance <= 0
    }
}

/// The way in which an object is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// By a lookup. The object lives as long as its name.
    Name,
    /// In the answer of a call.
    Result,
    /// In the arguments of a call, whose answer tells whether they have arrived.
    Argument,
}

/// An object that the other side can no longer call. Drop it without holding a lock.
#[must_use = "drop it without holding a lock"]
pub(crate) struct Lost {
    node: Arc<Node>,
    leased: bool,
}

impl Drop for Lost {
    fn drop(&mut self) {
        if self.leased {
            self.node.release();
        }
    }
}

impl Given {
    /// Gives an object and returns its number, or `None` if the limit is reached.
    pub(crate) fn give(&mut self, node: &Arc<Node>, how: As, most: usize) -> Option<u32> {
        let address = Arc::as_ptr(node) as usize;
        let number = match self.numbers.get(&address) {
            Some(number) => *number,
            None => self.enter(node, address, most)?,
        };
        // The total is a bound for what the other side may give back, so it never falls. At a
        // billion references a second, it takes centuries to saturate.
        self.count = self.count.saturating_add(1);
        let entry = self.objects.get_mut(&number)?;
        match how {
            As::Name => entry.named = true,
            // The object counts one lease for each connection, however often it was given over it.
            As::Result | As::Argument if !entry.leased => {
                entry.leased = true;
                self.leased = self.leased.saturating_add(1);
                node.lease();
            }
            As::Result | As::Argument => {}
        }
        // Whether an argument has arrived is known with the answer of its call. Until then, the pin
        // keeps the object, and the balance does not count what may not arrive.
        if how == As::Argument {
            entry.pins = entry.pins.saturating_add(1);
            node.counts().pins.fetch_add(1, Ordering::Relaxed);
        } else {
            entry.balance = entry.balance.saturating_add(1);
        }
        Some(number)
    }

    fn enter(&mut self, node: &Arc<Node>, address: usize, most: usize) -> Option<u32> {
        // Checked only for new objects: one that the other side has already takes no more memory
        // when it is given again.
        if self.objects.len() >= most {
            return None;
        }
        let mut number = self.number.wrapping_add(1) % OBJECT_NUMBERS;
        // Numbers wrap around after half a billion objects.
        // The loop ends, because memory does not suffice for as many objects as there are numbers.
        while number == REGISTRY || self.objects.contains_key(&number) {
            number = number.wrapping_add(1) % OBJECT_NUMBERS;
        }
        self.number = number;
        self.numbers.insert(address, number);
        self.objects.insert(
            number,
            GivenEntry {
                node: node.clone(),
                leased: false,
                named: false,
                balance: 0,
                pins: 0,
            },
        );
        Some(number)
    }

    pub(crate) fn object(&self, number: u32) -> Option<&Arc<Node>> {
        Some(&self.objects.get(&number)?.node)
    }

    /// Returns true if the other side has no object, not even by name.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.home.is_empty()
    }

    /// Returns the number of references that the other side has.
    pub(crate) fn leased(&self) -> usize {
        self.leased
    }

    /// Records whether a call that gave an object has arrived.
    pub(crate) fn arrived(&mut self, number: u32, has: bool) -> Option<Lost> {
        // After the end of the connection there is no entry: `clear` has taken its pins back.
        let entry = self.objects.get_mut(&number)?;
        entry.pins = entry.pins.saturating_sub(1);
        entry.node.counts().pins.fetch_sub(1, Ordering::Relaxed);
        if has {
            entry.balance = entry.balance.saturating_add(1);
        }
        if entry.is_over() {
            // The other side may have given back the reference before the answer of the call was
            // read, since both ways are independent.
            return self.remove(number);
        }
        None
    }

    /// Records that the other side has dropped `times` arrivals. Ignored if it was never given that
    /// many references.
    pub(crate) fn clean(&mut self, number: u32, times: u64) -> Option<Lost> {
        // Such a peer is broken or hostile. Without the check it could make the balance so low that
        // later gifts would not make up for it.
        if times > self.count {
            return None;
        }
        let entry = self.objects.get_mut(&number)?;
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        entry.balance = entry.balance.saturating_sub(times);
        if entry.is_over() {
            return self.remove(number);
        }
        None
    }

    fn remove(&mut self, number: u32) -> Option<Lost> {
        let entry = self.objects.remove(&number)?;
        // Before the node is dropped by the caller: a thread that calls the object by a remembered
        // handle must not find it once the peer has given it back.
        changed();
        self.numbers.remove(&(Arc::as_ptr(&entry.node) as usize));
        if entry.leased {
            self.leased = self.leased.saturating_sub(1);
        }
        Some(Lost {
            leased: entry.leased,
            node: entry.node,
        })
    }

    /// Removes the references whose lease has expired. Objects that were looked up and references
    /// in flight stay.
    pub(crate) fn expire(&mut self) -> Vec<Lost> {
        let due: Vec<u32> = self
            .objects
            .iter()
            // The lease does not cover references of calls in flight: their holder does not know
            // yet that it has them, so it could not renew.
            .filter(|(_, entry)| entry.leased && entry.pins == 0)
            .map(|(number, _)| *number)
            .collect();
        let lost = due.into_iter().filter_map(|number| self.expire_one(number));
        lost.collect()
    }

    fn expire_one(&mut self, number: u32) -> Option<Lost> {
        let entry = self.objects.get_mut(&number)?;
        // The lookup has no lease. The other side keeps the object by its name, and only the
        // reference that came beside it expires.
        if !entry.named {
            return self.remove(number);
        }
        entry.leased = false;
        self.leased = self.leased.saturating_sub(1);
        Some(Lost {
            node: entry.node.clone(),
            leased: true,
        })
    }

    /// Removes everything, because the connection has ended.
    pub(crate) fn clear(&mut self) -> (Vec<Lost>, Vec<Arc<Import>>) {
        let all: Vec<u32> = self.objects.keys().copied().collect();
        for entry in self.objects.values() {
            // The answers of these calls will find no entry, so the pins are taken back here.
            let pins = usize::try_from(entry.pins).unwrap_or(0);
            entry.node.counts().pins.fetch_sub(pins, Ordering::Relaxed);
        }
        let lost = all.into_iter().filter_map(|number| self.remove(number));
        let lost = lost.collect();
        (lost, self.home.drain().map(|(_, import)| import).collect())
    }

    /// Keeps a reference that returns to its owner in an answer, until the owner has received it.
    /// Returns the number of the entry, or `None` if the limit is reached.
    pub(crate) fn keep(&mut self, import: Arc<Import>, most: usize) -> Option<u64> {
        if self.home.len() >= most {
            return None;
        }
        // The number is that of the entry, too. It grows with each gift, so it is never used twice.
        self.count = self.count.saturating_add(1);
        self.home.insert(self.count, import);
        Some(self.count)
    }

    /// Removes the entry of a returned reference that its owner has received.
    pub(crate) fn kept(&mut self, by: u64) -> Option<Arc<Import>> {
        self.home.remove(&by)
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests;
