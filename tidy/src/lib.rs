//! Checks of the project's own sources that neither rustfmt nor clippy makes.
//!
//! - [`doc_openings`]: a doc comment opens with a noun phrase or a verb, not with a pronoun or a
//!   relative word.
//! - [`long_lines`]: no comment has more than [`MAX_COLUMNS`] columns.
//! - [`odd_names`]: no defined name has an adverb, a question word or a riddle in it.
//! - [`cycles`]: the files of a crate do not import one another.
//! - [`decisions`]: records of decisions and source files name one another.
//! - [`error_debugs`]: `{:?}` of an error is its sentence, not the structure.
//! - [`error_sources`]: an error has the text of its cause in its own, and no `source()`.
//! - [`upward_imports`]: a layer of a crate imports only from the layers before it.
//!
//! The tests run them over the repository.

pub mod cycles;
pub mod decisions;
pub mod imports;
mod tokens;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Maximum length of a comment line, in characters.
pub const MAX_COLUMNS: usize = 100;

/// Words with which a doc comment must not open: the reader would have to guess the subject.
const VAGUE_OPENINGS: [&str; 24] = [
    "What",
    "Who",
    "Whom",
    "Whose",
    "Whoever",
    "Whatever",
    "Which",
    "Where",
    "Wherever",
    "How",
    "Why",
    "Whether",
    "It",
    "Its",
    "Those",
    "They",
    "That",
    "These",
    "Nothing",
    "Nobody",
    "Somebody",
    "Something",
    "Everything",
    "The same",
];

/// Words that must not be part of a name: adverbs, question words and riddles. A function is a verb
/// with an object, a variable or a field is a noun.
const ODD_WORDS: [&str; 26] = [
    "again",
    "anew",
    "anyhow",
    "aside",
    "begins",
    "come",
    "else",
    "everywhere",
    "here",
    "how",
    "meet",
    "once",
    "road",
    "soon",
    "stand",
    "still",
    "straight",
    "there",
    "way",
    "what",
    "where",
    "whether",
    "who",
    "whom",
    "why",
    "yet",
];

/// Names that must not be used, although their words may be parts of other names.
const ODD_NAMES: [&str; 8] = [
    "crew", "go_on", "late", "later", "let_in", "put_off", "role", "taker",
];

/// Folders that hold generated sources or build products.
const SKIPPED_FOLDERS: [&str; 4] = ["target", "generated", "golden", "corpus"];

/// A source file and its text.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub text: String,
}

/// A violation of one of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path of the file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// Description of the violation.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.text)
    }
}

impl Source {
    /// Creates a finding of `line`.
    fn finding(&self, line: usize, text: String) -> Finding {
        Finding {
            path: self.path.clone(),
            line,
            text,
        }
    }

    /// Returns the lines of the file with their numbers, from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// Returns all Rust sources below `folder`, in the order of their paths, without those of
/// generated code.
///
/// # Errors
///
/// An error of the file system. A missing `folder` is an error, too.
pub fn sources(folder: &Path) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                let name = entry.file_name();
                if !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path)?;
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns the text of a doc comment's line, or `None` if the line is something else.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line
        .strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then(|| text.trim())
}

/// Returns true if `text` opens with `opening`, as whole words.
fn opens_with(text: &str, opening: &str) -> bool {
    text.strip_prefix(opening).is_some_and(|rest| {
        rest.chars()
            .next()
            .is_none_or(|next| !next.is_alphanumeric())
    })
}

