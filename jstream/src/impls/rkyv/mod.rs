//! Types of rkyv, which arrive as archives that rkyv has checked in place.
//!
//! On the wire an archive is a slice of bytes in the bulk segment, aligned to [`alignment_of`]. It
//! is checked as soon as it is claimed, because nothing writes to the bytes of a flat target after
//! that. The check cannot be deferred to the end of the pass, because functions that verify other
//! values may access the archive.
//!
//! Invariant of a [`RkyvArchive`], on which its `Deref` relies: its bytes are a checked archive of
//! its type, aligned to [`alignment_of`]. Archived types contain no cells (`rkyv::Portable` is
//! `unsafe` and requires this), so shared bytes stay as they were checked.
//!
//! Decision 028 has the reasons.

mod check;
mod error;
mod owned;

use std::any::type_name;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::Deref;
use std::ptr;

use rkyv::access_unchecked;

pub use self::check::Archivable;
use self::check::{DEPTH, alignment_of, check, name_of};
pub use self::error::RkyvError;
pub use self::owned::{Rkyv, RkyvBuf};
use crate::Transportable;
use crate::model::{CovariantTarget, Pointee, Target};
use crate::read::{Edge, Fault, FaultKind, Pass, Trace, short};
use crate::schema::{Kind, Schema, TypeIndex, TypeKey};
use crate::write::Draft;

/// An archive of a `T`: bytes that rkyv has checked. It dereferences to the
/// [`Archived`](rkyv::Archived) value, and is always behind a reference.
///
/// [`Rkyv<T>`](Rkyv) and [`RkyvBuf<T>`](RkyvBuf) arrive as `&'b RkyvArchive<T>`. A type made of
/// references uses this type as its field:
///
/// ```
/// use jstream::{EmptyBuffer, Reader, RkyvArchive, RkyvBuf, Transportable, Writer};
///
/// #[derive(rkyv::Archive, rkyv::Serialize)]
/// struct Log {
///     text: String,
/// }
///
/// #[derive(Transportable)]
/// struct Entry<'b> {
///     id: u64,
///     log: &'b RkyvArchive<Log>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&Log { text: "a long line of text".into() })?;
/// let entry = Entry { id: 7, log: RkyvArchive::access(&bytes)? };
/// let received = Reader::default().read::<Entry>(Writer::new().write(&entry, EmptyBuffer::heap(256))?)?;
/// assert_eq!(received.get().log.text, "a long line of text");
/// # Ok(())
/// # }
/// ```
///
/// # What is checked, and what it costs
///
/// While the message is read, an archive is checked by the code of `rkyv::access`, including
/// functions of `#[bytecheck(verify)]`. The check is recursive, so at most 128 pointers may follow
/// one another, or as many as [`Limits::depth`](crate::Limits::depth) leaves. If the archive has
/// shared pointers, the check allocates a table with an entry for each shared object;
/// [`Limits::shared`](crate::Limits::shared) does not count them. In a slice of a zero-sized type
/// the check visits each element, although the elements cost the sender nothing.
///
/// An archive begins at a multiple of 16 bytes, or of the alignment of the root if that is more, up
/// to 128. If only an object that it leads to has a larger alignment, declare the alignment on the
/// root, with `#[rkyv(attr(repr(C, align(64))))]`.
///
/// # What is believed
///
/// That bytes which pass the check are an archive is the promise of rkyv's derive. It uses names of
/// the program, so a type alias with the name of an integer (`type u8 = u64;`) beside a derived
/// enum makes its check read other bytes than the tag, also behind the archive, and accept tags
/// that no variant has. The same holds for attribute macros in `#[rkyv(attr(..))]`. `rkyv::access`
/// allows this as well, and it can't be recognised here: define no such names where you derive
/// `rkyv::Archive`.
///
/// # What a descriptor covers
///
/// A descriptor covers the name of the archived type, its size and alignment, and the format that
/// rkyv was built for. It does not cover fields and the types that they lead to, because rkyv does
/// not expose them: an archive of another type with the same name and size is accepted if it passes
/// the check.
#[repr(transparent)]
pub struct RkyvArchive<T: rkyv::Archive> {
    /// Provides the type, and its `Send` and `Sync`.
    of: PhantomData<T::Archived>,
    bytes: [u8],
}

impl<T: Archivable> RkyvArchive<T> {
    /// Checks that bytes are an archive. They must begin at a multiple of 16 bytes, or of the
    /// alignment of the root if that is more, as an [`AlignedVec`](rkyv::util::AlignedVec) does.
    ///
    /// # Errors
    ///
    /// An [`RkyvError`] if the bytes are misaligned or not an archive.
    pub fn access(bytes: &[u8]) -> Result<&Self, RkyvError> {
        let align = const { alignment_of::<T>() };
        if bytes.as_ptr().addr() & align.wrapping_sub(1) != 0 {
            let reason = format_args!("the bytes are not aligned to {align}");
            return Err(RkyvError::with_text(reason));
        }
        check::<T>(bytes, DEPTH)?;
        // SAFETY: the bytes were just checked, and are borrowed for as long as the archive.
        Ok(unsafe { &*(ptr::from_ref(bytes) as *const Self) })
    }
}

