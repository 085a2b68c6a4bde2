//! The guide: from the first remote trait to methods that wait, deadlines, failures and tests.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`first_call`] | a trait, its server, and its client |
//! | [`arguments`] | what methods take: references into the receive buffer, and buffers to keep |
//! | [`results`] | what methods give, and errors of one's own |
//! | [`async_methods`] | methods that wait, and calls that are awaited |
//! | [`single_thread`] | methods on `&mut self`, one at a time |
//! | [`conditions`] | methods that wait until their object is in a state |
//! | [`polymorphism`] | arguments that are trait objects |
//! | [`deadlines`] | how long calls wait, who is told, and calls that are given up |
//! | [`failures`] | what a failed call says, and when to make it again |
//! | [`testing`] | mocks, servers inside a test, and time there |
//! | [`threads`] | which thread runs what |
//! | [`callbacks`] | clients whose objects are called |
//! | [`references`] | objects that are passed by reference, and how long they live |
//! | [`production`] | limits, secrets, interceptors, health, and how a server ends |
//! | [`debugging`] | calls by hand, captures of connections, spans |
//! | [`coming_from`] | what tarpc, tonic and Java RMI call what |

pub mod arguments;
pub mod async_methods;
pub mod callbacks;
pub mod coming_from;
pub mod conditions;
pub mod deadlines;
pub mod debugging;
pub mod failures;
pub mod first_call;
pub mod polymorphism;
pub mod production;
pub mod references;
pub mod results;
pub mod single_thread;
pub mod testing;
pub mod threads;
