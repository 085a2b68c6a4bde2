//! Blocks that stay in the buffers in which they arrive, and copies of postcard to compare with.

use jstream::{EmptyBuffer, MessageBuffer};
use jstream_transport::rank::Rank;

use super::over_messages::Block;
use crate::Failure;
use crate::apps::costs::{self, Cost};
use crate::apps::node::Node;

/// A block in a buffer of the pool, which is read in place and sent on.
pub(super) struct Buffer<'a> {
    node: &'a Node<'a>,
    /// The message, which is absent while it is sent.
    message: Option<MessageBuffer>,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(node: &'a Node<'a>, elements: &[f64]) -> Result<Self, Failure> {
        let empty = EmptyBuffer::heap(size_of_val(elements));
        let message = Some(empty.copied_from(elements)?);
        Ok(Self { node, message })
    }
}

impl Block for Buffer<'_> {
    fn with(&self, take: &mut dyn FnMut(&[f64])) -> Result<(), Failure> {
        let message = self.message.as_ref().ok_or("the block was lost")?;
        take(message.view::<f64>()?);
        Ok(())
    }

    fn pass_on(&mut self, next: usize, before: usize) -> Result<(), Failure> {
        let rank: &Rank = self.node.world;
        let message = self.message.take().ok_or("the block was lost")?;
        let length = message.len();
        self.node.called(length);
        let sent = rank.buffers().isend(next as u32, 0, message);
        let received = rank.buffers().recv(before as u32, 0)?.payload;
        sent.wait()?;
        if received.len() != length {
            return Err(format!("a block of {} bytes arrived", received.len()).into());
        }
        self.message = Some(received);
        Ok(())
    }
}

/// A block that is written to a message of postcard, and read from one to an array.
pub(super) struct Copy<'a> {
    node: &'a Node<'a>,
    elements: Vec<f64>,
}

impl<'a> Copy<'a> {
    pub(super) fn new(node: &'a Node<'a>, elements: Vec<f64>) -> Self {
        Self { node, elements }
    }
}

impl Block for Copy<'_> {
    fn with(&self, take: &mut dyn FnMut(&[f64])) -> Result<(), Failure> {
        take(&self.elements);
        Ok(())
    }

    fn pass_on(&mut self, next: usize, before: usize) -> Result<(), Failure> {
        let rank: &Rank = self.node.world;
        let length = self.elements.len();
        self.node.called(size_of_val(&self.elements[..]));
        let message = postcard::to_allocvec(&self.elements)?;
        let mut received = vec![0; message.len()];
        let status = rank.sendrecv(next as u32, 0, &message, before as u32, 0, &mut received)?;
        self.elements = postcard::from_bytes(&received[..status.bytes as usize])?;
        if self.elements.len() != length {
            return Err(format!("{} elements arrived", self.elements.len()).into());
        }
        Ok(())
    }
}

/// Returns the times to write and read a block of this many elements with postcard.
pub(super) fn copying_cost(elements: usize) -> Result<Cost, Failure> {
    costs::copied(&vec![0.5; elements])
}
