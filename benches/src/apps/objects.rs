//! Remote objects of the nodes.

use jstream_rmi::{Client, Server, Serving};

use super::node::Node;
use crate::Failure;

/// The server of this node, and connections to those of the other nodes.
pub(super) struct Objects {
    /// Clients by node; this node has none.
    clients: Vec<Option<Client>>,
    _serving: Serving,
}

impl Objects {
    /// Serves what `bind` binds, and connects to all other nodes. All nodes call this function.
    pub(super) fn start(
        node: &Node<'_>,
        bind: impl FnOnce(&Server) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let server = Server::default();
        bind(&server)?;
        let serving = server.listen_all(&node.world.service_addresses("objects")?)?;
        let addresses = node.world.share_addresses(serving.addresses())?;
        let mut clients = Vec::with_capacity(addresses.len());
        for (index, addresses) in addresses.iter().enumerate() {
            clients.push(match &addresses[..] {
                _ if index == node.index() => None,
                [address, ..] => Some(Client::connect(address).wait()?),
                [] => return Err(format!("node {index} serves nothing").into()),
            });
        }
        Ok(Self {
            clients,
            _serving: serving,
        })
    }

    /// Returns the connection to another node.
    pub(super) fn client(&self, node: usize) -> Result<&Client, Failure> {
        let client = self.clients.get(node).and_then(Option::as_ref);
        client.ok_or_else(|| format!("there is no other node {node}").into())
    }
}
