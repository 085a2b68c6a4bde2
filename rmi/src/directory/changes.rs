//! Changes of the names in a registry, reported across its restarts.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::directory::link::{Link, Used};
use crate::directory::protocol::{Change, ChangeRef, Event};
use crate::reference::Stub;
use crate::session::until_ready;
use crate::stream::{Stream, StreamError};
use crate::support::may_block;

/// All names of a registry, followed by their changes. Created by
/// [`Names::watch`](super::Names::watch).
///
/// A blocking iterator. If the connection to the registry is lost, the iterator continues with the
/// next connection and reports the differences: names that are no longer bound, new names, and
/// names that are bound to another interface. The iterator ends after [`Event::Missed`], after an
/// error other than the loss of the connection, and after [`Event::Refused`], if the registry has
/// its maximum number of watchers.
pub struct Changes {
    link: Arc<Link>,
    /// Number of the connection that is or was watched.
    number: u64,
    stream: Option<Stream<Change>>,
    told: Told,
    is_over: bool,
}

impl Changes {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let Used { directory, number } = link.current();
        Self {
            link,
            number,
            // The call of a watch lasts as long as its stream.
            stream: Some(directory.within(Duration::MAX).watch()),
            told: Told::default(),
            is_over: false,
        }
    }

    /// Polls for the next change. Returns `None` at the end.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Change, StreamError>>> {
        while !self.is_over {
            if let Some(change) = self.told.due.pop_front() {
                return Poll::Ready(Some(Ok(change)));
            }
            let Some(stream) = &mut self.stream else {
                match self.link.poll_next(self.number, context.waker()) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Used { directory, number }) => {
                        self.number = number;
                        self.stream = Some(directory.within(Duration::MAX).watch());
                    }
                }
                continue;
            };
            match stream.poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(item))) => self.told.apply(*item.get()),
                Poll::Ready(Some(Err(error))) => {
                    self.stream = None;
                    // Any other error would come again over the same connection.
                    if !self.link.has_ended(self.number) {
                        self.is_over = true;
                        return Poll::Ready(Some(Err(error)));
                    }
                    self.told.restart();
                }
                Poll::Ready(None) => self.is_over = true,
            }
        }
        Poll::Ready(None)
    }

    /// Blocks until the next change, or until the timeout: then it returns `None`.
    pub fn next_timeout(
        &mut self,
        timeout: Duration,
    ) -> Option<Option<Result<Change, StreamError>>> {
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// Blocks until the next change. A background thread serves the connection meanwhile.
    #[track_caller]
    fn wait_until(&mut self, until: Option<Instant>) -> Option<Option<<Self as Iterator>::Item>> {
        may_block("Changes::next");
        until_ready(|| None, until, |context| self.poll_next(context))
    }
}

impl Iterator for Changes {
    type Item = Result<Change, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.wait_until(None).flatten()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changes").field(self.link.address()).finish()
    }
}

/// The reported names, used to find the differences after a lost connection.
#[derive(Default)]
struct Told {
    /// Bound names. The flag is true if the current connection has confirmed the name.
    names: BTreeMap<String, (Bound, bool)>,
    /// True while a new connection lists all names.
    is_again: bool,
    is_complete: bool,
    due: VecDeque<Change>,
}

/// Name and id of an interface.
type Bound = (String, u64);

impl Told {
    /// Starts the list of a new connection.
    fn restart(&mut self) {
        self.is_again = true;
        for (_, is_still) in self.names.values_mut() {
            *is_still = false;
        }
    }

    fn apply(&mut self, change: ChangeRef<'_>) {
        let name = change.name.to_owned();
        let bound = (change.interface.to_owned(), change.id);
        let is_news = match change.event {
            Event::Bound => {
                let before = self.names.insert(name, (bound.clone(), true));
                // The name was reported before the connection was lost.
                let is_known = before.is_some_and(|(was, is_still)| was == bound && !is_still);
                !(self.is_again && is_known)
            }
            Event::Unbound => self.names.remove(&name).is_some(),
            Event::Complete => {
                self.forget();
                !std::mem::replace(&mut self.is_complete, true)
            }
            Event::Missed | Event::Refused => true,
        };
        if is_news {
            self.due.push_back(Change {
                event: change.event,
                name: change.name.to_owned(),
                interface: bound.0,
                id: bound.1,
            });
        }
    }

    /// Reports the names that the new connection has not confirmed as unbound.
    fn forget(&mut self) {
        self.is_again = false;
        let due = &mut self.due;
        self.names.retain(|name, ((interface, id), is_still)| {
            if !*is_still {
                due.push_back(Change {
                    event: Event::Unbound,
                    name: name.clone(),
                    interface: interface.clone(),
                    id: *id,
                });
            }
            *is_still
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    fn take(told: &mut Told, event: Event, name: &str, id: u64) -> Vec<(Event, String)> {
        told.apply(ChangeRef {
            event,
            name,
            interface: "A",
            id,
        });
        let due = told.due.drain(..);
        due.map(|change| (change.event, change.name)).collect()
    }

    #[test]
    fn changes_during_a_scan_are_told() {
        let mut told = Told::default();
        let news = |event, name: &str| vec![(event, name.to_owned())];
        for name in ["a", "b", "c", "d"] {
            let bound = take(&mut told, Event::Bound, name, 1);
            assert_eq!(bound, news(Event::Bound, name));
        }
        let complete = take(&mut told, Event::Complete, "", 0);
        assert_eq!(complete, news(Event::Complete, ""));
        let gone = take(&mut told, Event::Unbound, "d", 1);
        assert_eq!(gone, news(Event::Unbound, "d"));

        told.restart();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        // A second event for the same name is a change.
        let repeated = take(&mut told, Event::Bound, "a", 1);
        assert_eq!(repeated, news(Event::Bound, "a"));
        let other = take(&mut told, Event::Bound, "c", 2);
        assert_eq!(other, news(Event::Bound, "c"));
        let new = take(&mut told, Event::Bound, "e", 1);
        assert_eq!(new, news(Event::Bound, "e"));
        let rest = take(&mut told, Event::Complete, "", 0);
        assert_eq!(rest, news(Event::Unbound, "b"));
        // After the list, each event is a change.
        let bound = take(&mut told, Event::Bound, "a", 1);
        assert_eq!(bound, news(Event::Bound, "a"));
    }

    #[test]
    fn a_connection_that_is_lost_before_all_was_told_is_no_change() {
        let mut told = Told::default();
        take(&mut told, Event::Bound, "a", 1);
        take(&mut told, Event::Bound, "b", 1);
        told.restart();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        told.restart();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        assert_eq!(take(&mut told, Event::Bound, "b", 1), []);
        let complete = take(&mut told, Event::Complete, "", 0);
        assert_eq!(complete, [(Event::Complete, String::new())]);
    }
}
