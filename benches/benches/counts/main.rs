//! Instruction counts of the hot paths, compared with the limits in `limits.json`.
//!
//! Each path is a benchmark of gungraun, which runs it under Callgrind. Both ends of a connection
//! are driven by one thread, so that the counts repeat.
//!
//! ```text
//! cargo bench --workspace --bench counts                 # compare with the limits
//! cargo bench --workspace --bench counts -- --update     # set the limits, print the change
//! ```
//!
//! Needs valgrind, and the program `gungraun-runner` in the version of the library.
//!
//! Decisions 097 and 133 have the reasons.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "counts are far from the limits of their types"
)]

mod limits;
mod paths;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use limits::{Counts, Limits};

/// An error that ends the program with exit code 1.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The environment variable that makes this program the harness that gungraun expects.
const HARNESS: &str = "JSTREAM_COUNTS_HARNESS";

/// The benchmarks, with the `main` function of gungraun.
mod harness {
    use gungraun::{library_benchmark, library_benchmark_group};

    use super::paths::{self, HotPath};

    #[library_benchmark]
    #[bench::write_u64(paths::write_u64())]
    #[bench::write_text(paths::write_text())]
    #[bench::write_list(paths::write_list())]
    #[bench::write_records(paths::write_records())]
    #[bench::read_u64(paths::read_u64())]
    #[bench::read_text(paths::read_text())]
    #[bench::read_list(paths::read_list())]
    #[bench::read_records(paths::read_records())]
    #[bench::match_posted(paths::match_posted())]
    #[bench::match_waiting(paths::match_waiting())]
    #[bench::inproc_8_into_memory(paths::inproc_into_memory())]
    #[bench::inproc_8_into_jbuf(paths::inproc_into_jbuf())]
    #[bench::shm_8_into_memory(paths::shm_into_memory())]
    #[bench::shm_8_into_jbuf(paths::shm_into_jbuf())]
    #[bench::posted_receive_threads(paths::posted_receive_threads())]
    #[bench::posted_receive_shm(paths::posted_receive_shm())]
    #[bench::active_message_inproc(paths::active_message())]
    #[bench::null_call_awaited(paths::null_call())]
    #[bench::null_call_once_connected(paths::null_call_once_connected())]
    #[bench::null_call_set_of_one(paths::null_call_set_of_one())]
    fn repeat(path: HotPath) -> HotPath {
        path.repeat()
    }

    library_benchmark_group!(name = counts, benchmarks = repeat);

    gungraun::main!(library_benchmark_groups = counts);

    pub(super) fn start() {
        main();
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let runs_path = args.first().is_some_and(|arg| arg == "--gungraun-run");
    if runs_path || env::var_os(HARNESS).is_some() {
        harness::start();
        return ExitCode::SUCCESS;
    }
    match run(args.iter().any(|arg| arg == "--update")) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the instructions, and compares them with the limits or makes them the limits.
fn run(update: bool) -> Result<ExitCode, Failure> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts/limits.json");
    let compiler = compiler()?;
    let counts = count()?;
    let limits = match fs::read_to_string(&file) {
        Ok(text) => Limits::from_json(&text)
            .map_err(|error| format!("{} is malformed: {error}", file.display()))?,
        Err(error) if update => {
            println!("no limits yet: {error}");
            Limits::default()
        }
        Err(error) => return Err(format!("cannot read {}: {error}", file.display()).into()),
    };
    print!("{}", limits.table(&counts));
    if update {
        let new = Limits::new(compiler, counts);
        fs::write(&file, new.to_json()?)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        println!("the counts are the new limits in {}", file.display());
        return Ok(ExitCode::SUCCESS);
    }
    if limits.compiler() != compiler {
        println!(
            "skipped: the limits were counted with {}, and this is {compiler}",
            limits.compiler()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let faults = limits.faults(&counts);
    for fault in &faults {
        eprintln!("error: {fault}");
    }
    Ok(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs the harness, and returns the count of each path.
fn count() -> Result<Counts, Failure> {
    let output = Command::new(env::current_exe()?)
        .args(["--output-format=json", "--nosummary"])
        .env(HARNESS, "1")
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("gungraun failed with {}:\n{text}", output.status).into());
    }
    limits::counts(&text)
}

/// Returns the version of the compiler that Cargo uses.
fn compiler() -> Result<String, Failure> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
