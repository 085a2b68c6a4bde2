//! Those on the other side of a channel: one that was joined, or all that have joined.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;
use std::thread::{Builder, JoinHandle};
use std::{io, mem};

use super::error::OpenError;
use super::hello::{Hello, Role};
use super::is_same;
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::watcher::wake;
use crate::endpoint::{Closer, CompletionQueue, Endpoint, Incoming, Listener};
use crate::error::AcceptError;
use crate::options::Options;

/// How many peers a side has at most. Answers the threat of joining without end.
const MAX_PEERS: usize = 1024;

/// How many may be about to join at once; others are refused. Answers those who connect and are silent.
const MAX_JOINING: usize = 16;

/// The other side, as both kinds of handles use it.
///
/// Its lock is held for no call of an endpoint: wakers, which are the program's, run in some.
pub(super) struct Crew {
    pub(super) address: Address,
    /// The one that was joined, beside whom there will be no other.
    pub(super) only: Option<Endpoint>,
    /// Where receives are posted; a side that sends has none.
    pub(super) queue: Option<CompletionQueue>,
    state: Mutex<State>,
    /// Somebody has joined.
    joined: Condvar,
    listening: Option<Listening>,
}

/// A listener, and the thread that has it.
struct Listening {
    closer: Closer,
    thread: OnceLock<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    peers: Vec<Peer>,
    /// Whose turn it is.
    next: usize,
    /// How many receives are posted.
    posted: usize,
    /// How many threads and tasks rely on the queue to tell them what comes.
    sleepers: usize,
    /// How many have joined, and how many have to.
    came: usize,
    expected: usize,
    /// How many are about to be told that they have joined.
    welcome: usize,
    /// Tasks that wait for somebody to join.
    tasks: Vec<Waker>,
}

struct Peer {
    endpoint: Endpoint,
    /// A receive is posted to it.
    posted: bool,
}

impl State {
    fn is_complete(&self) -> bool {
        self.came >= self.expected
    }

    fn is_closed(&self) -> bool {
        self.peers.is_empty() && self.welcome == 0 && self.is_complete()
    }
}

impl Crew {
    /// One that was joined.
    pub(super) fn of_one(endpoint: Endpoint, role: Role) -> io::Result<Arc<Self>> {
        let crew = Self {
            address: endpoint.address().clone(),
            only: Some(endpoint.clone()),
            queue: queue_of(role)?,
            state: Mutex::default(),
            joined: Condvar::new(),
            listening: None,
        };
        crew.lock().expected = 1;
        crew.add(endpoint, 0);
        Ok(Arc::new(crew))
    }

    /// Those who join at `listener`: a thread lets them in.
    pub(super) fn listening(
        listener: Listener,
        expected: usize,
        ours: Hello,
        options: &Options,
    ) -> Result<Arc<Self>, OpenError> {
        let crew = Arc::new(Self {
            address: listener.local_address().clone(),
            only: None,
            queue: queue_of(ours.role())?,
            state: Mutex::new(State {
                expected: expected.max(1),
                ..State::default()
            }),
            joined: Condvar::new(),
            listening: Some(Listening {
                closer: listener.closer(),
                thread: OnceLock::new(),
            }),
        });
        let door = Arc::new(Door {
            crew: Arc::downgrade(&crew),
            ours,
            options: options.clone(),
            joining: AtomicUsize::new(0),
        });
        let name = "jstream-channel".to_owned();
        let open = move || door.stand_open(&listener);
        let thread = Builder::new().name(name).spawn(open)?;
        if let Some(listening) = &crew.listening {
            let _ = listening.thread.set(thread);
        }
        Ok(crew)
    }

    /// One more, who may have had a place.
    fn add(&self, endpoint: Endpoint, places: usize) {
        let mut state = self.lock();
        state.welcome = state.welcome.saturating_sub(places);
        state.peers.push(Peer {
            endpoint,
            posted: false,
        });
        state.came = state.came.saturating_add(1);
        let tasks = mem::take(&mut state.tasks);
        drop(state);
        self.joined.notify_all();
        self.call();
        tasks.into_iter().for_each(wake);
    }

