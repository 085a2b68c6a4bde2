//! Members other than rank 0: they join rank 0, and connect to each other.

use std::sync::Arc;
use std::time::Duration;

use super::acceptor::{self, MemberAcceptor};
use super::ending::farewell;
use super::error::WorldError;
use super::limits::GOODBYE;
use super::lobby::Lobby;
use super::options::WorldOptions;
use super::places::Whereabouts;
use super::reach::Reach;
use super::roster::Roster;
use super::seat::Seat;
use super::session::Session;
use super::site::Site;
use super::words::{Ask, Unheard, VERSION, Word};
use jstream_base::Address;
use jstream_base::RecvError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, Incoming, listen_all};

/// A member that is about to join.
pub(super) struct Joining<'j> {
    /// The addresses of rank 0.
    pub(super) addresses: &'j [Address],
    pub(super) seat: &'j Seat,
    pub(super) options: &'j WorldOptions,
    pub(super) until: Deadline,
}

impl Joining<'_> {
    /// Returns the connections to all others that are not reached directly, and to rank 0.
    pub(super) fn connect_all(&self) -> Result<(Vec<(u32, Endpoint)>, Site), WorldError> {
        let to_first = Reach {
            rank: 0,
            addresses: self.addresses,
            options: &self.options.transport,
            until: self.until,
            is_there: false,
        };
        let first = to_first.reach(&mut || Ok(()))?;
        let unknown = self.options.session.unwrap_or(Session::UNKNOWN);
        let (session, seen) = self.be_welcomed(0, &first, unknown)?;
        let known = self.connect(&first, session, &seen);
        let mut others = known.inspect_err(|error| self.give_up(&first, error))?;
        others.push((0, first));
        let site = Site {
            session,
            seen,
            given: self.addresses.to_vec(),
            transport: self.options.transport.clone(),
            timeout: self.options.timeout,
        };
        Ok((others, site))
    }

    /// Asks another member to accept this one. Returns the session, and the host under which the
    /// other member sees this one.
    fn be_welcomed(
        &self,
        rank: u32,
        endpoint: &Endpoint,
        session: Session,
    ) -> Result<(Session, String), WorldError> {
        let ask = Ask {
            version: VERSION,
            rank: u64::from(self.seat.rank),
            size: u64::from(self.seat.size),
            session,
        };
        // The connection is read even if sending has failed: a message that the peer sent before it
        // closed explains more.
        let said = Word::Ask(ask).say(endpoint);
        match Word::hear(endpoint, self.left()) {
            Ok(Word::Welcome(session, seen)) => Ok((session, seen)),
            Ok(Word::Refused(refusal)) => Err(WorldError::Refused {
                address: endpoint.info().address.clone(),
                rank: self.seat.rank,
                refusal,
            }),
            Ok(_) => Err(out_of_turn(rank)),
            Err(unheard) => Err(match said {
                Ok(()) => self.unheard(rank, unheard),
                Err(error) => WorldError::lost(rank, error),
            }),
        }
    }

    /// Listens, sends the listening addresses to rank 0, receives those of the others, and connects
    /// to them.
    fn connect(
        &self,
        first: &Endpoint,
        session: Session,
        seen: &str,
    ) -> Result<Vec<(u32, Endpoint)>, WorldError> {
        let rank = self.seat.rank;
        let here = Whereabouts {
            rank,
            session,
            seen,
        };
        let places = match &*self.options.listen {
            [] => here.beside(self.addresses, "")?,
            places => places.to_vec(),
        };
        let listener = listen_all(&places, &self.options.transport)
            .map_err(|source| WorldError::Listen { rank, source })?;
        let places = listener.local_addresses().iter();
        let places: Result<Vec<_>, _> = places.map(|place| here.public(place)).collect();
        let roll = Roster::new(session, true, self.seat.above(), self.seat.size);
        let hall = Arc::new(Lobby::new(roll));
        let entered = hall.clone();
        let wait = self.options.transport.handshake_timeout;
        let admit = move |incoming| let_in(&entered, incoming, session, wait);
        let door = MemberAcceptor::open(listener, admit)?;

        let said = Word::Here(places?).say(first);
        said.map_err(|error| WorldError::lost(0, error))?;
        let table = self.table(first)?;
        let mut others = self.meet_those_below(&table, first, session)?;
        if !hall.wait(self.until, &mut || still(first))? {
            return Err(WorldError::Missing {
                ranks: hall.missing(),
                size: self.seat.size,
                after: self.options.timeout,
                also: hall.noted(),
            });
        }
        others.extend(hall.close());
        drop(door);

        let said = Word::Ready.say(first);
        said.map_err(|error| WorldError::lost(0, error))?;
        match Word::hear(first, self.left()) {
            Ok(Word::Go) => Ok(others),
            Ok(Word::Failed(rank, reason)) => Err(WorldError::Failed { rank, reason }),
            Ok(_) => Err(out_of_turn(0)),
            Err(unheard) => Err(self.unheard(0, unheard)),
        }
    }

    /// Waits for the table of addresses from rank 0.
    fn table(&self, first: &Endpoint) -> Result<Vec<Vec<Address>>, WorldError> {
        let message = first
            .recv_message_within(self.left())
            .map_err(|error| self.unheard(0, Unheard::Nothing(error)))?;
        let others = self.seat.size.saturating_sub(1);
        match Word::from_message(&message.header, message.payload.as_bytes()) {
            Ok(Word::Table(table)) if u32::try_from(table.len()) == Ok(others) => Ok(table),
            Ok(Word::Failed(rank, reason)) => Err(WorldError::Failed { rank, reason }),
            Ok(_) => Err(out_of_turn(0)),
            Err(reason) => Err(WorldError::Nonsense { rank: 0, reason }),
        }
    }

    /// Connects to each rank between 0 and this one that is not reached directly. Members of higher
    /// rank connect to this one.
    fn meet_those_below(
        &self,
        table: &[Vec<Address>],
        first: &Endpoint,
        session: Session,
    ) -> Result<Vec<(u32, Endpoint)>, WorldError> {
        let mut others = Vec::new();
        let below = (1..self.seat.rank).zip(table);
        for (rank, addresses) in below.filter(|(rank, _)| !self.seat.is_near(*rank)) {
            let to_member = Reach {
                rank,
                addresses,
                options: &self.options.transport,
                until: self.until,
                is_there: true,
            };
            let endpoint = to_member.reach(&mut || still(first))?;
            self.be_welcomed(rank, &endpoint, session)?;
            others.push((rank, endpoint));
        }
        Ok(others)
    }

    /// Notifies rank 0 that the world can't be created, unless rank 0 has said so itself.
    fn give_up(&self, first: &Endpoint, error: &WorldError) {
        if !matches!(error, WorldError::Failed { .. }) {
            let failed = Word::Failed(self.seat.rank, error.to_string());
            if failed.try_say(first).is_err() {
                return;
            }
        }
        let _ = farewell(vec![(0, first.clone())], Deadline::after(GOODBYE));
    }

    fn left(&self) -> Duration {
        self.until.left().unwrap_or(Duration::MAX)
    }

    fn unheard(&self, rank: u32, unheard: Unheard) -> WorldError {
        match unheard {
            Unheard::Nothing(RecvError::TimedOut { .. } | RecvError::Empty) => {
                WorldError::TimedOut {
                    after: self.options.timeout,
                    what: format!("rank {rank} did not answer"),
                }
            }
            Unheard::Nothing(error) => WorldError::lost(rank, error),
            Unheard::Nonsense(reason) => WorldError::Nonsense { rank, reason },
        }
    }
}

