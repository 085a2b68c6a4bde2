//! What goes from thread to thread.

use jstream::buffer::{Filled, Pool};
use jstream::{Plain, Received, Restore, Transportable, WriteError, restore};

use crate::address::Address;
use crate::channel::error::{RecvError, SendError};
use crate::endpoint::tools::Tools;
use crate::options::Options;

/// An object on its way to another thread.
///
/// Invariant: a value, or a received object, is there only where it may go to another thread.
pub(crate) struct Parcel<T: Transportable + 'static>(Content<T>);

enum Content<T: Transportable + 'static> {
    /// The bytes of a value that was lent.
    Plain(Plain<T>),
    /// A value that moves.
    Value(T),
    /// An object that was received, and moves on.
    Object(Received<T>),
    /// What was lent, written.
    Message(Filled),
}

// SAFETY: `value` and `object` alone make a parcel of what may not go to another thread for all `T`, and ask that it
// may. Messages and plain bytes always may.
unsafe impl<T: Transportable + 'static> Send for Parcel<T> {}

/// How the receiver wants its objects.
pub(crate) struct Home {
    pub(super) address: Address,
    pool: Pool,
    max_message: u64,
    tools: Tools,
}

impl Home {
    pub(super) fn new(address: Address, options: &Options) -> Self {
        Self {
            address,
            pool: options.pool.clone(),
            max_message: options.max_message,
            tools: Tools::new(),
        }
    }
}

impl<T: Transportable + 'static> Parcel<T> {
    /// One that moves.
    #[inline]
    pub(crate) fn value(value: T) -> Self
    where
        T: Send,
    {
        Self(Content::Value(value))
    }

    /// One that was received.
    #[inline]
    pub(crate) fn object(received: Received<T>) -> Self
    where
        Received<T>: Send,
    {
        Self(Content::Object(received))
    }

    /// One that is written already.
    pub(crate) fn message(filled: Filled) -> Self {
        Self(Content::Message(filled))
    }

    /// A copy of one that is lent: written to a jbuf of the receiver's, unless it is plain.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    #[inline]
    pub(crate) fn copied(object: &T, home: &Home) -> Result<Self, SendError> {
        match Plain::of(object) {
            Some(plain) => Ok(Self(Content::Plain(plain))),
            None => Self::written(object, home),
        }
    }

    /// A copy of one that is lent, as a message in any case.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub(crate) fn written(object: &T, home: &Home) -> Result<Self, SendError> {
        let written = home.tools.with_writer(|writer| {
            writer.gather(object, |segments| {
                let length = segments.iter().map(|segment| segment.len() as u64);
                let length = length.fold(0, u64::saturating_add);
                if length > home.max_message {
                    return Err(crate::SendError::TooLarge {
                        length,
                        max: home.max_message,
                        peer: home.address.clone(),
                    });
                }
                // What is longer than an address space, no pool has.
                let spent = home
                    .pool
                    .take(usize::try_from(length).unwrap_or(usize::MAX));
                let spent = spent.map_err(|source| crate::SendError::NoBuffer {
                    length,
                    peer: home.address.clone(),
                    source,
                })?;
                let mut filling = spent.filling();
                for segment in segments {
                    if !filling.extend(segment) {
                        unreachable!("the jbuf has room for all segments");
                    }
                }
                Ok(filling.finish())
            })
        });
        let filled = written.map_err(SendError::Write)?;
        filled.map(Self::message).map_err(SendError::Send)
    }

    /// How many bytes of jbufs it holds.
    #[inline]
    pub(super) fn length(&self) -> u64 {
        match &self.0 {
            Content::Plain(_) | Content::Value(_) => 0,
            Content::Object(received) => received.capacity() as u64,
            Content::Message(filled) => filled.len() as u64,
        }
    }

    /// The value, if one moves.
    pub(crate) fn as_value(&self) -> Option<&T> {
        match &self.0 {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value, if one moves.
    pub(crate) fn into_value(self) -> Option<T> {
        match self.0 {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The received object, if it is one.
    pub(crate) fn into_object(self) -> Option<Received<T>> {
        match self.0 {
            Content::Object(received) => Some(received),
            _ => None,
        }
    }

    /// The message, if it is one.
    pub(crate) fn into_message(self) -> Option<Filled> {
        match self.0 {
            Content::Message(filled) => Some(filled),
            _ => None,
        }
    }

    /// The object in a jbuf. Where there is none for it now, the parcel is left in `kept`.
    ///
    /// # Errors
    ///
    /// [`RecvError`].
    #[inline]
    pub(crate) fn received(
        self,
        home: &Home,
        kept: &mut Option<Self>,
    ) -> Result<Received<T>, RecvError> {
        let filled = match self.0 {
            Content::Object(received) => return Ok(received),
            Content::Plain(plain) => {
                let length = size_of::<T>();
                return match home.pool.take(length) {
                    Ok(spent) => match plain.place(spent) {
                        Ok(received) => Ok(received),
                        Err(_) => {
                            unreachable!("a jbuf of a pool has room for what it is taken for")
                        }
                    },
                    Err(source) => {
                        *kept = Some(Self(Content::Plain(plain)));
                        Err(no_room(home, length as u64, source))
                    }
                };
            }
            Content::Value(value) => {
                let writing = |writer: &mut jstream::Writer| writer.write_to(&value, &home.pool);
                match home.tools.with_writer(writing) {
                    Ok(filled) => filled,
                    Err(WriteError::Pool(source)) => {
                        *kept = Some(Self(Content::Value(value)));
                        return Err(no_room(home, size_of::<T>() as u64, source));
                    }
                    Err(source) => {
                        let peer = home.address.clone();
                        return Err(RecvError::Write { peer, source });
                    }
                }
            }
            Content::Message(filled) => filled,
        };
        let read = home.tools.with_reader(|reader| reader.read::<T>(filled));
        read.map_err(|failure| RecvError::Read {
            peer: home.address.clone(),
            source: Box::new(failure.error),
        })
    }

    /// The object itself, if it moved, else made again.
    ///
    /// # Errors
    ///
    /// As for [`received`](Self::received), and [`RecvError::Restore`].
    #[inline]
    pub(crate) fn owned(self, home: &Home, kept: &mut Option<Self>) -> Result<T, RecvError>
    where
        T: Restore,
    {
        match self.0 {
            Content::Value(value) => Ok(value),
            content => {
                let received = Self(content).received(home, kept)?;
                restored(&received, &home.address)
            }
        }
    }
}

/// An object made again of one in a jbuf.
pub(crate) fn restored<T: Restore + 'static>(
    received: &Received<T>,
    peer: &Address,
) -> Result<T, RecvError> {
    let made = received.with(|form| restore::<T>(form));
    made.map_err(|source| RecvError::Restore {
        peer: peer.clone(),
        source,
    })
}

fn no_room(home: &Home, length: u64, source: jstream::buffer::PoolError) -> RecvError {
    RecvError::NoRoom(crate::RecvError::NoBuffer {
        length,
        peer: home.address.clone(),
        source,
    })
}
