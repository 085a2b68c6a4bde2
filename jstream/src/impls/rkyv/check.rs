//! The check of an archive: rkyv's and bytecheck's own, to a depth.
//!
//! It recurses over the archive, a level for each pointer, so the depth is bounded whatever the bytes.

use std::mem::{align_of, size_of};
use std::num::NonZeroUsize;

use rkyv::api::high::HighValidator;
use rkyv::api::{check_pos_with_context, root_position};
use rkyv::bytecheck::CheckBytes;
use rkyv::primitive::{ArchivedU16, ArchivedU64, ArchivedUsize};
use rkyv::validation::Validator;
use rkyv::validation::archive::ArchiveValidator;
use rkyv::validation::shared::SharedValidator;

use super::error::RkyvError;
use crate::buffer::ALIGNMENT;
use crate::read::short;

/// A type of rkyv's whose archives can be checked, as all types are that derive `rkyv::Archive` with the
/// feature `bytecheck`, which is on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no archive that can be checked",
    note = "derive `rkyv::Archive` and `rkyv::Serialize` for it; a recursive type needs \
            `#[rkyv(bytecheck(bounds(..)))]` as rkyv's documentation has it"
)]
pub trait Archivable:
    rkyv::Archive<Archived: for<'a> CheckBytes<HighValidator<'a, RkyvError>>>
{
}

impl<T> Archivable for T where
    T: rkyv::Archive<Archived: for<'a> CheckBytes<HighValidator<'a, RkyvError>>>
{
}

/// How many pointers may follow one another in an archive. How much stack a level of the check takes is
/// up to the type and the compiler: 3 to 6 KiB where nothing is optimised, else 1 KiB at most, were
/// measured with lists, maps and shared pointers. A thread of `std` has 2 MiB.
pub(super) const DEPTH: usize = 128;

/// The alignment of an archive of `T`: what rkyv's own buffers have, or more if the root needs it.
pub(super) const fn alignment_of<T: rkyv::Archive>() -> usize {
    const LEAST: usize = 16;
    let align = align_of::<T::Archived>();
    assert!(
        align <= ALIGNMENT,
        "an archived type may be aligned to 128 bytes at most"
    );
    if align > LEAST { align } else { LEAST }
}

/// Checks that `bytes` are an archive with at most `depth` pointers one after another.
pub(super) fn check<T: Archivable>(bytes: &[u8], depth: usize) -> Result<(), RkyvError> {
    // The root takes one level, and one must be left over.
    let levels = NonZeroUsize::MIN.saturating_add(depth.min(DEPTH).saturating_add(1));
    let archive = ArchiveValidator::with_max_depth(bytes, Some(levels));
    let mut validator = Validator::new(archive, SharedValidator::new());
    let root = root_position::<T::Archived>(bytes.len());
    check_pos_with_context::<T::Archived, _, RkyvError>(bytes, root, &mut validator)
        .map_err(|error| error.counted_from(bytes.as_ptr().addr()))
}

/// What is known of a type without asking it: the name of its archived type without paths, that type's
/// size and alignment, and in which of its formats rkyv was built.
pub(super) fn name_of<T: rkyv::Archive>() -> String {
    let name = short(std::any::type_name::<T::Archived>());
    let (size, align) = (size_of::<T::Archived>(), align_of::<T::Archived>());
    let width = size_of::<ArchivedUsize>().wrapping_mul(8);
    let order = if cfg!(target_endian = "little") == is_native() {
        "little"
    } else {
        "big"
    };
    let packed = if align_of::<ArchivedU64>() == 1 {
        ", unaligned"
    } else {
        ""
    };
    format!("rkyv<{name}, {size} bytes, aligned to {align}, {width}-bit, {order}-endian{packed}>")
}

/// Whether archived numbers have this machine's order of bytes.
fn is_native() -> bool {
    let one = ArchivedU16::from_native(1);
    // SAFETY: an archived number is as large as the number, without padding, and any bytes are one.
    let bits: u16 = unsafe { std::mem::transmute_copy(&one) };
    bits == 1
}
