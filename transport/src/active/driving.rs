//! Receiving for connections that are served together: by whoever waits, one thread at a time.
//!
//! Who receives frees the right to do so before a handler runs. So handlers may wait themselves, and others go on.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use super::crew::Crew;
use super::link::Link;
use super::parker::Parker;
use super::request::Request;
use super::role::Role;
use super::turn;
use super::watch::Watch;
use crate::device::deadline::Deadline;
use crate::endpoint::queue::Done;
use crate::endpoint::receiving::Arrived;
use crate::endpoint::spin::Spin;
use crate::endpoint::{CompletionQueue, Message};
use crate::error::RecvError;

/// How long a thread sleeps in a connection alone. One that comes into its bundle meanwhile has to wait as long.
const SLICE: Duration = Duration::from_millis(2);

/// How long a thread sleeps while requests wait to be run again, or where the pool had no room.
const SOON: Duration = Duration::from_micros(100);

/// After how many messages what was put off is run, though more have come.
const PUT_OFF: usize = 8;

/// How many messages a call that does not wait takes at most.
const MOST: usize = 64;

/// What all who serve a bundle share.
pub(super) struct Core {
    role: Role,
    /// Those who serve when the others are busy.
    watch: Watch,
    members: Mutex<Arc<Vec<Member>>>,
    /// Where receives are posted by those who sleep; there once somebody did.
    queue: OnceLock<CompletionQueue>,
    /// Connections that are there though the program has no handle of them.
    kept: Mutex<Vec<Arc<Link>>>,
    /// Requests to be run again.
    later: Mutex<VecDeque<Request>>,
    /// What came for a connection that had left the bundle before.
    late: Mutex<VecDeque<(Arc<Link>, Arrived)>>,
    /// Requests that somebody took who could not serve them; they come before all others.
    aside: Mutex<VecDeque<Request>>,
    /// There may be something in the three.
    has_more: AtomicBool,
    spin: Duration,
    vain: AtomicU8,
    /// Whose turn it is.
    next: AtomicUsize,
    /// How many looks there were while something was put off.
    turns: AtomicUsize,
}

#[derive(Clone)]
struct Member {
    id: u64,
    link: Weak<Link>,
}

/// The right to receive for a bundle, until it is released.
pub(super) struct Driving<'c> {
    core: &'c Core,
    is_held: bool,
    /// Requests are put aside.
    is_aside: bool,
}

impl Driving<'_> {
    /// Lets others receive.
    #[inline]
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.core.watch.begin();
            self.core.role.leave();
            self.core.watch.left();
        }
    }

    /// Whether a request is to be served now: else it is put aside.
    #[inline]
    pub(super) fn serves(&mut self, request: Request) -> Option<Request> {
        if self.is_aside {
            self.core.put_aside(request);
            return None;
        }
        self.release();
        Some(request)
    }
}

impl Drop for Driving<'_> {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

/// What a look came to.
enum Looked {
    Something,
    Nothing,
}

