//! Pointers that preserve the identity of their targets: `Rc`, `Arc`, [`Shared`], and references in
//! a `Cell`. Only the latter may form a cycle.
//!
//! Decision 051 has the reasons.

use std::cell::Cell;
use std::mem::size_of;
use std::rc::Rc;
use std::sync::Arc;

use crate::entry_points::EntryPoint;
use crate::impls::reference::{pointer_to, words, write_words};
use crate::model::{Covariant, CovariantTarget, InPlace, Pointee, Shape, Target, Transportable};
use crate::read::{Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex, TypeKey};
use crate::shared::Shared;
use crate::write::Draft;

macro_rules! shared {
    (
        [$($generics:tt)*] $pointer:ty, $target:ty, |$value:ident, $draft:ident| $only:expr
        $(, $back:item, $option_back:item)?
    ) => {
        // SAFETY: the target is written once, and further pointers to it are written as its number,
        // which is how they are read.
        unsafe impl<$($generics)*> Transportable for $pointer {
            type InPlace<'b> = Shared<'b, <$target as Target>::InPlace<'b>> where Self: 'b;
            const WIRE_IS_MEMORY: bool = false;
            const ENTRY_POINT: EntryPoint = <$target as Target>::ENTRY_POINT;

            #[inline]
            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
                let ($value, $draft) = (self, &mut *draft);
                let only = $only;
                let target: &'b $target = self;
                let words = draft.shared(target, only);
                // SAFETY: the caller's promise is passed on; the slot is that of a reference.
                unsafe { write_words::<<$target as Target>::InPlace<'b>>(slot.cast(), words) };
            }

            #[inline]
            unsafe fn write_option<'b>(
                value: &'b Option<Self>,
                slot: *mut Option<Self::InPlace<'b>>,
                draft: &mut Draft<'b>,
            ) {
                match value {
                    // SAFETY: the caller's promise; an optional reference has the layout of a
                    // reference.
                    Some(value) => unsafe { value.write(slot.cast(), draft) },
                    // SAFETY: as above.
                    None => unsafe {
                        write_words::<<$target as Target>::InPlace<'b>>(slot.cast(), [0; 2]);
                    },
                }
            }

            $($back $option_back)?
        }
    };
}

// A pointer with a count of one is the only owner of its target.
shared!([T: Target + ?Sized] Rc<T>, T, |value, _draft| Rc::strong_count(value) == 1);
shared!([T: Target + ?Sized] Arc<T>, T, |value, _draft| Arc::strong_count(value) == 1);
shared!(
    [T: Target + ?Sized] Shared<'_, T>, T, |_value, draft| {
        draft.borrow();
        false
    },
    #[inline]
    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value.
        let target: &'b T = unsafe { place.read() }.get();
        let words = draft.claim_shared(target);
        if draft.commits() {
            // SAFETY: the place is that of a reference to `T`.
            unsafe { write_words::<T>(place.cast(), words) };
        }
    },
    #[inline]
    unsafe fn write_option_back<'b>(place: *mut Option<Self>, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value.
        let target: Option<Shared<'b, T>> = unsafe { place.read() };
        let words = target.map_or([0; 2], |target| draft.claim_shared(target.get()));
        if draft.commits() {
            // SAFETY: as above; an optional `Shared` has the layout of a reference.
            unsafe { write_words::<T>(place.cast(), words) };
        }
    }
);

const _: () = assert!(
    size_of::<Option<Shared<'_, u8>>>() == size_of::<&u8>()
        && size_of::<Option<Shared<'_, [u8]>>>() == size_of::<&[u8]>()
        && size_of::<Cell<Option<&u8>>>() == size_of::<&u8>()
);

