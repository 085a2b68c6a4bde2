//! Members other than rank 0: they report to rank 0, and pass the table of addresses down the tree.
//!
//! Decisions 067 and 068 have the reasons.

use std::sync::Arc;
use std::time::Duration;

use super::branch::{Branch, failure};
use super::dialer::{Dialer, ListeningDialer};
use super::ending::farewell;
use super::error::WorldError;
use super::handle::World;
use super::limits::GOODBYE;
use super::options::WorldOptions;
use super::places::Whereabouts;
use super::reach::Reach;
use super::seat::Seat;
use super::session::Session;
use super::site::Site;
use super::tree::{children, parent};
use super::words::{Ask, Purpose, Unheard, VERSION, Word};
use crate::Rank;
use jstream_base::events::emit;
use jstream_base::{Address, RecvError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, listen_all};
use tracing::Level;

/// A member that is about to join.
pub(super) struct Joining<'j> {
    /// The addresses of rank 0.
    pub(super) addresses: &'j [Address],
    /// True if rank 0 listens, or has given up.
    pub(super) is_there: bool,
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) options: &'j WorldOptions,
    pub(super) until: Deadline,
}

/// A member that listens for the others.
struct ListeningMember {
    rank: Rank,
    dialer: Arc<Dialer>,
    /// The addresses of the member, as the others know them.
    places: Vec<Address>,
}

/// The connections of a member to its neighbours in the tree, and the table.
struct JoinedTree {
    above: (u32, Endpoint),
    below: Vec<(u32, Endpoint)>,
    table: Vec<Vec<Address>>,
}

