//! The object that has the names of several servers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, Waker};

use jstream_transport::Address;

use super::watching::Watcher;
use super::{Change, Directory, Entry, EntryRef, Event, Refusal};
use crate::context::context;
use crate::reflection::Bound;
use crate::session::Connection;
use crate::stream::Stream;
use crate::sync::lock;

/// How many addresses a server may have, and how long each may be. Answers the threat of entries that are larger than
/// their use.
const MOST_ADDRESSES: usize = 8;
const LONGEST_ADDRESS: usize = 512;

/// What a [`Registrar`] accepts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegistrarOptions {
    /// The longest name in bytes (default 256).
    pub max_name: usize,
    /// The longest description of an interface in bytes (default 64 KiB): a longer one is cut, as it is for people alone.
    pub max_description: usize,
    /// Names that one connection may have bound at once (default 1,024). Answers the threat of programs that bind without
    /// an end, so that others can't.
    pub max_names_each: usize,
    /// Names in all (default 65,536), and the bytes of their entries (default 64 MiB). Answers the threat of many such
    /// programs.
    pub max_names: usize,
    /// The bytes of all entries.
    pub max_bytes: usize,
    /// How many may watch at once (default 1,024). Further ones get a stream that ends at once.
    pub max_watchers: usize,
    /// How many changes may wait for one who watches (default 1,024); then it is told that it has missed some, and no
    /// more. Answers the threat of watchers who don't read.
    pub max_changes: usize,
}

impl Default for RegistrarOptions {
    fn default() -> Self {
        Self {
            max_name: 256,
            max_description: 64 << 10,
            max_names_each: 1024,
            max_names: 65_536,
            max_bytes: 64 << 20,
            max_watchers: 1024,
            max_changes: 1024,
        }
    }
}

/// The names of several servers, as an object to be bound to [`NAME`](super::NAME) at one. See the
/// [module](super).
#[derive(Default)]
pub struct Registrar {
    options: RegistrarOptions,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, Kept>,
    bytes: usize,
    /// How many names each connection has bound.
    binders: HashMap<usize, usize>,
    watchers: HashMap<u64, Watcher>,
    watcher: u64,
}

struct Kept {
    entry: Entry,
    binder: usize,
}

impl Kept {
    fn change(&self, event: Event) -> Change {
        let Entry {
            name,
            interface,
            id,
            ..
        } = &self.entry;
        Change {
            event,
            name: name.clone(),
            interface: interface.clone(),
            id: *id,
        }
    }

    fn bound(&self) -> Bound {
        Bound {
            name: self.entry.name.clone(),
            interface: self.entry.interface.clone(),
            id: self.entry.id,
        }
    }
}

/// The bytes that an entry counts.
fn size(entry: &Entry) -> usize {
    let texts = [
        &entry.name,
        &entry.name,
        &entry.interface,
        &entry.description,
    ];
    let texts = texts.into_iter().chain(&entry.addresses);
    texts.fold(size_of::<Kept>(), |sum, text| {
        sum.saturating_add(text.len())
    })
}

impl State {
    /// Takes a name away, if it is bound by that connection, or whoever it was.
    fn remove(&mut self, name: &str) -> Option<Kept> {
        let kept = self.names.remove(name)?;
        self.bytes = self.bytes.saturating_sub(size(&kept.entry));
        if let Some(count) = self.binders.get_mut(&kept.binder) {
            *count = count.saturating_sub(1);
        }
        Some(kept)
    }

    /// Tells all who watch. Whom to wake, without a lock.
    fn note(&mut self, change: &Change, most: usize) -> Vec<Waker> {
        let all = self.watchers.values_mut();
        all.filter_map(|watcher| watcher.note(change, most))
            .collect()
    }
}

fn wake(all: Vec<Waker>) {
    for waker in all {
        waker.wake();
    }
}

/// The connection of the call that is answered. None of a call from this program.
fn caller() -> Option<Connection> {
    Some(Connection::of(context().call?.peer()))
}

/// The same connection has the same one, as long as it lasts.
fn number(of: Option<&Connection>) -> usize {
    of.map_or(0, |of| std::ptr::from_ref(of.session()).addr())
}

