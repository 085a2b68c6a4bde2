//! A pipeline of three processes over shared memory: the first reads the sources of this crate, the
//! second scans them, and the third adds up the findings. The stages exchange objects. The scanner
//! sends pieces of the texts in its receive buffers, without copying them first.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use jstream::Transportable;
use jstream_transport::{Address, Endpoint, Options, RecvError, RecvObjectError, connect, listen};

/// A source file, sent by the first stage.
#[derive(Transportable)]
struct Source {
    path: String,
    text: String,
}

/// The findings in a source file, sent by the second stage. The strings are pieces of the source.
#[derive(Transportable)]
struct Findings<'b> {
    path: &'b str,
    lines: u64,
    functions: &'b [Function<'b>],
}

#[derive(Transportable, Clone, Copy)]
struct Function<'b> {
    name: &'b str,
    line: u64,
    is_public: bool,
}

type Failure = Box<dyn Error + Send + Sync>;

const WAIT: Duration = Duration::from_secs(30);

fn sources(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs the first stage.
fn read(next: &Endpoint) -> Result<(), Failure> {
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))? {
        let text = fs::read_to_string(&path)?;
        let path = path.display().to_string();
        next.send(&Source { path, text })?;
    }
    Ok(next.finish()?)
}

/// Returns the function that begins on this line, if there is one.
fn function(line: &str, number: u64) -> Option<Function<'_>> {
    let (before, rest) = line.trim_start().split_once("fn ")?;
    let mut words = before.split_whitespace();
    if !words.all(|word| word.starts_with("pub") || matches!(word, "const" | "unsafe" | "async")) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(Function {
        name: rest.get(..end)?,
        line: number,
        is_public: before.starts_with("pub "),
    })
}

/// Runs the second stage. No text is copied before the findings are sent.
fn scan(before: &Endpoint, next: &Endpoint) -> Result<(), Failure> {
    loop {
        let source = match before.recv_within::<Source>(WAIT) {
            Ok(source) => source,
            Err(RecvObjectError::Receive(RecvError::Closed { .. })) => return Ok(next.finish()?),
            Err(error) => return Err(error.into()),
        };
        let source = source.get();
        let lines = (1u64..).zip(source.text.lines());
        let functions: Vec<_> = lines.filter_map(|(n, line)| function(line, n)).collect();
        next.send(&Findings {
            path: source.path,
            lines: u64::try_from(source.text.lines().count())?,
            functions: &functions,
        })?;
    }
}

/// Runs the third stage.
fn add_up(before: &Endpoint) -> Result<(), Failure> {
    let start = Instant::now();
    let (mut files, mut lines) = (0u64, 0u64);
    let mut names: BTreeMap<String, u64> = BTreeMap::new();
    let mut longest = (0, String::new());
    loop {
        let findings = match before.recv_within::<Findings<'static>>(WAIT) {
            Ok(findings) => findings,
            Err(RecvObjectError::Receive(RecvError::Closed { .. })) => break,
            Err(error) => return Err(error.into()),
        };
        let findings = findings.get();
        files = files.saturating_add(1);
        lines = lines.saturating_add(findings.lines);
        for function in findings
            .functions
            .iter()
            .filter(|function| function.is_public)
        {
            let count = names.entry(function.name.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        let starts = findings.functions.iter().map(|function| function.line);
        let between = starts.clone().zip(starts.skip(1).chain([findings.lines]));
        for ((start, end), function) in between.zip(findings.functions) {
            longest = longest.max((
                end.saturating_sub(start),
                format!("{} in {}", function.name, findings.path),
            ));
        }
    }
    if files == 0 {
        return Err("no source file arrived".into());
    }
    let most = names.iter().max_by_key(|(_, count)| **count);
    println!(
        "{files} files with {lines} lines and {} names of public functions, in {:.1?}; the most frequent name \
         is {most:?}, and the longest function is {}.",
        names.len(),
        start.elapsed(),
        longest.1,
    );
    Ok(())
}

fn stage(name: &str, addresses: [&Address; 2]) -> Result<Child, Failure> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(name).args(addresses.map(Address::to_string));
    Ok(command.spawn()?)
}

fn main() -> Result<(), Failure> {
    let options = Options::default();
    let words: Vec<String> = env::args().skip(1).collect();
    if let [name, here, next] = &words[..] {
        return if name == "scan" {
            let listener = listen(&here.parse()?, &options)?;
            let next = connect(&next.parse()?, &options)?;
            scan(&listener.accept_timeout(WAIT)?.establish()?, &next)
        } else {
            read(&connect(&next.parse()?, &options)?)
        };
    }
    let address = |name: &str| Address::shm(&format!("pipeline-{}-{name}", process::id()));
    let (scanner, here) = (address("scan")?, address("add-up")?);
    let listener = listen(&here, &options)?;
    let mut scans = stage("scan", [&scanner, &here])?;
    // The scanner listens before it connects.
    let before = listener.accept_timeout(WAIT)?.establish()?;
    let mut reads = stage("read", [&here, &scanner])?;
    let added = add_up(&before);
    for status in [reads.wait()?, scans.wait()?] {
        if !status.success() {
            return Err(format!("a stage ended with {status}").into());
        }
    }
    added
}
