//! Layer 11: clients of several servers, one of which is chosen for each call.
//!
//! | order | modules |
//! |---|---|
//! | 1 | `source`, `registry_names`, `options`, `budget`, `counters`, `latencies`, `signal` |
//! | 2 | `choices`: the members at which an object was found |
//! | 3 | `members`: the list of members, and what is due at each |
//! | 4 | `core`: the state of a set |
//! | 5 | `attending`: the threads of a set |
//! | 6 | `object`: the source of a stub's object |
//! | 7 | `handle` |
//!
//! Imports the layers before it, except `server`.

mod attending;
mod budget;
mod choices;
mod core;
mod counters;
mod handle;
mod latencies;
mod members;
mod object;
mod options;
#[cfg(feature = "directory")]
mod registry_names;
mod signal;
mod source;

pub use self::handle::{ClientSet, MemberInfo, MemberState};
pub use self::options::{Hedging, SetOptions};
#[cfg(feature = "directory")]
pub use self::registry_names::RegistryNames;
pub use self::source::{AddressList, HostRecords, ListedMember, MemberSource};
