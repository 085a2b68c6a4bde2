//! Types that are sent as archives: values, and archives that were made before.

use std::any::type_name;
use std::fmt::{self, Debug};
use std::marker::PhantomData;

use rkyv::api::high::{HighDeserializer, HighSerializer};
use rkyv::ser::allocator::ArenaHandle;
use rkyv::util::AlignedVec;
use rkyv::{Deserialize, Serialize};

use super::check::Archivable;
use super::{RkyvArchive, RkyvError, write_archive};
use crate::impls::reference::write_words;
use crate::model::{Covariant, Transportable};
use crate::read::short;
use crate::restore::{Restore, RestoreError, Restoring};
use crate::write::{Draft, WriteError};

/// A value of an rkyv type, which is serialized when it is written, and arrives as a [`&'b
/// RkyvArchive<T>`](RkyvArchive).
///
/// ```
/// use jstream::{EmptyBuffer, Reader, Rkyv, Transportable, Writer};
///
/// #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// struct Point {
///     x: i32,
///     tags: Vec<String>,
/// }
///
/// #[derive(Transportable)]
/// struct Path {
///     name: String,
///     points: Vec<Rkyv<Point>>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let points = vec![Rkyv(Point { x: -3, tags: vec!["start".to_owned()] })];
/// let path = Path { name: "a".to_owned(), points };
/// let received = Reader::default().read::<Path>(Writer::new().write(&path, EmptyBuffer::heap(512))?)?;
/// let form: &PathRef<'_> = received.get();
/// assert_eq!((form.name, form.points[0].x.to_native()), ("a", -3));
/// assert_eq!(form.points[0].tags[0], "start");
/// # Ok(())
/// # }
/// ```
///
/// A type with this type as a part can be [restored](crate::Restore) if `T` derives
/// `rkyv::Deserialize` too; otherwise add `#[transportable(no_to_owned)]` to it.
///
/// A type that does not implement `rkyv::Archive` can't be sent in this way:
///
/// ```compile_fail,E0277
/// #[derive(Clone)]
/// struct Point {
///     x: i32,
/// }
///
/// let point = jstream::Rkyv(Point { x: 1 });
/// let _ = jstream::Writer::new().write(&point, jstream::EmptyBuffer::heap(512));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rkyv<T>(pub T);

impl<T> From<T> for Rkyv<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

/// An archive of a `T` that was made before, and is sent as it is. It arrives as a [`&'b
/// RkyvArchive<T>`](RkyvArchive).
///
/// The bytes are not checked by the sender, but by the receiver. They may be in any container whose
/// `as_ref` returns the same bytes for as long as it is borrowed: an [`AlignedVec`], a `Vec<u8>`, a
/// `Box<[u8]>`, `Bytes`, `&[u8]`.
pub struct RkyvBuf<T, B = AlignedVec> {
    bytes: B,
    of: PhantomData<fn() -> T>,
}

impl<T, B: AsRef<[u8]>> RkyvBuf<T, B> {
    /// Wraps the bytes of an archive. Does not check them.
    pub const fn new(bytes: B) -> Self {
        Self {
            bytes,
            of: PhantomData,
        }
    }

    /// Returns the archive's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Returns the container of the bytes.
    pub fn into_inner(self) -> B {
        self.bytes
    }
}

impl<T> RkyvBuf<T>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, RkyvError>>,
{
    /// Serializes a value.
    ///
    /// # Errors
    ///
    /// The error of rkyv or of the type's serialization.
    pub fn serialize(value: &T) -> Result<Self, RkyvError> {
        rkyv::to_bytes::<RkyvError>(value).map(Self::new)
    }
}

impl<T, B: AsRef<[u8]>> Debug for RkyvBuf<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RkyvBuf")
            .field("of", &short(type_name::<T>()))
            .field("len", &self.as_bytes().len())
            .finish()
    }
}

impl<T, B: Clone> Clone for RkyvBuf<T, B> {
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            of: PhantomData,
        }
    }
}

/// Implements writing of an owner as its bytes, and of an optional owner.
macro_rules! archived {
    ([$($generics:tt)*] $owner:ty, |$value:ident, $draft:ident| $bytes:expr) => {
        // SAFETY: an owner is written as a reference to its archive; zeroes are `None`.
        unsafe impl<$($generics)*> Transportable for $owner {
            type InPlace<'b> = &'b RkyvArchive<T> where Self: 'b;
            const WIRE_IS_MEMORY: bool = false;

            unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, $draft: &mut Draft<'b>) {
                let $value = self;
                let bytes: &'b [u8] = $bytes;
                let words = write_archive::<T>(bytes, $draft);
                // SAFETY: the caller's promise is passed on.
                unsafe { write_words(slot, words) };
            }

            unsafe fn write_option<'b>(
                value: &'b Option<Self>,
                slot: *mut Option<Self::InPlace<'b>>,
                draft: &mut Draft<'b>,
            ) {
                let slot = slot.cast::<Self::InPlace<'b>>();
                match value {
                    // SAFETY: the caller's promise; an optional reference has the layout of a
                    // reference.
                    Some(value) => unsafe { value.write(slot, draft) },
                    // SAFETY: as above.
                    None => unsafe { write_words(slot, [0; 2]) },
                }
            }
        }
    };
}

archived!(
    [T: Archivable + for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, RkyvError>>]
    Rkyv<T>,
    |value, draft| serialized(&value.0, draft)
);
archived!([T: Archivable, B: AsRef<[u8]>] RkyvBuf<T, B>, |value, _draft| value.as_bytes());

/// Returns the archive of a value, which lives as long as the draft. On failure, records the error
/// in the draft and returns an empty slice.
fn serialized<'b, T>(value: &T, draft: &mut Draft<'b>) -> &'b [u8]
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, RkyvError>>,
{
    match rkyv::to_bytes::<RkyvError>(value) {
        // SAFETY: the reference is not used after the draft.
        Ok(bytes) => unsafe { draft.keep_value(bytes) },
        Err(error) => {
            draft.refuse(WriteError::Unarchived {
                class: short(type_name::<T>()),
                reason: error.to_string(),
            });
            &[]
        }
    }
}

// SAFETY: the form is a shared reference to a type without the buffer's lifetime.
unsafe impl<T> Covariant for Rkyv<T> where
    T: Archivable + for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, RkyvError>>
{
}
// SAFETY: as above.
unsafe impl<T: Archivable, B: AsRef<[u8]>> Covariant for RkyvBuf<T, B> {}

/// Deserializes the archive with `rkyv::deserialize`, whose errors are returned.
impl<T> Restore for Rkyv<T>
where
    T: Archivable + for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, RkyvError>>,
    T::Archived: Deserialize<T, HighDeserializer<RkyvError>>,
{
    fn restore<'b>(
        form: &&'b RkyvArchive<T>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        restoring.deeper(|_| {
            let value = rkyv::deserialize::<T, RkyvError>(&***form);
            let value = value.map_err(|error| RestoreError::Adapter(error.to_string()));
            Ok(Self(value?))
        })
    }
}

/// Copies the archive.
impl<T: Archivable> Restore for RkyvBuf<T> {
    fn restore<'b>(
        form: &&'b RkyvArchive<T>,
        restoring: &mut Restoring,
    ) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        restoring.deeper(|_| {
            let mut bytes = AlignedVec::with_capacity(form.as_bytes().len());
            bytes.extend_from_slice(form.as_bytes());
            Ok(Self::new(bytes))
        })
    }
}
