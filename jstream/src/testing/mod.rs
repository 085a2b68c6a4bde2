//! Tests of one's own types: what is sent arrives, and nobody is hurt by what is not what was sent.
//!
//! With the feature `testing`. One line for each type:
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
//! [`check`] sends the value, and what arrives once more. Then it damages the message: each byte in
//! several ways; offsets, lengths, tags, numbers of shared objects, classes and plain values, which
//! the type's [schema](crate::schema) leads to, by values at the edge of what may stand there; all
//! by the words of others; and by its length. It also lowers each of the
//! [`Limits`](crate::Limits) to where the message is refused. A damaged message that is accepted is
//! used: printed, sent on, received again.
//!
//! A sample should be small, of a few hundred bytes, and have something of everything: each variant,
//! strings that are not ASCII, shared objects that are met twice. A [`Kit`] is for types that live for
//! less than `'static`, for forms that don't implement [`Debug`], and for what the program does with
//! its objects beyond printing them.
//!
//! With the feature `proptest`, `property` does the like for values of a strategy. In a
//! fuzz target, [`fuzz`] has the fuzzer's bytes decide what is done to a message.

mod attack;
mod damage;
mod finding;
mod kit;
mod limits;
mod places;
#[cfg(feature = "proptest")]
mod property;

use std::fmt::Debug;

pub use self::damage::Script;
pub use self::finding::{Finding, Tally, Wrong};
pub use self::kit::Kit;
pub use self::places::{Meaning, Place, Places, places};
#[cfg(feature = "proptest")]
pub use self::property::{property, scripts};

use crate::model::Transportable;

/// Checks that `value` arrives, and that nothing comes of damage to its message.
///
/// # Panics
///
/// With a [`Finding`], when something does.
pub fn check<T>(value: &T) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    must(Kit::<T>::new().check(value))
}

/// As [`check`]; and what arrives must be right in the eyes of `is_same` too, for which mostly
/// `|form| *form == value` will do.
///
/// # Panics
///
/// As [`check`].
pub fn check_by<T>(value: &T, is_same: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> bool) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    let kit = Kit::<T>::new();
    must(kit.arrives(value, is_same));
    must(kit.check(value))
}

/// Does to the message of `value` what `input` says, and checks that nothing comes of it; says
/// whether the message was accepted. What a fuzz target calls with the fuzzer's bytes:
///
/// ```
/// # let input: &[u8] = &[2, 0, 9, 0, 3];
/// // fuzz_target!(|input: &[u8]| {
/// jstream::testing::fuzz(&vec![Some("text".to_owned()), None], input);
/// // });
/// ```
///
/// As [`Kit::fuzz`].
///
/// # Panics
///
/// With a [`Finding`], when something does come of it.
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
