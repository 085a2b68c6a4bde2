//! References and their target types: sized values, slices, and `str`.

use std::any::TypeId;
use std::mem::{align_of, size_of};
use std::ptr;

use crate::entry_points::EntryPoint;
use crate::model::{Covariant, CovariantTarget, InPlace, Pointee, Shape, Target, Transportable};
use crate::read::{Edge, Fault, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex, TypeKey};
use crate::write::Draft;

/// Returns true if a reference to `T` has two words.
pub(super) const fn is_wide<T: ?Sized>() -> bool {
    size_of::<&T>() == size_of::<[u64; 2]>()
}

/// Writes the words of a pointer into its slot.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
pub(super) unsafe fn write_words<T: ?Sized>(slot: *mut &T, words: [u64; 2]) {
    if is_wide::<T>() {
        // SAFETY: the caller's slot is that of a wide pointer: two words, aligned as one.
        unsafe { slot.cast::<[u64; 2]>().write(words) };
    } else {
        // SAFETY: the caller's slot is that of a pointer, which has the size and alignment of a
        // word.
        unsafe { slot.cast::<u64>().write(words[0]) };
    }
}

/// Returns the words of a pointer in wire form. The second word of a thin pointer is 0.
///
/// # Safety
///
/// `slot` must be aligned and initialised.
#[inline(always)]
pub(super) unsafe fn words<T: ?Sized>(slot: *const &T) -> [u64; 2] {
    if is_wide::<T>() {
        // SAFETY: the caller's slot has two words, aligned as one.
        unsafe { slot.cast::<[u64; 2]>().read() }
    } else {
        // SAFETY: the caller's slot has one word.
        [unsafe { slot.cast::<u64>().read() }, 0]
    }
}

const _: () = assert!(
    size_of::<&u8>() == size_of::<u64>()
        && align_of::<&u8>() == align_of::<u64>()
        && size_of::<&str>() == size_of::<[u64; 2]>()
        && size_of::<&[u8]>() == size_of::<[u64; 2]>()
        && size_of::<&dyn Send>() == size_of::<[u64; 2]>()
);

// SAFETY: the place was allocated for one value, and `claim` claims one value of the same shape.
#[diagnostic::do_not_recommend]
unsafe impl<T: Transportable> Target for T {
    type InPlace<'b>
        = T::InPlace<'b>
    where
        Self: 'b;
    const IS_LEAF: bool = T::WIRE_IS_MEMORY;
    const ENTRY_POINT: EntryPoint = <T as Transportable>::ENTRY_POINT;

    #[inline(always)]
    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.single_target(self), 0]
    }

    #[inline(always)]
    fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.claim_target(ptr::from_ref(self), 1), 0]
    }

    #[inline(always)]
    fn meta(&self) -> u64 {
        0
    }
}

// SAFETY: as for a single value, with the length as the second word.
unsafe impl<T: Transportable> Target for [T] {
    type InPlace<'b>
        = [T::InPlace<'b>]
    where
        Self: 'b;
    const IS_LEAF: bool = T::WIRE_IS_MEMORY;
    const ENTRY_POINT: EntryPoint = <T as Transportable>::ENTRY_POINT;

    #[inline(always)]
    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.target(self), self.meta()]
    }

    #[inline(always)]
    fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.claim_target(self.as_ptr(), self.len()), self.meta()]
    }

    #[inline(always)]
    fn meta(&self) -> u64 {
        self.len() as u64
    }
}

// SAFETY: the bytes of the string are written to the text segment, where `claim` claims them.
unsafe impl Target for str {
    type InPlace<'b> = str;
    const IS_LEAF: bool = true;

    #[inline(always)]
    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.string(self), self.meta()]
    }

    #[inline(always)]
    fn claim_back<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        [draft.claim_string(self), self.meta()]
    }

    #[inline(always)]
    fn meta(&self) -> u64 {
        self.len() as u64
    }
}

// SAFETY: the pass claims memory for one value of `T`, aligned, and reads it or queues it.
unsafe impl<T: InPlace> Pointee for T {
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT;

