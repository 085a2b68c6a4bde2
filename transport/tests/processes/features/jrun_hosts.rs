//! Tests of `jrun --hosts` with real servers of `ssh`.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::rank::world::World;
use rustix::process::Signal;
use testing::process::{ROLE, arguments, role};
use testing::transport::worlds::patient;

use super::jrun::{BOUND, are_gone, kill, left_behind, lines, names_the_killed, numbers};
use super::ssh_servers::SshServers;
use crate::namespaces::Hosts;

/// Two hosts with two slots each.
const TWO: &str = "a slots=2\nb slots=2 # the other one\n";

/// The environment variable with the number of jobs in which a process is killed.
const TRIES: &str = "JSTREAM_TEST_KILLS";

/// Entry point of the ranks.
#[test]
fn rank() {
    let Some(role) = role() else { return };
    let world = World::from_env(&patient()).unwrap();
    world.barrier().unwrap();
    let others = (0..world.size()).filter(|peer| *peer != world.rank());
    let schemes = others.map(|peer| world.endpoint(peer).unwrap().info().scheme);
    let schemes: Vec<_> = schemes.collect();
    println!(
        "said: {} of {} over {}",
        world.rank(),
        world.size(),
        schemes.join(" ")
    );
    if role == "stay" {
        thread::sleep(Duration::from_secs(3600));
    }
    world.finish().unwrap();
}

/// Adds ranks of this program to a command of `jrun`.
fn with_ranks(jrun: &mut Command, role: &str) {
    jrun.arg(env::current_exe().unwrap());
    jrun.args(arguments("features::jrun_hosts::rank"))
        .env(ROLE, role);
}

/// Runs a command, and checks its exit code. Returns its output and its errors.
#[track_caller]
fn ended(command: &mut Command, code: i32) -> (Output, String) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{text}{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    (output, errors)
}

/// Returns what the ranks said, sorted.
fn said(output: &Output) -> Vec<String> {
    let lines = lines(&output.stdout);
    let said = lines.iter().filter_map(|line| line.split("said: ").nth(1));
    said.map(str::to_owned).collect()
}

/// Starts a script in the processes of a job.
fn start(servers: &SshServers, script: &str) -> (Child, BufReader<ChildStdout>) {
    let mut jrun = servers.command(TWO, &["sh", "-c", script]);
    let mut child = jrun
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

#[test]
fn ranks_of_several_hosts_form_a_world() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    for (hosts, options) in [
        (TWO, &[][..]),
        // One of the agents is started without ssh.
        ("localhost slots=2\nb slots=8", &["-n", "4"]),
        ("b slots=1\nlocalhost slots=3", &["--bind-to", "core"]),
        // A single host.
        ("a slots=7", &["-n", "4"]),
        (TWO, &["--world", "tcp://127.0.0.1:17118"]),
    ] {
        let mut jrun = servers.command(hosts, options);
        with_ranks(&mut jrun, "go");
        let (output, errors) = ended(&mut jrun, 0);
        let said = said(&output);
        assert_eq!(said.len(), 4, "{hosts}: {said:?}{errors}");
        assert!(said[3].starts_with("3 of 4 over "), "{said:?}");
        servers.are_clean();
    }
}

#[test]
fn ranks_of_one_host_share_memory_and_others_do_not() {
    let network = "10.215.0";
    let hosts = match Hosts::new(network) {
        Ok(hosts) => hosts,
        Err(why) => return eprintln!("SKIPPED: {}", why.trim()),
    };
    let Some(servers) = SshServers::start_in(Some((&hosts, network))) else {
        return;
    };
    let expected = [
        "0 of 4 over shm tcp tcp",
        "1 of 4 over shm tcp tcp",
        "2 of 4 over tcp tcp shm",
        "3 of 4 over tcp tcp shm",
    ];
    // The program runs on the first host, whose agent is started with ssh or without it.
    for file in [
        TWO,
        "localhost slots=2\nb slots=2",
        "b slots=2\nlocalhost slots=2",
    ] {
        let mut jrun = Command::new("ip");
        jrun.args(["netns", "exec", &hosts.names[0]])
            .arg(servers.jrun());
        servers.add_options(&mut jrun, file, &[]);
        with_ranks(&mut jrun, "go");
        let (output, errors) = ended(&mut jrun, 0);
        assert_eq!(said(&output), expected, "{file}: {errors}");
        servers.are_clean();
    }
}

