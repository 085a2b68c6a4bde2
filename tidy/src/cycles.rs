//! Import cycles between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::imports::{Import, imports};
use crate::{Finding, Source};

/// Files of a crate each of which imports all others, directly or through others of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// Paths of the files, from the folder of the crate's root, in order.
    pub files: Vec<PathBuf>,
    /// Imports between the files, in order.
    pub imports: Vec<Import>,
}

/// A cycle that may exist.
#[derive(Debug, Clone, Copy)]
pub struct AllowedCycle {
    /// Path of the crate's root, from the root of the repository.
    pub root: &'static str,
    /// Paths of the files, from the folder of the crate's root, in order.
    pub files: &'static [&'static str],
    /// Reason why the cycle can't be avoided.
    pub reason: &'static str,
}

impl AllowedCycle {
    /// Returns true if `cycle`, of the same crate, has the same files.
    fn covers(&self, cycle: &Cycle) -> bool {
        cycle
            .files
            .iter()
            .map(PathBuf::as_path)
            .eq(self.files.iter().map(Path::new))
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files import one another:", self.files.len())?;
        for import in &self.imports {
            let (from, to) = (import.from.display(), import.to.display());
            write!(f, "\n  {from} -> {to}: {}", import.name)?;
        }
        Ok(())
    }
}

/// Finds the import cycles of the crate whose root is `root`, without those in `allowed`, and the
/// entries of `allowed` that are no cycles.
///
/// # Panics
///
/// As for [`imports`].
#[must_use]
pub fn forbidden_cycles(
    crate_sources: &[Source],
    root: &Path,
    allowed: &[AllowedCycle],
) -> Vec<Finding> {
    let cycles = cycles(&imports(crate_sources, root));
    let is_allowed = |cycle: &&Cycle| allowed.iter().any(|allowed| allowed.covers(cycle));
    let is_absent = |allowed: &&AllowedCycle| !cycles.iter().any(|cycle| allowed.covers(cycle));
    let finding = |text| Finding {
        path: root.to_owned(),
        line: 1,
        text,
    };
    let forbidden = cycles.iter().filter(|cycle| !is_allowed(cycle));
    let absent = allowed.iter().filter(is_absent);
    let absent = absent.map(|allowed| {
        finding(format!(
            "the allowed cycle of {:?} does not exist; remove it from the list",
            allowed.files
        ))
    });
    forbidden
        .map(|cycle| finding(cycle.to_string()))
        .chain(absent)
        .collect()
}

/// Returns the cycles that `imports` form.
#[must_use]
pub fn cycles(imports: &BTreeSet<Import>) -> Vec<Cycle> {
    let mut imported: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for import in imports {
        imported.entry(&import.from).or_default().insert(&import.to);
    }
    let reached: BTreeMap<&Path, BTreeSet<&Path>> = imported
        .keys()
        .map(|file| (*file, reachable(&imported, file)))
        .collect();
    let reaches = |from: &Path, to: &Path| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found = Vec::new();
    let mut known: BTreeSet<&Path> = BTreeSet::new();
    for file in imported.keys() {
        if !reaches(file, file) || known.contains(file) {
            continue;
        }
        let is_member = |other: &Path| reaches(file, other) && reaches(other, file);
        let members = imported.keys().filter(|other| is_member(other));
        known.extend(members.clone().copied());
        let between = imports
            .iter()
            .filter(|import| is_member(&import.from) && is_member(&import.to));
        found.push(Cycle {
            files: members.map(|member| (*member).to_owned()).collect(),
            imports: between.cloned().collect(),
        });
    }
    found
}

