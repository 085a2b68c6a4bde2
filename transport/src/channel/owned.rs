//! Objects that are given away, and come as they were.

use std::time::Duration;

use jstream::{Restore, Transportable};

use super::error::{RecvError, Refused, SendError};
use super::near::Parcel;
use super::receive::ReceiveOwned;
use super::receiver::Receiver;
use super::sender::Sender;
use super::sending::{Cargo, Send};

impl<T: Transportable + std::marker::Send + 'static> Sender<T> {
    /// Gives an object away. Between threads it moves, whatever it leads to, and in O(1): whoever receives it by
    /// [`recv_owned`](Receiver::recv_owned) gets it itself. Elsewhere it is sent as by [`send`](Self::send), and
    /// dropped.
    ///
    /// An object that moves is not written: no adapter runs, nobody verifies it, and no limit of messages counts.
    ///
    /// ```
    /// use jstream_transport::channel;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = channel::pair::<Vec<u64>>()?;
    /// let numbers = vec![7; 1 << 20];
    /// let place = numbers.as_ptr();
    /// sender.send_owned(numbers)?;
    /// assert_eq!(receiver.recv_owned()?.as_ptr(), place);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refused`] says why, and gives the object back.
    #[inline]
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_owned(&self, object: T) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.deliver(&mut cargo);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), where there is room now.
    ///
    /// # Errors
    ///
    /// [`Refused`], with [`SendError::Full`] where there is none.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn try_send_owned(&self, object: T) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.offer(&mut cargo);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), for so long at most.
    ///
    /// # Errors
    ///
    /// [`Refused`], with [`SendError::TimedOut`] when it was not taken.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_owned_timeout(&self, object: T, timeout: Duration) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.deliver_within(&mut cargo, timeout);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), for a task, as [`send_async`](Self::send_async) is.
    pub fn send_owned_async(&self, object: T) -> Send<T> {
        Send::begin(self, &mut Cargo::parcel(Parcel::value(object)))
    }
}

fn refused<T: Transportable + 'static>(error: SendError, cargo: Cargo<'_, T>) -> Refused<T> {
    Refused {
        error,
        object: cargo.into_parcel().and_then(Parcel::into_value),
    }
}

impl<T: Restore + 'static> Receiver<T> {
    /// Waits for the next object, and takes it out of its jbuf: as it was, where it was
    /// [given away](Sender::send_owned) in this process, else made again.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv), and [`RecvError::Restore`].
    #[inline]
    pub fn recv_owned(&self) -> Result<T, RecvError> {
        self.recv_as().map(|Owned(object)| object)
    }

    /// As [`recv_owned`](Self::recv_owned), for so long at most.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] then, or another [`RecvError`].
    pub fn recv_owned_timeout(&self, timeout: Duration) -> Result<T, RecvError> {
        self.recv_as_within(timeout).map(|Owned(object)| object)
    }

    /// The next object, if it is here.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when it is not, or another [`RecvError`].
    pub fn try_recv_owned(&self) -> Result<T, RecvError> {
        self.try_recv_as().map(|Owned(object)| object)
    }

    /// The next object, as a future of any runtime. Dropping it loses none.
    ///
    /// # Errors
    ///
    /// As for [`recv_owned`](Self::recv_owned).
    pub fn recv_owned_async(&self) -> ReceiveOwned<'_, T> {
        ReceiveOwned::new(self)
    }
}

/// What is received as an owner.
pub(super) struct Owned<T>(pub(super) T);
