//! A `Cargo.lock`, as far as the graph needs it.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::graph::Package;

/// The file's packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Lockfile {
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    /// `name`, `name version` or `name version (source)`, as much as is needed to be unambiguous.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Lockfile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("can't read {shown}: {error}"))?;
        toml::from_str(&text).map_err(|error| format!("{shown} is no Cargo.lock: {error}"))
    }

    /// For each package the places of its dependencies.
    pub(crate) fn edges(&self) -> Result<Vec<Vec<u32>>, String> {
        let mut places: HashMap<&str, Vec<(u32, &Locked)>> = HashMap::new();
        for (place, package) in (0..).zip(&self.package) {
            places
                .entry(&package.name)
                .or_default()
                .push((place, package));
        }
        let resolve = |of: &Locked, dependency: &str| {
            let mut words = dependency.splitn(3, ' ');
            let name = words.next().unwrap_or_default();
            let version = words.next();
            let source = words.next().map(|word| word.trim_matches(['(', ')']));
            let mut found = places
                .get(name)
                .into_iter()
                .flatten()
                .filter(|(_, package)| {
                    version.is_none_or(|version| package.version == version)
                        && source.is_none_or(|source| package.source.as_deref() == Some(source))
                });
            match (found.next(), found.next()) {
                (Some((place, _)), None) => Ok(*place),
                (None, _) => Err(format!(
                    "{} needs {dependency}, which is not in it",
                    of.name
                )),
                (Some(_), Some(_)) => Err(format!("{} needs {dependency}: which one?", of.name)),
            }
        };
        self.package
            .iter()
            .map(|of| of.dependencies.iter().map(|d| resolve(of, d)).collect())
            .collect()
    }

    /// The packages of the graph, with these edges.
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