    #[inline(always)]
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault> {
        Ok(pass.claim::<T>(edge, 1)?.cast_const())
    }

    #[inline(always)]
    unsafe fn read_now(target: *const Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: `claim` just returned this target for one value.
        unsafe { pass.read_if_flat(target, 1) }
    }

    unsafe fn trace_target(slot: *const &Self, target: *const Self, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { trace.target(slot, target, 1, false) };
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        <T as InPlace>::describe(schema)
    }
}

// SAFETY: as for a single value, with the length that was claimed.
unsafe impl<T: InPlace> Pointee for [T] {
    const ENTRY_POINT: EntryPoint = <T as InPlace>::ENTRY_POINT;

    #[inline(always)]
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault> {
        let first = pass.claim::<T>(edge, edge.meta)?.cast_const();
        let count = crate::wire::in_memory(edge.meta);
        Ok(ptr::slice_from_raw_parts(first, count))
    }

    #[inline(always)]
    unsafe fn read_now(target: *const Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: `claim` just returned this target for `target.len()` values.
        unsafe { pass.read_if_flat(target.cast::<T>(), target.len()) }
    }

    unsafe fn trace_target(slot: *const &Self, target: *const Self, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { trace.target(slot, target.cast::<T>(), target.len(), true) };
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        <T as InPlace>::describe(schema)
    }
}

// SAFETY: the text was claimed, is UTF-8 as a whole, and is split at character boundaries.
unsafe impl Pointee for str {
    const IS_TEXT: bool = true;

    #[inline(always)]
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault> {
        pass.string(edge)
    }

    #[inline(always)]
    unsafe fn read_now(_: *const Self, _: &mut Pass<'_>) -> Result<(), Fault> {
        Ok(())
    }

    unsafe fn trace_target(_: *const &Self, _: *const Self, _: &mut Trace) {}

    fn describe(schema: &mut Schema) -> TypeIndex {
        let key = TypeKey {
            id: TypeId::of::<str>(),
            size: 1,
            align: 1,
        };
        schema.define(key, "str", &mut |_| Kind::Text)
    }
}

// SAFETY: a reference is written and read as an edge to its target. `None` is a zero word, which no
// edge begins with.
unsafe impl<T: Target + ?Sized> Transportable for &T {
    type InPlace<'b>
        = &'b T::InPlace<'b>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint = <T as Target>::ENTRY_POINT;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        if !T::IS_LEAF {
            draft.borrow();
        }
        let words = T::write_target(self, draft);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_words(slot, words) };
    }

    #[inline(always)]
    unsafe fn write_option<'b>(
        value: &'b Option<Self>,
        slot: *mut Option<Self::InPlace<'b>>,
        draft: &mut Draft<'b>,
    ) {
        if !T::IS_LEAF {
            draft.borrow();
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { write_optional_edge(value.as_deref(), slot, draft) }
    }

    #[inline(always)]
    unsafe fn write_back<'b>(place: *mut Self, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value.
        let target: &'b T = unsafe { place.read() };
        let words = target.claim_back(draft);
        if draft.commits() {
            // SAFETY: the place is that of a reference to `T`.
            unsafe { write_words::<T>(place.cast(), words) };
        }
    }

    #[inline(always)]
    unsafe fn write_option_back<'b>(place: *mut Option<Self>, draft: &mut Draft<'b>)
    where
        Self: 'b,
    {
        // SAFETY: by the caller's promise there is a value.
        let target: Option<&'b T> = unsafe { place.read() };
        let words = target.map_or([0; 2], |target| target.claim_back(draft));
        if draft.commits() {
            // SAFETY: as above; an optional reference has the layout of a reference.
            unsafe { write_words::<T>(place.cast(), words) };
        }
    }
}

