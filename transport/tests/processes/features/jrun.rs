//! Tests of the `jrun` program, run as a child process.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::rank::world::{World, WorldError};
use rustix::process::{Pid, Signal, kill_process};
use testing::process::{ROLE, arguments, role};
use testing::transport::worlds::patient;

/// Time within which a job has to end. It is much longer than the second that is promised, because
/// the machine may be busy.
pub(super) const BOUND: Duration = Duration::from_secs(30);

/// The environment variable with the number of jobs in which a process is killed.
const TRIES: &str = "JSTREAM_TEST_KILLS";

fn jrun(options: &[&str], command: &[&str]) -> Command {
    let mut jrun = Command::new(env!("CARGO_BIN_EXE_jrun"));
    jrun.args(options).args(command).stdin(Stdio::null());
    jrun
}

/// Runs a script in each process, and checks the exit code.
#[track_caller]
fn run(code: i32, options: &[&str], script: &str) -> Output {
    let output = jrun(options, &["sh", "-c", script]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{script}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    output
}

/// Returns the sorted lines of text.
pub(super) fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Adds ranks of this program to a command of `jrun`.
fn with_ranks(jrun: &mut Command, role: &str) {
    jrun.arg(env::current_exe().unwrap());
    jrun.args(arguments("features::jrun::rank")).env(ROLE, role);
}

/// Entry point of the ranks.
#[test]
fn rank() {
    let Some(role) = role() else { return };
    let work = |world: &World| {
        world.barrier().unwrap();
        println!("said: {} of {}", world.rank(), world.size());
        if role == "stay" {
            thread::sleep(Duration::from_secs(3600));
        }
        if role == "lose one" {
            if world.rank() == 1 {
                process::abort();
            }
            assert!(world.barrier().is_err(), "a barrier without rank 1");
            world.recovery().revoke();
            println!("left: {}", world.recovery().shrink().unwrap().size());
        }
    };
    if env::var("JSTREAM_THREADS").is_ok_and(|threads| threads != "1") {
        World::run_from_env(&patient(), work).unwrap();
        return;
    }
    let world = World::from_env(&patient()).unwrap();
    work(&world);
    match world.finish() {
        Err(WorldError::Unfinished { .. }) if role == "lose one" => {}
        finished => finished.unwrap(),
    }
}

#[test]
fn ranks_form_a_world() {
    for (options, ranks) in [
        (&["-n", "4"][..], 4),
        (&["-n", "2", "--threads-per-process", "2"], 4),
        (&["-n", "1", "--bind-to", "core"], 1),
        (&["-n", "3", "--world", "tcp://127.0.0.1:17117"], 3),
    ] {
        let mut jrun = jrun(options, &[]);
        with_ranks(&mut jrun, "go");
        let output = jrun.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        for rank in 0..ranks {
            assert!(text.contains(&format!("said: {rank} of {ranks}")), "{text}");
        }
    }
}

#[test]
fn output_is_labelled() {
    let script = "echo one; echo two >&2; printf 'no end'";
    let output = run(0, &["-n", "2"], script);
    let expected = ["[0] no end", "[0] one", "[1] no end", "[1] one"];
    assert_eq!(lines(&output.stdout), expected);
    assert_eq!(lines(&output.stderr), ["[0] two", "[1] two"]);
    let output = run(0, &["-n", "2", "--threads-per-process", "3"], "echo one");
    assert_eq!(lines(&output.stdout), ["[0-2] one", "[3-5] one"]);
}

#[test]
fn binary_output_passes_unchanged() {
    let bytes: Vec<u8> = (0..3_000_000u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, &bytes).unwrap();
    let input = input.to_str().unwrap();
    let output = jrun(&["-n", "1", "--no-label"], &["cat", input])
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout == bytes);
    let to = folder.path().join("output");
    let to = to.to_str().unwrap();
    let output = jrun(&["-n", "2", "--output-dir", to], &["cat", input])
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    for name in ["rank-0.out", "rank-1.out"] {
        assert!(fs::read(format!("{to}/{name}")).unwrap() == bytes);
    }
    assert_eq!(fs::read(format!("{to}/rank-1.err")).unwrap(), b"");
}

