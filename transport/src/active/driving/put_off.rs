//! What can't be done now: requests that are run again, and messages that came where their connection was served
//! before.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::{Core, Driving, lock};
use crate::active::link::Link;
use crate::active::request::Request;
use crate::endpoint::queue::Done;
use crate::endpoint::receiving::Arrived;
use crate::error::RecvError;

/// What waits for its turn in a bundle.
#[derive(Default)]
pub(super) struct PutOff {
    /// Requests to be run again.
    later: Mutex<VecDeque<Request>>,
    /// What came for a connection that had left the bundle before.
    late: Mutex<VecDeque<(Arc<Link>, Arrived)>>,
}

impl Core {
    pub(in crate::active) fn run_later(&self, request: Request) {
        lock(&self.put_off.later).push_back(request);
        self.has_put_off();
    }

    /// Has those see it who serve.
    fn has_put_off(&self) {
        self.has_more.store(true, Ordering::Release);
        self.call();
    }

    /// Nobody has a handle of a connection any more, and what was put off of it keeps it.
    #[cold]
    pub(in crate::active) fn purge(&self, id: u64) {
        if lock(&self.kept).iter().any(|link| link.id == id) {
            return;
        }
        drop(self.take_of(id));
        let mut late = lock(&self.put_off.late);
        let (gone, rest) = late.drain(..).partition(|(link, _)| link.id == id);
        *late = rest;
        drop(late);
        drop::<VecDeque<(Arc<Link>, Arrived)>>(gone);
    }

    fn take_of(&self, id: u64) -> VecDeque<Request> {
        let mut later = lock(&self.put_off.later);
        let (gone, rest) = later.drain(..).partition(|request| request.link().id == id);
        *later = rest;
        gone
    }

    /// Leaves the requests of a connection to the bundle where it is now.
    pub(super) fn hand_over(&self, id: u64, to: &Self) {
        let requests = self.take_of(id);
        if !requests.is_empty() {
            lock(&to.put_off.later).extend(requests);
            to.has_put_off();
        }
    }

    /// Leaves what the queue had to the bundle where the connection is now.
    pub(super) fn pass_on(&self, done: Done) {
        let Done::Received(_, receipt, endpoint) = done else {
            return;
        };
        let Some(link) = Link::of(&endpoint) else {
            return;
        };
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => {
                let core = link.bundle();
                lock(&core.put_off.late).push_back((link, arrived));
                core.has_put_off();
            }
            Err(missed) => {
                if !matches!(
                    missed.error,
                    RecvError::Cancelled | RecvError::NoBuffer { .. }
                ) {
                    link.lost(&missed.error);
                }
            }
        }
    }

    /// Runs what was put off. Whether anything was.
    pub(super) fn run_put_off(&self, driving: &mut Driving<'_>) -> bool {
        let late = lock(&self.put_off.late).pop_front();
        if let Some((link, arrived)) = late {
            self.deliver(&link, arrived, driving);
            return true;
        }
        let count = lock(&self.put_off.later).len();
        if count == 0 {
            self.has_more.store(false, Ordering::Release);
            // Whoever adds something after its look sets the flag again, behind this.
            let any = !lock(&self.put_off.later).is_empty() || !lock(&self.put_off.late).is_empty();
            self.has_more.fetch_or(any, Ordering::AcqRel);
            return false;
        }
        driving.release();
        for _ in 0..count {
            let Some(request) = lock(&self.put_off.later).pop_front() else {
                break;
            };
            Link::serve_again(request);
        }
        true
    }
}
