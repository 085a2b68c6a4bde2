//! How much memory a process has, and for how long it has computed.

use std::fs;

use rustix::process::Pid;

use crate::Failure;

/// The bytes of memory that a process has in use, or this one.
pub(super) fn resident(of: Option<Pid>) -> Result<usize, Failure> {
    let statm = fs::read_to_string(format!("/proc/{}/statm", name(of)))?;
    let pages = statm.split(' ').nth(1).ok_or("a process without memory")?;
    Ok(pages.parse::<usize>()? * rustix::param::page_size())
}

/// For how long all threads together that a process has, or this one, have computed, in nanoseconds.
pub(super) fn computed(of: Option<Pid>) -> Result<u64, Failure> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{}/task", name(of)))? {
        // One that has ended meanwhile says nothing.
        let Ok(schedule) = fs::read_to_string(task?.path().join("schedstat")) else {
            continue;
        };
        let ran = schedule.split(' ').next().unwrap_or_default();
        sum += ran.parse::<u64>()?;
    }
    Ok(sum)
}

fn name(of: Option<Pid>) -> String {
    of.map_or_else(|| "self".to_owned(), |pid| pid.as_raw_nonzero().to_string())
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn what_this_process_uses_is_counted() {
        const MUCH: usize = 64 << 20;
        let before = resident(None).unwrap();
        let much = black_box(vec![1u8; MUCH]);
        assert!(resident(None).unwrap() > before + MUCH / 2);
        drop(much);
        assert!(computed(None).unwrap() > 0);
    }
}
