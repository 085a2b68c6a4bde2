//! A chat room and its members.

use std::sync::{Mutex, PoisonError};

use jstream_rmi::{Remote, remote};

/// A member of a room, in the member's own process.
#[remote]
pub(crate) trait Member {
    fn heard(&self, from: &str, what: &str);
}

#[remote]
pub(crate) trait Room {
    /// Adds a member. Returns the number of members.
    fn join(&self, name: &str, who: Remote<dyn Member>) -> u64;

    /// Sends a message to all other members. Returns the number of members that have received it.
    fn say(&self, who: Remote<dyn Member>, what: &str) -> u64;

    /// Returns the number of members.
    fn members(&self) -> u64;
}

#[derive(Default)]
pub(crate) struct Lobby(Mutex<Vec<(String, Remote<dyn Member>)>>);

impl Lobby {
    /// Calls `visit` with the list of members. The list is valid between any two statements, so a
    /// poisoned lock is usable.
    fn with<R>(&self, visit: impl FnOnce(&mut Vec<(String, Remote<dyn Member>)>) -> R) -> R {
        visit(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Room for Lobby {
    fn join(&self, name: &str, who: Remote<dyn Member>) -> u64 {
        self.with(|members| {
            members.push((name.to_owned(), who));
            members.len() as u64
        })
    }

    fn say(&self, who: Remote<dyn Member>, what: &str) -> u64 {
        let members = self.with(|members| members.clone());
        let Some((from, _)) = members.iter().find(|(_, member)| *member == who) else {
            return 0;
        };
        let others = members.iter().filter(|(_, member)| *member != who);
        let heard = others.filter(|(_, member)| {
            let hears = member.heard(from, what).wait().is_ok();
            if !hears {
                // The process of this member has ended.
                self.with(|members| members.retain(|(_, other)| other != member));
            }
            hears
        });
        heard.count() as u64
    }

    fn members(&self) -> u64 {
        self.with(|members| members.len() as u64)
    }
}