impl<T: rkyv::Archive> RkyvArchive<T> {
    /// Returns the archive's bytes, in the form that `rkyv::access` accepts.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<T: rkyv::Archive> Deref for RkyvArchive<T> {
    type Target = T::Archived;

    fn deref(&self) -> &T::Archived {
        // SAFETY: the bytes are a checked archive, by this type's invariant.
        unsafe { access_unchecked::<T::Archived>(&self.bytes) }
    }
}

impl<T: rkyv::Archive<Archived: Debug>> Debug for RkyvArchive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: rkyv::Archive<Archived: PartialEq>> PartialEq for RkyvArchive<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: rkyv::Archive<Archived: Eq>> Eq for RkyvArchive<T> {}

/// Defines marker types whose empty slices align the place of an archive.
macro_rules! aligned {
    ($($name:ident $align:literal),*) => {$(
        #[derive(Transportable, Debug, Clone, Copy)]
        #[repr(C, align($align))]
        struct $name([u8; $align]);
    )*};
}

aligned!(Aligned16 16, Aligned32 32, Aligned64 64, Aligned128 128);

/// Allocates the place of an archive. Returns the words of a pointer to it.
fn write_archive<'b, T: rkyv::Archive>(bytes: &'b [u8], draft: &mut Draft<'b>) -> [u64; 2] {
    // An empty slice of an aligned type moves the cursor to the start of the archive.
    match const { alignment_of::<T>() } {
        16 => draft.target::<Aligned16>(&[]),
        32 => draft.target::<Aligned32>(&[]),
        64 => draft.target::<Aligned64>(&[]),
        _ => draft.target::<Aligned128>(&[]),
    };
    [draft.target(bytes), bytes.len() as u64]
}

// SAFETY: the bytes are written where `claim` claims them: aligned, in the bulk segment.
#[diagnostic::do_not_recommend]
unsafe impl<T: Archivable> Target for RkyvArchive<T> {
    type InPlace<'b>
        = Self
    where
        Self: 'b;
    const IS_LEAF: bool = true;

    fn write_target<'b>(&'b self, draft: &mut Draft<'b>) -> [u64; 2] {
        write_archive::<T>(&self.bytes, draft)
    }

    fn meta(&self) -> u64 {
        self.bytes.len() as u64
    }
}

// SAFETY: the pass claims the bytes, aligned, and `read_now` checks them.
unsafe impl<T: Archivable> Pointee for RkyvArchive<T> {
    fn claim(edge: Edge, pass: &mut Pass<'_>) -> Result<*const Self, Fault> {
        match const { alignment_of::<T>() } {
            16 => pass.claim::<Aligned16>(edge, 0).map(drop)?,
            32 => pass.claim::<Aligned32>(edge, 0).map(drop)?,
            64 => pass.claim::<Aligned64>(edge, 0).map(drop)?,
            _ => pass.claim::<Aligned128>(edge, 0).map(drop)?,
        }
        Ok(<[u8]>::claim(edge, pass)? as *const Self)
    }

    unsafe fn read_now(target: *const Self, pass: &mut Pass<'_>) -> Result<(), Fault> {
        // SAFETY: `claim` just returned these bytes, and they are initialised. Nothing writes to
        // them while the pass lasts, because a plain target is final once it is claimed.
        let bytes = unsafe { &*(target as *const [u8]) };
        let Err(error) = check::<T>(bytes, pass.levels_left()) else {
            return Ok(());
        };
        pass.set_adapter_error(if error.is_of_depth() {
            let name = short(type_name::<T::Archived>());
            format!(
                "the {name} is deeper than Limits::depth or the {DEPTH} levels of an archive allow"
            )
        } else {
            error.to_string()
        });
        Err(Fault::new(bytes.as_ptr().cast_mut(), FaultKind::Adapter))
    }

    unsafe fn trace_target(_: *const &Self, target: *const Self, trace: &mut Trace) {
        // Skips an empty archive of a zero-sized type: it may have the same address as another
        // slot, and only its own type could have rejected it.
        if (target as *const [u8]).len() > 0 || size_of::<T::Archived>() > 0 {
            let _ = trace.hit(target.cast::<T::Archived>());
        }
    }

    /// Describes a byte with the alignment of an archive, so that a slice of it describes an
    /// archive.
    fn describe(schema: &mut Schema) -> TypeIndex {
        let align = const { alignment_of::<T>() };
        let key = TypeKey {
            id: typeid::of::<Self>(),
            size: 1,
            align,
        };
        schema.define(key, &name_of::<T>(), &mut |_| Kind::Leaf)
    }
}

// SAFETY: a form without the buffer's lifetime is trivially covariant.
unsafe impl<T: Archivable> CovariantTarget for RkyvArchive<T> {}
