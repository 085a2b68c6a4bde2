//! Servers and clients that are killed, paused and shut down at random while they call each other
//! over several devices. Each call must end with a correct result, or with an error that states
//! correctly whether it ran. The surviving processes must keep no resources of the dead ones.
//!
//! Environment variables:
//!
//! - `JSTREAM_CHAOS_SECONDS`: duration in seconds (default 6).
//! - `JSTREAM_CHAOS_DEVICE`: a single device, `shm`, `uds` or `tcp` (default: all).
//! - `JSTREAM_CHAOS_SEED`: seed of the random numbers. A seed determines the actions, their targets
//!   and the choices of each client, but not the timing.
//!
//! When a process stops responding, the test prints the stacks of all processes.

mod ledger;
mod load;
mod process;
mod random;
mod service;
mod stacks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, thread};

use rustix::process::Signal;

use self::process::{Figures, Process, Role};
use self::random::Random;
use self::service::Faults;

/// Lease time. It is so short that some leases expire while a process is paused.
const LEASE: Duration = Duration::from_millis(500);

/// Number of servers. Server 0 is never killed.
const SERVERS: u64 = 3;

/// Entry point of the child processes. In the test process it does nothing.
#[test]
fn child() {
    process::act();
}

fn number(variable: &str) -> Option<u64> {
    let set = env::var(variable).ok()?;
    Some(
        set.parse()
            .unwrap_or_else(|_| panic!("{variable} must be a number, not {set:?}")),
    )
}

fn seed() -> u64 {
    let now = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let seed = number("JSTREAM_CHAOS_SEED").unwrap_or_else(now);
    println!("JSTREAM_CHAOS_SEED={seed}");
    seed
}

