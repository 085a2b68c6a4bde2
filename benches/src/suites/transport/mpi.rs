//! MPI libraries and mpi4py, if they are installed: ranks of a small C program or of a script,
//! which run the same rounds on command.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::case::{COLLECTIVES, Case, Layer, Pattern, TAGS, Touch, Way};
use super::{Cores, watch};
use crate::Failure;
use crate::measure::note_interval;

/// An MPI library: the names of its subjects, and the names of its programs. Those of OpenMPI 4 and
/// of MPICH are the names on Debian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Library {
    pub(crate) name: &'static str,
    /// Name of the subject whose ranks share cores.
    yielding: &'static str,
    /// Beginning of the name that the library gives itself.
    vendor: &'static str,
    pub(crate) compiler: &'static str,
    pub(crate) runner: &'static str,
    /// Arguments of the runner, without the number of ranks.
    pub(crate) arguments: &'static [&'static str],
    /// Arguments of the runner for ranks that each have a core of their own.
    pub(crate) spins: &'static [&'static str],
    /// Arguments of the runner for ranks that share cores.
    pub(crate) yields: &'static [&'static str],
}

/// All supported libraries.
pub(crate) const LIBRARIES: [Library; 3] = [
    Library {
        name: "openmpi",
        yielding: "openmpi-yield",
        vendor: "Open MPI v4",
        compiler: "mpicc.openmpi",
        runner: "mpirun.openmpi",
        arguments: &[
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "self,vader",
        ],
        spins: &["--mca", "mpi_yield_when_idle", "0"],
        yields: &["--mca", "mpi_yield_when_idle", "1"],
    },
    Library {
        name: "openmpi5",
        yielding: "openmpi5-yield",
        vendor: "Open MPI v5",
        compiler: "mpicc.openmpi5",
        runner: "mpirun.openmpi5",
        arguments: &[
            "--allow-run-as-root",
            "--map-by",
            ":OVERSUBSCRIBE",
            "--bind-to",
            "none",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "self,sm",
        ],
        spins: &["--mca", "mpi_yield_when_idle", "0"],
        yields: &["--mca", "mpi_yield_when_idle", "1"],
    },
    Library {
        name: "mpich",
        yielding: "mpich-yield",
        vendor: "MPICH",
        compiler: "mpicc.mpich",
        runner: "mpirun.mpich",
        arguments: &["-bind-to", "none"],
        spins: &[],
        yields: &["-genv", "MPIR_CVAR_POLLS_BEFORE_YIELD", "1"],
    },
];

/// Name of the subject of mpi4py.
pub(super) const PYTHON: &str = "mpi4py";

/// Timeout for the start of the ranks.
const START: Duration = Duration::from_secs(20);

const SOURCE: &str = include_str!("mpi.c");
const SCRIPT: &str = include_str!("mpi_objects.py");

/// Prints the version of the library that mpi4py uses, without starting it.
const VERSION: &str = "import mpi4py; mpi4py.rc.initialize = False; \
                       from mpi4py import MPI; print(MPI.Get_library_version())";

/// Returns true if MPI supports the case.
pub(super) fn can(case: &Case) -> bool {
    let known = matches!(
        case.pattern,
        Pattern::PingPong
            | Pattern::Window(_)
            | Pattern::Collective(_)
            | Pattern::Indexed(_)
            | Pattern::Tags { .. }
    );
    match case.layer {
        Layer::Endpoint => known && case.way == Way::Shm,
        Layer::Channel => false,
        // In the cases between threads, the MPI ranks are processes, too.
        Layer::Rank | Layer::Group => known,
    }
}

/// Returns true if mpi4py supports the case.
pub(super) fn can_objects(case: &Case) -> bool {
    let is_object = matches!(
        case.pattern,
        Pattern::BroadcastObject | Pattern::ScatterObjects
    );
    is_object && case.layer == Layer::Group
}