impl Core {
    pub(super) fn new(spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            role: Role::new(),
            watch: Watch::default(),
            members: Mutex::default(),
            queue: OnceLock::new(),
            kept: Mutex::default(),
            later: Mutex::default(),
            late: Mutex::default(),
            aside: Mutex::default(),
            has_more: AtomicBool::new(false),
            spin,
            vain: AtomicU8::new(0),
            next: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
        })
    }

    pub(super) fn enter(self: &Arc<Self>, link: &Arc<Link>) {
        let mut members = lock(&self.members);
        let mut all = members.as_ref().clone();
        all.retain(|member| member.link.strong_count() > 0);
        all.push(Member {
            id: link.id,
            link: Arc::downgrade(link),
        });
        *members = Arc::new(all);
        drop(members);
        self.call();
    }

    /// A connection is not served here any more.
    pub(super) fn leave(&self, id: u64) {
        let mut members = lock(&self.members);
        let mut all = members.as_ref().clone();
        all.retain(|member| member.id != id && member.link.strong_count() > 0);
        *members = Arc::new(all);
        drop(members);
        let mut kept = lock(&self.kept);
        let place = kept.iter().position(|link| link.id == id);
        let gone = place.map(|place| kept.swap_remove(place));
        drop(kept);
        drop(gone);
        self.call();
    }

    /// Has all look again who sleep.
    pub(super) fn call_all(&self) {
        self.call();
        self.role.nudge_all();
        self.watch.call_all();
    }

    /// Serves until `crew` says so, behind a call of all. While others do, it stands by; where nobody does any more,
    /// since all are at handlers that run for long, there may be more. One that `is_more` stands by first.
    pub(super) fn work(self: &Arc<Self>, crew: &Arc<Crew>, is_more: bool) {
        turn::waiting(|| {
            let (mut spin, mut slept) = (None, false);
            let mut stands_by = is_more;
            while !crew.has_stopped() {
                let driving = if stands_by { None } else { self.try_drive() };
                stands_by = false;
                if let Some(driving) = driving {
                    self.step(driving, Deadline::NEVER, &mut spin, &mut slept);
                    continue;
                }
                let mut leaves = false;
                let was_last = self.watch.stand_by(&self.role, |standing| {
                    leaves = crew.leaves(standing);
                    leaves || crew.has_stopped()
                });
                if leaves {
                    return;
                }
                if was_last {
                    crew.grow(self);
                }
            }
        });
    }

    /// Has those look again who sleep.
    pub(super) fn call(&self) {
        if let Some(queue) = self.queue.get() {
            queue.call();
        }
        self.role.nudge();
    }

    #[inline]
    fn members(&self) -> Arc<Vec<Member>> {
        lock(&self.members).clone()
    }

    /// A connection stays, though the program may have no handle of it.
    pub(super) fn keep(&self, link: &Arc<Link>) {
        lock(&self.kept).push(link.clone());
    }

    /// Those that stay leave.
    pub(super) fn clear(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        drop(kept);
    }

    pub(super) fn is_empty(&self) -> bool {
        let members = self.members();
        members.iter().all(|member| member.link.strong_count() == 0)
    }

    #[inline]
    pub(super) fn try_drive(&self) -> Option<Driving<'_>> {
        if !self.role.take(turn::token()) {
            return None;
        }
        Some(Driving {
            core: self,
            is_held: true,
            is_aside: false,
        })
    }

    fn put_aside(&self, mut request: Request) {
        request.wait();
        lock(&self.aside).push_back(request);
        self.has_more.store(true, Ordering::Release);
    }

    /// Takes what is here without serving requests, which wait for who serves, unless somebody else receives.
    pub(super) fn look_aside(&self) {
        let Some(mut driving) = self.try_drive() else {
            return;
        };
        driving.is_aside = true;
        for _ in 0..MOST {
            if !driving.is_held || lock(&self.aside).len() >= MOST {
                break;
            }
            if let Looked::Nothing = self.look_at_members(&mut driving) {
                break;
            }
        }
        drop(driving);
        if !lock(&self.aside).is_empty() {
            // Nobody is told of them by their connections any more.
            self.call();
        }
    }

    pub(super) fn run_later(&self, request: Request) {
        lock(&self.later).push_back(request);
        self.has_more.store(true, Ordering::Release);
    }

    /// Nobody has a handle of a connection any more, and its requests that could not run keep it.
    pub(super) fn purge(&self, id: u64) {
        if lock(&self.kept).iter().any(|link| link.id == id) {
            return;
        }
        for queue in [&self.later, &self.aside] {
            let mut queue = lock(queue);
            let (gone, rest) = queue.drain(..).partition(|request| request.link().id == id);
            *queue = rest;
            drop(queue);
            drop::<VecDeque<Request>>(gone);
        }
    }

    /// Serves the first request that was put aside. Whether there was one.
    fn run_aside(&self, driving: &mut Driving<'_>) -> bool {
        let Some(request) = lock(&self.aside).pop_front() else {
            return false;
        };
        driving.release();
        Link::serve_put_aside(request);
        true
    }

    /// Runs what was put off. Whether anything was.
    fn run_put_off(&self, driving: &mut Driving<'_>) -> bool {
        let late = lock(&self.late).pop_front();
        if let Some((link, arrived)) = late {
            self.deliver(&link, arrived, driving);
            return true;
        }
        let count = lock(&self.later).len();
        if count == 0 {
            self.has_more.store(false, Ordering::Release);
            // Whoever adds something after its look sets the flag again, behind this.
            let any = !lock(&self.later).is_empty()
                || !lock(&self.late).is_empty()
                || !lock(&self.aside).is_empty();
            self.has_more.fetch_or(any, Ordering::AcqRel);
            return false;
        }
        driving.release();
        for _ in 0..count {
            let Some(request) = lock(&self.later).pop_front() else {
                break;
            };
            Link::serve_again(request);
        }
        true
    }

    fn deliver(&self, link: &Arc<Link>, arrived: Arrived, driving: &mut Driving<'_>) {
        let pool = &link.endpoint().shared().facts().pool;
        match arrived.into_bytes(pool) {
            Ok((header, payload)) => link.arrived(Message { header, payload }, driving),
            Err(_) => link.lost(&RecvError::Empty),
        }
    }

    /// What a receive came to. Whether it was something.
    fn received(
        &self,
        link: &Arc<Link>,
        received: Result<(Message, Option<Arrived>), RecvError>,
        driving: &mut Driving<'_>,
    ) -> Looked {
        match received {
            Ok((message, None)) => link.arrived(message, driving),
            Ok((_, Some(arrived))) => self.deliver(link, arrived, driving),
            Err(RecvError::TimedOut { .. } | RecvError::Empty) => return Looked::Nothing,
            // It waits in the connection until others have left the pool.
            Err(error @ RecvError::NoBuffer { .. }) => {
                link.note_no_room(&error);
                driving.release();
                thread::sleep(SOON);
            }
            Err(error) => link.lost(&error),
        }
        Looked::Something
    }

    /// Takes one message, if there is one.
    #[inline]
    fn look(&self, driving: &mut Driving<'_>) -> Looked {
        // What was put off has its turn, however much comes.
        if self.has_more.load(Ordering::Acquire) {
            if self.run_aside(driving) {
                return Looked::Something;
            }
            let turns = self.turns.fetch_add(1, Ordering::Relaxed);
            if turns % PUT_OFF == 0 && self.run_put_off(driving) {
                return Looked::Something;
            }
        }
        if let Looked::Something = self.look_at_members(driving) {
            return Looked::Something;
        }
        if self.has_more.load(Ordering::Acquire) && self.run_put_off(driving) {
            return Looked::Something;
        }
        Looked::Nothing
    }

    /// Takes one message of a connection, if there is one.
    #[inline]
    fn look_at_members(&self, driving: &mut Driving<'_>) -> Looked {
        let members = self.members();
        let count = members.len();
        let first = self.next.load(Ordering::Relaxed);
        let mut is_posted = false;
        for offset in 0..count {
            let place = first.wrapping_add(offset).checked_rem(count).unwrap_or(0);
            let Some(link) = members.get(place).and_then(|member| member.link.upgrade()) else {
                continue;
            };
            if link.is_posted() {
                is_posted = true;
                continue;
            }
            let (mut message, mut other) = (Message::nothing(), None);
            let looked = link.endpoint().shared().look(&mut message, &mut other);
            if let Some(looked) = looked {
                self.next.store(place.wrapping_add(1), Ordering::Relaxed);
                return self.received(&link, looked.map(|()| (message, other)), driving);
            }
        }
        if is_posted {
            if let Some(done) = self.queue.get().and_then(CompletionQueue::poll_done) {
                return self.take(done, driving);
            }
        }
        Looked::Nothing
    }

    /// What the queue had.
    fn take(&self, done: Done, driving: &mut Driving<'_>) -> Looked {
        let Done::Received(_, receipt, endpoint) = done else {
            return Looked::Something;
        };
        let Some(link) = Link::of(&endpoint) else {
            return Looked::Something;
        };
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => self.deliver(&link, arrived, driving),
            Err(missed) => match missed.error {
                RecvError::Cancelled | RecvError::NoBuffer { .. } => {}
                error => link.lost(&error),
            },
        }
        Looked::Something
    }

    fn queue(&self) -> Option<&CompletionQueue> {
        if self.queue.get().is_none() {
            let queue = CompletionQueue::new().ok()?;
            // Who has called before there was one is heard now.
            queue.call();
            let _ = self.queue.set(queue);
        }
        self.queue.get()
    }

    /// Posts a receive to each connection that has none.
    fn post_all(&self, queue: &CompletionQueue) {
        for member in self.members().iter() {
            let Some(link) = member.link.upgrade() else {
                continue;
            };
            if link.is_posted() || !link.set_posted(self, true) {
                continue;
            }
            queue.post_recv_any(link.endpoint(), 0);
            // It may have gone elsewhere meanwhile, by one who did not find the receive.
            if !link.is_in(self) {
                queue.forget(link.endpoint());
            }
        }
    }

    /// Takes what is here, or waits for something until then; `slept` is whether the caller did before.
    #[inline]
    fn step(
        self: &Arc<Self>,
        mut driving: Driving<'_>,
        until: Deadline,
        spin: &mut Option<Spin>,
        slept: &mut bool,
    ) {
        let members = self.members();
        let has_more = self.has_more.load(Ordering::Acquire);
        if let ([member], false, false) = (members.as_slice(), *slept, has_more) {
            if let Some(link) = member.link.upgrade().filter(|link| !link.is_posted()) {
                let patience = until.left().map_or(SLICE, |left| left.min(SLICE));
                let (mut message, mut other) = (Message::nothing(), None);
                let shared = link.endpoint().shared();
                match shared.receive_within(&mut message, &mut other, patience) {
                    Some(received) => {
                        let received = received.map(|()| (message, other));
                        self.received(&link, received, &mut driving);
                    }
                    None => *slept = true,
                }
                return;
            }
        }
        drop(members);
        if let Looked::Something = self.look(&mut driving) {
            *slept = false;
            if let Some(spin) = spin.take() {
                self.end(spin);
            }
            return;
        }
        let spinning = spin.get_or_insert_with(|| {
            Spin::begin(self.spin, self.vain.load(Ordering::Relaxed), until)
        });
        if spinning.again() {
            return;
        }
        let has_more = self.has_more.load(Ordering::Acquire);
        let until = if has_more {
            until.or_sooner(Deadline::after(SOON))
        } else {
            until
        };
        let Some(queue) = self.queue() else {
            driving.release();
            return thread::sleep(SOON);
        };
        self.post_all(queue);
        let done = queue.wait_done(until);
        spinning.has_slept();
        if let Some(done) = done {
            self.take(done, &mut driving);
            *slept = false;
        }
        if let Some(spin) = spin.take() {
            self.end(spin);
        }
    }

    fn end(&self, spin: Spin) {
        let mut vain = self.vain.load(Ordering::Relaxed);
        spin.end(&mut vain);
        self.vain.store(vain, Ordering::Relaxed);
    }

    /// Takes what is here, without waiting. How many messages.
    pub(super) fn poll(&self) -> usize {
        let mut count = 0usize;
        while count < MOST {
            let Some(mut driving) = self.try_drive() else {
                break;
            };
            match self.look(&mut driving) {
                Looked::Something => count = count.saturating_add(1),
                Looked::Nothing => break,
            }
        }
        count
    }

    /// Serves until `attempt` answers, or the time is over. `attempt` gets who is to be told, once it is going to be
    /// waited for.
    #[inline]
    pub(super) fn wait<R>(
        self: &Arc<Self>,
        until: Deadline,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        if let Some(answer) = attempt(None) {
            return Some(answer);
        }
        turn::waiting(|| self.wait_slowly(until, attempt))
    }

    fn wait_slowly<R>(
        self: &Arc<Self>,
        until: Deadline,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let own: Waker = self.clone().into();
        let mut parker = None;
        let (mut spin, mut slept) = (None, false);
        let answer = loop {
            if let Some(driving) = self.try_drive() {
                // Somebody else may tell, who has received before.
                if let Some(answer) = attempt(Some(&own)) {
                    drop(driving);
                    break Some(answer);
                }
                self.step(driving, until, &mut spin, &mut slept);
            } else {
                let parker = parker.get_or_insert_with(Parker::of_thread);
                let is_free = self.role.wait(parker.waker());
                // Who calls from here on finds this one.
                if let Some(answer) = attempt(Some(parker.waker())) {
                    break Some(answer);
                }
                if !is_free {
                    parker.park(until);
                }
            }
            if let Some(answer) = attempt(None) {
                break Some(answer);
            }
            if until.has_passed() {
                break None;
            }
        };
        if let Some(parker) = parker {
            self.role.forget(parker.waker());
        }
        answer
    }

    /// For a task that was told of nothing: takes what is here, and has `waker` called when there is more. What
    /// `number` is, the queue says.
    pub(super) fn attend(
        self: &Arc<Self>,
        number: &mut Option<u64>,
        waker: &Waker,
    ) -> io::Result<bool> {
        if self.poll() > 0 {
            return Ok(true);
        }
        let Some(mut driving) = self.try_drive() else {
            return Ok(self.role.wait(waker));
        };
        let queue = match self.queue() {
            Some(queue) => queue,
            None => return Err(io::ErrorKind::OutOfMemory.into()),
        };
        self.post_all(queue);
        match queue.poll_done_task(number, waker)? {
            Some(done) => {
                self.take(done, &mut driving);
                Ok(true)
            }
            None => Ok(self.has_more.load(Ordering::Acquire)),
        }
    }

    /// A task does not wait any more.
    pub(super) fn forget(&self, number: Option<u64>, waker: Option<&Waker>) {
        if let (Some(number), Some(queue)) = (number, self.queue.get()) {
            queue.forget_task(number);
        }
        if let Some(waker) = waker {
            self.role.forget(waker);
        }
    }

    /// Serves a connection here instead of where it was. False when it was here.
    pub(super) fn adopt(self: &Arc<Self>, link: &Arc<Link>) -> bool {
        let Some((before, was_posted)) = link.sit(self) else {
            return false;
        };
        before.leave(link.id);
        self.enter(link);
        if let (true, Some(queue)) = (was_posted, before.queue.get()) {
            queue.forget(link.endpoint());
            // What had come before is taken now, for who may serve there no more.
            while let Some(done) = queue.poll_done() {
                before.pass_on(done);
            }
        }
        before.role.nudge();
        true
    }

    /// Leaves what the queue had to the bundle where the connection is now.
    fn pass_on(&self, done: Done) {
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
                lock(&core.late).push_back((link, arrived));
                core.has_more.store(true, Ordering::Release);
                core.call();
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
}

impl Wake for Core {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Wakes who receives, unless that is who calls.
    fn wake_by_ref(self: &Arc<Self>) {
        if !self.role.is_of(turn::token()) {
            if let Some(queue) = self.queue.get() {
                queue.call();
            }
        }
    }
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
