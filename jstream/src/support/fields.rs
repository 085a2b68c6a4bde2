//! Fields with attributes that change how they are sent.

use std::cell::Cell;
use std::fmt::Display;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;

use super::Field;
use super::const_text::ConstText;
use super::like::Like;
use super::type_checks::{Form, FormOf, Plain, TypeCheck, read_own, trace_own};
use crate::adapter::Adapter;
use crate::model::{InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Refusal, Trace};
use crate::restore::{RestoreError, Restoring};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

/// Writes the default value of a skipped field.
///
/// # Safety
///
/// `slot` must be aligned and valid for writes.
pub unsafe fn make_default<F: Default>(slot: *mut F) {
    let value = F::default();
    // SAFETY: the caller's promise.
    unsafe { slot.write(value) };
}

/// Zeroes a skipped field in a message that is restored in place.
///
/// # Safety
///
/// As for [`Transportable::write_back`].
pub unsafe fn erase_field<F>(place: *mut F, draft: &Draft<'_>) {
    // SAFETY: the caller's promise is passed on.
    unsafe { crate::write::erase(place, draft) };
}

/// Calls a function of the program that verifies a value.
///
/// # Errors
///
/// A [`Refusal`] with the message of the function's error.
///
/// # Safety
///
/// As for [`InPlace::verify`].
pub unsafe fn approve<T: InPlace, E: Display>(
    slot: *const T,
    function: impl for<'r> FnOnce(&'r T) -> Result<(), E>,
) -> Result<(), Refusal> {
    // SAFETY: the caller's slot holds a value that nothing changes. The function is generic in the
    // lifetime of the reference, so it cannot keep it.
    let value = unsafe { &*slot };
    function(value).map_err(|why| Refusal::new(slot, why.to_string()))
}

/// The form of the wire value of an adapter.
type WireForm<'b, A, T> = <<A as Adapter<T>>::Wire as Transportable>::InPlace<'b>;

/// Asserts the requirements on an adapter whose fields arrive as their own type.
const fn assert_adapted<A: Adapter<T>, T>() {
    assert!(
        <WireForm<'static, A, T> as InPlace>::SHAPE.flat,
        "the wire value of an adapter for a field that arrives as its own type must be plain data, \
         without references and text: add `form = Type` to `with`"
    );
    let wire = [
        size_of::<WireForm<'static, A, T>>(),
        align_of::<WireForm<'static, A, T>>(),
    ];
    let field = [size_of::<T>(), align_of::<T>()];
    if wire[0] > field[0] || wire[1] > field[1] {
        let text = ConstText::new()
            .text("the wire value of the adapter has size ")
            .number(wire[0])
            .text(" and alignment ")
            .number(wire[1])
            .text(", which must not exceed those of the field, size ")
            .number(field[0])
            .text(" and alignment ")
            .number(field[1])
            .text(": use a smaller `Wire`, or add `form = Type` to `with`");
        panic!("{}", text.as_str());
    }
    assert!(
        !std::mem::needs_drop::<T>(),
        "a field that arrives as its own type must not need dropping: add `form = Type` to `with`"
    );
}

