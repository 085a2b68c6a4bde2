//! Waking whoever waits for a descriptor.
//!
//! One thread serves the whole process. It is started by the first [`watch`] or
//! [`Alarm`](super::alarm::Alarm), sleeps in epoll, and does nothing but wake. Each registration wakes once: a half that still can't go on arms itself and
//! is watched again.
//!
//! What is read and what is written stand in epoll instances of their own, of which the first is
//! told of the second: so two halves of one descriptor know nothing of each other.
//!
//! A descriptor may be closed while it is watched, and its number be given to another one. The
//! system then forgets the old one, and the next registration of that number finds this out. Events
//! carry the number of their registration, so that one of before wakes nobody.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::alarm::Alarms;
use crate::device::connection::Interest;

/// How many events one call to the system fetches.
const BATCH: usize = 64;

/// How long the thread sleeps at most when an alarm is set; the system allows little more.
const LONGEST: Duration = Duration::from_secs(3600);

/// What the events of the writable set and of the kick carry: numbers of no descriptor.
const WRITABLE: u64 = u64::MAX;
const KICK: u64 = u64::MAX - 1;

/// Calls `waker` once when `source` is ready for `interest`, has hung up or has failed.
///
/// There is one waker for each descriptor and interest: the one that was registered last. Readiness
/// that is there already counts.
///
/// # Errors
///
/// What the system says when it is out of descriptors, memory or threads, or `source` can't be
/// polled. The waker is not called then.
pub(crate) fn watch(
    source: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
) -> io::Result<Watch> {
    let reactor = Reactor::started()?;
    let (fd, sequence) = reactor.set(interest).watch(source, interest, waker)?;
    Ok(Watch {
        reactor: Arc::clone(reactor),
        fd,
        interest,
        sequence,
    })
}

/// A registration. Dropping it drops the waker, if it was not called yet; replacing it by the next
/// one of the same descriptor does not undo that one.
#[derive(Debug)]
#[must_use = "nobody is woken once it is dropped"]
pub(crate) struct Watch {
    reactor: Arc<Reactor>,
    fd: usize,
    interest: Interest,
    sequence: u32,
}

impl Watch {
    /// Has `waker` called instead, without asking the system. Whether that was in time; if not, the
    /// source is watched anew. The source must have been open ever since.
    #[must_use]
    pub(crate) fn renew(&self, waker: &Waker) -> bool {
        let waker = waker.clone();
        let mut slots = self.reactor.set(self.interest).lock();
        let old = slots
            .get_mut(self.fd)
            .filter(|slot| slot.sequence == self.sequence)
            .and_then(|slot| slot.waker.as_mut())
            .map(|old| std::mem::replace(old, waker));
        drop(slots);
        old.is_some()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let waker = self
            .reactor
            .set(self.interest)
            .called(self.fd, self.sequence);
        // Outside of the lock: the last handle of a task may end it here.
        drop(waker);
    }
}

/// What the thread and the registrations share.
#[derive(Debug)]
pub(super) struct Reactor {
    readable: Set,
    writable: Set,
    alarms: Alarms,
    /// Makes the thread look at the alarms.
    kick: OwnedFd,
}

