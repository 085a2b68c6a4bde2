//! The handle of a set of servers.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{fmt, io};

use jstream_base::Address;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::find_object;
use crate::client_set::attending;
use crate::client_set::choices::{SetName, random};
use crate::client_set::core::{SetCore, SetEntry};
use crate::client_set::members::Member;
use crate::client_set::object::{PinnedObject, SetObject};
use crate::client_set::options::SetOptions;
use crate::client_set::source::MemberSource;
use crate::reference::{Circuit, Object, ObjectPlace, Remotable, Renewal, Stub};
use crate::session::{Alarm, Clock, until_ready};
use crate::support::{Operation, StepEnd, Steps};

/// A client of several servers that have the same objects. Cheap to clone. Ends with its last clone
/// and stub, and then its connections end with the last calls.
///
/// The set has a connection to each of its members, and a [source](MemberSource) that says which
/// servers these are. Each call of a [stub](Self::get) goes to the better one of two random
/// members: that with fewer calls in flight and shorter answers. Members whose connections have
/// ended, whose servers are shutting down, or which do not answer get no calls until they are back.
/// If a call fails and did not run, it is made at another member, within its timeout and
/// [`Reconnect::patience`](crate::Reconnect::patience). One that may have run is repeated only if
/// its method is `#[remote(idempotent)]`. See the page
/// [`several_servers`](crate::guide::several_servers) of the guide.
///
/// ```
/// use std::sync::Arc;
///
/// use jstream_rmi::{AddressList, ClientSet, Server, remote};
///
/// #[remote]
/// trait Adder {
///     fn add(&self, a: u32, b: u32) -> u32;
/// }
///
/// struct Plain;
///
/// impl Adder for Plain {
///     fn add(&self, a: u32, b: u32) -> u32 {
///         a + b
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut running = Vec::new();
/// for address in ["inproc://doc-set-1", "inproc://doc-set-2"] {
///     let server = Server::default();
///     server.bind::<dyn Adder>("adder", Arc::new(Plain))?;
///     running.push(server.listen(&address.parse()?)?);
/// }
/// let addresses = running.iter().map(|serving| serving.address().clone());
/// let set = ClientSet::open(AddressList::new(addresses)?)?;
/// let adder = set.get::<dyn Adder>("adder");
/// assert_eq!(*adder.add(2, 3).wait()?.get(), 5);
///
/// // One of them is replaced. No call fails.
/// running.remove(0).stop();
/// assert_eq!(*adder.add(4, 3).wait()?.get(), 7);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ClientSet {
    state: Arc<SetCore>,
}

/// A server of a set, as [`ClientSet::members`] shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberInfo {
    /// The addresses of the server.
    pub addresses: Vec<Address>,
    /// The zone of the server, if its source names one.
    pub zone: Option<String>,
    /// The state of its connection.
    pub state: MemberState,
    /// Number of calls in flight that were counted: those for which there was a choice.
    pub in_flight: u32,
    /// Average time of the last calls that were counted.
    pub latency: Duration,
}

/// State of a member of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberState {
    /// The member is not connected, or its connection was lost, or it has not answered for which of
    /// the names it has objects.
    Connecting {
        /// The failure of the last attempt; empty if there was none.
        reason: String,
    },
    /// The member gets calls.
    Open,
    /// The member does not answer. It is tested, and gets calls only if most others don't answer
    /// either.
    Silent,
    /// The member has failed too many calls ([`SetOptions::breaker`](crate::SetOptions::breaker)).
    /// From time to time, one call tests it. It gets others only if most others fail, too.
    Failing,
}

impl ClientSet {
    /// Creates a set with default options. Its members are connected in the background.
    ///
    /// # Errors
    ///
    /// The error of the operating system if no thread can be started.
    pub fn open(source: impl MemberSource) -> io::Result<Self> {
        Self::open_with(source, &SetOptions::default())
    }

