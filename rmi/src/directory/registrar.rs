//! The object that holds the names of several servers.
//!
//! Decision 079 has the reasons.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, Waker};

use jstream_base::Address;
use jstream_derive::remote;
use jstream_sync::callbacks;

use crate::call::Bound;
use crate::directory::kept::{Holder, Kept, size};
use crate::directory::options::RegistrarOptions;
use crate::directory::places::{caller, is_trusted, leads, may_change, number, usable};
use crate::directory::protocol::{Change, Directory, Entry, EntryRef, Event, Refusal};
use crate::directory::saved;
use crate::directory::saved::{PersistError, Saving, Wanted};
use crate::directory::shared::{SharedName, SharedServer, check_key};
use crate::directory::watching::{Watcher, refused};
use crate::session::Connection;
use crate::stream::Stream;
use crate::support::lock;

/// The names of several servers, as an object to be bound to [`NAME`](super::NAME) at a server. See
/// the [module](super).
#[derive(Default)]
pub struct Registrar {
    options: RegistrarOptions,
    state: Arc<Mutex<RegistrarState>>,
    saving: Option<Saving>,
}

#[derive(Default)]
struct RegistrarState {
    names: BTreeMap<String, Kept>,
    /// The servers of the names whose holder is [`Holder::Shared`].
    shared: BTreeMap<String, SharedName>,
    bytes: usize,
    /// Number of names that each connection has bound.
    binders: HashMap<usize, usize>,
    watchers: HashMap<u64, Watcher>,
    watcher: u64,
    /// Requests to write the file, if there is one.
    wanted: Option<Arc<Wanted>>,
}

/// Maximum number of connections that claim one name.
const MAX_CLAIMANTS: usize = 8;

impl Entry {
    /// Returns the change that tells watchers of an event of this entry.
    fn change(&self, event: Event) -> Change {
        Change {
            event,
            name: self.name.clone(),
            interface: self.interface.clone(),
            id: self.id,
        }
    }
}

impl Kept {
    fn bound(&self) -> Bound {
        Bound {
            name: self.entry.name.clone(),
            interface: self.entry.interface.clone(),
            id: self.entry.id,
        }
    }
}

impl RegistrarState {
    /// Removes a name, and updates the counts of its binder and its claimants.
    fn remove(&mut self, name: &str) -> Option<Kept> {
        let kept = self.names.remove(name)?;
        self.bytes = self.bytes.saturating_sub(size(&kept.entry));
        let binder = match kept.holder {
            Holder::Binder(binder) => Some(binder),
            Holder::Gone | Holder::Contested | Holder::Shared => None,
        };
        for of in kept.claimants.iter().copied().chain(binder) {
            self.uncount(of);
        }
        for server in self
            .shared
            .remove(name)
            .into_iter()
            .flat_map(|one| one.servers)
        {
            self.bytes = self.bytes.saturating_sub(size(&server.entry));
            self.uncount(server.binder);
        }
        Some(kept)
    }

    /// Counts one name of a connection less.
    fn uncount(&mut self, binder: usize) {
        if let Some(count) = self.binders.get_mut(&binder) {
            // An entry with 0 stays: it says that the connection has its callback.
            *count = count.saturating_sub(1);
        }
    }

    /// Removes the servers of a shared name that a connection has bound. Returns the change for the
    /// watchers, if there was one.
    fn remove_servers(&mut self, name: &str, binder: usize) -> Option<Change> {
        let shared = self.shared.get_mut(name)?;
        let (removed, left) = std::mem::take(&mut shared.servers)
            .into_iter()
            .partition::<Vec<_>, _>(|server| server.binder == binder);
        shared.servers = left;
        for server in &removed {
            self.bytes = self.bytes.saturating_sub(size(&server.entry));
            self.uncount(binder);
        }
        if removed.is_empty() {
            return None;
        }
        match self.represent(name) {
            true => Some(self.names.get(name)?.entry.change(Event::Bound)),
            false => Some(self.remove(name)?.entry.change(Event::Unbound)),
        }
    }

