//! Replicated objects: reads are local, writes are broadcast in one total order.
//!
//! Decision 098 has the reasons.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::{mem, thread};

use jstream::{ReadError, Received, Transportable, WriteError};
use jstream_derive::ErrorDebug;
use jstream_sync::callbacks::Deferral;
use jstream_sync::parker::block_on;
use thiserror::Error;

use super::error::{LookupError, RequestError};
use super::guarded::Guarded;
use super::handlers::Builder;
use super::peer::{Backpressure, Departure, Handler, Peer};
use super::request::{Replier, Request};
use super::ticket::Ticket;

/// Member that numbers the writes.
const HOME: u32 = 0;

/// Largest distance between a write that arrives early and the one that is applied next. The
/// connection's window permits fewer unless it was set to more.
const MAX_EARLY: u64 = 1 << 16;

/// Maximum length in bytes of the reason for which a member is lost.
const MAX_REASON: usize = 256;

const PANICKED: &str = "applying a write has panicked";

/// An object with a copy at each of several members, as the objects of Orca: a member reads its own
/// copy without communication, and writes are applied to all copies in the same order.
///
/// A write is a value `W` and a function that applies it. The function must depend on nothing but
/// the object and the value, so that all copies stay equal. Member 0, the home, numbers the writes
/// and sends them to all members, which apply them in the order of the numbers. So all members see
/// the same sequence of states, though not at the same time.
///
/// All members create the object with the same name, add its handlers to their tables, join their
/// connections, and [connect](Self::connect) the object. Only the connections between the home and
/// the other members are used. The program has to serve them, as for all active messages; a thread
/// that [waits](Self::wait) does so. The home's connections should be in one
/// [`PollGroup`](super::PollGroup), so that its waits serve all of them.
///
/// ```
/// use jstream::Received;
/// use jstream_transport::active::{Handlers, Peer, Replicated, Settings};
/// use jstream_transport::{Options, connect, listen};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The shortest length that any member has found.
/// let shortest = |member| {
///     Replicated::new("shortest", (member, 2), u64::MAX, |shortest, found: &Received<u64>| {
///         *shortest = (*shortest).min(*found.get());
///     })
/// };
/// let address = "inproc://replicated".parse()?;
/// let listener = listen(&address, &Options::default())?;
/// let home = std::thread::spawn(move || {
///     let object = shortest(0);
///     let handlers = object.add_handlers(Handlers::builder()).build();
///     let endpoint = listener.accept().unwrap().establish().unwrap();
///     let peer = Peer::join(endpoint, &handlers, Settings::default()).unwrap();
///     object.connect(1, &peer).unwrap();
///     // Waits for a write of the other member.
///     object.wait(|shortest| (*shortest < 20).then_some(*shortest)).unwrap()
/// });
///
/// let object = shortest(1);
/// let handlers = object.add_handlers(Handlers::builder()).build();
/// let peer = Peer::join(connect(&address, &Options::default())?, &handlers, Settings::default())?;
/// object.connect(0, &peer)?;
/// object.write(&25)?;
/// object.write(&17)?;
/// assert_eq!(object.read(|shortest| *shortest), 17);
/// assert_eq!(home.join().unwrap(), 17);
/// # Ok(())
/// # }
/// ```
///
/// # Failures
///
/// If the connection between the home and a member ends, or a write can't be sent to a member, the
/// object fails at all members: writes and waits return [`ReplicaError::Lost`], which names that
/// member. Reads still work. So members keep the object until all of them have done their last
/// write. Members trust each other: one that sends numbers of its own can make the object fail.
///
/// # Memory
///
/// A write that a member has not taken occupies the window of its writer, so the home queues at
/// most as many writes as the windows of all writers permit. A slow member therefore slows down
/// writers.
pub struct Replicated<T, W: Transportable + 'static> {
    shared: Arc<ReplicaState<T, W>>,
}

type Apply<T, W> = dyn Fn(&mut T, &Received<W>) + Send + Sync;

