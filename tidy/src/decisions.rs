//! Records of decisions, and the source files that name them.
//!
//! A record in force lists the files where its decision lives, and the module documentation of each
//! of them names the record. Other records name their successor, or say why they no longer hold.

use std::path::Path;

use crate::{Finding, Source};

/// Maximum number of files that a record lists.
pub const MAX_FILES: usize = 4;

/// Title of the section of a record that lists its files.
const FILES: &str = "## Files";

/// Names of the file whose module documentation is that of its folder.
const FOLDER_ROOTS: [&str; 3] = ["lib.rs", "main.rs", "mod.rs"];

/// The beginning and the end of the mark of a record that has a successor.
const SUPERSEDED: [&str; 2] = ["Superseded by ", "."];

/// The beginning of the mark of a record that has none.
const ENDED: &str = "No longer holds: ";

/// The validity of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing<'s> {
    InForce,
    /// The record has a successor, of which this is the link.
    Superseded(&'s str),
    /// The decision no longer holds, and has no successor.
    Ended,
}

/// A record of a decision.
#[derive(Debug)]
struct Record<'s> {
    source: &'s Source,
    /// Name of the file.
    name: &'s str,
    /// The three digits with which `name` begins.
    number: &'s str,
    title: &'s str,
    standing: Standing<'s>,
    /// The paths that the record lists, with their lines. The path of a folder ends with a slash.
    files: Vec<(usize, &'s str)>,
}

/// A comment of a source file that names a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reference<'s> {
    line: usize,
    number: &'s str,
    /// True if the comment is the documentation of the module.
    is_module_doc: bool,
}

/// Finds contradictions between the records of decisions, their index, and the source files. All
/// paths are those from the root of the repository.
#[must_use]
pub fn decision_findings(records: &[Source], index: &Source, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut parsed: Vec<Record<'_>> = records
        .iter()
        .filter_map(|source| Record::parse(source, &mut findings))
        .collect();
    parsed.sort_by_key(|record| record.name);
    for pair in parsed.windows(2) {
        if let [first, second] = pair
            && first.number == second.number
        {
            let text = format!("{} has the number {}, too", first.name, first.number);
            findings.push(second.source.finding(1, text));
        }
    }
    for record in &parsed {
        record.check(&parsed, sources, &mut findings);
    }
    for source in sources {
        check_references(source, &parsed, &mut findings);
    }
    check_index(index, &parsed, &mut findings);
    findings
}

impl<'s> Record<'s> {
    /// Parses a record. Returns `None` and adds a finding if it has no number or title.
    fn parse(source: &'s Source, findings: &mut Vec<Finding>) -> Option<Self> {
        let name = source.path.file_name()?.to_str()?;
        let number = name.split_once('-').map(|(number, _)| number);
        let Some(number) = number.filter(|number| is_number(number)) else {
            let text = "the name of a record begins with three digits and `-`".to_owned();
            findings.push(source.finding(1, text));
            return None;
        };
        let first = source.text.lines().next().unwrap_or_default();
        let title = first
            .strip_prefix("# ")
            .and_then(|rest| rest.strip_prefix(number))
            .and_then(|rest| rest.strip_prefix(": "));
        let Some(title) = title else {
            let text = format!("the first line is not `# {number}: TITLE`");
            findings.push(source.finding(1, text));
            return None;
        };
        let mark = source.text.lines().skip(1).find(|line| !line.is_empty());
        let mark = mark.unwrap_or_default();
        let [before, after] = SUPERSEDED;
        let successor = mark.strip_prefix(before);
        let standing = match successor.and_then(|rest| rest.strip_suffix(after)) {
            Some(link) => Standing::Superseded(link),
            None if mark.starts_with(ENDED) => Standing::Ended,
            None => Standing::InForce,
        };
        let mut files = Vec::new();
        let section = source.lines().skip_while(|(_, line)| *line != FILES);
        for (number, line) in section.skip(1).filter(|(_, line)| !line.is_empty()) {
            let path = line
                .strip_prefix("- `")
                .and_then(|rest| rest.strip_suffix('`'));
            if let Some(path) = path {
                files.push((number, path));
            } else {
                let text = format!("{FILES:?} is the last section, and its lines are \"- `PATH`\"");
                findings.push(source.finding(number, text));
            }
        }
        Some(Self {
            source,
            name,
            number,
            title,
            standing,
            files,
        })
    }

    /// Returns a Markdown link to the record, whose text is its number.
    fn link(&self) -> String {
        format!("[{}]({})", self.number, self.name)
    }

