//! An object in the buffer that it was received in.
//!
//! Decision 045 has the reasons.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::{EmptyBuffer, Slot};
use crate::model::{Covariant, Transportable};
use crate::restore::{Restore, RestoreError, restore};
use crate::write::Segments;

/// Owns a buffer and the objects in it, which are ordinary Rust objects of type `T::InPlace`.
///
/// Dropping it returns the buffer to its origin. The objects never need dropping.
///
/// `Received` is `Send` if `T::InPlace<'b>` is `Send`, and `Sync` if `T::InPlace<'b>` is `Sync`,
/// for all lifetimes `'b`.
///
/// Invariant: the root is a valid `T::InPlace<'_>` inside the slot as long as the slot lives,
/// whatever the program does through the references that it gets.
pub struct Received<T: Transportable + 'static> {
    slot: Slot,
    position: RootPosition,
    /// Invariant in the form, and neither `Send` nor `Sync` by itself. The implementations below
    /// decide.
    of: PhantomData<(*const T, NonNull<T::InPlace<'static>>)>,
}

/// The offset of the root from the start of the slot. The two lowest bits are the state of the
/// message, and the third one is set if the message was converted.
///
/// A single word, because a handle is moved soon after it was made. A wide load that spans two
/// recent stores would stall until both have reached the cache.
#[derive(Clone, Copy)]
struct RootPosition(usize);

impl RootPosition {
    /// Number of bits below the offset.
    const FLAGS: u32 = 3;
    const CONVERTED: usize = 4;

    #[inline(always)]
    const fn new(offset: usize, wire: Wire) -> Self {
        assert!(offset <= usize::MAX >> Self::FLAGS, "no slot is that long");
        Self(offset << Self::FLAGS | wire as usize)
    }

    #[inline(always)]
    const fn offset(self) -> usize {
        self.0 >> Self::FLAGS
    }

    #[inline(always)]
    const fn wire(self) -> Wire {
        match self.0 & 3 {
            0 => Wire::Unknown,
            1 => Wire::AsRead,
            2 => Wire::Kept,
            _ => Wire::Changed,
        }
    }
}

/// The state of the message that an object was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The message is not known. In all other states, the header of the message lies at the start
    /// of the slot, where no pointer leads, and the object is the root of that message.
    Unknown,
    /// All pointers are as they were read.
    AsRead,
    /// All pointers outside the root are as they were read. A copy of the root as it was read lies
    /// behind the message.
    Kept,
    /// Pointers may have been changed.
    Changed,
}

