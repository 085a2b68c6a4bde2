//! A barrier whose nodes form a binary tree.

use std::cell::Cell;
use std::sync::Arc;

use jstream_rmi::{Call, Server, remote};

use super::super::mailbox::Mailbox;
use super::super::node::Node;
use super::super::objects::Objects;
use crate::Failure;

const NAME: &str = "tree";

/// Number of children of a node.
const CHILDREN: usize = 2;

/// Channel of the signals of the parent; the first channels are those of the children.
const PARENT: usize = CHILDREN;

/// The place of a node in the tree. `channel` is the index of the child that calls, or the number
/// of children if the parent calls. All methods return false if the signal is refused.
#[remote]
pub(super) trait Tree {
    /// Tells that `nodes` nodes have reached the barrier `epoch`: those of the subtree if a child
    /// calls, and all nodes if the parent calls.
    fn signal(&self, channel: u64, epoch: u64, nodes: u64) -> bool;

    /// Like `signal`, with the arguments in postcard's format.
    fn signal_copied(&self, signal: &[u8]) -> bool;
}

/// Signals that have arrived.
pub(in crate::apps) struct Signals(Mailbox<u64>);

#[remote]
impl Tree for Signals {
    fn signal(&self, channel: u64, epoch: u64, nodes: u64) -> bool {
        self.0.put(channel, epoch, nodes)
    }

    fn signal_copied(&self, signal: &[u8]) -> bool {
        postcard::from_bytes(signal)
            .is_ok_and(|(channel, epoch, nodes)| self.0.put(channel, epoch, nodes))
    }
}

impl Signals {
    /// Binds the place of this node at its server.
    pub(in crate::apps) fn bind(server: &Server) -> Result<Arc<Self>, Failure> {
        // A child sends the signal of the next epoch after the release from this one, for which
        // its parent has taken the signal of this one.
        let signals = Arc::new(Self(Mailbox::new(CHILDREN + 1, 2)));
        server.bind::<dyn Tree>(NAME, signals.clone())?;
        Ok(signals)
    }
}

/// A barrier of all nodes. Each node communicates with its parent and its children only.
pub(in crate::apps) struct TreeBarrier<'a> {
    node: &'a Node<'a>,
    copying: bool,
    signals: Arc<Signals>,
    /// The parent, and the channel of this node there.
    parent: Option<(TreeStub, usize)>,
    children: Vec<TreeStub>,
    epoch: Cell<u64>,
    /// Calls of the last barrier, whose answers may still be on their way.
    calls: Cell<Vec<Call<bool>>>,
}

impl<'a> TreeBarrier<'a> {
    /// Connects the places of the nodes, which all nodes have bound.
    pub(in crate::apps) fn new(
        node: &'a Node<'a>,
        objects: &Objects,
        signals: Arc<Signals>,
        copying: bool,
    ) -> Result<Self, Failure> {
        let stub = |index| -> Result<TreeStub, Failure> {
            Ok(objects.client(index)?.lookup::<dyn Tree>(NAME).wait()?)
        };
        let parent = match node.index().checked_sub(1) {
            None => None,
            Some(above) => Some((stub(above / CHILDREN)?, above % CHILDREN)),
        };
        let children = (1..=CHILDREN)
            .map(|child| CHILDREN * node.index() + child)
            .filter(|child| *child < node.count());
        Ok(Self {
            node,
            copying,
            signals,
            parent,
            children: children.map(stub).collect::<Result<_, _>>()?,
            epoch: Cell::new(0),
            calls: Cell::default(),
        })
    }

    fn signal(&self, to: &TreeStub, channel: usize, nodes: u64) -> Result<Call<bool>, Failure> {
        let signal = (channel as u64, self.epoch.get(), nodes);
        self.node.called(size_of_val(&signal));
        Ok(if self.copying {
            to.signal_copied(&postcard::to_allocvec(&signal)?)
        } else {
            to.signal(signal.0, signal.1, signal.2)
        })
    }

    /// Returns the number of nodes that have reached the barrier, once all of them have.
    pub(in crate::apps) fn wait(&self) -> Result<u64, Failure> {
        let epoch = self.epoch.get();
        let mut nodes = 1;
        for child in 0..self.children.len() {
            nodes += self.signals.0.take(child, epoch)?;
        }
        // The children go on without the answers to what this node has told them in the last
        // barrier, so it does, too.
        for call in self.calls.take() {
            if !*call.wait()?.get() {
                return Err(format!("a node refused a signal before barrier {epoch}").into());
            }
        }
        let mut calls = Vec::with_capacity(CHILDREN + 1);
        if let Some((parent, channel)) = &self.parent {
            calls.push(self.signal(parent, *channel, nodes)?);
            nodes = self.signals.0.take(PARENT, epoch)?;
        }
        for child in &self.children {
            calls.push(self.signal(child, PARENT, nodes)?);
        }
        self.calls.set(calls);
        self.epoch.set(epoch + 1);
        Ok(nodes)
    }
}
