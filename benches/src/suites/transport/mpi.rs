//! MPI libraries, if they are installed: two ranks of a small C program, which runs the same rounds
//! on command.

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

use super::case::{COLLECTIVES, Case, Layer, Pattern, Touch, Way};
use super::{Cores, watch};
use crate::Failure;

/// An MPI library: the name of its subject, and the names of its programs on Debian.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    pub(super) name: &'static str,
    compiler: &'static str,
    runner: &'static str,
    arguments: &'static [&'static str],
}

/// All supported libraries.
pub(super) const LIBRARIES: [Library; 2] = [
    Library {
        name: "openmpi",
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
            "--mca",
            "mpi_yield_when_idle",
            "0",
            "-n",
            "2",
        ],
    },
    Library {
        name: "mpich",
        compiler: "mpicc.mpich",
        runner: "mpirun.mpich",
        arguments: &["-bind-to", "none", "-n", "2"],
    },
];

/// Timeout for the start of the ranks.
const START: Duration = Duration::from_secs(20);

const SOURCE: &str = include_str!("mpi.c");

/// Returns true if MPI supports the case.
pub(super) fn can(case: &Case) -> bool {
    let known = matches!(
        case.pattern,
        Pattern::PingPong | Pattern::Window(_) | Pattern::Collective(_) | Pattern::Indexed(_)
    );
    match case.layer {
        Layer::Endpoint => known && case.way == Way::Shm,
        Layer::Channel => false,
        // In the cases between threads, the MPI ranks are processes, too.
        Layer::Rank | Layer::Group => known,
    }
}

/// Two ranks that wait for commands.
pub(super) struct Ranks {
    name: &'static str,
    runner: Child,
    /// Control connections in the order of the ranks.
    controls: Vec<BufReader<UnixStream>>,
    line: String,
    _folder: TempDir,
}

impl Ranks {
    /// Compiles the program and starts both ranks. Returns `None` if the library is not installed.
    pub(super) fn start(library: Library, cores: Cores) -> Result<Option<Self>, Failure> {
        let tools = (find(library.compiler), find(library.runner));
        let (Some(compiler), Some(runner)) = tools else {
            return Ok(None);
        };
        let program = compile(library, &compiler)?;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("control");
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let mut runner = Command::new(runner)
            .args(library.arguments)
            .arg(program)
            .arg(&path)
            .args([cores.first.to_string(), cores.other.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        match accept(&listener, &mut runner) {
            Ok(controls) => Ok(Some(Self {
                name: library.name,
                runner,
                controls,
                line: String::with_capacity(64),
                _folder: folder,
            })),
            Err(e) => {
                end(&mut runner);
                Err(format!("{}: {e}", library.name).into())
            }
        }
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
            // The number of matrices takes the place of the length.
            Pattern::Indexed(_) => ("indexed", 1),
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

/// Waits for the control connections of both ranks.
fn accept(
    listener: &UnixListener,
    runner: &mut Child,
) -> Result<Vec<BufReader<UnixStream>>, Failure> {
    let until = Instant::now() + START;
    let mut ranks = Vec::new();
    while ranks.len() < 2 {
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
fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
