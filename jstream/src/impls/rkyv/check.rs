//! The check of an archive, done by rkyv and bytecheck up to a maximum depth.
//!
//! The check recurses for each pointer of the archive, so the depth is bounded whatever the bytes
//! are.
//!
//! Decision 028 has the reasons.

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

/// An rkyv type whose archives can be checked. This holds for all types that derive
/// `rkyv::Archive`, because the feature `bytecheck` is enabled.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no archive that can be checked",
    note = "derive `rkyv::Archive` and `rkyv::Serialize` for it; a recursive type needs \
            `#[rkyv(bytecheck(bounds(..)))]` as described in rkyv's documentation"
)]
pub trait Archivable:
    rkyv::Archive<Archived: for<'a> CheckBytes<HighValidator<'a, RkyvError>>>
{
}

impl<T> Archivable for T where
    T: rkyv::Archive<Archived: for<'a> CheckBytes<HighValidator<'a, RkyvError>>>
{
}

/// Maximum number of pointers that may follow one another in an archive. The stack usage of the
/// check per level depends on the type and the compiler. Measurements with lists, maps and shared
/// pointers gave 3 to 6 KiB without optimisation, and at most 1 KiB with it. A thread of `std` has
/// 2 MiB.
pub(super) const DEPTH: usize = 128;

/// Returns the alignment of an archive of `T`: that of rkyv's own buffers, or more if the root
/// needs it.
pub(super) const fn alignment_of<T: rkyv::Archive>() -> usize {
    const LEAST: usize = 16;
    let align = align_of::<T::Archived>();
    assert!(
        align <= ALIGNMENT,
        "an archived type may be aligned to 128 bytes at most"
    );
    if align > LEAST { align } else { LEAST }
}

/// Checks that `bytes` are an archive in which at most `depth` pointers follow one another.
pub(super) fn check<T: Archivable>(bytes: &[u8], depth: usize) -> Result<(), RkyvError> {
    // The root takes one level, and one level must be left over.
    let levels = NonZeroUsize::MIN.saturating_add(depth.min(DEPTH).saturating_add(1));
    let archive = ArchiveValidator::with_max_depth(bytes, Some(levels));
    let mut validator = Validator::new(archive, SharedValidator::new());
    let root = root_position::<T::Archived>(bytes.len());
    check_pos_with_context::<T::Archived, _, RkyvError>(bytes, root, &mut validator)
        .map_err(|error| error.with_offsets_from(bytes.as_ptr().addr()))
}

/// Returns a description of the type that does not need a value: the name of its archived type
/// without paths, that type's size and alignment, and the format that rkyv was built for.
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

/// Returns true if archived numbers have the byte order of this machine.
fn is_native() -> bool {
    let one = ArchivedU16::from_native(1);
    // SAFETY: an archived number has the size of the number, no padding, and any bytes are a value.
    let bits: u16 = unsafe { std::mem::transmute_copy(&one) };
    bits == 1
}
