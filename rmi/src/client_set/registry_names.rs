//! The servers whose names in a registry begin with a prefix, as members of a set.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::{fmt, io};

use jstream_base::Address;

use crate::client_set::source::{ListedMember, MemberSource};
use crate::directory::{Changes, DirectoryError, Event, Names};

/// Maximum number of names that are kept of a registry.
const MOST_NAMES: usize = 1024;

/// Maximum number of servers that are kept of a name.
const MOST_SERVERS: usize = 256;

/// Maximum number of changes that are handled at once, so that a registry that sends changes all
/// the time does not occupy the thread.
const MOST_CHANGES: usize = 16 << 10;

/// The servers whose names in a registry begin with a prefix. The registry is watched, so that
/// changes take effect at once.
///
/// Each server binds a name of its own, such as `orders/1`, at the registry, or all of them
/// [share](crate::directory::Names::bind_shared) a name. The objects are
/// looked up at each server by the name that [`ClientSet::get`](crate::ClientSet::get) gets.
pub struct RegistryNames {
    names: Names,
    prefix: String,
    watched: Mutex<Watched>,
}

struct Watched {
    changes: Option<Changes>,
    /// True if all names that were bound at the beginning have arrived.
    is_complete: bool,
    /// The addresses of the servers of each name, once they are known.
    bound: BTreeMap<String, Option<Vec<Vec<Address>>>>,
}

impl RegistryNames {
    /// Watches a registry.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Thread`] if no thread can be started.
    pub fn watch(names: &Names, prefix: &str) -> Result<Self, DirectoryError> {
        let changes = names.watch()?;
        Ok(Self {
            names: names.clone(),
            prefix: prefix.to_owned(),
            watched: Mutex::new(Watched {
                changes: Some(changes),
                is_complete: false,
                bound: BTreeMap::new(),
            }),
        })
    }
}

impl Watched {
    /// Returns true if a name is that of a member, and there is room for it.
    fn keeps(&self, name: &str, prefix: &str) -> bool {
        name.starts_with(prefix) && (self.bound.len() < MOST_NAMES || self.bound.contains_key(name))
    }

    /// Handles the changes that have arrived. Each name that was bound again has to be looked
    /// up again.
    fn advance(&mut self, names: &Names, prefix: &str, changed: &Waker) -> io::Result<()> {
        let mut context = Context::from_waker(changed);
        for _ in 0..MOST_CHANGES {
            let changes = match &mut self.changes {
                Some(changes) => changes,
                None => {
                    let watched = names.watch().map_err(io::Error::other)?;
                    // The new watch lists all names again.
                    self.bound.clear();
                    self.is_complete = false;
                    self.changes.insert(watched)
                }
            };
            let change = match changes.poll_next(&mut context) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Some(Ok(change))) => change,
                // The next call watches again.
                Poll::Ready(ended) => {
                    self.changes = None;
                    let reason = ended.and_then(Result::err);
                    return Err(match reason {
                        Some(error) => io::Error::other(error),
                        None => io::Error::other("the registry has ended the watch"),
                    });
                }
            };
            match change.event {
                Event::Bound if self.keeps(&change.name, prefix) => {
                    // The servers are asked for when all changes that have arrived are known.
                    self.bound.insert(change.name, None);
                }
                Event::Unbound => {
                    self.bound.remove(&change.name);
                }
                Event::Complete => self.is_complete = true,
                _ => {}
            }
        }
        // There may be more. The set asks again after a pause.
        changed.wake_by_ref();
        Ok(())
    }
}

impl MemberSource for RegistryNames {
    fn address(&self) -> &Address {
        self.names.address()
    }

    fn members(&self, changed: &Waker) -> io::Result<Vec<ListedMember>> {
        // Only the thread of the set that asks for the members takes this lock.
        // It is held while the registry is asked, so callbacks are not deferred.
        let mut watched = jstream_sync::lock(&self.watched);
        watched.advance(&self.names, &self.prefix, changed)?;
        if !watched.is_complete {
            return Err(io::Error::other(
                "the names of the registry are not known yet",
            ));
        }
        for (name, servers) in &mut watched.bound {
            if servers.is_none() {
                let found = self.names.addresses(name, MOST_SERVERS);
                *servers = Some(found.map_err(io::Error::other)?);
            }
        }
        let known = watched.bound.values().flatten().flatten();
        let known = known
            .filter(|all| !all.is_empty())
            .take(MOST_NAMES)
            .cloned();
        Ok(known.map(ListedMember::new).collect())
    }
}

impl fmt::Debug for RegistryNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = f.debug_struct("RegistryNames");
        names.field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
