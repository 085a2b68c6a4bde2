//! The processes of a job, before they are started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use jstream_transport::Address;
use jstream_transport::rank::world::{
    PARENT, RANK, SESSION, SHARERS, SIZE, Session, THREADS, WORLD,
};

use crate::arguments::{BindTo, Jrun};
use crate::binding::{Neighbours, list_of};
use crate::failure::Failure;
use crate::hosts::{HostShare, PlannedHosts, RemoteShell, StartOrder, allot, quoted, read};
use crate::mark::Mark;
use crate::placement::place_all;
use crate::process::{Launch, ProcessInput, ProcessLaunch};
use crate::world_name;

/// The start of the names of variables that processes on other hosts get.
const PREFIX: &str = "JSTREAM_";

/// Maximum number of ranks.
const MAX_RANKS: u32 = 1 << 16;

/// The processes of a job.
pub(crate) struct Plan {
    /// The ranks of each process: `3` or `4-7`.
    pub(crate) ranks: Vec<String>,
    pub(crate) place: PlannedPlace,
    pub(crate) launch: Launch,
    /// A message about the placement of the processes.
    pub(crate) notice: Option<String>,
}

/// The place of the processes.
pub(crate) enum PlannedPlace {
    Here(Vec<ProcessLaunch>),
    Hosts(PlannedHosts),
}

impl Plan {
    pub(crate) fn from_arguments(arguments: &Jrun) -> Result<Self, Failure> {
        let hosts = match &arguments.hosts {
            None => None,
            Some(file) => {
                let hosts = read(file).and_then(|hosts| allot(hosts, arguments.n));
                Some(hosts.map_err(Failure::Usage)?)
            }
        };
        let of_hosts = hosts.iter().flatten().map(|host| host.processes).sum();
        let processes = arguments.n.unwrap_or(of_hosts);
        let threads = arguments.threads_per_process;
        let size = processes
            .checked_mul(threads)
            .filter(|size| *size <= MAX_RANKS);
        let size = size.ok_or_else(|| {
            Failure::Usage(format!(
                "{processes} processes with {threads} ranks each are more than {MAX_RANKS} ranks"
            ))
        })?;
        let mut common: Vec<(OsString, OsString)> = vec![
            (SIZE.into(), size.to_string().into()),
            (THREADS.into(), threads.to_string().into()),
        ];
        if let Some(world) = world_of(arguments)? {
            common.push((WORLD.into(), world.into()));
        }
        common.push((SESSION.into(), Session::new()?.to_string().into()));
        let launch = Launch {
            command: arguments.command.clone(),
            folder: arguments.wdir.clone(),
            mark: Mark::new()?,
        };
        let firsts: Vec<u32> = (0..processes)
            .map(|number| number.saturating_mul(threads))
            .collect();
        let (place, notice) = match hosts {
            None => place_locally(arguments, &firsts, common)?,
            Some(hosts) => (place_on(hosts, arguments, &firsts, common)?, None),
        };
        let ranks = firsts.iter().map(|first| ranks_of(*first, threads));
        Ok(Self {
            ranks: ranks.collect(),
            place,
            launch,
            notice,
        })
    }

    /// Describes the processes, each in a line, without the session.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        let words = self
            .launch
            .command
            .iter()
            .map(|word| word.to_string_lossy());
        let words = words.collect::<Vec<_>>().join(" ");
        let mut line = |ranks: &String, place: &str, variables: &[&(OsString, OsString)]| {
            let told = variables.iter().filter(|(name, _)| name != SESSION);
            let told: Vec<_> = told
                .map(|(name, value)| {
                    format!("{}='{}'", name.to_string_lossy(), value.to_string_lossy())
                })
                .collect();
            // Writing to a string does not fail.
            let _ = writeln!(text, "[{ranks}]{place}: {} {words}", told.join(" "));
        };
        match &self.place {
            PlannedPlace::Here(processes) => {
                for (ranks, process) in self.ranks.iter().zip(processes) {
                    let cores = process.set.as_ref();
                    let cores = cores.map(|set| format!(" on processors {}", list_of(set)));
                    let variables: Vec<_> = process.environment.iter().collect();
                    line(ranks, &cores.unwrap_or_default(), &variables);
                }
            }
            PlannedPlace::Hosts(planned) => {
                let mut ranks = self.ranks.iter();
                for (host, order) in &planned.hosts {
                    for (first, ranks) in order.ranks.iter().zip(ranks.by_ref()) {
                        let rank = (RANK.into(), first.to_string().into());
                        let variables = [&rank].into_iter().chain(&order.environment);
                        let variables: Vec<_> = variables.collect();
                        line(ranks, &format!(" on {}", host.name), &variables);
                    }
                }
                let commands = planned.hosts.iter().map(|(host, _)| {
                    let words = planned.shell.command(&host.name);
                    let words = words
                        .iter()
                        .map(|word| quoted(word).to_string_lossy().into_owned());
                    format!("{}\n", words.collect::<Vec<_>>().join(" "))
                });
                text.insert_str(0, &commands.collect::<String>());
            }
        }
        text
    }
}

/// Returns the name of the ranks of a process.
fn ranks_of(first: u32, threads: u32) -> String {
    let last = first.saturating_add(threads).saturating_sub(1);
    match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    }
}