// SAFETY: `read` stores a pointer to memory that was claimed for the type in the slot.
// `read_option` stores such a pointer or `None`.
unsafe impl<T: Pointee + ?Sized> InPlace for Shared<'_, T> {
    const SHAPE: Shape = Shape::edge(size_of::<Self>());
    const OPTION_SHAPE: Shape = Self::SHAPE;
    const ENTRY_POINT: EntryPoint = <T as Pointee>::ENTRY_POINT;

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is aligned and initialised, and is that of a reference.
        let words = unsafe { words(slot.cast::<&T>()) };
        // SAFETY: the caller's promise; a `Shared` is a transparent wrapper of a reference.
        unsafe { pass.shared(slot.cast::<&T>(), words, false) }
    }

    unsafe fn read_option(slot: *mut Option<Self>, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is initialised, and begins with a word.
        if unsafe { slot.cast::<u64>().read() } == 0 {
            // SAFETY: the caller's slot is writable.
            unsafe { slot.write(None) };
            return Ok(());
        }
        // SAFETY: the caller's promise; an optional `Shared` has the layout of a `Shared`, which
        // `std` guarantees for transparent types around a reference.
        unsafe { Self::read(slot.cast::<Self>(), pass) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read` made this slot a pointer.
        unsafe { trace.shared(slot.cast::<&T>()) };
    }

    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: as above, or `None`; the target is not accessed.
        if unsafe { (*slot).is_some() } {
            // SAFETY: the slot holds a pointer.
            unsafe { Self::trace(slot.cast::<Self>(), trace) }
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "Shared", &mut |schema| {
            let key = TypeKey {
                id: typeid::of::<&T>(),
                ..Schema::key_of::<Self>()
            };
            let pointer = schema.define(key, "&", &mut |schema| {
                let target = T::describe(schema);
                pointer_to::<T>(schema, target)
            });
            Kind::Shared(pointer)
        })
    }
}

// SAFETY: a reference is covariant in its lifetime and its target, whose form is covariant.
unsafe impl<T: CovariantTarget + ?Sized> Covariant for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: CovariantTarget + ?Sized> Covariant for Rc<T> {}
// SAFETY: as above.
unsafe impl<T: CovariantTarget + ?Sized> Covariant for Arc<T> {}

// SAFETY: a zero word is `None`. Otherwise the target is written once, and further pointers to it
// are written as its number. The cell is read once, and its reference lives as long as the cell's
// borrow.
unsafe impl<T: Target + ?Sized> Transportable for Cell<Option<&T>> {
    type InPlace<'b>
        = Cell<Option<&'b T::InPlace<'b>>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint = <T as Target>::ENTRY_POINT;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        draft.borrow();
        let target: Option<&'b T> = self.get();
        let words = target.map_or([0; 2], |target| draft.shared_in_cell(target));
        // SAFETY: the caller's promise; a cell has the layout of its content, and an optional
        // reference that of a reference.
        unsafe { write_words::<T::InPlace<'b>>(slot.cast(), words) };
    }

    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value, which has the layout of an optional
        // reference.
        let target: Option<&'b T> = unsafe { place.cast::<Option<&'b T>>().read() };
        let words = target.map_or([0; 2], |target| draft.claim_shared(target));
        if draft.commits() {
            // SAFETY: as above.
            unsafe { write_words::<T>(place.cast(), words) };
        }
    }
}

// SAFETY: `read` stores `None`, or a pointer to memory that was claimed for the type, in the slot.
unsafe impl<T: Pointee + ?Sized> InPlace for Cell<Option<&T>> {
    const SHAPE: Shape = Shape::edge(size_of::<Self>());
    const ENTRY_POINT: EntryPoint = <T as Pointee>::ENTRY_POINT;

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        pass.note_cell();
        // SAFETY: the caller's slot is aligned and initialised, and is that of a reference.
        let words = unsafe { words(slot.cast::<&T>()) };
        if words[0] == 0 {
            // SAFETY: the caller's slot is writable.
            unsafe { slot.write(Self::new(None)) };
            return Ok(());
        }
        // SAFETY: the caller's promise; a cell of an optional reference has the layout of a
        // reference.
        unsafe { pass.shared(slot.cast::<&T>(), words, true) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read` made this slot a value. Its target
        // is not accessed.
        if unsafe { (*slot).get().is_some() } {
            // SAFETY: the slot holds a pointer, which `read` made.
            unsafe { trace.shared(slot.cast::<&T>()) };
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "Cell", &mut |schema| {
            Kind::Changeable(<Shared<'_, T> as InPlace>::describe(schema))
        })
    }
}
