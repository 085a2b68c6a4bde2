//! Looking into messages, streams and files: the program `jstream-inspect`.
//!
//! ```text
//! cargo install jstream --features cli
//! jstream-inspect orders.jsf
//! ```
//!
//! It needs no source of any type. A file brings the schemas of its objects along, and those of the
//! classes of trait objects in them; of a message or a stream they are named, as the bytes that
//! [`Schema::to_bytes`](crate::schema::Schema::to_bytes) makes:
//!
//! ```no_run
//! use jstream::Transportable;
//! use jstream::schema::Schema;
//!
//! #[derive(Transportable)]
//! struct Order { id: u64, legs: Vec<u32> }
//!
//! # fn main() -> std::io::Result<()> {
//! let (schema, root) = Schema::of::<Order>();
//! std::fs::write("order.schema", schema.to_bytes(root))
//! # }
//! ```
//!
//! ```text
//! jstream-inspect message --schema order.schema
//! ```
//!
//! The header comes first, then the types with their sizes and the places of their fields, then
//! each value at its place, what pointers lead to below the pointers:
//!
//! ```text
//! object 0 at 0x0: Order, 204 bytes
//!   0x0000  magic        "jst", version 1
//!   0x0004  bulk align   8
//!   0x0008  descriptor   0x943a43f30e18b49f
//!   0x0010  objects end  0x88: 96 bytes of objects from 0x28
//!   0x0018  bulk length  48 bytes from 0x88
//!   0x0020  text length  20 bytes from 0xb8
//!
//!   0x0028  Order
//!   0x0028    id: u64 = 7
//!   0x0030    symbol: &str = "ACME"
//!   0x0040    legs: &[Leg] = → 0x88 3 elements
//!   0x0088      [0]: Leg
//!   0x0088        price: f64 = 99.5
//!   0x0090        quantity: u32 = 2
//!   0x0094        side: Side = Buy
//!   …
//!   0x0050    parent: Option<&Order> = Some(→ 0x58 Order)
//!   0x0058      id: u64 = 18446744073709551615
//! ```
//!
//! A shared object has a number: `#1 → 0x50 Person` where it is met first, `→ #1 again` from then
//! on. With `--hex` the bytes stand beside the values.
//!
//! Of a file its commits and the chunks of its index come before that:
//!
//! ```text
//! file
//!   0x00000000  header       "jstfile", version 1
//!   0x00000200  commit       generation 1, end 0x950, objects 1, index at 0x900, schemas at 0x880
//!   0x00000400  commit       generation 2, end 0xb78, objects 2, index at 0xb00, schemas at 0xa80; this one counts
//!   0x00000b00  index chunk  objects 0 to 1
//! ```
//!
//! Everything is checked, also what is not shown, as a [`Reader`](crate::Reader) checks it; only
//! its limits, and what functions of the program approve, are unknown here. What is wrong is shown
//! at its byte, behind all that was found before it, and the program ends with 1:
//!
//! ```text
//! error: Order.legs[2].side: byte 9 is not a Side (at offset 0xb4)
//!   0x00a0  0a 00 00 00 07 00 00 00 00 00 00 00 00 00 f0 7f  |................|
//!   0x00b0  ff ff ff ff 09 00 00 00 41 43 4d 45 67 72 c3 b6  |........ACMEgr..|
//!                       ^^
//! ```
//!
//! | option | |
//! |---|---|
//! | `--schema FILE` | a schema, of the root or of a trait object's class; may be said again |
//! | `--object N` | only this object of a stream or file; of a file nothing else is read, and its checksum compared |
//! | `--limit N`, `--depth N`, `--values N` | how much is shown |
//! | `--bytes N` | how much is read into memory at once, 1 GiB at most if not said: an object of a file, or all of a stream |
//! | `--hex` | the bytes beside the values |
//! | `--json` | everything for programs; the module `jstream::inspect::json` says what stands where |
//! | `--dot`, `--svg FILE` | the objects as boxes, and the pointers as arrows; shared objects once |
//! | `--quiet` | only check |
//!
//! Of a capture of a connection ([`capture`](crate::capture)) the messages are listed, and
//! `--object N` shows the values of one, by the schemas that are there.
//!
//! `-` instead of a file is the standard input. The exit code is 0 when all is well, 1 when the
//! data is wrong or a schema is missing, and 2 when the program was called in a wrong way or can't
//! read a file.
//!
//! Programs can look into messages too: the module `jstream::inspect`, behind the feature `cli`,
//! gives the tree of values that is printed here; `value` there is the JSON in which people write
//! values, and `compose` makes messages of it for types that the program does not have.