/// Ranks that wait for commands.
pub(super) struct Ranks {
    name: &'static str,
    /// Number of ranks.
    size: u32,
    /// Returns true if the ranks have the operation of the case.
    has_operation: fn(&Case) -> bool,
    runner: Child,
    /// Control connections in the order of the ranks.
    controls: Vec<BufReader<UnixStream>>,
    line: String,
    _folder: TempDir,
}

impl Ranks {
    /// Compiles the program and starts its ranks. Returns `None` if the library is not installed.
    pub(super) fn start(
        library: Library,
        size: u32,
        cores: Cores,
    ) -> Result<Option<Self>, Failure> {
        let tools = (find(library.compiler), find(library.runner));
        let (Some(compiler), Some(runner)) = tools else {
            return Ok(None);
        };
        let program = compile(library, &compiler)?;
        let name = if size > 2 {
            library.yielding
        } else {
            library.name
        };
        let folder = tempfile::tempdir()?;
        let mut runner = run(library, &runner, size);
        runner.arg(program);
        Self::wait_for(name, can, size, runner, folder, cores).map(Some)
    }

    /// Starts ranks of mpi4py, by the runner of the library that it uses. Returns `None` if mpi4py
    /// is not installed.
    pub(super) fn start_python(size: u32, cores: Cores) -> Result<Option<Self>, Failure> {
        let Some(python) = find("python3") else {
            return Ok(None);
        };
        let version = Command::new(&python).args(["-c", VERSION]).output()?;
        if !version.status.success() {
            return Ok(None);
        }
        let version = String::from_utf8_lossy(&version.stdout);
        let mut libraries = LIBRARIES.into_iter();
        let library = libraries.find(|library| version.starts_with(library.vendor));
        let library =
            library.ok_or_else(|| format!("mpi4py uses an unknown library: {version}"))?;
        // A library that was installed beside Python has its runner there.
        let beside = python.with_file_name("mpirun");
        let runner = Some(beside).filter(|runner| runner.is_file());
        let runner = runner.or_else(|| find(library.runner));
        let runner = runner.ok_or_else(|| {
            let name = library.runner;
            format!("mpi4py uses {}, but {name} is not in PATH", library.name)
        })?;
        let folder = tempfile::tempdir()?;
        let script = folder.path().join("mpi_objects.py");
        fs::write(&script, SCRIPT)?;
        let mut runner = run(library, &runner, size);
        runner.arg(python).arg(script);
        Self::wait_for(PYTHON, can_objects, size, runner, folder, cores).map(Some)
    }

