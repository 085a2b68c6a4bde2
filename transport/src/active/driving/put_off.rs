//! What can't be done now: requests that are run again, and messages that came where their connection was served
//! before.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use super::{Core, Driving, Looked, MOST, Seen, lock};
use crate::active::executor::Job;
use crate::active::link::Link;
use crate::active::request::{Parked, Request};
use crate::active::turn;
use crate::endpoint::queue::Done;
use crate::endpoint::receiving::Arrived;
use crate::error::RecvError;

/// What waits for its turn in a bundle.
#[derive(Default)]
pub(super) struct PutOff {
    /// Requests to be run again.
    later: Mutex<VecDeque<Parked>>,
    /// What came for a connection that had left the bundle before.
    late: Mutex<VecDeque<(Known, Arrived)>>,
    /// Requests that somebody took who could not serve them; they come before all others.
    aside: Mutex<VecDeque<Parked>>,
    /// Tasks that go on where the bundle is served.
    jobs: Mutex<VecDeque<Job>>,
    /// Connections whose peers may have taken what their requests wait for, each once.
    taken: Mutex<VecDeque<Known>>,
}

/// A connection that something was put off of. That does not keep it: whoever else has it may have let go of it.
struct Known {
    id: u64,
    link: Weak<Link>,
}

impl Known {
    fn of(link: &Arc<Link>) -> Self {
        Self {
            id: link.id,
            link: Arc::downgrade(link),
        }
    }
}

impl Core {
    pub(in crate::active) fn run_later(&self, request: Request) {
        self.park(&self.put_off.later, request);
        self.call();
    }

    /// Has a request wait here, or wherever its connection is now.
    fn park(&self, queue: &Mutex<VecDeque<Parked>>, request: Request) {
        let link = request.link().clone();
        lock(queue).push_back(request.park());
        self.has_more.store(true, Ordering::Release);
        self.follow(&link);
    }

    /// Behind putting something off: a connection that was found here may have moved elsewhere before, and nobody may serve
    /// here any more.
    fn follow(&self, link: &Arc<Link>) {
        if link.is_in(self) {
            return;
        }
        let mut to = link.bundle();
        self.hand_over(link.id, &to);
        while !link.is_in(&to) {
            let next = link.bundle();
            to.hand_over(link.id, &next);
            to = next;
        }
    }

    /// Has those see it who serve.
    fn has_put_off(&self) {
        self.has_more.store(true, Ordering::Release);
        self.call();
    }

    /// Has those who serve look for what waits in a connection for its peer.
    #[cold]
    pub(in crate::active) fn take_up(&self, link: &Arc<Link>) {
        let mut taken = lock(&self.put_off.taken);
        let is_new = taken.iter().all(|other| other.id != link.id);
        if is_new {
            taken.push_back(Known::of(link));
        }
        drop(taken);
        if is_new {
            self.has_put_off();
        }
        self.follow(link);
    }

    /// Runs a request that has waited for its peer to take what it was sent. Whether there was one.
    pub(super) fn run_taken(&self, driving: &mut Driving<'_>) -> bool {
        let Some(link) = lock(&self.put_off.taken).pop_front() else {
            return false;
        };
        driving.release();
        let Some(link) = link.link.upgrade() else {
            return true;
        };
        let Some((request, is_more)) = link.next_unread() else {
            return true;
        };
        if is_more {
            link.bundle().take_up(&link);
        }
        Link::serve_put_off(request, self.side);
        true
    }

    /// A connection is gone: so is what was put off of it.
    pub(super) fn purge(&self, id: u64) {
        drop(self.take_of(id));
        drop(self.take_late_of(id));
        drop(self.take_taken_of(id));
    }

    fn take_taken_of(&self, id: u64) -> Option<Known> {
        let mut taken = lock(&self.put_off.taken);
        let place = taken.iter().position(|link| link.id == id)?;
        taken.remove(place)
    }

    fn take_late_of(&self, id: u64) -> VecDeque<(Known, Arrived)> {
        let mut late = lock(&self.put_off.late);
        let (gone, rest) = late.drain(..).partition(|(link, _)| link.id == id);
        *late = rest;
        gone
    }

    /// The requests of a connection: those that were put aside, and those to be run again.
    fn take_of(&self, id: u64) -> [VecDeque<Parked>; 2] {
        [&self.put_off.aside, &self.put_off.later].map(|queue| {
            let mut queue = lock(queue);
            let (gone, rest) = queue.drain(..).partition(|parked| parked.id == id);
            *queue = rest;
            gone
        })
    }

