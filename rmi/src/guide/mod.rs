//! The guide: from the first remote trait to methods that wait, deadlines, failures and tests.
//!
//! There is nothing in these modules but text and examples that run.
//!
//! | page | tells |
//! |---|---|
//! | [`a_first`] | a trait, its server, and its client |
//! | [`b_arguments`] | what methods take: references into the receive buffer, and buffers to keep |
//! | [`c_results`] | what methods give, and errors of one's own |
//! | [`d_async`] | methods that wait, and calls that are awaited |
//! | [`e_alone`] | methods on `&mut self`, one at a time |
//! | [`f_conditions`] | methods that wait until their object is in a state |
//! | [`g_polymorphic`] | arguments that are trait objects |
//! | [`h_deadlines`] | how long calls wait, who is told, and calls that are given up |
//! | [`i_failures`] | what a failed call says, and when to make it again |
//! | [`j_testing`] | mocks, servers inside a test, and time there |
//! | [`k_threads`] | which thread runs what |
//! | [`l_both_ways`] | clients whose objects are called |
//! | [`m_references`] | objects that are passed by reference, and how long they live |
//! | [`n_production`] | limits, secrets, interceptors, health, and how a server ends |
//! | [`o_debugging`] | calls by hand, captures of connections, spans |
//! | [`p_coming_from`] | what tarpc, tonic and Java RMI call what |

pub mod a_first;
pub mod b_arguments;
pub mod c_results;
pub mod d_async;
pub mod e_alone;
pub mod f_conditions;
pub mod g_polymorphic;
pub mod h_deadlines;
pub mod i_failures;
pub mod j_testing;
pub mod k_threads;
pub mod l_both_ways;
pub mod m_references;
pub mod n_production;
pub mod o_debugging;
pub mod p_coming_from;