    /// Starts the ranks, and waits until they are connected.
    fn wait_for(
        name: &'static str,
        has_operation: fn(&Case) -> bool,
        size: u32,
        mut runner: Command,
        folder: TempDir,
        cores: Cores,
    ) -> Result<Self, Failure> {
        let path = folder.path().join("control");
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let mut runner = runner
            .arg(&path)
            .args([cores.first.to_string(), cores.other.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        match accept(&listener, &mut runner, size) {
            Ok(controls) => Ok(Self {
                name,
                size,
                has_operation,
                runner,
                controls,
                line: String::with_capacity(64),
                _folder: folder,
            }),
            Err(e) => {
                end(&mut runner);
                Err(format!("{name}: {e}").into())
            }
        }
    }

    /// Returns true if the ranks can run the case.
    pub(super) fn can(&self, case: &Case) -> bool {
        self.size == case.ranks && (self.has_operation)(case)
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Runs a round of a case, and returns nanoseconds per message.
    pub(super) fn round(&mut self, case: &Case) -> Result<f64, Failure> {
        let work = case.work();
        let touch = match case.touch {
            Touch::Untouched => "untouched",
            Touch::Clean => "clean",
            Touch::Dirty => "dirty",
        };
        let (pattern, window) = match case.pattern {
            Pattern::Window(n) => ("window", n),
            Pattern::Tags { reverse: false } => ("tags", TAGS),
            Pattern::Tags { reverse: true } => ("reverse-tags", TAGS),
            // The number of matrices takes the place of the length.
            Pattern::Indexed(_) => ("indexed", 1),
            Pattern::BroadcastObject => ("broadcast-object", 1),
            Pattern::ScatterObjects => ("scatter-objects", 1),
            Pattern::Collective(collective) => {
                let mut names = COLLECTIVES.into_iter();
                let name = names.find(|(_, known)| *known == collective);
                (name.map_or("pingpong", |(name, _)| name), 1)
            }
            _ => ("pingpong", 1),
        };
        let length = match case.pattern {
            Pattern::Indexed(count) => count,
            _ => work.bytes,
        };
        let order = format!(
            "{pattern} {length} {touch} {window} {} {}\n",
            work.batch, work.batches
        );
        let what = format!("{}, {}", case.name, self.name);
        watch::during(&what, Some(Pid::from_child(&self.runner)), || {
            for control in &mut self.controls {
                control.get_mut().write_all(order.as_bytes())?;
            }
            let mut ns = f64::NAN;
            // The last answer is that of rank 0.
            for control in self.controls.iter_mut().rev() {
                self.line.clear();
                control.read_line(&mut self.line)?;
                ns = self.line.trim().parse()?;
            }
            Ok(ns)
        })
        .inspect(|ns| note_interval(*ns, work.batch * work.share()))
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        // The ranks end when their control connections are closed.
        self.controls.clear();
        end(&mut self.runner);
    }
}

/// Ends the runner and its ranks: waits for a moment, and then kills them.
fn end(runner: &mut Child) {
    let group = Pid::from_child(runner);
    super::pair::end(runner);
    // Kill the ranks that remain, if any.
    let _ = kill_process_group(group, Signal::KILL);
}

/// Returns the command that runs a program at `size` ranks.
fn run(library: Library, runner: &Path, size: u32) -> Command {
    let waits = if size > 2 {
        library.yields
    } else {
        library.spins
    };
    let mut command = Command::new(runner);
    command
        .args(library.arguments)
        .args(waits)
        .args(["-n", &size.to_string()]);
    command
}

/// Waits for the control connections of all ranks.
fn accept(
    listener: &UnixListener,
    runner: &mut Child,
    size: u32,
) -> Result<Vec<BufReader<UnixStream>>, Failure> {
    let until = Instant::now() + START;
    let mut ranks = Vec::new();
    while ranks.len() < size as usize {
        if let Ok((control, _)) = listener.accept() {
            control.set_nonblocking(false)?;
            control.set_read_timeout(Some(START))?;
            let mut control = BufReader::new(control);
            let mut line = String::new();
            control.read_line(&mut line)?;
            ranks.push((line.trim().parse::<usize>()?, control));
            continue;
        }
        if let Some(status) = runner.try_wait()? {
            return Err(format!("the ranks did not start: {status}").into());
        }
        if Instant::now() > until {
            return Err("the ranks did not start in time".into());
        }
        thread::sleep(Duration::from_millis(2));
    }
    ranks.sort_unstable_by_key(|(rank, _)| *rank);
    for (_, control) in &ranks {
        control.get_ref().set_read_timeout(None)?;
    }
    Ok(ranks.into_iter().map(|(_, control)| control).collect())
}

/// Returns the path of the library's program next to this one. Compiles it if it was not built from
/// the current source.
fn compile(library: Library, compiler: &Path) -> Result<PathBuf, Failure> {
    let this = env::current_exe()?;
    let folder = this
        .parent()
        .ok_or("the path of this program has no parent folder")?;
    let source = folder.join(format!("transport-{}.c", library.name));
    let program = folder.join(format!("transport-{}", library.name));
    let same = fs::read_to_string(&source).is_ok_and(|text| text == SOURCE);
    if same && program.exists() {
        return Ok(program);
    }
    fs::write(&source, SOURCE)?;
    let status = Command::new(compiler)
        .args(["-O3", "-std=gnu11", "-o"])
        .args([&program, &source])
        .status()?;
    if !status.success() {
        // The next run tries again.
        let _ = fs::remove_file(&source);
        return Err(format!("{}: {status}", library.compiler).into());
    }
    Ok(program)
}

/// Searches `PATH` for a program.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