    /// Keeps a place for one who is going to be told that it has joined: it counts from then on. False if there
    /// is none.
    fn reserve(&self) -> bool {
        let mut state = self.lock();
        let has_room = state.peers.len().saturating_add(state.welcome) < MAX_PEERS;
        state.welcome = state.welcome.saturating_add(usize::from(has_room));
        has_room
    }

    /// Gives the place that was kept to who has joined, or up.
    fn take_place(&self, joined: Option<Endpoint>) {
        match joined {
            Some(endpoint) => self.add(endpoint, 1),
            None => {
                let mut state = self.lock();
                state.welcome = state.welcome.saturating_sub(1);
                drop(state);
                self.joined.notify_all();
                self.call();
            }
        }
    }

    /// Somebody is gone. False when that was known.
    pub(super) fn remove(&self, endpoint: &Endpoint) -> bool {
        let mut state = self.lock();
        let mut peers = state.peers.iter();
        let place = peers.position(|peer| is_same(&peer.endpoint, endpoint));
        let gone = place.map(|place| state.peers.remove(place));
        if gone.as_ref().is_some_and(|peer| peer.posted) {
            state.posted = state.posted.saturating_sub(1);
        }
        let is_closed = state.is_closed();
        drop(state);
        if is_closed {
            self.call();
        }
        gone.is_some()
    }

    /// Has those who wait in the queue look again.
    fn call(&self) {
        if let Some(queue) = &self.queue {
            queue.call();
        }
    }

    /// Whether all who had to join have, and all are gone.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// How many there are; nobody counts before all have come who have to.
    pub(super) fn len(&self) -> usize {
        let state = self.lock();
        if state.is_complete() {
            state.peers.len()
        } else {
            0
        }
    }

    /// Whose turn it is to get something, once all have come who have to.
    pub(super) fn next(&self) -> Option<Endpoint> {
        let mut state = self.lock();
        if !state.is_complete() {
            return None;
        }
        let peer = state.turn()?;
        Some(peer.endpoint.clone())
    }

    /// What there is to look at.
    pub(super) fn sight(&self) -> Sight {
        let mut state = self.lock();
        Sight {
            count: state.peers.len(),
            is_posted: state.posted > 0,
            is_closed: state.is_closed(),
            first: state.look_at(),
        }
    }

    /// Whom to look at next, unless a receive is posted to it.
    pub(super) fn look_at(&self) -> Option<Endpoint> {
        self.lock().look_at()
    }

    /// Posts a receive to all that have none, for one who is about to sleep.
    pub(super) fn post(&self, queue: &CompletionQueue) {
        let mut state = self.lock();
        state.sleepers = state.sleepers.saturating_add(1);
        self.post_all(state, queue);
    }

    /// One does not sleep any more.
    pub(super) fn awake(&self) {
        let mut state = self.lock();
        state.sleepers = state.sleepers.saturating_sub(1);
    }

