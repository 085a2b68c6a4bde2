//! Inspecting messages, streams and files with the program `jstream-inspect`.
//!
//! ```text
//! cargo install jstream --features cli
//! jstream-inspect orders.jsf
//! ```
//!
//! The program does not need the source of any type. A file contains the schemas of its objects,
//! and of the implementations of their trait objects. For a message or a stream, name the files
//! with the schemas, as [`Schema::to_bytes`](crate::schema::Schema::to_bytes) or
//! [`Schema::to_snapshot`](crate::schema::Schema::to_snapshot) encodes them:
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
//! The output shows the header, then the types with their sizes and the offsets of their fields,
//! then each value at its offset. The target of a pointer follows below the pointer:
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
//! A map is shown by its entries, with each value behind its key, and a set by its elements:
//!
//! ```text
//!   0x0028  prices: SortedMap = 2 entries
//!   0x0048    ["ACME"]: f64 = 99.5
//!   0x0050    ["XYZ"]: f64 = 3
//! ```
//!
//! A shared object has a number: `#1 → 0x50 Person` at the first pointer, `→ #1 again` at further
//! pointers. With `--hex`, the bytes are shown beside the values.
//!
//! For a file, its commits and the chunks of its index are shown first:
//!
//! ```text
//! file
//!   0x00000000  header       "jstfile", version 1
//!   0x00000200  commit       generation 1, end 0x950, objects 1, index at 0x900, schemas at 0x880
//!   0x00000400  commit       generation 2, end 0xb78, objects 2, index at 0xb00, schemas at 0xa80; current
//!   0x00000b00  index chunk  objects 0 to 1
//! ```
//!
//! The program checks all data, including data that it does not show, as a
//! [`Reader`](crate::Reader) does. It does not know the limits of your program, and it can't call
//! your verifying functions. An error is shown with the bytes at fault, after everything that was
//! found before it, and the exit code is 1:
//!
//! ```text
//! error: Order.legs[2].side: byte 9 is not a Side (at offset 0xb4)
//!   0x00a0  0a 00 00 00 07 00 00 00 00 00 00 00 00 00 f0 7f  |................|
//!   0x00b0  ff ff ff ff 09 00 00 00 41 43 4d 45 67 72 c3 b6  |........ACMEgr..|
//!                       ^^
//! ```
//!
//! | option | effect |
//! |---|---|
//! | `--schema FILE` | reads a schema of the root or of a trait object's implementation; may be repeated |
//! | `--object N` | shows only this object of a stream or file; of a file, only this object is read, and its checksum compared |
//! | `--limit N`, `--depth N`, `--values N` | limit the amount of output |
//! | `--bytes N` | limits the bytes that are read into memory at once, for an object of a file or for a whole stream (default 1 GiB) |
//! | `--hex` | shows the bytes beside the values |
//! | `--json` | prints everything as JSON, whose format the module `jstream::inspect::json` documents |
//! | `--dot`, `--svg FILE` | draws the objects as boxes and the pointers as arrows; a shared object appears once |
//! | `--quiet` | checks only |
//! | `--color WHEN` | colours: `auto` (on a terminal, unless `NO_COLOR` is set), `always` or `never` |
//! | `--completions SHELL`, `--man` | prints completions for a shell, or the manual page |
//!
//! For a capture of a connection ([`capture`](crate::capture)), the program lists the messages.
//! `--object N` shows the values of one message, if the capture contains its schema.
//!
//! # Versions of types
//!
//! `compat` compares two versions of a type, each a file with a schema or snapshot, or a file of
//! objects. It prints what happens to messages of one that are read as the other, in both
//! directions, by the rules of the version that reads (see [`versions`](crate::guide::versions)):
//!
//! ```text
//! $ jstream-inspect compat order-v1.jschema order-v2.jschema
//! order-v1.jschema (Order) read as order-v2.jschema (Order): messages with certain values are refused
//!   converted   widened  Order.id: `u32` is widened to `u64`
//!   converted   renamed  Order.symbol: was `sym`
//!   conditional removed  Order.side::Short: the new version lacks the variant
//!   converted   added    Order.quantity: gets its default
//!   converted   removed  Order.venue: is left out
//!
//! order-v2.jschema (Order) read as order-v1.jschema (Order): all messages are refused
//!   …
//! ```
//!
//! The exit code is 0 if messages of the first version can be read as the second, perhaps except
//! for some values, and 1 if not; with `--both`, the other direction must be compatible, too.
//! `--type NAME` selects one of the types in a file of objects, by its name or descriptor, and
//! `--json` prints JSON.
//!
//! `upgrade` rewrites a file of objects, so that its readers need not convert the objects each
//! time:
//!
//! ```text
//! $ jstream-inspect upgrade orders.jsf orders-2.jsf --schema order-v2.jschema
//! 4096 objects of Order 0x3f0c2c8d5a1b7e94: converted to Order 0x943a43f30e18b49f
//!   converted   widened  Order.id: `u32` is widened to `u64`
//!   …
//! 12 objects of Trade 0x1d5e0ab3c94f2276: copied
//! ```
//!
//! The objects of a type become the version in the snapshot with the type's name, or with a type
//! that had this name before (`renamed_from`). Other objects are copied. Trait objects become the
//! versions of their classes in the snapshots that are passed for these. Objects keep their order
//! and their numbers.
//!
//! Types that are not compatible are refused before anything is written. If an object is damaged or
//! has a value that the new version refuses, the run ends with the exit code 1.
//!
//! The new file has its name only when it is complete: until then, it is named like it with the
//! suffix `.upgrading`, and the objects are committed at least every 4,096. If the run is
//! interrupted or ends with an error, the same command continues after the last committed object.
//! Before that, it compares the types of all objects in the incomplete file with the old one, and
//! the bytes of the first and the last. A changed rule of a snapshot, such as `other`, applies to
//! the remaining objects.
//!
//! # Exit codes
//!
//! The file name `-` stands for the standard input. The exit code is 0 if the data is valid, 1 if
//! it is invalid or a schema is missing, and 2 if the arguments are wrong or a file can't be read.
//!
//! Programs can inspect messages too. The module `jstream::inspect`, behind the feature `cli`,
//! returns the tree of values that is printed here. Its part `value` defines a JSON notation for
//! values, and `compose` creates messages from it for types that the program does not have.
