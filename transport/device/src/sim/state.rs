//! The state of the network, and its events.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, IoSlice};
use std::task::Waker;
use std::time::Duration;

use super::pipe::{Flaw, Pipe, PipeSleeper};
use super::random::Random;
use super::settings::Settings;

/// All connections and listeners, and the pending events.
pub(super) struct NetworkState {
    pub(super) settings: Settings,
    pub(super) random: Random,
    /// The simulated time in nanoseconds.
    pub(super) now: u64,
    next: u64,
    /// Pending events, ordered by time and then by creation.
    pub(super) events: BTreeMap<(u64, u64), Event>,
    /// The two pipes of a connection have the numbers 2n and 2n + 1.
    pub(super) pipes: BTreeMap<u64, Pipe>,
    pub(super) names: BTreeMap<String, SimDoor>,
    pub(super) trace: u64,
    pub(super) struck: u64,
    /// Wakers to call after the lock is released.
    pub(super) wakers: Vec<Waker>,
}

pub(super) enum Event {
    Arrives {
        pipe: u64,
        bytes: Vec<u8>,
    },
    Ends {
        pipe: u64,
        end: Result<(), ErrorKind>,
    },
    Refuses {
        pipe: u64,
        kind: ErrorKind,
    },
    Knocks {
        name: String,
        id: u64,
        ends: EndPipes,
    },
    Timer(Waker),
}

/// A listener.
pub(super) struct SimDoor {
    /// Distinguishes listeners that use the same name one after the other.
    pub(super) id: u64,
    pub(super) waiting: VecDeque<EndPipes>,
    pub(super) sleeper: PipeSleeper,
}

/// The pipes that one end of a connection reads and writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndPipes {
    pub(super) reads: u64,
    pub(super) writes: u64,
}

/// A side of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipeSide {
    Reader,
    Writer,
}

/// Maximum number of connections that wait at a listener.
const BACKLOG: usize = 1024;

