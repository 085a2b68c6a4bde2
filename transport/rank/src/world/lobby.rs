//! Lobby for members that have joined while others are still missing.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::error::{Refusal, WorldError};
use super::roster::Roster;
use super::words::Ask;
use jstream_base::{Address, RecvError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;

/// Interval at which a waiting thread checks for a reason to give up.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Callback that returns an error if there is a reason to give up.
pub(super) type Check<'c> = &'c mut dyn FnMut() -> Result<(), WorldError>;

/// A member that has joined.
pub(super) struct Guest {
    /// The connection over which the member joined, if it is a child of this rank in the tree.
    /// Other members wait for a connection of their parent, so their number is not limited by the
    /// number of descriptors.
    pub(super) endpoint: Option<Endpoint>,
    /// The listening addresses of the member.
    pub(super) addresses: Vec<Address>,
}

impl Guest {
    /// Returns false if the connection of the member has ended. Members send nothing before the
    /// world is complete.
    fn lives(&self) -> bool {
        self.endpoint.as_ref().is_none_or(|endpoint| {
            matches!(
                endpoint.recv_message_within(Duration::ZERO),
                Err(RecvError::Empty | RecvError::NoBuffer { .. })
            )
        })
    }
}

/// The roster of members, shared by threads.
pub(super) struct Lobby {
    state: Mutex<LobbyState>,
    changed: Condvar,
}

struct LobbyState {
    roll: Roster<Guest>,
    /// The last refused or lost member, for error messages.
    note: Option<String>,
}

impl Lobby {
    pub(super) fn new(roll: Roster<Guest>) -> Self {
        Self {
            state: Mutex::new(LobbyState { roll, note: None }),
            changed: Condvar::new(),
        }
    }

    /// Reserves the place that a member asks for.
    pub(super) fn reserve(self: &Arc<Self>, ask: &Ask) -> Result<ReservedPlace, Refusal> {
        let mut state = self.lock();
        match state.roll.reserve(ask, Guest::lives) {
            Ok(rank) => Ok(ReservedPlace {
                hall: Some(self.clone()),
                rank,
            }),
            Err(refusal) => {
                state.note = Some(format!(
                    "a member that asked for rank {} was refused: {refusal}",
                    ask.rank
                ));
                Err(refusal)
            }
        }
    }

    /// Records a failed attempt to join, to be included in the error if members are missing.
    pub(super) fn record_failure(&self, note: String) {
        self.lock().note = Some(note);
    }

    pub(super) fn noted(&self) -> Option<String> {
        self.lock().note.clone()
    }

    /// Waits until all members have joined. Returns false if the deadline passes.
    pub(super) fn wait(&self, until: Deadline, check: Check<'_>) -> Result<bool, WorldError> {
        let mut state = self.lock();
        loop {
            if state.roll.is_complete() {
                // A member may have ended while others were still missing. Its place is free for
                // another process then.
                match state.roll.sweep(Guest::lives) {
                    None => return Ok(true),
                    Some(gone) => state.note = Some(format!("rank {gone} joined and was lost")),
                }
            }
            if until.has_passed() {
                return Ok(false);
            }
            // The check is about things that wake nobody, such as the end of a process.
            let look = until.left().map_or(LOOK, |left| left.min(LOOK));
            let waited = self.changed.wait_timeout(state, look);
            drop(jstream_sync::unpoisoned(waited));
            // The lock is released, because the check may be slow.
            check()?;
            state = self.lock();
        }
    }

    pub(super) fn missing(&self) -> Vec<u32> {
        self.lock().roll.missing()
    }

    /// Closes the roster and returns the members that have joined.
    pub(super) fn close(&self) -> Vec<(u32, Guest)> {
        self.lock().roll.close()
    }

    /// Locks the state. The state is valid between statements, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, LobbyState> {
        jstream_sync::lock(&self.state)
    }
}

/// A reserved place. If this is dropped before the member has joined, the place is free again.
pub(super) struct ReservedPlace {
    /// `None` once the member has joined. The place may then be reserved for another member.
    hall: Option<Arc<Lobby>>,
    rank: u32,
}

impl ReservedPlace {
    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Records that the member has joined.
    pub(super) fn admit(mut self, member: Guest) {
        if let Some(hall) = self.hall.take() {
            // The place was reserved since the member asked, so it cannot have been given to
            // another one.
            hall.lock().roll.add(self.rank, member);
            hall.changed.notify_all();
        }
    }
}

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        if let Some(hall) = &self.hall {
            hall.lock().roll.release(self.rank);
        }
    }
}
