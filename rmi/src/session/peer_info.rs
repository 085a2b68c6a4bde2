//! The identity of the other side of a connection.

use std::fmt;
use std::sync::Arc;

use jstream_active::Peer;
use jstream_base::Address;

/// The other side of a connection, and its identity as far as it is known. Displayed as its
/// address.
///
/// Over `uds` and `shm`, the operating system reports the process that has connected, or that has
/// begun to listen. Over `tls`, the peer has shown a certificate when the connection was made. Over
/// `inproc`, `tcp` and `uring`, the peer is known by its address only.
///
/// ```
/// use jstream_rmi::{Client, Server, context, remote};
/// use std::sync::Arc;
///
/// #[remote]
/// trait Door {
///     fn open(&self) -> bool;
/// }
///
/// /// Opens for processes of its own user.
/// struct Guarded {
///     user: u32,
/// }
///
/// impl Door for Guarded {
///     fn open(&self) -> bool {
///         context().peer().and_then(|peer| peer.user) == Some(self.user)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use std::os::unix::fs::MetadataExt;
/// let user = std::fs::metadata("/proc/self")?.uid();
/// let server = Server::default();
/// server.bind::<dyn Door>("door", Arc::new(Guarded { user }))?;
/// let serving = server.listen(&"uds://@doc-peer-info".parse()?)?;
/// let client = Client::connect(serving.address()).wait()?;
/// let door = client.lookup::<dyn Door>("door").wait()?;
/// assert!(*door.open().wait()?.get());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The address of the peer.
    pub address: Address,
    /// User id of the peer's process, if the system reports it.
    pub user: Option<u32>,
    /// Group id of the peer's process, if the system reports it.
    pub group: Option<u32>,
    /// Process id of the peer, if the system reports it and the process is visible here. The
    /// process may have ended, and another may have its id: decide by the user.
    pub process: Option<u32>,
    /// TLS certificate of the peer, in DER, which this side has verified.
    pub certificate: Option<Arc<[u8]>>,
}

impl PeerInfo {
    pub(crate) fn from_peer(peer: &Peer) -> Self {
        let endpoint = peer.endpoint();
        let info = endpoint.info();
        Self {
            address: endpoint.peer().clone(),
            user: info.peer_user,
            group: info.peer_group,
            process: info.peer_process,
            certificate: info.peer_certificate.cloned(),
        }
    }
}

impl fmt::Display for PeerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}
