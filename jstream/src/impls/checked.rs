//! Plain types of the program that bytecheck validates in place.

use std::any::type_name;
use std::error::Error;
use std::fmt::{self, Debug, Display, Write};
use std::mem::{align_of, size_of};
use std::ops::{Deref, DerefMut};

use bytecheck::CheckBytes;
use bytecheck::rancor::{Source, Strategy, Trace as TraceError};
use zerocopy::{Immutable, IntoBytes};

use super::limited_text::LimitedText;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace, short};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// A plain type whose bytes bytecheck can check.
///
/// zerocopy's `IntoBytes` and `Immutable` promise that its values have neither padding, pointers
/// nor cells, and bytecheck's `CheckBytes` decides which bytes are a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be sent in a `Checked`",
    note = "derive `bytecheck::CheckBytes`, `zerocopy::IntoBytes`, `zerocopy::Immutable`, `Clone` \
            and `Copy` for it, with `#[repr(C)]` or another representation without padding"
)]
pub trait Checkable:
    Copy + IntoBytes + Immutable + CheckBytes<Strategy<(), CheckError>> + 'static
{
}

impl<T> Checkable for T where
    T: Copy + IntoBytes + Immutable + CheckBytes<Strategy<(), CheckError>> + 'static
{
}

/// The reason why bytes are not a value.
///
/// The text is that of bytecheck or of the type: first the cause, then the location in the value.
/// The text has at most 1 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckError(String);

impl CheckError {
    fn add(&mut self, words: fmt::Arguments<'_>) {
        // Text beyond the maximum length is dropped.
        let _ = LimitedText(&mut self.0).write_fmt(words);
    }
}

impl Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for CheckError {}

impl TraceError for CheckError {
    #[cold]
    fn trace<R: Debug + Display + Send + Sync + 'static>(mut self, trace: R) -> Self {
        self.add(format_args!("; {trace}"));
        self
    }
}

impl Source for CheckError {
    #[cold]
    fn new<T: Error + Send + Sync + 'static>(source: T) -> Self {
        let mut error = Self(String::new());
        error.add(format_args!("{source}"));
        error
    }
}

/// A plain value whose bytes are checked by bytecheck when it is read. It arrives as itself.
///
/// For types that can't derive [`Transportable`], or that have a `CheckBytes` already: types whose
/// fields are private to another crate, or with an invariant in `#[bytecheck(verify)]`.
///
/// ```
/// use bytecheck::CheckBytes;
/// use jstream::{Checked, EmptyBuffer, Reader, Transportable, Writer};
/// use zerocopy::{Immutable, IntoBytes};
///
/// #[derive(CheckBytes, IntoBytes, Immutable, Clone, Copy, Debug, PartialEq)]
/// #[repr(u8)]
/// enum Level {
///     Low = 1,
///     High = 9,
/// }
///
/// #[derive(Transportable)]
/// struct Alarm<'b> {
///     level: Checked<Level>,
///     before: &'b [Checked<Level>],
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let before = [Checked(Level::Low)];
/// let alarm = Alarm { level: Checked(Level::High), before: &before };
/// let received = Reader::default().read::<Alarm>(Writer::new().write(&alarm, EmptyBuffer::heap(128))?)?;
/// assert_eq!(*received.get().level, Level::High);
/// assert_eq!(received.get().before, &before);
/// # Ok(())
/// # }
/// ```
///
/// A descriptor covers the name of the type, its size and its alignment, but not its fields, which
/// bytecheck does not expose. A type of another program with the same name, size and alignment is
/// accepted if its bytes pass the check.
///
/// A type with padding has no `IntoBytes`, because padding must not be sent:
///
/// ```compile_fail,E0277
/// #[derive(bytecheck::CheckBytes, Clone, Copy)]
/// #[repr(C)]
/// struct Padded {
///     small: u8,
///     large: u32,
/// }
///
/// let padded = jstream::Checked(Padded { small: 1, large: 2 });
/// let _ = jstream::to_vec(&padded);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Checked<T>(pub T);

impl<T> From<T> for Checked<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Checked<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

// SAFETY: the form is the type itself. By `IntoBytes` and `Immutable`, which are unsafe to
// implement, its values have neither padding nor cells, so the value's memory is its wire form.
unsafe impl<T: Checkable> Transportable for Checked<T> {
    type InPlace<'b> = Self;
    const WIRE_IS_MEMORY: bool = true;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self, _: &mut Draft<'b>) {
        // SAFETY: the caller's slot is aligned and writable.
        unsafe { slot.write(*self) };
    }
}

// SAFETY: `read` returns `Ok` only if `check_bytes` does, which promises, as an unsafe trait, that
// the slot holds a valid value. The value has no pointers, so it is valid wherever it is moved.
unsafe impl<T: Checkable> InPlace for Checked<T> {
    const SHAPE: Shape = Shape::leaf(size_of::<T>(), false);

    #[inline]
    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: the caller's slot is aligned and initialised, and the layouts are the same.
        match unsafe { bytecheck::check_bytes::<T, CheckError>(slot.cast::<T>()) } {
            Ok(()) => Ok(()),
            Err(error) => {
                pass.set_adapter_error(error.0);
                Err(Fault::new(slot, FaultKind::Adapter))
            }
        }
    }

    unsafe fn trace(slot: *const Self, trace: &mut Trace) {
        let _ = trace.hit(slot);
    }

    fn describe(schema: &mut Schema) -> TypeIndex {
        let (size, align) = (size_of::<T>(), align_of::<T>());
        let name = format!("checked<{}>", short(type_name::<T>()));
        schema.define_as(typeid::of::<Self>(), size, align, name, |_| Kind::Leaf)
    }
}

// SAFETY: a form without a lifetime is trivially covariant.
unsafe impl<T: Checkable> Covariant for Checked<T> {}

impl<T: Checkable> Restore for Checked<T> {
    const IS_COPY: bool = true;

    fn restore<'b>(form: &Self, _: &mut Restoring) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        Ok(*form)
    }
}
