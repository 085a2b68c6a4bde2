//! What of a thread's jbufs the system may be reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use io_uring::cqueue;

use crate::device::stream::lent::Lent;

/// How many loans a thread has out, at most; what is beyond is copied. Answers the threat of peers
/// that take nothing, for whom jbufs would be kept without end.
pub(super) const MOST: usize = 64;

/// After how many loans in a row that the system has copied no more are made: the peer is on this host
/// after all, or the network can't do without.
const COPIED: u32 = 8;

/// In a notification: the system has copied what it was lent (`IORING_NOTIF_USAGE_ZC_COPIED`).
const WAS_COPIED: i32 = i32::MIN;

/// What the loans of one socket came to.
#[derive(Default)]
pub(super) struct Account {
    out: AtomicU32,
    /// How many in a row the system has copied.
    copied: AtomicU32,
    closed: AtomicBool,
    /// It stays open whatever the system copies.
    insists: bool,
}

impl Account {
    pub(super) fn new(insists: bool) -> Self {
        Self {
            insists,
            ..Self::default()
        }
    }

    /// Whether more may be lent.
    pub(super) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Relaxed)
    }

    /// Nothing more is lent. Whether it was open before.
    pub(super) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::Relaxed)
    }

    #[inline]
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
            tracing::debug!("jbufs are copied when they are sent, as the system does it anyway");
        }
    }
}

/// A part of a jbuf that the system was given.
struct Loan {
    lent: Lent,
    account: Arc<Account>,
    /// What the call came to, until somebody has asked.
    result: Option<i32>,
    /// Nobody has asked yet.
    asked_for: bool,
    /// The system has not said that it reads it no more.
    out: bool,
}

/// The loans of one ring, by their numbers.
///
/// Invariant: a `Lent` of which the system may be reading stands in `places`.
pub(super) struct Loans {
    places: Vec<Option<Loan>>,
    /// What the system has let go of. It is dropped without the lock.
    pub(super) back: Vec<Lent>,
}

impl Loans {
    pub(super) fn new() -> Self {
        Self {
            places: Vec::with_capacity(MOST),
            back: Vec::with_capacity(MOST),
        }
    }

    /// Whether the system reads nothing any more.
    pub(super) fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// Makes room for a loan. Its number; none when too many are out.
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

    /// Notes what the system says of a loan.
    pub(super) fn note(&mut self, number: u64, result: i32, flags: u32) {
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
        self.settle(number);
    }

    /// What the call of a loan came to, if the system has said so. It is told once.
    pub(super) fn result(&mut self, number: usize) -> Option<i32> {
        let loan = self.places.get_mut(number)?.as_mut()?;
        let result = loan.result.take()?;
        loan.asked_for = false;
        self.settle(number);
        Some(result)
    }

    /// Ends a loan of which everything is known.
    fn settle(&mut self, number: usize) {
        if let Some(place) = self.places.get_mut(number) {
            let over = place.as_ref().is_some_and(|it| !it.out && !it.asked_for);
            if let Some(loan) = place.take_if(|_| over) {
                self.back.push(loan.lent);
            }
        }
    }

    /// Keeps for ever what the system may still read.
    pub(super) fn leak(&mut self) {
        for loan in self.places.drain(..).flatten() {
            std::mem::forget(loan.lent);
        }
    }
}
