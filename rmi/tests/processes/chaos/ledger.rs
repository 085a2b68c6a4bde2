//! A log of the calls that ran and of the outcomes that callers saw. The log is a file, so it
//! survives the processes that write to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream_rmi::Outcome;

/// An event of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Begun,
    Ran,
    /// The caller received a correct result.
    Result,
    /// The caller received an error.
    Failed(Outcome),
    /// The caller received a wrong result.
    Wrong,
}

const NOTES: [Note; 7] = [
    Note::Begun,
    Note::Ran,
    Note::Result,
    Note::Failed(Outcome::DidNotRun),
    Note::Failed(Outcome::MayHaveRun),
    Note::Failed(Outcome::Ran),
    Note::Wrong,
];

/// The writer of the log. Each record is written with one system call, so it survives the kill of
/// its writer.
pub(crate) struct Ledger {
    file: File,
    process: u64,
    next: AtomicU64,
}

impl Ledger {
    pub(crate) fn open(folder: &Path, process: u64) -> Self {
        let mut how = OpenOptions::new();
        let file = how.create(true).append(true).open(folder.join("ledger"));
        Self {
            file: file.unwrap(),
            process,
            next: AtomicU64::new(0),
        }
    }

    /// Starts a call of this process and returns its number.
    pub(crate) fn begin(&self) -> u64 {
        let call = self.process << 40 | self.next.fetch_add(1, Ordering::Relaxed);
        self.note(call, Note::Begun);
        call
    }

    pub(crate) fn note(&self, call: u64, note: Note) {
        let note = NOTES.iter().position(|other| *other == note).unwrap() as u64;
        let mut record = [0; 16];
        record[..8].copy_from_slice(&call.to_le_bytes());
        record[8..].copy_from_slice(&note.to_le_bytes());
        assert_eq!((&self.file).write(&record).unwrap(), record.len());
    }
}

/// The recorded events of one call.
#[derive(Default)]
struct Story {
    begun: usize,
    ran: usize,
    told: Vec<Note>,
}

/// A summary of the log.
pub(crate) struct Account {
    pub(crate) calls: usize,
    pub(crate) results: usize,
    pub(crate) failed: [usize; 3],
    /// Violations: calls whose events contradict each other.
    pub(crate) faults: Vec<String>,
}

/// Reads the log. Calls of `killed` processes may have no end.
pub(crate) fn read(folder: &Path, killed: &BTreeSet<u64>) -> Account {
    let bytes = std::fs::read(folder.join("ledger")).unwrap();
    let mut stories: BTreeMap<u64, Story> = BTreeMap::new();
    for record in bytes.chunks(16) {
        let word = |at| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
        let story = stories.entry(word(0)).or_default();
        match NOTES[usize::try_from(word(8)).unwrap()] {
            Note::Begun => story.begun += 1,
            Note::Ran => story.ran += 1,
            told => story.told.push(told),
        }
    }
    let mut account = Account {
        calls: stories.len(),
        results: 0,
        failed: [0; 3],
        faults: Vec::new(),
    };
    for (call, story) in stories {
        let was_killed = killed.contains(&(call >> 40));
        for told in &story.told {
            match told {
                Note::Result => account.results += 1,
                Note::Failed(outcome) => account.failed[*outcome as usize] += 1,
                _ => {}
            }
        }
        if let Some(fault) = fault(&story, was_killed) {
            let (process, call) = (call >> 40, call & ((1 << 40) - 1));
            let fault = format!("call {call} of process {process}: {fault}");
            account.faults.push(fault);
        }
    }
    account
}

fn fault(story: &Story, was_killed: bool) -> Option<&'static str> {
    if story.begun != 1 {
        return Some("ran without having been made");
    }
    if story.ran > 1 {
        return Some("ran twice");
    }
    let ran = story.ran == 1;
    match story.told[..] {
        [] if !was_killed => Some("has no end"),
        [] | [Note::Failed(Outcome::MayHaveRun)] => None,
        [Note::Wrong] => Some("has a wrong result"),
        [Note::Result] if !ran => Some("has a result and did not run"),
        [Note::Failed(Outcome::Ran)] if !ran => Some("was reported as run, but did not run"),
        [Note::Failed(Outcome::DidNotRun)] if ran => Some("was reported as not run, but ran"),
        [_] => None,
        _ => Some("has more than one end"),
    }
}
