//! Objects in transit between threads.

use jstream::buffer::{MessageBuffer, Pool};
use jstream::{Plain, Received, Restore, Transportable, WriteError, restore};

use crate::error::{RecvError, SendError};
use jstream_base::Address;
use jstream_base::Options;
use jstream_endpoint::codec_cache::CodecCache;

/// An object in transit to another thread.
///
/// Invariant: the content is a value or a received object only if that type is `Send`.
pub(crate) struct Parcel<T: Transportable + 'static>(Content<T>);

enum Content<T: Transportable + 'static> {
    /// The bytes of a borrowed value.
    Plain(Plain<T>),
    /// An owned value.
    Value(T),
    /// A received object that is forwarded.
    Object(Received<T>),
    /// A borrowed value in serialized form, and the number of bytes of descriptions behind it,
    /// which only receivers of other processes need.
    Message(MessageBuffer, usize),
}

// SAFETY: only `value` and `object` create a parcel from content that is not `Send` for all `T`,
// and they require that the content is `Send`. Messages and plain bytes are always `Send`.
unsafe impl<T: Transportable + 'static> Send for Parcel<T> {}

/// Settings of the receiver that a sender needs.
pub(crate) struct Home {
    pub(super) address: Address,
    pool: Pool,
    max_message: u64,
    codecs: CodecCache,
}

impl Home {
    pub(super) fn new(address: Address, options: &Options) -> Self {
        Self {
            address,
            pool: options.pool.clone(),
            max_message: options.max_message,
            codecs: CodecCache::default(),
        }
    }
}

impl<T: Transportable + 'static> Parcel<T> {
    /// Wraps an owned value.
    #[inline]
    pub(crate) fn value(value: T) -> Self
    where
        T: Send,
    {
        Self(Content::Value(value))
    }

    /// Wraps a received object.
    #[inline]
    pub(crate) fn object(received: Received<T>) -> Self
    where
        Received<T>: Send,
    {
        Self(Content::Object(received))
    }

    /// Wraps a serialized object, behind which so many bytes of descriptions follow.
    pub(crate) fn message(filled: MessageBuffer, description_bytes: usize) -> Self {
        Self(Content::Message(filled, description_bytes))
    }

    /// Copies a borrowed object. Unless it is plain data, it is serialized to a buffer of the
    /// receiver's pool.
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

    /// Serializes a borrowed object to a buffer of the receiver's pool.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub(crate) fn written(object: &T, home: &Home) -> Result<Self, SendError> {
        let written = home.codecs.writers.with(|writer| {
            writer.gather(object, |segments| {
                let length = segments.iter().map(|segment| segment.len() as u64);
                let length = length.fold(0, u64::saturating_add);
                if length > home.max_message {
                    return Err(jstream_base::SendError::TooLarge {
                        length,
                        max: home.max_message,
                        peer: home.address.clone(),
                    });
                }
                // If the length exceeds the address space, no pool has room for it.
                let empty = home
                    .pool
                    .take(usize::try_from(length).unwrap_or(usize::MAX));
                let empty = empty.map_err(|source| jstream_base::SendError::NoBuffer {
                    length,
                    peer: home.address.clone(),
                    source,
                })?;
                let mut filling = empty.writer();
                for segment in segments {
                    if !filling.extend(segment) {
                        unreachable!("the buffer has room for all segments");
                    }
                }
                Ok(filling.finish())
            })
        });
        let filled = written.map_err(SendError::Write)?;
        filled
            .map(|filled| Self::message(filled, 0))
            .map_err(SendError::Send)
    }

    /// Returns the number of bytes of buffers that the parcel holds.
    #[inline]
    pub(super) fn length(&self) -> u64 {
        match &self.0 {
            Content::Plain(_) | Content::Value(_) => 0,
            Content::Object(received) => received.capacity() as u64,
            Content::Message(filled, _) => filled.len() as u64,
        }
    }

    /// Returns a reference to the value if the parcel holds an owned value.
    pub(crate) fn as_value(&self) -> Option<&T> {
        match &self.0 {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value if the parcel holds an owned value.
    pub(crate) fn into_value(self) -> Option<T> {
        match self.0 {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the received object if the parcel holds one.
    pub(crate) fn into_object(self) -> Option<Received<T>> {
        match self.0 {
            Content::Object(received) => Some(received),
            _ => None,
        }
    }

    /// Returns the message if the parcel holds one, and the number of bytes of descriptions.
    pub(crate) fn into_message(self) -> Option<(MessageBuffer, usize)> {
        match self.0 {
            Content::Message(filled, description_bytes) => Some((filled, description_bytes)),
            _ => None,
        }
    }

    /// Returns the object in a buffer. If the pool has no room, the parcel is left in `kept`.
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
                    Ok(empty) => match plain.place(empty) {
                        Ok(received) => Ok(received),
                        Err(_) => {
                            unreachable!("a buffer of the pool has the requested capacity")
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
                match home.codecs.writers.with(writing) {
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
            Content::Message(mut filled, description_bytes) => {
                filled.truncate(filled.len().saturating_sub(description_bytes));
                filled
            }
        };
        let read = home.codecs.readers.with(|reader| reader.read::<T>(filled));
        read.map_err(|failure| RecvError::Read {
            peer: home.address.clone(),
            source: Box::new(failure.error),
        })
    }

    /// Returns the object by value: the moved object itself, or one created from the received
    /// bytes.
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

/// Creates an owned object from a received one.
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
    RecvError::NoRoom(jstream_base::RecvError::NoBuffer {
        length,
        peer: home.address.clone(),
        source,
    })
}
