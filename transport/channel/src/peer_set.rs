//! The peers of one side of a channel: the one that it joined, or all that have joined it.
//!
//! Decision 031 has the reasons.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::Waker;
use std::time::Duration;
use std::{io, mem};

use jstream::Transportable;

use super::error::SendError;
use super::hello::{Hello, Role};
use super::near::{Announced, NearLink, announce};
use super::peers::{JoinedPeer, Membership, PeerConnection, PeerSnapshot};
use super::versions::{SenderVersions, Version};
use jstream_base::Address;
use jstream_base::Options;
use jstream_device::deadline::Deadline;
use jstream_endpoint::acceptor::Acceptor;
use jstream_endpoint::described::ClassSnapshots;
use jstream_endpoint::shared::Patience;
use jstream_endpoint::{CompletionQueue, Endpoint};
use jstream_sync::parker::Parker;
use jstream_sync::wakers::WaitQueue;

/// Maximum number of peers of a side. Bounds the memory that joining peers can take.
const MAX_PEERS: usize = 1024;

/// The peers of a side, shared by the clones of its handle.
///
/// The lock is not held during calls of an endpoint, because some of them call wakers of the
/// program.
pub(super) struct PeerSet<T: Transportable + 'static> {
    pub(super) address: Address,
    pub(super) options: Options,
    role: Role,
    /// The peer that this side joined. Such a side has no other peers.
    pub(super) only: Option<PeerConnection<T>>,
    /// True if peers may be in this process.
    pub(super) may_be_near: bool,
    /// The queue in which receives are posted; `None` on the sending side.
    pub(super) queue: Option<CompletionQueue>,
    /// The versions of senders that have another one than this side. Empty on the sending side.
    pub(super) versions: SenderVersions,
    /// The classes whose schemas objects bring along. Empty on the receiving side.
    pub(super) undescribed: Arc<ClassSnapshots>,
    /// The receivers that wait for objects from peers in this process.
    pub(super) arrived: Arc<WaitQueue>,
    /// The first peer in this process. `is_alone` is true if it is the only peer.
    first: OnceLock<Arc<NearLink<T>>>,
    is_alone: AtomicBool,
    state: Mutex<Membership<T>>,
    pub(super) listening: OnceLock<Acceptor>,
    announced: OnceLock<Announced>,
}

