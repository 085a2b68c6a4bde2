//! Launchers of clusters: recognition from the environment, and agreement of the processes on the
//! addresses of rank 0 and the session.

mod exchange;
mod job;
mod pmi;
mod pmix;
mod rendezvous_file;

pub(super) use self::exchange::{Announcement, Exchange, Published, host_address, host_name};
pub(super) use self::job::{Job, Surroundings, addresses};
