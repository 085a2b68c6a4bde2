//! A connection to a registry, which reconnects when it is lost.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use jstream_active::Serving;
use jstream_base::Address;
use jstream_base::events::emit;
use tracing::Level;

use crate::client::{Client, ClientOptions};
use crate::directory::protocol::{Directory, DirectoryStub, Entry, NAME, Refusal};
use crate::session::Tasks;
use crate::support::{CallError, LookupError, Outcome, lock};

/// Initial pause before an attempt to reconnect. The pause doubles up to `LONGEST_PAUSE`, and has
/// jitter, so that a registry that restarts is not overloaded by its clients.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A connection to a registry, with the state that the next connection needs.
pub(super) struct Link {
    address: Address,
    options: ClientOptions,
    line: Mutex<Line>,
    /// Held while a connection is being made.
    renewing: Mutex<()>,
    /// Tasks that wait for the next connection.
    tasks: Tasks,
    pauses: Arc<Pauses>,
}

struct Line {
    client: Client,
    directory: DirectoryStub,
    /// Number of earlier connections.
    number: u64,
    /// Entries that are bound, and are bound again by the next connection.
    bound: BTreeMap<String, BoundEntry>,
    /// True if a lost connection is replaced in the background, even if it is not used.
    is_kept: bool,
    thread: Option<Serving>,
}

/// An entry that is bound, with its key if the name is shared.
#[derive(Clone)]
pub(super) struct BoundEntry {
    pub(super) entry: Entry,
    pub(super) key: Option<Vec<u8>>,
}

impl BoundEntry {
    /// Binds the entry. If the name is not shared, it replaces another one if `replace` is true.
    pub(super) fn bind(
        &self,
        directory: &DirectoryStub,
        replace: bool,
    ) -> Result<Result<(), Refusal>, CallError> {
        let addresses = self.entry.addresses.iter().map(String::as_str);
        let addresses: Vec<&str> = addresses.collect();
        let entry = self.entry.borrowed(&addresses);
        let done = match &self.key {
            Some(key) => directory.bind_shared(entry, key),
            None => directory.bind(entry, replace),
        };
        done.wait().map(|done| *done.get())
    }
}

/// The connection for one use.
pub(super) struct Used {
    pub(super) directory: DirectoryStub,
    pub(super) number: u64,
}

impl Link {
    pub(super) fn connect(
        address: &Address,
        options: &ClientOptions,
    ) -> Result<Arc<Self>, LookupError> {
        let (client, directory) = connect(address, options)?;
        Ok(Arc::new(Self {
            address: address.clone(),
            options: options.clone(),
            line: Mutex::new(Line {
                client,
                directory,
                number: 0,
                bound: BTreeMap::new(),
                is_kept: false,
                thread: None,
            }),
            renewing: Mutex::default(),
            tasks: Tasks::default(),
            pauses: Arc::default(),
        }))
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn options(&self) -> &ClientOptions {
        &self.options
    }

    pub(super) fn current(&self) -> Used {
        let line = lock(&self.line);
        Used {
            directory: line.directory.clone(),
            number: line.number,
        }
    }

    /// Polls for a connection with another number than this one.
    pub(super) fn poll_next(&self, number: u64, waker: &Waker) -> Poll<Used> {
        // Registered before the look, so that a connection which is made in between wakes the task.
        self.tasks.register(waker);
        let used = self.current();
        match used.number == number {
            true => Poll::Pending,
            false => Poll::Ready(used),
        }
    }

    /// Returns true if the connection with this number has ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        let line = lock(&self.line);
        line.number != number || line.client.connection().peer().has_ended()
    }

