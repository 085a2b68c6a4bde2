//! A listener at work: one thread that accepts, and one for each connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use jstream_transport::{AcceptError, Address, Closer, Incoming, Listener};

use super::{Place, Places, ServerOptions, serve};
use crate::connection::lock;
use crate::error::ServeError;
use crate::exports::Exports;

/// A server that accepts connections at an address. Dropping it ends them all.
#[derive(Debug)]
pub struct Serving {
    address: Address,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    exports: Arc<Exports>,
    options: ServerOptions,
    places: Arc<Places>,
    stopping: AtomicBool,
    listener: Closer,
    /// The connections that are open, by a number of their own.
    connections: Mutex<HashMap<u64, Connection>>,
}

/// A connection, as whoever stops the server needs it.
#[derive(Debug, Default)]
struct Connection {
    /// None before its handshake.
    closer: Option<Closer>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(super) fn start(
        exports: Arc<Exports>,
        address: &Address,
        options: &ServerOptions,
    ) -> Result<Self, ServeError> {
        let listener = jstream_transport::listen(address, &options.transport)?;
        let state = Arc::new(State {
            exports,
            options: options.clone(),
            places: Arc::default(),
            stopping: AtomicBool::new(false),
            listener: listener.closer(),
            connections: Mutex::default(),
        });
        let address = listener.local_address().clone();
        let accepting = {
            let state = state.clone();
            thread::Builder::new()
                .name("jstream-accept".to_owned())
                .spawn(move || state.accept(&listener))
                .map_err(ServeError::Thread)?
        };
        Ok(Self {
            address,
            state,
            accepting: Some(accepting),
        })
    }

    /// Where it listens; a port that was asked for as 0 has been chosen.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Blocks until the listener ends.
    pub fn wait(mut self) {
        if let Some(accepting) = self.accepting.take() {
            // The thread can't panic but by a fault of ours, which it has reported then.
            let _ = accepting.join();
        }
    }

    /// Ends all connections, and waits until no method runs any more. Calls that were on their way
    /// fail at their callers.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::SeqCst);
        self.state.listener.close();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let all = std::mem::take(&mut *lock(&self.state.connections));
        // One that has not been greeted yet runs no method, and ends by itself.
        let greeted = |of: Connection| Some((of.closer?, of.thread));
        let all: Vec<_> = all.into_values().filter_map(greeted).collect();
        for (closer, _) in &all {
            closer.close();
        }
        let here = thread::current().id();
        for thread in all.into_iter().filter_map(|(_, thread)| thread) {
            // A method may own the handle that is dropped here.
            if thread.thread().id() != here {
                let _ = thread.join();
            }
        }
    }
}

impl State {
    fn accept(self: &Arc<Self>, listener: &Listener) {
        let mut number = 0u64;
        while !self.stopping.load(Ordering::SeqCst) {
            match listener.accept() {
                Ok(incoming) => {
                    if let Some(place) = self.places.take(self.options.max_connections) {
                        number = number.wrapping_add(1);
                        self.start(number, incoming, place);
                    }
                }
                Err(AcceptError::ClosedLocally { .. }) => return,
                // Out of descriptors, or a peer that was gone before it was met: the listener slows
                // down, and goes on as connections end.
                Err(_) => {}
            }
        }
    }

    /// Starts the thread of a connection.
    fn start(self: &Arc<Self>, number: u64, incoming: Incoming, place: Place) {
        lock(&self.connections).insert(number, Connection::default());
        let state = self.clone();
        let thread = thread::Builder::new()
            .name(format!("jstream-{number}"))
            .spawn(move || {
                let entry = Entry { state, number };
                entry.state.run(number, incoming);
                drop(entry);
                drop(place);
            });
        let mut connections = lock(&self.connections);
        match thread {
            Ok(handle) => {
                // The connection may have ended already.
                if let Some(connection) = connections.get_mut(&number) {
                    connection.thread = Some(handle);
                }
            }
            // No thread to be had: the connection is dropped, which its peer sees.
            Err(_) => {
                connections.remove(&number);
            }
        }
    }

    fn run(&self, number: u64, incoming: Incoming) {
        let Ok(endpoint) = incoming.establish() else {
            return;
        };
        let closer = endpoint.closer();
        if let Some(connection) = lock(&self.connections).get_mut(&number) {
            connection.closer = Some(closer.clone());
        }
        // Whoever stops the server closes what it finds; what it did not find yet closes itself.
        if self.stopping.load(Ordering::SeqCst) {
            closer.close();
        }
        serve(&self.exports, &self.options, &endpoint);
    }
}

/// The entry of a connection among those that are open, for as long as it is.
struct Entry {
    state: Arc<State>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let connection = lock(&self.state.connections).remove(&self.number);
        drop(connection);
    }
}
