//! Rank 0 of a world: accepts the other members and sends them the table of addresses.

use std::fmt;
use std::sync::Arc;

use super::acceptor::{self, MemberAcceptor};
use super::ending::farewell;
use super::error::WorldError;
use super::handle::World;
use super::limits::{GOODBYE, check_size};
use super::lobby::{Check, LOOK, Lobby, Member};
use super::options::WorldOptions;
use super::places::host_of;
use super::roster::Roster;
use super::seat::Seat;
use super::session::Session;
use super::site::Site;
use super::words::Word;
use jstream_base::Address;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Unreceived;
use jstream_endpoint::{Completion, CompletionQueue, Endpoint, Incoming, Outcome, listen_all};

/// Rank 0 of a world that is being created, which listens for the other members.
///
/// [`World::join`] opens a meeting for rank 0 and waits in it. A program that starts the other
/// members itself opens the meeting first, so that it can tell them the addresses, including ports
/// chosen by the operating system.
///
/// ```
/// use jstream_transport::rank::world::{Meeting, World, WorldOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = WorldOptions::default();
/// let meeting = Meeting::open(&["tcp://127.0.0.1:0".parse()?], 2, &options)?;
/// let address = meeting.addresses()[0].clone();
/// let other = std::thread::spawn(move || {
///     World::join(&address, 1, 2, &WorldOptions::default())?.finish()
/// });
/// let world = meeting.join()?;
/// assert_eq!((world.rank(), world.size()), (0, 2));
/// world.finish()?;
/// other.join().unwrap()?;
/// # Ok(())
/// # }
/// ```
pub struct Meeting {
    addresses: Vec<Address>,
    size: u32,
    session: Session,
    options: WorldOptions,
    hall: Arc<Lobby<Guest>>,
    door: MemberAcceptor,
}

/// A member that has joined, and its listening addresses.
struct Guest {
    endpoint: Endpoint,
    addresses: Vec<Address>,
}

