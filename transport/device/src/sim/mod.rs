//! A simulated network inside this process that fails according to a seed, and an executor in which
//! the seed decides the order of all events. A run that failed can be repeated with the same seed.
//!
//! A [`Simulation`] runs the tasks of a program's hosts on one thread. The tasks listen on and
//! connect to addresses such as `sim://name`, which are private to each simulation, and use
//! endpoints as they would use any others. The network delays bytes, splits them into pieces, and
//! reorders the pieces of different connections. With [`Faults`], connections also break in all the
//! ways in which real connections break. Time is simulated, so waiting takes no real time.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use jstream_transport::sim::{self, Settings, Simulation};
//! use std::time::Duration;
//!
//! let run = |seed| {
//!     let mut simulation = Simulation::new(Settings::new(seed));
//!     let sum = simulation.run(async {
//!         let slow = sim::spawn("slow", async {
//!             sim::sleep(Duration::from_secs(3600)).await;
//!             1
//!         });
//!         let fast = sim::spawn("fast", async { 2 });
//!         slow.await + fast.await
//!     })?;
//!     Ok::<_, sim::Stuck>((sum, simulation.trace()))
//! };
//! assert_eq!(run(7)?, run(7)?);
//! # Ok(())
//! # }
//! ```
//!
//! Tasks should wait in futures. A call that blocks inside a task polls other tasks meanwhile,
//! nested on the stack of that task. It returns once its condition is met and the tasks that it
//! polls have yielded. So a task can call `connect` while another task accepts. Spinning is useless
//! here: set [`Options::spin`](jstream_base::Options::spin) to zero.
//!
//! Runs are repeatable as far as the program itself is. Values that it takes from clocks, from
//! other threads or from the order of a `HashMap` do not depend on the seed.
//!
//! On threads that run no simulation, `sim://name` is a name of the whole process, in a network
//! without faults that delivers bytes immediately.

mod executor;
mod pipe;
mod random;
mod settings;
mod state;
mod wire;
mod world;

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

pub use executor::{Simulation, Stuck, Task, sleep, spawn, yield_now};
#[doc(hidden)]
pub use executor::{clock, spawn_beside};
pub use settings::{Faults, Settings};

use self::wire::{Signal, SimWire};
use self::world::{Closed, World};
use super::connection::{
    Accept, Accepted, Armed, Connection, Device, Establish, Farewell, Interest, Limits,
};
use super::deadline::Deadline;
use super::stream::Wire;
use super::stream::connection;
use super::stream::greeting::{Welcoming, greet};
use super::stream::hello::Hello;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{AcceptError, ConnectError, HandshakeError, ListenError};

/// Device of the addresses `sim://name`.
pub(crate) struct Sim;

impl Device for Sim {
    fn scheme(&self) -> &'static str {
        "sim"
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        let world = world();
        let id = world
            .bind(name(address))
            .ok_or_else(|| ListenError::InUse {
                address: address.clone(),
            })?;
        Ok(Box::new(SimListener {
            world,
            address: address.clone(),
            id,
            options: options.clone(),
            signal: Signal::default(),
        }))
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        let end = world().connect(name(address)).map_err(|source| {
            let address = address.clone();
            match source.kind() {
                ErrorKind::NotFound => ConnectError::NoListener { address },
                _ => ConnectError::Unreachable {
                    address,
                    tried: 1,
                    source,
                },
            }
        })?;
        let wire = SimWire::new(end);
        let theirs = greet(&wire, options).map_err(|unwelcome| unwelcome.at(address))?;
        Ok(connected(wire, address.clone(), theirs, options))
    }
}

fn connected(wire: SimWire, peer: Address, theirs: Hello, options: &Options) -> Connection {
    let made = connection(wire, (peer, Sim.scheme()), theirs, options);
    // The seed may draw arbitrarily small windows.
    let limits = Limits {
        eager: 0,
        ..made.limits
    };
    Connection { limits, ..made }
}

