//! The network, and its time.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, IoSlice};
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::pipe::{Flaw, Pipe, Sleeper};
use super::random::Random;
use super::settings::Settings;

/// Everything that the wires of one simulation share.
///
/// With a simulation that drives it, an event waits for its time. Without, nobody would ever get there:
/// all that was written has arrived when the write returns.
pub(super) struct World {
    driven: bool,
    state: Mutex<State>,
}

struct State {
    settings: Settings,
    random: Random,
    /// Nanoseconds.
    now: u64,
    next: u64,
    /// By time, then by order.
    events: BTreeMap<(u64, u64), Event>,
    /// Two pipes of a connection have neighbouring numbers: 2n and 2n + 1.
    pipes: BTreeMap<u64, Pipe>,
    names: BTreeMap<String, Door>,
    trace: u64,
    struck: u64,
    /// Who is to be woken when the lock is free.
    wakers: Vec<Waker>,
}

enum Event {
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
        ends: Ends,
    },
    Timer(Waker),
}

/// One listener.
struct Door {
    /// Names are used again.
    id: u64,
    waiting: VecDeque<Ends>,
    sleeper: Sleeper,
}

/// The pipes that one end of a connection reads and writes.
#[derive(Debug, Clone, Copy)]
struct Ends {
    reads: u64,
    writes: u64,
}

/// The most connections that wait at a listener.
const BACKLOG: usize = 1024;

/// How long looking at the clock takes, in nanoseconds.
const LOOK: u64 = 50;

/// One end of a connection. Whoever drops it hangs up.
pub(super) struct End {
    pub(super) world: Arc<World>,
    pipes: Ends,
}

/// There is no such door any more.
pub(super) struct Closed;

/// Which side of a pipe somebody is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Reader,
    Writer,
}

impl World {
    pub(super) fn new(settings: Settings, driven: bool) -> Self {
        let state = State {
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
        };
        Self {
            driven,
            state: Mutex::new(state),
        }
    }

