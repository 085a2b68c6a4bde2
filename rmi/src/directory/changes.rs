//! What happens to the names of a registry, told across its restarts.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::link::{Link, Used};
use super::{Change, ChangeRef, Event};
use crate::interface::Stub;
use crate::stream::{Stream, StreamError, until_ready};

/// All names that a registry has, and then what happens to them: made by [`Names::watch`](super::Names::watch).
///
/// It is an iterator that blocks until something has happened. When the connection to the registry is lost it goes on with
/// the next one, and tells what has changed meanwhile: names that are bound no more, and those that are new, or are bound to
/// another interface. It ends behind [`Event::Missed`], with an error that is no loss of the connection, and behind
/// [`Event::Refused`], where as many watch as the registry allows.
pub struct Changes {
    link: Arc<Link>,
    /// The connection that is watched, or was.
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
            stream: Some(directory.within(Duration::MAX).watch()),
            told: Told::default(),
            is_over: false,
        }
    }

    /// What has happened next, or whom to wake when something has. `None` when there will be nothing more.
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
                Poll::Ready(Some(Ok(item))) => self.told.take(*item.get()),
                Poll::Ready(Some(Err(error))) => {
                    self.stream = None;
                    if !self.link.has_ended(self.number) {
                        self.is_over = true;
                        return Poll::Ready(Some(Err(error)));
                    }
                    self.told.begin_anew();
                }
                Poll::Ready(None) => self.is_over = true,
            }
        }
        Poll::Ready(None)
    }

    /// What has happened next, if that is within this time: `None` when the time is over.
    pub fn next_timeout(
        &mut self,
        timeout: Duration,
    ) -> Option<Option<Result<Change, StreamError>>> {
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// Blocks. A thread serves the connection meanwhile.
    fn wait_until(&mut self, until: Option<Instant>) -> Option<Option<<Self as Iterator>::Item>> {
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

/// What was told, by which it is known what has changed while there was no connection.
#[derive(Default)]
struct Told {
    /// The names that are bound, each with whether it is known to be still.
    names: BTreeMap<String, (Bound, bool)>,
    /// Whether all names are being told again.
    is_again: bool,
    is_complete: bool,
    due: VecDeque<Change>,
}

/// The interface's name and id.
type Bound = (String, u64);

impl Told {
    /// Another connection tells all names.
    fn begin_anew(&mut self) {
        self.is_again = true;
        for (_, is_still) in self.names.values_mut() {
            *is_still = false;
        }
    }

    fn take(&mut self, change: ChangeRef<'_>) {
        let name = change.name.to_owned();
        let bound = (change.interface.to_owned(), change.id);
        let is_news = match change.event {
            Event::Bound => {
                let before = self.names.insert(name, (bound.clone(), true));
                // What was told before the connection was lost.
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

    /// What was not told again is bound no more.
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
        told.take(ChangeRef {
            event,
            name,
            interface: "A",
            id,
        });
        let due = told.due.drain(..);
        due.map(|change| (change.event, change.name)).collect()
    }

    #[test]
    fn what_has_changed_meanwhile_is_told() {
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

        told.begin_anew();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        // Twice is a change.
        let again = take(&mut told, Event::Bound, "a", 1);
        assert_eq!(again, news(Event::Bound, "a"));
        let other = take(&mut told, Event::Bound, "c", 2);
        assert_eq!(other, news(Event::Bound, "c"));
        let new = take(&mut told, Event::Bound, "e", 1);
        assert_eq!(new, news(Event::Bound, "e"));
        let rest = take(&mut told, Event::Complete, "", 0);
        assert_eq!(rest, news(Event::Unbound, "b"));
        // As always, from here on.
        let bound = take(&mut told, Event::Bound, "a", 1);
        assert_eq!(bound, news(Event::Bound, "a"));
    }

    #[test]
    fn a_connection_that_is_lost_before_all_was_told_is_no_change() {
        let mut told = Told::default();
        take(&mut told, Event::Bound, "a", 1);
        take(&mut told, Event::Bound, "b", 1);
        told.begin_anew();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        told.begin_anew();
        assert_eq!(take(&mut told, Event::Bound, "a", 1), []);
        assert_eq!(take(&mut told, Event::Bound, "b", 1), []);
        let complete = take(&mut told, Event::Complete, "", 0);
        assert_eq!(complete, [(Event::Complete, String::new())]);
    }
}