#[test]
fn every_call_ends_and_nothing_is_left() {
    let seconds = number("JSTREAM_CHAOS_SECONDS").unwrap_or(6);
    let faults = chaos(Duration::from_secs(seconds), seed(), Faults(false));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn what_is_planted_is_found() {
    let faults = chaos(Duration::from_millis(500), seed(), Faults(true));
    for fault in [
        "ran twice",
        "has a result and did not run",
        "has a wrong result",
        "has no end",
        "exports",
        "descriptors",
    ] {
        let is_found = faults.iter().any(|found| found.contains(fault));
        assert!(is_found, "not found: {fault}; {faults:#?}");
    }
}

/// The state of a run.
struct Stage {
    random: Random,
    /// The number of the process that was started last.
    next: u64,
    killed: BTreeSet<u64>,
    faults: Vec<String>,
    done: [u64; 4],
}

/// Runs the processes for `time` and returns the violations that were found.
fn chaos(time: Duration, seed: u64, faults: Faults) -> Vec<String> {
    let folder = Folder::new();
    let mut stage = Stage {
        random: Random::new(seed),
        next: 1,
        killed: BTreeSet::new(),
        faults: Vec::new(),
        done: [0; 4],
    };
    let role = |server, survives| Role {
        server,
        survives,
        folder: folder.0.clone(),
        seed: 0,
        faults,
    };
    // The server and the client that are never killed. Their resource counts before the chaos are
    // the baseline.
    let mut server = stage.start(role(Some(0), true));
    let mut client = stage.start(role(None, true));
    client.ask("load");
    thread::sleep(Duration::from_millis(300));
    println!("without chaos: {}", client.ask("quiet"));
    let before = [&mut client, &mut server].map(Process::figures);

    let roles = [
        role(Some(1), false),
        role(Some(2), false),
        role(None, false),
        role(None, false),
    ];
    let mut victims: Vec<_> = roles.into_iter().map(|role| stage.start(role)).collect();
    victims
        .iter_mut()
        .skip(2)
        .for_each(|victim| drop(victim.ask("load")));
    client.ask("load");
    let begun = Instant::now();
    while begun.elapsed() < time {
        thread::sleep(Duration::from_millis(stage.random.below(60)));
        stage.strike(&mut victims, [&server, &client]);
    }
    println!("under chaos: {}", client.ask("quiet"));
    while let Some(victim) = victims.pop() {
        stage.end(victim);
    }
    stage.compare("the client", &mut client, &before[0]);
    stage.compare("the server", &mut server, &before[1]);
    stage.end(client);
    stage.end(server);
    stage.judge(&folder.0);
    stage.faults
}

impl Stage {
    fn start(&mut self, mut role: Role) -> Process {
        role.seed = self.random.below(u64::MAX);
        self.next += 1;
        Process::start(role, self.next)
    }

    /// Pauses, kills or shuts down a random process, and replaces it if it ended.
    fn strike(&mut self, victims: &mut Vec<Process>, survivors: [&Process; 2]) {
        let pause = match self.random.below(8) {
            0 => LEASE * 2,
            1 => LEASE,
            _ => Duration::from_millis(self.random.below(100)),
        };
        if self.random.one_in(8) {
            let survivor = survivors[usize::from(self.random.one_in(2))];
            return self.stop(survivor, pause);
        }
        let which = usize::try_from(self.random.below(victims.len() as u64)).unwrap();
        let what = self.random.below(10);
        if what < 4 {
            return self.stop(&victims[which], pause);
        }
        let victim = victims.remove(which);
        let role = victim.role.clone();
        if what == 4 {
            self.end(victim);
        } else {
            if what == 5 {
                self.stop(&victim, pause);
                victim.signal(Signal::STOP);
            }
            self.done[1] += 1;
            self.killed.insert(victim.number);
            victim.kill();
        }
        let mut next = self.start(role);
        if next.role.server.is_none() {
            next.ask("load");
        }
        victims.insert(which, next);
    }

    fn stop(&mut self, process: &Process, pause: Duration) {
        self.done[0] += 1;
        process.signal(Signal::STOP);
        thread::sleep(pause);
        process.signal(Signal::CONT);
    }

    /// Shuts a process down in an orderly way.
    fn end(&mut self, mut process: Process) {
        self.done[2] += 1;
        let answer = process.ask("end");
        let number = process.number;
        // Only the answer of a server matters here. A client that is under load answers with a
        // summary of its work.
        let is_server = process.role.server.is_some();
        if is_server && answer == "abandoned" {
            self.done[3] += 1;
            self.killed.insert(number);
        }
        if !process.wait() {
            self.faults.push(format!("process {number} has failed"));
        }
    }

    /// Waits until the resource counts of the process are back at the baseline. Records a violation
    /// if that does not happen in time.
    fn compare(&mut self, who: &str, process: &mut Process, before: &Figures) {
        let begun = Instant::now();
        loop {
            let now = process.figures();
            let more = now.more_than(before);
            if more.is_empty() {
                println!("{who}: {before:?} before, {now:?} after");
                return;
            }
            // With planted faults the counts never return, so wait only briefly.
            if begun.elapsed() > Duration::from_secs(if process.role.faults.0 { 2 } else { 60 }) {
                let more = more.into_iter().map(|more| format!("{who} has {more}"));
                return self.faults.extend(more);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks the log and looks for panics and leftover shared memory files.
    fn judge(&mut self, folder: &Path) {
        let panics = fs::read_to_string(folder.join("panics")).unwrap_or_default();
        self.faults.extend(panics.lines().map(str::to_owned));
        let name = folder.file_name().unwrap().to_str().unwrap();
        for file in fs::read_dir("/dev/shm").into_iter().flatten() {
            let file = file.unwrap().file_name().into_string().unwrap();
            if file.contains(name) {
                self.faults.push(format!("/dev/shm/{file} is left"));
            }
        }
        let account = ledger::read(folder, &self.killed);
        let [did_not, may_have, ran] = account.failed;
        let [stopped, killed, ended, abandoned] = self.done;
        println!(
            "{} calls, {} results; of those that failed {did_not} did not run, {may_have} may have run, {ran} ran; \
             {stopped} times stopped, {killed} killed, {ended} ended, {abandoned} of these with methods that did not return",
            account.calls, account.results
        );
        if account.results == 0 {
            self.faults.push("no call has succeeded".to_owned());
        }
        self.faults.extend(account.faults);
    }
}

/// A temporary folder, removed on drop unless the test fails.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let name = format!("jstream-chaos-{}-{now}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}
