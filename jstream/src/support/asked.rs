//! What generated code asks of a field's type.
//!
//! Each generated function that deals with a field asks first, by the same call in the same place of
//! the program: where the answer is no, the compiler says so once, for it drops what it has said
//! before. Whatever is asked afterwards is asked of the form, which is unknown then, and of what is
//! unknown nothing is said.

use std::marker::PhantomData;

use crate::adapter::Adapter;
use crate::model::{InPlace, Shape, Transportable};
use crate::read::{Fault, Pass, Refusal, Trace};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{Schema, TypeIndex};
use crate::write::Draft;

use super::Field;
use super::fields::Like;

/// The type of a field, to be asked about.
#[derive(Debug, Clone, Copy)]
pub struct Asked<F>(PhantomData<*const F>);

/// The type of a field.
#[must_use]
pub const fn asked<F>(_: &F) -> Asked<F> {
    Asked(PhantomData)
}

/// A type by its name.
#[must_use]
pub const fn asked_of<F>() -> Asked<F> {
    Asked(PhantomData)
}

impl<F> Asked<F> {
    /// Whether it can be sent.
    pub const fn travels(self)
    where
        F: Transportable,
    {
    }

    /// Whether it arrives as what it is.
    pub const fn arrives_as_itself<'b>(self)
    where
        F: Transportable + 'b,
        F::InPlace<'b>: Form<F>,
    {
    }

    /// Whether it can stand in a buffer.
    pub const fn stands_in_a_buffer(self)
    where
        F: InPlace,
    {
    }

    /// Whether it can be made where it does not travel.
    pub const fn has_a_default(self)
    where
        F: Skippable,
    {
    }

    /// Whether an adapter is for it.
    pub const fn has_an_adapter<A: Adapter<F>>(self, _: Asked<A>) {}

    /// Whether it arrives as what it is by way of an adapter.
    pub const fn fits_an_adapter<A: Adapter<F>>(self, _: Asked<A>)
    where
        A::Wire: Plain,
    {
    }

    /// Whether it can be used as an `M`.
    pub const fn is_like<M, How>(self)
    where
        F: Like<M, How>,
    {
    }
}

/// The type of a field, and that of the form's field.
#[derive(Debug, Clone, Copy)]
pub struct AskedWithForm<F, G>(PhantomData<*const (F, G)>);

/// The type of a field, and that of the form's field.
#[must_use]
pub const fn asked_with_form<F, G>(_: &F, _: &G) -> AskedWithForm<F, G> {
    AskedWithForm(PhantomData)
}

impl<F, G> AskedWithForm<F, G> {
    /// Whether the one arrives as the other.
    pub const fn agree<'b>(self)
    where
        F: Transportable + 'b,
        F::InPlace<'b>: Form<G>,
    {
    }

    /// Whether what an adapter sends for the one arrives as the other.
    pub const fn agree_by<'b, A: Adapter<F>>(self, _: Asked<A>)
    where
        <A::Wire as Transportable>::InPlace<'b>: Form<G>,
    {
    }
}

/// A type whose fields can be skipped.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` can't be skipped: it has no default to arrive as",
    note = "implement `Default` for it, or say `form = Type` beside `skip`, with another type that has \
            a default: `form = ()`"
)]
pub trait Skippable: Default {}

#[diagnostic::do_not_recommend]
impl<T: Default> Skippable for T {}

/// A type whose fields stay what they are when the type is made again from its form.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` can't be made again from its form: it is not `Clone`",
    note = "say `#[transportable(no_to_owned)]` on the type that has it as a part, or implement \
            `Clone` for it"
)]
pub trait Again: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> Again for T {}

/// Makes a field again that arrived as what it is.
pub fn restore_adapted<F: Again>(form: &F) -> F {
    form.clone()
}

/// What an adapter sends for a field that arrives as what it was.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plain data, so what an adapter makes of it can't stand in its place",
    note = "say `form = Type` beside `with`: the form of what the adapter sends, with `'b` for the \
            buffer's lifetime"
)]
pub trait Plain: Copy {}

#[diagnostic::do_not_recommend]
impl<T: Copy> Plain for T {}

/// What arrives for a field, where the form has a `G`: the same type.
///
/// # Safety
///
/// `Self` and `G` must be one type, and the functions return what they are given.
#[diagnostic::on_unimplemented(
    message = "this field arrives as `{Self}`, but its form is taken for `{G}`",
    label = "not spelled as what it is",
    note = "the derive knows a type by its spelling: spell an alias out, or say \
            `#[transportable(form = Type)]` on the field, with `'b` for the buffer's lifetime"
)]
pub unsafe trait Form<G> {
    /// The slot of the form's field, by the type of what arrives there.
    fn slot(of: *mut G) -> *mut Self;

    /// What arrived, by its type.
    fn form(of: &G) -> &Self;
}

// SAFETY: they are one type, and both functions return their argument.
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
    // SAFETY: the caller's promise is passed on, of the same slot.
    unsafe { value.write(Form::slot(slot), draft) };
}

/// Turns a field back into wire form where it lies.
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
    // SAFETY: the caller's promise is passed on, of the same slot.
    unsafe { F::InPlace::<'b>::read(Form::slot(slot), pass) }
}

/// Has a field that arrives as itself verified.
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
    // SAFETY: the caller's promise is passed on, of the same slot.
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
    // SAFETY: the caller's promise is passed on, of the same slot.
    unsafe { F::InPlace::<'b>::trace(Form::slot(slot.cast_mut()), trace) };
}

/// The shape of a field that arrives as itself.
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

/// What can be made an `F` again: the form of one that implements [`Restore`].
#[diagnostic::on_unimplemented(
    message = "`{F}` can't be made again from its form: it does not implement `Restore`",
    note = "say `#[transportable(no_to_owned)]` on the type that has it as a part, or implement \
            `jstream::Restore` for it"
)]
pub trait FormOf<F: Transportable> {
    /// Makes the field again that `form` is the form of.
    ///
    /// # Errors
    ///
    /// As for [`Restore::restore`].
    fn restore<'b>(form: &F::InPlace<'b>, restoring: &mut Restoring) -> Result<F, RestoreError>
    where
        F: 'b;
}

impl<F: Restore, T> FormOf<F> for T {
    #[inline(always)]
    fn restore<'b>(form: &F::InPlace<'b>, restoring: &mut Restoring) -> Result<F, RestoreError>
    where
        F: 'b,
    {
        F::restore(form, restoring)
    }
}

/// Makes a field again of what arrived for it.
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
