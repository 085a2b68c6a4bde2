//! Worlds for tests.

use std::process;
use std::sync::atomic::{AtomicU8, Ordering};

use jstream_transport::Address;
use jstream_transport::rank::world::WorldOptions;

use super::fresh;
use crate::LONG;

/// Returns an unused address that other processes can be told before the listener exists.
pub fn known(scheme: &str) -> Address {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    match scheme {
        "tcp" | "uring" | "tls" => {
            let [.., high, low] = process::id().to_be_bytes();
            let last = NEXT.fetch_add(1, Ordering::Relaxed);
            format!("{scheme}://127.{high}.{low}.{last}:7411")
                .parse()
                .unwrap()
        }
        _ => fresh(scheme),
    }
}

/// Returns options with timeouts that a slow test does not reach.
pub fn patient() -> WorldOptions {
    let mut options = WorldOptions::default();
    options.timeout = LONG;
    options.finish_timeout = LONG;
    options
}