// SAFETY: the slot is owned memory. The object in it may move to another thread if its form may,
// for every lifetime with which the form is handed out later.
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
    /// Returns the object `root`, of whose message nothing is known.
    ///
    /// # Safety
    ///
    /// `root` must be a valid object inside `slot` whose references all lead into the slot.
    #[inline]
    pub(crate) unsafe fn new(slot: Slot, root: NonNull<T::InPlace<'static>>) -> Self {
        // SAFETY: the caller's promise is passed on. In the state `Unknown`, nothing is claimed.
        unsafe { Self::from_parts(slot, root, Wire::Unknown) }
    }

    /// Returns the object at this offset of `slot`.
    ///
    /// # Safety
    ///
    /// There must be a valid object whose references all lead into the slot. Its message must be in
    /// the state `wire`.
    #[inline]
    pub(crate) unsafe fn at_offset(slot: Slot, offset: usize, wire: Wire) -> Self {
        Self {
            slot,
            position: RootPosition::new(offset, wire),
            of: PhantomData,
        }
    }

    /// Returns true if the object came as a message of another version of the type, which was
    /// converted: see [`evolve`](crate::evolve).
    #[cfg(feature = "evolve")]
    #[must_use]
    pub fn is_converted(&self) -> bool {
        self.position.0 & RootPosition::CONVERTED != 0
    }

    /// Marks the object as converted.
    #[cfg(feature = "evolve")]
    pub(crate) fn mark_converted(mut self) -> Self {
        self.position.0 |= RootPosition::CONVERTED;
        self
    }

    /// Returns the value that a receiver gets if no message is sent, for `T` = `()`. It needs no
    /// buffer. Returns `None` for any other `T`.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn nothing() -> Option<Self> {
        if TypeId::of::<T>() != TypeId::of::<()>() {
            return None;
        }
        let slot = Slot::nowhere();
        let root = slot.base().cast();
        // SAFETY: `T` is `()`, which is its own in-place form. It has no bytes and no references.
        // The start of a slot is not null and sufficiently aligned, so it is a valid address of a
        // `()` even in a slot without memory.
        Some(unsafe { Self::new(slot, root) })
    }

    /// Takes the object apart.
    pub(crate) fn into_parts(self) -> (Slot, NonNull<T::InPlace<'static>>, Wire) {
        let (root, wire) = (self.root(), self.wire());
        (self.slot, root, wire)
    }

    /// Rebuilds the object from its parts.
    ///
    /// # Safety
    ///
    /// The parts must be those of a `Received<T>`.
    #[inline]
    pub(crate) unsafe fn from_parts(
        slot: Slot,
        root: NonNull<T::InPlace<'static>>,
        wire: Wire,
    ) -> Self {
        let offset = root.addr().get().wrapping_sub(slot.base().addr().get());
        // SAFETY: the caller's promise is passed on.
        unsafe { Self::at_offset(slot, offset, wire) }
    }

    /// Returns the state of the message.
    #[inline]
    pub(crate) fn wire(&self) -> Wire {
        self.position.wire()
    }

    /// Returns the root.
    #[inline(always)]
    fn root(&self) -> NonNull<T::InPlace<'static>> {
        // SAFETY: every constructor is given a root inside the memory of its slot, and keeps the
        // offset from `base`, the start of that memory. The start does not change.
        unsafe { self.slot.base().add(self.position.offset()) }.cast()
    }

    /// Returns the start of the slot.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.slot.base()
    }

    /// Returns the object.
    #[inline]
    #[must_use]
    pub fn get<'s>(&'s self) -> &'s T::InPlace<'s>
    where
        T: Covariant,
    {
        let root = self.root().as_ptr().cast_const().cast::<T::InPlace<'s>>();
        // SAFETY: the root is valid while the slot lives, which is longer than `'s`. No code can
        // store a shorter-lived reference in the root, because the form is covariant.
        unsafe { &*root }
    }

    /// Calls `visit` with the object, under a lifetime that no other code can name. Forms that are
    /// not covariant need this: those with cells.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
    /// let message = Writer::new().write(&link, EmptyBuffer::heap(256))?;
    /// let received = Reader::default().read::<Link<'_>>(message)?;
    /// let next = received.with(|link| link.next.get().map(|next| next.value));
    /// assert_eq!(next, Some(1));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        // SAFETY: the root is valid while the slot lives, which is longer than this call. The
        // visitor cannot observe that it is called with an unbounded lifetime: it is generic in
        // that lifetime and `R` does not mention it, so it can neither keep a reference nor store
        // one.
        visit(unsafe { self.root().as_ref() })
    }

    /// Calls `visit` with exclusive access to the object. The visitor can change values stored in
    /// the root, and slices behind `&'b mut [T]`. It reaches everything else through shared
    /// references. Functions that verified the object when it was read are not called again.
    ///
    /// The form must be `Sync`. This guarantees that no cell leads back to the root, even behind a
    /// trait object: a trait whose objects are in the graph must have `Sync` as a supertrait.
    ///
    /// ```
    /// use jstream::{EmptyBuffer, Reader, Transportable, Writer};
    ///
    /// #[derive(Transportable)]
    /// struct Column<'b> {
    ///     scale: f64,
    ///     values: &'b mut [f64],
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let column = Column { scale: 2.0, values: &mut [1.0, 2.0] };
    /// let message = Writer::new().write(&column, EmptyBuffer::heap(256))?;
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
        if self.wire() == Wire::AsRead {
            let wire = if self.keep_root() {
                Wire::Kept
            } else {
                Wire::Changed
            };
            let converted = self.position.0 & RootPosition::CONVERTED;
            self.position = RootPosition::new(self.position.offset(), wire);
            self.position.0 |= converted;
        }
        // SAFETY: as for `with`. In addition, nothing else leads to the root, or to a slice that
        // the root refers to exclusively. Only a pointer in a `Cell` can lead back to the object
        // that holds it: the reader refuses a message in which an object is reachable from itself
        // without a `Cell`. A form that is `Sync` reaches no such `Cell`, even through a trait
        // object. The visitor cannot store a reference to anything that it may change: such a
        // reference is borrowed for `'y`, which may be shorter than the `'x` of everything that can
        // be stored. As the form is covariant, an earlier visitor cannot have stored one either.
        visit(unsafe { self.root().as_mut() })
    }

    /// Copies the root behind the message, so that it can be compared with the root after a change.
    /// Returns false if the root is too large to be worth a copy, or if the buffer has no room.
    fn keep_root(&mut self) -> bool {
        // SAFETY: `wire` states that the header is there.
        let segments = unsafe { Segments::from_base(self.slot.base()) };
        let Some(place) = segments.kept::<T::InPlace<'static>>(self.slot.capacity()) else {
            return false;
        };
        // SAFETY: the place is inside the slot, aligned, and behind the root and everything that
        // the root refers to. The copy is never used as a value.
        unsafe { std::ptr::copy_nonoverlapping(self.root().as_ptr().cast_const(), place, 1) };
        true
    }

    /// Returns a part of the object. The part keeps the whole buffer alive.
    ///
    /// ```
    /// use jstream::{EmptyBuffer, Reader, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pair = ("name".to_owned(), vec![1u64, 2, 3]);
    /// let received =
    ///     Reader::default().read::<(String, Vec<u64>)>(Writer::new().write(&pair, EmptyBuffer::heap(256))?)?;
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

    /// Converts the object to one with shared ownership, which can no longer be changed. Allocates
    /// a few words.
    #[must_use]
    pub fn share(self) -> Part<T> {
        Part {
            root: self.root(),
            slot: Arc::new(self.slot),
            of: PhantomData,
        }
    }

    /// Returns the value that owns its parts, made from copies of all parts of the object.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let bytes = jstream::to_vec(&vec!["once".to_owned(), "upon".to_owned()])?;
    /// let received = jstream::from_slice::<Vec<String>>(&bytes)?;
    /// let words: Vec<String> = received.to_owned()?;
    /// assert_eq!(words, ["once", "upon"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`restore`](crate::restore()).
    pub fn to_owned(&self) -> Result<T, RestoreError>
    where
        T: Restore,
    {
        self.with(|object| restore::<T>(object))
    }

    /// Returns the capacity of the buffer in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Returns the buffer for another use.
    #[must_use]
    pub fn into_empty(self) -> EmptyBuffer {
        EmptyBuffer::from_slot(self.slot)
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

/// An object in a received graph, with shared ownership of the buffer that holds the graph.
///
/// Cloning copies no data. Dropping the last clone returns the buffer to its origin.
///
/// `Part` is `Send` and `Sync` if `T::InPlace<'b>` is both, for all lifetimes `'b`, because clones
/// on several threads refer to the same object.
///
/// Invariant: `root` is a valid `T::InPlace<'_>` as long as the slot lives. The slot is written to
/// only through cells.
pub struct Part<T: Transportable + 'static> {
    slot: Arc<Slot>,
    root: NonNull<T::InPlace<'static>>,
    /// Neither `Send` nor `Sync` by itself. The implementations below decide.
    of: PhantomData<*const T>,
}