/// Whether it is on this host.
fn is_near(of: Option<&Connection>) -> bool {
    of.is_none_or(|of| match of.peer().endpoint().peer() {
        Address::Inproc { .. } | Address::Shm { .. } | Address::Uds { .. } => true,
        address => host(address).is_some_and(is_loopback),
    })
}

/// Whether it may change names.
fn may_change(of: Option<&Connection>) -> bool {
    is_near(of) || of.is_some_and(|of| of.session().terms.secret.is_some())
}

fn is_inproc(of: Option<&Connection>) -> bool {
    of.is_none_or(|of| matches!(of.peer().endpoint().peer(), Address::Inproc { .. }))
}

fn host(of: &Address) -> Option<&str> {
    match of {
        Address::Tcp { host, .. } | Address::Uring { host, .. } | Address::Tls { host, .. } => {
            Some(host)
        }
        _ => None,
    }
}

fn is_loopback(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The same address on another host, where it names none.
pub(super) fn located(address: Address, on: Option<&Address>) -> Address {
    let names_none = |host: &String| {
        let ip = host.parse::<IpAddr>();
        ip.is_ok_and(|ip| ip.to_canonical().is_unspecified())
    };
    let Some(on) = on.and_then(host) else {
        return address;
    };
    let moved = match &address {
        Address::Tcp { host, port, .. } if names_none(host) => Address::tcp(on, *port),
        Address::Uring { host, port, .. } if names_none(host) => Address::uring(on, *port),
        Address::Tls { host, port, .. } if names_none(host) => Address::tls(on, *port),
        _ => return address,
    };
    moved.unwrap_or(address)
}

/// The addresses of a server that others can use, as seen from here.
fn usable(addresses: &[&str], caller: Option<&Connection>) -> Result<Vec<String>, Refusal> {
    if addresses.len() > MOST_ADDRESSES || addresses.iter().any(|of| of.len() > LONGEST_ADDRESS) {
        return Err(Refusal::TooLong);
    }
    let from = caller.map(|caller| caller.peer().endpoint().peer());
    let from = from.filter(|_| !is_near(caller));
    let parsed = addresses.iter().filter_map(|of| of.parse().ok());
    let usable = parsed.filter(|of| leads(of, caller));
    let all: Vec<_> = usable.map(|of| located(of, from).to_string()).collect();
    if all.is_empty() {
        return Err(Refusal::NoAddress);
    }
    Ok(all)
}

/// Whether an address may lead to the same place from here and from where the caller is.
fn leads(address: &Address, caller: Option<&Connection>) -> bool {
    match address {
        Address::Inproc { .. } => is_inproc(caller),
        Address::Shm { .. } | Address::Uds { .. } => is_near(caller),
        other => is_near(caller) || !host(other).is_some_and(is_loopback),
    }
}

/// The beginning of a text, no longer than that.
fn cut(text: &str, most: usize) -> &str {
    let mut most = most.min(text.len());
    while !text.is_char_boundary(most) {
        most = most.saturating_sub(1);
    }
    text.get(..most).unwrap_or_default()
}

impl Registrar {
    /// One with limits of its own.
    #[must_use]
    pub fn new(options: RegistrarOptions) -> Self {
        Self {
            options,
            state: Arc::default(),
        }
    }

    /// Whom to wake, and whether the connection has bound nothing before.
    fn enter(
        &self,
        entry: Entry,
        binder: usize,
        replace: bool,
    ) -> Result<(Vec<Waker>, bool), Refusal> {
        let options = &self.options;
        let mut state = lock(&self.state);
        let before = state.names.get(&entry.name);
        if before.is_some() && !replace {
            return Err(Refusal::Taken);
        }
        // What is replaced makes room.
        let is_own = before.is_some_and(|kept| kept.binder == binder);
        let freed = before.map_or(0, |kept| size(&kept.entry));
        let (names, is_new_name) = (state.names.len(), before.is_none());
        let each = state.binders.get(&binder).copied();
        if !is_own && each.unwrap_or(0) >= options.max_names_each {
            let most = options.max_names_each as u64;
            return Err(Refusal::TooMany { most });
        }
        let bytes = state.bytes.saturating_sub(freed);
        let too_much = bytes.saturating_add(size(&entry)) > options.max_bytes;
        if too_much || (is_new_name && names >= options.max_names) {
            return Err(Refusal::Full);
        }
        drop(state.remove(&entry.name));
        state.bytes = state.bytes.saturating_add(size(&entry));
        let count = state.binders.entry(binder).or_default();
        *count = count.saturating_add(1);
        let kept = Kept { entry, binder };
        let change = kept.change(Event::Bound);
        state.names.insert(change.name.clone(), kept);
        let wakers = state.note(&change, options.max_changes);
        Ok((wakers, each.is_none()))
    }
}

/// A connection has ended: its names are bound no more.
fn leave(state: &Weak<Mutex<State>>, binder: usize, most: usize) {
    let Some(state) = state.upgrade() else { return };
    let mut wakers = Vec::new();
    let mut state = lock(&state);
    state.binders.remove(&binder);
    let own = state.names.iter().filter(|(_, of)| of.binder == binder);
    let own: Vec<String> = own.map(|(name, _)| name.clone()).collect();
    for name in own {
        if let Some(kept) = state.remove(&name) {
            wakers.extend(state.note(&kept.change(Event::Unbound), most));
        }
    }
    drop(state);
    wake(wakers);
}

impl Directory for Registrar {
    fn bind(&self, entry: EntryRef<'_>, replace: bool) -> Result<(), Refusal> {
        let caller = caller();
        if !may_change(caller.as_ref()) {
            return Err(Refusal::NotAllowed);
        }
        let longest = self.options.max_name;
        if entry.name.len() > longest || entry.interface.len() > longest {
            return Err(Refusal::TooLong);
        }
        let binder = number(caller.as_ref());
        let entry = Entry {
            name: entry.name.to_owned(),
            interface: entry.interface.to_owned(),
            id: entry.id,
            description: cut(entry.description, self.options.max_description).to_owned(),
            addresses: usable(entry.addresses, caller.as_ref())?,
        };
        let (wakers, is_first) = self.enter(entry, binder, replace)?;
        wake(wakers);
        if let Some(caller) = caller.filter(|_| is_first) {
            let (state, most) = (Arc::downgrade(&self.state), self.options.max_changes);
            caller.peer().on_end(move || leave(&state, binder, most));
        }
        Ok(())
    }

    fn unbind(&self, name: &str) -> Result<bool, Refusal> {
        if !may_change(caller().as_ref()) {
            return Err(Refusal::NotAllowed);
        }
        let mut state = lock(&self.state);
        let Some(kept) = state.remove(name) else {
            return Ok(false);
        };
        let wakers = state.note(&kept.change(Event::Unbound), self.options.max_changes);
        drop(state);
        wake(wakers);
        Ok(true)
    }

    fn lookup(&self, name: &str) -> Option<Entry> {
        let caller = caller();
        let mut entry = lock(&self.state).names.get(name)?.entry.clone();
        let leads = |of: &Address| leads(of, caller.as_ref());
        entry
            .addresses
            .retain(|of| of.parse().is_ok_and(|of| leads(&of)));
        Some(entry)
    }

    fn list(&self) -> Vec<Bound> {
        lock(&self.state).names.values().map(Kept::bound).collect()
    }

    fn watch(&self) -> Stream<Change> {
        let mut state = lock(&self.state);
        if state.watchers.len() >= self.options.max_watchers {
            return Stream::of(None);
        }
        state.watcher = state.watcher.wrapping_add(1);
        let watching = Watching {
            state: Arc::downgrade(&self.state),
            number: state.watcher,
        };
        state.watchers.insert(watching.number, Watcher::default());
        drop(state);
        Stream::polled(move |context| watching.poll(context.waker()))
    }
}

/// The place of one who watches, as long as its stream lasts.
struct Watching {
    state: Weak<Mutex<State>>,
    number: u64,
}

impl Watching {
    fn poll(&self, waker: &Waker) -> Poll<Option<Change>> {
        let Some(state) = self.state.upgrade() else {
            return Poll::Ready(None);
        };
        let mut state = lock(&state);
        let State {
            names, watchers, ..
        } = &mut *state;
        match watchers.get_mut(&self.number) {
            Some(watcher) => watcher.poll(names, |kept| kept.change(Event::Bound), waker),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            let watcher = lock(&state).watchers.remove(&self.number);
            drop(watcher);
        }
    }
}

impl fmt::Debug for Registrar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar")
            .field("names", &lock(&self.state).names.len())
            .finish_non_exhaustive()
    }
}