    /// Lets the first server of a shared name stand for all. Returns false if there is none.
    fn represent(&mut self, name: &str) -> bool {
        let first = self.shared.get(name).and_then(SharedName::first).cloned();
        let (Some(first), Some(kept)) = (first, self.names.get_mut(name)) else {
            return false;
        };
        self.bytes = self.bytes.saturating_sub(size(&kept.entry));
        self.bytes = self.bytes.saturating_add(size(&first));
        kept.entry = first;
        true
    }

    /// Adds a server to a shared name, which is new if it does not exist.
    fn add_server(&mut self, server: SharedServer, key: &[u8]) {
        let entry = server.entry.clone();
        self.bytes = self.bytes.saturating_add(size(&entry));
        let count = self.binders.entry(server.binder).or_default();
        *count = count.saturating_add(1);
        if let Some(shared) = self.shared.get_mut(&entry.name) {
            shared.servers.push(server);
            return;
        }
        let name = entry.name.clone();
        self.shared
            .insert(name.clone(), SharedName::new(key, server));
        self.insert(entry, None);
        if let Some(kept) = self.names.get_mut(&name) {
            kept.holder = Holder::Shared;
        }
    }

    /// Inserts a name.
    fn insert(&mut self, entry: Arc<Entry>, binder: Option<usize>) {
        self.bytes = self.bytes.saturating_add(size(&entry));
        if let Some(binder) = binder {
            let count = self.binders.entry(binder).or_default();
            *count = count.saturating_add(1);
        }
        let name = entry.name.clone();
        let kept = Kept {
            entry,
            holder: binder.map_or(Holder::Gone, Holder::Binder),
            claimants: Vec::new(),
        };
        self.names.insert(name, kept);
    }

    /// Reports a change to all watchers. Returns the wakers, which the caller wakes after releasing
    /// the lock.
    fn publish(&mut self, change: &Change, limits: WatcherBudget) -> Vec<Waker> {
        if let Some(wanted) = &self.wanted {
            // Requested under the lock of the names, so that the thread which writes the file sees
            // this change.
            wanted.want();
        }
        let all = self.watchers.values_mut();
        let mut wakers: Vec<_> = all
            .filter_map(|watcher| watcher.queue(change, limits.changes))
            .collect();
        let bytes = self.watchers.values().map(Watcher::bytes);
        let mut bytes = bytes.fold(0, usize::saturating_add);
        while bytes > limits.bytes {
            let largest = self.watchers.values_mut().max_by_key(|one| one.bytes());
            let Some(largest) = largest.filter(|largest| largest.bytes() > 0) else {
                break;
            };
            bytes = bytes.saturating_sub(largest.bytes());
            wakers.extend(largest.miss());
        }
        wakers
    }
}

/// The connection of a call, and what it may do to the names of others.
#[derive(Clone, Copy)]
struct Caller {
    number: usize,
    replaces_all: bool,
}

impl Caller {
    /// Returns true if the caller may replace or unbind the name.
    fn may_replace(self, kept: &Kept) -> bool {
        self.replaces_all
            || match kept.holder {
                Holder::Gone => true,
                Holder::Binder(binder) => binder == self.number,
                Holder::Contested | Holder::Shared => false,
            }
    }
}

/// Limits for changes that wait for watchers.
#[derive(Clone, Copy)]
struct WatcherBudget {
    /// Number of changes for one watcher.
    changes: usize,
    /// Bytes for all watchers.
    bytes: usize,
}

fn wake(all: Vec<Waker>) {
    all.into_iter().for_each(callbacks::wake);
}

/// Truncates a text to at most `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    let mut most = most.min(text.len());
    while !text.is_char_boundary(most) {
        most = most.saturating_sub(1);
    }
    text.get(..most).unwrap_or_default()
}