#[test]
fn the_first_rank_has_the_input() {
    let mut jrun = jrun(&["-n", "2"], &["cat"]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("input"), "text\n").unwrap();
    let input = fs::File::open(folder.path().join("input")).unwrap();
    let output = jrun.stdin(input).output().unwrap();
    assert_eq!(output.stdout, b"[0] text\n");
}

#[test]
fn the_rank_that_failed_is_named() {
    let begun = Instant::now();
    let script = "[ $JSTREAM_RANK = 2 ] && exit 7; exec sleep 1000";
    let output = run(7, &["-n", "4"], script);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("jrun: rank 2 (process "), "{errors}");
    assert!(errors.contains("exited with code 7"), "{errors}");
    let script = "[ $JSTREAM_RANK = 1 ] && kill -SEGV $$; exec sleep 1000";
    let output = run(128 + 11, &["-n", "4"], script);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("was killed by signal 11 (SIGSEGV)"),
        "{errors}"
    );
    // Processes that ignore SIGTERM are killed.
    let script = "trap '' TERM; [ $JSTREAM_RANK = 1 ] && exit 3; while :; do sleep 1; done";
    run(3, &["-n", "3", "--quiet"], script);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

#[test]
fn the_others_go_on_if_they_may() {
    let options = ["-n", "3", "--keep-going"];
    let script = "[ $JSTREAM_RANK = 1 ] && kill -KILL $$; sleep 0.2; echo done";
    let output = run(0, &options, script);
    assert_eq!(lines(&output.stdout), ["[0] done", "[2] done"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("jrun: rank 1 (process "), "{errors}");
    assert!(errors.contains("was killed by signal 9"), "{errors}");
    // The code is that of the first if all fail.
    run(
        4,
        &options,
        "[ $JSTREAM_RANK = 1 ] && exit 4; sleep 0.2; exit 5",
    );
    let mut job = jrun(&options, &[]);
    with_ranks(&mut job, "lose one");
    let output = job.output().unwrap();
    let said = lines(&output.stdout);
    let left = said.iter().filter(|line| line.ends_with("left: 2"));
    assert_eq!(left.count(), 2, "{said:?}");
    assert_eq!(output.status.code(), Some(0));
    // What the user says still counts.
    let options = ["-n", "3", "--keep-going", "--timeout", "300ms"];
    run(
        124,
        &options,
        "[ $JSTREAM_RANK = 1 ] && exit 4; exec sleep 1000",
    );
}

#[test]
fn programs_that_cannot_start_have_the_codes_of_shells() {
    for (program, code) in [("/nowhere/at/all", 127), ("/etc/passwd", 126)] {
        let output = jrun(&["-n", "2"], &[program]).output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            errors.contains("rank 0: ") && errors.contains(program),
            "{errors}"
        );
    }
    for options in [&["-n", "0"][..], &["-n", "1", "--world", "x"], &["-n", "x"]] {
        assert_eq!(
            jrun(options, &["true"]).output().unwrap().status.code(),
            Some(2)
        );
    }
}

#[test]
fn time_is_limited() {
    let output = run(124, &["-n", "2", "--timeout", "50ms"], "exec sleep 1000");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("still running: rank 0, 1"), "{errors}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let output = run(0, &["-n", "2", "--dry-run"], "exit 9");
    let text = lines(&output.stdout);
    assert_eq!(text.len(), 2);
    assert!(
        text[1].starts_with("[1]: JSTREAM_RANK='1' JSTREAM_SIZE='2'"),
        "{text:?}"
    );
    assert!(!text[1].contains("JSTREAM_SESSION"), "{text:?}");
}

#[test]
fn processes_are_bound_to_cores() {
    let script = "grep Cpus_allowed_list /proc/self/status; echo sharers $JSTREAM_SHARERS";
    let output = run(0, &["-n", "1", "--bind-to", "core"], script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("sharers 1"), "{text}");
    let output = run(0, &["-n", "5000", "--bind-to", "core", "--dry-run"], "true");
    assert!(String::from_utf8_lossy(&output.stdout).contains("JSTREAM_SHARERS='5000'"));
}

