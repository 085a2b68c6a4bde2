//! Where those are who have come, while others are waited for.

use std::mem::ManuallyDrop;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{Refusal, WorldError};
use super::roll::Roll;
use super::words::Ask;
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::error::RecvError;

/// How often who waits looks whether there is a reason to give up.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Gives a reason to give up, where there is one.
pub(super) type Check<'c> = &'c mut dyn FnMut() -> Result<(), WorldError>;

/// One who has come.
pub(super) trait Member {
    fn endpoint(&self) -> &Endpoint;

    /// Whether it is still there. Nobody has anything to say before there is a world.
    fn lives(&self) -> bool {
        matches!(
            self.endpoint().try_recv_message(),
            Err(RecvError::Empty | RecvError::NoBuffer { .. })
        )
    }
}

impl Member for Endpoint {
    fn endpoint(&self) -> &Endpoint {
        self
    }
}

/// A roll that threads share.
pub(super) struct Hall<M> {
    state: Mutex<State<M>>,
    changed: Condvar,
}

struct State<M> {
    roll: Roll<M>,
    /// Who was refused last, or went away again.
    note: Option<String>,
}

impl<M: Member> Hall<M> {
    pub(super) fn new(roll: Roll<M>) -> Self {
        Self {
            state: Mutex::new(State { roll, note: None }),
            changed: Condvar::new(),
        }
    }

    /// Keeps a place for one who asks.
    pub(super) fn reserve(&self, ask: &Ask) -> Result<Place<'_, M>, Refusal> {
        let mut state = self.lock();
        match state.roll.reserve(ask, M::lives) {
            Ok(rank) => Ok(Place { hall: self, rank }),
            Err(refusal) => {
                state.note = Some(format!(
                    "one who asked for rank {} was refused: {refusal}",
                    ask.rank
                ));
                Err(refusal)
            }
        }
    }

    /// Notes what became of one who came, for who asks why others are missing.
    pub(super) fn note(&self, note: String) {
        self.lock().note = Some(note);
    }

    pub(super) fn noted(&self) -> Option<String> {
        self.lock().note.clone()
    }

    /// Waits until all are there and live. False when the time is over.
    pub(super) fn wait(&self, until: Deadline, check: Check<'_>) -> Result<bool, WorldError> {
        let mut state = self.lock();
        loop {
            if state.roll.is_complete() {
                match state.roll.sweep(M::lives) {
                    None => return Ok(true),
                    Some(gone) => state.note = Some(format!("rank {gone} came, and went away")),
                }
            }
            if until.has_passed() {
                return Ok(false);
            }
            let look = until.left().map_or(LOOK, |left| left.min(LOOK));
            let waited = self.changed.wait_timeout(state, look);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            // What it asks may be slow.
            check()?;
            state = self.lock();
        }
    }

    pub(super) fn missing(&self) -> Vec<u32> {
        self.lock().roll.missing()
    }

    /// All who are there.
    pub(super) fn close(&self) -> Vec<(u32, M)> {
        self.lock().roll.close()
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is kept for one; it is free again when this is dropped before.
pub(super) struct Place<'h, M: Member> {
    hall: &'h Hall<M>,
    rank: u32,
}

impl<M: Member> Place<'_, M> {
    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// It came.
    pub(super) fn take(self, member: M) {
        // The place is not given back: it may be another one's soon.
        let place = ManuallyDrop::new(self);
        place.hall.lock().roll.take(place.rank, member);
        place.hall.changed.notify_all();
    }
}

impl<M: Member> Drop for Place<'_, M> {
    fn drop(&mut self) {
        self.hall.lock().roll.release(self.rank);
    }
}