/// Finds causes that a derived error returns by `source()`. The texts of errors include those of
/// their causes, so a report of the chain would show them twice. Only transparent errors, which
/// have no text of their own, pass on the source of their cause.
#[must_use]
pub fn error_sources(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut is_in_variant, mut is_transparent) = (false, false);
    for (number, line) in source.lines() {
        let line = line.trim();
        if line.starts_with("#[error(") {
            (is_in_variant, is_transparent) = (true, line == "#[error(transparent)]");
        } else if line.starts_with('}') {
            is_in_variant = false;
        }
        let is_field = is_in_variant && line.starts_with("source:");
        let is_source = line.contains("#[source]") || line.contains("#[from]") || is_field;
        if is_source && is_in_variant && !is_transparent {
            let text = "the cause is returned by `source()`; print it in the text of the error, and \
                        name the field `r#source`";
            findings.push(source.finding(number, text.to_owned()));
        }
    }
    findings
}

/// Returns the arguments of the last `#[derive(...)]` before the definition at `start`, among the
/// attributes and comments directly before it.
fn derives_before(text: &str, start: usize) -> &str {
    let before = text.split_at(start).0;
    // Nothing but attributes and comments lies between two items.
    let item = before.rfind("\n\n").unwrap_or_default();
    let attributes = before.split_at(item).1;
    let derive = attributes.rsplit_once("#[derive(").map(|(_, rest)| rest);
    derive
        .and_then(|rest| rest.split_once(")]"))
        .map_or("", |(list, _)| list)
}

/// Finds errors whose `Debug` is not derived by `ErrorDebug`. Programs print an error that `main`
/// returns, or that they unwrap, by `{:?}`: it must be the sentence of `Display`.
#[must_use]
pub fn error_debugs(crate_sources: &[Source]) -> Vec<Finding> {
    // Errors without a derived `Error`, by the file of their `impl`.
    let mut implemented = BTreeSet::new();
    for source in crate_sources {
        for (before, rest) in source.text.match_indices("Error for ").map(|(at, words)| {
            let (before, rest) = source.text.split_at(at);
            (before, rest.strip_prefix(words).unwrap_or(rest))
        }) {
            let line = before.rsplit('\n').next().unwrap_or_default();
            let is_error = line.ends_with(' ') || line.ends_with("error::");
            if line.starts_with("impl") && is_error {
                implemented.insert((source.path.as_path(), leading_name(rest)));
            }
        }
    }
    let mut findings = Vec::new();
    for source in crate_sources {
        for keyword in ["struct ", "enum "] {
            for (at, _) in source.text.match_indices(keyword) {
                let (before, rest) = source.text.split_at(at);
                let line = before.rsplit('\n').next().unwrap_or_default();
                if !line.trim_start().starts_with("pub") && !line.is_empty() {
                    continue;
                }
                let name = leading_name(rest.strip_prefix(keyword).unwrap_or(rest));
                let derives: Vec<&str> = derives_before(&source.text, at)
                    .split(',')
                    .filter_map(|path| path.trim().rsplit("::").next())
                    .collect();
                let is_error = derives.contains(&"Error")
                    || implemented.contains(&(source.path.as_path(), name));
                if is_error && !derives.contains(&"ErrorDebug") {
                    let number = before.matches('\n').count().saturating_add(1);
                    let text = format!(
                        "the error `{name}` does not derive `ErrorDebug`, so `{{:?}}` prints no sentence"
                    );
                    findings.push(source.finding(number, text));
                }
            }
        }
    }
    findings
}

/// Finds doc comments that open with a pronoun or a relative word.
#[must_use]
pub fn doc_openings(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut was_doc = false;
    for (number, line) in source.lines() {
        let doc = doc_text(line);
        if let (Some(text), false) = (doc, was_doc) {
            let opening = VAGUE_OPENINGS
                .iter()
                .find(|opening| opens_with(text, opening));
            if let Some(opening) = opening {
                let text = format!(
                    "the doc comment opens with {opening:?}; open with a noun phrase or a verb"
                );
                findings.push(source.finding(number, text));
            }
        }
        was_doc = doc.is_some();
    }
    findings
}

/// Returns true if a comment can't be shortened: a row of a Markdown table, or a line with a link.
fn is_unbreakable(line: &str) -> bool {
    let is_row = doc_text(line).is_some_and(|text| text.starts_with('|'));
    is_row || line.contains("](")
}

