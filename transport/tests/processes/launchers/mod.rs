//! Worlds whose processes are started by launchers: real ones, if they are installed, and recorded
//! environments.

mod recorded;
mod slurm;

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::{World, WorldError};
use testing::process::{ROLE, again, arguments, role};
use testing::transport::worlds::patient;

/// Entry point of the ranks.
#[test]
fn rank() {
    let ended = match role().as_deref() {
        None => return,
        Some("several ranks") => World::run_from_env(&patient(), say_hello).map(drop),
        Some(_) => World::from_env(&patient()).and_then(|world| {
            say_hello(&world);
            world.finish()
        }),
    };
    match ended {
        Ok(()) => {}
        Err(WorldError::Children { .. }) => unreachable!("no children were started"),
        Err(error) => println!("said: error: {error}"),
    }
}

/// Checks that all ranks are there, and prints the place of this one.
fn say_hello(world: &World) {
    let mut sum = [0];
    world.all_reduce(&[world.rank()], &mut sum, &Sum).unwrap();
    assert_eq!(sum, [(0..world.size()).sum::<u32>()]);
    world.barrier().unwrap();
    let other = (world.rank() + 1) % world.size();
    let scheme = world
        .endpoint(other)
        .map_or("none", |end| end.info().scheme);
    println!(
        "said: rank {} of {} over {scheme}",
        world.rank(),
        world.size()
    );
}

/// The command of a rank in a role.
fn program(role: &str) -> Command {
    again("launchers::rank", role)
}

/// Adds the command of a rank to a launcher, which passes its environment on.
fn add_program(launcher: &mut Command, role: &str) {
    launcher.arg(env::current_exe().unwrap());
    launcher.args(arguments("launchers::rank")).env(ROLE, role);
    // The library of PMIx leaks, and the value that it returns is never released.
    launcher.env("ASAN_OPTIONS", "detect_leaks=0");
    launcher.stdin(Stdio::null());
}

/// Returns what the ranks said, sorted.
fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A launcher may put the lines of several processes behind each other.
    let mut said: Vec<_> = text
        .split("said: ")
        .skip(1)
        .map(|rest| rest.lines().next().unwrap().to_owned())
        .collect();
    said.sort();
    assert!(
        !said.is_empty(),
        "{}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// Returns what `size` ranks say whose neighbours are reached by this scheme.
fn all_of(size: u32, scheme: &str) -> Vec<String> {
    let ranks = 0..size;
    ranks
        .map(|rank| format!("rank {rank} of {size} over {scheme}"))
        .collect()
}

/// Finds a program in the path.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Finds the first of several programs whose version has this text. Says so if there is none.
fn launcher(names: &[&str], version: &str) -> Option<PathBuf> {
    let found = names.iter().filter_map(|name| find(name)).find(|program| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(version))
    });
    if found.is_none() {
        eprintln!("SKIPPED: none of {names:?} of {version} is in the path");
    }
    found
}

fn open_mpi(processes: &str) -> Option<Command> {
    let mut command = Command::new(launcher(&["mpirun.openmpi", "mpirun"], "Open MPI")?);
    command.args(["--oversubscribe", "-n", processes]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Some(command)
}

fn mpich(processes: &str) -> Option<Command> {
    let mut command = Command::new(launcher(&["mpiexec.mpich", "mpiexec"], "HYDRA")?);
    command.args(["-n", processes]);
    Some(command)
}

#[test]
fn mpirun_of_open_mpi_starts_a_world() {
    let Some(mut command) = open_mpi("3") else {
        return;
    };
    add_program(&mut command, "rank");
    let output = command.output().unwrap();
    assert_eq!(said(&output), all_of(3, "shm"));
    assert!(output.status.success());
}

#[test]
fn mpirun_of_open_mpi_without_pmix_starts_a_world() {
    let Some(mut command) = open_mpi("3") else {
        return;
    };
    command.args([
        "sh",
        "-c",
        "unset PMIX_RANK; PMIX_NAMESPACE=$PPID; exec \"$@\"",
        "sh",
    ]);
    add_program(&mut command, "rank");
    let output = command.output().unwrap();
    assert_eq!(said(&output), all_of(3, "shm"));
    assert!(output.status.success());
}

#[test]
fn mpiexec_of_mpich_starts_a_world() {
    let Some(mut command) = mpich("3") else {
        return;
    };
    add_program(&mut command, "rank");
    let output = command.output().unwrap();
    assert_eq!(said(&output), all_of(3, "shm"));
    assert!(output.status.success());
}

#[test]
fn launchers_start_processes_with_several_ranks() {
    for command in [open_mpi("2"), mpich("2")] {
        let Some(mut command) = command else { continue };
        command.env("JSTREAM_THREADS", "2");
        add_program(&mut command, "several ranks");
        let output = command.output().unwrap();
        let expected = ["none", "shm", "none", "shm"];
        let expected = (0..)
            .zip(expected)
            .map(|(rank, scheme): (u32, _)| format!("rank {rank} of 4 over {scheme}"));
        assert_eq!(said(&output), expected.collect::<Vec<_>>());
        // A process that does not know that it has several ranks is an error.
        let Some(mut command) = (match said(&output).len() {
            4 => open_mpi("2"),
            _ => None,
        }) else {
            continue;
        };
        command.env("JSTREAM_THREADS", "2");
        add_program(&mut command, "rank");
        let said = said(&command.output().unwrap());
        assert!(said[0].contains("JSTREAM_THREADS is 2, but"), "{said:?}");
    }
}

#[test]
fn addresses_of_the_user_are_used_with_launchers() {
    for command in [open_mpi("2"), mpich("2")] {
        let Some(mut command) = command else { continue };
        command.env("JSTREAM_WORLD", "tcp://0.0.0.0:0");
        add_program(&mut command, "rank");
        assert_eq!(said(&command.output().unwrap()), all_of(2, "tcp"));
    }
}
