//! User guide of remote calls: from the first remote trait to waiting methods, deadlines, failures
//! and tests.
//!
//! The modules contain only text and runnable examples.
//!
//! | page | topic |
//! |---|---|
//! | [`first_call`] | a trait, its server, and its client |
//! | [`arguments`] | arguments of methods: references into the receive buffer, and buffers to keep |
//! | [`results`] | results of methods, and application errors |
//! | [`async_methods`] | methods that wait, and calls that are awaited |
//! | `tokio` (feature `tokio`) | clients and servers in a program that uses tokio |
//! | [`single_thread`] | methods on `&mut self`, with exclusive access |
//! | [`conditions`] | methods that wait until their object is in a given state |
//! | [`polymorphism`] | arguments that are trait objects |
//! | [`deadlines`] | deadlines of calls, their propagation, and cancellation |
//! | [`metadata`] | keys and values that travel with calls, such as trace contexts |
//! | [`layers`] | asynchronous interceptors and layers of tower around all calls |
//! | [`failures`] | errors of calls, and when to retry |
//! | [`restarts`] | servers that are restarted, and what becomes of calls |
//! | [`versions`] | clients and servers that have different versions of a trait |
//! | [`several_servers`] | calls to one of several servers, and servers that are replaced |
//! | [`testing`] | mocks, servers within a test, and control of time |
//! | [`threads`] | the threads that run methods and receive answers |
//! | [`callbacks`] | calls from a server to its clients |
//! | [`references`] | objects that are passed by reference, and their lifetime |
//! | [`production`] | limits, secrets, interceptors, health, and shutdown |
//! | [`debugging`] | calls by hand, captures of connections, spans |
//! | [`coming_from`] | the terms of tarpc, Cap'n Proto, tonic and Java RMI, and their counterparts |

pub mod arguments;
pub mod async_methods;
pub mod callbacks;
pub mod coming_from;
pub mod conditions;
pub mod deadlines;
pub mod debugging;
pub mod failures;
pub mod first_call;
pub mod layers;
pub mod metadata;
pub mod polymorphism;
pub mod production;
pub mod references;
pub mod restarts;
pub mod results;
pub mod several_servers;
pub mod single_thread;
pub mod testing;
pub mod threads;
#[cfg(feature = "tokio")]
pub mod tokio;
pub mod versions;