/// Returns true if the line begins or ends the code of an example in a doc comment. An example that
/// depends on a feature begins with two attributes, one of which has a `not`.
fn is_fence(line: &str) -> bool {
    doc_text(line).is_some_and(|text| text.starts_with("```"))
        || line.contains("doc = \"```") && !line.contains("not(")
}

/// Finds comment lines with more than [`MAX_COLUMNS`] characters that can be shortened. rustfmt
/// wraps the code; examples in doc comments are code.
#[must_use]
pub fn long_lines(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_example = false;
    for (number, line) in source.lines() {
        is_example ^= is_fence(line);
        let is_comment = line.trim_start().starts_with("//") && !is_example;
        let columns = line.chars().count();
        if is_comment && columns > MAX_COLUMNS && !is_unbreakable(line) {
            let text = format!("the comment has {columns} columns; {MAX_COLUMNS} are allowed");
            findings.push(source.finding(number, text));
        }
    }
    findings
}

/// The macros that emit an event of `tracing`.
const EVENTS: [&str; 5] = ["trace!", "debug!", "info!", "warn!", "error!"];

/// Finds events of `tracing` that are not emitted by `emit`. A subscriber is code of the program,
/// so it is called without locks, and its panic is caught.
#[must_use]
pub fn bare_events(source: &Source) -> Vec<Finding> {
    /// Number of lines before an event in which the call of `emit` stands.
    const NEAR: usize = 4;
    let mut findings = Vec::new();
    let mut since_emit = NEAR;
    for (number, line) in source.lines() {
        since_emit = if line.contains("emit(") {
            0
        } else {
            since_emit.saturating_add(1)
        };
        let code = line.split("//").next().unwrap_or_default();
        let mut events = code.split("tracing::").skip(1);
        let is_event = events.any(|event| EVENTS.iter().any(|name| event.starts_with(name)));
        if is_event && since_emit > NEAR {
            let text = "an event is emitted by `jstream_base::events::emit`".to_owned();
            findings.push(source.finding(number, text));
        }
    }
    findings
}

/// Returns the name that `line` defines as a function, a variable or a field, or `None` if there is
/// none. Parameters count if they have a line of their own.
fn defined_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if first == "let" {
        let next = words.next()?;
        let name = if next == "mut" { words.next()? } else { next };
        return Some(leading_name(name));
    }
    if let Some((before, rest)) = line.split_once("fn ") {
        let is_keyword = before.is_empty() || before.ends_with(' ');
        return is_keyword.then(|| leading_name(rest));
    }
    let field = if first.starts_with("pub") {
        words.find(|word| !word.ends_with(')'))?
    } else {
        first
    };
    field
        .strip_suffix(':')
        .filter(|name| leading_name(name) == *name)
}

/// Finds defined names that are odd: a reader has to decode them. Names in `allowed` are accepted.
#[must_use]
pub fn odd_names(source: &Source, allowed: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in source.lines() {
        let line = line.trim_start();
        let defined = Some(line)
            .filter(|line| !line.starts_with("//"))
            .and_then(defined_name);
        let Some(name) = defined.filter(|name| !allowed.contains(name)) else {
            continue;
        };
        let is_odd =
            ODD_NAMES.contains(&name) || name.split('_').any(|word| ODD_WORDS.contains(&word));
        if is_odd {
            let text =
                format!("`{name}` is an adverb, a question or a riddle; see docs/glossary.md");
            findings.push(source.finding(number, text));
        }
    }
    findings
}

/// Returns the module path of a source below a folder `src`.
fn module_path(path: &Path) -> Vec<&str> {
    let names = path.iter().filter_map(|name| name.to_str());
    let mut modules: Vec<_> = names.rev().take_while(|name| *name != "src").collect();
    modules.reverse();
    if let Some(file) = modules.pop() {
        let module = file.strip_suffix(".rs").unwrap_or(file);
        if module != "mod" {
            modules.push(module);
        }
    }
    modules
}

