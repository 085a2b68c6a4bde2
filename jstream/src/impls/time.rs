//! Durations and points in time.

use std::time::Duration;
#[cfg(unix)]
use std::time::SystemTime;

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Creates a duration. Returns `None` unless the nanoseconds are less than a second.
fn span(seconds: u64, nanoseconds: u64) -> Option<Duration> {
    let nanoseconds = u32::try_from(nanoseconds).ok()?;
    (nanoseconds < 1_000_000_000).then(|| Duration::new(seconds, nanoseconds))
}

/// Returns the seconds and nanoseconds if the nanoseconds are less than a second and have the same
/// sign.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
pub(super) fn balanced([seconds, nanoseconds]: [i64; 2]) -> Option<(i64, i32)> {
    let nanoseconds = i32::try_from(nanoseconds).ok()?;
    let one_sign = nanoseconds == 0 || seconds == 0 || (seconds < 0) == (nanoseconds < 0);
    let is_part = nanoseconds.unsigned_abs() < 1_000_000_000;
    (one_sign && is_part).then_some((seconds, nanoseconds))
}

opaque! {
    Duration: [u64; 2],
        |span| [span.as_secs(), u64::from(span.subsec_nanos())],
        |[seconds, nanoseconds]| span(seconds, nanoseconds);
}

/// Flag in the nanoseconds of a time before the epoch.
#[cfg(unix)]
const BEFORE: u64 = 1 << 63;

// On other platforms a `SystemTime` may be smaller, and have a resolution coarser than a
// nanosecond.
#[cfg(unix)]
opaque! {
    SystemTime: [u64; 2],
        |time| match time.duration_since(Self::UNIX_EPOCH) {
            Ok(since) => [since.as_secs(), u64::from(since.subsec_nanos())],
            Err(before) => {
                let before = before.duration();
                [before.as_secs(), u64::from(before.subsec_nanos()) | BEFORE]
            }
        },
        |[seconds, nanoseconds]| {
            let span = span(seconds, nanoseconds & !BEFORE);
            if nanoseconds & BEFORE == 0 {
                span.and_then(|since| Self::UNIX_EPOCH.checked_add(since))
            } else {
                let before = span.filter(|span| !span.is_zero());
                before.and_then(|before| Self::UNIX_EPOCH.checked_sub(before))
            }
        };
}
