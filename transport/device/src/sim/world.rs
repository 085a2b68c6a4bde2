//! The network as its wires use it, and its clock.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::Waker;
use std::time::Duration;

use super::pipe::PipeSleeper;
use super::settings::Settings;
use super::state::{EndPipes, Event, NetworkState, PipeSide, SimDoor, nanoseconds};
use jstream_sync::callbacks;
use jstream_sync::event_fd::EventFd;
use jstream_sync::lock;

/// State that all wires of a simulation share.
///
/// If a simulation drives the network, events occur at their times. Otherwise no executor would
/// process them, so a write delivers its bytes before it returns.
pub(super) struct World {
    driven: bool,
    state: Mutex<NetworkState>,
}

/// Simulated duration of reading the clock, in nanoseconds.
const LOOK: u64 = 50;

/// One end of a connection. Dropping it hangs up.
pub(super) struct ConnectionEnd {
    pub(super) world: Arc<World>,
    pipes: EndPipes,
}

/// Error: the listener was closed.
pub(super) struct Closed;

impl World {
    pub(super) fn new(settings: Settings, driven: bool) -> Self {
        Self {
            driven,
            state: Mutex::new(NetworkState::new(settings)),
        }
    }

    /// Returns the network shared by all threads without a simulation. It has no faults.
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

    fn lock(&self) -> MutexGuard<'_, NetworkState> {
        lock(&self.state)
    }

    /// Changes the state, and calls the wakers of affected tasks after unlocking it.
    fn change<R>(&self, change: impl FnOnce(&mut NetworkState) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        if !self.driven {
            while state.process_event() {}
        }
        let wakers = mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(callbacks::wake);
        result
    }

    pub(super) fn now(&self) -> Duration {
        Duration::from_nanos(self.lock().now)
    }

    pub(super) fn trace(&self) -> u64 {
        self.lock().trace
    }

    /// Returns the number of directions of all connections.
    #[cfg(test)]
    pub(super) fn pipes(&self) -> usize {
        self.lock().pipes.len()
    }

    pub(super) fn struck(&self) -> u64 {
        self.lock().struck
    }

    /// Returns the time after advancing it a little, so that a loop that polls the clock
    /// terminates.
    pub(super) fn tick(&self) -> Duration {
        let mut state = self.lock();
        state.now = state.now.saturating_add(LOOK);
        Duration::from_nanos(state.now)
    }

    pub(super) fn record(&self, details: &[u64]) {
        self.lock().record(details);
    }

    /// Processes the next event. Returns true if there was one.
    pub(super) fn process_event(&self) -> bool {
        self.change(NetworkState::process_event)
    }

    /// Chooses one of `runnable` tasks. Returns `None` if an event comes first, or if no task can
    /// run.
    pub(super) fn choose(&self, runnable: usize) -> Option<usize> {
        let mut state = self.lock();
        if runnable == 0 || (!state.events.is_empty() && state.random.chance(250)) {
            return None;
        }
        Some(state.random.index(runnable))
    }

    /// Calls `waker` after `duration`, or at the time `set` by an earlier call. Returns the time.
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

    /// Registers a listener and returns its number. Returns `None` if the name is in use.
    pub(super) fn bind(&self, name: &str) -> Option<u64> {
        let mut state = self.lock();
        if state.names.contains_key(name) {
            return None;
        }
        let id = state.number();
        let door = SimDoor {
            id,
            waiting: VecDeque::new(),
            sleeper: PipeSleeper::default(),
        };
        state.names.insert(name.into(), door);
        Some(id)
    }

    /// Closes the listener if its number is `id`. Connections that wait there are hung up.
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

    /// Returns the next connection of the listener, or an error if it was closed.
    pub(super) fn accept(
        self: &Arc<Self>,
        name: &str,
        id: u64,
    ) -> Result<Option<ConnectionEnd>, Closed> {
        let mut state = self.lock();
        let ends = state.door(name, id).ok_or(Closed)?.waiting.pop_front();
        state.record(&[1, id, u64::from(ends.is_some())]);
        Ok(ends.map(|pipes| ConnectionEnd {
            world: Arc::clone(self),
            pipes,
        }))
    }

    /// Returns true if a connection waits or the listener was closed. Otherwise, `waker` will be
    /// called when this happens.
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

    /// Makes `signal` readable once a connection waits or the listener is closed. Returns false if
    /// the listener is closed already.
    pub(super) fn door_signal(&self, name: &str, id: u64, signal: &Arc<EventFd>) -> bool {
        let mut state = self.lock();
        let NetworkState { names, wakers, .. } = &mut *state;
        let Some(door) = names.get_mut(name).filter(|door| door.id == id) else {
            return false;
        };
        door.sleeper.signal = Some(Arc::clone(signal));
        if !door.waiting.is_empty() {
            door.sleeper.wake(wakers);
        }
        let wakers = mem::take(wakers);
        drop(state);
        wakers.into_iter().for_each(callbacks::wake);
        true
    }

    /// Connects to a listener. Returns the client's end of the connection.
    pub(super) fn connect(self: &Arc<Self>, name: &str) -> io::Result<ConnectionEnd> {
        let pipes = self.change(|state| state.knock(name))?;
        Ok(ConnectionEnd {
            world: Arc::clone(self),
            pipes,
        })
    }
}

impl ConnectionEnd {
    /// Returns the number of the connection.
    pub(super) fn number(&self) -> u64 {
        self.pipes.reads >> 1
    }

    /// Writes some of `parts`. If `last` is true, writes all of them, even without room.
    pub(super) fn write(&self, parts: &[IoSlice<'_>], last: bool) -> io::Result<usize> {
        self.world
            .change(|state| state.write(self.pipes.writes, parts, last))
    }

    /// Reads at most `most` bytes and passes them to `take`, piece by piece.
    pub(super) fn read(&self, most: usize, take: impl FnMut(&[u8])) -> io::Result<usize> {
        self.world
            .change(|state| state.read(self.pipes.reads, most, take))
    }

    /// Ends the writing direction.
    pub(super) fn finish(&self) {
        self.world.change(|state| state.finish(self.pipes.writes));
    }

    /// Ends both directions.
    pub(super) fn end(&self) {
        self.world.change(|state| {
            state.finish(self.pipes.writes);
            state.deafen(self.pipes.reads);
        });
    }

    /// Returns true if `side` can continue now. Otherwise, `waker` will be called when it may
    /// continue.
    pub(super) fn arm(&self, side: PipeSide, waker: &Waker) -> bool {
        let mut state = self.world.lock();
        let Some((sleeper, ready)) = state.sleeper(self.pipe(side), side) else {
            return true;
        };
        if !ready {
            sleeper.waker = Some(waker.clone());
        }
        ready
    }

    /// Returns true if `side` can continue now. In any case, `signal` becomes readable when it may
    /// continue.
    pub(super) fn arm_signal(&self, side: PipeSide, signal: &Arc<EventFd>) -> bool {
        let mut state = self.world.lock();
        let Some((sleeper, ready)) = state.sleeper(self.pipe(side), side) else {
            return true;
        };
        sleeper.signal = Some(Arc::clone(signal));
        ready
    }

    fn pipe(&self, side: PipeSide) -> u64 {
        match side {
            PipeSide::Reader => self.pipes.reads,
            PipeSide::Writer => self.pipes.writes,
        }
    }
}

impl Drop for ConnectionEnd {
    fn drop(&mut self) {
        self.world.change(|state| state.hang_up(self.pipes));
    }
}