impl Registrar {
    /// Creates a registrar with custom limits.
    #[must_use]
    pub fn new(options: RegistrarOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Creates a registrar that keeps its names in a file, so that they survive a restart of its
    /// process. Names that are in the file are bound again. A change is in the file before its
    /// caller receives the answer. If the file does not exist, it is created. Two registries must
    /// not share a file.
    ///
    /// The file is rewritten for each change, or for several concurrent changes together, so this
    /// is meant for names that change rarely.
    ///
    /// # Errors
    ///
    /// [`PersistError`], which states what is wrong with the file and where. The file is not
    /// changed then.
    pub fn persistent(
        file: impl AsRef<Path>,
        options: RegistrarOptions,
    ) -> Result<Self, PersistError> {
        let file = file.as_ref();
        let wanted = Arc::new(Wanted::default());
        let mut state = RegistrarState {
            wanted: Some(wanted.clone()),
            ..RegistrarState::default()
        };
        for entry in saved::read(file, &options)? {
            state.insert(Arc::new(entry), None);
        }
        let state = Arc::new(Mutex::new(state));
        let names = state.clone();
        let names = move || {
            let state = lock(&names);
            let entries = state.names.values().map(|kept| kept.entry.clone());
            entries.collect()
        };
        Ok(Self {
            options,
            saving: Some(Saving::start(file, wanted, names)?),
            state,
        })
    }

    /// Binds a name. Returns the wakers of the watchers, and true if the connection has bound no
    /// name before.
    fn enter(
        &self,
        entry: Entry,
        caller: Caller,
        replace: bool,
    ) -> Result<(Vec<Waker>, bool), Refusal> {
        let options = &self.options;
        let binder = caller.number;
        let mut state = lock(&self.state);
        let before = state.names.get(&entry.name);
        // A program that has lost its connection binds again what it had, possibly before the end
        // of that connection is known here.
        // A server of a shared name has to show the key.
        let is_same =
            before.is_some_and(|kept| kept.holder != Holder::Shared && *kept.entry == entry);
        if before.is_some() && !replace && !is_same {
            return Err(Refusal::Taken);
        }
        if before.is_some_and(|kept| !caller.may_replace(kept)) {
            if !is_same {
                return Err(Refusal::NotBinder);
            }
            let is_first = !state.binders.contains_key(&binder);
            self.claim(&mut state, &entry.name, binder)?;
            return Ok((Vec::new(), is_first));
        }
        // A replaced entry frees its room.
        let is_own = before.is_some_and(|kept| kept.holder == Holder::Binder(binder));
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
        // After all checks, so that a refused change leaves the name.
        drop(state.remove(&entry.name));
        let (entry, binder) = (Arc::new(entry), Some(binder));
        let change = entry.change(Event::Bound);
        state.insert(entry, binder);
        // Watchers know this entry already.
        let wakers = match is_same && !replace {
            true => Vec::new(),
            false => state.publish(&change, self.waiting()),
        };
        Ok((wakers, each.is_none()))
    }

    /// Binds a name for one of its servers. Returns the wakers of the watchers, and true if the
    /// connection has bound no name before.
    fn enter_shared(
        &self,
        entry: Entry,
        caller: Caller,
        key: &[u8],
    ) -> Result<(Vec<Waker>, bool), Refusal> {
        check_key(key)?;
        let (options, binder) = (&self.options, caller.number);
        let mut state = lock(&self.state);
        let each = state.binders.get(&binder).copied();
        let shared = state.shared.get(&entry.name);
        // Before anything else is told of the name: a caller without the key learns only that it is
        // wrong.
        if shared.is_some_and(|shared| !shared.has_key(key)) {
            return Err(Refusal::WrongKey);
        }
        let before = state.names.get(&entry.name);
        let is_free = before.is_none_or(|kept| kept.holder == Holder::Gone);
        if shared.is_none() && !is_free {
            return Err(Refusal::Taken);
        }
        // A program that has lost its connection binds its server again, possibly before the end of
        // that connection is known here.
        let known = shared.and_then(|shared| {
            let place = shared.place_of(&entry.addresses)?;
            Some((place, shared.servers.get(place)?.binder))
        });
        if known.is_some_and(|(_, known)| known == binder) {
            return Ok((Vec::new(), each.is_none()));
        }
        if each.unwrap_or(0) >= options.max_names_each {
            let most = options.max_names_each as u64;
            return Err(Refusal::TooMany { most });
        }
        let servers = shared.map_or(0, |shared| shared.servers.len());
        if known.is_none() && servers >= options.max_servers {
            let most = options.max_servers as u64;
            return Err(Refusal::TooManyServers { most });
        }
        // The entry of the first server counts twice, because it also stands for the name.
        let room = size(&entry).saturating_mul(2);
        let is_new_name = before.is_none() && state.names.len() >= options.max_names;
        if is_new_name || state.bytes.saturating_add(room) > options.max_bytes {
            return Err(Refusal::Full);
        }
        if let Some((place, former)) = known {
            let server = state.shared.get_mut(&entry.name);
            let server = server.and_then(|shared| shared.servers.get_mut(place));
            if let Some(server) = server {
                server.binder = binder;
            }
            state.uncount(former);
            let count = state.binders.entry(binder).or_default();
            *count = count.saturating_add(1);
            return Ok((Vec::new(), each.is_none()));
        }
        if shared.is_none() {
            drop(state.remove(&entry.name));
        }
        let change = entry.change(Event::Bound);
        let entry = Arc::new(entry);
        state.add_server(SharedServer { entry, binder }, key);
        Ok((state.publish(&change, self.waiting()), each.is_none()))
    }

    /// Notes that a connection claims a name whose binder keeps it as long as its connection lasts.
    fn claim(
        &self,
        state: &mut RegistrarState,
        name: &str,
        claimant: usize,
    ) -> Result<(), Refusal> {
        let Some(kept) = state.names.get_mut(name) else {
            return Ok(());
        };
        if kept.claimants.contains(&claimant) {
            return Ok(());
        }
        // Any program that may bind names can claim one, so the list is bounded.
        if kept.claimants.len() >= MAX_CLAIMANTS {
            return Err(Refusal::NotBinder);
        }
        let count = state.binders.get(&claimant).copied().unwrap_or(0);
        if count >= self.options.max_names_each {
            let most = self.options.max_names_each as u64;
            return Err(Refusal::TooMany { most });
        }
        state.binders.insert(claimant, count.saturating_add(1));
        kept.claimants.push(claimant);
        Ok(())
    }

    fn caller(&self, of: Option<&Connection>) -> Caller {
        Caller {
            number: number(of),
            replaces_all: self.options.anyone_may_replace || is_trusted(of),
        }
    }

    fn waiting(&self) -> WatcherBudget {
        WatcherBudget {
            changes: self.options.max_changes,
            bytes: self.options.max_change_bytes,
        }
    }

    /// Returns the reason why the connection can't have another watcher, if any.
    fn refuses(&self, state: &RegistrarState, owner: Option<usize>) -> Option<String> {
        let (all, each) = (self.options.max_watchers, self.options.max_watchers_each);
        if state.watchers.len() >= all {
            return Some(format!(
                "the registry has {all} watchers, its limit (RegistrarOptions::max_watchers): try again later"
            ));
        }
        let of_owner = |watcher: &&Watcher| owner.is_some() && watcher.owner() == owner;
        let count = state.watchers.values().filter(of_owner).count();
        (count >= each).then(|| {
            format!(
                "this connection has {each} watchers, its limit (RegistrarOptions::max_watchers_each): \
                 drop one of them, or share one"
            )
        })
    }

    /// Frees a name. Returns the wakers of the watchers, or `None` if nothing was bound to it.
    fn free(&self, name: &str, caller: Caller) -> Result<Option<Vec<Waker>>, Refusal> {
        let mut state = lock(&self.state);
        let Some(kept) = state.names.get(name) else {
            return Ok(None);
        };
        let may_replace = caller.may_replace(kept);
        // The other servers keep a shared name.
        if let Some(change) = state.remove_servers(name, caller.number) {
            return Ok(Some(state.publish(&change, self.waiting())));
        }
        if !may_replace {
            return Err(Refusal::NotBinder);
        }
        let Some(kept) = state.remove(name) else {
            return Ok(None);
        };
        Ok(Some(state.publish(
            &kept.entry.change(Event::Unbound),
            self.waiting(),
        )))
    }

    /// Binds a name by `enter`, for the lifetime of the caller's connection.
    fn enter_by(
        &self,
        entry: EntryRef<'_>,
        enter: impl FnOnce(Entry, Caller) -> Result<(Vec<Waker>, bool), Refusal>,
    ) -> Result<(), Refusal> {
        let caller = caller();
        if !may_change(caller.as_ref()) {
            return Err(Refusal::NotAllowed);
        }
        let longest = self.options.max_name;
        if entry.name.len() > longest || entry.interface.len() > longest {
            return Err(Refusal::TooLong);
        }
        let binder = self.caller(caller.as_ref());
        let entry = Entry {
            name: entry.name.to_owned(),
            interface: entry.interface.to_owned(),
            id: entry.id,
            description: cut(entry.description, self.options.max_description).to_owned(),
            addresses: usable(entry.addresses, caller.as_ref())?,
        };
        let (wakers, is_first) = enter(entry, binder)?;
        wake(wakers);
        // One callback for each connection, which removes all its names.
        if let Some(caller) = caller.filter(|_| is_first) {
            let (state, limits) = (Arc::downgrade(&self.state), self.waiting());
            // The callback holds the counters of the server and not the connection, which would own
            // itself.
            let load = caller.session().load().clone();
            // Asked when the connection ends: then it is known whether the registry itself is
            // shutting down.
            let leaves = move || unbind_all(&state, binder.number, limits, !load.listens());
            caller.peer().on_end(leaves);
        }
        Ok(())
    }

    /// Returns a future that completes when all changes so far are in the file. Its value is the
    /// answer to the caller.
    fn kept(&self) -> impl Future<Output = Result<(), Refusal>> + Send + use<> {
        let saved = self.saving.as_ref().map(|saving| saving.saved());
        async move {
            let Some(saved) = saved else { return Ok(()) };
            saved.await.then_some(()).ok_or(Refusal::NotKept)
        }
    }
}

/// Returns an entry with the addresses that may be reachable for the caller.
fn reachable(entry: Arc<Entry>, caller: Option<&Connection>) -> Entry {
    let mut entry = Arc::unwrap_or_clone(entry);
    let leads = |of: &Address| leads(of, caller);
    entry
        .addresses
        .retain(|of| of.parse().is_ok_and(|of| leads(&of)));
    entry
}

/// Handles the end of a connection: unbinds its names. If the server itself ends, names that are
/// kept in a file stay.
fn unbind_all(
    state: &Weak<Mutex<RegistrarState>>,
    binder: usize,
    limits: WatcherBudget,
    ends: bool,
) {
    let Some(state) = state.upgrade() else { return };
    let mut wakers = Vec::new();
    let mut state = lock(&state);
    // First, so that a later connection with this number begins anew.
    state.binders.remove(&binder);
    let stay = ends && state.wanted.is_some();
    let mut own_names = Vec::new();
    for (name, kept) in &mut state.names {
        kept.claimants.retain(|claimant| *claimant != binder);
        let is_contested = kept.holder == Holder::Contested;
        if !is_contested && kept.holder != Holder::Binder(binder) {
            continue;
        }
        match kept.claimants.as_slice() {
            [] => own_names.push(name.clone()),
            // Its count stays: it has one name instead of one claim.
            [claimant] => {
                kept.holder = Holder::Binder(*claimant);
                kept.claimants.clear();
            }
            _ => kept.holder = Holder::Contested,
        }
    }
    let shared: Vec<String> = state.shared.keys().cloned().collect();
    for name in shared {
        let is_last = |shared: &SharedName| shared.servers.iter().all(|one| one.binder == binder);
        if stay && state.shared.get(&name).is_some_and(is_last) {
            // The entry that stands for the servers stays in the file.
            if let Some(left) = state.shared.remove(&name) {
                let sizes = left.servers.iter().map(|server| size(&server.entry));
                let bytes = sizes.fold(0, usize::saturating_add);
                state.bytes = state.bytes.saturating_sub(bytes);
            }
            own_names.push(name);
        } else if let Some(change) = state.remove_servers(&name, binder) {
            wakers.extend(state.publish(&change, limits));
        }
    }
    for name in own_names {
        if stay {
            if let Some(kept) = state.names.get_mut(&name) {
                kept.holder = Holder::Gone;
            }
        } else if let Some(kept) = state.remove(&name) {
            wakers.extend(state.publish(&kept.entry.change(Event::Unbound), limits));
        }
    }
    drop(state);
    wake(wakers);
}

#[remote(crate = crate)]
impl Directory for Registrar {
    async fn bind(&self, entry: EntryRef<'_>, replace: bool) -> Result<(), Refusal> {
        self.enter_by(entry, |entry, binder| self.enter(entry, binder, replace))?;
        self.kept().await
    }