/// Returns the kind of a pointer to `T`, whose type has the index `target` in the schema.
pub(super) fn pointer_to<T: ?Sized>(schema: &Schema, target: TypeIndex) -> Kind {
    let dynamic = schema.get(target).map(|of| &of.kind) == Some(&Kind::Dynamic);
    if is_wide::<T>() && !dynamic {
        Kind::Slice(target)
    } else {
        Kind::Reference(target)
    }
}

/// Writes an edge, or zeroes for `None`.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
#[inline(always)]
pub(super) unsafe fn write_optional_edge<'b, T: Target + ?Sized>(
    value: Option<&'b T>,
    slot: *mut Option<&'b T::InPlace<'b>>,
    draft: &mut Draft<'b>,
) {
    let words = value.map_or([0; 2], |target| target.write_target(draft));
    // SAFETY: the caller's promise; an optional reference has the layout of a reference.
    unsafe { write_words::<T::InPlace<'b>>(slot.cast(), words) };
}

/// Reads a pointer that is the only one to its target.
///
/// # Safety
///
/// `slot` must be as for [`InPlace::read`], and hold these words.
#[inline(always)]
unsafe fn read_words<T: Pointee + ?Sized>(
    slot: *mut &T,
    [place, meta]: [u64; 2],
    pass: &mut Pass<'_>,
) -> Result<(), Fault> {
    let target = T::claim(Pass::edge(slot, place, meta), pass)?;
    // SAFETY: the caller's slot is writable; a reference has the layout of a raw pointer.
    unsafe { slot.cast::<*const T>().write(target) };
    // SAFETY: `claim` just returned this target, and the slot holds it.
    unsafe { T::read_now(target, pass) }
}

// SAFETY: `read` stores a pointer to claimed memory in the slot. `read_option` stores such a
// pointer or `None`.
unsafe impl<T: Pointee + ?Sized> InPlace for &T {
    const SHAPE: Shape = Shape {
        text_only: T::IS_TEXT,
        ..Shape::edge(size_of::<Self>())
    };
    const OPTION_SHAPE: Shape = Self::SHAPE;
    const ENTRY_POINT: EntryPoint = <T as Pointee>::ENTRY_POINT;

    #[inline(always)]
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is aligned and initialised.
        let words = unsafe { words(slot) };
        // SAFETY: the caller's promise is passed on.
        unsafe { read_words(slot, words, pass) }
    }

    #[inline(always)]
    unsafe fn read_option(slot: *mut Option<Self>, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is aligned and initialised.
        let words = unsafe { words(slot.cast::<Self>()) };
        if words[0] == 0 {
            // SAFETY: the caller's slot is writable.
            unsafe { slot.write(None) };
            return Ok(());
        }
        // SAFETY: the caller's promise; an optional reference has the layout of a reference.
        unsafe { read_words(slot.cast::<Self>(), words, pass) }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read` made this slot a pointer.
        let target = unsafe { slot.cast::<*const T>().read() };
        // SAFETY: the pointer is the one that was claimed for this slot.
        unsafe { T::trace_target(slot, target, trace) };
    }

    unsafe fn trace_option(slot: *const Option<Self>, trace: &mut Trace) {
        if trace.hit(slot) {
            return;
        }
        // SAFETY: the walk has not reached the fault, so `read_option` made this slot a value. Its
        // target is not accessed.
        if unsafe { (*slot).is_some() } {
            // SAFETY: the slot holds a reference, which was read as one.
            unsafe { Self::trace(slot.cast::<Self>(), trace) }
        }
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        schema.define(Schema::key_of::<Self>(), "&", &mut |schema| {
            let target = T::describe(schema);
            pointer_to::<T>(schema, target)
        })
    }
}

// SAFETY: a shared reference is covariant in its lifetime and in its target, whose form is
// covariant.
unsafe impl<T: CovariantTarget + ?Sized> Covariant for &T {}
// SAFETY: the type's own form is covariant.
unsafe impl<T: Covariant> CovariantTarget for T {}
// SAFETY: a slice is covariant, and so is the element's form.
unsafe impl<T: Covariant> CovariantTarget for [T] {}
// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl CovariantTarget for str {}