struct ReplicaState<T, W: Transportable + 'static> {
    name: String,
    index: u32,
    size: u32,
    apply: Box<Apply<T, W>>,
    replica: Guarded<Replica<T, W>>,
    /// At the home, all other members; at another member, the home.
    members: Mutex<Vec<Connected>>,
    /// Number of the last write, at the home. Locked while a write is sent to all members, so that
    /// each connection carries the writes in order.
    written: Mutex<u64>,
    /// Messages about a lost member that wait for credit.
    notices: Mutex<Vec<Departure>>,
}

struct Replica<T, W: Transportable + 'static> {
    object: T,
    /// Number of the last applied write. The first write has number 1.
    applied: u64,
    /// Writes that a thread has received while another one still has an earlier write.
    early: BTreeMap<u64, (Received<W>, Replier)>,
    connected: u32,
    failure: Option<MemberLoss>,
}

#[derive(Clone)]
struct Connected {
    index: u32,
    peer: Peer,
    write: Handler,
    apply: Handler,
    lost: Handler,
}

#[derive(Debug, Clone)]
struct MemberLoss {
    member: u32,
    reason: String,
}

/// Error of a write to a [`Replicated`] object, or of a wait for one.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum ReplicaError {
    /// A member is lost. The object accepts no more writes.
    #[error("member {member} of the replicated object \"{name}\" is lost: {reason}")]
    Lost {
        /// Name of the object.
        name: String,
        /// Index of the member.
        member: u32,
        /// Description of the failure.
        reason: String,
    },
    /// Not all members are connected. Nothing was written.
    #[error(
        "{connected} of {expected} connections of the replicated object \"{name}\" exist; connect \
         all of them before the first write"
    )]
    Unconnected {
        /// Name of the object.
        name: String,
        /// Number of connections.
        connected: u32,
        /// Required number.
        expected: u32,
    },
    /// The value can't be written. Nothing was sent.
    #[error("the value can't be written: {0}")]
    Write(WriteError),
    /// The value can't be read. Nothing was sent.
    #[error("the value can't be read: {0}")]
    Read(Box<ReadError>),
    /// The request to the home failed.
    #[error(transparent)]
    Request(RequestError),
}

