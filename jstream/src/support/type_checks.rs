//! Trait checks for the field types of generated code.
//!
//! Each generated function that handles a field first makes the same check call at the same place
//! of the program. If a check fails, the compiler reports it once and drops the duplicates. All
//! further checks are on the form's type, which is then unknown, and the compiler reports no errors
//! about an unknown type.

use std::marker::PhantomData;

use crate::adapter::Adapter;
use crate::model::{InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Refusal, Trace};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

use super::Field;
use super::like::Like;

/// The type of a field, to be checked.
#[derive(Debug, Clone, Copy)]
pub struct TypeCheck<F>(PhantomData<*const F>);

/// Returns the type of a field.
#[must_use]
pub const fn asked<F>(_: &F) -> TypeCheck<F> {
    TypeCheck(PhantomData)
}

/// Returns a type by its name.
#[must_use]
pub const fn check_type_of<F>() -> TypeCheck<F> {
    TypeCheck(PhantomData)
}

impl<F> TypeCheck<F> {
    /// Checks that the type can be sent.
    pub const fn travels(self)
    where
        F: Transportable,
    {
    }

    /// Checks that the type arrives as itself.
    pub const fn arrives_as_itself<'b>(self)
    where
        F: Transportable + 'b,
        F::InPlace<'b>: Form<F>,
    {
    }

    /// Checks that the type can be in a receive buffer.
    pub const fn is_in_place(self)
    where
        F: InPlace,
    {
    }

    /// Checks that the type can be restored from its form.
    pub const fn is_restored<'b>(self)
    where
        F: Transportable + 'b,
        F::InPlace<'b>: FormOf<F>,
    {
    }

    /// Checks that a default can be created for a field that is not sent.
    pub const fn has_a_default(self)
    where
        F: Skippable,
    {
    }

    /// Checks that `A` is an adapter for the type.
    pub const fn has_an_adapter<A: Adapter<F>>(self, _: TypeCheck<A>) {}

    /// Checks that the type arrives as itself through an adapter.
    pub const fn fits_an_adapter<A: Adapter<F>>(self, _: TypeCheck<A>)
    where
        A::Wire: Plain,
    {
    }

    /// Checks that the type can be used as an `M`.
    pub const fn is_like<M, How>(self)
    where
        F: Like<M, How>,
    {
    }
}

/// The type of a field, and the type of the form's field.
#[derive(Debug, Clone, Copy)]
pub struct TypeCheckWithForm<F, G>(PhantomData<*const (F, G)>);

/// Returns the type of a field, and the type of the form's field.
#[must_use]
pub const fn check_type_with_form<F, G>(_: &F, _: &G) -> TypeCheckWithForm<F, G> {
    TypeCheckWithForm(PhantomData)
}

impl<F, G> TypeCheckWithForm<F, G> {
    /// Checks that the first type arrives as the second one, and that the second one can be sent:
    /// functions of the form need that, and would report a slice of other elements one by one.
    pub const fn agree<'b>(self)
    where
        F: Transportable + 'b,
        F::InPlace<'b>: Form<G>,
        G: Transportable,
    {
    }

    /// Checks that the value that an adapter sends for the first type arrives as the second one.
    pub const fn agree_through_adapter<'b, A: Adapter<F>>(self, _: TypeCheck<A>)
    where
        <A::Wire as Transportable>::InPlace<'b>: Form<G>,
    {
    }
}

/// A type whose fields can be skipped.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` can't be skipped: the type has no default",
    note = "implement `Default` for it, or add `form = Type` to `skip`, with another type that has \
            a default, such as `form = ()`"
)]
pub trait Skippable: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> Skippable for T {}

/// A type whose fields are the same in a type and in its form, and are cloned when the type is
/// restored from its form.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be restored from its form: it does not implement `Clone`",
    note = "add `#[transportable(no_to_owned)]` to the type that contains it, or implement \
            `Clone` for it"
)]
pub trait CloneRestore: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneRestore for T {}

/// Restores a field that arrived as itself.
pub fn restore_adapted<F: CloneRestore>(form: &F) -> F {
    form.clone()
}

/// The wire value that an adapter sends for a field that arrives as its own type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data, so it can't replace the field in the message",
    note = "add `form = Type` to `with`: the form of the adapter's wire type, with `'b` for the \
            buffer's lifetime"
)]
pub trait Plain: Copy {}

#[diagnostic::do_not_recommend]
impl<T: Copy> Plain for T {}

/// The type that arrives for a field whose form has a `G`: the same type.
///
/// # Safety
///
/// `Self` and `G` must be the same type, and the functions must return their argument.
#[diagnostic::on_unimplemented(
    message = "this field arrives as `{Self}`, but the derive takes its form for `{G}`",
    label = "the spelling of the type does not match its form",
    note = "if the field's type has a form of its own, add `#[transportable(owned)]` to the type \
            that contains the field: the derive recognises owners by their names alone, such as \
            `String` and `Vec`",
    note = "if the field's type is an alias, also by `use ... as`, define it with `jstream::alias!`, \
            or add `#[transportable(form = Type)]` to the field, with `'b` for the buffer's \
            lifetime",
    note = "if a parameter of the field's type is named in `PhantomData` alone, as that of \
            `Id<Person>`, add `#[transportable(form = Id<Person>)]` to the field"
)]
pub unsafe trait Form<G> {
    /// Returns the slot of the form's field as a slot of the type that arrives.
    fn slot(of: *mut G) -> *mut Self;

