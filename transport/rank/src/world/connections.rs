//! Further connections between the members of a world, for other protocols than that of ranks.

use std::fmt;
use std::sync::Arc;

use super::acceptor::MemberAcceptor;
use super::error::{Refusal, WorldError};
use super::handle::World;
use super::places::Whereabouts;
use super::reach::Reach;
use super::roster::check_ask;
use super::site::Site;
use super::words::{Ask, Purpose, VERSION, Word, addresses_of, line_of};
use crate::Rank;
use jstream_base::Address;
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, listen_all};

/// Maximum length in bytes of the addresses of a member.
const MAX_LINE: u64 = super::words::LONGEST as u64;

/// Further connections between the members of a world; see [`World::connections`]. Dropping this
/// closes the listener. Connections that exist stay.
pub struct Connections {
    rank: u32,
    size: u32,
    site: Site,
    /// Listening addresses by rank.
    addresses: Vec<Vec<Address>>,
    _acceptor: MemberAcceptor,
}

impl World {
    /// Returns addresses at which this rank can listen for a service of this name: one for each
    /// device over which the world was joined, and `inproc` for a world of threads. A port is 0, so
    /// the listener knows the actual one.
    ///
    /// # Errors
    ///
    /// [`WorldError::Address`] if the name is not valid in addresses.
    pub fn service_addresses(&self, name: &str) -> Result<Vec<Address>, WorldError> {
        self.whereabouts().beside(&self.site.given, name)
    }

    /// Tells all ranks the addresses at which this rank listens, and returns those of each rank.
    /// This is a [collective operation](Rank#collective-operations).
    ///
    /// # Errors
    ///
    /// [`WorldError::Members`] of a member that is gone or has failed. [`WorldError::Nonsense`]
    /// names a rank with more than 8 addresses.
    pub fn share_addresses(&self, own: &[Address]) -> Result<Vec<Vec<Address>>, WorldError> {
        let own_place = self.whereabouts();
        let own: Result<Vec<_>, _> = own
            .iter()
            .map(|address| own_place.public(address))
            .collect();
        let lines = share_lines(self, &line_of(&own?))?;
        let addresses = (0..).zip(&lines).map(|(rank, line)| {
            if line.is_empty() {
                return Ok(Vec::new());
            }
            let nonsense = |reason| WorldError::Nonsense { rank, reason };
            let found = addresses_of(line).map_err(nonsense)?;
            // Rank 0 may listen at all interfaces without knowing under which name it is reached.
            let place = Whereabouts {
                rank,
                session: self.site.session,
                seen: self.site.host_of(rank),
            };
            let found = found.iter().map(|address| place.public(address));
            Ok(found.collect::<Result<Vec<_>, _>>()?)
        });
        addresses.collect()
    }

    /// Opens a way to further connections between the members, each of which calls this with the
    /// same name. `admit` gets each connection that another member opens, with its rank; only
    /// members that know the session of the world are admitted. Other protocols use these
    /// connections, so that they and the messages between ranks never wait for each other. This is
    /// a [collective operation](Rank#collective-operations).
    ///
    /// # Errors
    ///
    /// [`WorldError`], at all members if one of them can't listen.
    pub fn connections(
        &self,
        name: &str,
        admit: impl Fn(u32, Endpoint) + Send + Sync + 'static,
    ) -> Result<Connections, WorldError> {
        let opened = self.open_connections(name, Arc::new(admit));
        let own = opened.as_ref().map_or(&[][..], |(_, own)| own);
        // A rank that could not listen takes part nevertheless, with no address. The others would
        // wait for it otherwise.
        let addresses = self.share_addresses(own);
        let (acceptor, _) = opened?;
        let addresses = addresses?;
        let silent = (0..).zip(&addresses).find(|(_, found)| found.is_empty());
        if let Some((rank, _)) = silent {
            let reason = format!("it can't listen for connections of the name {name}");
            return Err(WorldError::Failed { rank, reason });
        }
        Ok(Connections {
            rank: self.rank(),
            size: self.size(),
            site: self.site.clone(),
            addresses,
            _acceptor: acceptor,
        })
    }

