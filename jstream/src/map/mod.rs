//! The in-place forms of maps and sets.
//!
//! | sent | arrives as | found by |
//! |---|---|---|
//! | `BTreeMap<K, V>`, `BTreeSet<K>` | [`SortedMap`], [`SortedSet`] | `Ord`, by halving |
//! | `HashMap<K, V, S>`, `HashSet<K, S>` | [`HashedMap`], [`HashedSet`] | `Hash` and `Eq`, in a table of buckets |
//! | `IndexMap<K, V, S>`, `IndexSet<K, S>` (feature `indexmap`) | [`IndexedMap`], [`IndexedSet`] | the same, in the order of insertion |
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Dir {
//!     sizes: BTreeMap<String, u64>,
//!     dirs: BTreeMap<String, Dir>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sizes = BTreeMap::from([("lib.rs".to_owned(), 4100), ("model.rs".to_owned(), 9400)]);
//! let src = Dir { sizes, dirs: BTreeMap::new() };
//! let root = Dir { sizes: BTreeMap::new(), dirs: BTreeMap::from([("src".to_owned(), src)]) };
//!
//! let message = Writer::new().write(&root, Spent::heap(4096))?;
//! let received = Reader::default().read::<Dir>(message)?;
//! let src = received.get().dirs.get("src").ok_or("no src")?;
//! assert_eq!(src.sizes.get("lib.rs"), Some(&4100));
//! assert!(src.sizes.range("m"..).eq([(&"model.rs", &9400)]));
//! # Ok(())
//! # }
//! ```
//!
//! Lookups and iteration allocate nothing. Keys stand in one column, values in another, so that
//! columns of plain values are sent and read whole. Reading runs no code of the key's type.
//!
//! # What is not checked
//!
//! That keys are sorted, differ, or stand in the right bucket is not checked when a map is read,
//! nor is anything known of the program's `Ord`, `Hash` and `Eq`. Where that is not so, lookups
//! give wrong answers; they don't panic unless these do, and take no longer than on a right map.
//!
//! A lookup compares at most 1,024 keys of one 64-bit hash. Keys beyond those are not found. Only a
//! map whose keys have a poor `Hash`, or one that somebody forged, has more of them.
//! Two maps of such keys are equal if their keys stand in the same order; in another order they may
//! differ. `==` makes at most one lookup for each key of either map.
//!
//! # Hashes
//!
//! Whoever sends a map hashes its keys through [`Hash`](std::hash::Hash), and so does whoever looks
//! one up, with hash functions of this crate. So a key that owns its parts and its in-place form
//! must hash alike, as derived `Hash`es do, and a hash must not depend on addresses or anything else
//! that differs from one process to another. Integers hash by their value, whatever their width.
//!
//! Equal maps become equal bytes, whatever order they were filled in; of the maps that are not
//! ordered that is true unless several keys agree in two hashes of 64 bits.

mod common;
mod hash;
mod hashed;
mod indexed;
mod iter;
mod sorted;
mod table;

pub use self::hashed::{HashedMap, HashedSet};
pub use self::indexed::{IndexedMap, IndexedSet};
pub use self::iter::Iter;
pub use self::sorted::{SortedMap, SortedSet};
#[doc(hidden)]
pub use self::{
    hashed::{HashedMapRef, HashedSetRef},
    indexed::{IndexedMapRef, IndexedSetRef},
    sorted::{SortedMapRef, SortedSetRef},
};

pub(crate) use self::table::{Entry, arrange, starts};
