//! Rank 0 of a world: accepts the other members, and sends the table of addresses down the tree.
//!
//! Decision 067 has the reasons.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::acceptor::MemberAcceptor;
use super::branch::{Branch, failure};
use super::dialer::{Admission, Dialer, ListeningDialer};
use super::error::WorldError;
use super::handle::World;
use super::limits::{GOODBYE, check_size};
use super::lobby::{Check, Guest, Lobby, ReservedPlace};
use super::options::WorldOptions;
use super::places::host_of;
use super::roster::Roster;
use super::seat::Seat;
use super::session::Session;
use super::site::Site;
use super::tree::children;
use super::words::{Ask, Purpose, Word};
use jstream_base::Address;
use jstream_base::events::emit;
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, listen_all};
use tracing::Level;

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
    hall: Arc<Lobby>,
    dialer: Arc<Dialer>,
    door: MemberAcceptor,
}

/// A connection at rank 0 that is accepted.
enum Admitted {
    Member(ReservedPlace),
    Attached(Admission),
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
        let timing = (&options.transport, options.timeout);
        let dialer = Dialer::new(0, size, session, timing);
        let (entered, dialing, options) = (hall.clone(), dialer.clone(), options.clone());
        let wait = options.transport.handshake_timeout;
        let (checking, asking) = (entered.clone(), dialing.clone());
        let check = move |ask: &Ask| match ask.purpose {
            Purpose::Join => checking.reserve(ask).map(Admitted::Member),
            Purpose::Attach => asking.check(ask).map(Admitted::Attached),
        };
        let admit = move |admitted, endpoint: Endpoint| match admitted {
            Admitted::Attached(admission) => dialing.welcome(admission, endpoint),
            Admitted::Member(place) => {
                let rank = place.rank();
                let host = host_of(endpoint.peer()).to_owned();
                let joined = seat_member(place, endpoint, session, (host, size, wait));
                joined.inspect_err(|reason| {
                    entered.record_failure(format!("rank {rank} failed to join: {reason}"));
                })
            }
        };
        Ok(Self {
            addresses,
            size,
            session,
            hall,
            dialer,
            door: MemberAcceptor::open(listener, wait, check, admit)?,
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

    /// Waits until all other members have joined and know each other's addresses.
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
                also: self.noted(),
            };
            if all { Ok(()) } else { Err(missing()) }
        });
        // From here on nobody joins, so the table is complete.
        let guests = self.hall.close();
        let table: Vec<_> = guests
            .iter()
            .map(|(_, guest)| guest.addresses.clone())
            .collect();
        let near = seat.near();
        let dialer = ListeningDialer {
            dialer: self.dialer.clone(),
            _acceptor: self.door,
        };
        // Built before the table is sent, because a member that has got it may connect at once.
        let rank = seat.build(dialer)?;
        let mut branch = Branch {
            children: Vec::new(),
            options: &self.options,
            until,
        };
        let mut noted = Vec::new();
        for (
            member,
            Guest {
                endpoint,
                addresses,
            },
        ) in guests
        {
            match endpoint {
                Some(endpoint) => branch.children.push((member, endpoint)),
                None => noted.push((member, addresses)),
            }
        }
        // Whatever went wrong, the members that have come are told, because each of them waits.
        if let Err(error) = all_came.and_then(|()| branch.spread(&table, check)) {
            branch.report_failure(0, &error);
            // Members that are not children of rank 0 have closed their connections. They wait for
            // their parents, and are told directly.
            tell_noted(&self.dialer, &noted, &error);
            return Err(error);
        }
        let members = std::iter::once(self.addresses.clone()).chain(table);
        let members: Arc<[Vec<Address>]> = members.collect();
        // Known before the children may begin, because the first message may need a connection.
        self.dialer.learn(members.clone());
        branch.release();
        let node = rank.node();
        for (child, endpoint) in branch.children {
            self.dialer.keep(node, &near, child, endpoint);
        }
        let site = Site {
            session: self.session,
            seen: String::new(),
            given: self.addresses,
            members,
            transport: self.options.transport.clone(),
            timeout: self.options.timeout,
        };
        Ok(World::new(rank, site, &self.options))
    }
}

impl Meeting {
    /// Returns what else happened while members were missing.
    fn noted(&self) -> Option<String> {
        let evicted = self.door.evicted();
        let evicted = (evicted > 0).then(|| {
            format!(
                "{evicted} connections were closed during their handshakes, because too many came"
            )
        });
        let noted = [self.hall.noted(), evicted].into_iter().flatten();
        noted.reduce(|one, other| format!("{one}; {other}"))
    }
}

/// Seats a member that may join. Returns the reason if it fails to.
fn seat_member(
    place: ReservedPlace,
    endpoint: Endpoint,
    session: Session,
    (host, size, wait): (String, u32, Duration),
) -> Result<(), String> {
    let said = Word::Welcome(session, host).send(&endpoint);
    said.map_err(|error| error.to_string())?;
    let addresses = match Word::receive(&endpoint, wait) {
        Ok(Word::Here(addresses)) => addresses,
        Ok(_) => return Err("it sent an unexpected message".to_owned()),
        Err(unheard) => return Err(unheard.to_string()),
    };
    if children(0, size).contains(&place.rank()) {
        let endpoint = Some(endpoint);
        place.admit(Guest {
            endpoint,
            addresses,
        });
        return Ok(());
    }
    // Rank 0 holds the connections of its children only. All others hear from their parents.
    let said = Word::Noted.send(&endpoint).and_then(|()| endpoint.finish());
    said.map_err(|error| error.to_string())?;
    place.admit(Guest {
        endpoint: None,
        addresses,
    });
    // The member closes the connection, too.
    let _ = Word::receive(&endpoint, wait);
    Ok(())
}

/// Notifies members that wait for a connection of their parent that the world can't be created.
fn tell_noted(dialer: &Dialer, noted: &[(u32, Vec<Address>)], error: &WorldError) {
    let until = Deadline::after(GOODBYE);
    let failed = failure(0, error);
    for (rank, addresses) in noted {
        if until.has_passed() {
            return;
        }
        let opened = dialer.open((*rank, addresses), Purpose::Join, until, &mut || Ok(()));
        let told = opened.map(|endpoint| failed.send(&endpoint).and_then(|()| endpoint.finish()));
        if !matches!(told, Ok(Ok(()))) {
            let rank = *rank;
            emit(Level::DEBUG, move || {
                tracing::debug!(rank, "can't notify a member that the world failed");
            });
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
