//! An object in the jbuf that it was received in.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::{Slot, Spent};
use crate::model::{Covariant, Transportable};
use crate::read::{Limits, Reader};
use crate::write::{Segments, Writer};

/// Owns a jbuf and the objects in it, which are ordinary Rust objects of type `T::InPlace`.
///
/// Dropping it gives the jbuf back; the objects never need dropping.
///
/// It is `Send` if `T::InPlace<'b>` is, and `Sync` if that is, for all lifetimes `'b`.
///
/// Invariant: `root` is a valid `T::InPlace<'_>` inside the slot, for as long as the slot lives and
/// whatever is done through the references handed out.
pub struct Received<T: Transportable + 'static> {
    slot: Slot,
    root: NonNull<T::InPlace<'static>>,
    wire: Wire,
    /// Neither `Send` nor `Sync` by itself; see below.
    of: PhantomData<*const T>,
}

/// What is known of the message that an object was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Nothing. Else its header stands at the slot's start, where nothing leads, and the object is its
    /// root.
    Unknown,
    /// Everything leads where it led when it was read.
    AsRead,
    /// Everything but the root does, which was copied as it was read behind the message.
    Kept,
    /// What leads where may have been changed.
    Changed,
}

// SAFETY: the slot is owned memory. The object in it may go to another thread when its form may,
// whatever the lifetime it is later handed out with.
unsafe impl<T> Send for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Send,
{
}

// SAFETY: a shared `Received` hands out shared references to the form only.
unsafe impl<T> Sync for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Sync,
{
}

