//! Waking whoever waits for a descriptor.
//!
//! A watcher is a place where a thread sleeps for many descriptors at a time. It calls wakers and
//! knows nothing of what they do. Each registration wakes once: a half that still can't go on arms
//! itself and is watched again.
//!
//! What is read and what is written stand in epoll instances of their own, of which the first is
//! told of the second: so the registrations of two halves of one descriptor don't touch each other.
//!
//! A descriptor may be closed while it is watched, and its number be given to another one. The
//! system then forgets the old one, and the next registration of that number finds this out. Events
//! carry the number of their registration, so that one of before wakes nobody.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::device::connection::Interest;

/// How many events one call to the system fetches.
const BATCH: usize = 64;

/// How many wait for one descriptor as a rule.
const FEW: usize = 4;

/// How long one call to the system sleeps at most when there is an end; it allows little more.
const LONGEST: Duration = Duration::from_secs(3600);

/// What the events of the writable set and of the bell carry: numbers of no descriptor.
const WRITABLE: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

/// Descriptors that are watched, and the wakers to call.
#[derive(Debug)]
pub(crate) struct Watcher {
    readable: Set,
    writable: Set,
    /// Ends the sleep of those who wait.
    bell: OwnedFd,
    /// How many sleep until it is rung, or are about to, and are told of nothing else.
    at_bell: AtomicUsize,
}

impl Watcher {
    /// # Errors
    ///
    /// What the system says when it is out of descriptors or memory.
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let (readable, writable) = (Set::new()?, Set::new()?);
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        for (fd, data) in [(&writable.epoll, WRITABLE), (&bell, BELL)] {
            epoll::add(
                &readable.epoll,
                fd,
                EventData::new_u64(data),
                EventFlags::IN,
            )?;
        }
        Ok(Arc::new(Self {
            readable,
            writable,
            bell,
            at_bell: AtomicUsize::new(0),
        }))
    }

    /// Has `waker` called once when `source` is ready for `interest`, has hung up or has failed.
    /// Readiness that is there already counts.
    ///
    /// `watch` is the registration that the caller had before, if any, and becomes the new one. If
    /// it is of the same source and still waits, the system is not asked; so a source stays open as
    /// long as its registration is kept, or is closed for good.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of memory, or `source` can't be polled. The waker is not
    /// called then.
    pub(crate) fn watch(
        self: &Arc<Self>,
        watch: &mut Option<Watch>,
        source: BorrowedFd<'_>,
        interest: Interest,
        waker: &Waker,
    ) -> io::Result<()> {
        let number = source.as_raw_fd().unsigned_abs();
        let fd = usize::try_from(number).map_err(|_| Errno::BADF)?;
        let again = watch.as_ref().is_some_and(|watch| {
            Arc::ptr_eq(&watch.watcher, self)
                && (watch.fd, watch.interest) == (fd, interest)
                && watch.renew(waker)
        });
        if !again {
            *watch = Some(self.watch_anew(source, interest, waker)?);
        }
        Ok(())
    }

    /// As [`watch`](Self::watch), without a registration of before.
    pub(crate) fn watch_anew(
        self: &Arc<Self>,
        source: BorrowedFd<'_>,
        interest: Interest,
        waker: &Waker,
    ) -> io::Result<Watch> {
        let number = source.as_raw_fd().unsigned_abs();
        let fd = usize::try_from(number).map_err(|_| Errno::BADF)?;
        let sequence = self.set(interest).watch(source, interest, waker)?;
        if self.at_bell.load(Ordering::SeqCst) > 0 {
            self.ring();
        }
        Ok(Watch {
            watcher: Arc::clone(self),
            fd,
            interest,
            sequence,
        })
    }

    /// Sleeps until something is ready, the bell is rung, or `timeout` has passed, and notes in `room`
    /// what is ready. Several threads may do so; each event is one's.
    pub(crate) fn sleep(&self, room: &mut Room, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout.min(LONGEST)).ok());
        self.readable.fetch(&mut room.events, timeout.as_ref());
    }

    /// Has `sleep` sleep until its argument is readable, or for something else: it is readable while a
    /// [sleep](Self::sleep) here would end at once. While nothing is watched that is the bell, of which the system
    /// knows faster than of a set.
    pub(crate) fn sleep_beside<R>(&self, sleep: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
        // Either this sees what is watched, or who has it watched sees this, and rings.
        self.at_bell.fetch_add(1, Ordering::SeqCst);
        let is_watching = self.readable.is_watching() || self.writable.is_watching();
        let source = if is_watching {
            self.source()
        } else {
            self.bell.as_fd()
        };
        let slept = sleep(source);
        self.at_bell.fetch_sub(1, Ordering::Relaxed);
        slept
    }

    /// Calls the wakers of what was noted.
    pub(crate) fn call(&self, room: &mut Room) {
        let Room { events, wakers } = room;
        let mut writable = false;
        for event in &*events {
            match *event {
                WRITABLE => writable = true,
                // Nothing is there when another thread was faster.
                BELL => drop(rustix::io::read(&self.bell, &mut [0; 8])),
                data => self.readable.call(data, wakers),
            }
        }
        if writable {
            self.writable.fetch(events, Some(&Timespec::default()));
            for event in &*events {
                self.writable.call(*event, wakers);
            }
        }
        events.clear();
    }

    /// Ends the sleep of one who waits at least, or the next one.
    pub(crate) fn ring(&self) {
        // It fails only where so many rings wait that one more changes nothing.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Is readable while a sleep would end at once.
    pub(crate) fn source(&self) -> BorrowedFd<'_> {
        self.readable.epoll.as_fd()
    }

    fn set(&self, interest: Interest) -> &Set {
        match interest {
            Interest::Readable => &self.readable,
            Interest::Writable => &self.writable,
        }
    }
}