impl<T, W> Replicated<T, W>
where
    T: Send + 'static,
    W: Transportable + 'static,
    Received<W>: Send,
{
    /// Creates the copy of a member. `member` is its index and the number of members; `object` is
    /// the first state, which is the same at all members. `apply` applies a write.
    ///
    /// # Panics
    ///
    /// If the index is not less than the number of members.
    pub fn new(
        name: &str,
        member: (u32, u32),
        object: T,
        apply: impl Fn(&mut T, &Received<W>) + Send + Sync + 'static,
    ) -> Self {
        let (index, size) = member;
        assert!(index < size, "member {index} of {size}: no such member");
        let replica = Replica {
            object,
            applied: 0,
            early: BTreeMap::new(),
            connected: 0,
            failure: None,
        };
        let shared = ReplicaState {
            name: name.to_owned(),
            index,
            size,
            apply: Box::new(apply),
            replica: Guarded::new(replica),
            members: Mutex::default(),
            written: Mutex::default(),
            notices: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Adds the handlers of the object to a table. They hold the object weakly.
    ///
    /// # Panics
    ///
    /// As [`Builder::on_async`], if the table has an object of that name.
    pub fn add_handlers(&self, builder: Builder) -> Builder {
        let [write, apply, lost] = handler_names(&self.shared.name);
        let shared = || Arc::downgrade(&self.shared);
        let (writing, applying, losing) = (shared(), shared(), shared());
        builder
            .on_async(&write, move |request| {
                let shared = writing.upgrade();
                async move {
                    match shared {
                        Some(shared) => shared.serve_write(request).await,
                        None => request.refuse("the replicated object was dropped"),
                    }
                }
            })
            .on(&apply, move |request| {
                if let Some(shared) = applying.upgrade() {
                    shared.serve_apply(request);
                }
            })
            .on(&lost, move |request| {
                if let Some(shared) = losing.upgrade() {
                    let reason = String::from_utf8_lossy(request.bytes());
                    shared.fail(member_of(&request), &reason);
                }
            })
    }

    /// Connects the copies of this member and another one. A connection between two members that
    /// are not the home is not used.
    ///
    /// # Errors
    ///
    /// [`LookupError`] if the peer's table does not have the handlers of this object.
    ///
    /// # Panics
    ///
    /// If there is no other member `member`, or if it is connected.
    pub fn connect(&self, member: u32, peer: &Peer) -> Result<(), LookupError> {
        let shared = &self.shared;
        let is_other = member < shared.size && member != shared.index;
        assert!(is_other, "member {member}: no other member");
        if HOME != shared.index && HOME != member {
            return Ok(());
        }
        let [write, apply, lost] = handler_names(&shared.name);
        let added = Connected {
            index: member,
            peer: peer.clone(),
            write: peer.handler(&write)?,
            apply: peer.handler(&apply)?,
            lost: peer.handler(&lost)?,
        };
        {
            let mut members = jstream_sync::lock(&shared.members);
            let is_new = members.iter().all(|known| known.index != member);
            assert!(is_new, "member {member}: connected before");
            members.push(added);
        }
        {
            let mut replica = shared.replica.lock();
            replica.connected = replica.connected.saturating_add(1);
        }
        let weak = Arc::downgrade(shared);
        peer.on_end(move || {
            if let Some(shared) = weak.upgrade() {
                shared.fail(member, "its connection has ended");
            }
        });
        Ok(())
    }

    /// Calls `read` with this member's copy. No write is applied meanwhile, so it should return
    /// quickly, and must not use the object in another way.
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.shared.replica.lock().object)
    }

    /// Writes, and waits until the write was applied to this member's copy. The other members may
    /// apply it later. Serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`].
    pub fn write(&self, value: &W) -> Result<(), ReplicaError> {
        self.begin_write(value)?.wait()
    }

    /// As [`write`](Self::write), but does not wait for the answer of the home. A thread's writes
    /// are applied in the order in which it began them, if one thread serves the home.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`].
    pub fn begin_write(&self, value: &W) -> Result<Writing<'_, T, W>, ReplicaError> {
        let shared = &*self.shared;
        let expected = if shared.index == HOME {
            shared.size.saturating_sub(1)
        } else {
            1
        };
        {
            let replica = shared.replica.lock();
            shared.check(&replica)?;
            if replica.connected < expected {
                return Err(ReplicaError::Unconnected {
                    name: shared.name.clone(),
                    connected: replica.connected,
                    expected,
                });
            }
        }
        let bytes = jstream::to_vec(value).map_err(ReplicaError::Write)?;
        if shared.index == HOME {
            let value = jstream::from_slice::<W>(&bytes);
            let value = value.map_err(|error| ReplicaError::Read(Box::new(error)))?;
            let published = shared.publish(&bytes, &value);
            let (_, departures) = published.map_err(|failure| shared.lost(failure))?;
            for departure in departures {
                // If a connection has ended, its callback makes the object fail.
                let _ = departure.wait();
            }
            return Ok(Writing {
                shared,
                ticket: None,
            });
        }
        let Some(Connected { peer, write, .. }) = shared.first_member() else {
            unreachable!("the home is connected");
        };
        let ticket = peer.request(write, u64::from(shared.index), &bytes);
        Ok(Writing {
            shared,
            ticket: Some(ticket.map_err(|error| shared.unwritten(error))?),
        })
    }

    /// Waits until `guard` returns a value for this member's copy, and returns that. Serves
    /// meanwhile. `guard` is called again after each write; it must return quickly and must not use
    /// the object in another way.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::Lost`].
    pub fn wait<R>(&self, guard: impl FnMut(&T) -> Option<R>) -> Result<R, ReplicaError> {
        self.shared.wait(guard)
    }

    /// As [`wait`](Self::wait), for tasks. Does not serve, so threads must.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::Lost`].
    pub async fn when<R>(&self, mut guard: impl FnMut(&T) -> Option<R>) -> Result<R, ReplicaError> {
        let mut found = None;
        let holds = |replica: &Replica<T, W>| {
            found = guard(&replica.object);
            found.is_some() || replica.failure.is_some()
        };
        let failure = self.shared.replica.when(holds).await.failure.clone();
        self.shared.outcome(found, failure)
    }
}

