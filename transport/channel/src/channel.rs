//! A channel that can be opened.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream::Transportable;

use super::acceptor;
use super::error::OpenError;
use super::hello::{self, Hello, Near, Role};
use super::near::find;
use super::opening::Opening;
use super::peer_set::PeerSet;
use super::receiver::Receiver;
use super::sender::Sender;
use jstream_base::Address;
use jstream_base::AddressError;
use jstream_base::Options;
use jstream_endpoint::listen;

/// Returns a channel of objects of type `T`. Its sides find each other by the address:
/// `inproc://name`, `shm://name`, `uds:///path`, `tcp://host:port` or `uring://host:port`.
///
/// The call does no I/O. Opening a side reports an invalid address.
#[must_use]
pub fn channel<T: Transportable + 'static>(address: &str) -> Channel<T> {
    Channel {
        address: address.parse(),
        options: Options::default(),
        fans_out: false,
        peers: 1,
        of: PhantomData,
    }
}

/// Opens both sides of a channel between threads of this process, under a generated name.
///
/// # Errors
///
/// [`OpenError`], for example if the system is out of descriptors or threads.
pub fn pair<T: Transportable + 'static>() -> Result<(Sender<T>, Receiver<T>), OpenError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    channel(&format!("inproc://jstream-pair-{number}")).both()
}

/// A channel that can be opened; see [`channel`].
///
/// By default there is one receiver, which listens, and any number of senders, which join it. With
/// [`fan_out`](Self::fan_out), one sender listens and the receivers join. Both sides must use the
/// same setting.
pub struct Channel<T> {
    address: Result<Address, AddressError>,
    options: Options,
    fans_out: bool,
    peers: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> Channel<T> {
    /// Selects one sender, which listens, and any number of receivers. Each object goes to one
    /// receiver, in round-robin order.
    #[must_use]
    pub fn fan_out(self) -> Self {
        Self {
            fans_out: true,
            ..self
        }
    }

    /// Sets the number of peers that have to join the listening side (default 1). Until then, a
    /// listening sender sends nothing, and a listening receiver does not report
    /// [`RecvError::Closed`](super::RecvError::Closed).
    #[must_use]
    pub fn peers(self, peers: usize) -> Self {
        Self { peers, ..self }
    }

    /// Sets the maximum number of objects that may wait to be received from each sender (default
    /// 64, at least 1). The receiving side's value applies, as does its [`Options::queue_bytes`].
    /// This setting affects only channels within one process. Other channels are bounded by the
    /// buffers of their device; see the guide of `jstream-transport`.
    #[must_use]
    pub fn capacity(mut self, objects: usize) -> Self {
        self.options.queue_messages = objects;
        self
    }

    /// Sets the options: buffers for receiving, limits and timeouts.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Opens the sending side. By default it joins the receiver; if the receiver does not listen
    /// yet, the call waits for at most [`Options::connect_timeout`].
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn sender(self) -> Result<Sender<T>, OpenError> {
        self.sender_while(|| true)
    }

    /// Opens the receiving side. By default it listens, so the call does not wait for a peer.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn receiver(self) -> Result<Receiver<T>, OpenError> {
        self.receiver_while(|| true)
    }

    /// As [`sender`](Self::sender), for a task: the future does not block. A side that listens is
    /// open after the first poll. A side that joins waits in a separate thread. Dropping the future
    /// cancels the attempt.
    #[must_use = "a future does nothing unless it is polled"]
    pub fn sender_async(self) -> Opening<Sender<T>> {
        Opening::new(!self.fans_out, move |is_wanted| {
            self.sender_while(is_wanted)
        })
    }

    /// As [`receiver`](Self::receiver), for a task; see [`sender_async`](Self::sender_async).
    #[must_use = "a future does nothing unless it is polled"]
    pub fn receiver_async(self) -> Opening<Receiver<T>> {
        Opening::new(self.fans_out, move |is_wanted| {
            self.receiver_while(is_wanted)
        })
    }

    /// Opens both sides in this process.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn both(self) -> Result<(Sender<T>, Receiver<T>), OpenError> {
        if self.fans_out {
            let sender = self.clone().sender()?;
            let receiver = self.at(sender.address()).receiver()?;
            return Ok((sender, receiver));
        }
        let receiver = self.clone().receiver()?;
        let sender = self.at(receiver.address()).sender()?;
        Ok((sender, receiver))
    }

    fn at(self, address: &Address) -> Self {
        Self {
            address: Ok(address.clone()),
            ..self
        }
    }

    fn sender_while(self, is_wanted: impl Fn() -> bool) -> Result<Sender<T>, OpenError> {
        Ok(Sender::new(self.open(
            Role::Sender,
            self.fans_out,
            is_wanted,
        )?))
    }

    fn receiver_while(self, is_wanted: impl Fn() -> bool) -> Result<Receiver<T>, OpenError> {
        Ok(Receiver::new(self.open(
            Role::Receiver,
            !self.fans_out,
            is_wanted,
        )?))
    }

    /// Listens, or joins the listening side while `is_wanted` returns true.
    fn open(
        &self,
        role: Role,
        listens: bool,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Arc<PeerSet<T>>, OpenError> {
        let address = self.address.as_ref().map_err(Clone::clone)?;
        let ours = Hello::new::<T>(role);
        if listens {
            return self.listen(address, ours);
        }
        let peers = PeerSet::new(address.clone(), &ours, 1, &self.options)?;
        let near = || self.find(address, &peers);
        let (connection, version) = hello::join(address, &ours, &self.options, near, is_wanted)?;
        Ok(peers.with_only(connection, version))
    }

    /// Listens. An `inproc` side is registered before it listens, so that sides in this process
    /// find it and need not connect.
    fn listen(&self, address: &Address, ours: Hello) -> Result<Arc<PeerSet<T>>, OpenError> {
        let open =
            |address: &Address| PeerSet::new(address.clone(), &ours, self.peers, &self.options);
        let (peers, listener) = if let Address::Inproc { .. } = address {
            let peers = Arc::new(open(address)?);
            peers.announce();
            (peers, listen(address, &self.options)?)
        } else {
            let listener = listen(address, &self.options)?;
            (Arc::new(open(listener.local_address())?), listener)
        };
        acceptor::open(&peers, listener, ours)?;
        Ok(peers)
    }

    /// Joins the listening side if it is in this process.
    fn find(&self, address: &Address, ours: &PeerSet<T>) -> Near<T> {
        let Address::Inproc { name, .. } = address else {
            return Near::Nobody;
        };
        match find::<PeerSet<T>>(name) {
            // If both have the same role, connecting to the listener reports the error.
            Some(other) if ours.may_be_near && other.role() != ours.role() => {
                if other.listening.get().is_none() {
                    return Near::Soon;
                }
                match other.admit(&self.options, &ours.arrived) {
                    Some(link) => Near::Joined(link),
                    None => Near::Refused(OpenError::Full {
                        address: address.clone(),
                    }),
                }
            }
            _ => Near::Nobody,
        }
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Self {
            address: self.address.clone(),
            options: self.options.clone(),
            ..*self
        }
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("address", &self.address)
            .field("fans_out", &self.fans_out)
            .finish_non_exhaustive()
    }
}
