//! The in-place forms of maps and sets.
//!
//! | sent | arrives as | lookup |
//! |---|---|---|
//! | `BTreeMap<K, V>`, `BTreeSet<K>` | [`SortedMap`], [`SortedSet`] | `Ord`, binary search |
//! | `HashMap<K, V, S>`, `HashSet<K, S>` | [`HashedMap`], [`HashedSet`] | `Hash` and `Eq`, hash table |
//! | `IndexMap<K, V, S>`, `IndexSet<K, S>` (feature `indexmap`) | [`IndexedMap`], [`IndexedSet`] | the same, iterated in insertion order |
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! let message = Writer::new().write(&root, EmptyBuffer::heap(4096))?;
//! let received = Reader::default().read::<Dir>(message)?;
//! let src = received.get().dirs.get("src").ok_or("no src")?;
//! assert_eq!(src.sizes.get("lib.rs"), Some(&4100));
//! assert!(src.sizes.range("m"..).eq([(&"model.rs", &9400)]));
//! # Ok(())
//! # }
//! ```
//!
//! Lookups and iteration allocate nothing. Keys and values are stored in separate columns, so
//! columns of plain values are sent and read as a whole. Reading runs no code of the key's type.
//!
//! Decision 027 has the reasons.
//!
//! # What is not checked
//!
//! Reading a map does not check that its keys are sorted, distinct, or in the right bucket. It
//! makes no assumption about the program's `Ord`, `Hash` and `Eq` either. If these properties do
//! not hold, lookups return wrong results. They do not panic unless the program's functions do, and
//! take no longer than in a valid map.
//!
//! A lookup compares at most 1,024 keys with the same 64-bit hash, and does not find keys beyond
//! those. Only a map with a poor `Hash`, or a forged one, has more of them. Two maps of such keys
//! are equal if their keys are in the same order; in another order they may compare as different.
//! `==` makes at most one lookup for each key of either map.
//!
//! # Hashes
//!
//! Both the sender and a lookup hash keys through [`Hash`](std::hash::Hash), with hash functions of
//! this crate. So a key that owns its parts must have the same hash as its in-place form, which
//! derived `Hash` implementations guarantee, and a hash must not depend on addresses or anything
//! else that differs between processes. Integers hash by their value, whatever their width.
//!
//! Equal maps are written as equal bytes, whatever the order of insertion. For unordered maps this
//! holds unless several keys agree in two hashes of 64 bits.

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

pub(crate) use self::table::{TableEntry, arrange, arranged, starts_of};