    fn open_connections(
        &self,
        name: &str,
        admit: Arc<impl Fn(u32, Endpoint) + Send + Sync + 'static>,
    ) -> Result<(MemberAcceptor, Vec<Address>), WorldError> {
        let rank = self.rank();
        let places = self.service_addresses(name)?;
        let listener = listen_all(&places, &self.site.transport)
            .map_err(|source| WorldError::Listen { rank, source })?;
        let own = listener.local_addresses().to_vec();
        let (session, size) = (self.site.session, self.size());
        let wait = self.site.transport.handshake_timeout;
        let check = move |ask: &Ask| match check_ask(ask, session, true, size)? {
            member if member < size => Ok(member),
            _ => Err(Refusal::Rank),
        };
        let welcome = move |member, endpoint: Endpoint| {
            let said = Word::Welcome(session, String::new()).send(&endpoint);
            said.map_err(|error| error.to_string())?;
            admit(member, endpoint);
            Ok(())
        };
        Ok((MemberAcceptor::open(listener, wait, check, welcome)?, own))
    }

    fn whereabouts(&self) -> Whereabouts<'_> {
        Whereabouts {
            rank: self.rank(),
            session: self.site.session,
            seen: &self.site.seen,
        }
    }
}

impl Connections {
    /// Connects to a member over the cheapest device that works. The member's `admit` gets the
    /// other side. A rank can connect to itself.
    ///
    /// # Errors
    ///
    /// [`WorldError`].
    pub fn connect(&self, rank: u32) -> Result<Endpoint, WorldError> {
        let size = self.size;
        let place = usize::try_from(rank).ok();
        let Some(addresses) = place.and_then(|place| self.addresses.get(place)) else {
            return Err(WorldError::NoRank { rank, size });
        };
        let to_member = Reach {
            rank,
            addresses,
            options: &self.site.transport,
            until: Deadline::after(self.site.timeout),
            is_there: true,
        };
        let ask = Ask {
            purpose: Purpose::Join,
            version: VERSION,
            rank: u64::from(self.rank),
            size: u64::from(size),
            session: self.site.session,
        };
        let wait = self.site.transport.handshake_timeout;
        let lost = |unheard| WorldError::lost(rank, unheard);
        let (endpoint, _) = to_member.join(ask, wait, lost, &mut || Ok(()))?;
        Ok(endpoint)
    }

    /// Returns the addresses at which a member listens for these connections. `None` if there is no
    /// such rank.
    #[must_use]
    pub fn addresses(&self, rank: u32) -> Option<&[Address]> {
        let place = usize::try_from(rank).ok()?;
        self.addresses.get(place).map(Vec::as_slice)
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// Exchanges a line of text with all ranks.
fn share_lines(rank: &Rank, own: &str) -> Result<Vec<String>, WorldError> {
    let members = |source| WorldError::Members { source };
    let mut lengths = vec![0; rank.size() as usize];
    let length = own.len() as u64;
    rank.all_gather(&[length], &mut lengths).map_err(members)?;
    // All ranks find the same one, so all return the error and none waits.
    let too_long = (0..).zip(&lengths).find(|(_, length)| **length > MAX_LINE);
    if let Some((rank, length)) = too_long {
        let reason = format!("{length} bytes of addresses, of which {MAX_LINE} are allowed");
        return Err(WorldError::Nonsense { rank, reason });
    }
    let counts = lengths.iter().map(|length| usize::try_from(*length));
    let counts: Vec<_> = counts.map(|count| count.unwrap_or(0)).collect();
    let mut all = vec![0u8; counts.iter().sum()];
    let own = own.as_bytes();
    rank.all_gather_v(own, &counts, &mut all).map_err(members)?;
    let mut rest = &all[..];
    let lines = counts.iter().map(|count| {
        let (line, behind) = rest.split_at_checked(*count).unwrap_or_default();
        rest = behind;
        String::from_utf8_lossy(line).into_owned()
    });
    Ok(lines.collect())
}
