//! Sending on what was received.

use std::error::Error;
use std::fmt;

use super::back::{Segments, Step};
use super::draft::NOTED;
use super::{WriteError, Writer};
use crate::buffer::{Filled, Pool, Spent};
use crate::model::Transportable;
use crate::received::{Received, Wire};

/// A received object in wire form again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Forwarded {
    /// The message.
    pub message: Filled,
    /// Whether it stands in the jbuf that it was received in: nothing was copied.
    pub in_place: bool,
}

/// An object that was not forwarded.
#[non_exhaustive]
pub struct Unforwarded<T: Transportable + 'static> {
    /// What prevented it.
    pub error: WriteError,
    /// The object, as it was; `None` with [`WriteError::Displaced`] alone.
    pub received: Option<Received<T>>,
}

impl<T: Transportable + 'static> fmt::Debug for Unforwarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unforwarded")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T: Transportable + 'static> fmt::Display for Unforwarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for Unforwarded<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// What became of an object that was to be turned back where it lies.
enum Outcome<T: Transportable + 'static> {
    Done(Filled),
    /// Something leads elsewhere than where the message had it.
    Moved(Received<T>),
    /// The same, and it was found too late.
    Lost,
}

impl Writer {
    /// Turns a received object, which may have been changed, back into a message. Where everything in
    /// it leads where it led when it was read, that is done in its own jbuf, without a copy; else,
    /// where a pointer was changed or dropped, the object is written into another jbuf on the heap,
    /// and its own goes back. The message is that which [`write`](Self::write) would make of the
    /// object, but for padding within values and around segments, which stays as it came. Nothing is left
    /// of what the program has dropped.
    ///
    /// A message that was not read is sent on as it is: a [`Filled`] needs nothing.
    ///
    /// ```
    /// use jstream::{Reader, Spent, Transportable, Writer};
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
    /// let mut message = writer.write(&Token { hops: 0, text: "round" }, Spent::heap(256))?;
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
    /// An [`Unforwarded`] has the object, where it had to be written and could not be: see
    /// [`gather`](Self::gather). Only with [`WriteError::Displaced`] it has none.
    pub fn forward<T>(&mut self, received: Received<T>) -> Result<Forwarded, Unforwarded<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        self.forward_or(received, |len| Ok(Spent::heap(len)))
    }

    /// As [`forward`](Self::forward), with a jbuf of `pool` where another one is needed.
    ///
    /// # Errors
    ///
    /// As for [`forward`](Self::forward), and [`WriteError::Pool`] when the pool has no jbuf.
    pub fn forward_to<T>(
        &mut self,
        received: Received<T>,
        pool: &Pool,
    ) -> Result<Forwarded, Unforwarded<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        self.forward_or(received, |len| Ok(pool.take(len)?))
    }

    fn forward_or<T>(
        &mut self,
        received: Received<T>,
        take: impl FnOnce(usize) -> Result<Spent, WriteError>,
    ) -> Result<Forwarded, Unforwarded<T>>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let received = match self.turn_back(received) {
            Outcome::Done(message) => {
                return Ok(Forwarded {
                    message,
                    in_place: true,
                });
            }
            Outcome::Lost => {
                return Err(Unforwarded {
                    error: WriteError::Displaced,
                    received: None,
                });
            }
            Outcome::Moved(received) => received,
        };
        match received.with(|object| self.write_by(object, take)) {
            Ok(message) => Ok(Forwarded {
                message,
                in_place: false,
            }),
            Err(error) => Err(Unforwarded {
                error,
                received: Some(received),
            }),
        }
    }

    /// Turns an object back where it lies, if that can be done.
    fn turn_back<T>(&mut self, received: Received<T>) -> Outcome<T>
    where
        T: Transportable + 'static,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let wire = received.wire();
        if wire == Wire::Unknown {
            return Outcome::Moved(received);
        }
        // SAFETY: the header was read with the message, nothing leads to it, and nobody else reaches
        // the jbuf.
        let segments = unsafe { Segments::of(received.base()) };
        let kept = match wire {
            Wire::Kept => segments.kept::<T::InPlace<'static>>(received.capacity()),
            _ => None,
        };
        let mut writing = self.writing(None, NOTED);
        let there = match kept {
            // SAFETY: the object was read as the form for any lifetime, in this message. The handle is
            // ours, and nobody has references: those are borrowed from it. The copy was made before the
            // object was changed.
            Some(kept) => unsafe { writing.is_root_as_it_was(&segments, kept) },
            None => matches!(wire, Wire::AsRead),
        };
        // SAFETY: as above.
        let there =
            there || unsafe { writing.walk_back::<T::InPlace<'static>>(&segments, Step::Compare) };
        if !there {
            return Outcome::Moved(received);
        }
        let changed = wire != Wire::AsRead;
        // SAFETY: as above, and nobody looks at the object again: the jbuf becomes spent, or what a
        // panic drops.
        let there = unsafe {
            writing.walk_back::<T::InPlace<'static>>(&segments, Step::Commit { changed })
        };
        let spent = received.into_spent();
        if !there {
            return Outcome::Lost;
        }
        // SAFETY: the walk has claimed each byte of all segments. What it claimed is wire form, or text
        // and plain arrays, of which no byte is ever uninitialised; what lies between targets is zero, and
        // the header, and what lies around segments, is as it was received.
        Outcome::Done(unsafe { Filled::from_spent(spent, segments.len()) })
    }
}