#[test]
fn words_variables_and_the_folder_arrive_unchanged() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let words = [
        "",
        "a b",
        "it's",
        "$HOME `id` \\",
        "\"",
        "line\nline",
        "-n",
        "\u{e4}*?",
    ];
    let script = "pwd; printf '<%s>' \"$@\"; echo; printf '<%s>' \"$A\" \"$B\" \"$C\" \"$JSTREAM_X\"; echo; \
                  echo $JSTREAM_RANK $JSTREAM_SIZE";
    let folder = servers.path("it's a folder");
    fs::create_dir(&folder).unwrap();
    let mut jrun = servers.command(
        "b",
        &[
            "--no-label",
            "--env",
            "A=it's = $x\n",
            "-x",
            "B",
            "--env",
            "C",
        ],
    );
    jrun.args(["sh", "-c", script, "sh"]).args(words);
    jrun.env("B", "b b").env_remove("C").env("JSTREAM_X", "'x'");
    jrun.current_dir(&folder);
    let (output, _) = ended(&mut jrun, 0);
    let words: String = words.iter().map(|word| format!("<{word}>")).collect();
    let expected = format!(
        "{}\n{words}\n<it's = $x\n><b b><><'x'>\n0 1\n",
        folder.display()
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let mut jrun = servers.command(TWO, &["--wdir", "/", "pwd"]);
    let (output, _) = ended(&mut jrun, 0);
    assert_eq!(lines(&output.stdout), ["[0] /", "[1] /", "[2] /", "[3] /"]);
    let mut jrun = servers.command(TWO, &["--wdir", "/nowhere/at/all", "pwd"]);
    let (_, errors) = ended(&mut jrun, 125);
    assert!(
        errors.contains("can't use the working folder /nowhere/at/all"),
        "{errors}"
    );
    servers.are_clean();
}

#[test]
fn the_session_is_on_no_command_line() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let (mut child, mut output) = start(&servers, "echo $JSTREAM_SESSION; exec sleep 1000");
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let session = line.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(session.len(), 32, "{line}");
    let processes = servers.processes();
    assert!(processes.len() > 4, "{processes:?}");
    for number in processes {
        let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        assert!(!words.contains(session), "{words}");
    }
    kill(child.id(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    servers.are_clean();
}

#[test]
fn a_dry_run_prints_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, "n1 slots=2\nlocalhost\nme@n2 slots=4").unwrap();
    let dry = |options: &[&str]| {
        let mut jrun = Command::new(env!("CARGO_BIN_EXE_jrun"));
        jrun.arg("--hosts").arg(&hosts).arg("--dry-run");
        jrun.args(options)
            .args(["--remote-jrun", "/opt/it's/jrun", "./program", "x"]);
        let (output, _) = ended(&mut jrun, 0);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = dry(&["-n", "4"]);
    let found: Vec<_> = text.lines().collect();
    assert_eq!(found.len(), 7, "{text}");
    assert!(
        found[0].starts_with("ssh -x -T -o BatchMode=yes "),
        "{text}"
    );
    let quoted = r" n1 'exec '\''/opt/it'\''\'\'''\''s/jrun'\'' --agent-of-job'";
    assert!(found[0].ends_with(quoted), "{text}");
    assert!(found[1].ends_with("jrun --agent-of-job"), "{text}");
    let rank = "[3] on me@n2: JSTREAM_RANK='3' ";
    assert!(
        found[6].starts_with(rank) && found[6].ends_with(" ./program x"),
        "{text}"
    );
    assert!(!text.contains("JSTREAM_SESSION"), "{text}");
    assert!(dry(&["--ssh", "rsh -4"]).starts_with("rsh -4 n1 'exec "));
    // Without -n, all slots are used.
    assert!(dry(&[]).contains("[6] on me@n2: "));
}

