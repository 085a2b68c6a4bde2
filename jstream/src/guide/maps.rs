//! Maps and sets.
//!
//! Maps and sets are received as tables in the buffer: sorted columns, or columns with an index of
//! hash buckets. Reading builds and allocates nothing. As in `std`, a lookup accepts a borrowed
//! form of the key.
//!
//! ```
//! use std::collections::{BTreeMap, HashMap, HashSet};
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Shop {
//!     stock: HashMap<String, u32>,
//!     prices: BTreeMap<u64, Vec<String>>,
//!     closed: HashSet<(u8, u8)>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shop = Shop {
//!     stock: HashMap::from([("nuts".to_owned(), 12), ("bolts".to_owned(), 7)]),
//!     prices: BTreeMap::from([(5, vec!["nuts".to_owned()]), (9, vec![])]),
//!     closed: HashSet::from([(24, 12)]),
//! };
//! let message = Writer::new().write(&shop, EmptyBuffer::heap(4096))?;
//! let received = Reader::default().read::<Shop>(message)?;
//!
//! let shop: &ShopRef<'_> = received.get();
//! assert_eq!(shop.stock.get("bolts"), Some(&7));
//! assert_eq!(shop.stock.get("screws"), None);
//! assert_eq!(shop.stock.iter().map(|(_, count)| count).sum::<u32>(), 19);
//! assert_eq!(shop.prices.range(6..).next().map(|(price, _)| price), Some(&9));
//! assert!(shop.closed.contains(&(24, 12)));
//!
//! // Conversion back to the owned type.
//! let again: Shop = shop.to_owned()?;
//! assert_eq!(again.stock["nuts"], 12);
//! # Ok(())
//! # }
//! ```
//!
//! Keys that own their parts are looked up by the type that they borrow as: a `HashMap<String, _>`
//! by `&str`. If a key type of the program has a form, the type must hash and compare as its form
//! does. Derived `Hash`, `Eq` and `Ord` satisfy this if both have them: name them in
//! `#[transportable(derive(...))]`.
//!
//! No code of the key's type runs while a map is read, so reading does not verify the order of the
//! keys. If a sender sends keys that are unsorted or duplicate, lookups return wrong results, but
//! they neither panic nor search without bound: a lookup compares at most 1,024 keys with equal
//! hashes. The module [`map`](crate::map) documents the checks and the hash functions. If the
//! program relies on the order, check it in a [`verify`](super::fields) function.
