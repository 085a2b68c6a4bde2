//! Programs and parts behind features.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[cfg(feature = "tls")]
#[path = "../../../transport/tests/common/certificates.rs"]
mod certificates;
#[cfg(feature = "cli")]
mod jcall;
#[cfg(feature = "cli")]
mod jregistry;
#[cfg(feature = "metrics")]
mod metered;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
#[path = "../until/mod.rs"]
mod until;
