//! Baselines without a library: sockets, and slots in shared memory.

pub(super) mod connections;
pub(super) mod ring;
pub(super) mod stream;

use std::hint::spin_loop;

use super::watch;
use crate::Failure;

/// Spins until `there` returns a value.
pub(super) fn spin<R>(mut there: impl FnMut() -> Result<Option<R>, Failure>) -> Result<R, Failure> {
    loop {
        for _ in 0..1 << 16 {
            if let Some(found) = there()? {
                return Ok(found);
            }
            spin_loop();
        }
        watch::go_on()?;
    }
}
