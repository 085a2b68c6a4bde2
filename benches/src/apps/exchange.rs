//! Arrays that nodes bring one another by remote calls, in place or as copies.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{Call, Client, Received, Server, remote};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::costs::{self, Cost};
use super::mailbox::Mailbox;
use super::node::Node;
use super::objects::Objects;
use crate::Failure;

const NAME: &str = "parcels";

/// A number, or a struct of numbers, whose arrays are exchanged. An array is read in place as it
/// is.
pub(super) trait Element:
    for<'b> Transportable<InPlace<'b> = Self>
    + Serialize
    + DeserializeOwned
    + Copy
    + Default
    + Send
    + Sync
    + 'static
{
    /// Binds the inbox of this node at its server.
    fn bind(server: &Server, inbox: Arc<Inbox<Self>>) -> Result<(), Failure>;

    /// Returns the stub of the inbox of another node.
    fn lookup(client: &Client) -> Result<ParcelsStub<Self>, Failure>;

    /// Calls [`Parcels::bring`].
    fn bring(stub: &ParcelsStub<Self>, parcel: Parcel<'_, Self>) -> Call<bool>;

    /// Calls [`Parcels::bring_copied`].
    fn bring_copied(
        stub: &ParcelsStub<Self>,
        channel: u64,
        phase: u64,
        arrays: &[u8],
    ) -> Call<bool>;

    /// Returns the parcel in a receive buffer.
    fn read<'b>(received: &'b Received<Parcel<'static, Self>>) -> Parcel<'b, Self>;
}

/// Channel, phase, and two arrays, of which the second is empty in most applications.
pub(super) type Parcel<'b, F> = (u64, u64, &'b [F], &'b [F]);

/// Implements [`Element`] for the instances of [`Parcels`]. Their stubs have the methods of the
/// trait for each instance only, and not for a type parameter.
macro_rules! elements {
    ($($element:ty),*) => {$(
        impl Element for $element {
            fn bind(server: &Server, inbox: Arc<Inbox<Self>>) -> Result<(), Failure> {
                Ok(server.bind::<dyn Parcels<Self>>(NAME, inbox)?)
            }

            fn lookup(client: &Client) -> Result<ParcelsStub<Self>, Failure> {
                Ok(client.lookup::<dyn Parcels<Self>>(NAME).wait()?)
            }

            fn bring(stub: &ParcelsStub<Self>, parcel: Parcel<'_, Self>) -> Call<bool> {
                stub.bring(&parcel)
            }

            fn bring_copied(
                stub: &ParcelsStub<Self>,
                channel: u64,
                phase: u64,
                arrays: &[u8],
            ) -> Call<bool> {
                stub.bring_copied(channel, phase, arrays)
            }

            fn read<'b>(received: &'b Received<Parcel<'static, Self>>) -> Parcel<'b, Self> {
                *received.get()
            }
        }
    )*};
}

elements!(f32, f64, Complex);

/// A complex number.
#[derive(Transportable, Serialize, serde::Deserialize, Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

/// The inbox of a node. Both methods return false if the parcel is refused.
#[remote(instances(Parcels<f32>, Parcels<f64>, Parcels<Complex>))]
pub(super) trait Parcels<F: Element> {
    /// Keeps the receive buffer with the arrays until the node has used them.
    fn bring(&self, parcel: Received<(u64, u64, &'static [F], &'static [F])>) -> bool;

    /// Like `bring`, with the arrays in postcard's format, of which copies are made.
    fn bring_copied(&self, channel: u64, phase: u64, arrays: &[u8]) -> bool;
}

/// Arrays that have arrived.
pub(super) enum Arrays<F: Element> {
    /// Arrays in their receive buffer.
    InPlace(Received<Parcel<'static, F>>),
    Copied(Vec<F>, Vec<F>),
}

impl<F: Element> Arrays<F> {
    /// Returns both arrays.
    pub(super) fn get(&self) -> (&[F], &[F]) {
        match self {
            Self::InPlace(received) => {
                let (_, _, first, second) = F::read(received);
                (first, second)
            }
            Self::Copied(first, second) => (first, second),
        }
    }

    /// Returns the first array.
    ///
    /// # Errors
    ///
    /// Fails if it has another length.
    pub(super) fn first(&self, length: usize) -> Result<&[F], Failure> {
        let (first, _) = self.get();
        if first.len() != length {
            return Err(format!("{} elements arrived instead of {length}", first.len()).into());
        }
        Ok(first)
    }
}

/// Parcels that other nodes have brought.
pub(super) struct Inbox<F: Element>(Mailbox<Arrays<F>>);

#[remote]
impl<F: Element> Parcels<F> for Inbox<F> {
    fn bring(&self, parcel: Received<(u64, u64, &'static [F], &'static [F])>) -> bool {
        let (channel, phase, ..) = F::read(&parcel);
        self.0.put(channel, phase, Arrays::InPlace(parcel))
    }

    fn bring_copied(&self, channel: u64, phase: u64, arrays: &[u8]) -> bool {
        let Ok((first, second)) = postcard::from_bytes(arrays) else {
            return false;
        };
        self.0.put(channel, phase, Arrays::Copied(first, second))
    }
}

/// The inbox of this node, and stubs of those of the others.
pub(super) struct Exchange<'a, F: Element> {
    node: &'a Node<'a>,
    copying: bool,
    inbox: Arc<Inbox<F>>,
    /// Stubs by node; this node has none.
    stubs: Vec<Option<ParcelsStub<F>>>,
    /// Calls of which no result was looked at, the oldest first.
    calls: RefCell<VecDeque<Call<bool>>>,
    _objects: Objects,
}

impl<'a, F: Element> Exchange<'a, F> {
    /// Serves an inbox with this number of channels, and connects to all other nodes. All nodes
    /// call this function. If `copying`, the arrays are sent in postcard's format.
    pub(super) fn start(
        node: &'a Node<'a>,
        channels: usize,
        copying: bool,
    ) -> Result<Self, Failure> {
        // In a ring, a sender can be ahead by two rounds.
        let limit = 2 * node.count();
        let inbox = Arc::new(Inbox(Mailbox::new(channels, limit)));
        let objects = Objects::start(node, |server| F::bind(server, inbox.clone()))?;
        let stub = |index| -> Result<_, Failure> {
            if index == node.index() {
                return Ok(None);
            }
            F::lookup(objects.client(index)?).map(Some)
        };
        Ok(Self {
            node,
            copying,
            inbox,
            stubs: (0..node.count()).map(stub).collect::<Result<_, _>>()?,
            calls: RefCell::default(),
            _objects: objects,
        })
    }

    /// Begins to bring arrays to the channel of another node. The arrays can be changed when the
    /// function returns. [`finish`](Self::finish) waits for the end of all calls.
    ///
    /// As many calls as there are nodes may be under way. A node does not wait for the answers of a
    /// phase before it computes the next one: the receiver's thread that answers may have to wait
    /// for the core on which the receiver computes, as what has arrived lets it go on.
    pub(super) fn send(
        &self,
        to: usize,
        channel: usize,
        phase: u64,
        (first, second): (&[F], &[F]),
    ) -> Result<(), Failure> {
        let stub = self.stubs.get(to).and_then(Option::as_ref);
        let stub = stub.ok_or_else(|| format!("there is no other node {to}"))?;
        self.node.called(size_of_val(first) + size_of_val(second));
        let channel = channel as u64;
        let call = if self.copying {
            let arrays = postcard::to_allocvec(&(first, second))?;
            F::bring_copied(stub, channel, phase, &arrays)
        } else {
            F::bring(stub, (channel, phase, first, second))
        };
        self.calls.borrow_mut().push_back(call);
        self.wait_for_oldest(self.node.count())
    }

    /// Waits until all inboxes have stored what was brought.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.wait_for_oldest(0)
    }

    /// Waits for the oldest calls, of which `left` may remain.
    fn wait_for_oldest(&self, left: usize) -> Result<(), Failure> {
        let mut calls = self.calls.borrow_mut();
        let older = calls.len().saturating_sub(left);
        calls.drain(..older).try_for_each(wait_until_stored)
    }

    /// Returns the arrays of a phase, and waits until they have arrived.
    pub(super) fn take(&self, channel: usize, phase: u64) -> Result<Arrays<F>, Failure> {
        self.inbox.0.take(channel, phase)
    }
}

/// Waits until an inbox has stored what was brought.
fn wait_until_stored(call: Call<bool>) -> Result<(), Failure> {
    let reply = call
        .wait()
        .map_err(|e| format!("a parcel was not brought: {e}"))?;
    if !*reply.get() {
        return Err(
            "a node refused a parcel: it has no such channel, the channel is full, or the \
                    parcel could not be decoded"
                .into(),
        );
    }
    Ok(())
}

/// Returns the times to write and read the arrays of a parcel.
pub(super) fn cost<F: Element>(
    first: usize,
    second: usize,
    copying: bool,
) -> Result<Cost, Failure> {
    let arrays = (vec![F::default(); first], vec![F::default(); second]);
    if copying {
        costs::copied(&arrays)
    } else {
        costs::in_place(&arrays)
    }
}