    /// Takes what is here without serving requests, which wait for who serves, unless somebody else receives.
    pub(in crate::active) fn look_aside(&self) {
        if self.is_elsewhere() {
            return;
        }
        let Some(mut driving) = self.try_drive(None) else {
            return;
        };
        driving.is_aside = true;
        let mut seen = Seen::default();
        for _ in 0..MOST {
            if !driving.is_held || lock(&self.put_off.aside).len() >= MOST {
                break;
            }
            match self.look_at_members(&mut driving, &mut seen) {
                Looked::Something => {}
                Looked::Nothing | Looked::NoRoom => break,
            }
        }
        drop(driving);
        if !lock(&self.put_off.aside).is_empty() {
            // Nobody is told of them by their connections any more.
            self.call();
        }
    }

    /// Has a task gone on with by who serves.
    pub(in crate::active) fn run_here(&self, job: Job) {
        lock(&self.put_off.jobs).push_back(job);
        self.has_more.store(true, Ordering::Release);
        self.call_all();
    }

    /// Has a request served again, before all others.
    pub(in crate::active) fn run_soon(&self, request: Request) {
        self.park(&self.put_off.aside, request);
        self.call();
    }

    /// Goes on with the first task that waits for that. Whether there was one.
    pub(super) fn run_job(&self, driving: &mut Driving<'_>) -> bool {
        let Some(job) = lock(&self.put_off.jobs).pop_front() else {
            return false;
        };
        driving.release();
        turn::handling(self.side, || job.run());
        true
    }

    pub(super) fn put_aside(&self, mut request: Request) {
        request.wait();
        self.park(&self.put_off.aside, request);
    }

    /// Serves the first request that was put aside. Whether there was one.
    pub(super) fn run_aside(&self, driving: &mut Driving<'_>) -> bool {
        let Some(parked) = lock(&self.put_off.aside).pop_front() else {
            return false;
        };
        driving.release();
        if let Some(request) = parked.unpark() {
            Link::serve_put_off(request, self.side);
        }
        true
    }

    /// Leaves what was put off of a connection to the bundle where it is now.
    pub(super) fn hand_over(&self, id: u64, to: &Self) {
        let [aside, later] = self.take_of(id);
        let late = self.take_late_of(id);
        let taken = self.take_taken_of(id);
        if let Some(link) = taken.and_then(|known| known.link.upgrade()) {
            to.take_up(&link);
        }
        if !aside.is_empty() || !later.is_empty() || !late.is_empty() {
            lock(&to.put_off.late).extend(late);
            lock(&to.put_off.aside).extend(aside);
            lock(&to.put_off.later).extend(later);
            to.has_put_off();
        }
    }

    /// Leaves what the queue had to the bundle where the connection is now. One that has ended comes back.
    pub(super) fn pass_on(&self, done: Done) -> Option<(Arc<Link>, RecvError)> {
        let Done::Received(_, receipt, endpoint) = done else {
            return None;
        };
        let link = Link::of(&endpoint)?;
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => {
                let core = link.bundle();
                lock(&core.put_off.late).push_back((Known::of(&link), arrived));
                core.has_put_off();
                core.follow(&link);
                None
            }
            Err(missed) => match missed.error {
                RecvError::Cancelled | RecvError::NoBuffer { .. } => None,
                error => Some((link, error)),
            },
        }
    }

    /// Takes the first message that came elsewhere, before what comes here. Whether there was one.
    pub(super) fn run_late(&self, driving: &mut Driving<'_>) -> bool {
        let late = lock(&self.put_off.late).pop_front();
        let Some((known, arrived)) = late else {
            return false;
        };
        if let Some(link) = known.link.upgrade() {
            self.deliver(link, arrived, driving);
        }
        true
    }

    /// Runs what was put off, unless nobody wants it any more. Whether anything was.
    pub(super) fn run_put_off(&self, driving: &mut Driving<'_>) -> bool {
        let count = lock(&self.put_off.later).len();
        if count == 0 {
            self.has_more.store(false, Ordering::Release);
            // Whoever adds something after its look sets the flag again, behind this.
            let any = !lock(&self.put_off.later).is_empty()
                || !lock(&self.put_off.late).is_empty()
                || !lock(&self.put_off.aside).is_empty()
                || !lock(&self.put_off.jobs).is_empty()
                || !lock(&self.put_off.taken).is_empty();
            self.has_more.fetch_or(any, Ordering::AcqRel);
            return false;
        }
        driving.release();
        for _ in 0..count {
            let Some(parked) = lock(&self.put_off.later).pop_front() else {
                break;
            };
            if let Some(request) = parked.unpark() {
                Link::serve_put_off(request, self.side);
            }
        }
        true
    }
}
