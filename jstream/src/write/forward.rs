//! Forwarding of received objects.
//!
//! Decision 052 has the reasons.

use std::error::Error;
use std::fmt;

use super::draft::RECORD_MIN_BYTES;
use super::write_back::{Segments, WriteBackMode};
use super::{WriteError, Writer};
use crate::buffer::{EmptyBuffer, MessageBuffer, Pool};
use crate::model::Transportable;
use crate::received::{Received, Wire};

/// A received object in wire form.
#[derive(Debug)]
#[non_exhaustive]
pub struct ForwardedMessage {
    /// The message.
    pub message: MessageBuffer,
    /// True if the message is still in the buffer that it was received in, so nothing was copied.
    pub in_place: bool,
}

/// An object that could not be forwarded.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct ForwardFailure<T: Transportable + 'static> {
    /// The reason.
    pub error: WriteError,
    /// The unchanged object. `None` only with [`WriteError::Displaced`].
    #[error_debug(skip)]
    pub received: Option<Received<T>>,
}

impl<T: Transportable + 'static> fmt::Display for ForwardFailure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for ForwardFailure<T> {}

/// The result of restoring an object in place.
enum WriteBackOutcome<T: Transportable + 'static> {
    Done(MessageBuffer),
    /// A pointer leads to another target than when the message was read. The object is unchanged.
    Moved(Received<T>),
    /// Like `Moved`, but detected after the object had been overwritten in part.
    Lost,
}

impl Writer {
    /// Turns a received object, which may have been changed, back into a message. If every pointer
    /// leads to the same target as when the object was read, this happens in the object's own
    /// buffer without a copy. If a pointer was changed or dropped, the object is written into a new
    /// buffer on the heap, and its own buffer is released. The message equals the one that
    /// [`write`](Self::write) would make of the object, except for padding within values and around
    /// segments, which stays as it was received. No data that the program has dropped remains in
    /// the message.
    ///
    /// A message that was not read can be sent on as it is: a [`MessageBuffer`] needs no
    /// conversion.
    ///
    /// ```
    /// use jstream::{EmptyBuffer, Reader, Transportable, Writer};
    ///
    /// #[derive(Transportable)]
    /// #[transportable(own)]
    /// struct Token<'b> {
    ///     hops: u32,
    ///     text: &'b str,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut writer, mut reader) = (Writer::new(), Reader::default());
    /// let mut message = writer.write(&Token { hops: 0, text: "round" }, EmptyBuffer::heap(256))?;
    /// for _ in 0..3 {
    ///     let mut received = reader.read::<Token<'_>>(message)?;
    ///     received.with_mut(|token| token.hops += 1);
    ///     let forwarded = writer.forward(received)?;
    ///     assert!(forwarded.in_place);
    ///     message = forwarded.message;
    /// }
    /// assert_eq!(reader.read::<Token<'_>>(message)?.get().hops, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The [`ForwardFailure`] returns the object if it had to be written and could not be: see
    /// [`gather`](Self::gather). It has no object only with [`WriteError::Displaced`].
    pub fn forward<T>(
        &mut self,
        received: Received<T>,
    ) -> Result<ForwardedMessage, ForwardFailure<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        self.forward_or(received, |len| Ok(EmptyBuffer::heap(len)))
    }

    /// Like [`forward`](Self::forward), with a buffer of `pool` if another buffer is needed.
    ///
    /// # Errors
    ///
    /// As for [`forward`](Self::forward), and [`WriteError::Pool`] if the pool has no buffer.
    pub fn forward_to<T>(
        &mut self,
        received: Received<T>,
        pool: &Pool,
    ) -> Result<ForwardedMessage, ForwardFailure<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        self.forward_or(received, |len| Ok(pool.take(len)?))
    }

    fn forward_or<T>(
        &mut self,
        received: Received<T>,
        take: impl FnOnce(usize) -> Result<EmptyBuffer, WriteError>,
    ) -> Result<ForwardedMessage, ForwardFailure<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let received = match self.write_back_values(received) {
            WriteBackOutcome::Done(message) => {
                return Ok(ForwardedMessage {
                    message,
                    in_place: true,
                });
            }
            WriteBackOutcome::Lost => {
                return Err(ForwardFailure {
                    error: WriteError::Displaced,
                    received: None,
                });
            }
            WriteBackOutcome::Moved(received) => received,
        };
        match received.with(|object| self.write_by(object, take)) {
            Ok(message) => Ok(ForwardedMessage {
                message,
                in_place: false,
            }),
            Err(error) => Err(ForwardFailure {
                error,
                received: Some(received),
            }),
        }
    }

    /// Restores an object in place, if possible.
    fn write_back_values<T>(&mut self, received: Received<T>) -> WriteBackOutcome<T>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let wire = received.wire();
        if wire == Wire::Unknown {
            return WriteBackOutcome::Moved(received);
        }
        // SAFETY: the header was checked when the message was read, no pointer leads to it, and no
        // other handle to the buffer exists.
        let segments = unsafe { Segments::from_base(received.base()) };
        let kept = match wire {
            Wire::Kept => segments.kept::<T::InPlace<'static>>(received.capacity()),
            _ => None,
        };
        let mut writing = self.writing(None, RECORD_MIN_BYTES);
        let unchanged = match kept {
            // SAFETY: the object was read from this message as the form for any lifetime. This
            // function owns the handle, and references to the object borrow from the handle, so
            // none exist. The copy was made before the object was changed.
            Some(kept) => unsafe { writing.is_root_unchanged(&segments, kept) },
            None => matches!(wire, Wire::AsRead),
        };
        // SAFETY: as above.
        let unchanged = unchanged
            || unsafe {
                writing.write_back_walk::<T::InPlace<'static>>(&segments, WriteBackMode::Compare)
            };
        if !unchanged {
            return WriteBackOutcome::Moved(received);
        }
        let changed = wire != Wire::AsRead;
        // SAFETY: as above, and the object is not accessed again: the buffer becomes spent, or is
        // dropped by a panic.
        let unchanged = unsafe {
            writing.write_back_walk::<T::InPlace<'static>>(
                &segments,
                WriteBackMode::Commit { changed },
            )
        };
        let empty = received.into_empty();
        if !unchanged {
            return WriteBackOutcome::Lost;
        }
        // SAFETY: the walk has claimed each byte of all segments. The targets that it claimed are
        // in wire form, or are text and plain arrays, which have no uninitialised bytes. The bytes
        // between targets are zero. The header, and the bytes around segments, are as they were
        // received.
        WriteBackOutcome::Done(unsafe { MessageBuffer::from_empty(empty, segments.len()) })
    }
}
