//! Counters of a set, for the recorder of `metrics`.

use jstream_base::Address;

/// Counts a second attempt of a call.
pub(super) fn count_hedge(set: &Address) {
    count("jstream_set_hedged_calls", set, 1);
}

/// Counts the times that the circuit to a member was opened.
pub(super) fn count_openings(member: &Address, times: u64) {
    count("jstream_set_opened_circuits", member, times);
}

#[cfg(feature = "metrics")]
fn count(name: &'static str, address: &Address, times: u64) {
    let labels = vec![metrics::Label::new("address", address.to_string())];
    // The recorder is code of the program, which may panic.
    jstream_sync::callbacks::run(move || metrics::counter!(name, labels).increment(times));
}

#[cfg(not(feature = "metrics"))]
fn count(_: &str, _: &Address, _: u64) {}
