//! The rules that every run must obey.

use std::collections::HashMap;

use super::book::Lane;
use super::plan::Wants;

/// A message that was sent to a rank.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) source: u32,
    pub(super) lane: Lane,
    /// The position among the messages of the thread.
    pub(super) order: usize,
    pub(super) to: u32,
    pub(super) tag: u64,
    pub(super) class: usize,
    pub(super) withdrawn: bool,
    /// True if the send was reported as completed.
    pub(super) sent: bool,
}

/// A receive that has ended. Times are those of its thread.
#[derive(Debug, Clone)]
pub(super) struct Receive {
    pub(super) rank: u32,
    pub(super) lane: Lane,
    pub(super) wants: Wants,
    pub(super) posted: usize,
    pub(super) ended: usize,
    pub(super) got: Option<usize>,
    /// True if the receive failed because no possible sender was left.
    pub(super) in_vain: bool,
}

/// A message that other threads could not receive for a time, because a probe or an expired receive
/// held it.
#[derive(Debug, Clone)]
pub(super) struct Hidden {
    pub(super) id: usize,
    pub(super) rank: u32,
    pub(super) lane: Lane,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The complete record of a run.
pub(super) struct Rules {
    pub(super) victim: Option<u32>,
    pub(super) resets: bool,
    pub(super) messages: HashMap<usize, Message>,
    pub(super) receives: Vec<Receive>,
    pub(super) hidden: Vec<Hidden>,
}

impl Rules {
    pub(super) fn check(&self, faults: &mut Vec<String>) {
        let mut taken: HashMap<usize, &Receive> = HashMap::new();
        for receive in &self.receives {
            let Some(id) = receive.got else {
                continue;
            };
            let Some(message) = self.messages.get(&id) else {
                faults.push(format!("message {id} was not sent: {receive:?}"));
                continue;
            };
            if let Some(other) = taken.insert(id, receive) {
                faults.push(format!(
                    "message {id} was received twice: {receive:?}, {other:?}"
                ));
            }
            if message.withdrawn {
                faults.push(format!(
                    "message {id} was received after its cancellation: {receive:?}"
                ));
            }
            let is_wanted = receive.wants.matches(message.source, message.tag);
            if !is_wanted || receive.rank != message.to {
                faults.push(format!("{receive:?} does not match {message:?}"));
            }
        }
        for (id, message) in &self.messages {
            if !message.withdrawn && !taken.contains_key(id) && self.is_due(message) {
                faults.push(format!("message {id} is lost: {message:?}"));
            }
        }
        for receive in &self.receives {
            let got = receive
                .got
                .and_then(|id| Some((id, self.messages.get(&id)?)));
            if let Some((id, message)) = got {
                self.check_order(receive, id, message, &taken, faults);
            }
        }
    }

    fn is_due(&self, message: &Message) -> bool {
        let Some(victim) = self.victim else {
            return true;
        };
        message.to != victim && (message.source != victim || message.sent && !self.resets)
    }

    /// Checks that no earlier message matched this receive, and no earlier receive matched this
    /// message.
    fn check_order(
        &self,
        receive: &Receive,
        id: usize,
        message: &Message,
        taken: &HashMap<usize, &Receive>,
        faults: &mut Vec<String>,
    ) {
        for (earlier, before) in &self.messages {
            let overtaken = (before.lane, before.to) == (message.lane, message.to)
                && before.order < message.order
                && !before.withdrawn
                && receive.wants.matches(before.source, before.tag);
            if !overtaken {
                continue;
            }
            let excused = match taken.get(earlier) {
                Some(by) => by.lane != receive.lane || by.posted < receive.posted,
                None => self
                    .victim
                    .is_some_and(|rank| rank == before.source || rank == before.to),
            };
            if !excused && !self.was_hidden(*earlier, receive) {
                let by = taken.get(earlier);
                faults.push(format!(
                    "{receive:?} got {id}, but {earlier} was first: {by:?}"
                ));
            }
        }
        for before in &self.receives {
            let waited = before.lane == receive.lane
                && before.posted < receive.posted
                && receive.ended < before.ended
                && before.got.is_none()
                && !before.in_vain;
            if waited && before.wants.matches(message.source, message.tag) {
                faults.push(format!("{receive:?} got {id}, but {before:?} was first"));
            }
        }
    }

    fn was_hidden(&self, id: usize, receive: &Receive) -> bool {
        let mut hidden = self.hidden.iter();
        hidden.any(|hidden| {
            hidden.id == id
                && hidden.rank == receive.rank
                && (hidden.lane != receive.lane
                    || (hidden.from < receive.posted && receive.posted < hidden.to))
        })
    }
}
