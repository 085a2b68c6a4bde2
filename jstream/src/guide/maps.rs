//! Maps and sets.
//!
//! They arrive as tables that lie in the buffer: sorted columns, or columns with an index of
//! buckets. Nothing is built or allocated by reading, and lookups borrow as those of `std` do.
//!
//! ```
//! use std::collections::{BTreeMap, HashMap, HashSet};
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! let message = Writer::new().write(&shop, Spent::heap(4096))?;
//! let received = Reader::default().read::<Shop>(message)?;
//!
//! let shop: &ShopRef<'_> = received.get();
//! assert_eq!(shop.stock.get("bolts"), Some(&7));
//! assert_eq!(shop.stock.get("screws"), None);
//! assert_eq!(shop.stock.iter().map(|(_, count)| count).sum::<u32>(), 19);
//! assert_eq!(shop.prices.range(6..).next().map(|(price, _)| price), Some(&9));
//! assert!(shop.closed.contains(&(24, 12)));
//!
//! // And back to what it was.
//! let again: Shop = shop.to_owned()?;
//! assert_eq!(again.stock["nuts"], 12);
//! # Ok(())
//! # }
//! ```
//!
//! Keys that own their parts are found by what they borrow: a `HashMap<String, _>` by `&str`. A key
//! of the program's own that has a form must hash, and compare, as its form does, as derived
//! `Hash`, `Eq` and `Ord` do on both: name them in `#[transportable(derive(...))]`.
//!
//! No code of the key's type runs while a map is read, so its order is believed of nobody: who
//! sends keys that are not sorted, or twice, gets wrong answers from lookups, but no panic and no
//! unbounded search: a lookup compares at most 1,024 keys that hash alike. [`map`](crate::map) says
//! what is checked, and how keys are hashed. Where it matters that a map is right, walk it in a
//! [`verify`](super::fields) function.
