//! Runs of the same kernels over MPI libraries, by the program of the package `mpi-peer`.
//!
//! That package is not part of the workspace: it needs an MPI library and libclang, which not
//! every machine has. It is built when it is asked for, once for each library.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::CommandExt;

use rustix::process::{Pid, Signal, kill_process_group};

use super::app::App;
use super::node::{Profile, Report, TIMEOUT};
use super::setup::Setup;
use super::size::Size;
use crate::Failure;
use crate::suites::transport::mpi::{LIBRARIES, Library, find};

/// The program for an installed MPI library.
pub(super) struct Program {
    library: Library,
    runner: PathBuf,
    path: PathBuf,
}

/// Builds the program for each library that is installed.
///
/// # Errors
///
/// Fails if no library is installed, or if the program cannot be built.
pub(super) fn programs() -> Result<Vec<Program>, Failure> {
    let mut programs = Vec::new();
    for library in LIBRARIES {
        if let (Some(compiler), Some(runner)) = (find(library.compiler), find(library.runner)) {
            programs.push(Program {
                library,
                runner,
                path: build(library, &compiler)?,
            });
        }
    }
    if programs.is_empty() {
        let names = LIBRARIES.map(|library| library.compiler).join(" nor ");
        return Err(format!("no MPI library is installed: neither {names} is in PATH").into());
    }
    Ok(programs)
}

/// Returns the path of the program for this library, built from the current sources.
fn build(library: Library, compiler: &Path) -> Result<PathBuf, Failure> {
    let this = env::current_exe()?;
    // The target folder, behind those of the profile and the program.
    let target = this.ancestors().nth(2);
    let target = target.ok_or("the path of this program has no target folder")?;
    let target = target.join("mpi-peer").join(library.name);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("mpi-peer/Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let status = Command::new(cargo)
        .args([
            "build",
            "--release",
            "--quiet",
            "--locked",
            "--manifest-path",
        ])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target)
        .env("MPICC", compiler)
        .status()?;
    if !status.success() {
        let name = library.name;
        return Err(format!(
            "the program for {name} was not built ({status}); it needs libclang (LIBCLANG_PATH)"
        )
        .into());
    }
    Ok(target.join("release/jstream-benches-mpi-peer"))
}

impl Program {
    /// Returns the name of the library.
    pub(super) fn name(&self) -> &'static str {
        self.library.name
    }

    /// Runs an application with a process for each node.
    pub(super) fn run(
        &self,
        app: &dyn App,
        setup: &Setup,
        size: Size,
        check: bool,
    ) -> Result<Report, Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("result");
        let nodes = setup.nodes() as usize;
        let mut command = Command::new(&self.runner);
        command.args(self.library.arguments);
        let has_cores = nodes <= thread::available_parallelism()?.get();
        command.args(if has_cores {
            self.library.spins
        } else {
            self.library.yields
        });
        command.args(["-n", &nodes.to_string()]).arg(&self.path);
        command.args([app.name(), size.name()]).arg(&file);
        if check {
            command.arg("--check");
        }
        let mut runner = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        let status = wait(&mut runner)?;
        if !status.success() {
            return Err(format!("{}: {status}", self.name()).into());
        }
        parse(&fs::read(&file)?)
    }
}

/// Waits for the end of the runner. After the timeout, kills it and its ranks.
fn wait(runner: &mut Child) -> Result<ExitStatus, Failure> {
    let until = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = runner.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > until {
            // If the group has just ended, there is nothing to kill.
            let _ = kill_process_group(Pid::from_child(runner), Signal::KILL);
            runner.wait()?;
            return Err(format!("the MPI ranks did not end within {TIMEOUT:?}").into());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Parses the result of a run: the time in nanoseconds, and the numbers of all nodes.
fn parse(bytes: &[u8]) -> Result<Report, Failure> {
    let chunks = bytes.chunks_exact(size_of::<f64>());
    let rest = chunks.remainder();
    let mut numbers = chunks.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()));
    match (numbers.next(), rest) {
        (Some(nanos), []) => Ok(Report {
            answer: numbers.collect(),
            nanos,
            profile: Profile::default(),
            work: 0,
        }),
        _ => Err(format!("a result of {} bytes is incomplete", bytes.len()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_the_time_and_the_numbers() {
        let bytes: Vec<_> = [7.0f64, 1.5, 2.5]
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        let report = parse(&bytes).unwrap();
        assert_eq!((report.nanos, &report.answer[..]), (7.0, &[1.5, 2.5][..]));
        assert!(parse(&bytes[..9]).is_err());
        assert!(parse(&[]).is_err());
    }
}
