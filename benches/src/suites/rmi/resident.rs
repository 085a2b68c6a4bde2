//! Memory and processor time of a process.

use std::fs;

use rustix::process::Pid;

use crate::Failure;

/// Returns the resident memory in bytes of a process, or of this process if `of` is `None`.
pub(super) fn resident(of: Option<Pid>) -> Result<usize, Failure> {
    let statm = fs::read_to_string(format!("/proc/{}/statm", name(of)))?;
    let pages = statm
        .split(' ')
        .nth(1)
        .ok_or("the process does not report its memory")?;
    Ok(pages.parse::<usize>()? * rustix::param::page_size())
}

/// Returns the processor time in nanoseconds of all threads of a process, or of this process if
/// `of` is `None`.
pub(super) fn computed(of: Option<Pid>) -> Result<u64, Failure> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{}/task", name(of)))? {
        // A thread that has ended in the meantime is skipped.
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