#[test]
fn errors_of_the_host_file_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    for (text, options, told) in [
        ("a\nb slots=x\n", &[][..], "line 2: `slots=x` has to be"),
        (
            "a slots=2",
            &["-n", "3"],
            "3 processes are more than the 2 slots",
        ),
        ("", &[], "names no host"),
        ("a", &["--env", "=x"], "--env =x: the name is empty"),
        (
            "a",
            &["--ssh", " "],
            "the command of --ssh or JRUN_SSH is empty",
        ),
    ] {
        fs::write(&hosts, text).unwrap();
        let mut jrun = Command::new(env!("CARGO_BIN_EXE_jrun"));
        jrun.arg("--hosts").arg(&hosts).args(options).arg("true");
        let (_, errors) = ended(&mut jrun, 2);
        assert!(errors.contains(told), "{text}: {errors}");
    }
}

#[test]
fn the_rank_that_failed_is_named_with_its_host() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let begun = Instant::now();
    for (script, code, told) in [
        (
            "[ $JSTREAM_RANK = 2 ] && exit 7; exec sleep 1000",
            7,
            "rank 2 on b (process ",
        ),
        (
            "[ $JSTREAM_RANK = 1 ] && kill -SEGV $$; exec sleep 1000",
            128 + 11,
            "was killed by signal 11 (SIGSEGV)",
        ),
        (
            "trap '' TERM; [ $JSTREAM_RANK = 3 ] && exit 3; while :; do sleep 1; done",
            3,
            "rank 3 on b (process ",
        ),
    ] {
        let mut jrun = servers.command(TWO, &["sh", "-c", script]);
        let (_, errors) = ended(&mut jrun, code);
        assert!(errors.contains(told), "{errors}");
        servers.are_clean();
    }
    let mut jrun = servers.command(TWO, &["--timeout", "2s", "sleep", "1000"]);
    let (_, errors) = ended(&mut jrun, 124);
    assert!(
        errors.contains("still running: rank 0, 1, 2, 3"),
        "{errors}"
    );
    servers.are_clean();
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

#[test]
fn the_others_go_on_if_they_may() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let script = "[ $JSTREAM_RANK = 2 ] && kill -KILL $$; sleep 0.3; echo done";
    let mut jrun = servers.command(TWO, &["--keep-going", "sh", "-c", script]);
    let (output, errors) = ended(&mut jrun, 0);
    assert_eq!(lines(&output.stdout), ["[0] done", "[1] done", "[3] done"]);
    assert!(errors.contains("rank 2 on b (process "), "{errors}");
    servers.are_clean();
}

#[test]
fn programs_that_one_host_does_not_have_end_the_job() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    servers.add_program("a", "only-here", "#!/bin/sh\nexec sleep 1000\n");
    let mut jrun = servers.command(TWO, &["only-here"]);
    let (_, errors) = ended(&mut jrun, 127);
    assert!(
        errors.contains("rank 2 on b: only-here can't be started: No such file"),
        "{errors}"
    );
    servers.are_clean();
}

#[test]
fn hosts_that_cannot_be_used_are_named() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    for (hosts, options, told) in [
        (
            "a\nrefusing",
            &[][..],
            "host refusing: ssh ended (exit status: 255)",
        ),
        ("a\nunknown.invalid", &[], "host unknown.invalid: ssh ended"),
        (
            "a",
            &["--remote-jrun", "/nowhere/jrun"],
            "host a: ssh ended (exit status: 127): its jrun was not found",
        ),
        (
            "a",
            &["--ssh", "/nowhere/ssh"],
            "host a: /nowhere/ssh can't be started",
        ),
    ] {
        let mut jrun = servers.command(hosts, options);
        let (_, errors) = ended(jrun.args(["sleep", "1000"]), 125);
        assert!(errors.contains(told), "{errors}");
        servers.are_clean();
    }
}

