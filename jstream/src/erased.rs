//! An object in place whose type is known only to those who ask for it.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::ptr::NonNull;

use crate::buffer::{Pool, Slot};
use crate::model::Transportable;
use crate::received::{Received, Wire};
use crate::write::{ForwardFailure, ForwardedMessage, WriteError, Writer};

/// A [`Received`] that has forgotten its type, to be handed to somebody who knows it, on whatever thread:
/// O(1) both ways. Somebody who expects another type makes it a message again, and reads that.
///
/// ```
/// use jstream::{Erased, Reader, Spent, Writer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut writer = Writer::new();
/// let message = writer.write(&vec![1u64, 2, 3], Spent::heap(256))?;
/// let erased = Erased::new(Reader::default().read::<Vec<u64>>(message)?);
///
/// let erased = erased.downcast::<String>().unwrap_err();
/// assert_eq!(erased.downcast::<Vec<u64>>().unwrap().get(), &[1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// What may not go to another thread can't be erased:
///
/// ```compile_fail,E0277
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use jstream::{Erased, Reader, Spent, Transportable, Writer};
///
/// #[derive(Transportable)]
/// struct Link<'b> {
///     next: std::cell::Cell<Option<&'b Link<'b>>>,
/// }
///
/// let message = Writer::new().write(&Link { next: None.into() }, Spent::heap(256))?;
/// let received = Reader::default().read::<Link<'_>>(message)?;
/// Erased::new(received);
/// # Ok(())
/// # }
/// ```
pub struct Erased {
    slot: Slot,
    root: NonNull<()>,
    wire: Wire,
    /// Of the `T` of the `Received<T>` whose parts these are.
    kind: &'static TypeFacts,
}

/// What is known of a type when it is forgotten.
struct TypeFacts {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    /// Of an object that is of this type.
    forward: fn(Erased, &mut Writer, &Pool) -> Result<ForwardedMessage, UnforwardedErased>,
}

/// Has the `TypeFacts` of `T`.
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

// SAFETY: it is made of a `Received` that is `Send`, and what it does with that, as giving it back, may
// be done on any thread.
unsafe impl Send for Erased {}

impl Erased {
    /// Forgets the type of a received object.
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

    /// The object again, if it is of the type that it was.
    ///
    /// # Errors
    ///
    /// Itself, when its type is another.
    pub fn downcast<T: Transportable + 'static>(self) -> Result<Received<T>, Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        // SAFETY: these are the parts of a `Received<T>`.
        Ok(unsafe { Received::from_parts(self.slot, self.root.cast(), self.wire) })
    }

    /// Whether it is a `T`.
    #[must_use]
    pub fn is<T: Transportable + 'static>(&self) -> bool {
        (self.kind.type_id)() == TypeId::of::<T>()
    }

    /// The name of its type, for people.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.kind.type_name)()
    }

    /// The length of its jbuf in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Makes it a message again, as [`Writer::forward_to`] does with the object: in its own jbuf where
    /// that can be done, else in one of `pool`.
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
    /// // Who expects something else with the same schema gets it.
    /// let message = erased.forward(&mut writer, &pool)?.message;
    /// assert_eq!(*reader.read::<&str>(message)?.get(), "text");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An [`UnforwardedErased`] for the reasons of [`Writer::forward_to`].
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

/// An object of forgotten type that was not made a message.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnforwardedErased {
    /// What prevented it.
    pub error: WriteError,
    /// The object, as it was; `None` with [`WriteError::Displaced`] alone.
    pub object: Option<Erased>,
}

impl fmt::Display for UnforwardedErased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for UnforwardedErased {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
