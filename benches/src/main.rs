//! Benchmark program that measures jstream and its peers, interleaved in one run.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "sizes and figures are far from their types' limits, and measured loops must not pay \
              for checks that a program without lints would not have"
)]

mod alloc;
mod apps;
mod compare;
mod distribution;
mod docs;
mod environment;
mod headlines;
mod markdown;
mod measure;
mod page;
mod papers;
mod profiles;
mod progress;
mod report;
mod row;
mod suites;
mod table;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use crate::compare::Comparison;
use crate::progress::Progress;
use crate::suites::transport::group;
use crate::suites::{Effort, Outcome, buffers, evolution, rmi, serialization, services, transport};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// An error that ends the program with exit code 1.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Measures jstream against its peers: all subjects of a case take turns in one run.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 on success, 1 on failure, 2 on wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure writing, checked reading in place, and traversing the object that was read.
    Serialization(Serialization),
    /// Compare builds: run the serialization suite with several compiler profiles.
    Profiles(Profiles),
    /// Measure reading messages of another version of a type.
    Evolution(Evolution),
    /// Measure taking, releasing, viewing and forwarding buffers.
    Buffers(Buffers),
    /// Measure messages between two threads or two processes.
    Transport(Transport),
    /// Run the other side of a subject of the transport suite. The suite starts this process
    /// itself.
    #[command(hide = true)]
    TransportPeer {
        case: String,
        subject: String,
        core: usize,
    },
    /// Measure collective operations of two, four and eight ranks.
    Group(Group),
    /// Measure remote calls between two threads or two processes.
    Rmi(Rmi),
    /// Run the server of a subject of the rmi suite. The suite starts this process itself.
    #[command(hide = true)]
    RmiPeer {
        case: String,
        subject: String,
        core: usize,
    },
    /// Run services of three servers and two clients while servers are replaced or fail, and check
    /// the end of each call.
    Services(Services),
    /// Run a process of the services suite. The suite starts this process itself.
    #[command(hide = true)]
    ServicesPeer {
        /// The part of the process, as JSON.
        part: String,
    },
    /// Run the applications of the papers at several nodes, and compare their times and results
    /// with those of the sequential versions.
    Apps(Apps),
    /// Run nodes of an application. The suite starts this process itself.
    #[command(hide = true)]
    AppsNode {
        app: String,
        setup: String,
        subject: String,
        size: apps::Size,
        #[arg(long)]
        check: bool,
    },
    /// List the figures that became faster or slower between two files of rows.
    Compare(Compare),
    /// Write the documents whose figures come from a file of rows.
    #[command(after_help = docs::HELP)]
    Docs,
    /// Write a page of plots, and optionally tables, from rows measured earlier or in this run.
    Report(Report),
}

#[derive(Debug, Args)]
struct Run {
    /// Run fewer rounds: results within seconds, to check that everything works.
    #[arg(long)]
    quick: bool,
    /// Show no progress on stderr.
    #[arg(long)]
    quiet: bool,
}

impl Apps {
    fn options(self) -> apps::Options {
        apps::Options {
            apps: self.names,
            size: match self.long {
                true => apps::Size::Long,
                false => self.run.size(),
            },
            setups: match self.setups.is_empty() {
                true => apps::Setups::All,
                false => apps::Setups::Named(self.setups),
            },
            check: self.check,
            mpi: self.mpi,
        }
    }
}

impl Run {
    fn size(&self) -> apps::Size {
        if self.quick {
            apps::Size::Quick
        } else {
            apps::Size::Full
        }
    }

    fn effort(&self) -> Effort {
        if self.quick {
            Effort::quick()
        } else {
            Effort::full()
        }
    }

    fn progress(&self) -> Progress {
        Progress::new(!self.quiet && io::stderr().is_terminal())
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = serialization::HELP)]
struct Serialization {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(serialization::names()))]
    cases: Vec<String>,
    /// Measure the records of FILE instead, one JSON object per line.
    #[arg(
        long,
        value_name = "FILE",
        requires = "schema",
        conflicts_with = "cases"
    )]
    data: Option<PathBuf>,
    /// Types of the fields of these records; --help describes the syntax.
    #[arg(long, value_name = "FILE", requires = "data")]
    schema: Option<PathBuf>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
