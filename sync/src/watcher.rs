//! Wake-ups for readiness of descriptors.
//!
//! A watcher lets a thread sleep for many descriptors at a time, and calls the registered wakers.
//! Each registration wakes once: a half that still cannot make progress arms itself and is
//! registered again.
//!
//! Readable and writable descriptors are in separate epoll instances, and the first instance
//! watches the second. So the registrations of the two halves of one descriptor are independent.
//!
//! A descriptor may be closed while it is watched, and its number may be reused. The system then
//! removes the old registration, and the next registration of that number detects this. Events
//! carry the sequence number of their registration, so a stale event wakes no waiter.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::callbacks::{discard, wake};
use crate::event_fd::EventFd;
use crate::flag::DekkerFlag;
use crate::lock;

/// Number of events that one system call fetches.
const BATCH: usize = 64;

/// Usual maximum number of waiters for one descriptor.
const FEW: usize = 4;

/// Longest sleep in one system call if there is a deadline, because the system limits the timeout.
const LONGEST: Duration = Duration::from_secs(3600);

/// Event data of the writable set and of the bell, which are not valid descriptor numbers.
const WRITABLE: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

/// The readiness for which a source is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Data, the end of the data, or a connection can be read.
    Readable,
    /// Data can be written.
    Writable,
}

/// Watched descriptors, and the wakers to call.
#[derive(Debug)]
pub struct Watcher {
    readable: Set,
    writable: Set,
    /// Event counter that ends the sleep of waiting threads.
    bell: EventFd,
    /// Number of threads in [`sleep_beside`](Self::sleep_beside), which may sleep on the bell
    /// alone.
    at_bell: DekkerFlag,
}

