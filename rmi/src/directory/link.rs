//! A connection to a registry, which is made anew when it has ended.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::Address;
use jstream_transport::active::Serving;

use super::{Directory, DirectoryStub, Entry, NAME, Refusal};
use crate::client::{Client, ClientOptions};
use crate::error::{CallError, LookupError, Outcome};
use crate::stream::Tasks;
use crate::sync::lock;

/// How long it is waited before the first attempt to connect anew. The longer it was, up to the other, the longer it is
/// waited again: a registry that comes back is not run over by those who miss it.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The connection, and what is to be done with the next one.
pub(super) struct Link {
    address: Address,
    options: ClientOptions,
    line: Mutex<Line>,
    /// Whoever makes a connection.
    renewing: Mutex<()>,
    /// Those who wait for the next connection.
    tasks: Tasks,
    pauses: Arc<Pauses>,
}

struct Line {
    client: Client,
    directory: DirectoryStub,
    /// How many connections there were before this one.
    number: u64,
    /// What was bound, and is to be bound again.
    bound: BTreeMap<String, Entry>,
    /// Whether it is made anew without being used.
    is_kept: bool,
    thread: Option<Serving>,
}

/// The connection as it is used once.
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

    /// A connection behind that with this number.
    pub(super) fn poll_next(&self, number: u64, waker: &Waker) -> Poll<Used> {
        self.tasks.register(waker);
        let used = self.current();
        match used.number == number {
            true => Poll::Pending,
            false => Poll::Ready(used),
        }
    }

    /// Whether the connection with this number has ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        let line = lock(&self.line);
        line.number != number || line.client.connection().peer().has_ended()
    }

    /// Asks the registry, once more where the connection had ended, if the call did not run or may run twice.
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

    /// What is bound from now on, also by the next connection: what was bound to the name before.
    pub(super) fn remember(&self, name: &str, entry: Option<Entry>) -> Option<Entry> {
        let mut line = lock(&self.line);
        match entry {
            Some(entry) => line.bound.insert(name.to_owned(), entry),
            None => line.bound.remove(name),
        }
    }

    /// Sees to it that the connection is made anew as soon as it ends.
    pub(super) fn keep(self: &Arc<Self>) -> io::Result<()> {
        let mut line = lock(&self.line);
        if line.is_kept {
            return Ok(());
        }
        line.thread = Some(line.client.start()?);
        line.is_kept = true;
        let (client, number) = (line.client.clone(), line.number);
        drop(line);
        self.attend(&client, number);
        Ok(())
    }

    /// Has the connection followed by another one.
    fn attend(self: &Arc<Self>, client: &Client, number: u64) {
        let (link, pauses) = (Arc::downgrade(self), self.pauses.clone());
        client.connection().peer().on_end(move || {
            if pauses.are_over() {
                return;
            }
            let again = thread::Builder::new().name("jstream-names".to_owned());
            // Without a thread it is made when it is used.
            let _ = again.spawn(move || follow(&link, number, &pauses));
        });
    }

    /// Makes the connection behind that with this number, unless somebody else has.
    fn renew(self: &Arc<Self>, number: u64) -> Result<(), LookupError> {
        let renewing = lock(&self.renewing);
        if lock(&self.line).number != number {
            return Ok(());
        }
        let (client, directory) = connect(&self.address, &self.options)?;
        let mut line = lock(&self.line);
        let bound: Vec<Entry> = line.bound.values().cloned().collect();
        line.directory = directory.clone();
        let before = std::mem::replace(&mut line.client, client.clone());
        line.number = number.wrapping_add(1);
        let (number, is_kept, thread) = (line.number, line.is_kept, line.thread.take());
        drop(line);
        drop((before, thread));
        for entry in &bound {
            self.bind_again(&directory, entry);
        }
        if is_kept {
            match client.start() {
                Ok(thread) => lock(&self.line).thread = Some(thread),
                Err(error) => {
                    tracing::warn!(%error, "a connection to a registry is served when it is used alone");
                }
            }
            self.attend(&client, number);
        }
        drop(renewing);
        self.tasks.wake_all();
        Ok(())
    }

    fn bind_again(&self, directory: &DirectoryStub, entry: &Entry) {
        let addresses: Vec<&str> = entry.addresses.iter().map(String::as_str).collect();
        let done = directory.bind(entry.borrowed(&addresses), false).wait();
        // Where the connection is lost again it is tried again.
        let Ok(Err(refused)) = done.map(|done| *done.get()) else {
            return;
        };
        tracing::warn!(name = %entry.name, %refused, "a name is not bound again");
        // It is somebody else's now.
        if refused == Refusal::Taken {
            self.remember(&entry.name, None);
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
    let client = Client::connect_with(address, options);
    let client = client.map_err(|source| LookupError::Unreachable {
        name: NAME.to_owned(),
        addresses: address.to_string(),
        source: Some(Box::new(source)),
    })?;
    let directory = client.lookup::<dyn Directory>(NAME)?;
    Ok((client, directory))
}

/// Makes the next connection, as long as somebody would use it.
fn follow(link: &Weak<Link>, number: u64, pauses: &Pauses) {
    let mut pause = SHORTEST_PAUSE;
    while pauses.pass(jittered(pause)) {
        let Some(link) = link.upgrade() else { return };
        match link.renew(number) {
            Ok(()) => return,
            Err(error) => {
                let address = link.address();
                tracing::debug!(%address, %error, "a registry is not back yet");
            }
        }
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// Between half of it and the whole, so that those who have lost the same registry don't come back at once.
fn jittered(pause: Duration) -> Duration {
    let part = getrandom::u32().unwrap_or(u32::MAX) >> 16;
    let half = pause.checked_div(2).unwrap_or(pause);
    let more = half.saturating_mul(part).checked_div(1 << 16);
    half.saturating_add(more.unwrap_or_default())
}

/// Waiting that ends early when nobody needs what it is waited for.
#[derive(Default)]
struct Pauses {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Pauses {
    /// Waits for so long. False when nobody needs it any more.
    fn pass(&self, time: Duration) -> bool {
        let until = Instant::now().checked_add(time);
        let mut is_over = lock(&self.is_over);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero() && !*is_over) else {
                return !*is_over;
            };
            let waited = self.changed.wait_timeout(is_over, left);
            (is_over, _) = waited.unwrap_or_else(PoisonError::into_inner);
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
