//! Tests of what stands behind features.

#[cfg(feature = "cli")]
mod jperf;
#[cfg(feature = "cli")]
mod jrun;
#[cfg(feature = "cli")]
mod jrun_hosts;
#[cfg(feature = "cli")]
mod ssh_servers;
