//! User guide: from the first derive to shared graphs, trait objects, verification and limits.
//!
//! The modules contain only text and runnable examples.
//!
//! | page | topic |
//! |---|---|
//! | [`first_derive`] | writing to a buffer, a `Vec` or a `std::io::Write`; reading; the handle types of a buffer |
//! | [`what_travels`] | all transportable types, their in-place forms, and the checks on reading |
//! | [`owners`] | types that own their parts, and their forms |
//! | [`enums`] | options, results, enums, and the required `repr` |
//! | [`maps`] | maps and sets: lookup and iteration in the buffer |
//! | [`sharing`] | shared objects and cycles |
//! | [`trait_objects`] | trait objects, and the registration of their implementations |
//! | [`fields`] | skipped fields, adapters, and verified values |
//! | [`changing`] | modifying a received object, and forwarding it |
//! | [`keeping`] | storing a received object: shared, in part, detached, or converted to an owned value |
//! | [`message_size`] | the length of messages, and ways to shorten them |
//! | [`limits`] | the limits and the attacks that they stop; errors; depth |
//! | [`schemas`] | descriptors, and layouts that are stable from one build to another |
//! | `versions` | changing a type that is in use: older files, and programs that were not upgraded yet |
//! | [`manual_impls`] | types of other crates, and types that the derive does not support |
//! | [`coming_from`] | a comparison with rkyv, serde and Cap'n Proto |
//! | [`streams`] | many objects in one buffer; writing in place |
//! | `files` | files of objects: appending, and reading in order, by number or in place |
//! | [`inspecting`] | displaying messages, streams and files on the command line |
//! | [`buffers`] | regions, pools, and the behaviour of a full pool; typed views of raw data |

pub mod buffers;
pub mod changing;
pub mod coming_from;
pub mod enums;
pub mod fields;
#[cfg(target_os = "linux")]
pub mod files;
pub mod first_derive;
pub mod inspecting;
pub mod keeping;
pub mod limits;
pub mod manual_impls;
pub mod maps;
pub mod message_size;
pub mod owners;
pub mod schemas;
pub mod sharing;
pub mod streams;
pub mod trait_objects;
#[cfg(all(feature = "evolve", feature = "file", unix))]
pub mod versions;
pub mod what_travels;