#[command(after_help = profiles::HELP)]
struct Profiles {
    /// Compare only this build; may be given several times.
    #[arg(long = "only", value_name = "BUILD", value_parser = PossibleValuesParser::new(profiles::names()))]
    builds: Vec<String>,
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(serialization::names()))]
    cases: Vec<String>,
    /// Also write the rows of all builds to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Evolution {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(evolution::names()))]
    cases: Vec<String>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Buffers {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(buffers::names()))]
    cases: Vec<String>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Transport {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(transport::names()))]
    cases: Vec<String>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Group {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(group::names()))]
    cases: Vec<String>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Rmi {
    /// Measure only this case; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(rmi::names()))]
    cases: Vec<String>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Services {
    /// Run only this scenario; may be given several times.
    #[arg(long = "case", value_name = "NAME", value_parser = PossibleValuesParser::new(services::names()))]
    cases: Vec<String>,
    /// Run only this subject; may be given several times.
    #[arg(long = "subject", value_name = "NAME", value_parser = PossibleValuesParser::new(services::subjects()))]
    subjects: Vec<String>,
    /// Number of runs of each scenario (default 10, or 1 with --quick).
    #[arg(long, value_name = "COUNT")]
    runs: Option<usize>,
    /// Repeat the runs until all of them together have made this number of calls, without pauses
    /// between calls.
    #[arg(long, value_name = "COUNT")]
    calls: Option<u64>,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

impl Services {
    fn extent(&self) -> services::Extent {
        let mut extent = match self.run.quick {
            true => services::Extent::quick(),
            false => services::Extent::full(),
        };
        extent.runs = self.runs.unwrap_or(extent.runs);
        if let Some(calls) = self.calls {
            extent.calls = calls;
            extent.runs = self.runs.unwrap_or(1);
            extent.pause = Duration::ZERO;
        }
        extent
    }
}

#[derive(Debug, Args)]
#[command(after_help = apps::help())]
struct Apps {
    /// Run only these applications.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(apps::names()))]
    names: Vec<String>,
    /// Run only at these nodes; may be given several times. Applications without them are left out.
    #[arg(long = "nodes", value_name = "NODES", value_parser = PossibleValuesParser::new(apps::setups()))]
    setups: Vec<String>,
    /// Compare each result with that of the sequential version, and fail if it differs.
    #[arg(long)]
    check: bool,
    /// Also run the same kernels over each MPI library that is installed. Needs mpicc.openmpi and
    /// mpirun.openmpi, or those of openmpi5 or mpich, in PATH, and libclang.
    #[arg(long)]
    mpi: bool,
    /// Also write the rows to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run more iterations, so that the sequential version takes some two seconds, with `-long`
    /// behind the names in the rows. Applications without such a data set are left out.
    #[arg(long, conflicts_with = "quick")]
    long: bool,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Report {
    /// Files written by --json. Without files, suites are run.
    #[arg(conflicts_with_all = ["quick", "full", "suites", "json", "mpi"])]
    files: Vec<PathBuf>,
    /// Run only this suite; may be given several times.
    #[arg(long = "suite", value_name = "NAME", value_parser = PossibleValuesParser::new(SUITES))]
    suites: Vec<String>,
    /// Run all rounds, which is the default. With --quick, the applications run at two threads
    /// only.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Also run the applications over each MPI library that is installed, as `apps --mpi` does.
    #[arg(long)]
    mpi: bool,
    /// Also write the rows of the suites to FILE, as a JSON array.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page to FILE.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Join files of different machines.
    #[arg(long)]
    force: bool,
    /// Also write the ratios to FILE, as Markdown tables.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
#[command(after_help = compare::HELP)]
struct Compare {
    /// File with the rows before a change, written by --json.
    old: PathBuf,
    /// File with the rows after it.
    new: PathBuf,
    /// Fail if a figure became worse by more than this, for example 5%.
    #[arg(long, value_name = "PERCENT", value_parser = compare::limit)]
    fail_above: Option<f64>,
    /// Also write the comparison to FILE, as a page with plots.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Compare files of different machines, and files that do not tell their machine.
    #[arg(long)]
    force: bool,
}

/// Suites of a report, in the order in which they are run.
const SUITES: [&str; 7] = [
    "serialization",
    "evolution",
    "buffers",
    "transport",
    "group",
    "rmi",
    "apps",
];

/// Runs the suites of a report with one progress bar.
fn run_suites(args: &Report) -> Result<Outcome, Failure> {
    let (effort, mut progress) = (args.run.effort(), args.run.progress());
    let apps = apps::Options {
        apps: Vec::new(),
        size: args.run.size(),
        // Quick runs have one arrangement of nodes, because there are many applications.
        setups: match args.run.quick {
            true => apps::Setups::First,
            false => apps::Setups::All,
        },
        check: false,
        mpi: args.mpi,
    };
    let chosen = |suite: &&str| args.suites.is_empty() || args.suites.iter().any(|s| s == suite);
    let chosen: Vec<&str> = SUITES.into_iter().filter(chosen).collect();
    let cases = chosen.iter().map(|suite| match *suite {
        "serialization" => serialization::names().len(),
        "evolution" => evolution::names().len(),
        "buffers" => buffers::names().len(),
        "transport" => transport::names().len(),
        "group" => group::names().len(),
        "rmi" => rmi::names().len(),
        _ => apps::cases(&apps),
    });
    progress.expect(cases.sum());
    let mut outcome = Outcome::default();
    for suite in chosen {
        outcome.add(match suite {
            "serialization" => serialization::run(&effort, &mut progress, |_| true)?,
            "evolution" => evolution::run(&effort, &mut progress, |_| true)?,
            "buffers" => buffers::run(&effort, &mut progress, |_| true)?,
            "transport" => transport::run(&effort, &mut progress, |_| true)?,
            "group" => group::run(&effort, &mut progress, |_| true)?,
            "rmi" => rmi::run(&effort, &mut progress, |_| true)?,
            _ => apps::run(&apps, &mut progress)?,
        });
    }
    Ok(outcome)
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If stderr is closed, the error cannot be reported.
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serialization(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let outcome = if let (Some(data), Some(schema)) = (args.data, args.schema) {
                let source = serialization::Source { data, schema };
                serialization::run_file(&effort, &mut progress, &source)?
            } else {
                let chosen =
                    |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
                serialization::run(&effort, &mut progress, chosen)?
            };
            show(&outcome, args.json.as_deref())
        }
        Command::Profiles(args) => {
            let options = profiles::Options {
                builds: &args.builds,
                cases: &args.cases,
                quick: args.run.quick,
            };
            let rows = profiles::run(&options, &mut args.run.progress())?;
            let mut out = io::stdout().lock();
            out.write_all(profiles::text(&rows).as_bytes())?;
            args.json.map_or(Ok(()), |path| row::save(&path, &rows))
        }
        Command::Evolution(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let chosen = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
            let outcome = evolution::run(&effort, &mut progress, chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::Buffers(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let chosen = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
            let outcome = buffers::run(&effort, &mut progress, chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::Transport(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let chosen = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
            let outcome = transport::run(&effort, &mut progress, chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::TransportPeer {
            case,
            subject,
            core,
        } => transport::other_process(&case, &subject, core),
        Command::Group(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let chosen = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
            let outcome = group::run(&effort, &mut progress, chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::Rmi(args) => {
            let (effort, mut progress) = (args.run.effort(), args.run.progress());
            let chosen = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
            let outcome = rmi::run(&effort, &mut progress, chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::RmiPeer {
            case,
            subject,
            core,
        } => rmi::other_process(&case, &subject, core),
        Command::Services(args) => {
            let named = |names: &[String], name: &str| {
                names.is_empty() || names.iter().any(|one| one == name)
            };
            let chosen = |case: &str, subject: &str| {
                named(&args.cases, case) && named(&args.subjects, subject)
            };
            let outcome = services::run(&args.extent(), &mut args.run.progress(), chosen)?;
            show(&outcome, args.json.as_deref())
        }
        Command::ServicesPeer { part } => services::other_process(&part),
        Command::Apps(mut args) => {
            let mut progress = args.run.progress();
            let json = args.json.take();
            let outcome = apps::run(&args.options(), &mut progress)?;
            show(&outcome, json.as_deref())
        }
        Command::AppsNode {
            app,
            setup,
            subject,
            size,
            check,
        } => apps::other_process(&app, &setup, &subject, size, check),
        Command::Compare(args) => compare_files(&args),
        Command::Docs => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
            docs::write(root.ok_or("the sources are in no folder")?)
        }
        Command::Report(args) => report_of(&args),
    }
}

/// Compares two files, and fails if the limit is exceeded.
fn compare_files(args: &Compare) -> Result<(), Failure> {
    let (old, new) = (row::load(&args.old)?, row::load(&args.new)?);
    let found = Comparison::of(&old, &new, args.force)?;
    io::stdout().lock().write_all(found.text().as_bytes())?;
    if let Some(path) = &args.page {
        report::save(path, &page::comparison(&found)?)?;
    }
    match args.fail_above {
        Some(limit) => found.check(limit),
        None => Ok(()),
    }
}

/// Makes a report of files, or of suites that are run for it.
fn report_of(args: &Report) -> Result<(), Failure> {
    let outcome = if args.files.is_empty() {
        run_suites(args)?
    } else {
        Outcome::from_files(&args.files, args.force)?
    };
    print(&outcome)?;
    report::save_page(&args.out, &outcome)?;
    if let Some(path) = &args.json {
        row::save(path, &outcome.rows)?;
    }
    match &args.markdown {
        Some(path) => report::save_tables(path, &outcome),
        None => Ok(()),
    }
}

/// Prints the rows and, if `json` is given, writes them to that file.
fn show(outcome: &Outcome, json: Option<&Path>) -> Result<(), Failure> {
    print(outcome)?;
    match json {
        Some(path) => row::save(path, &outcome.rows),
        None => Ok(()),
    }
}

fn print(outcome: &Outcome) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(table::text(&outcome.rows, &outcome.notes).as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_case_is_wrong_usage() {
        let error =
            Cli::try_parse_from(["benches", "serialization", "--case", "nothing"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("records-unicode"));
    }

    #[test]
    fn an_unknown_build_is_wrong_usage() {
        let args = ["benches", "profiles", "--only", "nothing"];
        let error = Cli::try_parse_from(args).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("units-1"));
    }

    #[test]
    fn data_needs_a_schema() {
        let args = ["benches", "serialization", "--data", "a.jsonl"];
        assert_eq!(Cli::try_parse_from(args).unwrap_err().exit_code(), 2);
    }
}
