//! The guide: from the first derive to shared graphs, trait objects, verification and limits.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`a_first_derive`] | writing, reading, and the types of a buffer |
//! | [`b_what_travels`] | every type that can travel, what it arrives as, and what is checked |
//! | [`c_owners`] | types that own their parts, and their forms |
//! | [`d_enums`] | options, results, enums, and which `repr` is needed |
//! | [`e_maps`] | maps and sets, found in and iterated where they lie |
//! | [`f_sharing`] | objects that several lead to, and circles |
//! | [`g_traits`] | trait objects, and where their classes are registered |
//! | [`h_fields`] | fields that travel otherwise than their type says; values that are verified |
//! | [`i_changing`] | changing what was received, and sending it on |
//! | [`j_keeping`] | keeping it: shared, in parts, detached, or as an owner again |
//! | [`k_limits`] | what each limit stops; errors; depth |
//! | [`l_schemas`] | descriptors, and what keeps them from one compiler to another |
//! | [`m_by_hand`] | types of others, and types that no derive can do |
//! | [`n_coming_from`] | for those who know rkyv, serde, or Cap'n Proto |
//! | [`o_streams`] | many objects in one jbuf, written where they are sent from |
//! | `p_files` | files of objects: appended to, read in turn, by number, or in place |
//! | [`q_inspecting`] | looking into messages, streams and files from the command line |
//! | [`r_buffers`] | regions, pools, and what happens when one runs low; typed views of raw data |

pub mod a_first_derive;
pub mod b_what_travels;
pub mod c_owners;
pub mod d_enums;
pub mod e_maps;
pub mod f_sharing;
pub mod g_traits;
pub mod h_fields;
pub mod i_changing;
pub mod j_keeping;
pub mod k_limits;
pub mod l_schemas;
pub mod m_by_hand;
pub mod n_coming_from;
pub mod o_streams;
#[cfg(target_os = "linux")]
pub mod p_files;
pub mod q_inspecting;
pub mod r_buffers;
