//! The server of `jperf serve`.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jstream::Pool;
use jstream::buffer::PoolOptions;
use jstream_transport::{AcceptError, Closer, Incoming, Listener, Options, listen_all};

use crate::arguments::Serve;
use crate::failure::Failure;
use crate::greeting::Allowed;
use crate::session;
use crate::{machine, output, signals};

/// Interval of the checks for clients that exceed the time limit.
const ROUND: Duration = Duration::from_secs(1);

/// Limits for clients, which are not trusted.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Limits of each client.
    pub(crate) allowed: Allowed,
    /// Maximum number of concurrent clients.
    pub(crate) clients: usize,
    /// Time for which a waiting rank spins before it sleeps.
    pub(crate) spin: Duration,
    /// Maximum time for which a client may be silent.
    pub(crate) idle: Duration,
    /// Maximum time for which a client may stay.
    pub(crate) time: Duration,
    /// True if the server ends when the last client has left.
    pub(crate) once: bool,
    /// True if clients are not reported.
    pub(crate) quiet: bool,
    /// The processor to which the threads that serve clients are pinned.
    pub(crate) pin: Option<usize>,
}

/// State that the threads of a server share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    closer: Closer,
    state: Mutex<ServerState>,
    left: Condvar,
}

#[derive(Default)]
struct ServerState {
    /// Connected clients.
    clients: BTreeMap<u64, Client>,
    /// Number of clients accepted so far, which is also the number of the last one.
    came: u64,
    /// Granted memory, in bytes.
    granted: u64,
    is_stopping: bool,
}

struct Client {
    came: Instant,
    /// Closes its connection, once that is established.
    closer: Option<Closer>,
}

/// Memory granted to a client, until this is dropped.
pub(crate) struct Grant<'s> {
    shared: &'s Shared,
    bytes: u64,
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.granted = state.granted.saturating_sub(self.bytes);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants memory to a client, if the limit allows it.
    pub(crate) fn grant(&self, bytes: u64) -> Option<Grant<'_>> {
        let mut state = self.state();
        let granted = state.granted.checked_add(bytes)?;
        if granted > self.limits.allowed.memory {
            return None;
        }
        state.granted = granted;
        Some(Grant {
            shared: self,
            bytes,
        })
    }

    /// Closes the listener and all connections.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.is_stopping = true;
        let clients = state.clients.values();
        let closers: Vec<_> = clients.filter_map(|client| client.closer.clone()).collect();
        drop(state);
        self.closer.close();
        for closer in closers {
            closer.close();
        }
    }

    /// Closes the connections of clients that exceed the time limit, even if their threads are
    /// blocked.
    fn end_overdue(&self) {
        let state = self.state();
        let clients = state.clients.values();
        let overdue = clients.filter(|client| client.came.elapsed() > self.limits.time);
        let closers: Vec<_> = overdue.filter_map(|client| client.closer.clone()).collect();
        drop(state);
        for closer in closers {
            closer.close();
        }
    }

    fn print(&self, text: &str) {
        if !self.limits.quiet {
            output::print_error(text);
        }
    }
}

/// An entry in the table of clients, until this is dropped.
struct ClientPlace {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.clients.remove(&self.number);
        let is_over = self.shared.limits.once && state.clients.is_empty();
        drop(state);
        self.shared.left.notify_all();
        if is_over {
            self.shared.closer.close();
        }
    }
}

/// Listens and serves all clients until it is stopped.
pub(crate) struct Server {
    listener: Listener,
    pub(crate) shared: Arc<Shared>,
}

impl Server {
    pub(crate) fn new(listener: Listener, limits: Limits) -> Self {
        let shared = Shared {
            limits,
            closer: listener.closer(),
            state: Mutex::default(),
            left: Condvar::new(),
        };
        Self {
            listener,
            shared: Arc::new(shared),
        }
    }

    /// Serves until the listener is closed and the last client has left.
    pub(crate) fn work(self) {
        loop {
            match self.listener.accept_timeout(ROUND) {
                Ok(incoming) => self.admit(incoming),
                Err(AcceptError::ClosedLocally { .. }) => break,
                Err(AcceptError::TimedOut { .. }) => {}
                // The listener pauses by itself before it accepts again.
                Err(error) => self.shared.print(&error.to_string()),
            }
            self.shared.end_overdue();
        }
        let mut state = self.shared.state();
        while !state.clients.is_empty() {
            let left = self.shared.left.wait(state);
            state = left.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn admit(&self, incoming: Incoming) {
        let mut state = self.shared.state();
        if state.clients.len() >= self.shared.limits.clients {
            drop(state);
            return incoming.refuse("the server has too many clients; try again later");
        }
        state.came = state.came.wrapping_add(1);
        let number = state.came;
        let client = Client {
            came: Instant::now(),
            closer: None,
        };
        state.clients.insert(number, client);
        drop(state);
        let place = ClientPlace {
            shared: self.shared.clone(),
            number,
        };
        let serving = thread::Builder::new().name(format!("client {number}"));
        // The handshake takes as long as the client wants, up to a limit, so it runs in the
        // client's thread.
        let spawned = serving.spawn(move || attend(incoming, &place));
        if let Err(error) = spawned {
            self.shared
                .print(&format!("can't start a thread for a client: {error}"));
        }
    }
}

/// Serves one client, from the handshake to the end.
fn attend(incoming: Incoming, place: &ClientPlace) {
    let (shared, number) = (&*place.shared, place.number);
    let peer = incoming.peer().clone();
    let done = incoming.establish().map_err(Failure::from);
    let done = done.and_then(|endpoint| {
        shared.print(&format!("client {number} at {peer} has connected"));
        let mut state = shared.state();
        if state.is_stopping {
            return Ok(());
        }
        if let Some(client) = state.clients.get_mut(&number) {
            client.closer = Some(endpoint.closer());
        }
        drop(state);
        if let Some(cpu) = shared.limits.pin {
            machine::pin(cpu)?;
        }
        session::session(&endpoint, shared)
    });
    match done {
        Ok(()) => shared.print(&format!("client {number} has ended")),
        Err(failure) => shared.print(&format!("client {number} at {peer}: {}", failure.text())),
    }
}

/// Returns the options for the connections of this program.
pub(crate) fn options(arguments: &Serve) -> Options {
    let mut room = PoolOptions::default();
    room.max_mapped = usize::try_from(arguments.max_memory).unwrap_or(usize::MAX);
    let mut options = Options::new(Pool::new(room));
    options.max_message = arguments.max_size;
    options.queue_bytes = options.queue_bytes.max(arguments.max_size);
    options.remote_reads = !arguments.no_remote_reads;
    if let Some(spin) = arguments.spin {
        options.spin = spin;
    }
    if arguments.trust {
        // SAFETY: the user who passes `--trust` vouches for all processes that connect, as the help
        // text says. This program does not change or map the memory of a connection.
        options = unsafe { options.trust_peer() };
    }
    options
}

/// Runs `jperf serve`.
pub(crate) fn serve(arguments: &Serve) -> Result<(), Failure> {
    let options = options(arguments);
    let spin = options.spin;
    let listener = listen_all(&arguments.addresses, &options)?;
    let addresses = listener.local_addresses().to_vec();
    let server = Server::new(listener, arguments.limits(spin));
    let shared = server.shared.clone();
    signals::on_end(move || shared.stop())?;
    if arguments.with_parent {
        let shared = server.shared.clone();
        thread::spawn(move || {
            // The read ends when the process with the other end of the pipe ends.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            shared.stop();
        });
    }
    for address in addresses {
        output::line(&format!("listening on {address}"))?;
    }
    server.work();
    Ok(())
}