/// Returns the network of the current thread.
fn world() -> Arc<World> {
    executor::current_world().unwrap_or_else(World::of_threads)
}

fn name(address: &Address) -> &str {
    let Address::Sim { name, .. } = address else {
        panic!("the simulated device was given {address}")
    };
    name
}

struct SimListener {
    world: Arc<World>,
    address: Address,
    id: u64,
    options: Options,
    signal: Signal,
}

impl Accept for SimListener {
    fn local(&self) -> &Address {
        &self.address
    }

    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError> {
        self.signal.drain();
        let accepted = self.world.accept(name(&self.address), self.id);
        if !matches!(accepted, Ok(None)) {
            // More connections may be waiting.
            self.signal.raise();
        }
        let end = accepted.map_err(|Closed| AcceptError::ClosedLocally {
            address: self.address.clone(),
        })?;
        Ok(end.map(|end| {
            let name = format!("{}-client-{}", name(&self.address), end.number());
            let peer = Address::sim_peer(name);
            Accepted {
                peer: peer.clone(),
                half_made: Box::new(PendingSim {
                    wire: Some(SimWire::new(end)),
                    welcoming: Welcoming::default(),
                    peer,
                    options: self.options.clone(),
                }),
            }
        }))
    }

    fn source(&self) -> BorrowedFd<'_> {
        let signal = self.signal.get();
        let name = name(&self.address);
        if !self.world.door_signal(name, self.id, signal) {
            self.signal.raise();
        }
        signal.as_fd()
    }

    fn arm(&self, waker: &Waker) -> Armed {
        if self.world.arm_door(name(&self.address), self.id, waker) {
            Armed::Ready
        } else {
            Armed::Waker
        }
    }

    fn close(&self) {
        self.world.unbind(name(&self.address), self.id);
        self.signal.raise();
    }
}

impl Drop for SimListener {
    fn drop(&mut self) {
        self.close();
    }
}

struct PendingSim {
    /// `None` after the connection was returned.
    wire: Option<SimWire>,
    welcoming: Welcoming,
    peer: Address,
    options: Options,
}

impl Establish for PendingSim {
    fn read_greeting(&mut self) -> Result<bool, HandshakeError> {
        match &self.wire {
            Some(wire) => self.welcoming.read_hello(wire, &self.options),
            None => Err(HandshakeError::Closed { received: 0 }),
        }
    }

    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError> {
        let closed = HandshakeError::Closed { received: 0 };
        let wire = self.wire.as_ref().ok_or(closed)?;
        let Some(theirs) = self.welcoming.accept(wire, &self.options)? else {
            return Ok(None);
        };
        let peer = self.peer.clone();
        let wire = self.wire.take();
        Ok(wire.map(|wire| connected(wire, peer, theirs, &self.options)))
    }

    fn decline(&mut self, reason: &str) {
        self.welcoming.decline(&self.options, reason);
    }

    fn farewell(&mut self) -> Farewell {
        let wire = self.wire.as_ref();
        wire.map_or(Farewell::Gone, |wire| self.welcoming.farewell(wire))
    }

    fn timed_out(&self) -> HandshakeError {
        self.welcoming.timed_out(&self.options)
    }

    fn timeout(&self) -> Duration {
        self.options.handshake_timeout
    }

    fn arm(&mut self, waker: &Waker) -> Armed {
        let interest = self.welcoming.interest();
        let wire = self.wire.as_ref();
        wire.map_or(Armed::Ready, |wire| wire.arm(interest, Some(waker)))
    }

    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)> {
        let wire = self.wire.as_ref()?;
        Some(wire.source(self.welcoming.interest()))
    }

    fn wait(&mut self, deadline: Deadline) -> io::Result<()> {
        let interest = self.welcoming.interest();
        let wire = self.wire.as_ref();
        wire.map_or(Ok(()), |wire| wire.sleep(interest, deadline))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "test code")]
mod tests;