/// Returns the code of a source, in which the lines of comments are empty.
fn code(source: &Source) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines = source.text.lines();
    let lines = lines.map(|line| Some(line).filter(is_code).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the name at the start of `text`, which is empty if there is none.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.split_at(end.unwrap_or(text.len())).0
}

/// Returns the names with which the paths at the start of `text` begin: one, or those of a group in
/// braces.
fn first_names(text: &str) -> Vec<&str> {
    let Some(group) = text.strip_prefix('{') else {
        return vec![leading_name(text)];
    };
    let mut depth = 0usize;
    let mut names = Vec::new();
    let mut is_start = true;
    for (place, c) in group.char_indices() {
        match c {
            '{' => depth = depth.saturating_add(1),
            '}' if depth == 0 => break,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => is_start = true,
            c if is_start && !c.is_whitespace() => {
                names.push(leading_name(group.split_at(place).1));
                is_start = false;
            }
            _ => {}
        }
    }
    names
}

/// Returns the parts of `code` before and behind each keyword of a path, such as `crate::`.
fn paths<'c>(code: &'c str, keyword: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
    let starts = code.match_indices(keyword);
    let split = starts.filter_map(move |(start, _)| {
        let (before, path) = code.split_at(start);
        Some((before, path.strip_prefix(keyword)?))
    });
    split.filter(|(before, _)| {
        // `$crate::` of a macro begins a path of another crate.
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
    })
}

