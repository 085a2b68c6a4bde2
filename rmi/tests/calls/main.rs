//! Calls of all kinds, over several devices, references to objects, and peers that break the
//! protocol.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod admission;
mod arrays;
mod async_interceptors;
mod async_methods;
mod both_ways;
mod callbacks;
mod capture;
mod clock;
mod conditions;
mod deadlines;
mod dropped_results;
mod features;
mod generated;
mod hostile;
mod inline;
mod interceptors;
mod limits;
mod macros;
mod metadata;
mod much;
mod odd_uses;
mod owners;
mod panics;
mod peers;
mod pipelining;
mod plain;
mod promises;
mod reached_versions;
mod reconnecting;
mod references;
mod reflection;
mod secrets;
mod shutdown;
mod strangers;
mod stream_relays;
mod streams;
mod turns;
mod version_references;
mod versions;
mod workers;

/// Connects a client whose calls fail once its connection is lost.
fn connect_once(address: &jstream_rmi::Address) -> jstream_rmi::Client {
    let mut options = jstream_rmi::ClientOptions::default();
    options.reconnect = None;
    jstream_rmi::Client::connect_with(address, &options)
        .wait()
        .unwrap()
}
