//! Tests for your own types: values arrive as sent, and damaged messages do no harm.
//!
//! Requires the feature `testing`. One line per type is enough:
//!
//! ```
//! use jstream::{Transportable, testing};
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug))]
//! struct Player {
//!     name: String,
//!     lives: Option<u8>,
//!     inventory: Vec<Item>,
//! }
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug))]
//! enum Item {
//!     Coins(u32),
//!     Book { pages: Vec<String> },
//! }
//!
//! # fn main() {
//! let pages = vec!["once".to_owned(), "upon".to_owned()];
//! let inventory = vec![Item::Coins(3), Item::Book { pages }];
//! let player = Player { name: "Ada".to_owned(), lives: Some(7), inventory };
//! let tally = testing::check(&player);
//! assert!(tally.refused > 1000);
//! # }
//! ```
//!
//! [`check`] sends the value, and sends the received object again. Then it damages the message:
//!
//! - each byte, in several ways
//! - offsets, lengths, tags, numbers of shared objects, classes and plain values, which it finds by
//!   the type's [schema](crate::schema): by boundary values and by the values of other places
//! - the length of the message
//!
//! The kit also lowers each of the [`Limits`](crate::Limits) until the message is refused. A
//! damaged message that is accepted is used: formatted, sent on and received again.
//!
//! A sample should be small, a few hundred bytes, and cover every feature of the type: each
//! variant, strings that are not ASCII, shared objects that are referenced twice. Use a [`Kit`] for
//! types with lifetimes shorter than `'static`, for forms that do not implement [`Debug`], and to
//! use objects in other ways than by formatting them.
//!
//! [`write_snapshot`] keeps the structure of a released version of a type in a file.
//! `assert_compatible` checks in a test that messages of that version can still be read.
//!
//! With the feature `proptest`, `property` does the same for values of a strategy. In a fuzz
//! target, [`fuzz`] lets the fuzzer's input determine the damage.

mod attack;
mod damage;
mod finding;
mod kit;
mod limits;
mod places;
#[cfg(feature = "proptest")]
mod property;
mod snapshot;

use std::fmt::Debug;

pub use self::damage::Script;
pub use self::finding::{Finding, Tally, Wrong};
pub use self::kit::Kit;
pub use self::places::{Meaning, Place, Places, places};
#[cfg(feature = "proptest")]
pub use self::property::{property, scripts};
pub use self::snapshot::{SnapshotFileError, write_snapshot};
#[cfg(feature = "evolve")]
pub use self::snapshot::{assert_compatible, compatibility_with};

use crate::model::Transportable;

/// Checks that `value` arrives as sent, and that damage to its message does no harm.
///
/// # Panics
///
/// Panics with a [`Finding`] if the check fails.
pub fn check<T>(value: &T) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    must(Kit::<T>::new().check(value))
}

/// Like [`check`]; additionally, `is_same` must accept the received object. `|form| *form == value`
/// is sufficient for most types.
///
/// # Panics
///
/// Panics as [`check`] does.
pub fn check_by<T>(value: &T, is_same: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> bool) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    let kit = Kit::<T>::new();
    must(kit.arrives(value, is_same));
    must(kit.check(value))
}

/// Damages the message of `value` as `input` describes, and checks that it does no harm. Returns
/// true if the damaged message was accepted. A fuzz target calls it with the fuzzer's input:
///
/// ```
/// # let input: &[u8] = &[2, 0, 9, 0, 3];
/// // fuzz_target!(|input: &[u8]| {
/// jstream::testing::fuzz(&vec![Some("text".to_owned()), None], input);
/// // });
/// ```
///
/// [`Kit::fuzz`] describes the format of the input.
///
/// # Panics
///
/// Panics with a [`Finding`] if the check fails.
pub fn fuzz<T>(value: &T, input: &[u8]) -> bool
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    must(Kit::<T>::new().fuzz(value, input))
}

fn must<R>(result: Result<R, Finding>) -> R {
    result.unwrap_or_else(|finding| panic!("{finding}"))
}
