//! Tests of what stands behind features.

#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod jperf;
#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod jrun;
#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod jrun_hosts;
#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod ssh_servers;