impl<T, W> ReplicaState<T, W>
where
    T: Send + 'static,
    W: Transportable + 'static,
    Received<W>: Send,
{
    fn check(&self, replica: &Replica<T, W>) -> Result<(), ReplicaError> {
        match &replica.failure {
            Some(failure) => Err(self.lost(failure.clone())),
            None => Ok(()),
        }
    }

    fn lost(&self, MemberLoss { member, reason }: MemberLoss) -> ReplicaError {
        ReplicaError::Lost {
            name: self.name.clone(),
            member,
            reason,
        }
    }

    fn first_member(&self) -> Option<Connected> {
        jstream_sync::lock(&self.members).first().cloned()
    }

    /// Returns the error of a request to the home. If the object has failed, this is the reason.
    fn unwritten(&self, error: RequestError) -> ReplicaError {
        let failure = self.replica.lock().failure.clone();
        match (failure, error) {
            (Some(failure), _) => self.lost(failure),
            (None, RequestError::Ended { .. } | RequestError::Lost { .. }) => {
                self.lost(MemberLoss {
                    member: HOME,
                    reason: "its connection has ended".to_owned(),
                })
            }
            (None, error) => ReplicaError::Request(error),
        }
    }

    /// Returns the value that a guard found, or the reason for which there will be none.
    fn outcome<R>(&self, found: Option<R>, failure: Option<MemberLoss>) -> Result<R, ReplicaError> {
        match (found, failure) {
            (Some(found), _) => Ok(found),
            (None, Some(failure)) => Err(self.lost(failure)),
            (None, None) => unreachable!("the wait ended for one of these reasons"),
        }
    }

    fn wait<R>(&self, mut guard: impl FnMut(&T) -> Option<R>) -> Result<R, ReplicaError> {
        self.wait_replica(|replica| guard(&replica.object))
    }

    fn wait_replica<R>(
        &self,
        mut guard: impl FnMut(&Replica<T, W>) -> Option<R>,
    ) -> Result<R, ReplicaError> {
        let mut found = None;
        let failure = {
            let holds = |replica: &Replica<T, W>| {
                found = guard(replica);
                found.is_some() || replica.failure.is_some()
            };
            let mut waiting = pin!(self.replica.when(holds));
            match self.first_member() {
                None => block_on(waiting).failure.clone(),
                Some(member) => {
                    let attempt = |waker: Option<&Waker>| {
                        let mut context = Context::from_waker(waker.unwrap_or(Waker::noop()));
                        match waiting.as_mut().poll(&mut context) {
                            Poll::Ready(replica) => Some(replica.failure.clone()),
                            Poll::Pending => None,
                        }
                    };
                    // Without a deadline, the wait ends with a value.
                    member.peer.attendant().wait_until(None, attempt).flatten()
                }
            }
        };
        self.outcome(found, failure)
    }

    /// Applies a write. If that panics, the object has failed, because the copy may be half
    /// written. Returns the panic, which the caller resumes when it has released the lock.
    fn apply(&self, replica: &mut Replica<T, W>, value: &Received<W>) -> thread::Result<()> {
        let write = AssertUnwindSafe(|| (self.apply)(&mut replica.object, value));
        let applied = catch_unwind(write);
        match applied {
            Ok(()) => replica.applied = replica.applied.saturating_add(1),
            Err(_) => {
                replica.failure.get_or_insert(MemberLoss {
                    member: self.index,
                    reason: PANICKED.to_owned(),
                });
            }
        }
        applied
    }

    /// Numbers a write, sends it to all members, and applies it. Returns its number, and the
    /// messages, some of which may wait for credit.
    fn publish(
        &self,
        bytes: &[u8],
        value: &Received<W>,
    ) -> Result<(u64, Vec<Departure>), MemberLoss> {
        let members = jstream_sync::lock(&self.members).clone();
        // Callbacks of the sends may write, too.
        let deferral = Deferral::begin();
        // Held until all sends are queued: each member then gets the writes in the order of their
        // numbers.
        let mut written = jstream_sync::lock(&self.written);
        // Checked under the lock, so that no write gets a number after the object has failed.
        if let Some(failure) = &self.replica.lock().failure {
            return Err(failure.clone());
        }
        let number = written.saturating_add(1);
        *written = number;
        let mut departures = Vec::with_capacity(members.len());
        for member in &members {
            let sent = member
                .peer
                .send_with(member.apply, number, bytes, Backpressure::Queue);
            match sent {
                Ok(departure) => departures.push(departure),
                Err(error) => self.fail(member.index, &error.to_string()),
            }
        }
        // Applied under the same lock, so that the home, too, applies the writes in order.
        let applied = self.apply(&mut self.replica.lock(), value);
        drop(written);
        drop(deferral);
        if let Err(panic) = applied {
            self.announce(self.index, PANICKED);
            resume_unwind(panic);
        }
        Ok((number, departures))
    }

    /// Serves a write at the home.
    async fn serve_write(self: Arc<Self>, request: Request) {
        if self.index != HOME {
            return request.refuse("member 0 numbers the writes; this is another member");
        }
        let expected = self.size.saturating_sub(1);
        let is_complete =
            |replica: &Replica<T, W>| replica.connected == expected || replica.failure.is_some();
        // A write that is published before all members are connected would never reach the others.
        drop(self.replica.when(is_complete).await);
        let value = match jstream::from_slice::<W>(request.bytes()) {
            Ok(value) => value,
            Err(error) => return request.refuse(&error.to_string()),
        };
        let published = self.publish(request.bytes(), &value);
        // Not kept while the departures are awaited.
        drop(value);
        match published {
            Ok((number, departures)) => {
                // The peer may cancel its request while this future is suspended. The write then
                // has a number, but may not reach all members.
                let mut unsent = Unsent {
                    shared: &self,
                    writer: member_of(&request),
                    is_sent: false,
                };
                for departure in departures {
                    // If a connection has ended, its callback makes the object fail.
                    let _ = departure.await;
                }
                unsent.is_sent = true;
                drop(unsent);
                request.reply(number, &[]);
            }
            Err(failure) => {
                let mut bytes = failure.member.to_le_bytes().to_vec();
                bytes.extend_from_slice(failure.reason.as_bytes());
                request.reply(0, &bytes);
            }
        }
    }

    /// Serves a write that the home has numbered.
    fn serve_apply(&self, request: Request) {
        let number = request.word();
        let Some((value, replier)) = request.read::<W>() else {
            return self.fail(HOME, "it sent a malformed write");
        };
        let mut arrived = Some((value, replier));
        let expected = {
            let mut replica = self.replica.lock();
            let next = replica.applied.saturating_add(1);
            let ahead = number.checked_sub(next);
            let is_valid = ahead.is_some_and(|ahead| ahead < MAX_EARLY);
            let is_new = is_valid && !replica.early.contains_key(&number);
            if let Some(arrived) = arrived.take_if(|_| is_new) {
                replica.early.insert(number, arrived);
            }
            next
        };
        if arrived.is_some() {
            return self.fail(
                HOME,
                &format!("it sent write {number}, expected {expected}"),
            );
        }
        // A replier is dropped without the lock, because it gives the home its place of the window
        // back, which may find out that the connection has ended.
        while let Some((applied, _value, _replier)) = self.apply_next() {
            if let Err(panic) = applied {
                resume_unwind(panic);
            }
        }
    }

    /// Applies the write with the next number if it has arrived.
    fn apply_next(&self) -> Option<(thread::Result<()>, Received<W>, Replier)> {
        let mut replica = self.replica.lock();
        let next = replica.applied.saturating_add(1);
        if replica.failure.is_some() || !replica.early.contains_key(&next) {
            return None;
        }
        let (value, replier) = replica.early.remove(&next)?;
        Some((self.apply(&mut replica, &value), value, replier))
    }

    /// Records that a member is lost. The home tells all others. Does not lock `written`, because
    /// a send under that lock may find out that a connection has ended.
    fn fail(&self, member: u32, reason: &str) {
        let reason: String = reason.chars().take(MAX_REASON / 4).collect();
        let early = {
            let mut replica = self.replica.lock();
            if replica.failure.is_some() {
                // The first reason counts, and was announced.
                return;
            }
            replica.failure = Some(MemberLoss {
                member,
                reason: reason.clone(),
            });
            mem::take(&mut replica.early)
        };
        // Dropped without the lock, because the repliers in it send frames.
        drop(early);
        self.announce(member, &reason);
    }

    /// Tells all other members of a failure, at the home.
    fn announce(&self, member: u32, reason: &str) {
        if self.index != HOME {
            return;
        }
        // Cloned, because the sends may run callbacks that connect further members.
        let members = jstream_sync::lock(&self.members).clone();
        for other in members.iter().filter(|other| other.index != member) {
            let (word, reason) = (u64::from(member), reason.as_bytes());
            let sent = other
                .peer
                .send_with(other.lost, word, reason, Backpressure::Queue);
            // A member that can't be told is lost, too.
            jstream_sync::lock(&self.notices).extend(sent.ok());
        }
    }
}

