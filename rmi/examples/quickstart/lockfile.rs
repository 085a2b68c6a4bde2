//! The parts of a `Cargo.lock` that the graph needs.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::graph::Package;
use crate::page::{NAMES, ends, escaped, shown};

/// The packages of a lock file.
#[derive(Debug, Deserialize)]
pub(crate) struct Lockfile {
    /// Name of the file for messages.
    #[serde(skip)]
    pub(crate) file: String,
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    /// Each is `name`, `name version` or `name version (source)`, with as many parts as are needed
    /// to be unambiguous.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The packages with their indices, by name, and by name and version.
type Places<'a> = HashMap<(&'a str, Option<&'a str>), Vec<(u32, &'a Locked)>>;

impl Lockfile {
    /// Reads a file, which must contain packages.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = escaped(&path.display().to_string());
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("can't read {file}: {error}"))?;
        let lockfile: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|at| text.as_bytes().get(..at.start));
            let before = before.unwrap_or_default().iter();
            let line = before.filter(|byte| **byte == b'\n').count();
            let (line, what) = (line.saturating_add(1), escaped(error.message()));
            format!("{file} is not a valid Cargo.lock: line {line}: {what}")
        })?;
        if lockfile.package.is_empty() {
            return Err(format!("{file} has no packages"));
        }
        Ok(Self { file, ..lockfile })
    }

    /// Returns the indices of the dependencies of each package.
    pub(crate) fn edges(&self) -> Result<Vec<Vec<u32>>, String> {
        let mut places = Places::new();
        for (place, package) in (0..).zip(&self.package) {
            for version in [None, Some(package.version.as_str())] {
                let places = places.entry((&package.name, version)).or_default();
                places.push((place, package));
            }
        }
        let of_one = |of: &Locked| -> Result<Vec<u32>, String> {
            let needs = of.dependencies.iter();
            let found = needs.map(|dependency| {
                resolve(&places, dependency).map_err(|why| {
                    let (file, of, dependency) = (&self.file, of.shown(), shown(dependency));
                    format!("{file}: `{of}` depends on `{dependency}`, which {why}")
                })
            });
            found.collect()
        };
        self.package.iter().map(of_one).collect()
    }

    /// Returns the packages of the graph with these edges.
    pub(crate) fn packages<'a>(&'a self, edges: &'a [Vec<u32>]) -> Vec<Package<'a>> {
        let packages = self.package.iter().zip(edges);
        packages
            .map(|(package, dependencies)| Package {
                name: &package.name,
                version: &package.version,
                dependencies,
            })
            .collect()
    }
}

impl Locked {
    /// Returns true if the package is from this source. A dependency may omit the commit of a git
    /// source.
    fn is_from(&self, source: &str) -> bool {
        let own = self.source.as_deref().unwrap_or_default();
        own == source || own.split_once('#').is_some_and(|(own, _)| own == source)
    }

    fn shown(&self) -> String {
        let (name, version) = (shown(&self.name), shown(&self.version));
        match &self.source {
            Some(source) => format!("{name} {version} ({})", shown(source)),
            None => format!("{name} {version}"),
        }
    }
}

/// Returns the only package that a dependency may refer to, or the reason why there is no such
/// package.
fn resolve(places: &Places<'_>, dependency: &str) -> Result<u32, String> {
    let mut words = dependency.splitn(3, ' ');
    let key = (words.next().unwrap_or_default(), words.next());
    let source = words.next().map(|word| word.trim_matches(['(', ')']));
    let named = places.get(&key).into_iter().flatten();
    let fitting: Vec<_> = named
        .filter(|(_, package)| source.is_none_or(|source| package.is_from(source)))
        .collect();
    // If several packages have the same version, a dependency without a source refers to the one of
    // this workspace.
    let mut local = fitting
        .iter()
        .filter(|(_, package)| package.source.is_none());
    match (fitting.as_slice(), (local.next(), local.next())) {
        ([(place, _)], _) => Ok(*place),
        ([], _) => Err("is not in the file".to_owned()),
        (_, (Some((place, _)), None)) if key.1.is_some() => Ok(*place),
        (candidates, _) => {
            let candidates = ends(candidates, NAMES, |(_, package)| {
                format!("`{}`", package.shown())
            });
            Err(format!("is ambiguous: {}", candidates.join(", ")))
        }
    }
}