    /// Returns true if the record lists `path`, or a folder that contains it.
    fn lists(&self, path: &Path) -> bool {
        self.files
            .iter()
            .any(|(_, file)| match file.ends_with('/') {
                true => path.starts_with(file),
                false => path == Path::new(file),
            })
    }

    /// Checks the validity of the record, and the files that it lists.
    fn check(&self, records: &[Record<'_>], sources: &[Source], findings: &mut Vec<Finding>) {
        let has_section = self.source.text.lines().any(|line| line == FILES);
        if self.standing == Standing::InForce {
            if self.files.is_empty() || self.files.len() > MAX_FILES {
                let text = format!(
                    "the record lists {} files in {FILES:?}; list 1 to {MAX_FILES}, or say below \
                     the title that it is superseded or no longer holds",
                    self.files.len()
                );
                findings.push(self.source.finding(1, text));
            }
        } else if has_section {
            let text = format!("the record is not in force, so it has no section {FILES:?}");
            findings.push(self.source.finding(1, text));
        }
        if let Standing::Superseded(link) = self.standing
            && !records
                .iter()
                .any(|other| other.link() == link && other.number != self.number)
        {
            let text = format!("the successor {link} is no link to another record");
            findings.push(self.source.finding(1, text));
        }
        for (line, file) in &self.files {
            let Some(root) = sources.iter().find(|source| is_root_of(&source.path, file)) else {
                let text = format!("`{file}` is no Rust source, and no folder of a module");
                findings.push(self.source.finding(*line, text));
                continue;
            };
            let is_named = references(root)
                .iter()
                .any(|reference| reference.is_module_doc && reference.number == self.number);
            if !is_named {
                let text = format!(
                    "the module documentation of `{}` does not name the record: `//! Decision {} \
                     has the reasons.`",
                    root.path.display(),
                    self.number
                );
                findings.push(self.source.finding(*line, text));
            }
        }
    }

    /// Returns the row of the record in the index.
    fn index_row(&self) -> String {
        let Self {
            name,
            number,
            title,
            ..
        } = self;
        let mark = match self.standing {
            Standing::InForce => String::new(),
            Standing::Superseded(link) => format!(", superseded by {link}"),
            Standing::Ended => ", no longer holds".to_owned(),
        };
        format!("| {number} | [{title}]({name}){mark} |")
    }
}

/// Returns true if `text` has the form of the number of a record.
fn is_number(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if `path` is `listed`, or has the module documentation of the folder `listed`.
fn is_root_of(path: &Path, listed: &str) -> bool {
    match listed.ends_with('/') {
        true => FOLDER_ROOTS
            .iter()
            .any(|name| path == Path::new(listed).join(name)),
        false => path == Path::new(listed),
    }
}

/// Finds the numbers of records in the comments of a source file: those after the word "decision"
/// or "decisions", and perhaps "record" or "records".
fn references(source: &Source) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let (mut is_after_decision, mut was_module_doc) = (false, false);
    for (line, text) in source.lines() {
        let text = text.trim_start();
        let is_module_doc = text.starts_with("//!");
        if !text.starts_with("//") || is_module_doc != was_module_doc {
            is_after_decision = false;
        }
        was_module_doc = is_module_doc;
        let Some(comment) = text.strip_prefix("//") else {
            continue;
        };
        for word in comment.split_whitespace() {
            let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
            if is_after_decision && is_number(word) {
                found.push(Reference {
                    line,
                    number: word,
                    is_module_doc,
                });
            } else if word.eq_ignore_ascii_case("decision")
                || word.eq_ignore_ascii_case("decisions")
            {
                is_after_decision = true;
            } else if !["", "and", "or", "record", "records"].contains(&word) {
                is_after_decision = false;
            }
        }
    }
    found
}

/// Checks the records that a source file names.
fn check_references(source: &Source, records: &[Record<'_>], findings: &mut Vec<Finding>) {
    for Reference { line, number, .. } in references(source) {
        let record = records.iter().find(|record| record.number == number);
        let text = match record {
            None => format!("there is no record of decision {number}"),
            Some(record) if record.standing != Standing::InForce => {
                format!("decision {number} is not in force; see {}", record.name)
            }
            Some(record) if !record.lists(&source.path) => {
                format!("{} does not list this file in {FILES:?}", record.name)
            }
            Some(_) => continue,
        };
        findings.push(source.finding(line, text));
    }
}

/// Checks that the index has the rows of all records, in the order of their numbers. Finds only the
/// first difference.
fn check_index(index: &Source, records: &[Record<'_>], findings: &mut Vec<Finding>) {
    let mut rows = index
        .lines()
        .filter(|(_, line)| line.starts_with("| ") && !line.starts_with("| no. "));
    for record in records {
        let expected = record.index_row();
        let (line, row) = rows.next().unwrap_or((1, "missing"));
        if row != expected {
            let text = format!("the next row is not `{expected}`, but {row}");
            findings.push(index.finding(line, text));
            return;
        }
    }
    if let Some((line, _)) = rows.next() {
        let text = "no record has this row".to_owned();
        findings.push(index.finding(line, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two records in force, one that is superseded and one that no longer holds, with their index
    /// and the files that they list.
    struct Repository {
        records: Vec<Source>,
        index: Source,
        sources: Vec<Source>,
    }

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    impl Repository {
        fn new() -> Self {
            let records = [
                ("001-a.md", "# 001: A\n\n## Files\n\n- `a/x.rs`\n- `a/f/`\n"),
                ("002-b.md", "# 002: B\n\nSuperseded by [003](003-c.md).\n"),
                ("003-c.md", "# 003: C\n\nText.\n\n## Files\n\n- `a/x.rs`\n"),
                ("004-d.md", "# 004: D\n\nNo longer holds: reason.\n"),
            ];
            let index = "| no. | decision |\n|---|---|\n| 001 | [A](001-a.md) |\n\
                         | 002 | [B](002-b.md), superseded by [003](003-c.md) |\n\
                         | 003 | [C](003-c.md) |\n| 004 | [D](004-d.md), no longer holds |\n";
            Self {
                records: records.map(|(path, text)| source(path, text)).to_vec(),
                index: source("README.md", index),
                sources: vec![
                    source(
                        "a/f/mod.rs",
                        "//! F, for which decision\n//! record 001 is.\n",
                    ),
                    source("a/f/y.rs", "//! Y.\n"),
                    source("a/x.rs", "//! X.\n//!\n//! Decisions 001 and 003 are.\n"),
                ],
            }
        }

        /// Replaces `from`, which occurs once in the file `path`.
        fn with(mut self, path: &str, from: &str, to: &str) -> Self {
            let pages = [&mut self.index];
            let files = self.records.iter_mut().chain(&mut self.sources);
            let mut replaced = Vec::new();
            for file in files.chain(pages) {
                if file.path == Path::new(path) {
                    replaced.push(file.text.matches(from).count());
                    file.text = file.text.replace(from, to);
                }
            }
            assert_eq!(replaced, [1], "{from:?} in {path}");
            self
        }

        fn findings(&self) -> Vec<String> {
            decision_findings(&self.records, &self.index, &self.sources)
                .iter()
                .map(Finding::to_string)
                .collect()
        }
    }

    #[test]
    fn records_and_sources_that_name_one_another_are_accepted() {
        assert_eq!(Repository::new().findings(), [""; 0]);
    }

    #[test]
    fn records_in_force_list_files() {
        let repository = Repository::new()
            .with("003-c.md", "## Files\n\n- `a/x.rs`\n", "")
            .with("a/x.rs", "Decisions 001 and 003 are", "Decision 001 is");
        let text = "003-c.md:1: the record lists 0 files in \"## Files\"; list 1 to 4, or say below \
                    the title that it is superseded or no longer holds";
        assert_eq!(repository.findings(), [text]);
        let line = "- `a/x.rs`\n";
        let repository = Repository::new().with("003-c.md", line, &line.repeat(5));
        assert_eq!(
            repository.findings(),
            [text.replace("lists 0", "lists 5").as_str()]
        );
        let repository = Repository::new().with("003-c.md", line, "- `a/x.rs`\n\nMore.\n");
        assert_eq!(
            repository.findings(),
            ["003-c.md:9: \"## Files\" is the last section, and its lines are \"- `PATH`\""]
        );
    }

    #[test]
    fn records_that_are_not_in_force_list_none() {
        for path in ["002-b.md", "004-d.md"] {
            let mut repository = Repository::new();
            let record = repository.records.iter_mut();
            for record in record.filter(|record| record.path == Path::new(path)) {
                record.text.push_str("\n## Files\n");
            }
            let text =
                format!("{path}:1: the record is not in force, so it has no section \"## Files\"");
            assert_eq!(repository.findings(), [text]);
        }
    }

    #[test]
    fn listed_files_exist() {
        for (from, to) in [("`a/x.rs`", "`a/z.rs`"), ("`a/f/`", "`a/g/`")] {
            let repository = Repository::new().with("001-a.md", from, to);
            let findings = repository.findings();
            let text = format!("{to} is no Rust source, and no folder of a module");
            assert!(findings.iter().any(|finding| finding.ends_with(&text)));
        }
    }

    #[test]
    fn listed_files_name_the_record() {
        let text = "003-c.md:7: the module documentation of `a/x.rs` does not name the record: \
                    `//! Decision 003 has the reasons.`";
        for to in [
            "001",
            "001 and 3",
            "001.\n//! The number 003",
            "001.\n\n// Decision 003",
        ] {
            let repository = Repository::new().with("a/x.rs", "001 and 003", to);
            assert_eq!(repository.findings(), [text]);
        }
        let repository = Repository::new().with("a/f/mod.rs", "record 001", "record");
        assert_eq!(
            repository.findings(),
            [
                "001-a.md:6: the module documentation of `a/f/mod.rs` does not name the record: \
              `//! Decision 001 has the reasons.`"
            ]
        );
    }

    #[test]
    fn records_that_sources_name_exist_and_list_them() {
        let with = |number: &str| {
            let comment = format!("//! Y.\n\n    // Decision {number}.\n");
            Repository::new().with("a/f/y.rs", "//! Y.\n", &comment)
        };
        for (number, text) in [
            ("005", "there is no record of decision 005"),
            ("002", "decision 002 is not in force; see 002-b.md"),
            ("004", "decision 004 is not in force; see 004-d.md"),
            ("003", "003-c.md does not list this file in \"## Files\""),
        ] {
            assert_eq!(with(number).findings(), [format!("a/f/y.rs:3: {text}")]);
        }
        // A file below a folder that the record lists may name the record.
        assert_eq!(with("001").findings(), [""; 0]);
    }

    #[test]
    fn successors_are_other_records() {
        let to_index = |link: &str| format!("superseded by {link}");
        for link in [
            "[005](005-e.md)",
            "[003](003-e.md)",
            "[002](002-b.md)",
            "003",
        ] {
            let repository = Repository::new()
                .with("002-b.md", "[003](003-c.md)", link)
                .with(
                    "README.md",
                    "superseded by [003](003-c.md)",
                    &to_index(link),
                );
            let text = format!("002-b.md:1: the successor {link} is no link to another record");
            assert_eq!(repository.findings(), [text]);
        }
    }

    #[test]
    fn records_have_a_number_and_a_title() {
        let mut repository = Repository::new();
        repository.records.push(source("e.md", "# 005: E\n"));
        assert_eq!(
            repository.findings(),
            ["e.md:1: the name of a record begins with three digits and `-`"]
        );
        let mut repository = Repository::new();
        repository.records.push(source("005-e.md", "# 006: E\n"));
        assert_eq!(
            repository.findings(),
            ["005-e.md:1: the first line is not `# 005: TITLE`"]
        );
        let mut repository = Repository::new();
        let text = "# 004: E\n\nNo longer holds: reason.\n";
        repository.records.push(source("004-e.md", text));
        repository
            .index
            .text
            .push_str("| 004 | [E](004-e.md), no longer holds |\n");
        assert_eq!(
            repository.findings(),
            ["004-e.md:1: 004-d.md has the number 004, too"]
        );
    }

    #[test]
    fn the_index_has_the_rows_of_all_records_in_order() {
        let third = "| 003 | [C](003-c.md) |\n";
        let repository = Repository::new().with("README.md", third, "");
        let text = "README.md:5: the next row is not `| 003 | [C](003-c.md) |`, but \
                    | 004 | [D](004-d.md), no longer holds |";
        assert_eq!(repository.findings(), [text]);
        let repository = Repository::new().with("README.md", third, &third.repeat(2));
        let text = "README.md:6: the next row is not `| 004 | [D](004-d.md), no longer holds |`, \
                    but | 003 | [C](003-c.md) |";
        assert_eq!(repository.findings(), [text]);
        for (from, to, line) in [
            ("[C]", "[See]", 5),
            (", superseded by [003](003-c.md)", "", 4),
            (", no longer holds", "", 6),
        ] {
            let findings = Repository::new().with("README.md", from, to).findings();
            let start = format!("README.md:{line}: the next row is not `");
            assert!(findings.len() == 1 && findings.iter().all(|text| text.starts_with(&start)));
        }
        let last = "| 004 | [D](004-d.md), no longer holds |\n";
        let repository = Repository::new().with("README.md", last, "");
        let text = format!(
            "README.md:1: the next row is not `{}`, but missing",
            last.trim_end()
        );
        assert_eq!(repository.findings(), [text]);
        let repository = Repository::new().with("README.md", last, &format!("{last}| 005 | E |\n"));
        assert_eq!(
            repository.findings(),
            ["README.md:7: no record has this row"]
        );
    }
}