    fn post_all<'c>(&'c self, mut state: MutexGuard<'c, State>, queue: &CompletionQueue) {
        let mut place = 0;
        while let Some(peer) = state.peers.get_mut(place) {
            place = place.saturating_add(1);
            if mem::replace(&mut peer.posted, true) {
                continue;
            }
            let endpoint = peer.endpoint.clone();
            state.posted = state.posted.saturating_add(1);
            drop(state);
            queue.post_recv_any(&endpoint, 0);
            state = self.lock();
        }
    }

    /// A receive that was posted has ended. Others who sleep rely on another one, where more may come.
    pub(super) fn taken(&self, endpoint: &Endpoint, goes_on: bool, queue: &CompletionQueue) {
        let mut state = self.lock();
        if goes_on && state.sleepers > 0 {
            let mut peers = state.peers.iter();
            if peers.any(|peer| is_same(&peer.endpoint, endpoint)) {
                drop(state);
                queue.post_recv_any(endpoint, 0);
            }
            return;
        }
        let mut peers = state.peers.iter_mut();
        let peer = peers.find(|peer| is_same(&peer.endpoint, endpoint));
        if peer.is_some_and(|peer| mem::replace(&mut peer.posted, false)) {
            state.posted = state.posted.saturating_sub(1);
        }
    }

    /// Somebody has joined, or all are gone, and one was told: so are the others who sleep. True when all are
    /// gone.
    pub(super) fn called(&self, queue: &CompletionQueue) -> bool {
        let state = self.lock();
        if state.is_closed() {
            drop(state);
            queue.call();
            return true;
        }
        if state.sleepers > 0 {
            self.post_all(state, queue);
        }
        false
    }

    /// Waits until somebody may be there, or for so long. False when the time is over.
    pub(super) fn wait(&self, until: Deadline) -> bool {
        let mut state = self.lock();
        while state.peers.is_empty() || !state.is_complete() {
            if state.is_closed() {
                return true;
            }
            state = match until.left() {
                Some(left) if left.is_zero() => return false,
                Some(left) => {
                    let waited = self.joined.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.joined.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        true
    }

    /// Has `task` woken when somebody joins. False when somebody is there, or nobody is waited for.
    pub(super) fn register(&self, task: &Waker) -> bool {
        let mut state = self.lock();
        if state.is_complete() {
            return false;
        }
        if !state.tasks.iter().any(|other| other.will_wake(task)) {
            state.tasks.push(task.clone());
        }
        true
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a side that receives finds.
pub(super) struct Sight {
    /// How many peers there are, and whether receives are posted to some.
    pub(super) count: usize,
    pub(super) is_posted: bool,
    pub(super) is_closed: bool,
    /// Whom to look at first, unless a receive is posted to it.
    pub(super) first: Option<Endpoint>,
}

impl State {
    fn look_at(&mut self) -> Option<Endpoint> {
        let peer = self.turn()?;
        (!peer.posted).then(|| peer.endpoint.clone())
    }

    fn turn(&mut self) -> Option<&mut Peer> {
        if self.next >= self.peers.len() {
            self.next = 0;
        }
        let place = self.next;
        self.next = place.saturating_add(1);
        self.peers.get_mut(place)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if let Some(listening) = &mut self.listening {
            listening.closer.close();
            // The address is free again when this returns. The thread has no handle of the crew.
            if let Some(thread) = listening.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

fn queue_of(role: Role) -> io::Result<Option<CompletionQueue>> {
    match role {
        Role::Sender => Ok(None),
        Role::Receiver => CompletionQueue::new().map(Some),
    }
}

/// Lets in those who join.
struct Door {
    crew: Weak<Crew>,
    ours: Hello,
    options: Options,
    /// How many are in it.
    joining: AtomicUsize,
}

impl Door {
    fn stand_open(self: Arc<Self>, listener: &Listener) {
        loop {
            match listener.accept() {
                Ok(incoming) => self.admit(incoming),
                Err(AcceptError::ClosedLocally { .. }) => return,
                // It waits by itself before it asks the system again.
                Err(error) => tracing::debug!(%error, "nobody joined the channel"),
            }
        }
    }

    /// Each in a thread of its own: one who is silent holds up nobody else.
    fn admit(self: &Arc<Self>, incoming: Incoming) {
        if self.joining.fetch_add(1, Ordering::Relaxed) >= MAX_JOINING {
            self.joining.fetch_sub(1, Ordering::Relaxed);
            return incoming.refuse("too many are about to join the channel; try again");
        }
        let door = self.clone();
        let name = "jstream-join".to_owned();
        let spawned = Builder::new().name(name).spawn(move || {
            let peer = incoming.peer().clone();
            if let Err(reason) = door.let_in(incoming) {
                tracing::debug!(%peer, reason, "did not join the channel");
            }
            door.joining.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            self.joining.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn let_in(&self, incoming: Incoming) -> Result<(), String> {
        let endpoint = incoming.establish().map_err(|error| error.to_string())?;
        // Who waits for the peer here does not keep the channel.
        let mut has_place = false;
        let reserve = || {
            has_place = self.crew.upgrade().is_some_and(|crew| crew.reserve());
            has_place
        };
        let joined = self.ours.welcome(&endpoint, reserve, &self.options);
        if has_place {
            let crew = self.crew.upgrade().ok_or("the channel is gone")?;
            crew.take_place(joined.is_ok().then_some(endpoint));
        }
        joined
    }
}