impl Member for Guest {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Meeting {
    /// Listens on `addresses` for the other ranks of a world of `size`.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if this can't listen on all of the addresses, or if the size is out of range.
    pub fn open(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        check_size(size)?;
        let session = options.session.map_or_else(Session::new, Ok)?;
        let listener = listen_all(addresses, &options.transport)
            .map_err(|source| WorldError::Listen { rank: 0, source })?;
        let addresses = listener.local_addresses().to_vec();
        let roll = Roster::new(session, options.session.is_some(), 1..size, size);
        let hall = Arc::new(Lobby::new(roll));
        let (entered, options) = (hall.clone(), options.clone());
        let wait = options.transport.handshake_timeout;
        let admit = move |incoming: Incoming| {
            let host = host_of(incoming.peer()).to_owned();
            let endpoint = incoming.establish().map_err(|error| error.to_string())?;
            let place = acceptor::ask(&endpoint, wait, |ask| entered.reserve(ask))?;
            let said = Word::Welcome(session, host).say(&endpoint);
            let heard = match said {
                Ok(()) => Word::hear(&endpoint, wait).map_err(|unheard| unheard.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match heard {
                Ok(Word::Here(addresses)) => {
                    place.take(Guest {
                        endpoint,
                        addresses,
                    });
                    Ok(())
                }
                other => {
                    let reason = other
                        .err()
                        .unwrap_or_else(|| "it sent an unexpected message".to_owned());
                    let rank = place.rank();
                    entered.note(format!("rank {rank} failed to join: {reason}"));
                    Err(reason)
                }
            }
        };
        Ok(Self {
            addresses,
            size,
            session,
            hall,
            door: MemberAcceptor::open(listener, admit)?,
            options,
        })
    }

    /// Returns the addresses at which this listens, with the actual port for each port 0.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the number of the world.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session
    }

    /// Waits until all other members have joined and are connected to each other.
    ///
    /// # Errors
    ///
    /// [`WorldError::Missing`] if some do not join in time, or another [`WorldError`]. The members
    /// that have joined are notified.
    pub fn join(self) -> Result<World, WorldError> {
        let seat = Seat::alone(0, self.size, &self.options.rank);
        self.join_unless(seat, &mut || Ok(()))
    }

    /// Like [`join`](Self::join), but takes `seat` of rank 0, and gives up if `check` returns an
    /// error.
    pub(super) fn join_unless(self, seat: Seat, check: Check<'_>) -> Result<World, WorldError> {
        let until = Deadline::after(self.options.timeout);
        let all_came = self.hall.wait(until, check).and_then(|all| {
            let missing = || WorldError::Missing {
                ranks: self.hall.missing(),
                size: self.size,
                after: self.options.timeout,
                also: self.hall.noted(),
            };
            if all { Ok(()) } else { Err(missing()) }
        });
        let guests = self.hall.close();
        drop(self.door);
        let crowd = Crowd {
            guests,
            options: &self.options,
            until,
        };
        match all_came.and_then(|()| crowd.connect(check)) {
            Ok(()) => {
                let others = crowd.guests.into_iter();
                let others = others.map(|(rank, guest)| (rank, guest.endpoint));
                let site = Site {
                    session: self.session,
                    seen: String::new(),
                    given: self.addresses,
                    transport: self.options.transport.clone(),
                    timeout: self.options.timeout,
                };
                World::new(seat, others, site, &self.options)
            }
            Err(error) => {
                crowd.tell(&error);
                Err(error)
            }
        }
    }
}

impl fmt::Debug for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meeting")
            .field("addresses", &self.addresses)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// All other members, while they connect to each other.
struct Crowd<'c> {
    guests: Vec<(u32, Guest)>,
    options: &'c WorldOptions,
    until: Deadline,
}

impl Crowd<'_> {
    /// Sends the table of addresses to all members, and waits until each has connected to the
    /// others. A slow member does not delay the others.
    fn connect(&self, check: Check<'_>) -> Result<(), WorldError> {
        let queue = CompletionQueue::new()?;
        let places = self.guests.iter().map(|(_, guest)| guest.addresses.clone());
        let (header, table) = Word::Table(places.collect()).to_message();
        let pool = &self.options.transport.pool;
        for (rank, guest) in &self.guests {
            let lost = |reason| WorldError::Lost {
                rank: *rank,
                reason,
            };
            let empty = pool.take(table.len());
            let empty = empty.map_err(|error| lost(error.to_string()))?;
            let filled = empty.copy_from(&table);
            let filled =
                filled.map_err(|_| lost("the pool has no room for its table".to_owned()))?;
            queue.post_send(&guest.endpoint, u64::from(*rank), header, filled);
            queue.post_recv(&guest.endpoint, u64::from(*rank), None);
        }
        let mut waiting = self.guests.len();
        while waiting > 0 {
            let left = self.until.left().map_or(LOOK, |left| left.min(LOOK));
            match queue.wait(left) {
                Some(completion) => {
                    if is_ready(completion)? {
                        waiting = waiting.saturating_sub(1);
                    }
                }
                None if self.until.has_passed() => {
                    return Err(WorldError::TimedOut {
                        after: self.options.timeout,
                        what: format!("{waiting} ranks did not connect to all others"),
                    });
                }
                None => check()?,
            }
        }
        for (rank, guest) in &self.guests {
            Word::Go
                .say(&guest.endpoint)
                .map_err(|error| WorldError::Lost {
                    rank: *rank,
                    reason: error.to_string(),
                })?;
        }
        Ok(())
    }

    /// Notifies the members that the world can't be created.
    fn tell(&self, error: &WorldError) {
        let (about, reason) = match error {
            WorldError::Failed { rank, reason } => (*rank, reason.clone()),
            error => (0, error.to_string()),
        };
        let failed = Word::Failed(about, reason);
        for (rank, guest) in &self.guests {
            if let Err(error) = failed.try_say(&guest.endpoint) {
                tracing::debug!(rank, %error, "can't notify a member that the world failed");
            }
        }
        let endpoints = self.guests.iter();
        let endpoints = endpoints.map(|(rank, guest)| (*rank, guest.endpoint.clone()));
        let _ = farewell(endpoints.collect(), Deadline::after(GOODBYE));
    }
}

/// Returns true if the completion is the notice of a member that it is connected to all others.
fn is_ready(completion: Completion) -> Result<bool, WorldError> {
    let rank = u32::try_from(completion.user).unwrap_or(u32::MAX);
    let lost = |reason: String| WorldError::Lost { rank, reason };
    match completion.outcome {
        Outcome::Sent(Err(unsent)) => Err(lost(unsent.to_string())),
        Outcome::Received(Err(Unreceived { error, .. })) => Err(lost(error.to_string())),
        Outcome::Received(Ok(message)) => {
            match Word::from_message(&message.header, message.payload.as_bytes()) {
                Ok(Word::Ready) => Ok(true),
                Ok(Word::Failed(_, reason)) => Err(WorldError::Failed { rank, reason }),
                Ok(_) => Err(WorldError::Nonsense {
                    rank,
                    reason: "it sent an unexpected message".to_owned(),
                }),
                Err(reason) => Err(WorldError::Nonsense { rank, reason }),
            }
        }
        _ => Ok(false),
    }
}