    /// Creates a set with custom options, like [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_with(source: impl MemberSource, options: &SetOptions) -> io::Result<Self> {
        let state = Arc::new(SetCore::new(Arc::new(source), options.clone()));
        attending::start(&state)?;
        Ok(Self { state })
    }

    /// Returns a stub of the objects that the members have bound to a name. Each call chooses a
    /// member, and waits for one if there is none yet. A name that no member has bound makes calls
    /// fail after [`Reconnect::patience`](crate::Reconnect::patience).
    ///
    /// All calls of an object whose trait is `#[remote(stateful)]` go to one member, which is
    /// chosen by the first call. If its connection is lost, they fail with
    /// [`CallError::ObjectLost`](crate::CallError::ObjectLost).
    ///
    /// A stub of a set can't be passed as a reference to a server. Calls that pass references or
    /// streams, and one-way calls, are made at once or fail; see [`ready`](Self::ready).
    #[must_use]
    pub fn get<T: Remotable + ?Sized>(&self, name: &str) -> T::Stub {
        let entry = self.entry::<T>(name);
        match T::interface().is_stateful() {
            true => self.pinned_to::<T>(&entry, random()),
            false => self.stub::<T>(entry.source),
        }
    }

    /// Returns a stub like [`get`](Self::get), whose calls go to the member that the key leads to
    /// (rendezvous hashing): to the same one for all stubs with this key, in all programs whose
    /// sets have the same members. If a member leaves or its connection is lost, only its keys lead
    /// to others; they return when it is back.
    #[must_use]
    pub fn pinned<T: Remotable + ?Sized>(&self, name: &str, key: &[u8]) -> T::Stub {
        self.pinned_to::<T>(&self.entry::<T>(name), xxh3_64(key))
    }

    fn entry<T: Remotable + ?Sized>(&self, name: &str) -> SetEntry {
        let interface = T::interface();
        self.state.entry((name, interface), || {
            let policy = self.state.policy();
            let name = Arc::new(SetName::new(name, (interface, find_object), policy));
            let source = Arc::new(SetObject::new(&self.state, name.clone()));
            SetEntry { name, source }
        })
    }

    fn pinned_to<T: Remotable + ?Sized>(&self, entry: &SetEntry, key: u64) -> T::Stub {
        let object = PinnedObject::new(&self.state, entry.name.clone(), key);
        self.stub::<T>(Arc::new(object))
    }

    fn stub<T: Remotable + ?Sized>(&self, source: Arc<dyn Renewal>) -> T::Stub {
        let place = ObjectPlace::Set(self.state.clone());
        let time = self.state.options.client.call_timeout;
        T::Stub::new(Object::new(place, time).renewed_by(source))
    }

    /// Waits until a member is connected and has the objects of all stubs. Returns false after
    /// [`Reconnect::patience`](crate::Reconnect::patience), or if the set was closed.
    pub fn ready(&self) -> Operation<bool> {
        let patience = self.state.options.reconnect().patience;
        Operation::new(Readiness {
            state: self.state.clone(),
            key: None,
            until: Instant::now().checked_add(patience),
            alarm: None,
        })
    }

    /// Returns the members, as far as they are known.
    #[must_use]
    pub fn members(&self) -> Vec<MemberInfo> {
        let now = Instant::now();
        self.state
            .each_member(|member, is_known| info((member, is_known), now))
    }

    /// Ends all connections. Calls in flight and later calls fail.
    pub fn close(&self) {
        self.state.close();
    }
}

fn info((member, is_known): (&Member, bool), now: Instant) -> MemberInfo {
    let load = member.load.as_ref();
    let is_silent = load.is_some_and(|load| load.is_outlier());
    let circuit = load.and_then(|load| load.circuit());
    let is_failing = circuit.is_some_and(Circuit::is_open);
    MemberInfo {
        addresses: member.addresses.clone(),
        zone: member.zone.clone(),
        state: match is_known && member.is_open() {
            true if is_silent => MemberState::Silent,
            true if is_failing => MemberState::Failing,
            true => MemberState::Open,
            false => MemberState::Connecting {
                reason: member.reason.clone(),
            },
        },
        in_flight: load.map_or(0, |load| load.in_flight()),
        latency: load.map_or(Duration::ZERO, |load| load.latency(now)),
    }
}

impl fmt::Debug for ClientSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_struct("ClientSet");
        set.field("members", &self.members()).finish()
    }
}

/// The wait for a member that has all objects.
struct Readiness {
    state: Arc<SetCore>,
    key: Option<u64>,
    until: Option<Instant>,
    /// Ends the wait of a task in time.
    alarm: Option<Alarm>,
}

impl Readiness {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // Registered first, so that no change is missed.
        self.state.register(&mut self.key, context.waker());
        match (self.state.is_closed(), self.state.is_ready()) {
            (true, _) => Poll::Ready(false),
            (false, true) => Poll::Ready(true),
            (false, false) => Poll::Pending,
        }
    }
}

impl Steps<bool> for Readiness {
    fn wait(mut self: Box<Self>) -> StepEnd<bool> {
        let until = self.until;
        let is_ready = until_ready(|| None, until, |context| self.poll_ready(context));
        StepEnd::Done(is_ready.unwrap_or(false))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<StepEnd<bool>> {
        match (self.poll_ready(context), self.until) {
            (Poll::Ready(is_ready), _) => Poll::Ready(StepEnd::Done(is_ready)),
            (Poll::Pending, Some(until)) if until <= Instant::now() => {
                Poll::Ready(StepEnd::Done(false))
            }
            (Poll::Pending, Some(until)) => {
                // Without an alarm, each change wakes this wait.
                let alarm = self.alarm.take();
                self.alarm = alarm.or_else(|| Alarm::new(&Clock::SYSTEM).ok());
                if let Some(alarm) = &self.alarm {
                    alarm.set(until, context.waker());
                }
                Poll::Pending
            }
            (Poll::Pending, None) => Poll::Pending,
        }
    }
}

impl Drop for Readiness {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.state.cancel(key);
        }
    }
}
