//! Comparison of builds: the serialization suite, compiled with several profiles.
//!
//! The number of codegen units, link-time optimization and the CPU change what the compiler
//! inlines. If a ratio to a peer differs much between builds, its code depends on such a choice.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Failure;
use crate::progress::Progress;
use crate::row::{self, Row, distinct};
use crate::suites::serialization;
use crate::table::push_aligned;

/// Package and name of this program.
const PROGRAM: &str = env!("CARGO_PKG_NAME");

/// Text after the options in the output of --help.
pub(crate) const HELP: &str = "\
Prints, for each case, metric and peer, the ratio of our time to the peer's in each build, and the
spread: the largest ratio divided by the smallest. Without --only, all builds that this machine can
run are compared. Each has a folder of its own in `profiles` of the target folder. The first run
compiles all of them, which takes minutes. With the feature `peers`, the builds contain all peers.";

/// A build of this program.
#[derive(Debug)]
struct Build {
    name: &'static str,
    /// An environment variable of the compiler or of Cargo, and its value.
    variable: Option<(&'static str, &'static str)>,
}

/// All builds, in the order in which they are measured.
const BUILDS: [Build; 5] = [
    Build {
        name: "default",
        variable: None,
    },
    Build {
        name: "lto-thin",
        variable: Some(("CARGO_PROFILE_RELEASE_LTO", "thin")),
    },
    Build {
        name: "lto-fat",
        variable: Some(("CARGO_PROFILE_RELEASE_LTO", "fat")),
    },
    Build {
        name: "units-1",
        variable: Some(("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")),
    },
    Build {
        name: V3,
        variable: Some((FLAGS, "-C target-cpu=x86-64-v3")),
    },
];

/// Name of the build that not every machine can run.
const V3: &str = "x86-64-v3";

/// The variable with flags of the compiler. Those of the caller are kept.
const FLAGS: &str = "RUSTFLAGS";

/// Returns the names of all builds, in the order in which they are measured.
pub(crate) fn names() -> [&'static str; BUILDS.len()] {
    BUILDS.map(|build| build.name)
}

/// The choice of builds and cases.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    /// Names of the builds. If empty, all builds that this machine can run.
    pub(crate) builds: &'a [String],
    /// Names of the cases of the serialization suite. If empty, all cases.
    pub(crate) cases: &'a [String],
    pub(crate) quick: bool,
}

/// Compiles the builds, and runs the serialization suite of each.
///
/// Returns the rows of all builds. Their suite is [`suite_of`] the build.
pub(crate) fn run(options: &Options<'_>, progress: &mut Progress) -> Result<Vec<Row>, Failure> {
    let target = target_folder()?;
    let builds: Vec<&Build> = BUILDS
        .iter()
        .filter(|build| is_chosen(build, options.builds))
        .collect();
    let mut programs = Vec::new();
    for (n, build) in builds.iter().enumerate() {
        let (name, number, count) = (build.name, n + 1, builds.len());
        progress.step(&format!("profiles: compiling {name} ({number} of {count})"));
        programs.push(compile(build, &target)?);
    }
    let results = tempfile::tempdir()?;
    let file = results.path().join("rows.json");
    let mut rows = Vec::new();
    // The builds take turns, so that a slow phase of the machine affects all of them.
    for case in serialization::names() {
        if !options.cases.is_empty() && !options.cases.iter().any(|name| name == case) {
            continue;
        }
        for (build, program) in builds.iter().zip(&programs) {
            progress.step(&format!("profiles: {case}, {}", build.name));
            measure(program, case, options.quick, &file)?;
            rows.extend(of_build(build.name, row::load(&file)?));
        }
    }
    Ok(rows)
}

/// Returns the suite of the rows of a build.
fn suite_of(build: &str) -> String {
    format!("serialization/{build}")
}

/// Returns the suite that a build measured, if `suite` is that of the rows of a build.
pub(crate) fn measured_suite(suite: &str) -> Option<&str> {
    suite.rsplit_once('/').map(|(measured, _)| measured)
}

/// Returns the rows that a build wrote, as rows of that build.
fn of_build(build: &str, mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        row.suite = suite_of(build);
    }
    rows
}

