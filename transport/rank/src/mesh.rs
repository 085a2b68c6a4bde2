//! Connection of ranks to a group.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use super::communicator::Members;
use super::inbox::Inbox;
use super::local::Near;
use super::member::Rank;
use super::node::{Dial, Node, Path};
use super::options::Options;
use super::work_queue::DeferredWork;
use jstream_endpoint::Endpoint;

/// Builder of a rank that is being connected to the others of its group.
///
/// ```
/// use jstream_transport::rank::{Mesh, Options};
/// use jstream_transport::{connect, listen};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = listen(&"inproc://mesh".parse()?, &Default::default())?;
/// let other = std::thread::spawn(move || {
///     let endpoint = listener.accept().unwrap().establish().unwrap();
///     let rank = Mesh::new(1, 2, &Options::default()).endpoint(0, endpoint).unwrap().build();
///     rank.send(0, 7, &[1.5, 2.5]).unwrap();
/// });
///
/// let endpoint = connect(&"inproc://mesh".parse()?, &Default::default())?;
/// let rank = Mesh::new(0, 2, &Options::default()).endpoint(1, endpoint)?.build();
/// let mut numbers = [0.0; 4];
/// let status = rank.recv(1, 7, &mut numbers)?;
/// assert_eq!((status.source, status.len::<f64>(), numbers[1]), (1, 2, 2.5));
/// # other.join().unwrap();
/// # Ok(())
/// # }
/// ```
pub struct Mesh {
    inbox: Arc<Inbox>,
    links: Vec<Option<Way>>,
    /// True once the rank was built.
    is_built: bool,
}

enum Way {
    Thread(MeshNode),
    Endpoint(Endpoint),
    /// A connection that is opened when it is needed.
    Dialed,
}

/// A rank of this process, to be connected by other ranks of the process.
#[derive(Clone)]
pub struct MeshNode {
    inbox: Arc<Inbox>,
}

impl Mesh {
    /// Returns the builder for rank `rank` of `size`, connected only to itself.
    #[must_use]
    pub fn new(rank: u32, size: u32, options: &Options) -> Self {
        Self {
            inbox: Inbox::new(rank, size, options),
            links: (0..size).map(|_| None).collect(),
            is_built: false,
        }
    }

    /// Returns this rank, to be connected by other ranks of the process. Messages that they send
    /// before it is built are queued.
    #[must_use]
    pub fn node(&self) -> MeshNode {
        MeshNode {
            inbox: self.inbox.clone(),
        }
    }

    /// Connects rank `peer` over `endpoint`. Only the rank may receive from the endpoint from then
    /// on.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if it is out of descriptors.
    ///
    /// # Panics
    ///
    /// Panics if the group has no rank `peer`.
    pub fn endpoint(mut self, peer: u32, endpoint: Endpoint) -> io::Result<Self> {
        self.inbox.open_bell()?;
        self.inbox.add_line(peer);
        self.set(peer, Way::Endpoint(endpoint));
        Ok(self)
    }

    /// Connects rank `peer`, which is in this process, without a connection.
    ///
    /// # Panics
    ///
    /// Panics if the group has no rank `peer`.
    #[must_use]
    pub fn thread(mut self, peer: u32, node: &MeshNode) -> Self {
        self.set(peer, Way::Thread(node.clone()));
        self
    }

    fn set(&mut self, peer: u32, way: Way) {
        let size = self.links.len();
        let Some(place) = self.links.get_mut(peer as usize) else {
            panic!("there is no rank {peer} in a group of {size}")
        };
        *place = Some(way);
    }

    /// Builds the rank. All ranks that it is not connected to are [gone](super::Error::PeerGone).
    #[must_use]
    pub fn build(self) -> Rank {
        self.build_with(None)
    }

    /// Builds the rank. All ranks that it is not connected to are connected by `dialer` when they
    /// are needed.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if it is out of descriptors.
    pub(super) fn build_dialed(mut self, dialer: Box<dyn Dial>) -> io::Result<Rank> {
        self.inbox.open_bell()?;
        for (peer, way) in (0..).zip(&mut self.links) {
            if way.is_none() && peer != self.inbox.rank {
                *way = Some(Way::Dialed);
                let mut state = self.inbox.lock();
                state.peers.wanted().expect(peer);
            }
        }
        Ok(self.build_with(Some(dialer)))
    }

    fn build_with(mut self, dialer: Option<Box<dyn Dial>>) -> Rank {
        self.is_built = true;
        let inbox = self.inbox.clone();
        let links = std::mem::take(&mut self.links);
        let mut endpoints = Vec::new();
        let paths = (0..).zip(links).map(|(peer, way)| match way {
            _ if peer == inbox.rank => Path::Thread(Near::new(inbox.clone())),
            Some(Way::Thread(node)) => Path::Thread(Near::new(node.inbox)),
            Some(Way::Dialed) => Path::Remote(OnceLock::new()),
            Some(Way::Endpoint(endpoint)) => {
                endpoints.push((peer, endpoint));
                Path::Remote(OnceLock::new())
            }
            None => {
                let mut deferred = DeferredWork::default();
                let reason = Arc::from("this rank is not connected to it");
                inbox.lock().lose(peer, &reason, &mut deferred);
                Path::Nobody
            }
        });
        let paths = paths.collect();
        let node = Node::new(inbox, paths, dialer);
        for (peer, endpoint) in endpoints {
            node.attach(peer, endpoint);
        }
        Rank::new(Arc::new(node), 0, Members::default())
    }
}

impl Drop for Mesh {
    /// If the rank was never built, notifies the other ranks that it is gone.
    fn drop(&mut self) {
        if !self.is_built {
            drop(self.inbox.close());
            for way in self.links.iter().flatten() {
                if let Way::Thread(other) = way {
                    self.inbox.end_for(&other.inbox);
                }
            }
        }
    }
}

/// Returns `size` ranks of this process, which deliver messages to each other directly.
///
/// ```
/// use jstream_transport::rank::{self, Source, Tag};
///
/// # fn main() -> Result<(), rank::Error> {
/// let mut ranks = rank::threads(2, &rank::Options::default());
/// let (one, zero) = (ranks.pop().unwrap(), ranks.pop().unwrap());
/// std::thread::scope(|scope| {
///     scope.spawn(|| one.send(0, 3, b"hello").unwrap());
///     let mut text = [0u8; 16];
///     let status = zero.recv(Source::Any, Tag::Any, &mut text)?;
///     assert_eq!((status.source, status.tag, status.bytes), (1, 3, 5));
///     Ok(())
/// })
/// # }
/// ```
#[must_use]
pub fn threads(size: u32, options: &Options) -> Vec<Rank> {
    let all: Vec<_> = (0..size)
        .map(|rank| Mesh::new(rank, size, options))
        .collect();
    let nodes: Vec<_> = all.iter().map(Mesh::node).collect();
    let connected = all.into_iter().map(|mesh| {
        let others = (0..).zip(&nodes);
        let mesh = others.fold(mesh, |mesh, (peer, node)| mesh.thread(peer, node));
        mesh.build()
    });
    connected.collect()
}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh")
            .field("rank", &self.inbox.rank)
            .field("size", &self.inbox.size)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MeshNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeshNode")
            .field("rank", &self.inbox.rank)
            .finish_non_exhaustive()
    }
}
