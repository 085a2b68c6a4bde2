//! A room, and who is in it.

use std::sync::{Mutex, PoisonError};

use jstream_rmi::{Remote, remote};

/// Somebody in a room, where they are.
#[remote]
pub(crate) trait Member {
    fn heard(&self, from: &str, what: &str);
}

#[remote]
pub(crate) trait Room {
    /// Comes in: how many there are.
    fn join(&self, name: &str, who: Remote<dyn Member>) -> u64;

    /// Says something to all others: to how many.
    fn say(&self, who: Remote<dyn Member>, what: &str) -> u64;

    /// How many there are.
    fn members(&self) -> u64;
}

#[derive(Default)]
pub(crate) struct Lobby(Mutex<Vec<(String, Remote<dyn Member>)>>);

impl Lobby {
    /// Does something with the list, which is whole between any two statements.
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
                // Its process is gone.
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
