//! MPI libraries, where they are installed: two ranks of a small C program, which does what it is told
//! in the same rounds.

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

use super::case::{Case, Layer, Pattern, Touch, Way};
use super::{Cores, watch};
use crate::Failure;

/// An MPI library: its subject's name, and what Debian calls its programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    pub(super) name: &'static str,
    compiler: &'static str,
    runner: &'static str,
    arguments: &'static [&'static str],
}

/// All that are looked for.
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

/// How long starting may take.
const START: Duration = Duration::from_secs(20);

const SOURCE: &str = include_str!("mpi.c");

/// Whether MPI can do what a case asks.
pub(super) fn can(case: &Case) -> bool {
    let known = matches!(case.pattern, Pattern::PingPong | Pattern::Window(_));
    match case.layer {
        Layer::Endpoint => known && case.way == Way::Shm,
        Layer::Channel => false,
        // Between threads too: its ranks are processes there as well.
        Layer::Rank => known,
    }
}

/// Two ranks that wait for what they are told.
pub(super) struct Ranks {
    name: &'static str,
    runner: Child,
    /// In order of their ranks.
    controls: Vec<BufReader<UnixStream>>,
    line: String,
    _folder: TempDir,
}

impl Ranks {
    /// Compiles the program, and starts both ranks; `None` where the library is not installed.
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

    /// A round of a case: nanoseconds per message.
    pub(super) fn round(&mut self, case: &Case) -> Result<f64, Failure> {
        let work = case.work();
        let touch = match case.touch {
            Touch::Untouched => "untouched",
            Touch::Clean => "clean",
            Touch::Dirty => "dirty",
        };
        let (pattern, window) = match case.pattern {
            Pattern::Window(n) => ("window", n),
            _ => ("pingpong", 1),
        };
        let order = format!(
            "{pattern} {} {touch} {window} {} {}\n",
            work.bytes, work.batch, work.batches
        );
        let what = format!("{}, {}", case.name, self.name);
        watch::during(&what, Some(Pid::from_child(&self.runner)), || {
            for control in &mut self.controls {
                control.get_mut().write_all(order.as_bytes())?;
            }
            let mut ns = f64::NAN;
            // The last one is rank 0.
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
        // They end when nobody is left to tell them something.
        self.controls.clear();
        end(&mut self.runner);
    }
}

/// Ends the runner and its ranks: politely for a moment, and then for certain.
fn end(runner: &mut Child) {
    let group = Pid::from_child(runner);
    super::pair::end(runner);
    // Those that are left, if any.
    let _ = kill_process_group(group, Signal::KILL);
}

/// Waits for both ranks.
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
            return Err(format!("its ranks did not start: {status}").into());
        }
        if Instant::now() > until {
            return Err("its ranks did not start in time".into());
        }
        thread::sleep(Duration::from_millis(2));
    }
    ranks.sort_unstable_by_key(|(rank, _)| *rank);
    for (_, control) in &ranks {
        control.get_ref().set_read_timeout(None)?;
    }
    Ok(ranks.into_iter().map(|(_, control)| control).collect())
}

/// The program of that library, beside this one; compiled where it isn't of this source.
fn compile(library: Library, compiler: &Path) -> Result<PathBuf, Failure> {
    let this = env::current_exe()?;
    let folder = this.parent().ok_or("a program without a folder")?;
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

/// Where `PATH` has a program of that name.
fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
