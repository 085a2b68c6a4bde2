//! Which thread runs what.
//!
//! No runtime is needed, at either side.
//!
//! - At the client, whoever waits for a call receives, for itself and for all others that wait on the same connection.
//!   Stubs are cheap to clone, and any number of threads and tasks call over one connection.
//! - At the server, methods run where their calls arrive. One that waits is put aside, and goes on when it is woken.
//! - Calls of one connection begin in the order in which they were sent. A plain method runs to its end before the next
//!   of its connection begins.
//!
//! Objects are `Send` and `Sync`, as calls of several connections run at the same time.
//!
//! # Panics and forks
//!
//! A method that panics costs its call. Under `panic = "abort"` it ends the process, and all callers see their
//! connections end. After a `fork` the child has none of the threads: it makes servers and connections of its own, and
//! uses none of its parent.
