//! The connections of a rank to its children in the tree, while the world is joined.
//!
//! Decision 068 has the reasons.

use super::ending::farewell;
use super::error::WorldError;
use super::limits::GOODBYE;
use super::lobby::{Check, LOOK};
use super::options::WorldOptions;
use super::words::Word;
use jstream_base::Address;
use jstream_base::events::emit;
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Completion, CompletionQueue, Endpoint, Outcome, Unreceived};
use tracing::Level;

/// The children of a rank in the tree.
pub(super) struct Branch<'b> {
    pub(super) children: Vec<(u32, Endpoint)>,
    pub(super) options: &'b WorldOptions,
    pub(super) until: Deadline,
}

impl Branch<'_> {
    /// Sends the table of addresses to the children, and waits until all ranks below have it. A
    /// slow child does not delay the others.
    pub(super) fn spread(
        &self,
        table: &[Vec<Address>],
        check: Check<'_>,
    ) -> Result<(), WorldError> {
        if self.children.is_empty() {
            return Ok(());
        }
        let queue = CompletionQueue::new()?;
        let (header, table) = Word::Table(table.to_vec()).to_message();
        let pool = &self.options.transport.pool;
        for (rank, endpoint) in &self.children {
            let lost = |reason| WorldError::Lost {
                rank: *rank,
                reason,
            };
            let empty = pool.take(table.len());
            let empty = empty.map_err(|error| lost(error.to_string()))?;
            let filled = empty.copy_from(&table);
            let filled =
                filled.map_err(|_| lost("the pool has no room for its table".to_owned()))?;
            queue.post_send(endpoint, u64::from(*rank), header, filled);
            // Posted before the answer can come: a child that fails says so at once.
            queue.post_recv(endpoint, u64::from(*rank), None);
        }
        let mut waiting = self.children.len();
        while waiting > 0 {
            let left = self.until.left().map_or(LOOK, |left| left.min(LOOK));
            match queue.wait(left) {
                Some(completion) => {
                    if is_ready(completion)? {
                        waiting = waiting.saturating_sub(1);
                    }
                }
                None if self.until.has_passed() => {
                    return Err(WorldError::TimedOut {
                        after: self.options.timeout,
                        what: format!("{waiting} ranks did not get ready"),
                    });
                }
                // Meanwhile a process may have ended, or the parent may have told of a failure.
                None => check()?,
            }
        }
        Ok(())
    }

    /// Tells the children that the world is complete.
    pub(super) fn release(&self) {
        for (rank, endpoint) in &self.children {
            // A child that is gone is a rank of the world that has ended.
            if let Err(error) = Word::Go.send(endpoint) {
                let rank = *rank;
                emit(Level::DEBUG, move || {
                    tracing::debug!(rank, %error, "can't tell a rank that the world is complete");
                });
            }
        }
    }

    /// Notifies the children that the world can't be created. `own` is this rank.
    pub(super) fn report_failure(&self, own: u32, error: &WorldError) {
        let failed = failure(own, error);
        for (rank, endpoint) in &self.children {
            if let Err(error) = failed.try_say(endpoint) {
                let rank = *rank;
                emit(Level::DEBUG, move || {
                    tracing::debug!(rank, %error, "can't notify a member that the world failed");
                });
            }
        }
        // The world has failed anyway. The farewell only lets the children read the reason.
        let _ = farewell(self.children.clone(), Deadline::after(GOODBYE));
    }
}

/// Returns the notice that the world can't be created, because of an error at rank `own`.
pub(super) fn failure(own: u32, error: &WorldError) -> Word {
    match error {
        WorldError::Failed { rank, reason } => Word::Failed(*rank, reason.clone()),
        error => Word::Failed(own, error.to_string()),
    }
}

/// Returns true if the completion is the notice of a child that all ranks below have the table.
fn is_ready(completion: Completion) -> Result<bool, WorldError> {
    let rank = u32::try_from(completion.user).unwrap_or(u32::MAX);
    let lost = |reason: String| WorldError::Lost { rank, reason };
    match completion.outcome {
        Outcome::Sent(Err(unsent)) => Err(lost(unsent.to_string())),
        Outcome::Received(Err(Unreceived { error, .. })) => Err(lost(error.to_string())),
        Outcome::Received(Ok(message)) => {
            match Word::from_message(&message.header, message.payload.as_bytes()) {
                Ok(Word::Ready) => Ok(true),
                Ok(Word::Failed(rank, reason)) => Err(WorldError::Failed { rank, reason }),
                Ok(_) => Err(WorldError::Nonsense {
                    rank,
                    reason: "it sent an unexpected message".to_owned(),
                }),
                Err(reason) => Err(WorldError::Nonsense { rank, reason }),
            }
        }
        _ => Ok(false),
    }
}
