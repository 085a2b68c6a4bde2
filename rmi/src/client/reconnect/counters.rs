//! Counters of reconnections, for the recorder of `metrics`.

use jstream_base::Address;

/// Counts a connection that replaced a lost one.
pub(super) fn count_connection(address: &Address) {
    count("jstream_client_reconnects", address);
}

/// Counts a failed attempt to connect again.
pub(super) fn count_failure(address: &Address) {
    count("jstream_client_connect_failures", address);
}

#[cfg(feature = "metrics")]
fn count(name: &'static str, address: &Address) {
    let labels = vec![metrics::Label::new("address", address.to_string())];
    // The recorder is code of the program, which may panic.
    jstream_sync::callbacks::run(move || metrics::counter!(name, labels).increment(1));
}

#[cfg(not(feature = "metrics"))]
fn count(_: &str, _: &Address) {}