impl<T: Transportable + 'static> Received<T> {
    /// # Safety
    ///
    /// `root` must be a valid object inside `slot` whose references all lead into the slot.
    #[inline]
    pub(crate) const unsafe fn new(slot: Slot, root: NonNull<T::InPlace<'static>>) -> Self {
        Self {
            slot,
            root,
            wire: Wire::Unknown,
            of: PhantomData,
        }
    }

    /// The same, with what is known of its message.
    ///
    /// # Safety
    ///
    /// It must be true.
    #[inline]
    pub(crate) unsafe fn with_wire(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    /// What is received where nothing is sent, if `T` is `()`: it takes no jbuf.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn nothing() -> Option<Self> {
        if TypeId::of::<T>() != TypeId::of::<()>() {
            return None;
        }
        let slot = Slot::nowhere();
        let root = slot.base().cast();
        // SAFETY: `T` is `()`, which is its own form in place. The start of a slot is not null, and aligned more than one
        // that has no bytes and no references: so it is there, however little room there is.
        Some(unsafe { Self::new(slot, root) })
    }

    /// What it is made of.
    pub(crate) fn into_parts(self) -> (Slot, NonNull<T::InPlace<'static>>, Wire) {
        (self.slot, self.root, self.wire)
    }

    /// The object again.
    ///
    /// # Safety
    ///
    /// The parts must be those of a `Received<T>`.
    pub(crate) unsafe fn from_parts(
        slot: Slot,
        root: NonNull<T::InPlace<'static>>,
        wire: Wire,
    ) -> Self {
        Self {
            slot,
            root,
            wire,
            of: PhantomData,
        }
    }

    /// What is known of the message.
    pub(crate) fn wire(&self) -> Wire {
        self.wire
    }

    /// Where the slot begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.slot.base()
    }

    /// The object.
    #[inline]
    #[must_use]
    pub fn get<'s>(&'s self) -> &'s T::InPlace<'s>
    where
        T: Covariant,
    {
        let root = self.root.as_ptr().cast_const().cast::<T::InPlace<'s>>();
        // SAFETY: the root is valid while the slot lives, which is longer than `'s`. Nobody can
        // store a shorter-lived reference in it, since its form is covariant.
        unsafe { &*root }
    }

    /// Visits the object with a lifetime that nothing else can name, as forms need that are not
    /// covariant: those with cells.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// use jstream::{Reader, Spent, Transportable, Writer};
    ///
    /// #[derive(Transportable)]
    /// struct Link<'b> {
    ///     value: u32,
    ///     next: Cell<Option<&'b Link<'b>>>,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let link = Link { value: 1, next: Cell::new(None) };
    /// link.next.set(Some(&link));
    /// let message = Writer::new().write(&link, Spent::heap(256))?;
    /// let received = Reader::default().read::<Link<'_>>(message)?;
    /// let next = received.with(|link| link.next.get().map(|next| next.value));
    /// assert_eq!(next, Some(1));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        // SAFETY: the root is valid while the slot lives, which is longer than this call. That the
        // visitor is called with a lifetime without end it can't observe: it is generic in that
        // lifetime, and `R` does not mention it, so it can neither keep a reference nor store one.
        visit(unsafe { self.root.as_ref() })
    }

    /// Visits the object to change what lies in it: values that stand in the root, and slices behind
    /// `&'b mut [T]`. Everything else is reached by shared references. Functions that verified the
    /// object are not asked again.
    ///
    /// The form must be `Sync`: then no cell leads back to the root, behind a trait object neither. A
    /// trait whose objects are in the graph must have `Sync` as a supertrait.
    ///
    /// ```
    /// use jstream::{Reader, Spent, Transportable, Writer};
    ///
    /// #[derive(Transportable)]
    /// struct Column<'b> {
    ///     scale: f64,
    ///     values: &'b mut [f64],
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let column = Column { scale: 2.0, values: &mut [1.0, 2.0] };
    /// let message = Writer::new().write(&column, Spent::heap(256))?;
    /// let mut received = Reader::default().read::<Column<'_>>(message)?;
    /// received.with_mut(|column| {
    ///     for value in column.values.iter_mut() {
    ///         *value *= column.scale;
    ///     }
    /// });
    /// assert_eq!(received.get().values, [2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn with_mut<R>(&mut self, visit: impl for<'x, 'y> FnOnce(&'y mut T::InPlace<'x>) -> R) -> R
    where
        T: Covariant,
        for<'x> T::InPlace<'x>: Sync,
    {
        if self.wire == Wire::AsRead {
            self.wire = if self.keep_root() {
                Wire::Kept
            } else {
                Wire::Changed
            };
        }
        // SAFETY: as for `with`; and nothing else leads to the root, or to a slice that it has
        // exclusively. Only a pointer in a `Cell` may lead back to what holds it: a message in which
        // an object is reached from itself without one was refused. A form that is `Sync` reaches no
        // such `Cell`, not through a trait object either. The visitor can't store a reference to what
        // it may change: that is borrowed for `'y`, which may be shorter than the `'x` of all that
        // can be stored, and as the form is covariant, it can't have stored one before.
        visit(unsafe { self.root.as_mut() })
    }

    /// Copies the root behind the message, to be compared with when it has been changed; false if that
    /// is not worth it, or there is no room.
    fn keep_root(&mut self) -> bool {
        // SAFETY: `wire` says that the header is there.
        let segments = unsafe { Segments::of(self.slot.base()) };
        let Some(place) = segments.kept::<T::InPlace<'static>>(self.slot.capacity()) else {
            return false;
        };
        // SAFETY: the place is inside the slot, aligned, and behind all that the root leads to, the
        // root included. Nobody uses the copy as a value.
        unsafe { std::ptr::copy_nonoverlapping(self.root.as_ptr().cast_const(), place, 1) };
        true
    }

    /// A part of the object, which keeps the whole jbuf.
    ///
    /// ```
    /// use jstream::{Reader, Spent, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pair = ("name".to_owned(), vec![1u64, 2, 3]);
    /// let received =
    ///     Reader::default().read::<(String, Vec<u64>)>(Writer::new().write(&pair, Spent::heap(256))?)?;
    /// let numbers = received.map::<Vec<u64>>(|(_, numbers)| numbers);
    /// let clone = numbers.clone();
    /// assert_eq!(clone.get(), &[1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn map<P: Transportable + 'static>(
        self,
        part: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> &'x P::InPlace<'x>,
    ) -> Part<P> {
        self.share().map(part)
    }

    /// The object as one that many may have. It can't be changed any more. Allocates a few words.
    #[must_use]
    pub fn share(self) -> Part<T> {
        Part {
            root: self.root,
            slot: Arc::new(self.slot),
            of: PhantomData,
        }
    }

    /// Copies the object to a jbuf of its own size on the heap, and gives back the one it was
    /// received in: a pool gets its memory although the object is kept.
    ///
    /// # Errors
    ///
    /// An [`Undetached`] with the object where it was, when a function that verifies it, or an
    /// adapter, now refuses what it accepted before (the object may have been changed), or a segment
    /// of the copy would have more than 4 GiB.
    pub fn detach(self) -> Result<(Self, Spent), Undetached<T>>
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        match self.copy() {
            Ok(copy) => Ok((copy, self.into_spent())),
            Err(error) => Err(Undetached {
                error,
                received: self,
            }),
        }
    }

    fn copy(&self) -> Result<Self, Box<dyn Error + Send + Sync>>
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        let message =
            self.with(|object| Writer::new().write_by(object, |len| Ok(Spent::heap(len))))?;
        // It was accepted by limits before.
        let limits = Limits {
            bytes: usize::MAX,
            zero_sized: usize::MAX,
            depth: None,
            pending: usize::MAX,
            shared: usize::MAX,
        };
        let read = Reader::new(limits).read::<T>(message);
        read.map_err(|failure| failure.error.into())
    }

    /// The length of the jbuf in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Gives the jbuf back for another use.
    #[must_use]
    pub fn into_spent(self) -> Spent {
        Spent::from_slot(self.slot)
    }
}