/// Returns the index of a member that the word of a message names.
fn member_of(request: &Request) -> u32 {
    u32::try_from(request.word()).unwrap_or(u32::MAX)
}

fn handler_names(name: &str) -> [String; 3] {
    ["write", "apply", "lost"].map(|what| format!("replicated {name}: {what}"))
}

/// Guard of messages that wait for credit. If the request of the writer is cancelled meanwhile,
/// members miss a write, so the object fails.
struct Unsent<'a, T: Send + 'static, W: Transportable + 'static>
where
    Received<W>: Send,
{
    shared: &'a ReplicaState<T, W>,
    writer: u32,
    is_sent: bool,
}

impl<T: Send + 'static, W: Transportable + 'static> Drop for Unsent<'_, T, W>
where
    Received<W>: Send,
{
    fn drop(&mut self) {
        if !self.is_sent {
            self.shared.fail(self.writer, "it cancelled a write");
        }
    }
}

/// A write on its way; see [`Replicated::begin_write`]. Dropping it does not cancel the write.
#[must_use = "a write whose outcome is not awaited may have failed"]
pub struct Writing<'a, T, W: Transportable + 'static> {
    shared: &'a ReplicaState<T, W>,
    /// The request to the home. At the home, the write is done.
    ticket: Option<Ticket>,
}

