//! Buffers that the kernel may be reading.
//!
//! Decision 042 has the reasons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use io_uring::cqueue;
use jstream_base::events::emit;
use tracing::Level;

use crate::stream::lent::Lent;

/// Maximum number of outstanding loans of a thread. Further data is copied. The limit protects
/// against peers that read nothing, for which buffers would be kept indefinitely.
pub(super) const MOST: usize = 64;

/// Number of consecutive loans that the kernel has copied after which no more are made. In this
/// case the peer is on this host after all, or the network device does not support zero-copy sends.
const COPIED: u32 = 8;

/// Result of a notification: the kernel has copied the data (`IORING_NOTIF_USAGE_ZC_COPIED`).
const WAS_COPIED: i32 = i32::MIN;

/// Statistics of the loans of one socket.
#[derive(Default)]
pub(super) struct Account {
    out: AtomicU32,
    /// Number of consecutive loans that the kernel has copied.
    copied: AtomicU32,
    closed: AtomicBool,
    /// True if the account stays open even if the kernel copies.
    insists: bool,
}

impl Account {
    pub(super) fn new(insists: bool) -> Self {
        Self {
            insists,
            ..Self::default()
        }
    }

    /// Returns true if buffers may be lent.
    pub(super) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Relaxed)
    }

    /// Stops lending. Returns true if the account was open before.
    pub(super) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::Relaxed)
    }

    pub(super) fn has_some_out(&self) -> bool {
        self.out.load(Ordering::Relaxed) > 0
    }

    fn note_back(&self, copied: bool) {
        self.out.fetch_sub(1, Ordering::Relaxed);
        if !copied {
            self.copied.store(0, Ordering::Relaxed);
            return;
        }
        let before = self.copied.fetch_add(1, Ordering::Relaxed);
        if !self.insists && before.saturating_add(1) >= COPIED && self.close() {
            emit(Level::DEBUG, || {
                tracing::debug!(
                    "no more zero-copy sends, because the kernel copies the data anyway"
                );
            });
        }
    }
}

/// A part of a buffer that the kernel was given.
struct Loan {
    lent: Lent,
    account: Arc<Account>,
    /// The result of the send, until the sender has collected it.
    result: Option<i32>,
    /// True until the sender has collected the result.
    asked_for: bool,
    /// True until the kernel has reported that it does not read the memory any more.
    out: bool,
}

/// The loans of one ring, indexed by their numbers.
///
/// Invariant: a `Lent` that the kernel may be reading is in `places`.
pub(super) struct Loans {
    places: Vec<Option<Loan>>,
    /// Buffers that the kernel has released. They are dropped without the lock.
    pub(super) back: Vec<Lent>,
}

impl Loans {
    pub(super) fn new() -> Self {
        Self {
            places: Vec::with_capacity(MOST),
            back: Vec::with_capacity(MOST),
        }
    }

    /// Returns true if the kernel does not read any buffer.
    pub(super) fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// Adds a loan and returns its number, or `None` if too many are outstanding.
    pub(super) fn begin(&mut self, lent: Lent, account: Arc<Account>) -> Option<usize> {
        let free = self.places.iter().position(Option::is_none);
        let number = match free {
            Some(number) => number,
            None if self.places.len() < MOST => {
                self.places.push(None);
                self.places.len().checked_sub(1)?
            }
            None => return None,
        };
        account.out.fetch_add(1, Ordering::Relaxed);
        *self.places.get_mut(number)? = Some(Loan {
            lent,
            account,
            result: None,
            asked_for: true,
            out: true,
        });
        Some(number)
    }

    /// Processes a completion of a loan.
    pub(super) fn complete(&mut self, number: u64, result: i32, flags: u32) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(Some(loan)) = self.places.get_mut(number) else {
            return;
        };
        if !cqueue::notif(flags) {
            loan.result = Some(result);
        }
        if loan.out && !cqueue::more(flags) {
            loan.out = false;
            let copied = cqueue::notif(flags) && result & WAS_COPIED != 0;
            loan.account.note_back(copied);
        }
        self.remove_if_done(number);
    }

    /// Returns the result of the send of a loan, if the kernel has reported it. Returns it only
    /// once.
    pub(super) fn result(&mut self, number: usize) -> Option<i32> {
        let loan = self.places.get_mut(number)?.as_mut()?;
        let result = loan.result.take()?;
        loan.asked_for = false;
        self.remove_if_done(number);
        Some(result)
    }

    /// Removes a loan if it is complete.
    fn remove_if_done(&mut self, number: usize) {
        if let Some(place) = self.places.get_mut(number) {
            let over = place.as_ref().is_some_and(|it| !it.out && !it.asked_for);
            if let Some(loan) = place.take_if(|_| over) {
                self.back.push(loan.lent);
            }
        }
    }

    /// Leaks the buffers that the kernel may still read.
    pub(super) fn leak(&mut self) {
        for loan in self.places.drain(..).flatten() {
            std::mem::forget(loan.lent);
        }
    }
}
