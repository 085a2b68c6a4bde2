//! Typed channels, for those who want no more: objects of one type, in one direction, under a name.
//!
//! [`channel`] names a channel. A [`Sender`] and a [`Receiver`] of it may be in threads, in processes of this
//! host, or on two hosts; the address alone says which. The side that several others join listens, the others
//! wait for it: it does not matter who comes first.
//!
//! ```
//! use jstream_transport::channel;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (sender, receiver) = channel::<Vec<u64>>("shm://sums-of-the-day").both()?;
//! let adding = std::thread::spawn(move || {
//!     (&receiver).into_iter().map(|sum| sum.unwrap().get().iter().sum::<u64>()).collect::<Vec<_>>()
//! });
//! sender.send(&vec![1, 2, 3])?;
//! sender.send(&vec![4])?;
//! drop(sender);
//! assert_eq!(adding.join().unwrap(), [6, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! Objects are lent to `send`, and looked at in the buffer that they are received in; or given away by `send_owned`, and
//! received by `recv_owned` as they were: between threads in O(1), whatever they lead to.
//!
//! The guide has a page about them: [`f_channels`](crate::guide::f_channels).

mod crew;
mod door;
mod error;
mod hello;
mod near;
mod opening;
mod owned;
mod peers;
mod receive;
mod receiver;
mod sender;
mod sending;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream::Transportable;

pub use self::error::{OpenError, RecvError, Refused, SendError, Unsent};
pub use self::opening::Opening;
pub use self::receive::{Receive, ReceiveOwned};
pub use self::receiver::{Iter, Receiver};
pub use self::sender::Sender;
pub use self::sending::Send;

use self::crew::Crew;
use self::hello::{Hello, Near, Role};
use self::near::find;
use crate::address::Address;
use crate::endpoint::listen;
use crate::error::AddressError;
use crate::options::Options;

/// A channel of objects of type `T`, by the address under which its sides find each other:
/// `inproc://name`, `shm://name`, `uds:///path`, `tcp://host:port` or `uring://host:port`.
///
/// Nothing happens before a side of it is opened; only then a wrong address is an error.
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

/// The two sides of a channel between threads of this process, which nobody else can join.
///
/// # Errors
///
/// [`OpenError`], as when the system is out of descriptors or threads.
pub fn pair<T: Transportable + 'static>() -> Result<(Sender<T>, Receiver<T>), OpenError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    channel(&format!("inproc://jstream-pair-{number}")).both()
}

/// A channel that is going to be opened; see [`channel`].
///
/// As a rule there is one receiver, which listens, and any number of senders, which join it. With
/// [`fan_out`](Self::fan_out) it is the other way round. Both sides have to say so.
pub struct Channel<T> {
    address: Result<Address, AddressError>,
    options: Options,
    fans_out: bool,
    peers: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> Channel<T> {
    /// One sender, which listens, and any number of receivers: each object goes to one of them, in turn.
    #[must_use]
    pub fn fan_out(self) -> Self {
        Self {
            fans_out: true,
            ..self
        }
    }

    /// How many have to join the side that listens (default 1). Before so many have joined a sender that
    /// listens sends nothing, and a receiver that listens is not [closed](RecvError::Closed).
    #[must_use]
    pub fn peers(self, peers: usize) -> Self {
        Self { peers, ..self }
    }

    /// How many objects may wait to be received (default 64, at least 1), of each sender, and also how many bytes
    /// ([`Options::queue_bytes`]), as the side that receives says: inside the process. Elsewhere this has no effect,
    /// and the room of the device is the bound, which the [guide](crate::guide::f_channels#bounds) tells.
    #[must_use]
    pub fn capacity(mut self, objects: usize) -> Self {
        self.options.queue_messages = objects;
        self
    }

    /// Where and how objects are received, and all limits and time-outs.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Opens the side that sends. As a rule it joins the receiver, and waits for it if it is not there yet, at
    /// most for [`Options::connect_timeout`].
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn sender(self) -> Result<Sender<T>, OpenError> {
        self.sender_while(|| true)
    }

    /// Opens the side that receives. As a rule it listens, so it is there at once.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn receiver(self) -> Result<Receiver<T>, OpenError> {
        self.receiver_while(|| true)
    }

    /// As [`sender`](Self::sender), for a task: nothing in it blocks. A side that listens is there when the future
    /// is polled first; one that joins waits in a thread of its own. Who drops the future gives up.
    #[must_use = "a future does nothing unless it is polled"]
    pub fn sender_async(self) -> Opening<Sender<T>> {
        Opening::new(!self.fans_out, move |is_wanted| {
            self.sender_while(is_wanted)
        })
    }

    /// As [`receiver`](Self::receiver), for a task, as [`sender_async`](Self::sender_async) is.
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

    /// Listens, or joins who does, as long as somebody wants it.
    fn open(
        &self,
        role: Role,
        listens: bool,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Arc<Crew<T>>, OpenError> {
        let address = self.address.as_ref().map_err(Clone::clone)?;
        let ours = Hello::new::<T>(role);
        if listens {
            return self.listen(address, ours);
        }
        let crew = Crew::new(address.clone(), role, 1, &self.options)?;
        let near = || self.find(address, &crew);
        let way = hello::join(address, &ours, &self.options, near, is_wanted)?;
        Ok(crew.with_only(way))
    }

    /// Has those of this process find it before it listens: they need not connect to it.
    fn listen(&self, address: &Address, ours: Hello) -> Result<Arc<Crew<T>>, OpenError> {
        let open =
            |address: &Address| Crew::new(address.clone(), ours.role(), self.peers, &self.options);
        let (crew, listener) = if let Address::Inproc { .. } = address {
            let crew = Arc::new(open(address)?);
            crew.announce();
            (crew, listen(address, &self.options)?)
        } else {
            let listener = listen(address, &self.options)?;
            (Arc::new(open(listener.local_address())?), listener)
        };
        door::open(&crew, listener, ours)?;
        Ok(crew)
    }

    /// Joins who has the channel open in this process.
    fn find(&self, address: &Address, ours: &Crew<T>) -> Near<T> {
        let Address::Inproc { name } = address else {
            return Near::Nobody;
        };
        match find::<Crew<T>>(name) {
            // Who is of the same role is told so where it listens.
            Some(other) if ours.may_be_near && other.role() != ours.role() => {
                if other.listening.get().is_none() {
                    return Near::Soon;
                }
                match other.let_in(&self.options, &ours.arrived) {
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
