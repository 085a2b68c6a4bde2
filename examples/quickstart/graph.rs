//! The dependency graph in both processes: plain structs and references.

use std::cmp::Reverse;
use std::collections::HashMap;

use jstream::Transportable;

/// Packages and their dependencies.
#[derive(Transportable, Debug, Clone, Copy)]
pub(crate) struct Graph<'b> {
    pub(crate) packages: &'b [Package<'b>],
}

/// A package in one version.
#[derive(Transportable, Debug, Clone, Copy)]
pub(crate) struct Package<'b> {
    pub(crate) name: &'b str,
    pub(crate) version: &'b str,
    /// Indices of the dependencies in the graph.
    pub(crate) dependencies: &'b [u32],
}

impl<'b> Graph<'b> {
    /// Returns the dependencies of a package whose indices are valid.
    pub(crate) fn dependencies(&self, package: usize) -> impl Iterator<Item = usize> + 'b {
        let packages = self.packages;
        packages
            .get(package)
            .into_iter()
            .flat_map(|package| package.dependencies)
            .filter_map(|place| usize::try_from(*place).ok())
            .filter(move |place| *place < packages.len())
    }

    /// Returns the name that has the most dependents, over all versions. Dependents are counted by
    /// name.
    pub(crate) fn most_wanted(&self) -> Option<&'b str> {
        let mut places: Vec<usize> = (0..self.packages.len()).collect();
        let name = |place: usize| self.packages.get(place).map_or("", |package| package.name);
        places.sort_unstable_by_key(|place| name(*place));
        // The number of dependents of each name, and the last counted dependent.
        let mut wanted: HashMap<&str, (usize, Option<&str>)> = HashMap::new();
        for package in places {
            let by = Some(name(package));
            for place in self.dependencies(package) {
                let (count, last) = wanted.entry(name(place)).or_default();
                if *last != by {
                    *count = count.saturating_add(1);
                    *last = by;
                }
            }
        }
        let most = wanted
            .into_iter()
            .max_by_key(|(name, (count, _))| (*count, Reverse(*name)));
        most.map(|(name, _)| name)
    }

    /// Returns a longest path along dependencies, from a package without dependents. A dependency
    /// that leads back into the path, as dev-dependencies may, is not followed.
    pub(crate) fn longest_chain(&self) -> Vec<usize> {
        #[derive(Clone, Copy)]
        enum State {
            New,
            Open,
            /// The length of the longest path from this package, and the next package on it.
            Done(usize, Option<usize>),
        }
        let mut states = vec![State::New; self.packages.len()];
        let mut longest = (0, None);
        for start in 0..self.packages.len() {
            // Iterative instead of recursive, because a lock file may contain a chain of any
            // length.
            let mut open = vec![start];
            while let Some(&package) = open.last() {
                match states.get(package) {
                    Some(State::New) => {
                        if let Some(state) = states.get_mut(package) {
                            *state = State::Open;
                        }
                        open.extend(
                            self.dependencies(package)
                                .filter(|place| matches!(states.get(*place), Some(State::New))),
                        );
                    }
                    Some(State::Open) => {
                        let steps = self.dependencies(package).filter_map(|place| {
                            match states.get(place) {
                                Some(State::Done(length, _)) => Some((*length, Some(place))),
                                _ => None,
                            }
                        });
                        let (length, next) = steps.max().unwrap_or((0, None));
                        let length = length.saturating_add(1);
                        if let Some(state) = states.get_mut(package) {
                            *state = State::Done(length, next);
                        }
                        longest = longest.max((length, Some(package)));
                        open.pop();
                    }
                    Some(State::Done(..)) | None => {
                        open.pop();
                    }
                }
            }
        }
        let mut chain = Vec::new();
        let mut next = longest.1;
        while let Some(package) = next {
            chain.push(package);
            next = match states.get(package) {
                Some(State::Done(_, next)) => *next,
                _ => None,
            };
        }
        chain
    }
}
