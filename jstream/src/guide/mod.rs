//! The guide: from the first derive to shared graphs, trait objects, verification and limits.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`first_derive`] | writing, reading, and the types of a buffer |
//! | [`what_travels`] | every type that can travel, what it arrives as, and what is checked |
//! | [`owners`] | types that own their parts, and their forms |
//! | [`enums`] | options, results, enums, and which `repr` is needed |
//! | [`maps`] | maps and sets, found in and iterated where they lie |
//! | [`sharing`] | objects that several lead to, and circles |
//! | [`trait_objects`] | trait objects, and where their classes are registered |
//! | [`fields`] | fields that travel otherwise than their type says; values that are verified |
//! | [`changing`] | changing what was received, and sending it on |
//! | [`keeping`] | keeping it: shared, in parts, detached, or as an owner again |
//! | [`limits`] | what each limit stops; errors; depth |
//! | [`schemas`] | descriptors, and what keeps them from one compiler to another |
//! | [`manual_impls`] | types of others, and types that no derive can do |
//! | [`coming_from`] | for those who know rkyv, serde, or Cap'n Proto |
//! | [`streams`] | many objects in one jbuf, written where they are sent from |
//! | `files` | files of objects: appended to, read in turn, by number, or in place |
//! | [`inspecting`] | looking into messages, streams and files from the command line |
//! | [`buffers`] | regions, pools, and what happens when one runs low; typed views of raw data |

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
pub mod owners;
pub mod schemas;
pub mod sharing;
pub mod streams;
pub mod trait_objects;
pub mod what_travels;
