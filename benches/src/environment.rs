//! The machine and the build of a run, which decide whether its figures can be compared.
//!
//! Decision 096 has the reasons.

use std::fmt::{self, Display};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// Version of the files that this program writes. Files without a version are of version 1, whose
/// rows have no distribution and no run.
pub(crate) const VERSION: u64 = 2;

/// A run of this program: the machine, the build, and the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// Version of the file's rows.
    pub(crate) version: u64,
    pub(crate) machine: Machine,
    pub(crate) build: Build,
    /// Arguments of the program that say what was measured.
    pub(crate) command: String,
}

/// The machine of a run. Figures of different machines are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// Model of the processor.
    pub(crate) cpu: String,
    /// Number of logical processors of the machine.
    pub(crate) cores: usize,
    /// Caches of the first processor, for example `L2 2048K`.
    pub(crate) caches: Vec<String>,
    /// Name and release of the operating system.
    pub(crate) kernel: String,
    /// Frequency governor of the first processor, or `none`.
    pub(crate) governor: String,
}

/// The build of a run. Figures of different builds of one machine can be compared, which is what
/// shows the effect of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// Version of the compiler.
    pub(crate) compiler: String,
    /// Commit of the sources, with `-dirty` behind it if they were changed.
    pub(crate) commit: String,
    /// Profile of Cargo and its settings.
    pub(crate) profile: String,
    /// Features of this package, separated by commas.
    pub(crate) features: String,
}

impl Run {
    /// Returns the run of this process.
    pub(crate) fn current() -> Arc<Self> {
        static CURRENT: OnceLock<Arc<Run>> = OnceLock::new();
        let run = CURRENT.get_or_init(|| {
            Arc::new(Self {
                version: VERSION,
                machine: Machine::find(),
                build: Build::find(),
                command: command(std::env::args().skip(1)),
            })
        });
        run.clone()
    }
}

/// Options whose value says nothing about what is measured.
const FILES: [&str; 3] = ["--json", "--out", "--markdown"];

/// Joins the arguments that say what is measured.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let mut kept = Vec::new();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        if FILES.contains(&argument.as_str()) {
            arguments.next();
        } else if argument != "--quiet" && !FILES.iter().any(|f| argument.starts_with(f)) {
            kept.push(argument);
        }
    }
    kept.join(" ")
}

impl Machine {
    fn find() -> Self {
        let release = rustix::system::uname();
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cpu: model(&processors).unwrap_or_else(|| "unknown".to_owned()),
            cores: count(&processors),
            caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
            kernel: format!(
                "{} {}",
                release.sysname().to_string_lossy(),
                release.release().to_string_lossy()
            ),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .unwrap_or_else(|| "none".to_owned()),
        }
    }
}

impl Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu, cores, kernel, ..
        } = self;
        let caches = self.caches.join(", ");
        let governor = &self.governor;
        write!(
            f,
            "{cpu}, {cores} cores, {caches}; {kernel}; governor: {governor}"
        )
    }
}

impl Build {
    fn find() -> Self {
        let features = [
            ("peers", cfg!(feature = "peers")),
            ("tls", cfg!(feature = "tls")),
        ];
        let on = features.iter().filter(|(_, on)| *on);
        Self {
            compiler: env!("BENCHES_COMPILER").to_owned(),
            commit: env!("BENCHES_COMMIT").to_owned(),
            profile: env!("BENCHES_PROFILE").to_owned(),
            features: on.map(|(name, _)| *name).collect::<Vec<_>>().join(","),
        }
    }
}

impl Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            compiler,
            commit,
            profile,
            features,
        } = self;
        let features = if features.is_empty() {
            "none"
        } else {
            features
        };
        write!(
            f,
            "commit {commit}, {compiler}, {profile}, features: {features}"
        )
    }
}

/// Returns the first line of a file, or `None` if it cannot be read.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// Finds the model of the first processor in the text of `/proc/cpuinfo`.
fn model(text: &str) -> Option<String> {
    let (_, model) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")?;
    Some(model.trim().to_owned())
}

/// Returns the number of processors in the text of `/proc/cpuinfo`. A thread that is pinned to one
/// of them sees all of them there.
fn count(text: &str) -> usize {
    let keys = text.lines().filter_map(|line| line.split_once(':'));
    keys.filter(|(key, _)| key.trim() == "processor").count()
}

/// Returns the caches that a folder of the system describes, in order of their level.
fn caches(folder: &Path) -> Vec<String> {
    let mut caches: Vec<String> = (0..8)
        .map_while(|n| {
            let index = folder.join(format!("index{n}"));
            let kind = match line(index.join("type"))?.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let (level, size) = (line(index.join("level"))?, line(index.join("size"))?);
            Some(format!("L{level}{kind} {size}"))
        })
        .collect();
    caches.sort();
    caches
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a run on a processor of that model.
    pub(crate) fn run_on(cpu: &str) -> Arc<Run> {
        Arc::new(Run {
            version: VERSION,
            machine: Machine {
                cpu: cpu.to_owned(),
                cores: 2,
                caches: vec!["L2 2048K".to_owned()],
                kernel: "Linux 6.1".to_owned(),
                governor: "none".to_owned(),
            },
            build: Build {
                compiler: "rustc 1.85.0".to_owned(),
                commit: "abc".to_owned(),
                profile: "release".to_owned(),
                features: String::new(),
            },
            command: "serialization".to_owned(),
        })
    }

    #[test]
    fn the_machine_and_the_build_of_this_run_are_known() {
        let run = Run::current();
        assert!(run.machine.cores > 0);
        assert!(run.machine.kernel.starts_with("Linux "), "{}", run.machine);
        assert!(run.build.compiler.starts_with("rustc "), "{}", run.build);
        assert!(!run.build.commit.is_empty() && !run.build.profile.is_empty());
    }

    #[test]
    fn the_model_of_the_processor_is_found() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Other\n";
        assert_eq!(model(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model("processor\t: 0\n"), None);
        assert_eq!(count("processor\t: 0\n\nprocessor\t: 1\n"), 2);
    }

    #[test]
    fn caches_are_listed_by_level() {
        let folder = tempfile::tempdir().unwrap();
        for (n, (level, kind, size)) in [("2", "Unified", "2048K"), ("1", "Data", "32K")]
            .into_iter()
            .enumerate()
        {
            let index = folder.path().join(format!("index{n}"));
            fs::create_dir(&index).unwrap();
            for (file, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(index.join(file), format!("{text}\n")).unwrap();
            }
        }
        assert_eq!(caches(folder.path()), ["L1d 32K", "L2 2048K"]);
        assert!(caches(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn names_of_files_are_not_part_of_the_command() {
        let arguments = ["rmi", "--json", "/a/b", "--quick", "--quiet", "--out=c"];
        let kept = command(arguments.into_iter().map(str::to_owned));
        assert_eq!(kept, "rmi --quick");
    }
}