    async fn bind_shared(&self, entry: EntryRef<'_>, key: &[u8]) -> Result<(), Refusal> {
        self.enter_by(entry, |entry, binder| self.enter_shared(entry, binder, key))?;
        self.kept().await
    }

    async fn unbind(&self, name: &str) -> Result<bool, Refusal> {
        let caller = caller();
        if !may_change(caller.as_ref()) {
            return Err(Refusal::NotAllowed);
        }
        let Some(wakers) = self.free(name, self.caller(caller.as_ref()))? else {
            return Ok(false);
        };
        wake(wakers);
        self.kept().await?;
        Ok(true)
    }

    fn lookup(&self, name: &str) -> Option<Entry> {
        let entry = lock(&self.state).names.get(name)?.entry.clone();
        Some(reachable(entry, caller().as_ref()))
    }

    fn servers(&self, name: &str) -> Vec<Entry> {
        let state = lock(&self.state);
        let entries: Vec<Arc<Entry>> = match state.shared.get(name) {
            Some(shared) => shared.servers.iter().map(|one| one.entry.clone()).collect(),
            None => state
                .names
                .get(name)
                .map(|kept| kept.entry.clone())
                .into_iter()
                .collect(),
        };
        drop(state);
        let caller = caller();
        let entries = entries.into_iter();
        entries
            .map(|entry| reachable(entry, caller.as_ref()))
            .collect()
    }

