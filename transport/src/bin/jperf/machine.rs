//! Information about the machine, and its processors.

use std::fs;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::failure::Failure;
use crate::lead::picoseconds;

/// Assumed cache size in bytes, if the operating system does not report it.
const USUAL_CACHE: u64 = 32 << 20;

/// Pins the calling thread, and the threads that it starts, to one processor.
pub(crate) fn pin(cpu: usize) -> Result<(), Failure> {
    let cannot = |why: String| Failure::Usage(format!("can't run on processor {cpu}: {why}"));
    if cpu >= CpuSet::MAX_CPU {
        return Err(cannot(format!("there are at most {}", CpuSet::MAX_CPU)));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| cannot(error.to_string()))
}

/// Returns the size of the largest cache, in bytes.
pub(crate) fn cache() -> u64 {
    let level = |index: u32| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        cache_size(fs::read_to_string(path).ok()?.trim())
    };
    (0..8).filter_map(level).max().unwrap_or(USUAL_CACHE)
}

/// Parses a size in the format of Linux: `2048K`.
fn cache_size(size: &str) -> Option<u64> {
    let (digits, unit) = match size.as_bytes().last()? {
        b'K' => (size.strip_suffix('K')?, 1 << 10),
        b'M' => (size.strip_suffix('M')?, 1 << 20),
        _ => (size, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Returns the cost of reading the clock once, in picoseconds: the minimum of many measurements.
pub(crate) fn clock() -> u64 {
    const LOOKS: u64 = 64;
    let round = || {
        let begun = Instant::now();
        for _ in 0..LOOKS {
            std::hint::black_box(Instant::now());
        }
        picoseconds(begun.elapsed()) / LOOKS
    };
    (0..64).map(|_| round()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_are_read() {
        assert_eq!(cache_size("2048K"), Some(2 << 20));
        assert_eq!(cache_size("1M"), Some(1 << 20));
        assert_eq!(cache_size("many"), None);
        assert!(cache() > 0);
    }
}
