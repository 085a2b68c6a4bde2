//! Conversion of messages between two versions of a type.
//!
//! A [`Reader`](crate::Reader) that has [learnt](crate::Reader::learn) the schema of an older or
//! newer version of a type reads messages of that version: they are converted to messages of the
//! program's own version, which are then checked and read in place like any other. The page
//! [`versions`](crate::guide::versions) of the guide has the rules. [`compatibility`] lists the
//! differences between two schemas and their effects.
//!
//! # How a message is converted
//!
//! A plan is made once per pair of schemas. A message is scanned in the order of its own schema,
//! and then emitted in the order of the other one. `FORMAT.md` specifies the
//! result, in section 12, and decision record 116 has the reasons.
//!
//! Neither the message, nor its schema, nor the rules of evolution are trusted. Memory safety does
//! not depend on this module, because the reader checks the result. Work and memory are bounded by
//! the lengths of the message and of the result, and those of plans by constants.
#![forbid(unsafe_code)]

mod bulk;
mod compile;
mod conversion;
mod converter;
mod emit;
mod finding;
mod layout;
mod leaf;
mod number;
mod own_classes;
mod plan;
mod planner;
mod scan;
mod scan_steps;
#[cfg(all(test, not(loom)))]
mod tests;
mod types;

use std::sync::Arc;

pub use conversion::{Conversion, ConversionError, OldClasses};
pub(crate) use converter::{ConversionFailure, Converter, NewType};
pub use finding::{Change, Compatibility, Effect, Finding};
pub use layout::InvalidSchema;
#[cfg(all(feature = "file", unix))]
pub(crate) use own_classes::OwnClasses;

use self::planner::make_plan;
use self::types::Types;
use crate::schema::{Schema, TypeIndex};

/// Returns the differences between an old and a new version of a type, and what they mean for
/// messages of the old version that a program reads as the new one. Each version is a schema and
/// its root.
///
/// ```
/// use jstream::Transportable;
/// use jstream::evolve::{Effect, compatibility};
/// use jstream::schema::Schema;
///
/// mod old {
///     # use jstream::Transportable;
///     #[derive(Transportable)]
///     pub struct Order {
///         id: u32,
///         price: f64,
///     }
/// }
///
/// #[derive(Transportable)]
/// struct Order {
///     id: u64,
///     price: f64,
///     note: Option<String>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (old, old_root) = Schema::of::<old::Order>();
/// let (new, new_root) = Schema::of::<Order>();
/// let forward = compatibility((&old, old_root), (&new, new_root))?;
/// assert_eq!(forward.effect(), Effect::Converted);
/// // The other direction: programs that were not upgraded yet.
/// let backward = compatibility((&new, new_root), (&old, old_root))?;
/// assert_eq!(backward.effect(), Effect::Refused);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`InvalidSchema`] if one of the schemas is inconsistent.
pub fn compatibility(
    old: (&Schema, TypeIndex),
    new: (&Schema, TypeIndex),
) -> Result<Compatibility, InvalidSchema> {
    let old = Arc::new(Types::new(old.0.clone(), old.1)?);
    let new = Arc::new(Types::new(new.0.clone(), new.1)?);
    Ok(match make_plan(old, new) {
        Ok(plan) => plan.compatibility().clone(),
        Err(compatibility) => compatibility,
    })
}