    fn list(&self) -> Vec<Bound> {
        lock(&self.state).names.values().map(Kept::bound).collect()
    }

    fn watch(&self) -> Stream<Change> {
        let caller = caller();
        let owner = caller.is_some().then(|| number(caller.as_ref()));
        let mut state = lock(&self.state);
        if let Some(reason) = self.refuses(&state, owner) {
            return Stream::of(Some(refused(reason)));
        }
        state.watcher = state.watcher.wrapping_add(1);
        let watching = Watching {
            state: Arc::downgrade(&self.state),
            number: state.watcher,
        };
        state.watchers.insert(watching.number, Watcher::new(owner));
        drop(state);
        Stream::polled(move |context| watching.poll(context.waker()))
    }
}

/// Guard of a watcher's place, owned by its stream.
struct Watching {
    state: Weak<Mutex<RegistrarState>>,
    number: u64,
}

impl Watching {
    fn poll(&self, waker: &Waker) -> Poll<Option<Change>> {
        let Some(state) = self.state.upgrade() else {
            return Poll::Ready(None);
        };
        let mut state = lock(&state);
        let RegistrarState {
            names, watchers, ..
        } = &mut *state;
        match watchers.get_mut(&self.number) {
            Some(watcher) => watcher.poll(names, |kept| kept.entry.change(Event::Bound), waker),
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
