//! Command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use jstream::command_line::Color;

/// Starts the processes of a world on this host or on others, labels their output, and ends them
/// together.
#[derive(Debug, Parser)]
#[command(
    name = "jrun",
    version,
    after_help = "\
Examples:
  jrun -n 4 ./program                          4 ranks on this host
  jrun -n 2 --threads-per-process 8 ./program  16 ranks, 8 in each process
  jrun -n 4 --timeout 60s --output-dir out ./program
  jrun --hosts hosts.txt ./program             a process for each slot of the hosts

The program calls World::from_env, or World::run_from_env with several ranks in each process.

Exit codes:
  0        all processes succeeded, or one of them with --keep-going
  1..      the code of the process that failed first
  128 + n  that process was killed by signal n, or jrun was told to end by it
  2        wrong usage
  124      the time of --timeout is over
  125      jrun itself failed, or the connection to a host did
  126, 127 the program can't be executed, or does not exist",
    after_long_help = "\
The program calls World::from_env, or World::run_from_env with several ranks in each process.

Output is written line by line, each with the rank of its process in front. A line longer than 64 KiB is \
broken. With --no-label, and in the files of --output-dir, all bytes pass unchanged. If nobody reads the output, \
the processes wait. The process of rank 0 has the standard input of jrun, if that is no terminal; the others have an empty one.

Hosts: each line of the file of --hosts names a host and its number of processes, as in `node1 slots=4`. The default \
is one process, and `#` begins a comment. Processes are placed in the order of the lines. `ssh` reaches the hosts, \
and must not ask for a password. localhost and the name of this host are reached without it. Each host needs the \
same version of jrun. The processes get the variables of the environment that begin with JSTREAM_, and those of \
--env. Ranks of different hosts are connected over TCP.

Signals: SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are forwarded to all \
processes. A second SIGINT or SIGTERM kills them. If a process fails, the others get SIGTERM, and SIGKILL half a \
second later, unless --keep-going lets them go on. If jrun is killed, or the connection to a host breaks, the processes are killed.

Exit codes:
  0        all processes succeeded, or one of them with --keep-going
  1..      the code of the process that failed first
  128 + n  that process was killed by signal n, or jrun was told to end by it
  2        wrong usage
  124      the time of --timeout is over
  125      jrun itself failed, or the connection to a host did
  126, 127 the program can't be executed, or does not exist"
)]
pub(crate) struct Jrun {
    /// Number of processes (default with --hosts: all slots).
    #[arg(short, long = "processes", value_name = "N", required_unless_present = "hosts",
        value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub(crate) n: Option<u32>,
    /// File with the hosts on which the processes run: lines of `host [slots=N]`.
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
    /// Command that runs another one on a host, split at blanks: the host and the other command
    /// are appended (default: JRUN_SSH, or ssh with options against questions and lost hosts).
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub(crate) ssh: Option<String>,
    /// Time within which the hosts have to answer: 500ms, 10s, 5m.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "hosts",
        default_value = "60s")]
    pub(crate) host_timeout: Duration,
    /// The program jrun on the other hosts (default: the path of this one).
    #[arg(long, value_name = "PATH", requires = "hosts")]
    pub(crate) remote_jrun: Option<PathBuf>,
    /// Set a variable in the environment of the processes, or pass that of this environment on.
    #[arg(long = "env", short = 'x', value_name = "NAME[=VALUE]")]
    pub(crate) variables: Vec<OsString>,
    /// Working folder of the processes (default: the current one).
    #[arg(long, value_name = "DIR")]
    pub(crate) wdir: Option<PathBuf>,
    /// Number of ranks of each process, which are threads of it.
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub(crate) threads_per_process: u32,
    /// Cores on which each process may run: as many of its own as it has ranks, or all.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "none")]
    pub(crate) bind_to: BindTo,
    /// Write the output of each process to files in this folder: rank-0.out, rank-0.err, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Don't write the rank in front of each line of output.
    #[arg(long)]
    pub(crate) no_label: bool,
    /// Let the other processes go on when one fails, for programs that replace lost ranks.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Maximum time for which the processes may run: 500ms, 10s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Addresses of rank 0, separated by spaces (default: shared memory and a Unix socket).
    #[arg(long, value_name = "URIS")]
    pub(crate) world: Option<String>,
    /// Print what would be started, and exit.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print no messages of jrun, such as the rank that failed.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
    /// The program, and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM [ARGS]"
    )]
    pub(crate) command: Vec<OsString>,
}

/// Cores on which a process may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BindTo {
    /// Cores that no other process of the job has.
    Core,
    /// All cores.
    None,
}

/// Parses a time: `500ms`, `10s`, `5m`, `2h`, or seconds without a unit.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text
        .split_at_checked(at.unwrap_or(text.len()))
        .unwrap_or_default();
    let unit = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a duration is a number with ms, s, m or h".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{number}` is not a number"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Jrun::command().debug_assert();
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "s", "-1s", "1d", "NaN", "1e30h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