#[test]
fn agents_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, "a").unwrap();
    for (script, told) in [
        ("yes", "something that wrote more than"),
        (
            "echo hello; echo 'jrun agent of protocol 0'; exec sleep 100",
            "its jrun has protocol 0, and this one 1",
        ),
        ("echo 'jrun agent of protocol 1'; exec yes", "host a: "),
        ("exit 3", "ended (exit status: 3)"),
        ("kill -9 $$", "ended (signal: 9 (SIGKILL))"),
    ] {
        let program = folder.path().join("agent");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut jrun = Command::new(env!("CARGO_BIN_EXE_jrun"));
        jrun.arg("--hosts").arg(&hosts).arg("--ssh").arg(&program);
        let (_, errors) = ended(jrun.arg("true"), 125);
        assert!(errors.contains(told), "{script}: {errors}");
    }
}

#[test]
fn output_of_all_hosts_is_written_here() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let script = "echo one; echo two >&2; printf 'no end'";
    let (output, errors) = ended(&mut servers.command("a\nb", &["sh", "-c", script]), 0);
    let expected = ["[0] no end", "[0] one", "[1] no end", "[1] one"];
    assert_eq!(lines(&output.stdout), expected);
    assert_eq!(lines(errors.as_bytes()), ["[0] two", "[1] two"]);
    // More than the hosts may send at once.
    let bytes: Vec<u8> = (0..3_000_000u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let input = servers.path("input");
    fs::write(&input, &bytes).unwrap();
    let folder = servers.path("output");
    let (to, input) = (folder.to_str().unwrap(), input.to_str().unwrap());
    ended(
        &mut servers.command(TWO, &["--output-dir", to, "cat", input]),
        0,
    );
    for rank in 0..4 {
        assert!(fs::read(format!("{to}/rank-{rank}.out")).unwrap() == bytes);
        assert_eq!(fs::read(format!("{to}/rank-{rank}.err")).unwrap(), b"");
    }
    // The first process has the input.
    for hosts in [TWO, "localhost\nb"] {
        let mut jrun = servers.command(hosts, &["--no-label", "cat"]);
        jrun.stdin(fs::File::open(input).unwrap());
        assert!(ended(&mut jrun, 0).0.stdout == bytes);
        // Nothing reads it.
        let mut jrun = servers.command(hosts, &["true"]);
        ended(jrun.stdin(fs::File::open(input).unwrap()), 0);
    }
    servers.are_clean();
}

#[test]
fn a_reader_that_is_slow_or_gone_does_not_stop_the_end() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let script = "[ $JSTREAM_RANK = 3 ] && { sleep 0.3; exit 4; }; exec yes";
    let (mut child, output) = start(&servers, script);
    let begun = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(begun.elapsed() < BOUND);
    drop(output);
    servers.are_clean();
    let (mut child, output) = start(&servers, "exec yes");
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13));
    servers.are_clean();
}

