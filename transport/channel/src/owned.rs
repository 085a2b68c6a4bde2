//! Sending and receiving of owned objects.

use std::time::Duration;

use jstream::{Restore, Transportable};

use super::cargo::Cargo;
use super::error::{RecvError, Refused, SendError};
use super::near::Parcel;
use super::object_form::Owned;
use super::receive::ReceiveOwned;
use super::receiver::Receiver;
use super::send::Send;
use super::sender::Sender;

impl<T: Transportable + std::marker::Send + 'static> Sender<T> {
    /// Sends an object by value. Between threads of one process the object moves in O(1), whatever
    /// it points to, and [`recv_owned`](Receiver::recv_owned) returns the same object. Otherwise
    /// the object is sent as by [`send`](Self::send), and dropped.
    ///
    /// An object that moves is not serialized: no adapter runs, the object is not verified, and the
    /// limits for messages do not apply.
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
    /// [`Refused`], with the reason and, if possible, the object.
    #[inline]
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_owned(&self, object: T) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.deliver(&mut cargo);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), but does not block. Only if the connection has ended, it
    /// waits up to 100 ms to learn whether the receiver has said farewell.
    ///
    /// # Errors
    ///
    /// [`Refused`], with [`SendError::Full`] if there is no room.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn try_send_owned(&self, object: T) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.offer(&mut cargo);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), but blocks for at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`Refused`], with [`SendError::TimedOut`] if the object was not taken in time.
    #[allow(clippy::result_large_err, reason = "the object comes back in it")]
    pub fn send_owned_timeout(&self, object: T, timeout: Duration) -> Result<(), Refused<T>> {
        let mut cargo = Cargo::parcel(Parcel::value(object));
        let sent = self.deliver_within(&mut cargo, timeout);
        sent.map_err(|error| refused(error, cargo))
    }

    /// As [`send_owned`](Self::send_owned), for a task; see [`send_async`](Self::send_async).
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
    /// Blocks until the next object arrives, and returns it by value. An object that was sent by
    /// [`send_owned`](Sender::send_owned) in this process is returned as it was; otherwise an owned
    /// object is created from the received one.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv), and [`RecvError::Restore`].
    #[inline]
    pub fn recv_owned(&self) -> Result<T, RecvError> {
        self.recv_as().map(|Owned(object)| object)
    }

    /// As [`recv_owned`](Self::recv_owned), but blocks for at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] if no object arrived in time, or another [`RecvError`].
    pub fn recv_owned_timeout(&self, timeout: Duration) -> Result<T, RecvError> {
        self.recv_as_within(timeout).map(|Owned(object)| object)
    }

    /// As [`recv_owned`](Self::recv_owned), but does not block.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] if no object has arrived, or another [`RecvError`].
    pub fn try_recv_owned(&self) -> Result<T, RecvError> {
        self.try_recv_as().map(|Owned(object)| object)
    }

    /// Returns a future for the next object, for any runtime. Dropping the future loses no object.
    ///
    /// # Errors
    ///
    /// As for [`recv_owned`](Self::recv_owned).
    pub fn recv_owned_async(&self) -> ReceiveOwned<'_, T> {
        ReceiveOwned::new(self)
    }
}
