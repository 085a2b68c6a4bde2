//! The guide: which device to choose, how endpoints are used, and what happens when peers die.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`a_devices`] | what carries messages, and when to choose which |
//! | [`b_endpoints`] | sending and receiving: at once, posted, objects, borrowed memory, many threads |
//! | [`c_waiting`] | futures, completion queues, the program's own poll or epoll, progress |
//! | [`d_ends`] | who ends how, what errors mean, and what is left of a connection then |
//! | [`e_limits`] | what each limit and each time-out stops |
//! | [`f_channels`] | typed channels, for those who want no more |
//! | [`g_ranks`] | ranks: which receive do I want |
//! | [`h_worlds`] | how ranks find each other, as threads, processes and on hosts, and how they end |
//! | [`i_measuring`] | what messages cost on a machine: `jperf` |
//! | [`j_active`] | active messages: handlers that run where requests arrive |
//!
//! What stands on the wire is said in `PROTOCOL.md`.

pub mod a_devices;
pub mod b_endpoints;
pub mod c_waiting;
pub mod d_ends;
pub mod e_limits;
pub mod f_channels;
pub mod g_ranks;
pub mod h_worlds;
pub mod i_measuring;
pub mod j_active;