impl<T: Transportable + 'static> PeerSet<T> {
    /// Creates an empty set of peers of the side that `ours` describes. `expected` peers have to
    /// join.
    pub(super) fn new(
        address: Address,
        ours: &Hello,
        expected: usize,
        options: &Options,
    ) -> io::Result<Self> {
        let role = ours.role();
        Ok(Self {
            may_be_near: NearLink::<T>::IS_FOR && matches!(address, Address::Inproc { .. }),
            address,
            options: options.clone(),
            role,
            only: None,
            queue: match role {
                Role::Sender => None,
                Role::Receiver => Some(CompletionQueue::new()?),
            },
            versions: SenderVersions::default(),
            undescribed: ours.undescribed().clone(),
            arrived: Arc::new(WaitQueue::new()),
            first: OnceLock::new(),
            is_alone: AtomicBool::new(false),
            state: Mutex::new(Membership::new(expected)),
            listening: OnceLock::new(),
            announced: OnceLock::new(),
        })
    }

    /// Sets the only peer, which this side has joined, and its version.
    pub(super) fn with_only(
        mut self,
        connection: PeerConnection<T>,
        version: Option<Version>,
    ) -> Arc<Self> {
        self.only = Some(connection.clone());
        if let PeerConnection::Far(endpoint) = &connection {
            self.address = endpoint.info().address.clone();
            if let Some(version) = version.and_then(|version| self.versions.reserve(version)) {
                self.versions.insert(endpoint, version);
            }
        }
        self.add(connection, 0);
        Arc::new(self)
    }

    /// Registers this side under the name of its address, so that sides in this process find it.
    pub(super) fn announce(self: &Arc<Self>) {
        if let (true, Address::Inproc { name, .. }) = (self.may_be_near, &self.address) {
            self.announced.get_or_init(|| announce(name, self));
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Adds a peer of this process, with its options and its waiting receivers. Returns `None` if
    /// there is no room.
    pub(super) fn admit(
        &self,
        options: &Options,
        arrived: &Arc<WaitQueue>,
    ) -> Option<Arc<NearLink<T>>> {
        if !self.reserve() {
            return None;
        }
        let (options, arrived) = match self.role {
            Role::Sender => (options, arrived),
            Role::Receiver => (&self.options, &self.arrived),
        };
        let link = NearLink::new(self.address.clone(), options, arrived.clone());
        self.take_place(Some(PeerConnection::Near(link.clone())));
        Some(link)
    }

    /// Adds a peer, and releases the `places` that were reserved for it.
    fn add(&self, connection: PeerConnection<T>, places: usize) {
        if let PeerConnection::Near(link) = &connection {
            self.first.get_or_init(|| link.clone());
        }
        let mut state = self.lock();
        state.reserved = state.reserved.saturating_sub(places);
        state.peers.push(JoinedPeer {
            connection,
            posted: false,
        });
        state.came = state.came.saturating_add(1);
        let tasks = state.tasks.take();
        self.update_is_alone(&state);
        drop(state);
        self.call();
        tasks.wake_all();
    }

    /// Updates `is_alone`. The caller holds the lock.
    fn update_is_alone(&self, state: &MutexGuard<'_, Membership<T>>) {
        let is_complete = state.is_complete();
        let is_alone = match (&*state.peers, self.first.get()) {
            (
                [
                    JoinedPeer {
                        connection: PeerConnection::Near(one),
                        ..
                    },
                ],
                Some(first),
            ) => Arc::ptr_eq(one, first),
            _ => false,
        };
        self.is_alone
            .store(is_alone && is_complete, Ordering::Release);
    }

    /// Returns the peer if it is the only one and is in this process.
    #[inline]
    pub(super) fn alone(&self) -> Option<&Arc<NearLink<T>>> {
        if self.is_alone.load(Ordering::Acquire) {
            self.first.get()
        } else {
            None
        }
    }

    /// Reserves a place for a peer before it is told that it has joined. The place counts as a
    /// peer. Returns false if there is no room.
    pub(super) fn reserve(&self) -> bool {
        let mut state = self.lock();
        let has_room = state.peers.len().saturating_add(state.reserved) < MAX_PEERS;
        state.reserved = state.reserved.saturating_add(usize::from(has_room));
        has_room
    }

    /// Uses a reserved place for a peer that has joined, or releases it.
    pub(super) fn take_place(&self, joined: Option<PeerConnection<T>>) {
        match joined {
            Some(connection) => self.add(connection, 1),
            None => {
                let mut state = self.lock();
                state.reserved = state.reserved.saturating_sub(1);
                let tasks = state.tasks.take();
                drop(state);
                self.call();
                tasks.wake_all();
            }
        }
    }

    /// Removes a peer that is gone. Returns false if it was removed before.
    pub(super) fn remove(&self, connection: &PeerConnection<T>) -> bool {
        let mut state = self.lock();
        let place = state
            .peers
            .iter()
            .position(|peer| peer.connection.is(connection));
        let gone = place.map(|place| state.peers.remove(place));
        if gone.as_ref().is_some_and(|peer| peer.posted) {
            state.posted = state.posted.saturating_sub(1);
        }
        self.update_is_alone(&state);
        let is_closed = state.is_closed();
        drop(state);
        self.versions.remove_ended();
        if is_closed {
            self.call();
        }
        gone.is_some()
    }

    /// Wakes all waiting receivers so that they poll again.
    fn call(&self) {
        if let Some(queue) = &self.queue {
            queue.call();
        }
        if self.may_be_near {
            self.arrived.notify_all();
        }
    }

    /// Returns true if all expected peers have joined and all peers are gone.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// Returns the number of peers, or 0 until all expected peers have joined.
    pub(super) fn len(&self) -> usize {
        let state = self.lock();
        if state.is_complete() {
            state.peers.len()
        } else {
            0
        }
    }

    /// Returns the next peer in round-robin order. Returns `None` until all expected peers have
    /// joined.
    pub(super) fn next(&self) -> Option<PeerConnection<T>> {
        let mut state = self.lock();
        if !state.is_complete() {
            return None;
        }
        let peer = state.advance()?;
        Some(peer.connection.clone())
    }

    /// Returns a snapshot of the peers for a receive.
    pub(super) fn snapshot(&self) -> PeerSnapshot<T> {
        let mut state = self.lock();
        PeerSnapshot {
            count: state.peers.len(),
            is_posted: state.posted > 0,
            is_closed: state.is_closed(),
            first: state.next_to_poll(),
        }
    }

    /// Returns the next peer to poll, or `None` if a receive is posted to it.
    pub(super) fn next_to_poll(&self) -> Option<PeerConnection<T>> {
        self.lock().next_to_poll()
    }

    /// Returns true if a peer is outside of this process.
    pub(super) fn has_far(&self) -> bool {
        let is_far = |peer: &JoinedPeer<T>| matches!(peer.connection, PeerConnection::Far(_));
        self.lock().peers.iter().any(is_far)
    }

    /// Returns true if a peer in this process has an object or an event, or if the channel is
    /// closed.
    pub(super) fn is_near_ready(&self) -> bool {
        let is_ready = |peer: &JoinedPeer<T>| match &peer.connection {
            PeerConnection::Near(link) => link.is_ready(),
            PeerConnection::Far(_) => false,
        };
        let state = self.lock();
        state.is_closed() || state.peers.iter().any(is_ready)
    }

    /// Posts a receive to each connection that has none. The caller is about to sleep.
    pub(super) fn post_receives(&self, queue: &CompletionQueue) {
        let mut state = self.lock();
        state.sleepers = state.sleepers.saturating_add(1);
        self.post_all(state, queue);
    }

    /// Ends the sleep that [`post_receives`](Self::post_receives) announced.
    pub(super) fn end_sleep(&self) {
        let mut state = self.lock();
        state.sleepers = state.sleepers.saturating_sub(1);
    }

    fn post_all<'c>(&'c self, mut state: MutexGuard<'c, Membership<T>>, queue: &CompletionQueue) {
        let mut place = 0;
        while let Some(peer) = state.peers.get_mut(place) {
            place = place.saturating_add(1);
            let PeerConnection::Far(endpoint) = &peer.connection else {
                continue;
            };
            if mem::replace(&mut peer.posted, true) {
                continue;
            }
            let endpoint = endpoint.clone();
            state.posted = state.posted.saturating_add(1);
            drop(state);
            queue.post_recv(&endpoint, 0, None);
            state = self.lock();
        }
    }

    /// Handles the end of a posted receive. If receivers still sleep and the connection goes on,
    /// posts another one.
    pub(super) fn handle_received(
        &self,
        endpoint: &Endpoint,
        goes_on: bool,
        queue: &CompletionQueue,
    ) {
        let connection = PeerConnection::Far(endpoint.clone());
        let mut state = self.lock();
        if goes_on && state.sleepers > 0 {
            if state
                .peers
                .iter()
                .any(|peer| peer.connection.is(&connection))
            {
                drop(state);
                queue.post_recv(endpoint, 0, None);
            }
            return;
        }
        let peer = state
            .peers
            .iter_mut()
            .find(|peer| peer.connection.is(&connection));
        if peer.is_some_and(|peer| mem::replace(&mut peer.posted, false)) {
            state.posted = state.posted.saturating_sub(1);
        }
    }

    /// Handles a wake-up after a peer has joined or the channel has closed. Passes it on to the
    /// other sleeping receivers. Returns true if the channel is closed.
    pub(super) fn handle_call(&self, queue: &CompletionQueue) -> bool {
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

    /// Blocks until a peer has joined or the channel is closed. Returns false if the deadline
    /// passes first.
    pub(super) fn wait(&self, until: Deadline) -> bool {
        let parker = Parker::of_thread();
        loop {
            let mut state = self.lock();
            let has_peers = state.is_complete() && !state.peers.is_empty();
            let is_over = has_peers || state.is_closed();
            if is_over || until.has_passed() {
                drop(state.tasks.remove_same(parker.waker()));
                return is_over;
            }
            state.tasks.insert(parker.waker());
            drop(state);
            parker.park(until.left());
        }
    }

    /// Registers `task` to be woken when a peer joins. Returns false if the expected peers have
    /// already joined.
    pub(super) fn register(&self, task: &Waker) -> bool {
        let mut state = self.lock();
        if state.is_complete() {
            return false;
        }
        state.tasks.insert(task);
        true
    }

    /// Waits until the receivers in other processes have been sent everything, and tells them that
    /// nothing follows. All receivers share the send timeout.
    pub(super) fn finish(&self) -> Result<(), SendError> {
        let after = self.options.send_timeout;
        let until = Deadline::after(after);
        let far = |peer: &JoinedPeer<T>| match &peer.connection {
            PeerConnection::Far(endpoint) => Some(endpoint.clone()),
            PeerConnection::Near(_) => None,
        };
        let endpoints: Vec<_> = self.lock().peers.iter().filter_map(far).collect();
        let mut finished = Ok(());
        for endpoint in endpoints {
            let shared = endpoint.shared();
            if shared.is_elsewhere() {
                continue;
            }
            let left = until.left().unwrap_or(Duration::MAX);
            if let Err(source) = shared.finish(Patience::For(left)) {
                let peer = endpoint.peer().clone();
                finished = finished.and(Err(SendError::Lost { peer, source }));
            }
        }
        finished
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, Membership<T>> {
        jstream_sync::lock(&self.state)
    }
}

impl<T: Transportable + 'static> Drop for PeerSet<T> {
    fn drop(&mut self) {
        // The address is free when this returns.
        drop(self.listening.take());
        let state = jstream_sync::unpoisoned(self.state.get_mut());
        for peer in mem::take(&mut state.peers) {
            match (&peer.connection, self.role) {
                (PeerConnection::Far(_), _) => {}
                (PeerConnection::Near(link), Role::Sender) => link.end_sender(),
                (PeerConnection::Near(link), Role::Receiver) => link.end_receiver(),
            }
        }
    }
}
