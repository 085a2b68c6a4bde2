//! Withdrawal of messages between threads before a receive has them.

use super::inbox::Inbox;
use super::letter::{Ack, Letter};
use super::node::{Link, Node};
use super::work_queue::DeferredWork;
use jstream_endpoint::ops::OpId;

impl Node {
    /// Withdraws a message that is queued at a rank of this process. A message that was matched or
    /// probed is left to end regularly.
    pub(super) fn take_back(&self, id: OpId) {
        let sends = {
            let state = self.inbox.lock();
            state.requests.get(id).and_then(|request| request.sends)
        };
        let Some(sends) = sends.filter(|sends| sends.offer.is_none()) else {
            return;
        };
        let Ok(Link::Thread(near)) = self.link(sends.to) else {
            return;
        };
        // Called without a lock, because cancelling locks the inbox of this rank.
        match near.inbox.remove_letter(self.inbox.rank, id) {
            Some(Letter::Lent { bytes, sender, .. }) => {
                drop(bytes);
                sender.cancel(None);
            }
            Some(Letter::Here {
                payload,
                ack: Ack::Thread(sender) | Ack::Admitted(sender),
            }) => sender.cancel(Some(payload)),
            _ => {}
        }
    }
}

impl Inbox {
    fn remove_letter(&self, source: u32, request: OpId) -> Option<Letter> {
        let mut deferred = DeferredWork::default();
        let mut state = self.lock();
        let is_it = |letter: &Letter| letter.is_of(request);
        let letter = match state.matcher.search(source, is_it) {
            Some(id) => state.matcher.withdraw(id),
            None => {
                let peer = state.peer(source)?;
                let mut backlog = peer.backlog.iter();
                let place = backlog.position(|(_, letter)| is_it(letter))?;
                let removed = peer.backlog.remove(place);
                if place == 0 {
                    // The messages behind it in the backlog waited for the room that it needed.
                    state.matcher.is_kept_no_more(source);
                    state.let_in_from(source, &mut deferred);
                }
                removed.map(|(_, letter)| letter)
            }
        };
        // Other sources may have room now.
        state.let_in(&mut deferred);
        drop(state);
        self.carry_out(deferred, |_| {});
        letter
    }
}
