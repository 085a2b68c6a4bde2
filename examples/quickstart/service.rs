//! The object of the server. It keeps the buffer in which the graph arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

use jstream::Transportable;
use jstream_rmi::{Received, remote};

use crate::graph::Graph;

/// Size of a graph, as the server has received it.
#[derive(Transportable, Debug, Clone, Copy)]
pub(crate) struct Summary {
    pub(crate) packages: u64,
    pub(crate) edges: u64,
}

/// Questions about a dependency graph.
#[remote]
pub(crate) trait Dependencies {
    /// Replaces the graph that all other methods refer to.
    fn submit(&self, graph: Received<Graph<'static>>) -> Summary;

    /// Returns the packages that have several versions, with these versions.
    fn several_versions(&self) -> Vec<(String, Vec<String>)>;

    /// Returns a longest chain of dependencies.
    fn longest_chain(&self) -> Vec<String>;

    /// Returns the packages that depend on any version of a package.
    fn dependents(&self, name: &str) -> Vec<String>;
}

/// Keeps one graph, in its receive buffer.
#[derive(Default)]
pub(crate) struct Keeper {
    graph: RwLock<Option<Received<Graph<'static>>>>,
}

impl Keeper {
    /// Calls `question` with the graph, which is plain Rust data. Returns the default value if
    /// there is no graph.
    fn ask<R: Default>(&self, question: impl FnOnce(&Graph<'_>) -> R) -> R {
        let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
        graph
            .as_ref()
            .map_or_else(R::default, |graph| question(graph.get()))
    }
}

impl Dependencies for Keeper {
    fn submit(&self, graph: Received<Graph<'static>>) -> Summary {
        let packages = graph.get().packages;
        let summary = Summary {
            packages: packages.len() as u64,
            edges: packages
                .iter()
                .map(|package| package.dependencies.len() as u64)
                .sum(),
        };
        *self.graph.write().unwrap_or_else(PoisonError::into_inner) = Some(graph);
        summary
    }

    fn several_versions(&self) -> Vec<(String, Vec<String>)> {
        self.ask(|graph| {
            let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for package in graph.packages {
                versions
                    .entry(package.name)
                    .or_default()
                    .push(package.version.to_owned());
            }
            let several = versions
                .into_iter()
                .filter(|(_, versions)| versions.len() > 1);
            several
                .map(|(name, versions)| (name.to_owned(), versions))
                .collect()
        })
    }

    fn longest_chain(&self) -> Vec<String> {
        self.ask(|graph| {
            let chain = graph.longest_chain().into_iter();
            chain
                .filter_map(|place| graph.packages.get(place))
                .map(|package| package.name.to_owned())
                .collect()
        })
    }

    fn dependents(&self, name: &str) -> Vec<String> {
        self.ask(|graph| {
            let dependents: BTreeSet<&str> = (graph.packages.iter().enumerate())
                .filter(|(place, _)| {
                    let mut needs = graph.dependencies(*place);
                    needs.any(|of| graph.packages.get(of).is_some_and(|of| of.name == name))
                })
                .map(|(_, package)| package.name)
                .collect();
            dependents.into_iter().map(str::to_owned).collect()
        })
    }
}