/// What is noted between a sleep and its calls, to be used again.
pub(crate) struct Room {
    /// The data of events.
    events: Vec<u64>,
    wakers: Vec<(u32, Waker)>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            events: Vec::with_capacity(BATCH),
            wakers: Vec::with_capacity(FEW),
        }
    }
}

/// A registration. Dropping it drops the waker, if it was not called yet.
#[derive(Debug)]
pub(crate) struct Watch {
    watcher: Arc<Watcher>,
    fd: usize,
    interest: Interest,
    sequence: u32,
}

impl Watch {
    /// Has `waker` called instead, without asking the system. Whether that was in time. The source
    /// must have been open ever since.
    #[must_use]
    pub(crate) fn renew(&self, waker: &Waker) -> bool {
        let mut slots = self.watcher.set(self.interest).lock();
        let place = slots.get_mut(self.fd).and_then(|slot| {
            let mut wakers = slot.wakers.iter_mut();
            wakers.find(|(sequence, _)| *sequence == self.sequence)
        });
        let Some((_, place)) = place else {
            return false;
        };
        if place.will_wake(waker) {
            return true;
        }
        let old = std::mem::replace(place, waker.clone());
        drop(slots);
        drop(old);
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut slots = self.watcher.set(self.interest).lock();
        let old = slots.get_mut(self.fd).and_then(|slot| {
            let mut wakers = slot.wakers.iter();
            let place = wakers.position(|(sequence, _)| *sequence == self.sequence)?;
            Some(slot.wakers.swap_remove(place))
        });
        if old.is_some() {
            self.watcher.set(self.interest).forget(1);
        }
        drop(slots);
        // Outside of the lock: the last handle of a task may end it here.
        drop(old);
    }
}

/// Descriptors that are watched for one interest.
#[derive(Debug)]
struct Set {
    epoll: OwnedFd,
    /// By the number of the descriptor. The system gives the lowest one that is free, so there are not
    /// many more of these than descriptors.
    slots: Mutex<Vec<Slot>>,
    /// How many wakers they have. Changes under their lock.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Slot {
    /// The registration that is the last one of this descriptor.
    sequence: u32,
    /// The system was told of a descriptor of this number, which may be another one by now.
    added: bool,
    /// Whom to wake, with the numbers of their registrations.
    wakers: Vec<(u32, Waker)>,
}

impl Set {
    fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            slots: Mutex::new(Vec::new()),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Whether there is a waker to be called.
    fn is_watching(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// So many wakers are gone.
    fn forget(&self, gone: usize) {
        self.waiting.fetch_sub(gone, Ordering::Relaxed);
    }

    /// The number of the registration.
    fn watch(&self, source: BorrowedFd<'_>, interest: Interest, waker: &Waker) -> io::Result<u32> {
        let flags = EventFlags::ONESHOT
            | match interest {
                Interest::Readable => EventFlags::IN,
                Interest::Writable => EventFlags::OUT,
            };
        let number = source.as_raw_fd().unsigned_abs();
        let fd = usize::try_from(number).map_err(|_| Errno::BADF)?;
        let waker = waker.clone();
        let mut slots = self.lock();
        if slots.len() <= fd {
            slots.resize_with(fd.saturating_add(1), Slot::default);
        }
        let slot = slots.get_mut(fd).ok_or(Errno::BADF)?;
        let sequence = slot.sequence.wrapping_add(1);
        let data = EventData::new_u64((u64::from(sequence) << 32) | u64::from(number));
        let mut other = !slot.added;
        if slot.added {
            match epoll::modify(&self.epoll, source, data, flags) {
                // The descriptor of before was closed.
                Err(Errno::NOENT) => other = true,
                done => done?,
            }
        }
        let mut gone = Vec::new();
        if other {
            epoll::add(&self.epoll, source, data, flags)?;
            if !slot.wakers.is_empty() {
                gone = std::mem::take(&mut slot.wakers);
                self.forget(gone.len());
            }
        }
        slot.added = true;
        slot.sequence = sequence;
        slot.wakers.push((sequence, waker));
        self.waiting.fetch_add(1, Ordering::SeqCst);
        drop(slots);
        // What they waited for is gone; nobody else is going to tell them.
        gone.drain(..).for_each(|(_, waker)| wake(waker));
        Ok(sequence)
    }

    /// Fetches events, waiting for the first.
    fn fetch(&self, events: &mut Vec<u64>, timeout: Option<&Timespec>) {
        events.clear();
        // Only a signal ends it early: the descriptor is ours, and the buffer not empty.
        let mut room = [const { MaybeUninit::<Event>::uninit() }; BATCH];
        if let Ok((ready, _)) = epoll::wait(&self.epoll, &mut room, timeout) {
            events.extend(ready.iter().map(|event| { event.data }.u64()));
        }
    }

    /// Calls the wakers of a descriptor, if the event is of the last registration of its number.
    /// `room` is empty, before and after.
    fn call(&self, data: u64, room: &mut Vec<(u32, Waker)>) {
        let halves = (
            u32::try_from(data >> 32),
            usize::try_from(data & 0xffff_ffff),
        );
        let (Ok(sequence), Ok(fd)) = halves else {
            return;
        };
        let mut slots = self.lock();
        match slots.get_mut(fd) {
            Some(slot) if slot.sequence == sequence => std::mem::swap(&mut slot.wakers, room),
            _ => return,
        }
        self.forget(room.len());
        drop(slots);
        room.drain(..).for_each(|(_, waker)| wake(waker));
    }

    /// Nothing panics while it is held, except where memory is out and nothing was changed.
    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakers are the program's: one that panics must neither end the thread that others wait
/// for, nor keep those behind it from being woken.
pub(crate) fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

#[cfg(test)]
mod tests;