    /// Returns the form's field as the type that arrives.
    fn form(of: &G) -> &Self;
}

// SAFETY: both are the same type, and both functions return their argument.
unsafe impl<G> Form<G> for G {
    #[inline(always)]
    fn slot(of: *mut G) -> *mut G {
        of
    }

    #[inline(always)]
    fn form(of: &G) -> &G {
        of
    }
}

/// Writes a field into the slot of the form's field.
///
/// # Safety
///
/// As for [`Transportable::write`].
#[inline(always)]
pub unsafe fn write_field<'b, F, G>(slot: *mut G, value: &'b F, draft: &mut Draft<'b>)
where
    F: Transportable,
    F::InPlace<'b>: Form<G>,
{
    // SAFETY: the caller's promise is passed on for the same slot.
    unsafe { value.write(Form::slot(slot), draft) };
}

/// Turns a field back into wire form in place.
///
/// # Safety
///
/// As for [`Transportable::write_back`].
#[inline(always)]
pub unsafe fn write_field_back<'b, F: Transportable + 'b>(place: *mut F, draft: &mut Draft<'b>) {
    // SAFETY: the caller's promise is passed on.
    unsafe { F::write_back(place, draft) };
}

/// Reads a field that arrives as itself.
///
/// # Errors
///
/// As for [`InPlace::read`].
///
/// # Safety
///
/// As for [`InPlace::read`].
#[inline(always)]
pub unsafe fn read_own<'b, F>(slot: *mut F, pass: &mut Pass<'_>) -> Result<(), Fault>
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<F>,
{
    // SAFETY: the caller's promise is passed on for the same slot.
    unsafe { F::InPlace::<'b>::read(Form::slot(slot), pass) }
}

/// Verifies a field that arrives as itself.
///
/// # Errors
///
/// As for [`InPlace::verify`].
///
/// # Safety
///
/// As for [`InPlace::verify`].
#[inline(always)]
pub unsafe fn verify_own<'b, F>(slot: *const F) -> Result<(), Refusal>
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<F>,
{
    // SAFETY: the caller's promise is passed on for the same slot.
    unsafe { F::InPlace::<'b>::verify(Form::slot(slot.cast_mut())) }
}

/// Walks a field that arrives as itself.
///
/// # Safety
///
/// As for [`InPlace::trace`].
#[inline(always)]
pub unsafe fn trace_own<'b, F>(slot: *const F, trace: &mut Trace)
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<F>,
{
    // SAFETY: the caller's promise is passed on for the same slot.
    unsafe { F::InPlace::<'b>::trace(Form::slot(slot.cast_mut()), trace) };
}

/// Returns the shape of a field that arrives as itself.
#[must_use]
pub const fn shape_of_own<'b, S, F>(_: Field<S, F>) -> Shape
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<F>,
{
    <F::InPlace<'b> as InPlace>::SHAPE
}

/// Describes the type of a field that arrives as itself.
pub fn describe_own<'b, S, F>(schema: &mut Schema, _: Field<S, F>) -> TypeIndex
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<F>,
{
    <F::InPlace<'b> as InPlace>::describe(schema)
}

/// A type that an `F` can be restored from: the form of a type that implements [`Restore`].
#[diagnostic::on_unimplemented(
    message = "`{F}` can't be restored from its form: it does not implement `Restore`",
    note = "types that borrow, as by a `&'static str`, and those with a trait object can't be \
            restored: use a type that owns its parts, such as `String`, or give the type that \
            contains it a lifetime, which is that of the receive buffer",
    note = "if values need not be restored, add `#[transportable(no_to_owned)]` to the type that \
            contains it; otherwise implement `jstream::Restore` for it"
)]
pub trait FormOf<F: Transportable> {
    /// As [`Restore::IS_COPY`].
    const IS_COPY: bool;

    /// Restores the field whose form is `form`.
    ///
    /// # Errors
    ///
    /// As for [`Restore::restore`].
    fn restore<'b>(form: &F::InPlace<'b>, restoring: &mut Restoring) -> Result<F, RestoreError>
    where
        F: 'b;
}

impl<F: Restore, T> FormOf<F> for T {
    const IS_COPY: bool = F::IS_COPY;

    #[inline(always)]
    fn restore<'b>(form: &F::InPlace<'b>, restoring: &mut Restoring) -> Result<F, RestoreError>
    where
        F: 'b,
    {
        F::restore(form, restoring)
    }
}

/// Returns true if a field is restored by copying its form.
#[must_use]
pub const fn is_copy_of<'b, S, F>(_: unsafe fn(*const S) -> *const F) -> bool
where
    F: Transportable + 'b,
    F::InPlace<'b>: FormOf<F>,
{
    <F::InPlace<'b> as FormOf<F>>::IS_COPY
}

/// Restores a field from its form.
///
/// # Errors
///
/// As for [`Restore::restore`].
#[inline(always)]
pub fn restore_field<'b, F, G>(form: &G, restoring: &mut Restoring) -> Result<F, RestoreError>
where
    F: Transportable + 'b,
    F::InPlace<'b>: Form<G> + FormOf<F>,
{
    <F::InPlace<'b> as FormOf<F>>::restore(Form::form(form), restoring)
}