/// Finds imports by which a layer of a crate depends on a layer after it.
///
/// The `layers` are modules at the root of the crate, in their order. A layer may import from
/// itself and from those before it, but not through the root of the crate, which exports items of
/// all layers. Other modules at the root are not checked. A layer may not import from them.
#[must_use]
pub fn upward_imports(crate_sources: &[Source], layers: &[&str]) -> Vec<Finding> {
    let place_of = |name: &str| layers.iter().position(|layer| *layer == name);
    let mut findings = Vec::new();
    for source in crate_sources {
        let modules = module_path(&source.path);
        let Some((layer, place)) = modules.first().and_then(|one| Some((*one, place_of(one)?)))
        else {
            continue;
        };
        let code = code(source);
        let line = |before: &str| before.matches('\n').count().saturating_add(1);
        for (before, rest) in paths(&code, "crate::") {
            for name in first_names(rest) {
                let text = match place_of(name) {
                    Some(other) if other <= place => continue,
                    Some(_) => format!("the layer {layer:?} imports from {name:?}, which is above"),
                    None => format!("the layer {layer:?} imports {name:?}, which is no layer"),
                };
                findings.push(source.finding(line(before), text));
            }
        }
        for (before, mut rest) in paths(&code, "super::") {
            let mut steps = 1usize;
            while let Some(next) = rest.strip_prefix("super::") {
                (rest, steps) = (next, steps.saturating_add(1));
            }
            let is_above = |name: &&str| place_of(name).is_some_and(|other| other > place);
            // Only names of layers count: a path in an inline module has one step more.
            if steps >= modules.len() && !before.ends_with("super::") {
                for name in first_names(rest).into_iter().filter(is_above) {
                    let text = format!("the layer {layer:?} imports from {name:?}, which is above");
                    findings.push(source.finding(line(before), text));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source {
            path: "a.rs".into(),
            text: text.to_owned(),
        }
    }

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn errors_derive_the_debug_of_errors() {
        let text = "\
/// One.
#[derive(Debug, Error)]
#[error(\"one\")]
pub struct One;

#[derive(jstream_derive::ErrorDebug, Clone, thiserror::Error)]
pub(crate) enum Two {
    #[error(\"two\")]
    Two,
}

#[derive(Debug)]
pub enum Three<T> {
    Three(T),
}

impl<T> std::error::Error for Three<T> {}

#[derive(Debug)]
pub struct Four;

impl TraceError for Four {}

#[derive(ErrorDebug)]
pub struct Five;

impl Error for Five {}

pub struct Six;

impl Error for Six {}

impl fmt::Debug for Six {}
";
        assert_eq!(lines(&error_debugs(&[source(text)])), [4, 29, 13]);
    }

    #[test]
    fn vague_openings_are_found_in_the_first_line_only() {
        let source = source(
            "//! What it does.\n\n/// Returns what it does.\n/// Which is nothing.\nfn a() {}\n\n    /// It does.\n\
            \n/// Items.\n//// What is no doc comment.\n// What is none either.\n",
        );
        assert_eq!(lines(&doc_openings(&source)), [1, 7]);
    }

    #[test]
    fn columns_of_comments_are_characters() {
        let short = format!("// {}", "ä".repeat(MAX_COLUMNS - 3));
        assert_eq!(long_lines(&source(&short)), []);
        let long = format!("fn a() {{}}\n{short}ä\nlet a = 1; {short}\n/// | {short} |\n");
        assert_eq!(lines(&long_lines(&source(&long))), [2]);
        let example = format!("/// ```\n/// {short}\n/// ```\n/// {short}\n");
        assert_eq!(lines(&long_lines(&source(&example))), [4]);
    }

    #[test]
    fn finds_odd_names_in_definitions() {
        for (line, name) in [
            ("fn a(b: u8) {}", Some("a")),
            ("    pub(crate) const unsafe fn a<T>() {", Some("a")),
            ("let mut a = 1;", Some("a")),
            ("let a: u8 = 1;", Some("a")),
            ("let (a, b) = c;", Some("")),
            ("    pub(in crate::a) a: u8,", Some("a")),
            ("    a: u8,", Some("a")),
            ("pub struct A;", None),
            ("a::b(c);", None),
            ("match_fn (a)", None),
            ("", None),
        ] {
            assert_eq!(defined_name(line), name, "{line}");
        }
        let text = "fn look_again() {}\n// let why = 1;\nlet later = a;\nlater_queue: u8,\nlet again = b;\n";
        assert_eq!(lines(&odd_names(&source(text), &[])), [1, 3, 5]);
        assert_eq!(lines(&odd_names(&source(text), &["again"])), [1, 3]);
    }

    #[test]
    fn layers_import_from_those_before_them() {
        let layers = ["low", "middle", "high"];
        let finds = |path: &str, text: &str| {
            let source = Source {
                path: path.into(),
                text: text.to_owned(),
            };
            lines(&upward_imports(&[source], &layers))
        };
        let below = "use crate::low::A;\nuse crate::middle::{B, C};\nuse super::high::D;\n";
        assert_eq!(finds("a/src/middle/b/c.rs", below), []);
        let above = "use crate::low::A;\n// crate::high\nfn a() { crate::high::b(); }\n";
        assert_eq!(finds("a/src/middle/b.rs", above), [3]);
        assert_eq!(finds("a/src/middle.rs", above), [3]);
        assert_eq!(finds("a/src/high/mod.rs", above), []);
        // The root and modules that are no layers may import everything, but nothing imports them.
        assert_eq!(finds("a/src/lib.rs", above), []);
        assert_eq!(finds("a/src/other.rs", above), []);
        assert_eq!(
            finds("a/src/high.rs", "use crate::other::A;\nuse crate::B;\n"),
            [1, 2]
        );
        let group = "use crate::{\n    low::{A, high},\n    high::B,\n};\n";
        assert_eq!(finds("a/src/middle.rs", group), [1]);
        let relative = "use super::A;\nuse super::super::high::B;\nuse super::super::low::C;\n";
        assert_eq!(finds("a/src/middle/b.rs", relative), [2]);
        assert_eq!(
            finds(
                "a/src/low.rs",
                "macro_rules! a { () => { $crate::high::b() } }"
            ),
            []
        );
    }
}