    /// Asks the registry. If the connection was lost, it asks again over a new one, provided that
    /// the call did not run or `twice` allows running it twice.
    pub(super) fn ask<R>(
        self: &Arc<Self>,
        twice: bool,
        ask: impl Fn(&DirectoryStub) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let used = self.current();
        let error = match ask(&used.directory) {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let may = twice || error.outcome() == Outcome::DidNotRun;
        if !may || !self.has_ended(used.number) || self.renew(used.number).is_err() {
            return Err(error);
        }
        ask(&self.current().directory)
    }

    /// Sets or removes an entry to be bound by later connections. Returns the previous entry of the
    /// name.
    pub(super) fn remember(&self, name: &str, entry: Option<BoundEntry>) -> Option<BoundEntry> {
        let mut line = lock(&self.line);
        match entry {
            Some(entry) => line.bound.insert(name.to_owned(), entry),
            None => line.bound.remove(name),
        }
    }

    /// From now on, reconnects in the background as soon as the connection ends.
    pub(super) fn keep(self: &Arc<Self>) -> io::Result<()> {
        let mut line = lock(&self.line);
        if line.is_kept {
            return Ok(());
        }
        // A thread serves the connection, because nothing else would notice its end.
        line.thread = Some(line.client.start()?);
        // After the thread was started: a failure leaves the link as it was.
        line.is_kept = true;
        let (client, number) = (line.client.clone(), line.number);
        // The connection may have ended already. The callback then runs here, without this lock.
        drop(line);
        self.attend(&client, number);
        Ok(())
    }

    /// Starts a thread to reconnect when this connection ends.
    fn attend(self: &Arc<Self>, client: &Client, number: u64) {
        // Weak: the connection belongs to the link, which its callback must not keep.
        let (link, pauses) = (Arc::downgrade(self), self.pauses.clone());
        client.connection().peer().on_end(move || {
            if pauses.are_over() {
                return;
            }
            // If no thread can be started, the next use of the link reconnects.
            let _ = jstream_sync::threads::spawn("jstream-names", move || {
                follow(&link, number, &pauses)
            });
        });
    }

    /// Replaces the connection with this number, unless another thread already has.
    fn renew(self: &Arc<Self>, number: u64) -> Result<(), LookupError> {
        // Held while the thread waits for the registry, so callbacks are not deferred.
        let renewing = jstream_sync::lock(&self.renewing);
        // Another thread has renewed it while this one waited.
        if lock(&self.line).number != number {
            return Ok(());
        }
        let (client, directory) = connect(&self.address, &self.options)?;
        let mut line = lock(&self.line);
        // Read under the lock that replaces the client: an entry that is added later is bound by
        // its own call.
        let bound: Vec<BoundEntry> = line.bound.values().cloned().collect();
        line.directory = directory.clone();
        let before = std::mem::replace(&mut line.client, client.clone());
        line.number = number.wrapping_add(1);
        let (number, is_kept, thread) = (line.number, line.is_kept, line.thread.take());
        drop(line);
        // Dropped without the lock, which callbacks of the old connection take.
        drop((before, thread));
        for entry in &bound {
            self.bind_renewed(&directory, entry);
        }
        if is_kept {
            match client.start() {
                Ok(thread) => lock(&self.line).thread = Some(thread),
                Err(error) => {
                    emit(Level::WARN, move || {
                        tracing::warn!(%error, "no thread serves the connection to a registry: it is served only while it is used");
                    });
                }
            }
            self.attend(&client, number);
        }
        drop(renewing);
        // Last, so that watchers which are woken find the names bound again.
        self.tasks.wake_all();
        Ok(())
    }

    fn bind_renewed(&self, directory: &DirectoryStub, bound: &BoundEntry) {
        // If the connection was lost again, the next one binds the name.
        let Ok(Err(refused)) = bound.bind(directory, false) else {
            return;
        };
        let name = bound.entry.name.clone();
        emit(Level::WARN, move || {
            tracing::warn!(name, %refused, "could not bind a name again");
        });
        // Another program has bound the name meanwhile.
        if matches!(refused, Refusal::Taken | Refusal::WrongKey) {
            self.remember(&bound.entry.name, None);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.pauses.end();
    }
}

fn connect(
    address: &Address,
    options: &ClientOptions,
) -> Result<(Client, DirectoryStub), LookupError> {
    // The link replaces its client when the connection ends. A client that connected again by
    // itself would hide the end from it.
    let options = ClientOptions {
        reconnect: None,
        ..options.clone()
    };
    let client = Client::connect_with(address, &options).wait();
    let client = client.map_err(|source| LookupError::RegistryUnreachable {
        address: address.clone(),
        source: Box::new(source),
    })?;
    let directory = client.lookup::<dyn Directory>(NAME).wait();
    // The name under which a registry is bound is an internal matter.
    let directory = directory.map_err(|error| match error {
        LookupError::Unknown { .. } => LookupError::NotARegistry {
            address: address.clone(),
        },
        LookupError::OtherInterface { .. } => LookupError::RegistryVersion {
            address: address.clone(),
        },
        other => other,
    })?;
    Ok((client, directory))
}

/// Reconnects, as long as the link exists.
fn follow(link: &Weak<Link>, number: u64, pauses: &Pauses) {
    let mut pause = SHORTEST_PAUSE;
    while pauses.pass(jittered(pause)) {
        // The handle is dropped in the pauses, so that a link which is no longer used ends.
        let Some(link) = link.upgrade() else { return };
        match link.renew(number) {
            Ok(()) => return,
            Err(error) => {
                let address = link.address().clone();
                emit(Level::DEBUG, move || {
                    tracing::debug!(%address, %error, "could not reconnect to a registry yet");
                });
            }
        }
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// Returns a random duration between half of the pause and the whole, so that clients do not
/// reconnect at the same time.
fn jittered(pause: Duration) -> Duration {
    let part = getrandom::u32().unwrap_or(u32::MAX) >> 16;
    let half = pause.checked_div(2).unwrap_or(pause);
    let more = half.saturating_mul(part).checked_div(1 << 16);
    half.saturating_add(more.unwrap_or_default())
}

/// An interruptible pause, which ends when the link is dropped.
#[derive(Default)]
struct Pauses {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Pauses {
    /// Blocks for this time. Returns false if the link was dropped.
    fn pass(&self, time: Duration) -> bool {
        let until = Instant::now().checked_add(time);
        let mut is_over = jstream_sync::lock(&self.is_over);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero() && !*is_over) else {
                return !*is_over;
            };
            let waited = self.changed.wait_timeout(is_over, left);
            (is_over, _) = jstream_sync::unpoisoned(waited);
        }
    }

    fn are_over(&self) -> bool {
        *lock(&self.is_over)
    }

    fn end(&self) {
        *lock(&self.is_over) = true;
        self.changed.notify_all();
    }
}
