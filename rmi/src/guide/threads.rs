//! Which thread runs what.
//!
//! No runtime is needed, at either side.
//!
//! - At the client, whoever waits for a call receives, for itself and for all others that wait on the same connection.
//!   Stubs are cheap to clone, and any number of threads and tasks call over one connection.
//! - At the server, a [few threads](crate::ServerOptions::threads) receive for all connections, and a method runs in the
//!   one that has received its call: no other thread is woken for it. An `async` method that waits is put aside, and goes
//!   on when it is woken.
//! - Calls of one connection begin in the order in which they were sent, as long as methods are quick. One that computes
//!   or blocks for a millisecond is not waited for: another thread goes on, and where all are kept so, more are started,
//!   up to a number.
//!
//! Objects are `Send` and `Sync`, as methods of an object run at the same time.
//!
//! # Panics and forks
//!
//! A method that panics costs its call. Under `panic = "abort"` it ends the process, and all callers see their
//! connections end. After a `fork` the child has none of the threads: it makes servers and connections of its own.
//! Calls over those of its parent fail with an error that says so.