// SAFETY: clones refer to one object from several threads, which `Sync` allows. The last of them
// drops the slot, which is owned memory.
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
    /// Returns the object.
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

    /// Calls `visit` with the object, under a lifetime that no other code can name.
    #[inline]
    pub fn with<R>(&self, visit: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> R) -> R {
        // SAFETY: as for `Received::with`.
        visit(unsafe { self.root.as_ref() })
    }

    /// Returns a part of this part.
    #[must_use]
    pub fn map<P: Transportable + 'static>(
        self,
        part: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> &'x P::InPlace<'x>,
    ) -> Part<P> {
        // The returned reference is valid for any lifetime for which the graph is valid: it leads
        // into the graph, or to a static value.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_the_offset_and_the_state() {
        for wire in [Wire::Unknown, Wire::AsRead, Wire::Kept, Wire::Changed] {
            for offset in [0, 1, 48, usize::MAX >> RootPosition::FLAGS] {
                let position = RootPosition::new(offset, wire);
                assert_eq!((position.offset(), position.wire()), (offset, wire));
            }
        }
    }

    #[test]
    #[should_panic(expected = "no slot is that long")]
    fn an_offset_that_has_no_room_is_refused() {
        RootPosition::new((usize::MAX >> RootPosition::FLAGS) + 1, Wire::Unknown);
    }
}