/// Returns the addresses of rank 0, if they are known before the processes are started.
fn world_of(arguments: &Jrun) -> Result<Option<String>, Failure> {
    match &arguments.world {
        Some(given) => {
            for uri in given.split_whitespace() {
                let parsed = uri.parse::<Address>();
                parsed.map_err(|error| Failure::Usage(format!("--world: {error}")))?;
            }
            Ok(Some(given.clone()))
        }
        None if arguments.hosts.is_some() => Ok(None),
        None => {
            let name = world_name::random()?;
            Ok(Some(world_name::addresses_on_one_host(&name)))
        }
    }
}

fn place_locally(
    arguments: &Jrun,
    firsts: &[u32],
    mut common: Vec<(OsString, OsString)>,
) -> Result<(PlannedPlace, Option<String>), Failure> {
    for given in &arguments.variables {
        let (name, value) = variable_of(given)?;
        if let Some(value) = value {
            common.insert(0, (name, value));
        }
    }
    let neighbours = Neighbours {
        processes: u32::try_from(firsts.len()).unwrap_or(u32::MAX),
        threads: arguments.threads_per_process,
        bind: arguments.bind_to == BindTo::Core,
    };
    let (mut processes, notice) = place_all(firsts, neighbours, &common);
    if let (Some(first), false) = (processes.first_mut(), io::stdin().is_terminal()) {
        first.input = ProcessInput::Inherited;
    }
    Ok((PlannedPlace::Here(processes), notice))
}

fn place_on(
    hosts: Vec<HostShare>,
    arguments: &Jrun,
    firsts: &[u32],
    common: Vec<(OsString, OsString)>,
) -> Result<PlannedPlace, Failure> {
    let shell = RemoteShell::new(arguments.ssh.as_deref(), arguments.remote_jrun.as_ref());
    let shell = shell.map_err(|error| Failure::Usage(error.to_string()))?;
    let folder = match &arguments.wdir {
        Some(folder) => folder.clone(),
        None => env::current_dir()?,
    };
    let mut environment = passed_on(env::vars_os().collect());
    for given in &arguments.variables {
        let (name, value) = variable_of(given)?;
        if let Some(value) = value.or_else(|| env::var_os(&name)) {
            environment.push((name, value));
        }
    }
    // Later variables replace earlier ones of the same name.
    environment.extend(common);
    let mut firsts = firsts.iter().copied();
    let mut has_input = !io::stdin().is_terminal();
    let planned = hosts.into_iter().map(|host| {
        let share = usize::try_from(host.processes).unwrap_or(usize::MAX);
        let order = StartOrder {
            folder: folder.clone(),
            bind: arguments.bind_to == BindTo::Core,
            threads: arguments.threads_per_process,
            has_input: std::mem::take(&mut has_input),
            ranks: firsts.by_ref().take(share).collect(),
            command: arguments.command.clone(),
            environment: environment.clone(),
        };
        order.check_length().map_err(Failure::Usage)?;
        Ok((host, order))
    });
    Ok(PlannedPlace::Hosts(PlannedHosts {
        hosts: planned.collect::<Result<_, Failure>>()?,
        shell,
        has_world: arguments.world.is_some(),
        answer: arguments.host_timeout,
    }))
}

/// Returns the variables of an environment that processes on other hosts get without being asked.
fn passed_on(all: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let describes_other =
        |name: &OsStr| [PARENT, SHARERS, RANK, WORLD].iter().any(|of| name == *of);
    let is_ours =
        |name: &OsStr| name.as_bytes().starts_with(PREFIX.as_bytes()) && !describes_other(name);
    let mut ours: Vec<_> = all.into_iter().filter(|(name, _)| is_ours(name)).collect();
    ours.sort();
    ours
}

/// Parses the value of `--env`: `NAME` or `NAME=VALUE`.
fn variable_of(given: &OsStr) -> Result<(OsString, Option<OsString>), Failure> {
    let mut parts = given.as_bytes().splitn(2, |byte| *byte == b'=');
    let mut next = || Some(OsString::from_vec(parts.next()?.to_vec()));
    let (name, value) = (next().unwrap_or_default(), next());
    if name.is_empty() {
        let given = given.to_string_lossy();
        return Err(Failure::Usage(format!(
            "--env {given}: the name is empty; the value is NAME or NAME=VALUE"
        )));
    }
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_library_are_passed_on() {
        let pair = |name: &str| (OsString::from(name), OsString::from("1"));
        let all = [
            "HOME",
            "JSTREAM_B",
            "JSTREAM_A",
            PARENT,
            RANK,
            WORLD,
            SHARERS,
        ];
        let found = passed_on(all.map(pair).to_vec());
        assert_eq!(found, [pair("JSTREAM_A"), pair("JSTREAM_B")]);
    }

    #[test]
    fn values_are_optional() {
        let parse = |text: &str| variable_of(OsStr::new(text)).ok();
        assert_eq!(parse("A"), Some(("A".into(), None)));
        assert_eq!(parse("A=b=c"), Some(("A".into(), Some("b=c".into()))));
        assert_eq!(parse("A="), Some(("A".into(), Some("".into()))));
        assert_eq!(parse("=b"), None);
    }
}