#[test]
fn signals_reach_all_hosts() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let script = "trap 'echo got USR1' USR1; echo pid $$; while :; do sleep 0.01; done";
    let (mut child, mut output) = start(&servers, script);
    let processes = numbers(&mut output, 4);
    kill(child.id(), Signal::USR1);
    for _ in 0..4 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.ends_with("got USR1\n"), "{line}");
    }
    kill(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    are_gone(&processes);
    servers.are_clean();
    // Before the agents have answered.
    let folder = tempfile::tempdir().unwrap();
    let silent = folder.path().join("silent");
    fs::write(&silent, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&silent, fs::Permissions::from_mode(0o755)).unwrap();
    let mut jrun = servers.command(TWO, &["--ssh", silent.to_str().unwrap(), "true"]);
    let mut child = jrun.spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    kill(child.id(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    servers.are_clean();
}

#[test]
fn nothing_is_left_behind_on_any_host() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    // Processes in the group of a rank, and one that has left it.
    let script = "sleep 1000 & echo pid $!; setsid sleep 1000 & echo pid $!; echo pid $$; ";
    for (end, code) in [("exit 0", Some(0)), ("exit 5", Some(5))] {
        let (mut child, mut output) = start(&servers, &format!("{script}{end}"));
        let processes = numbers(&mut output, 12);
        assert_eq!(child.wait().unwrap().code(), code);
        are_gone(&processes);
        servers.are_clean();
    }
    // The processes of one host stay while those of the other, which is the same here, have ended.
    let script = "[ $JSTREAM_RANK -ge 2 ] || { sleep 0.4; echo stayed; }";
    let (output, _) = ended(&mut servers.command(TWO, &["sh", "-c", script]), 0);
    assert_eq!(lines(&output.stdout), ["[0] stayed", "[1] stayed"]);
    // Ends that nobody announces: of jrun, of a connection at either end, of an agent.
    let script = "setsid sleep 1000 & echo pid $!; echo pid $$; wait";
    for victim in ["jrun", "ssh", "sshd", "agent"] {
        let (mut child, mut output) = start(&servers, script);
        let processes = numbers(&mut output, 8);
        let clients = super::ssh_servers::children(child.id());
        match victim {
            "jrun" => child.kill().unwrap(),
            "ssh" => kill(clients[0], Signal::KILL),
            "sshd" => {
                for connection in servers.connections() {
                    kill(connection, Signal::KILL);
                }
            }
            _ => kill(agents(&servers)[0], Signal::KILL),
        }
        let status = child.wait().unwrap();
        let mut errors = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        match victim {
            "jrun" => assert_eq!(status.signal(), Some(9)),
            _ => {
                assert_eq!(status.code(), Some(125), "{victim}: {errors}");
                let told = "was lost with the connection to its host";
                assert!(errors.contains(told), "{victim}: {errors}");
            }
        }
        are_gone(&processes);
        servers.are_clean();
    }
}

/// Returns the agents that run.
fn agents(servers: &SshServers) -> Vec<u32> {
    let jrun = servers.jrun();
    let is_agent = |number: &u32| {
        let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next() == Some(jrun.as_os_str().as_encoded_bytes())
            && words.next() == Some(b"--agent-of-job")
    };
    servers.processes().into_iter().filter(is_agent).collect()
}

#[test]
fn jobs_end_when_any_process_is_killed() {
    let Some(servers) = SshServers::start() else {
        return;
    };
    let tries = env::var(TRIES).map_or(10, |tries| tries.parse().unwrap());
    let mut seed = 0x9e37_79b9_7f4a_7c15u64 ^ u64::from(std::process::id());
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut longest = Duration::ZERO;
    for number in 0..tries {
        let mut jrun = servers.command(TWO, &[]);
        with_ranks(&mut jrun, "stay");
        jrun.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = jrun.spawn().unwrap();
        thread::sleep(Duration::from_micros(random(900_000)));
        let is_rank = |number: &u32| {
            let words = fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
            words.contains("features::jrun_hosts::rank") && !words.contains("--hosts")
        };
        let ranks: Vec<u32> = agents(&servers)
            .into_iter()
            .flat_map(super::ssh_servers::children)
            .filter(is_rank)
            .collect();
        let victim = ranks.get(random(ranks.len().max(1) as u64) as usize);
        let begun = Instant::now();
        // Each third time, jrun itself is killed.
        match victim.filter(|_| number % 3 != 2) {
            Some(victim) => {
                kill(*victim, Signal::KILL);
                let status = child.wait().unwrap();
                longest = longest.max(begun.elapsed());
                names_the_killed(&mut child, status, *victim);
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
        servers.are_clean();
        longest = longest.max(begun.elapsed());
    }
    println!("{tries} jobs ended, the slowest after {longest:?}");
    assert!(longest < BOUND);
    assert_eq!(left_behind(), [""; 0]);
}
