//! Received objects whose type is erased.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::ptr::NonNull;

use crate::buffer::{Pool, Slot};
use crate::model::Transportable;
use crate::received::{Received, Wire};
use crate::write::{ForwardFailure, ForwardedMessage, WriteError, Writer};

/// A [`Received`] object whose type has been erased, so that it can be passed to code that knows
/// the type, on any thread. Erasing and downcasting take O(1). Code that expects another type
/// converts the object back to a message and reads the message.
///
/// ```
/// use jstream::{EmptyBuffer, Erased, Reader, Writer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut writer = Writer::new();
/// let message = writer.write(&vec![1u64, 2, 3], EmptyBuffer::heap(256))?;
/// let erased = Erased::new(Reader::default().read::<Vec<u64>>(message)?);
///
/// let erased = erased.downcast::<String>().unwrap_err();
/// assert_eq!(erased.downcast::<Vec<u64>>().unwrap().get(), &[1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// An object that must not move to another thread cannot be erased:
///
/// ```compile_fail,E0277
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use jstream::{EmptyBuffer, Erased, Reader, Transportable, Writer};
///
/// #[derive(Transportable)]
/// struct Link<'b> {
///     next: std::cell::Cell<Option<&'b Link<'b>>>,
/// }
///
/// let message = Writer::new().write(&Link { next: None.into() }, EmptyBuffer::heap(256))?;
/// let received = Reader::default().read::<Link<'_>>(message)?;
/// Erased::new(received);
/// # Ok(())
/// # }
/// ```
pub struct Erased {
    slot: Slot,
    root: NonNull<()>,
    wire: Wire,
    /// The information about `T`, if the other fields are the parts of a `Received<T>`.
    kind: &'static TypeFacts,
}

/// The information about a type that remains after the type has been erased.
struct TypeFacts {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    /// Forwards an object, which must be of this type.
    forward: fn(Erased, &mut Writer, &Pool) -> Result<ForwardedMessage, UnforwardedErased>,
}

/// Provides the `TypeFacts` of `T`.
struct KindOf<T>(T);

impl<T> KindOf<T>
where
    T: Transportable + 'static,
    Received<T>: Send,
    for<'x> T::InPlace<'x>: Transportable,
{
    const KIND: TypeFacts = TypeFacts {
        type_id: TypeId::of::<T>,
        type_name: std::any::type_name::<T>,
        forward: |erased, writer, pool| {
            let received = match erased.downcast::<T>() {
                Ok(received) => received,
                Err(erased) => unreachable!("it is a {}", erased.type_name()),
            };
            writer
                .forward_to(received, pool)
                .map_err(|ForwardFailure { error, received }| UnforwardedErased {
                    error,
                    object: received.map(Erased::new),
                })
        },
    };
}

// SAFETY: an `Erased` is only made of a `Received` that is `Send`. Its own operations on the parts,
// such as returning the buffer, may run on any thread.
unsafe impl Send for Erased {}

impl Erased {
    /// Erases the type of a received object.
    #[must_use]
    pub fn new<T>(received: Received<T>) -> Self
    where
        T: Transportable + 'static,
        Received<T>: Send,
        for<'x> T::InPlace<'x>: Transportable,
    {
        let (slot, root, wire) = received.into_parts();
        Self {
            slot,
            root: root.cast(),
            wire,
            kind: &KindOf::<T>::KIND,
        }
    }

    /// Returns the object with its type, if that type is `T`.
    ///
    /// # Errors
    ///
    /// Returns the erased object if its type is not `T`.
    pub fn downcast<T: Transportable + 'static>(self) -> Result<Received<T>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: these are the parts of a `Received<T>`.
        Ok(unsafe { Received::from_parts(self.slot, self.root.cast(), self.wire) })
    }

    /// Returns true if the type of the object is `T`.
    #[must_use]
    pub fn is<T: Transportable + 'static>(&self) -> bool {
        (self.kind.type_id)() == TypeId::of::<T>()
    }

    /// Returns the name of the type, for diagnostics.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.kind.type_name)()
    }

    /// Returns the capacity of the buffer in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Converts the object back to a message, as [`Writer::forward_to`] does: in its own buffer if
    /// possible, otherwise in a buffer of `pool`.
    ///
    /// ```
    /// use jstream::buffer::Pool;
    /// use jstream::{Erased, Reader, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut writer, mut reader) = (Writer::new(), Reader::default());
    /// let pool = Pool::default();
    /// let message = writer.write(&"text".to_owned(), pool.take(256)?)?;
    /// let erased = Erased::new(reader.read::<String>(message)?);
    /// // Code that expects another type with the same schema can read the message.
    /// let message = erased.forward(&mut writer, &pool)?.message;
    /// assert_eq!(*reader.read::<&str>(message)?.get(), "text");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`UnforwardedErased`] for the reasons that [`Writer::forward_to`] lists.
    pub fn forward(
        self,
        writer: &mut Writer,
        pool: &Pool,
    ) -> Result<ForwardedMessage, UnforwardedErased> {
        (self.kind.forward)(self, writer, pool)
    }
}

impl fmt::Debug for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Erased").field(&self.type_name()).finish()
    }
}

/// An erased object that could not be converted to a message.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct UnforwardedErased {
    /// The reason.
    pub error: WriteError,
    /// The unchanged object. `None` only with [`WriteError::Displaced`].
    pub object: Option<Erased>,
}

impl fmt::Display for UnforwardedErased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for UnforwardedErased {}