/// Writes the wire value of an adapter into the field's own slot.
///
/// # Safety
///
/// As for [`Transportable::write`], with a zeroed slot.
pub unsafe fn write_adapted<'b, A, T>(
    _: TypeCheck<A>,
    value: &T,
    slot: *mut T,
    draft: &mut Draft<'b>,
) where
    A: Adapter<T>,
    A::Wire: Plain,
{
    const { assert_adapted::<A, T>() };
    if draft.stop_at_copy() {
        return;
    }
    let wire = A::to_wire(value);
    // SAFETY: the reference is not used after the draft.
    let wire: &'b [A::Wire] = unsafe { draft.keep_slice(std::iter::once(wire)) };
    if let [wire] = wire {
        // SAFETY: the slot is large and aligned enough, as asserted above.
        unsafe { wire.write(slot.cast::<WireForm<'b, A, T>>(), draft) };
    }
}

/// Creates a field from the wire value of an adapter.
///
/// # Errors
///
/// A [`Fault`] if the wire value is invalid, or the adapter rejects it.
///
/// # Safety
///
/// As for [`InPlace::read`].
pub unsafe fn read_adapted<A: Adapter<T>, T>(
    _: TypeCheck<A>,
    slot: *mut T,
    pass: &mut Pass<'_>,
) -> Result<(), Fault> {
    const { assert_adapted::<A, T>() };
    let mut wire = MaybeUninit::<WireForm<'static, A, T>>::uninit();
    // SAFETY: the slot has at least the size and alignment of the wire form, as asserted above, and
    // its bytes are initialised. The temporary does not overlap it.
    unsafe { ptr::copy_nonoverlapping(slot.cast_const().cast(), wire.as_mut_ptr(), 1) };
    // SAFETY: the temporary is aligned and holds the wire bytes.
    unsafe { WireForm::<A, T>::read(wire.as_mut_ptr(), pass) }
        .map_err(|fault| Fault::new(slot, fault.kind))?;
    if WireForm::<A, T>::SHAPE.verified {
        // SAFETY: `read` made it a value. It is flat, so it refers to nothing.
        if let Err(refusal) = unsafe { WireForm::<A, T>::verify(wire.as_ptr()) } {
            pass.set_adapter_error(refusal.into_reason());
            return Err(Fault::new(slot, FaultKind::Adapter));
        }
    }
    // SAFETY: as above.
    let wire = unsafe { wire.assume_init_ref() };
    match A::from_wire(wire) {
        Ok(value) => {
            // SAFETY: the caller's slot is aligned and writable.
            unsafe { slot.write(value) };
            Ok(())
        }
        Err(why) => {
            pass.set_adapter_error(why.to_string());
            Err(Fault::new(slot, FaultKind::Adapter))
        }
    }
}

/// Returns the shape of a field with an adapter. Asserts the requirements on the adapter here and
/// not in a constant of its own, so that the compiler reports an error at the field.
#[must_use]
pub const fn adapted_shape<A: Adapter<T>, S, T>(_: TypeCheck<A>, _: Field<S, T>) -> Shape {
    assert_adapted::<A, T>();
    Shape::MADE
}

/// Describes a field with an adapter by its wire value.
pub fn describe_adapted<A: Adapter<T>, S, T>(
    _: TypeCheck<A>,
    schema: &mut Schema,
    _: Field<S, T>,
) -> TypeIndex {
    <WireForm<'static, A, T> as InPlace>::describe(schema)
}

/// Writes the wire value of an adapter, which is also what arrives.
///
/// # Safety
///
/// As for [`Transportable::write`].
pub unsafe fn write_replaced<'b, A: Adapter<T>, T, G>(
    slot: *mut G,
    value: &T,
    draft: &mut Draft<'b>,
    _: TypeCheck<A>,
) where
    WireForm<'b, A, T>: Form<G>,
{
    let slot = <WireForm<'b, A, T> as Form<G>>::slot(slot);
    if draft.stop_at_copy() {
        return;
    }
    let wire = A::to_wire(value);
    // SAFETY: the reference is not used after the draft.
    let wire: &'b A::Wire = unsafe { draft.keep_value(wire) };
    // SAFETY: the caller's promise is passed on.
    unsafe { wire.write(slot, draft) };
}

/// Restores a field from the wire value of an adapter.
///
/// # Errors
///
/// [`RestoreError::Adapter`] if the adapter rejects the value.
pub fn restore_replaced<'b, A: Adapter<T>, T, G>(
    wire: &G,
    _: TypeCheck<A>,
) -> Result<T, RestoreError>
where
    WireForm<'b, A, T>: Form<G>,
{
    A::from_wire(<WireForm<'b, A, T> as Form<G>>::form(wire))
        .map_err(|why| RestoreError::Adapter(why.to_string()))
}

/// A pointer type that can be left out of a message: it has a value that refers to nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a pointer without a mark, and its type can't be left out of messages",
    note = "mark the field with `#[transportable(follow)]`, or make it an `Option`"
)]
pub trait EmptyPointer: Transportable {
    /// Returns the value that refers to nothing.
    fn absent() -> Self;
}

macro_rules! absent {
    ($([$($generics:tt)*] $type:ty, $value:expr;)*) => {$(
        impl<$($generics)*> EmptyPointer for $type {
            fn absent() -> Self {
                $value
            }
        }
    )*};
}

absent! {
    [T: Transportable] Option<T>, None;
    [T: Transportable] Vec<T>, Vec::new();
    [T: Transportable] &[T], &[];
    [] &str, "";
    [] String, Self::new();
    ['a, T: crate::model::Target + ?Sized] Cell<Option<&'a T>>, Self::new(None);
}

/// Writes a pointer that is not followed.
///
/// # Safety
///
/// As for [`Transportable::write`].
pub unsafe fn write_absent<'b, F: EmptyPointer + 'b>(
    _: &F,
    slot: *mut F::InPlace<'b>,
    draft: &mut Draft<'b>,
) {
    // SAFETY: the reference is not used after the draft.
    let absent: &'b F = unsafe { draft.keep_value(F::absent()) };
    // SAFETY: the caller's promise is passed on.
    unsafe { absent.write(slot, draft) };
}

/// Writes a field that arrives as a mutable slice.
///
/// # Safety
///
/// As for [`Transportable::write`].
pub unsafe fn write_exclusive<'b, F, T>(slot: *mut &'b mut [T], value: &'b F, draft: &mut Draft<'b>)
where
    F: Transportable,
    F::InPlace<'b>: Form<&'b [T]>,
    T: 'b,
{
    let slot = Form::slot(slot.cast::<&'b [T]>());
    // SAFETY: both kinds of references have the same layout and the same wire form.
    unsafe { value.write(slot, draft) };
}

/// Restores a field that arrived as a mutable slice.
///
/// # Errors
///
/// As for [`Restore::restore`](crate::Restore::restore).
pub fn restore_exclusive<'a, F, T>(
    form: &'a [T],
    restoring: &mut Restoring,
) -> Result<F, RestoreError>
where
    F: Transportable + 'a,
    F::InPlace<'a>: Form<&'a [T]> + FormOf<F>,
{
    <F::InPlace<'a> as FormOf<F>>::restore(Form::form(&form), restoring)
}