/// Accepts a member that connects to this one.
fn let_in(
    hall: &Lobby<Endpoint>,
    incoming: Incoming,
    session: Session,
    wait: Duration,
) -> Result<(), String> {
    let endpoint = incoming.establish().map_err(|error| error.to_string())?;
    let place = acceptor::ask(&endpoint, wait, |ask| hall.reserve(ask))?;
    let said = Word::Welcome(session, String::new()).say(&endpoint);
    said.map_err(|error| error.to_string())?;
    place.take(endpoint);
    Ok(())
}

/// Returns an error if rank 0 is gone, or reports that the world can't be created.
fn still(first: &Endpoint) -> Result<(), WorldError> {
    match Word::try_hear(first) {
        Ok(None) => Ok(()),
        Ok(Some(Word::Failed(rank, reason))) => Err(WorldError::Failed { rank, reason }),
        Ok(Some(_)) => Err(out_of_turn(0)),
        Err(Unheard::Nothing(error)) => Err(WorldError::lost(0, error)),
        Err(Unheard::Nonsense(reason)) => Err(WorldError::Nonsense { rank: 0, reason }),
    }
}

fn out_of_turn(rank: u32) -> WorldError {
    WorldError::Nonsense {
        rank,
        reason: "it sent an unexpected message".to_owned(),
    }
}
