//! Active messages between the ranks of a world.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jstream_active::{Handlers, JoinError, Peer, PollGroup, Serving, Settings};
use jstream_endpoint::Endpoint;
use jstream_rank::world::{Connections, World, WorldError};

/// Maximum number of connections that another rank can open at the same time. Both ranks may open
/// one when they need it, so there are seldom more than two.
const MAX_FROM_RANK: usize = 4;

/// The ranks of a world as peers of active messages.
///
/// Each rank that starts this serves its handlers to all ranks, on a thread of its own. Connections
/// are opened when they are first used, over the cheapest device that works. They are other
/// connections than those of the ranks, with their own credit. So active messages and messages
/// between ranks never wait for each other. Only members of the world are admitted.
///
/// ```
/// use jstream_transport::RankPeers;
/// use jstream_transport::active::{Handlers, Settings};
/// use jstream_transport::rank::world::{World, WorldOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answers = World::threads(3, &WorldOptions::default(), |world| {
///     let own = u64::from(world.rank());
///     let handlers = Handlers::builder()
///         .on("add", move |request| {
///             let sum = request.word() + own;
///             request.reply(sum, &[]);
///         })
///         .build();
///     let peers = RankPeers::start(world, "adders", &handlers, Settings::default()).unwrap();
///     let next = peers.peer((world.rank() + 1) % 3).unwrap();
///     let reply = next.request(next.handler("add").unwrap(), 10, &[]).unwrap().wait().unwrap();
///     // Others may still need this rank.
///     world.barrier().unwrap();
///     reply.word
/// })?;
/// assert_eq!(answers, [11, 12, 10]);
/// # Ok(())
/// # }
/// ```
pub struct RankPeers {
    connections: Connections,
    shared: Arc<Shared>,
    // Dropped before the group, which the thread serves.
    _serving: Serving,
}

struct Shared {
    handlers: Handlers,
    settings: Settings,
    group: PollGroup,
    /// Peers by rank.
    peers: Mutex<Vec<Vec<Peer>>>,
}

/// Error of [`RankPeers`].
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum RankPeersError {
    /// The ranks can't be connected.
    World(WorldError),
    /// The handshake with a rank failed.
    Join {
        /// The rank.
        rank: u32,
        /// The cause.
        source: JoinError,
    },
    /// No thread could be started to serve the ranks.
    System(io::Error),
}

impl RankPeers {
    /// Serves `handlers` to all ranks. This is a collective operation: all ranks call it with the
    /// same name, which is part of addresses. The handlers may differ.
    ///
    /// # Errors
    ///
    /// [`RankPeersError`], at all ranks if one of them can't listen.
    pub fn start(
        world: &World,
        name: &str,
        handlers: &Handlers,
        settings: Settings,
    ) -> Result<Self, RankPeersError> {
        let shared = Arc::new(Shared {
            handlers: handlers.clone(),
            settings,
            group: PollGroup::default(),
            peers: Mutex::new((0..world.size()).map(|_| Vec::new()).collect()),
        });
        let serving = shared.group.start();
        let entered = Arc::downgrade(&shared);
        let admit = move |rank, endpoint| Shared::admit(&entered, rank, endpoint);
        let connections = world.connections(name, admit);
        Ok(Self {
            connections: connections.map_err(RankPeersError::World)?,
            shared,
            _serving: serving.map_err(RankPeersError::System)?,
        })
    }

    /// Returns the peer of a rank, which may be this one. Connects if there is no connection yet.
    /// Both ranks serve their handlers over it.
    ///
    /// # Errors
    ///
    /// [`RankPeersError`].
    pub fn peer(&self, rank: u32) -> Result<Peer, RankPeersError> {
        if let Some(peer) = self.shared.connected(rank) {
            return Ok(peer);
        }
        let connected = self.connections.connect(rank);
        let endpoint = connected.map_err(RankPeersError::World)?;
        let peer = self.shared.join(endpoint);
        let peer = peer.map_err(|source| RankPeersError::Join { rank, source })?;
        self.shared.keep(rank, &peer, usize::MAX);
        Ok(peer)
    }
}

impl Shared {
    fn join(&self, endpoint: Endpoint) -> Result<Peer, JoinError> {
        let peer = Peer::join(endpoint, &self.handlers, self.settings.clone())?;
        self.group.add(&peer);
        Ok(peer)
    }

    /// Serves a connection that another rank has opened.
    fn admit(shared: &Weak<Self>, rank: u32, endpoint: Endpoint) {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // A failed handshake is an error of the rank that connects.
        if let Ok(peer) = shared.join(endpoint) {
            if !shared.keep(rank, &peer, MAX_FROM_RANK) {
                peer.close();
            }
        }
    }

    /// Returns a peer of the rank whose connection has not ended.
    fn connected(&self, rank: u32) -> Option<Peer> {
        let peers = self.lock();
        let of_rank = peers.get(usize::try_from(rank).ok()?)?;
        of_rank.iter().find(|peer| !peer.has_ended()).cloned()
    }

    /// Lists a peer, unless its rank has `most` already.
    fn keep(&self, rank: u32, peer: &Peer, most: usize) -> bool {
        let mut peers = self.lock();
        let place = usize::try_from(rank).unwrap_or(usize::MAX);
        let Some(of_rank) = peers.get_mut(place) else {
            return false;
        };
        of_rank.retain(|peer| !peer.has_ended());
        let has_room = of_rank.len() < most;
        if has_room {
            of_rank.push(peer.clone());
        }
        has_room
    }

    /// Locks the peers, which are valid between statements even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RankPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankPeers").finish_non_exhaustive()
    }
}

impl fmt::Display for RankPeersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::World(error) => write!(f, "{error}"),
            Self::Join { rank, source } => write!(f, "rank {rank} is no peer: {source}"),
            Self::System(error) => write!(f, "no thread can serve the ranks: {error}"),
        }
    }
}

impl std::error::Error for RankPeersError {}