impl<T> fmt::Debug for Received<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|object| f.debug_tuple("Received").field(object).finish())
    }
}

/// An object that was not detached, where it was.
#[non_exhaustive]
pub struct Undetached<T: Transportable + 'static> {
    /// What prevented it.
    pub error: Box<dyn Error + Send + Sync>,
    /// The object.
    pub received: Received<T>,
}

impl<T: Transportable + 'static> fmt::Debug for Undetached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undetached")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T: Transportable + 'static> fmt::Display for Undetached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for Undetached<T> {}

/// An object in a received graph, together with the jbuf that holds all of it.
///
/// Cloning it takes no copy; the last one gives the jbuf back.
///
/// It is `Send` and `Sync` if `T::InPlace<'b>` is both, for all lifetimes `'b`: clones on several threads
/// refer to one object.
///
/// Invariant: `root` is a valid `T::InPlace<'_>` for as long as the slot lives, to which nothing
/// writes but through cells.
pub struct Part<T: Transportable + 'static> {
    slot: Arc<Slot>,
    root: NonNull<T::InPlace<'static>>,
    /// Neither `Send` nor `Sync` by itself; see below.
    of: PhantomData<*const T>,
}

// SAFETY: clones of it refer to one object from several threads, and the last of them drops the
// slot, which is owned memory.
unsafe impl<T> Send for Part<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Send + Sync,
{
}

// SAFETY: as above.
unsafe impl<T> Sync for Part<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Send + Sync,
{
}

impl<T: Transportable + 'static> Part<T> {
    /// The object.
    #[inline]
    #[must_use]
    pub fn get<'s>(&'s self) -> &'s T::InPlace<'s>
    where
        T: Covariant,
    {
        let root = self.root.as_ptr().cast_const().cast::<T::InPlace<'s>>();
        // SAFETY: as for `Received::get`.
        unsafe { &*root }
    }

    /// Visits the object with a lifetime that nothing else can name.
    #[inline]
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        // SAFETY: as for `Received::with`.
        visit(unsafe { self.root.as_ref() })
    }

    /// A part of the part.
    #[must_use]
    pub fn map<P: Transportable + 'static>(
        self,
        part: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> &'x P::InPlace<'x>,
    ) -> Part<P> {
        // What the function returns is good for any lifetime in which the graph is: it may lead into
        // the graph, or to what lives for ever.
        let root = self.with(|object| NonNull::from(part(object)).cast::<P::InPlace<'static>>());
        Part {
            slot: self.slot,
            root,
            of: PhantomData,
        }
    }
}

impl<T: Transportable + 'static> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self {
            slot: self.slot.clone(),
            root: self.root,
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Part<T>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|object| f.debug_tuple("Part").field(object).finish())
    }
}