impl Watcher {
    /// Creates a watcher.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors or memory.
    pub fn new() -> io::Result<Arc<Self>> {
        let (readable, writable) = (Set::new()?, Set::new()?);
        let bell = EventFd::new()?;
        for (fd, data) in [(writable.epoll.as_fd(), WRITABLE), (bell.as_fd(), BELL)] {
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
            at_bell: DekkerFlag::of_frequent_sleepers(),
        }))
    }

    /// Registers `waker` to be called once when `source` is ready for `interest`, has hung up or
    /// has failed. It is also called if `source` is already ready.
    ///
    /// `watch` holds the caller's previous registration, if any, and receives the new one. If the
    /// previous one is for the same source and has not fired, no system call is made. Therefore,
    /// the source must stay open while its registration exists, or be closed for good.
    ///
    /// Returns true if the previous registration has not fired. So an event of the source will call
    /// `waker`, even if it has occurred already.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of memory, or if `source` can't be polled. The waker is
    /// not called then.
    pub fn watch(
        self: &Arc<Self>,
        watch: &mut Option<Watch>,
        source: BorrowedFd<'_>,
        interest: Interest,
        waker: &Waker,
    ) -> io::Result<bool> {
        let number = source.as_raw_fd().unsigned_abs();
        let fd = usize::try_from(number).map_err(|_| Errno::BADF)?;
        let is_same = watch.as_ref().is_some_and(|watch| {
            Arc::ptr_eq(&watch.watcher, self)
                && (watch.fd, watch.interest) == (fd, interest)
                && watch.renew(waker)
        });
        if !is_same {
            *watch = Some(self.watch_new(source, interest, waker)?);
        }
        Ok(is_same)
    }

    /// As [`watch`](Self::watch), without a previous registration.
    pub fn watch_new(
        self: &Arc<Self>,
        source: BorrowedFd<'_>,
        interest: Interest,
        waker: &Waker,
    ) -> io::Result<Watch> {
        let number = source.as_raw_fd().unsigned_abs();
        let fd = usize::try_from(number).map_err(|_| Errno::BADF)?;
        let sequence = self.set(interest).watch(source, interest, waker)?;
        if self.at_bell.is_set_after_change() {
            self.ring();
        }
        Ok(Watch {
            watcher: Arc::clone(self),
            fd,
            interest,
            sequence,
        })
    }

    /// Sleeps until a descriptor is ready, the bell is rung, or `timeout` has passed, and stores
    /// the events in `room`. Several threads may sleep at the same time; each event goes to one of
    /// them.
    pub fn sleep(&self, room: &mut WatchBuffers, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout.min(LONGEST)).ok());
        self.readable.fetch(&mut room.events, timeout.as_ref());
    }

    /// Calls `sleep` with a descriptor that is readable while a [sleep](Self::sleep) would return
    /// at once. While no descriptor is watched, this is the bell, which is faster to poll than an
    /// epoll instance.
    pub fn sleep_beside<R>(&self, sleep: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
        // Either this thread sees the registration, or the registering thread sees this one and
        // rings.
        self.at_bell.add_sleeper();
        self.at_bell.make_all_pass();
        let is_watching = self.readable.is_watching() || self.writable.is_watching();
        let source = if is_watching {
            self.source()
        } else {
            self.bell.as_fd()
        };
        let slept = sleep(source);
        self.at_bell.remove_sleeper();
        slept
    }

    /// Calls the wakers of the stored events.
    pub fn call(&self, room: &mut WatchBuffers) {
        let WatchBuffers { events, wakers } = room;
        let mut writable = false;
        for event in &*events {
            match *event {
                WRITABLE => writable = true,
                BELL => self.bell.clear(),
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

    /// Ends the sleep of at least one thread, or the next sleep.
    pub fn ring(&self) {
        self.bell.signal();
    }

    /// Returns a descriptor that is readable while a sleep would return at once.
    pub fn source(&self) -> BorrowedFd<'_> {
        self.readable.epoll.as_fd()
    }

    fn set(&self, interest: Interest) -> &Set {
        match interest {
            Interest::Readable => &self.readable,
            Interest::Writable => &self.writable,
        }
    }
}

/// Buffers for events and wakers between a sleep and the calls, for reuse.
pub struct WatchBuffers {
    /// Data of the events.
    events: Vec<u64>,
    wakers: Vec<(u32, Waker)>,
}

impl Default for WatchBuffers {
    fn default() -> Self {
        Self {
            events: Vec::with_capacity(BATCH),
            wakers: Vec::with_capacity(FEW),
        }
    }
}

/// A registration. Dropping it drops the waker if it was not called yet.
#[derive(Debug)]
pub struct Watch {
    watcher: Arc<Watcher>,
    fd: usize,
    interest: Interest,
    sequence: u32,
}

impl Watch {
    /// Replaces the waker without a system call. Returns false if the old waker was already called.
    /// The source must have been open since the registration.
    #[must_use]
    pub fn renew(&self, waker: &Waker) -> bool {
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
        discard([old]);
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
        // The last handle of a task may drop the task, so it is dropped without the lock.
        discard(old.map(|(_, waker)| waker));
    }
}

/// Descriptors that are watched for one interest.
#[derive(Debug)]
struct Set {
    epoll: OwnedFd,
    /// Indexed by descriptor number. The system assigns the lowest free number, so there are not
    /// many more slots than descriptors.
    slots: Mutex<Vec<WatcherSlot>>,
    /// Number of wakers in the slots. Changes under their lock.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct WatcherSlot {
    /// Sequence number of the last registration of this descriptor.
    sequence: u32,
    /// True if a descriptor of this number was added to the epoll instance. The number may have
    /// been reused since.
    added: bool,
    /// Wakers, with the sequence numbers of their registrations.
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

    /// Returns true if a waker is registered.
    fn is_watching(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Subtracts wakers that were removed.
    fn forget(&self, gone: usize) {
        self.waiting.fetch_sub(gone, Ordering::Relaxed);
    }

    /// Registers a waker. Returns the sequence number of the registration.
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
            slots.resize_with(fd.saturating_add(1), WatcherSlot::default);
        }
        let slot = slots.get_mut(fd).ok_or(Errno::BADF)?;
        let sequence = slot.sequence.wrapping_add(1);
        let data = EventData::new_u64((u64::from(sequence) << 32) | u64::from(number));
        let mut other = !slot.added;
        if slot.added {
            match epoll::modify(&self.epoll, source, data, flags) {
                // The previous descriptor of this number was closed.
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
        self.waiting.fetch_add(1, Ordering::Relaxed);
        drop(slots);
        // Their descriptor is closed, so no event would wake these waiters.
        gone.drain(..).for_each(|(_, waker)| wake(waker));
        Ok(sequence)
    }

    /// Fetches events, and blocks for the first one up to `timeout`.
    fn fetch(&self, events: &mut Vec<u64>, timeout: Option<&Timespec>) {
        events.clear();
        // The call fails only with EINTR, because the descriptor is valid and the buffer is not
        // empty.
        let mut room = [const { MaybeUninit::<Event>::uninit() }; BATCH];
        if let Ok((ready, _)) = epoll::wait(&self.epoll, &mut room, timeout) {
            events.extend(ready.iter().map(|event| { event.data }.u64()));
        }
    }

    /// Calls the wakers of a descriptor if the event belongs to the last registration of its
    /// number. `room` is empty before and after the call.
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

    /// Locks the slots. No code panics under the lock except when out of memory, and then nothing
    /// was changed.
    fn lock(&self) -> MutexGuard<'_, Vec<WatcherSlot>> {
        lock(&self.slots)
    }
}

#[cfg(test)]
mod tests;
