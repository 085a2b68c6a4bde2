//! The threads that run methods and receive answers.
//!
//! Neither side needs a runtime. A program that has one of tokio can run its methods there; see the
//! guide page `tokio` (feature `tokio`).
//!
//! - At the client, a thread that waits for a call receives, for itself and for all other threads
//!   that wait on the same connection. Stubs are cheap to clone, and any number of threads and
//!   tasks can call over one connection.
//! - At the server, [a few threads](crate::ServerOptions::threads) receive for all connections. A
//!   method runs on the thread that received its call, so no other thread has to be woken. If an
//!   `async` method waits, it is suspended and resumes when it is woken.
//! - Calls of one connection begin in the order in which they were sent, as long as methods return
//!   quickly. If a method computes or blocks for more than a millisecond, another thread takes
//!   over. If all threads are occupied in this way, the server starts more, up to a limit.
//!
//! Objects must be `Send` and `Sync`, because methods of one object can run at the same time.
//!
//! # Panics and forks
//!
//! If a method panics, only its call fails. With `panic = "abort"`, the process ends, and all
//! callers see their connections close. After a `fork`, the child has none of the threads and must
//! create its own servers and connections. Calls over the connections of the parent fail with an
//! error that states this.
