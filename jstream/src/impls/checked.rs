//! Plain types of the program that zerocopy and bytecheck validate.

use std::any::type_name;
use std::error::Error;
use std::fmt::{self, Debug, Display, Write};
use std::mem::{MaybeUninit, size_of};
use std::ops::{Deref, DerefMut};
use std::ptr;

use bytecheck::CheckBytes;
use bytecheck::rancor::{Source, Strategy, Trace as TraceError};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

use super::limited_text::LimitedText;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace, short};
use crate::restore::{Restore, RestoreError, Restoring};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// A plain type whose bytes zerocopy and bytecheck can check.
///
/// zerocopy's `IntoBytes` and `Immutable` promise that its values have neither padding, pointers
/// nor cells, and its `TryFromBytes` decides which bytes are a value. bytecheck's `CheckBytes` then
/// decides which values are accepted.
///
/// All types that derive these traits implement this trait. For a type of another crate that has
/// `CheckBytes` but not `TryFromBytes`, the program defines a type around it and promises that
/// `CheckBytes` suffices:
///
/// ```
/// use bytecheck::CheckBytes;
/// use jstream::{Checkable, Checked};
/// use zerocopy::{Immutable, IntoBytes};
///
/// mod other {
///     #[derive(bytecheck::CheckBytes, zerocopy::IntoBytes, zerocopy::Immutable, Clone, Copy)]
///     #[repr(u8)]
///     pub enum Level {
///         Low = 1,
///         High = 9,
///     }
/// }
///
/// #[derive(CheckBytes, IntoBytes, Immutable, Clone, Copy)]
/// #[repr(transparent)]
/// struct Level(other::Level);
///
/// // SAFETY: no name hides `u8` or `core` where `Level` derives `CheckBytes`, and no attribute changes
/// // the type behind the derives. The type around it passes the check on.
/// unsafe impl Checkable for Level {}
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes = jstream::to_vec(&Checked(Level(other::Level::High)))?;
/// let level = jstream::from_slice::<Checked<Level>>(&bytes)?;
/// assert_eq!(level.get().0.0 as u8, 9);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
///
/// If `check_bytes` of the type's `CheckBytes` is called with a pointer to `size_of::<Self>()`
/// initialised bytes, aligned for the type, then
///
/// - it accesses no bytes but these, and does not write to them, and
/// - if it returns `Ok`, the bytes are a valid value.
///
/// A derived `CheckBytes` is no proof, because its code uses names of the program: beside
/// `type u16 = u8;` it accepts for a `#[repr(u16)]` enum tags that no variant has. An attribute
/// macro can change the type behind the derive, and `#[repr(packed)]` makes it read misaligned
/// fields. Before you implement this trait, read the definition of the type and of each of its
/// parts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be sent in a `Checked`",
    note = "derive `bytecheck::CheckBytes`, `zerocopy::TryFromBytes`, `zerocopy::IntoBytes`, \
            `zerocopy::Immutable`, `Clone` and `Copy` for it, with `#[repr(C)]` or another \
            representation without padding"
)]
pub unsafe trait Checkable:
    Copy + IntoBytes + Immutable + CheckBytes<Strategy<(), CheckError>> + 'static
{
    /// Returns false if the bytes of a value are not valid. If this function returns true, the
    /// bytes are valid if `check_bytes` accepts them.
    #[doc(hidden)]
    fn may_be_valid(_: &[u8]) -> bool {
        true
    }
}

// SAFETY: `check_bytes` is called only if zerocopy has found that the bytes are a valid value, by
// `TryFromBytes`, which can't be implemented but by its derive. bytecheck promises what its code
// accesses.
unsafe impl<T> Checkable for T
where
    T: Copy + TryFromBytes + IntoBytes + Immutable + CheckBytes<Strategy<(), CheckError>> + 'static,
{
    fn may_be_valid(bytes: &[u8]) -> bool {
        T::try_read_from_bytes(bytes).is_ok()
    }
}

/// The reason why bytes are not a value.
///
/// The text is that of bytecheck or of the type: first the cause, then the location in the value.
/// The text has at most 1 KiB.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
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

/// A plain value whose bytes are checked by zerocopy and bytecheck when it is read. It arrives as
/// itself, and has at most 64 KiB.
///
/// For types that can't derive [`Transportable`], or that have a `CheckBytes` already: types whose
/// fields are private to another crate, or with an invariant in `#[bytecheck(verify)]`.
///
/// ```
/// use bytecheck::CheckBytes;
/// use jstream::{Checked, EmptyBuffer, Reader, Transportable, Writer};
/// use zerocopy::{Immutable, IntoBytes, TryFromBytes};
///
/// #[derive(CheckBytes, TryFromBytes, IntoBytes, Immutable, Clone, Copy, Debug, PartialEq)]
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
/// zerocopy decides which bytes are a value, and bytecheck which values are accepted. That zerocopy
/// is right is a promise of its derives. It does not hold for a type that an attribute macro below
/// the derive changes.
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

/// Maximum size of a value in bytes, because it is copied to the stack to be checked.
const MAX_SIZE: usize = 64 << 10;

/// A copy of a value, with room behind it.
///
/// The code that bytecheck derives for an enum reads its tag as the type that the enum's `repr`
/// names. A name of the program can make that another integer, which has at most 16 bytes and is
/// aligned to them. So it reads only initialised bytes here.
#[repr(C, align(16))]
struct Copied<T> {
    value: MaybeUninit<T>,
    behind: [u8; 16],
}

// SAFETY: `read` returns `Ok` only if `Checkable` says that the bytes may be a value and
// `check_bytes` accepts them, which are then a valid value by the promise of that unsafe trait. The
// value has no pointers, so it is valid wherever it is moved.
unsafe impl<T: Checkable> InPlace for Checked<T> {
    const SHAPE: Shape = Shape::leaf(size_of::<T>(), false);

    unsafe fn read(slot: *mut Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        const {
            assert!(
                size_of::<T>() <= MAX_SIZE,
                "a `Checked` value has at most 64 KiB"
            );
        }
        let bytes = ptr::slice_from_raw_parts(slot.cast::<u8>(), size_of::<T>());
        // SAFETY: the caller's slot is initialised, and nothing else accesses it.
        let bytes = unsafe { &*bytes };
        if !T::may_be_valid(bytes) {
            pass.set_adapter_error(no_value(short(type_name::<T>()), bytes));
            return Err(Fault::new(slot, FaultKind::Adapter));
        }
        let copied = Copied::<T> {
            // SAFETY: the caller's slot is aligned and initialised; `Checked` has the layout of a
            // `T`, and `MaybeUninit` too.
            value: unsafe { slot.cast::<MaybeUninit<T>>().read() },
            behind: [0; 16],
        };
        let value = (&raw const copied).cast::<T>();
        // SAFETY: the value is aligned and its bytes, which are copied from the slot, initialised.
        match unsafe { bytecheck::check_bytes::<T, CheckError>(value) } {
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
        let name = format!("checked<{}>", short(type_name::<T>()));
        schema.define(Schema::key_of::<Self>(), &name, &mut |_| Kind::Leaf)
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

/// Returns the text of the error for bytes that are not a value.
#[cold]
fn no_value(name: String, bytes: &[u8]) -> String {
    const SHOWN: usize = 16;
    let mut text = format!("no {name} has the bytes");
    for byte in bytes.iter().take(SHOWN) {
        let _ = write!(text, " {byte:02x}");
    }
    if bytes.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}
