//! The size of messages: native pointers, and their cost.
//!
//! A message holds objects as they lie in memory, so that reading need not convert them. Its length
//! is the sum of these parts:
//!
//! | part | bytes |
//! |---|---|
//! | header | 40 |
//! | each object | the size of its in-place form, with the padding that the form has in memory |
//! | each `&T`, `Box<T>`, `Rc<T>`, and each `Option` of one | 8, beside the target |
//! | each `&str`, `String`, `&[T]`, `Vec<T>` | 16, beside the characters or elements |
//! | a further pointer to a shared target | 8, without another target |
//! | before the plain arrays, if they have 512 bytes or more together | up to 63, so that they begin at a cache line |
//! | the tag of an `Option` or `Result` without room for it, such as `Option<char>` | 1 |
//!
//! ```
//! use jstream::Writer;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut writer = Writer::new();
//! // The header, the pointer of the root, and a pointer and four characters for each word.
//! let words = vec!["word".to_owned(); 1_000];
//! assert_eq!(writer.message_len(&words)?, 40 + 16 + 1_000 * (16 + 4));
//! // The same text in arrays of fixed length needs no pointers.
//! let words = vec![*b"word"; 1_000];
//! // 8 bytes let the array begin at a multiple of 64.
//! assert_eq!(writer.message_len(&words)?, 40 + 16 + 8 + 1_000 * 4);
//! # Ok(())
//! # }
//! ```
//!
//! # The inherent part
//!
//! The width of pointers is inherent: a field of type `&str` that a program uses without an
//! accessor has an address of 8 bytes and a length of 8 bytes. rkyv, which is read through types of
//! its own, uses relative pointers of 4 bytes, and stores strings of up to 8 bytes in place of the
//! pointer. Padding is inherent for the same reason. Everything else is packed: text has no
//! padding, and plain arrays have that of their element type.
//!
//! So the ratio to rkyv depends on the share of pointers:
//!
//! | data | ratio |
//! |---|---|
//! | plain arrays and structs, also large ones | 1.0 |
//! | lists and trees of nodes with `Option<Box<Node>>` and a `u64` | 1.0 |
//! | records with a number, a string and 16 floats | 1.14 |
//! | the data sets `mk48`, `log`, `minecraft_savedata` of `rust_serialization_benchmark` | 1.34, 1.45, 1.73 |
//! | pointers to shared targets, with many pointers to each target | 2.0 |
//! | strings of 1 to 8 bytes | 2.6 |
//!
//! # When it matters
//!
//! - Between threads and over shared memory, a message is written once and read where it lies, so
//!   its length costs little but cache.
//! - Over a network, the ratio is a ratio of transfer times once the link is the bottleneck. At
//!   10 Gbit/s, 1 MB of additional pointers takes 0.8 ms.
//! - In a file, it is a ratio of space. The high bytes of pointers are zero, which compression
//!   removes, but a compressed file cannot be read in place.
//!
//! # Smaller messages
//!
//! - Use plain values instead of short strings: an enum for a closed set of words, `[u8; N]` for
//!   codes of fixed length, a number for an identifier.
//! - Use indices into a slice (`u32`) instead of pointers to shared objects, if there are many.
//! - Use one slice of structs instead of many small slices, and columns of numbers instead of
//!   options of structs.