impl NetworkState {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            random: Random::new(settings.seed),
            settings,
            now: 0,
            next: 0,
            events: BTreeMap::new(),
            pipes: BTreeMap::new(),
            names: BTreeMap::new(),
            trace: 0xcbf2_9ce4_8422_2325,
            struck: 0,
            wakers: Vec::new(),
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    pub(super) fn record(&mut self, details: &[u64]) {
        for word in details.iter().chain([&self.now]) {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01b3);
            self.trace ^= self.trace >> 29;
        }
    }

    pub(super) fn latency(&mut self) -> u64 {
        let (start, end) = (*self.settings.latency.start(), *self.settings.latency.end());
        self.random.within(&(nanoseconds(start)..=nanoseconds(end)))
    }

    pub(super) fn at(&mut self, time: u64, event: Event) {
        let order = self.number();
        self.events.insert((time, order), event);
    }

    pub(super) fn door(&mut self, name: &str, id: u64) -> Option<&mut SimDoor> {
        self.names.get_mut(name).filter(|door| door.id == id)
    }

    pub(super) fn sleeper(
        &mut self,
        pipe: u64,
        side: PipeSide,
    ) -> Option<(&mut PipeSleeper, bool)> {
        let pipe = self.pipes.get_mut(&pipe)?;
        let ready = match side {
            PipeSide::Reader => pipe.readable(),
            PipeSide::Writer => pipe.writable(),
        };
        Some(match side {
            PipeSide::Reader => (&mut pipe.reader, ready),
            PipeSide::Writer => (&mut pipe.writer, ready),
        })
    }

    /// Connects to a listener. Returns the client's end of the connection.
    pub(super) fn knock(&mut self, name: &str) -> io::Result<EndPipes> {
        let Some(door) = self.names.get(name) else {
            return Err(ErrorKind::NotFound.into());
        };
        let (id, full) = (door.id, door.waiting.len() >= BACKLOG);
        if full || self.random.chance(self.settings.faults.refuse) {
            self.struck = self.struck.saturating_add(u64::from(!full));
            return Err(ErrorKind::ConnectionRefused.into());
        }
        let pipe = self.number().saturating_mul(2);
        let reverse = pipe.saturating_add(1);
        for number in [pipe, reverse] {
            let pipe = Pipe::new(&self.settings, &mut self.random);
            self.pipes.insert(number, pipe);
        }
        if self.random.chance(self.settings.faults.silent) {
            self.strike(pipe, Flaw::Vanish);
        }
        let at = self.now.saturating_add(self.latency());
        let name = name.into();
        let ends = EndPipes {
            reads: pipe,
            writes: reverse,
        };
        self.at(at, Event::Knocks { name, id, ends });
        Ok(EndPipes {
            reads: reverse,
            writes: pipe,
        })
    }

    pub(super) fn write(
        &mut self,
        number: u64,
        parts: &[IoSlice<'_>],
        last: bool,
    ) -> io::Result<usize> {
        let short = self.random.chance(self.settings.short) && !last;
        let total = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let most = if short {
            usize::try_from(self.random.magnitude(total as u64)).unwrap_or(total)
        } else {
            total
        };
        let Some(pipe) = self.pipes.get_mut(&number) else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        if let Some(kind) = pipe.refusal {
            return Err(kind.into());
        }
        if total == 0 {
            return Ok(0);
        }
        let room = if last { most } else { pipe.room() };
        let written = pipe.write(parts, most.min(room), &mut self.random);
        self.record(&[2, number, written.taken as u64]);
        if !written.bytes.is_empty() {
            self.dispatch(number, written.bytes);
        }
        if let Some(flaw) = written.struck {
            self.strike(number, flaw);
        }
        match written.taken {
            0 => Err(ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// Dispatches bytes, in two pieces if the seed decides so.
    fn dispatch(&mut self, number: u64, mut bytes: Vec<u8>) {
        if self.random.chance(self.settings.short) {
            let first = self.random.index(bytes.len());
            let rest = bytes.split_off(first);
            if !bytes.is_empty() {
                self.post(number, |pipe| Event::Arrives { pipe, bytes });
            }
            bytes = rest;
        }
        self.post(number, |pipe| Event::Arrives { pipe, bytes });
    }

    /// Schedules an event of a pipe, after all earlier events of that pipe.
    fn post(&mut self, number: u64, event: impl FnOnce(u64) -> Event) {
        let at = self.now.saturating_add(self.latency());
        if let Some(pipe) = self.pipes.get_mut(&number) {
            let at = at.max(pipe.last);
            pipe.last = at;
            self.at(at, event(number));
        }
    }

    /// Applies a fault to a pipe.
    fn strike(&mut self, number: u64, flaw: Flaw) {
        self.struck = self.struck.saturating_add(1);
        let back = number ^ 1;
        match flaw {
            Flaw::Corrupt => {}
            Flaw::Cut => {
                self.lose(number);
                self.post(number, |pipe| Event::Ends { pipe, end: Ok(()) });
                let (at, kind) = (
                    self.now.saturating_add(self.latency()),
                    ErrorKind::BrokenPipe,
                );
                self.at(at, Event::Refuses { pipe: number, kind });
            }
            Flaw::Reset => {
                self.lose(number);
                self.break_off(number, ErrorKind::ConnectionReset, 0);
                self.break_off(back, ErrorKind::ConnectionReset, 0);
            }
            Flaw::Drop | Flaw::Vanish => {
                self.lose(number);
                if flaw == Flaw::Vanish {
                    self.lose(back);
                }
                let patience = nanoseconds(self.settings.faults.patience);
                self.break_off(number, ErrorKind::TimedOut, patience);
                self.break_off(back, ErrorKind::TimedOut, patience);
            }
        }
    }

    fn lose(&mut self, number: u64) {
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.lost = true;
        }
    }

    /// Delivers an error to both sides of a pipe, after `patience` and the latency.
    fn break_off(&mut self, number: u64, kind: ErrorKind, patience: u64) {
        let at = self.now.saturating_add(patience);
        let (reverse, here) = (self.latency(), self.latency());
        let end = Err(kind);
        self.at(
            at.saturating_add(reverse),
            Event::Ends { pipe: number, end },
        );
        self.at(
            at.saturating_add(here),
            Event::Refuses { pipe: number, kind },
        );
    }

    pub(super) fn read(
        &mut self,
        number: u64,
        most: usize,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<usize> {
        let short = self.random.chance(self.settings.short);
        let Some(pipe) = self.pipes.get_mut(&number) else {
            return Err(ErrorKind::ConnectionReset.into());
        };
        let mut n = most.min(pipe.ready.len());
        if n == 0 {
            return pipe.nothing();
        }
        if short {
            n = usize::try_from(self.random.magnitude(n as u64)).unwrap_or(n);
        }
        let (front, back) = pipe.ready.as_slices();
        let first = front.get(..n).unwrap_or(front);
        take(first);
        let rest = n.saturating_sub(first.len());
        take(back.get(..rest).unwrap_or(back));
        pipe.ready.drain(..n);
        pipe.writer.wake(&mut self.wakers);
        self.record(&[3, number, n as u64]);
        Ok(n)
    }

    pub(super) fn finish(&mut self, number: u64) {
        let Some(pipe) = self.pipes.get_mut(&number) else {
            return;
        };
        if pipe.refusal.replace(ErrorKind::BrokenPipe).is_none() && !pipe.lost {
            self.post(number, |pipe| Event::Ends { pipe, end: Ok(()) });
        }
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.writer.wake(&mut self.wakers);
        }
    }

    /// Ends reading from a pipe, and informs its writer.
    pub(super) fn deafen(&mut self, number: u64) {
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.finish(Ok(()));
            pipe.reader.wake(&mut self.wakers);
            if !pipe.lost {
                pipe.refusal.get_or_insert(ErrorKind::BrokenPipe);
                pipe.writer.wake(&mut self.wakers);
            }
        }
    }

    /// Removes one end of a connection. If the settings include resets, unread bytes reset the
    /// connection, as in TCP.
    pub(super) fn hang_up(&mut self, ends: EndPipes) {
        self.finish(ends.writes);
        self.deafen(ends.reads);
        if let Some(pipe) = self.pipes.get_mut(&ends.reads) {
            let unread = !pipe.ready.is_empty() || pipe.flying > 0;
            pipe.reader_gone = true;
            pipe.ready = VecDeque::new();
            if unread && !pipe.lost && self.settings.faults.reset > 0 {
                self.break_off(ends.writes, ErrorKind::ConnectionReset, 0);
            }
        }
        if let Some(pipe) = self.pipes.get_mut(&ends.writes) {
            pipe.writer_gone = true;
        }
        for number in [ends.reads, ends.writes] {
            let over = |pipe: &Pipe| pipe.reader_gone && pipe.writer_gone;
            if self.pipes.get(&number).is_some_and(over) {
                self.pipes.remove(&number);
            }
        }
    }

    pub(super) fn process_event(&mut self) -> bool {
        let Some(((time, _), event)) = self.events.pop_first() else {
            return false;
        };
        self.now = self.now.max(time);
        match event {
            Event::Arrives { pipe, bytes } => {
                self.record(&[4, pipe, bytes.len() as u64]);
                self.happens(pipe, |pipe| pipe.deliver(&bytes));
            }
            Event::Ends { pipe, end } => {
                self.record(&[5, pipe]);
                self.happens(pipe, |pipe| pipe.finish(end));
            }
            Event::Refuses { pipe, kind } => {
                self.record(&[6, pipe]);
                self.happens(pipe, |pipe| {
                    pipe.refusal.get_or_insert(kind);
                });
            }
            Event::Knocks { name, id, ends } => {
                self.record(&[7, id]);
                match self.names.get_mut(&name).filter(|door| door.id == id) {
                    Some(door) => {
                        door.waiting.push_back(ends);
                        door.sleeper.wake(&mut self.wakers);
                    }
                    None => self.hang_up(ends),
                }
            }
            Event::Timer(waker) => self.wakers.push(waker),
        }
        true
    }

    /// Changes a pipe, and wakes the sides that can continue.
    fn happens(&mut self, number: u64, change: impl FnOnce(&mut Pipe)) {
        if let Some(pipe) = self.pipes.get_mut(&number) {
            change(pipe);
            if pipe.readable() {
                pipe.reader.wake(&mut self.wakers);
            }
            if pipe.writable() {
                pipe.writer.wake(&mut self.wakers);
            }
        }
        if self.random.chance(self.settings.spurious) {
            if let Some(pipe) = self.pipes.get_mut(&(number ^ 1)) {
                pipe.reader.wake(&mut self.wakers);
                pipe.writer.wake(&mut self.wakers);
            }
        }
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
