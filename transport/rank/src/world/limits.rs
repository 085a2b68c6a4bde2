//! Limits of worlds.

use std::time::Duration;

use super::error::WorldError;

/// Maximum number of ranks of a world. Limits the size of the tables of addresses.
pub(super) const MAX_SIZE: u32 = 1 << 16;

/// Time for which a member waits for others to close when the world can't be created.
pub(super) const GOODBYE: Duration = Duration::from_millis(500);

/// Checks the number of ranks of a world.
pub(super) fn check_size(size: u32) -> Result<(), WorldError> {
    if (1..=MAX_SIZE).contains(&size) {
        return Ok(());
    }
    Err(WorldError::BadSize {
        size,
        max: MAX_SIZE,
    })
}