/// Returns true if the build is among the `names`, or if there are none and this machine can run
/// it.
fn is_chosen(build: &Build, names: &[String]) -> bool {
    if names.is_empty() {
        build.name != V3 || runs_v3()
    } else {
        names.iter().any(|name| name == build.name)
    }
}

/// Returns true if this machine can run code for x86-64-v3.
#[cfg(target_arch = "x86_64")]
fn runs_v3() -> bool {
    // Processors with these three have the other features of the level, too.
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("movbe")
}

#[cfg(not(target_arch = "x86_64"))]
fn runs_v3() -> bool {
    false
}

/// Returns the target folder, with the folder `release` of which this program was started.
fn target_folder() -> Result<PathBuf, Failure> {
    let program = env::current_exe()?;
    let folder = program.parent().and_then(Path::parent);
    let folder = folder.ok_or_else(|| format!("{} is in no target folder", program.display()))?;
    Ok(folder.join("profiles"))
}

/// Compiles this program in a folder of its own in `target`, and returns the path of the program.
fn compile(build: &Build, target: &Path) -> Result<PathBuf, Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "--quiet", "--package", PROGRAM])
        .arg("--message-format=json-render-diagnostics")
        .arg("--target-dir")
        .arg(target.join(build.name))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit());
    if cfg!(feature = "peers") {
        command.args(["--features", "peers"]);
    }
    for (name, _) in BUILDS.iter().filter_map(|build| build.variable) {
        if name != FLAGS {
            command.env_remove(name);
        }
    }
    match build.variable {
        Some((FLAGS, flags)) => {
            let mut all = env::var_os(FLAGS).unwrap_or_default();
            all.push(" ");
            all.push(flags);
            command.env(FLAGS, all);
        }
        Some((name, value)) => {
            command.env(name, value);
        }
        None => {}
    }
    let output = command
        .output()
        .map_err(|e| format!("cannot start Cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("compiling {} failed: {}", build.name, output.status).into());
    }
    program_of(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| format!("compiling {} made no program {PROGRAM}", build.name).into())
}

/// Finds the path of this program in messages of Cargo.
fn program_of(messages: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        if message.pointer("/target/name")? != PROGRAM {
            return None;
        }
        message.get("executable")?.as_str().map(PathBuf::from)
    })
}

/// Runs a case of the serialization suite of `program`, which writes its rows to `file`.
fn measure(program: &Path, case: &str, quick: bool, file: &Path) -> Result<(), Failure> {
    // A file of the case before must not be taken for that of this one.
    File::create(file)?;
    let mut command = Command::new(program);
    command
        .args(["serialization", "--quiet", "--case", case, "--json"])
        .arg(file)
        .stdout(Stdio::null());
    if quick {
        command.arg("--quick");
    }
    let status = command
        .status()
        .map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{case} of {} failed: {status}", program.display()).into())
}

/// Returns a table with a line per case, metric and peer: the ratio of our time to the peer's in
/// each build, and the spread, which is the largest ratio divided by the smallest.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    push_aligned(&mut out, &lines(rows));
    out
}

/// Returns the cells of that table, with its header.
pub(crate) fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let suites = distinct(rows, |row| &row.suite);
    let mut header = vec!["case, metric".to_owned(), "subjects".to_owned()];
    header.extend(suites.iter().map(|suite| build_of(suite).to_owned()));
    header.push("spread".to_owned());
    let mut lines = vec![header];
    let times = || rows.iter().filter(|row| row.unit == "ns");
    for case in distinct(times(), |row| &row.case) {
        let of_case = || times().filter(move |row| row.case == case);
        for metric in distinct(of_case(), |row| &row.metric) {
            let of_metric = || of_case().filter(move |row| row.metric == metric);
            let subjects = distinct(of_metric(), |row| &row.subject);
            let Some((ours, peers)) = subjects.split_first() else {
                continue;
            };
            for peer in peers {
                let of = |suite: &str, subject: &str| {
                    let row = of_metric().find(|r| r.suite == suite && r.subject == subject)?;
                    (row.value > 0.0).then_some(row.value)
                };
                let ratios = suites
                    .iter()
                    .map(|suite| Some(of(suite, ours)? / of(suite, peer)?));
                let ratios: Vec<Option<f64>> = ratios.collect();
                let mut line = vec![format!("{case}, {metric}"), format!("{ours}/{peer}")];
                line.extend(ratios.iter().copied().map(figure));
                line.push(figure(spread(ratios.into_iter().flatten())));
                lines.push(line);
            }
        }
    }
    lines
}