/// Writes a field as an `M`.
///
/// # Safety
///
/// As for [`Transportable::write`].
pub unsafe fn write_as<'b, M, F, S, How, OfForm>(value: &'b F, slot: *mut S, draft: &mut Draft<'b>)
where
    M: Transportable + 'b,
    F: Like<M, How>,
    S: Like<M::InPlace<'b>, OfForm>,
{
    // SAFETY: the types have the same layout and the same values.
    let value: &'b M = unsafe { &*ptr::from_ref(value).cast::<M>() };
    // SAFETY: the caller's promise is passed on; the slot has the layout of the form's slot.
    unsafe { value.write(slot.cast::<M::InPlace<'b>>(), draft) };
}

/// Turns a field that was read as an `M` back into wire form.
///
/// # Safety
///
/// As for [`Transportable::write_back`].
pub unsafe fn write_back_as<'b, M, F, How>(place: *mut F, draft: &mut Draft<'b>)
where
    M: Transportable + 'b,
    F: Like<M, How>,
{
    // SAFETY: the caller's promise is passed on; the types have the same layout and the same
    // values.
    unsafe { M::write_back(place.cast(), draft) };
}

/// Reads a field as an `M`.
///
/// # Errors
///
/// As for [`InPlace::read`].
///
/// # Safety
///
/// As for [`InPlace::read`].
pub unsafe fn read_as<M, F, How>(slot: *mut F, pass: &mut Pass<'_>) -> Result<(), Fault>
where
    M: InPlace,
    F: Like<M, How>,
{
    // SAFETY: the caller's promise is passed on; the types have the same layout and the same
    // values.
    unsafe { M::read(slot.cast(), pass) }
}

/// Walks a field that was read as an `M`.
///
/// # Safety
///
/// As for [`InPlace::trace`].
pub unsafe fn trace_as<M, F, How>(slot: *const F, trace: &mut Trace)
where
    M: InPlace,
    F: Like<M, How>,
{
    // SAFETY: the caller's promise is passed on.
    unsafe { M::trace(slot.cast(), trace) }
}

/// Reads a field as an `M` that arrives as itself.
///
/// # Errors
///
/// As for [`InPlace::read`].
///
/// # Safety
///
/// As for [`InPlace::read`].
pub unsafe fn read_own_as<'b, M, F, How>(slot: *mut F, pass: &mut Pass<'_>) -> Result<(), Fault>
where
    M: Transportable + 'b,
    M::InPlace<'b>: Form<M>,
    F: Like<M, How>,
{
    // SAFETY: the caller's promise is passed on; the types have the same layout and the same
    // values.
    unsafe { read_own::<M>(slot.cast(), pass) }
}

/// Walks a field that was read as an `M` that arrives as itself.
///
/// # Safety
///
/// As for [`InPlace::trace`].
pub unsafe fn trace_own_as<'b, M, F, How>(slot: *const F, trace: &mut Trace)
where
    M: Transportable + 'b,
    M::InPlace<'b>: Form<M>,
    F: Like<M, How>,
{
    // SAFETY: the caller's promise is passed on.
    unsafe { trace_own::<M>(slot.cast(), trace) };
}

/// Returns the shape of a field that is read as an `M` that arrives as itself. The field ties `M`
/// to its type: the tokens of `M` are repeated, and a macro among them may give another type.
#[must_use]
pub const fn shape_own_as<'b, M, S, F, How>(_: Field<S, F>) -> Shape
where
    M: Transportable + 'b,
    M::InPlace<'b>: Form<M>,
    F: Like<M, How>,
{
    <M::InPlace<'b> as InPlace>::SHAPE
}

/// Describes a field that is read as an `M` that arrives as itself.
pub fn describe_own_as<'b, M>(schema: &mut Schema) -> TypeIndex
where
    M: Transportable + 'b,
    M::InPlace<'b>: Form<M>,
{
    <M::InPlace<'b> as InPlace>::describe(schema)
}

/// Returns the shape of a field that is read as an `M`. The field ties `M` to its type, as for
/// [`shape_own_as`].
#[must_use]
pub const fn shape_as<M: InPlace, S, F: Like<M, How>, How>(_: Field<S, F>) -> Shape {
    M::SHAPE
}

/// Describes a field that is read as an `M`.
pub fn describe_as<M: InPlace>(schema: &mut Schema) -> TypeIndex {
    M::describe(schema)
}