impl Joining<'_> {
    /// Joins the world with the rank of `seat`.
    pub(super) fn join(&self, seat: Seat) -> Result<World, WorldError> {
        let to_first = Reach {
            rank: 0,
            addresses: self.addresses,
            options: &self.options.transport,
            until: self.until,
            is_there: self.is_there,
        };
        let ask = Ask {
            purpose: Purpose::Join,
            version: VERSION,
            rank: u64::from(self.rank),
            size: u64::from(self.size),
            session: self.options.session.unwrap_or(Session::UNKNOWN),
        };
        let unheard = |unheard| self.unheard(0, unheard);
        let joined = to_first.join(ask, self.left(), unheard, &mut || Ok(()))?;
        let (first, (session, seen)) = joined;
        let near = seat.near();
        let whereabouts = Whereabouts {
            rank: self.rank,
            session,
            seen: &seen,
        };
        let member = self.listen(seat, &whereabouts);
        // Rank 0 would wait for this member until its timeout.
        let member = member.inspect_err(|error| self.give_up(&first, error))?;
        let tree = self.join_tree(first, &member)?;
        member.dialer.end_joining();
        let given = self.addresses.to_vec();
        let members = std::iter::once(given.clone()).chain(tree.table);
        let members: Arc<[Vec<Address>]> = members.collect();
        member.dialer.learn(members.clone());
        let node = member.rank.node();
        for (rank, endpoint) in tree.below.into_iter().chain([tree.above]) {
            member.dialer.keep(node, &near, rank, endpoint);
        }
        let site = Site {
            session,
            seen,
            given,
            members,
            transport: self.options.transport.clone(),
            timeout: self.options.timeout,
        };
        Ok(World::new(member.rank, site, self.options))
    }

    /// Listens for the others, and builds the rank.
    fn listen(
        &self,
        seat: Seat,
        whereabouts: &Whereabouts<'_>,
    ) -> Result<ListeningMember, WorldError> {
        let places = match &*self.options.listen {
            [] => whereabouts.beside(self.addresses, "")?,
            places => places.to_vec(),
        };
        let listener =
            listen_all(&places, &self.options.transport).map_err(|source| WorldError::Listen {
                rank: self.rank,
                source,
            })?;
        let places = listener.local_addresses().iter();
        let places: Result<Vec<_>, _> = places.map(|place| whereabouts.public(place)).collect();
        let timing = (&self.options.transport, self.options.timeout);
        let dialer = Dialer::new(self.rank, self.size, whereabouts.session, timing);
        if parent(self.rank) != Some(0) {
            dialer.expect_uplinks();
        }
        let listening = ListeningDialer {
            // Accepts before the addresses are reported, because the parent may connect as soon as
            // they are known.
            _acceptor: dialer.accept(listener)?,
            dialer: dialer.clone(),
        };
        Ok(ListeningMember {
            rank: seat.build(listening)?,
            dialer,
            places: places?,
        })
    }

    /// Reports to rank 0, receives the table from the parent, passes it on to the children, and
    /// waits until the world is complete.
    fn join_tree(
        &self,
        first: Endpoint,
        member: &ListeningMember,
    ) -> Result<JoinedTree, WorldError> {
        let said = Word::Here(member.places.clone()).send(&first);
        let said = said.map_err(|error| WorldError::lost(0, error));
        let above = said.and_then(|()| self.uplink(first.clone(), &member.dialer));
        let above = above.inspect_err(|error| self.give_up(&first, error))?;
        // Only the connections of the tree stay open until the world begins.
        drop(first);
        let mut branch = Branch {
            children: Vec::new(),
            options: self.options,
            until: self.until,
        };
        let joined = self.pass_table(&above, &mut branch, &member.dialer);
        match joined {
            Ok(table) => {
                branch.release();
                Ok(JoinedTree {
                    above,
                    below: branch.children,
                    table,
                })
            }
            Err(error) => {
                branch.report_failure(self.rank, &error);
                self.give_up(&above.1, &error);
                Err(error)
            }
        }
    }

    /// Returns the connection to the parent: that to rank 0, or one that the parent opens.
    fn uplink(&self, first: Endpoint, dialer: &Dialer) -> Result<(u32, Endpoint), WorldError> {
        if parent(self.rank) == Some(0) {
            return Ok((0, first));
        }
        match Word::receive(&first, self.left()) {
            Ok(Word::Noted) => {}
            Ok(Word::Failed(rank, reason)) => return Err(WorldError::Failed { rank, reason }),
            Ok(_) => return Err(WorldError::out_of_turn(0)),
            Err(unheard) => return Err(self.unheard(0, unheard)),
        }
        if let Err(error) = first.finish() {
            emit(Level::DEBUG, move || {
                tracing::debug!(%error, "can't shut down the connection to rank 0");
            });
        }
        drop(first);
        dialer
            .uplink(self.until)
            .ok_or_else(|| WorldError::TimedOut {
                after: self.options.timeout,
                what: "not all members have joined, or rank 0 is gone".to_owned(),
            })
    }

    /// Passes the table on. Returns it when all members have it.
    fn pass_table(
        &self,
        (above, endpoint): &(u32, Endpoint),
        branch: &mut Branch<'_>,
        dialer: &Dialer,
    ) -> Result<Vec<Vec<Address>>, WorldError> {
        let table = self.table(*above, endpoint)?;
        for child in children(self.rank, self.size) {
            // The table has no entry of rank 0.
            let place = child
                .checked_sub(1)
                .and_then(|place| usize::try_from(place).ok());
            let addresses = place.and_then(|place| table.get(place));
            let addresses = addresses.map_or(&[][..], Vec::as_slice);
            let mut check = || check_parent(*above, endpoint);
            let opened = dialer.open((child, addresses), Purpose::Join, self.until, &mut check)?;
            branch.children.push((child, opened));
        }
        branch.spread(&table, &mut || check_parent(*above, endpoint))?;
        // Ready means that the whole subtree is, so the children come first.
        let said = Word::Ready.send(endpoint);
        said.map_err(|error| WorldError::lost(*above, error))?;
        match Word::receive(endpoint, self.left()) {
            Ok(Word::Go) => Ok(table),
            Ok(Word::Failed(rank, reason)) => Err(WorldError::Failed { rank, reason }),
            Ok(_) => Err(WorldError::out_of_turn(*above)),
            Err(unheard) => Err(self.unheard(*above, unheard)),
        }
    }

    /// Waits for the table of addresses.
    fn table(&self, above: u32, endpoint: &Endpoint) -> Result<Vec<Vec<Address>>, WorldError> {
        let message = endpoint
            .recv_message_within(self.left())
            .map_err(|error| self.unheard(above, Unheard::Nothing(error)))?;
        let others = self.size.saturating_sub(1);
        match Word::from_message(&message.header, message.payload.as_bytes()) {
            Ok(Word::Table(table)) if u32::try_from(table.len()) == Ok(others) => Ok(table),
            Ok(Word::Failed(rank, reason)) => Err(WorldError::Failed { rank, reason }),
            Ok(_) => Err(WorldError::out_of_turn(above)),
            Err(reason) => Err(WorldError::Nonsense {
                rank: above,
                reason,
            }),
        }
    }

    /// Notifies the parent that the world can't be created, in case it does not know.
    fn give_up(&self, above: &Endpoint, error: &WorldError) {
        // Without blocking: the parent may be the reason for the failure, and not read any more.
        if failure(self.rank, error).try_say(above).is_ok() {
            let _ = farewell(vec![(0, above.clone())], Deadline::after(GOODBYE));
        }
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

/// Returns an error if the parent is gone, or reports that the world can't be created.
fn check_parent(above: u32, endpoint: &Endpoint) -> Result<(), WorldError> {
    match Word::try_receive(endpoint) {
        Ok(None) => Ok(()),
        Ok(Some(Word::Failed(rank, reason))) => Err(WorldError::Failed { rank, reason }),
        Ok(Some(_)) => Err(WorldError::out_of_turn(above)),
        Err(Unheard::Nothing(error)) => Err(WorldError::lost(above, error)),
        Err(Unheard::Nonsense(reason)) => Err(WorldError::Nonsense {
            rank: above,
            reason,
        }),
    }
}