impl<T, W> Writing<'_, T, W>
where
    T: Send + 'static,
    W: Transportable + 'static,
    Received<W>: Send,
{
    /// Waits until the write was applied to this member's copy, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`].
    pub fn wait(mut self) -> Result<(), ReplicaError> {
        let shared = self.shared;
        let Some(ticket) = self.ticket.take() else {
            return Ok(());
        };
        let reply = ticket.wait().map_err(|error| shared.unwritten(error))?;
        let number = reply.word;
        if number == 0 {
            let failure = reply.payload.as_bytes().split_first_chunk();
            let (member, reason) = failure.unwrap_or((&[0; 4], b"the home refused"));
            let reason = String::from_utf8_lossy(reason);
            shared.fail(u32::from_le_bytes(*member), &reason);
        }
        shared.wait_replica(|replica| (number > 0 && replica.applied >= number).then_some(()))
    }
}

impl<T, W: Transportable + 'static> Drop for Writing<'_, T, W> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            ticket.detach();
        }
    }
}

impl<T, W: Transportable + 'static> Clone for Replicated<T, W> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T, W: Transportable + 'static> fmt::Debug for Replicated<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicated")
            .field("name", &self.shared.name)
            .field("member", &self.shared.index)
            .field("members", &self.shared.size)
            .finish_non_exhaustive()
    }
}

impl<T, W: Transportable + 'static> fmt::Debug for Writing<'_, T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writing")
            .field("name", &self.shared.name)
            .finish_non_exhaustive()
    }
}
