//! Transportable types.
//!
//! | type | received as | check on reading |
//! |---|---|---|
//! | integers, `f32`, `f64` | itself | none: every bit pattern is valid |
//! | `bool`, `char`, `NonZero*` | itself | the value is valid; slices of `bool` and `char` are checked without a branch per element |
//! | `()`, `PhantomData<T>` | itself | none |
//! | `[T; N]`, tuples of up to 12 | an array or tuple of the parts' forms | each part |
//! | `Option<T>`, `Result<T, E>` | an `Option` or `Result` of the payload's form, which has at most 1,024 bytes | tag, payload |
//! | `Ordering`, `Range*`, `Bound<T>` | itself, with the form of `T` | the value or each bound; a `Range` may end before it starts |
//! | `Wrapping<T>`, `Saturating<T>` | itself | the value |
//! | `Duration`, `SystemTime` (on Unix) | itself | fewer than 10^9 nanoseconds; the time is representable |
//! | `Ipv4Addr`, `Ipv6Addr`, `IpAddr`, `SocketAddr*` | itself | the version; unused bytes are zero |
//! | `&T`, `Box<T>`, `Cow<T>` | `&'b` form | the position, then the target |
//! | `&[T]`, `Vec<T>`, `Box<[T]>`, `Cow<[T]>` | `&'b [form]` | the position, the length, then each element that is not plain data |
//! | `&str`, `String`, `Box<str>`, `Cow<str>` | `&'b str` | UTF-8 of the whole text segment at once, then both ends of the string |
//! | `&Path`, `PathBuf`, `&OsStr`, `OsString`, `Box`, `Cow`, `Rc` and `Arc` of them (on Unix) | `&'b Path`, `&'b OsStr`, or `Shared` of it | the position and the length: any bytes are a value |
//! | `&mut [T]` of plain data | `&'b mut [T]` | as for `&[T]` |
//! | [`Shared<T>`](crate::Shared), `Rc<T>`, `Arc<T>` | [`Shared<'b, form>`](crate::Shared) | as for `&T`; further pointers to an object also have the object's type |
//! | `Cell<Option<&T>>` | `Cell<Option<&'b form>>` | as for `Shared`; may close a cycle |
//! | `&dyn Trait`, `Box`, `Rc`, `Arc` of it | `&'b (dyn Trait + 'b)`, or `Shared` of it | the implementation is registered, then the object as a value of that type |
//! | `BTreeMap`, `BTreeSet` | [`SortedMap`](crate::map::SortedMap), [`SortedSet`](crate::map::SortedSet) | each key and value, but not their order |
//! | `HashMap`, `HashSet` | [`HashedMap`](crate::map::HashedMap), [`HashedSet`](crate::map::HashedSet) | each key and value, but not their buckets |
//! | structs and enums that derive `Transportable` | itself, or its form | each field; the tag of an enum |
//!
//! A `Box<Path>` is one of `std::path::Path` unless there is a `PathRef` in scope. For a type
//! `Path` of the program, import its form `PathRef` beside it.
//!
//! All references in a type that derives [`Transportable`](crate::Transportable) have one lifetime,
//! that of the buffer. A buffer never contains a value that needs dropping, nor the contents of a
//! `RefCell`, `Mutex` or atomic. [Skip](super::fields) a field of such a type, or send another
//! value in its place with an [`Adapter`](crate::Adapter).
//!
//! With the feature of the crate's name, these types are transportable too:
//!
//! | feature | type | received as |
//! |---|---|---|
//! | `arrayvec` | `ArrayVec<T, N>`, `ArrayString<N>` | `&'b [form]`, `&'b str` |
//! | `bstr` | `&BStr`, `BString`, `Box<BStr>`, `Cow<BStr>` | `&'b BStr` |
//! | `bytecheck` | any plain type that derives bytecheck's `CheckBytes` and zerocopy's `TryFromBytes` and `IntoBytes`, in a `Checked<T>` | itself |
//! | `bytes` | `Bytes`, `BytesMut` | `&'b [u8]` |
//! | `chrono` | `NaiveDate`, `NaiveTime`, `NaiveDateTime`, `DateTime<Utc>`, `DateTime<FixedOffset>`, `FixedOffset`, `TimeDelta`, `Weekday`, `Month` | itself |
//! | `glam` 0.34 | vectors and matrices of `f32` and `f64`, vectors of `i32` and `u32`, quaternions, affine transforms | itself |
//! | `half` | `f16`, `bf16` | itself |
//! | `indexmap` | `IndexMap`, `IndexSet` | [`IndexedMap`](crate::map::IndexedMap), [`IndexedSet`](crate::map::IndexedSet) |
//! | `jiff` | `Timestamp`, `SignedDuration`, `civil::{Date, Time, DateTime}` | itself |
//! | | `Zoned`, in a field `with = jstream::ZonedByName` | `(Timestamp, &'b str)`, with the name of the zone |
//! | `ndarray` | `ArrayBase` with up to six dimensions, or with a dynamic number of dimensions | `NdArray<'b, form, shape>`, whose `view` is an `ArrayView`; as itself, by `NdArray::try_from(&array)` |
//! | `rkyv` | any type that rkyv archives, in a `Rkyv<T>`; an existing archive, in a `RkyvBuf<T>` | `&'b RkyvArchive<T>`, which is a `rkyv::Archived<T>` |
//! | `smallvec` | `SmallVec<[T; N]>` | `&'b [form]` |
//! | `time` | `Date`, `Time`, `PrimitiveDateTime`, `UtcDateTime`, `OffsetDateTime`, `UtcOffset`, `Duration`, `Weekday`, `Month` | itself |
//! | `uuid` | `Uuid` | itself |
//!
//! Dates and times are refused if their crate could not have made them. A time in a zone is also
//! refused if the time in UTC, or the local time, is not representable.
//!
//! For all other types, see [`manual_impls`](super::manual_impls).
//!
//! Each type in these tables can be the root of a message or a part of another type.
//!
//! ```
//! use std::net::SocketAddr;
//! use std::num::NonZeroU16;
//! use std::ops::Range;
//! use std::time::Duration;
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! let message = Writer::new().write(&all, EmptyBuffer::heap(1024))?;
//! let received = Reader::default().read::<Vec<Probe>>(message)?;
//! assert_eq!(received.get(), &all);
//! # Ok(())
//! # }
//! ```
//!
//! # Sizes
//!
//! A value takes its size in memory. A reference takes 8 bytes; a slice or text takes 16 bytes plus
//! its contents. A message has a header of 40 bytes, no table of fields, and no compression. If it
//! consists of many small numbers, it is larger than a message of a format that packs them.