#[test]
fn shells_complete_and_the_manual_is_printed() {
    for (option, word) in [
        ("--completions=bash", "COMPREPLY"),
        ("--man", "threads\\-per"),
    ] {
        let output = jrun(&[option], &[]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains(word), "{text}");
    }
}

/// Starts a job whose processes print a line and stay.
fn start(size: &str, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut jrun = jrun(&["-n", size], &["sh", "-c", script]);
    let mut child = jrun
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

pub(super) fn kill(number: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(number).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Reads the numbers of processes that `count` lines tell.
pub(super) fn numbers(output: &mut impl BufRead, count: usize) -> Vec<u32> {
    let lines = output.lines().take(count).map(|line| line.unwrap());
    lines
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect()
}

/// Waits until processes do not exist any more, or only as zombies.
#[track_caller]
/// Asserts that `jrun` has ended because of a killed process, and has named it.
pub(super) fn names_the_killed(jrun: &mut Child, status: ExitStatus, victim: u32) {
    let mut errors = String::new();
    let mut told = jrun.stderr.take().unwrap();
    told.read_to_string(&mut errors).unwrap();
    assert_eq!(status.code(), Some(128 + 9), "{errors}");
    let named = format!("(process {victim}) was killed by signal 9 (SIGKILL)");
    assert!(errors.contains(&named), "{errors}");
}

pub(super) fn are_gone(numbers: &[u32]) {
    let begun = Instant::now();
    for number in numbers {
        while fs::read_to_string(format!("/proc/{number}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
        {
            assert!(begun.elapsed() < BOUND, "process {number} is still there");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn signals_are_forwarded() {
    let script = "trap 'echo got USR1' USR1; echo pid $$; while :; do sleep 0.01; done";
    let (mut child, mut output) = start("2", script);
    let processes = numbers(&mut output, 2);
    kill(child.id(), Signal::USR1);
    for _ in 0..2 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.ends_with("got USR1\n"), "{line}");
    }
    kill(child.id(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    are_gone(&processes);
    // A second signal kills processes that ignore the first one.
    let script = "trap '' INT; echo pid $$; while :; do sleep 0.01; done";
    let (mut child, mut output) = start("2", script);
    let processes = numbers(&mut output, 2);
    kill(child.id(), Signal::INT);
    thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    kill(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    are_gone(&processes);
}

#[test]
fn nothing_is_left_behind() {
    // Processes in the group of a rank, and one that has left it.
    let script = "sleep 1000 & echo pid $!; setsid sleep 1000 & echo pid $!; echo pid $$; ";
    for (end, code) in [("exit 0", Some(0)), ("exit 5", Some(5))] {
        let (mut child, mut output) = start("1", &format!("{script}{end}"));
        let processes = numbers(&mut output, 3);
        assert_eq!(child.wait().unwrap().code(), code);
        are_gone(&processes);
    }
    // The same, also if jrun itself is killed.
    let (mut child, mut output) = start("2", &format!("{script} wait"));
    let processes = numbers(&mut output, 6);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    are_gone(&processes);
}

#[test]
fn a_reader_that_is_slow_or_gone_does_not_stop_the_end() {
    // The processes write more than the pipes and jrun take.
    let script = "[ $JSTREAM_RANK = 1 ] && { sleep 0.1; exit 4; }; exec yes";
    let (mut child, output) = start("2", script);
    let begun = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(begun.elapsed() < BOUND);
    drop(output);
    let (mut child, output) = start("2", "exec yes");
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13));
}

/// Returns the names in the folders for shared memory and temporary files that jobs may leave.
pub(super) fn left_behind() -> Vec<String> {
    let entries = ["/dev/shm", "/tmp"].map(|folder| fs::read_dir(folder).into_iter().flatten());
    let names = entries.into_iter().flatten().filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let is_ours = ["jsw-", "jrun-", "jstream-0", "jstream-shm"];
        is_ours
            .iter()
            .any(|prefix| name.starts_with(prefix))
            .then_some(name)
    });
    names.collect()
}

#[test]
fn jobs_end_when_any_process_is_killed() {
    let tries = env::var(TRIES).map_or(20, |tries| tries.parse().unwrap());
    let mut seed = 0x9e37_79b9_7f4a_7c15u64 ^ u64::from(std::process::id());
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut longest = Duration::ZERO;
    for number in 0..tries {
        let mut jrun = jrun(&["-n", "4"], &[]);
        with_ranks(&mut jrun, "stay");
        jrun.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = jrun.spawn().unwrap();
        thread::sleep(Duration::from_micros(random(150_000)));
        let tree = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
        let tree: Vec<u32> = tree
            .unwrap_or_default()
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        let is_rank = |number: &&u32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            let command = fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let text = String::from_utf8_lossy(&environment);
            text.contains("JSTREAM_RANK=") && command.contains("features::jrun::rank")
        };
        let ranks: Vec<u32> = tree.iter().filter(is_rank).copied().collect();
        let begun = Instant::now();
        // Each fifth time, jrun itself is killed.
        let victim = ranks.get(random(ranks.len().max(1) as u64) as usize);
        match victim.filter(|_| number % 5 != 4) {
            Some(victim) => {
                kill(*victim, Signal::KILL);
                let status = child.wait().unwrap();
                longest = longest.max(begun.elapsed());
                names_the_killed(&mut child, status, *victim);
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                are_gone(&tree);
                longest = longest.max(begun.elapsed());
            }
        }
        are_gone(&tree);
    }
    println!("{tries} jobs ended, the slowest after {longest:?}");
    assert!(longest < BOUND);
    assert_eq!(left_behind(), [""; 0]);
}

/// A program in place of `ssh` that starts nothing, and says nothing.
#[test]
fn silent_hosts_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, "first slots=1\nsecond slots=1\n").unwrap();
    let hosts = hosts.to_str().unwrap();
    let script = folder.path().join("silent");
    fs::write(&script, "#!/bin/sh\nexec sleep 3600\n").unwrap();
    let ssh = format!("sh {}", script.to_str().unwrap());
    let options = ["--hosts", hosts, "--ssh", &ssh, "--host-timeout", "300ms"];
    let output = run(125, &options, "true");
    let errors = String::from_utf8_lossy(&output.stderr);
    for name in ["first", "second"] {
        let expected = format!("host {name}: its agent did not answer within 300ms");
        assert!(errors.contains(&expected), "{errors}");
    }
}

#[test]
fn output_beyond_the_limit_of_file_sizes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_jrun");
    let script = format!(
        "ulimit -f 8; exec {program} -n 1 --output-dir {} sh -c 'yes | head -c 1000000; sleep 60'",
        folder.path().join("out").display()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(125),
        "{} {errors}",
        output.status
    );
    assert!(errors.contains("File too large"), "{errors}");
}

/// Returns the guard of a job.
fn guard_of(jrun: u32) -> Option<u32> {
    let children = format!("/proc/{jrun}/task/{jrun}/children");
    let children = fs::read_to_string(children).unwrap_or_default();
    let mut children = children.split_whitespace().map(|id| id.parse().unwrap());
    children.find(|id: &u32| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.contains("--guard-of-job")
    })
}

#[test]
fn a_guard_that_was_killed_is_started_again() {
    let mut child = jrun(&["-n", "1"], &["sh", "-c", "sleep 3600"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    testing::until(|| guard_of(id).is_some());
    let first = guard_of(id).unwrap();
    kill_process(Pid::from_raw(first as i32).unwrap(), Signal::KILL).unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert!(line.contains("was started again"), "{line}");
    testing::until(|| guard_of(id).is_some_and(|second| second != first));
    kill_process(Pid::from_raw(id as i32).unwrap(), Signal::TERM).unwrap();
    child.wait().unwrap();
}
