//! What can travel.
//!
//! | type | arrives as | what is checked |
//! |---|---|---|
//! | integers, `f32`, `f64` | itself | nothing: all bytes are values |
//! | `bool`, `char`, `NonZero*` | itself | that it is one; slices of `bool` and `char` without a branch for each |
//! | `()`, `PhantomData<T>` | itself | nothing |
//! | `[T; N]`, tuples of up to 12 | the same of the parts' forms | each part |
//! | `Option<T>`, `Result<T, E>` | the same of the payload's form, of 1,024 bytes at most | tag, payload |
//! | `Ordering`, `Range*`, `Bound<T>` | itself, of the form of `T` | each bound; a `Range` may end before it starts |
//! | `Wrapping<T>`, `Saturating<T>` | itself | the value |
//! | `Duration`, `SystemTime` (on Unix) | itself | that there are less than 10^9 nanoseconds, and the time can be told |
//! | `Ipv4Addr`, `Ipv6Addr`, `IpAddr`, `SocketAddr*` | itself | the version, and zeroes where nothing belongs |
//! | `&T`, `Box<T>`, `Cow<T>` | `&'b` form | the place, then the target |
//! | `&[T]`, `Vec<T>`, `Box<[T]>`, `Cow<[T]>` | `&'b [form]` | the place, the length, then each element that is not plain |
//! | `&str`, `String`, `Box<str>`, `Cow<str>` | `&'b str` | UTF-8 of all text at once, then both ends |
//! | `&mut [T]` of plain data | `&'b mut [T]` | as `&[T]` |
//! | [`Shared<T>`](crate::Shared), `Rc<T>`, `Arc<T>` | [`Shared<'b, form>`](crate::Shared) | also that a further pointer names an object of its type |
//! | `Cell<Option<&T>>` | `Cell<Option<&'b form>>` | the same; may lead in a circle |
//! | `&dyn Trait`, `Box`, `Rc`, `Arc` of it | `&'b (dyn Trait + 'b)`, or `Shared` of it | that the class is registered, then the object as one of that class |
//! | `BTreeMap`, `BTreeSet` | [`SortedMap`](crate::map::SortedMap), [`SortedSet`](crate::map::SortedSet) | each key and value, not their order |
//! | `HashMap`, `HashSet` | [`HashedMap`](crate::map::HashedMap), [`HashedSet`](crate::map::HashedSet) | each key and value, not their buckets |
//! | structs and enums that derive it | itself, or its form | each field; of an enum the tag |
//!
//! References in a type that derives [`Transportable`](crate::Transportable) have one lifetime,
//! that of the buffer. What needs dropping is never in a buffer, nor what a `RefCell`, `Mutex` or
//! atomic guards: fields of these are [skipped](super::fields), or leave as [something
//! else](crate::Adapter).
//!
//! With a feature of the crate's name these travel too:
//!
//! | feature | type | arrives as |
//! |---|---|---|
//! | `arrayvec` | `ArrayVec<T, N>`, `ArrayString<N>` | `&'b [form]`, `&'b str` |
//! | `bytes` | `Bytes`, `BytesMut` | `&'b [u8]` |
//! | `indexmap` | `IndexMap`, `IndexSet` | [`IndexedMap`](crate::map::IndexedMap), [`IndexedSet`](crate::map::IndexedSet) |
//! | `jiff` | `Timestamp`, `SignedDuration`, `civil::{Date, Time, DateTime}` | itself |
//! | `ndarray` | `ArrayBase` of up to six dimensions, and of any number | `NdArray<'b, form, shape>`, whose `view` is an `ArrayView` |
//! | `rkyv` | any type that rkyv archives, in a `Rkyv<T>`; an archive that is there, in a `RkyvBuf<T>` | `&'b RkyvArchive<T>`, which is a `rkyv::Archived<T>` |
//! | `smallvec` | `SmallVec<[T; N]>` | `&'b [form]` |
//! | `uuid` | `Uuid` | itself |
//!
//! Anything else: see [`manual_impls`](super::manual_impls).
//!
//! Each of these may be the root of a message, and may be a part of any other.
//!
//! ```
//! use std::net::SocketAddr;
//! use std::num::NonZeroU16;
//! use std::ops::Range;
//! use std::time::Duration;
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, PartialEq, Clone)]
//! struct Probe {
//!     peer: SocketAddr,
//!     every: Duration,
//!     ports: Range<u16>,
//!     retries: Option<NonZeroU16>,
//!     last: Result<[u8; 4], (char, bool)>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let probe = Probe {
//!     peer: "[::1]:4000".parse()?,
//!     every: Duration::from_millis(1500),
//!     ports: 1024..2048,
//!     retries: NonZeroU16::new(3),
//!     last: Err(('!', true)),
//! };
//! let all = vec![probe.clone(), probe.clone()];
//! let message = Writer::new().write(&all, Spent::heap(1024))?;
//! let received = Reader::default().read::<Vec<Probe>>(message)?;
//! assert_eq!(received.get(), &all);
//! # Ok(())
//! # }
//! ```
//!
//! # Sizes
//!
//! A value has its size in memory, a reference 8 bytes, a slice or text 16 and what it leads to.
//! There is a header of 40 bytes, no table of fields, and no compression: of many small numbers a
//! message is larger than one of a format that packs them.