/// Returns the name of the build whose rows have this suite.
fn build_of(suite: &str) -> &str {
    suite.rsplit('/').next().unwrap_or(suite)
}

/// Returns the largest ratio divided by the smallest, or `None` if there are fewer than two.
fn spread(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let ratios: Vec<f64> = ratios.collect();
    let largest = ratios.iter().copied().reduce(f64::max)?;
    let smallest = ratios.iter().copied().reduce(f64::min)?;
    (ratios.len() > 1).then_some(largest / smallest)
}

/// Formats a ratio, or `-` if it is missing.
fn figure(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the suite, as --json writes them, without those of most cases.
    const DEFAULT: &str = r#"[
{"suite":"serialization","case":"tree","subject":"jstream","metric":"write","value":109560.2,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"rkyv","metric":"write","value":161359.4,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"jstream","metric":"read","value":47860.1,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"rkyv","metric":"read","value":92024.5,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"jstream","metric":"bytes","value":393248.0,"unit":"B"},
{"suite":"serialization","case":"tree","subject":"rkyv","metric":"bytes","value":262128.0,"unit":"B"},
{"suite":"serialization","case":"mesh","subject":"jstream","metric":"write","value":505852.3,"unit":"ns"},
{"suite":"serialization","case":"mesh","subject":"rkyv","metric":"write","value":481808.7,"unit":"ns"},
{"suite":"serialization","case":"mesh","subject":"memcpy","metric":"write","value":480684.9,"unit":"ns"}
]"#;
    const UNITS_1: &str = r#"[
{"suite":"serialization","case":"tree","subject":"jstream","metric":"write","value":130164.3,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"rkyv","metric":"write","value":121460.6,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"jstream","metric":"read","value":118708.0,"unit":"ns"},
{"suite":"serialization","case":"tree","subject":"rkyv","metric":"read","value":95063.2,"unit":"ns"},
{"suite":"serialization","case":"mesh","subject":"jstream","metric":"write","value":519176.8,"unit":"ns"},
{"suite":"serialization","case":"mesh","subject":"rkyv","metric":"write","value":509478.4,"unit":"ns"}
]"#;

    /// Returns recorded rows as rows of a build.
    fn recorded(build: &str, json: &str) -> Vec<Row> {
        of_build(build, serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_table_has_a_ratio_per_build_and_the_spread() {
        let mut rows = recorded("default", DEFAULT);
        rows.extend(recorded("units-1", UNITS_1));
        let expected = "  case, metric  subjects        default  units-1  spread
  tree, write   jstream/rkyv       0.68     1.07    1.58
  tree, read    jstream/rkyv       0.52     1.25    2.40
  mesh, write   jstream/rkyv       1.05     1.02    1.03
  mesh, write   jstream/memcpy     1.05        -       -
";
        assert_eq!(text(&rows), expected);
    }

    #[test]
    fn a_table_of_no_rows_is_a_header() {
        assert_eq!(text(&[]), "  case, metric  subjects  spread\n");
    }

    #[test]
    fn the_program_is_found_among_messages() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"jstream-benches"},"executable":"/t/release/jstream-benches"}
{"reason":"build-finished","success":true}
"#;
        let program = PathBuf::from("/t/release/jstream-benches");
        assert_eq!(program_of(messages), Some(program));
        assert_eq!(program_of("{}\nno JSON"), None);
    }

    #[test]
    fn builds_are_chosen_by_name_or_all_that_run_here() {
        let chosen = |names: &[String]| -> Vec<&str> {
            let builds = BUILDS.iter().filter(|build| is_chosen(build, names));
            builds.map(|build| build.name).collect()
        };
        assert_eq!(chosen(&["lto-fat".to_owned()]), ["lto-fat"]);
        assert_eq!(chosen(&[V3.to_owned()]), [V3]);
        assert_eq!(chosen(&[]).len(), if runs_v3() { 5 } else { 4 });
    }
}
