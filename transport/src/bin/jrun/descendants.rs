//! Search for processes of a job, wherever they are in the tree of processes.

use std::fs::{self, File};
use std::io::Read;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::mark::Mark;

/// Maximum number of searches. Each of them may find processes that others have started meanwhile.
const ROUNDS: u32 = 50;
/// Pause between two searches.
const PAUSE: Duration = Duration::from_millis(5);
/// Maximum length in bytes of an environment that is searched.
const LONGEST: u64 = 4 << 20;

/// Kills all processes that have this mark in their environment, as those have that the processes
/// of the job have started.
pub(crate) fn kill_all(mark: &Mark) {
    let mark = format!("{}={}", Mark::VARIABLE, mark.value());
    for round in 0..ROUNDS {
        if round > 0 {
            thread::sleep(PAUSE);
        }
        let Ok(entries) = fs::read_dir("/proc") else {
            return;
        };
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let found = numbers
            .filter(|number| kill(*number, mark.as_bytes()))
            .count();
        if found == 0 {
            return;
        }
    }
}

/// Kills the process of this number if it has the mark. Returns true if it had.
fn kill(number: i32, mark: &[u8]) -> bool {
    let Some(pid) = Pid::from_raw(number).filter(|pid| *pid != getpid()) else {
        return false;
    };
    // The descriptor is opened first: if another process gets the number after the look at the
    // environment, the signal does not reach it.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    let mut environment = Vec::new();
    let read = File::open(format!("/proc/{number}/environ"))
        .and_then(|file| file.take(LONGEST).read_to_end(&mut environment));
    let is_marked = environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == mark);
    read.is_ok() && is_marked && pidfd_send_signal(&process, Signal::KILL).is_ok()
}