impl Reactor {
    /// The reactor of this process, which the first call starts.
    pub(super) fn started() -> io::Result<&'static Arc<Self>> {
        static REACTOR: OnceLock<Arc<Reactor>> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reactor) = REACTOR.get() {
            return Ok(reactor);
        }
        let reactor = Arc::new(Self::new()?);
        let its = Arc::clone(&reactor);
        thread::Builder::new()
            .name("jstream-progress".to_owned())
            .spawn(move || its.run())?;
        let reactor = REACTOR.get_or_init(|| reactor);
        drop(starting);
        Ok(reactor)
    }

    fn new() -> io::Result<Self> {
        let (readable, writable) = (Set::new()?, Set::new()?);
        let data = EventData::new_u64(WRITABLE);
        epoll::add(&readable.epoll, &writable.epoll, data, EventFlags::IN)?;
        let kick = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(
            &readable.epoll,
            &kick,
            EventData::new_u64(KICK),
            EventFlags::IN,
        )?;
        let alarms = Alarms::default();
        Ok(Self {
            readable,
            writable,
            alarms,
            kick,
        })
    }

    pub(super) fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// Has the thread look at the alarms.
    pub(super) fn kick(&self) {
        // It fails only where so many kicks wait that one more changes nothing.
        let _ = rustix::io::write(&self.kick, &1u64.to_ne_bytes());
    }

    fn set(&self, interest: Interest) -> &Set {
        match interest {
            Interest::Readable => &self.readable,
            Interest::Writable => &self.writable,
        }
    }

    fn run(&self) {
        let mut events = Vec::with_capacity(BATCH);
        let mut due = Vec::new();
        loop {
            let left = self.alarms.ring(&mut due);
            let timeout = left.and_then(|left| Timespec::try_from(left.min(LONGEST)).ok());
            self.readable.wait(&mut events, timeout.as_ref());
            let mut writable = false;
            for event in &events {
                match { event.data }.u64() {
                    WRITABLE => writable = true,
                    KICK => drop(rustix::io::read(&self.kick, &mut [0; 8])),
                    data => self.readable.call(data),
                }
            }
            if writable {
                self.writable.wait(&mut events, Some(&Timespec::default()));
                for event in &events {
                    self.writable.call({ event.data }.u64());
                }
            }
        }
    }
}

/// Descriptors that are watched for one interest.
#[derive(Debug)]
struct Set {
    epoll: OwnedFd,
    /// By the number of the descriptor. The system gives the lowest one that is free, so there are not
    /// many more of these than descriptors.
    slots: Mutex<Vec<Slot>>,
}

#[derive(Debug, Default)]
struct Slot {
    /// The registration that is the last one of this descriptor.
    sequence: u32,
    /// The system was told of a descriptor of this number, which may be another one by now.
    added: bool,
    /// Not there once it was called.
    waker: Option<Waker>,
}

impl Set {
    fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            slots: Mutex::new(Vec::new()),
        })
    }

    /// The descriptor's number, and that of its registration.
    fn watch(
        &self,
        source: BorrowedFd<'_>,
        interest: Interest,
        waker: &Waker,
    ) -> io::Result<(usize, u32)> {
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
        let data = EventData::new_u64(u64::from(sequence) << 32 | u64::from(number));
        let mut other = !slot.added;
        if slot.added {
            match epoll::modify(&self.epoll, source, data, flags) {
                // The descriptor of before was closed.
                Err(Errno::NOENT) => other = true,
                done => done?,
            }
        }
        if other {
            epoll::add(&self.epoll, source, data, flags)?;
        }
        slot.added = true;
        slot.sequence = sequence;
        let old = slot.waker.replace(waker);
        drop(slots);
        // What it waited for is gone; nobody else is going to tell.
        if let (true, Some(old)) = (other, old) {
            wake(old);
        }
        Ok((fd, sequence))
    }

    /// Fetches events, waiting for the first.
    fn wait(&self, events: &mut Vec<Event>, timeout: Option<&Timespec>) {
        events.clear();
        // Only a signal ends it early: the descriptor is ours, and the buffer not empty.
        let _ = epoll::wait(&self.epoll, spare_capacity(events), timeout);
    }

    /// Calls the waker of the registration whose event this is, if it still is the last one.
    fn call(&self, data: u64) {
        let halves = (u32::try_from(data >> 32), u32::try_from(data & 0xffff_ffff));
        let (Ok(sequence), Ok(number)) = halves else {
            return;
        };
        let Ok(fd) = usize::try_from(number) else {
            return;
        };
        if let Some(waker) = self.called(fd, sequence) {
            wake(waker);
        }
    }

    /// The waker of a registration, which is over with this.
    fn called(&self, fd: usize, sequence: u32) -> Option<Waker> {
        let mut slots = self.lock();
        let slot = slots.get_mut(fd)?;
        if slot.sequence == sequence {
            slot.waker.take()
        } else {
            None
        }
    }

    /// Nothing panics while it is held, except where memory is out and nothing was changed.
    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakers are the program's: one that panics must not end the thread that all wait for.
pub(super) fn wake(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

#[cfg(test)]
mod tests;