/// Returns the files that `start` imports, directly or through others.
fn reachable<'p>(
    imported: &BTreeMap<&'p Path, BTreeSet<&'p Path>>,
    start: &Path,
) -> BTreeSet<&'p Path> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        for next in imported.get(file).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles of a crate with these files, as the names of their files.
    fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let found = cycles(&imports(&sources_of(files), Path::new("src/lib.rs")));
        let names = |cycle: Cycle| {
            let files = cycle.files.iter();
            files.map(|file| file.display().to_string()).collect()
        };
        found.into_iter().map(names).collect()
    }

    fn sources_of(files: &[(&str, &str)]) -> Vec<Source> {
        let source = |(path, text): &(&str, &str)| Source {
            path: Path::new("src").join(path),
            text: (*text).to_owned(),
        };
        files.iter().map(source).collect()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");

    #[test]
    fn files_that_import_each_other_are_a_cycle() {
        let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n");
        let used = ("b.rs", "use crate::a::A;\npub struct B(Option<Box<A>>);\n");
        let named = ("b.rs", "pub struct B;\nfn f() { super::a::A::new(); }\n");
        let all = ("b.rs", "use super::a::*;\npub struct B(Box<A>);\n");
        for b in [used, named, all] {
            assert_eq!(cycles_of(&[LIB, a, b]), [["a.rs", "b.rs"]], "{}", b.1);
        }
        let others = ("b.rs", "use super::a::*;\npub struct B(Box<C>);\n");
        assert_eq!(cycles_of(&[LIB, a, others]).len(), 0);
    }

    #[test]
    fn only_names_in_code_are_imports() {
        let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n");
        for text in [
            "// crate::a::A\n/* crate::a::A /* */ crate::a::A */\npub struct B;\n",
            "pub struct B;\nconst C: [&str; 2] = [\"crate::a::A \\\" \", r#\"\"crate::a::A\"#];\n",
            "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }\n",
            "#[cfg(all(test, not(loom)))]\nuse crate::a::A;\npub struct B<'a>(&'a u8);\n",
            "pub struct B;\nfn f(a: char) -> bool { a == '\"' || a == '\\'' }\n",
            "use ::a::A;\npub struct B(a::A, ::crate_a::a::A);\n",
        ] {
            assert_eq!(cycles_of(&[LIB, a, ("b.rs", text)]).len(), 0, "{text}");
        }
    }

    #[test]
    fn names_are_resolved_to_the_file_that_defines_them() {
        let lib = (
            "lib.rs",
            "mod a;\nmod b;\n#[path = \"b/mod.rs\"]\nmod other;\n",
        );
        let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n");
        let facade = "mod c;\nmod d;\npub use c::*;\npub(crate) use d::{self, D as B};\n";
        let c = ("b/c.rs", "pub struct C(crate::a::A);\n");
        let d = ("b/d.rs", "pub struct D;\n");
        assert_eq!(cycles_of(&[lib, a, ("b/mod.rs", facade), c, d]).len(), 0);
        let d = ("b/d.rs", "use super::C;\npub struct D(C);\n");
        assert_eq!(
            cycles_of(&[lib, a, ("b/mod.rs", facade), c, d]),
            [["a.rs", "b/c.rs", "b/d.rs"]]
        );
        // A facade that uses a name itself is part of a cycle.
        let used = format!("{facade}pub struct E(C);\n");
        let d = ("b/d.rs", "use super::E;\npub struct D(E);\n");
        assert_eq!(
            cycles_of(&[lib, a, ("b/mod.rs", &used), c, d]),
            [["a.rs", "b/c.rs", "b/d.rs", "b/mod.rs"]]
        );
    }

    #[test]
    fn a_cycle_may_exist_exactly_as_it_is_listed() {
        let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n");
        let b = ("b.rs", "use crate::a::A;\npub struct B(Option<Box<A>>);\n");
        let sources = sources_of(&[LIB, a, b]);
        let found = |allowed: &[AllowedCycle]| {
            let found = forbidden_cycles(&sources, Path::new("src/lib.rs"), allowed);
            found
                .into_iter()
                .map(|finding| finding.text)
                .collect::<Vec<_>>()
        };
        let cycle = "2 files import one another:\n  a.rs -> b.rs: B\n  b.rs -> a.rs: A";
        assert_eq!(found(&[]), [cycle]);
        let mut allowed = AllowedCycle {
            root: "src/lib.rs",
            files: &["a.rs", "b.rs"],
            reason: "recursive types",
        };
        assert!(found(&[allowed]).is_empty());
        allowed.files = &["a.rs", "b.rs", "c.rs"];
        let found = found(&[allowed]);
        assert_eq!(found.len(), 2);
        assert!(found.iter().any(|text| text.contains("does not exist")));
    }
}
