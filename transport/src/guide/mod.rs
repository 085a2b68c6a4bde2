//! The guide: which device to choose, how endpoints are used, and what happens when peers die.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`devices`] | what carries messages, and when to choose which |
//! | [`endpoints`] | sending and receiving: at once, posted, objects, borrowed memory, many threads |
//! | [`waiting`] | futures, completion queues, the program's own poll or epoll, progress |
//! | [`closing`] | who ends how, what errors mean, and what is left of a connection then |
//! | [`limits`] | what each limit and each time-out stops |
//! | [`channels`] | typed channels, for those who want no more |
//! | [`ranks`] | ranks: which receive do I want |
//! | [`worlds`] | how ranks find each other, as threads, processes and on hosts, and how they end |
//! | [`measuring`] | what messages cost on a machine: `jperf` |
//! | [`active_messages`] | active messages: handlers that run where requests arrive |
//!
//! What stands on the wire is said in `PROTOCOL.md`.

pub mod active_messages;
pub mod channels;
pub mod closing;
pub mod devices;
pub mod endpoints;
pub mod limits;
pub mod measuring;
pub mod ranks;
pub mod waiting;
pub mod worlds;
