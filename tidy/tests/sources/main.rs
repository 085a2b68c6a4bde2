//! Runs all checks over the sources of the repository.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::path::Path;

use tidy::decisions::decision_findings;
use tidy::{
    Finding, Source, bare_events, doc_openings, error_debugs, error_sources, long_lines, odd_names,
    sources, upward_imports,
};

/// Packages with Rust sources.
const PACKAGES: [&str; 9] = [
    "benches",
    "derive",
    "examples",
    "fuzz",
    "jstream",
    "rmi",
    "sync",
    "tidy",
    "transport",
];

/// Packages whose names are nouns and verbs, as docs/glossary.md has them. Those that are missing
/// still have other names.
const PLAINLY_NAMED: [&str; 7] = [
    "derive",
    "jstream",
    "sync",
    "tidy",
    "transport/collective",
    "transport/device",
    "transport/endpoint",
];

/// Names that the check of names accepts: `one_way` is an option of remote traits, `meet` lets the
/// compiler meet functions, and `again` is public in endpoints.
const ACCEPTED_NAMES: [&str; 4] = ["again", "again_until", "meet", "one_way"];

/// Packages whose modules are layers, with the layers in their order. Each imports only from those
/// before it.
const LAYERS: [(&str, &[&str]); 1] = [(
    "rmi",
    &[
        "support",
        "frame",
        "interface",
        "session",
        "reference",
        "stream",
        "call",
        "client",
        "server",
        "directory",
        "client_set",
        "mock",
    ],
)];

fn sources_of(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = sources(&root.join(folder)).unwrap();
    assert!(!found.is_empty(), "{folder} has no Rust sources");
    found
}

fn all_sources() -> impl Iterator<Item = Source> {
    PACKAGES.into_iter().flat_map(sources_of)
}

fn assert_none(findings: &[Finding]) {
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} findings:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

#[test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    assert_none(
        &all_sources()
            .flat_map(|source| doc_openings(&source))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn comments_have_at_most_100_columns() {
    assert_none(
        &all_sources()
            .flat_map(|source| long_lines(&source))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn errors_include_their_causes_in_their_texts() {
    for package in ["examples", "jstream", "rmi", "sync", "transport"] {
        let sources = sources_of(package);
        assert_none(&sources.iter().flat_map(error_sources).collect::<Vec<_>>());
    }
}

#[test]
fn events_are_emitted_without_locks() {
    let bare = Source {
        path: "bare.rs".into(),
        text: "let x = 1;\ntracing::debug!(x, \"an event\");\n".to_owned(),
    };
    assert_eq!(bare_events(&bare).len(), 1);
    for package in ["rmi", "transport"] {
        let mut sources = sources_of(package);
        sources.retain(|source| source.path.iter().any(|folder| folder == "src"));
        assert_none(&sources.iter().flat_map(bare_events).collect::<Vec<_>>());
    }
}

#[test]
fn errors_print_their_sentence_by_debug() {
    for package in ["jstream", "rmi", "sync", "transport"] {
        let mut sources = sources_of(package);
        sources.retain(|source| source.path.iter().any(|folder| folder == "src"));
        assert_none(&error_debugs(&sources));
    }
}

#[test]
fn front_pages_name_the_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (readme, architecture) = (read("README.md"), read("ARCHITECTURE.md"));
    let mut programs = 0;
    for package in ["jstream", "transport", "rmi"] {
        let manifest = read(&format!("{package}/Cargo.toml"));
        let pages = [
            read(&format!("{package}/src/lib.rs")),
            read(&format!("{package}/README.md")),
            readme.clone(),
            architecture.clone(),
        ];
        for bin in manifest.split("[[bin]]").skip(1) {
            let name = bin.split('"').nth(1).unwrap();
            for page in &pages {
                assert!(page.contains(&format!("`{name}`")), "{package}: {name}");
            }
            programs += 1;
        }
    }
    assert_eq!(programs, 5);
}

/// Returns the words of a list `name=(...)` in a script.
fn list_of<'s>(script: &'s str, name: &str) -> Vec<&'s str> {
    let start = script.split_once(&format!("\n{name}=(")).unwrap().1;
    start
        .split_once(')')
        .unwrap()
        .0
        .split_whitespace()
        .collect()
}

#[test]
fn the_table_of_platforms_says_what_the_stage_checks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (readme, script, run) = (
        read("README.md"),
        read(".ci/stages/targets.sh"),
        read(".ci/run"),
    );
    let emulator = read(".ci/stages/aarch64.sh");
    for stage in ["targets", "aarch64"] {
        assert!(list_of(&run, "outer_apart").contains(&stage), "{stage}");
    }
    let host = run.split_once("\nhost=").unwrap().1.lines().next().unwrap();
    let mut expected = vec![(host, "tested", "tested")];
    for platform in list_of(&script, "objects_compile") {
        let compiles = list_of(&script, "transport_compiles").contains(&platform);
        let is_refused = list_of(&script, "transport_refused").contains(&platform);
        assert_ne!(compiles, is_refused, "{platform}");
        let is_emulated = list_of(&emulator, "objects_emulated").contains(&platform);
        expected.push((
            platform,
            if is_emulated {
                "tested in an emulator"
            } else {
                "compiles"
            },
            if compiles { "compiles" } else { "no" },
        ));
    }
    let section = readme.split_once("## Where it runs").unwrap().1;
    let rows = section.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    let found: Vec<(&str, &str, &str)> = rows
        .map(|row| {
            let mut cells = row.split('|').skip(1).map(str::trim);
            let platform = cells.next().unwrap().trim_matches('`');
            (platform, cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn decisions_and_sources_name_one_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let from_root = |path: &Path| path.strip_prefix(root).unwrap().to_owned();
    let pages = fs::read_dir(root.join("docs/decisions")).unwrap();
    let (index, records): (Vec<Source>, Vec<Source>) = pages
        .map(|page| page.unwrap().path())
        .map(|page| Source {
            path: from_root(&page),
            text: fs::read_to_string(&page).unwrap(),
        })
        .partition(|page| page.path.ends_with("README.md"));
    assert!(records.len() > 100, "{} records", records.len());
    let sources: Vec<Source> = all_sources()
        .map(|source| Source {
            path: from_root(&source.path),
            text: source.text,
        })
        .collect();
    assert_none(&decision_findings(&records, &index[0], &sources));
}

#[test]
fn names_are_nouns_and_verbs() {
    for package in PLAINLY_NAMED {
        let mut sources = sources_of(&format!("{package}/src"));
        // Modules of tests and models have stories.
        let is_story = |name: &std::ffi::OsStr| {
            ["tests", "tests.rs", "models", "models.rs"]
                .iter()
                .any(|story| name == *story)
        };
        sources.retain(|source| !source.path.iter().any(is_story));
        let odd = |source: &Source| odd_names(source, &ACCEPTED_NAMES);
        assert_none(&sources.iter().flat_map(odd).collect::<Vec<_>>());
    }
}

#[test]
fn layers_import_only_from_those_before_them() {
    for (package, layers) in LAYERS {
        for layer in layers {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
            let module = root.join(package).join("src").join(layer);
            let exists = module.is_dir() || module.with_extension("rs").is_file();
            assert!(exists, "{package} has no layer {layer}");
        }
        assert_none(&upward_imports(
            &sources_of(&format!("{package}/src")),
            layers,
        ));
    }
}
