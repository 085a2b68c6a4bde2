//! The short way of an answer: from its connection to who waits for it, where that one alone receives there.

use std::sync::Arc;

use super::{Core, SLICE};
use crate::active::link::{Asked, Link};
use crate::active::turn;
use crate::device::deadline::Deadline;
use crate::endpoint::Message;

/// What came of waiting for an answer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::active) enum Directly {
    /// It has come.
    Answered,
    /// It is to be waited for as ever.
    Else,
    /// The same, and nothing has come for a while.
    Slept,
}

impl Core {
    /// Receives the next message of a connection, for `message`, if that is served alone here, by this thread alone, and
    /// nothing else is to be done before. One that is not the answer that was `asked` for is seen to.
    #[inline]
    pub(in crate::active) fn receive_answer(
        &self,
        link: &Arc<Link>,
        asked: &Asked,
        until: Deadline,
        message: &mut Message,
    ) -> Directly {
        // That may drop what the program keeps.
        if !turn::is_free() {
            return Directly::Else;
        }
        // What others receive they note before they leave the role: so that is looked at behind it.
        let Some(mut driving) = self.try_drive(None) else {
            return Directly::Else;
        };
        let has_news = link.answers() != asked.answers || link.starves() || self.has_more();
        if has_news || !self.has_only(link) || link.is_posted() {
            return Directly::Else;
        }
        let shared = link.endpoint().shared();
        if !shared.has_more() {
            turn::flush();
            shared.flush_before_look();
        }
        let mut more = None;
        if !shared.receive_within(message, &mut more, SLICE, until) {
            return Directly::Slept;
        }
        if more.is_none() && link.take_reply(&message.header, asked.number) {
            return Directly::Answered;
        }
        let (link, handlers) = (link.clone(), link.handlers());
        self.received(link, handlers, (message, &mut more), &mut driving);
        Directly::Else
    }
}