    /// The one of all threads on which no simulation runs. Nothing breaks there.
    pub(super) fn of_threads() -> Arc<Self> {
        static THREADS: OnceLock<Arc<World>> = OnceLock::new();
        let world = THREADS.get_or_init(|| {
            let settings = Settings {
                window: 1 << 16..=1 << 18,
                ..Settings::default()
            };
            Arc::new(Self::new(settings, false))
        });
        Arc::clone(world)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes whom that concerns once it is unlocked.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        if !self.driven {
            while state.step() {}
        }
        let wakers = mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    pub(super) fn now(&self) -> Duration {
        Duration::from_nanos(self.lock().now)
    }

    pub(super) fn trace(&self) -> u64 {
        self.lock().trace
    }

    /// How many directions of connections there are.
    #[cfg(test)]
    pub(super) fn pipes(&self) -> usize {
        self.lock().pipes.len()
    }

    pub(super) fn struck(&self) -> u64 {
        self.lock().struck
    }

    /// The time, which goes on a little by looking at it, so that nobody who waits for it waits for ever.
    pub(super) fn look(&self) -> Duration {
        let mut state = self.lock();
        state.now = state.now.saturating_add(LOOK);
        Duration::from_nanos(state.now)
    }

    pub(super) fn note(&self, what: &[u64]) {
        self.lock().note(what);
    }

    /// Makes the next event happen; whether there was one.
    pub(super) fn step(&self) -> bool {
        self.change(State::step)
    }

    /// Which of `runnable` tasks runs; `None` when an event comes first, or nobody can run.
    pub(super) fn choose(&self, runnable: usize) -> Option<usize> {
        let mut state = self.lock();
        if runnable == 0 || (!state.events.is_empty() && state.random.chance(250)) {
            return None;
        }
        Some(state.random.index(runnable))
    }

    /// Wakes `waker` after `duration`, or at the time that was `set` before; returns the time.
    pub(super) fn wake_after(
        &self,
        duration: Duration,
        set: Option<Duration>,
        waker: &Waker,
    ) -> Duration {
        self.change(|state| {
            let at = set.map_or_else(
                || state.now.saturating_add(nanoseconds(duration)),
                nanoseconds,
            );
            state.at(at, Event::Timer(waker.clone()));
            Duration::from_nanos(at)
        })
    }

    /// Opens a door of that name; its number, or `None` when there is one.
    pub(super) fn bind(&self, name: &str) -> Option<u64> {
        let mut state = self.lock();
        if state.names.contains_key(name) {
            return None;
        }
        let id = state.number();
        let door = Door {
            id,
            waiting: VecDeque::new(),
            sleeper: Sleeper::default(),
        };
        state.names.insert(name.into(), door);
        Some(id)
    }

    /// Closes the door, if it is still that one. Who waits there hears that nobody is there.
    pub(super) fn unbind(&self, name: &str, id: u64) {
        self.change(|state| {
            if state.door(name, id).is_none() {
                return;
            }
            if let Some(mut door) = state.names.remove(name) {
                door.sleeper.wake(&mut state.wakers);
                for ends in door.waiting {
                    state.hang_up(ends);
                }
            }
        });
    }

    /// The next connection at that door; `Err` when it was closed.
    pub(super) fn accept(self: &Arc<Self>, name: &str, id: u64) -> Result<Option<End>, Closed> {
        let mut state = self.lock();
        let ends = state.door(name, id).ok_or(Closed)?.waiting.pop_front();
        state.note(&[1, id, u64::from(ends.is_some())]);
        Ok(ends.map(|pipes| End {
            world: Arc::clone(self),
            pipes,
        }))
    }

    /// Wakes `waker` when somebody comes to that door or it is closed; `true` when that has happened.
    pub(super) fn arm_door(&self, name: &str, id: u64, waker: &Waker) -> bool {
        let mut state = self.lock();
        match state.door(name, id) {
            Some(door) if door.waiting.is_empty() => {
                door.sleeper.waker = Some(waker.clone());
                false
            }
            _ => true,
        }
    }

    /// `signal` becomes readable when somebody comes to that door or it is closed; whether there is one.
    pub(super) fn door_signal(&self, name: &str, id: u64, signal: &Arc<OwnedFd>) -> bool {
        let mut state = self.lock();
        let State { names, wakers, .. } = &mut *state;
        let Some(door) = names.get_mut(name).filter(|door| door.id == id) else {
            return false;
        };
        door.sleeper.signal = Some(Arc::clone(signal));
        if !door.waiting.is_empty() {
            door.sleeper.wake(wakers);
        }
        let wakers = mem::take(wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        true
    }

    /// Knocks at a door; our end of the connection.
    pub(super) fn connect(self: &Arc<Self>, name: &str) -> io::Result<End> {
        self.change(|state| {
            let Some(door) = state.names.get(name) else {
                return Err(ErrorKind::NotFound.into());
            };
            let (id, full) = (door.id, door.waiting.len() >= BACKLOG);
            if full || state.random.chance(state.settings.faults.refuse) {
                state.struck = state.struck.saturating_add(u64::from(!full));
                return Err(ErrorKind::ConnectionRefused.into());
            }
            let pipe = state.number().saturating_mul(2);
            let there = pipe.saturating_add(1);
            for number in [pipe, there] {
                let pipe = Pipe::new(&state.settings, &mut state.random);
                state.pipes.insert(number, pipe);
            }
            if state.random.chance(state.settings.faults.silent) {
                state.strike(pipe, Flaw::Vanish);
            }
            let at = state.now.saturating_add(state.latency());
            let name = name.into();
            let ends = Ends {
                reads: pipe,
                writes: there,
            };
            state.at(at, Event::Knocks { name, id, ends });
            Ok(End {
                world: Arc::clone(self),
                pipes: Ends {
                    reads: there,
                    writes: pipe,
                },
            })
        })
    }
}

impl End {
    /// The number of the connection.
    pub(super) fn number(&self) -> u64 {
        self.pipes.reads >> 1
    }

    /// Writes some of `parts`; all of them when they are the `last`.
    pub(super) fn write(&self, parts: &[IoSlice<'_>], last: bool) -> io::Result<usize> {
        self.world
            .change(|state| state.write(self.pipes.writes, parts, last))
    }

    /// Reads at most `most` bytes, which it gives to `take` one piece after another.
    pub(super) fn read(&self, most: usize, take: impl FnMut(&[u8])) -> io::Result<usize> {
        self.world
            .change(|state| state.read(self.pipes.reads, most, take))
    }

    /// Says that nothing more is written.
    pub(super) fn finish(&self) {
        self.world.change(|state| state.finish(self.pipes.writes));
    }

    /// Ends both directions: nothing more is written, nothing more is read.
    pub(super) fn end(&self) {
        self.world.change(|state| {
            state.finish(self.pipes.writes);
            state.deafen(self.pipes.reads);
        });
    }

    /// `waker` is going to be called when `side` may get further; `true` when it may now.
    pub(super) fn arm(&self, side: Side, waker: &Waker) -> bool {
        let mut state = self.world.lock();
        let Some((sleeper, ready)) = state.sleeper(self.pipe(side), side) else {
            return true;
        };
        if !ready {
            sleeper.waker = Some(waker.clone());
        }
        ready
    }

    /// `signal` becomes readable when `side` may get further; `true` when it may now.
    pub(super) fn arm_signal(&self, side: Side, signal: &Arc<OwnedFd>) -> bool {
        let mut state = self.world.lock();
        let Some((sleeper, ready)) = state.sleeper(self.pipe(side), side) else {
            return true;
        };
        sleeper.signal = Some(Arc::clone(signal));
        ready
    }

    fn pipe(&self, side: Side) -> u64 {
        match side {
            Side::Reader => self.pipes.reads,
            Side::Writer => self.pipes.writes,
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.world.change(|state| state.hang_up(self.pipes));
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    fn note(&mut self, what: &[u64]) {
        for word in what.iter().chain([&self.now]) {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01b3);
            self.trace ^= self.trace >> 29;
        }
    }

    fn latency(&mut self) -> u64 {
        let (start, end) = (*self.settings.latency.start(), *self.settings.latency.end());
        self.random.within(&(nanoseconds(start)..=nanoseconds(end)))
    }

    fn at(&mut self, time: u64, event: Event) {
        let order = self.number();
        self.events.insert((time, order), event);
    }

    fn door(&mut self, name: &str, id: u64) -> Option<&mut Door> {
        self.names.get_mut(name).filter(|door| door.id == id)
    }

    fn sleeper(&mut self, pipe: u64, side: Side) -> Option<(&mut Sleeper, bool)> {
        let pipe = self.pipes.get_mut(&pipe)?;
        let ready = match side {
            Side::Reader => pipe.readable(),
            Side::Writer => pipe.writable(),
        };
        Some(match side {
            Side::Reader => (&mut pipe.reader, ready),
            Side::Writer => (&mut pipe.writer, ready),
        })
    }

    fn write(&mut self, number: u64, parts: &[IoSlice<'_>], last: bool) -> io::Result<usize> {
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
        self.note(&[2, number, written.taken as u64]);
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

    /// Sends bytes on their way, in two pieces when the seed wants it.
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

    /// Something arrives behind all that was written before.
    fn post(&mut self, number: u64, event: impl FnOnce(u64) -> Event) {
        let at = self.now.saturating_add(self.latency());
        if let Some(pipe) = self.pipes.get_mut(&number) {
            let at = at.max(pipe.last);
            pipe.last = at;
            self.at(at, event(number));
        }
    }

    /// A fault happens to what `number` carries.
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

    /// Both sides of a pipe get an error, after `patience` and the time that it travels.
    fn break_off(&mut self, number: u64, kind: ErrorKind, patience: u64) {
        let at = self.now.saturating_add(patience);
        let (there, here) = (self.latency(), self.latency());
        let end = Err(kind);
        self.at(at.saturating_add(there), Event::Ends { pipe: number, end });
        self.at(
            at.saturating_add(here),
            Event::Refuses { pipe: number, kind },
        );
    }

    fn read(&mut self, number: u64, most: usize, mut take: impl FnMut(&[u8])) -> io::Result<usize> {
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
        self.note(&[3, number, n as u64]);
        Ok(n)
    }

    fn finish(&mut self, number: u64) {
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

    /// Its reader reads no more, and its writer learns it.
    fn deafen(&mut self, number: u64) {
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.finish(Ok(()));
            pipe.reader.wake(&mut self.wakers);
            if !pipe.lost {
                pipe.refusal.get_or_insert(ErrorKind::BrokenPipe);
                pipe.writer.wake(&mut self.wakers);
            }
        }
    }

    /// One end is gone. Where connections are reset, bytes that it has not read reset this one, as TCP does.
    fn hang_up(&mut self, ends: Ends) {
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

    fn step(&mut self) -> bool {
        let Some(((time, _), event)) = self.events.pop_first() else {
            return false;
        };
        self.now = self.now.max(time);
        match event {
            Event::Arrives { pipe, bytes } => {
                self.note(&[4, pipe, bytes.len() as u64]);
                self.happens(pipe, |pipe| pipe.deliver(&bytes));
            }
            Event::Ends { pipe, end } => {
                self.note(&[5, pipe]);
                self.happens(pipe, |pipe| pipe.finish(end));
            }
            Event::Refuses { pipe, kind } => {
                self.note(&[6, pipe]);
                self.happens(pipe, |pipe| {
                    pipe.refusal.get_or_insert(kind);
                });
            }
            Event::Knocks { name, id, ends } => {
                self.note(&[7, id]);
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

    /// Changes a pipe, and wakes who waits for it.
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

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
