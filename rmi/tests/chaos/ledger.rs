//! What ran, and what callers were told, in a file that outlives those who write to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream_rmi::Outcome;

/// What is noted of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Begun,
    Ran,
    /// Its caller has a right result.
    Result,
    /// Its caller has an error.
    Failed(Outcome),
    /// Its caller has a result that is wrong.
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

/// Each record is written at once and stays when its writer is killed.
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

    /// The number of a call that this process makes.
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

/// What is known of a call.
#[derive(Default)]
struct Story {
    begun: usize,
    ran: usize,
    told: Vec<Note>,
}

/// What the ledger says when all is over.
pub(crate) struct Account {
    pub(crate) calls: usize,
    pub(crate) results: usize,
    pub(crate) failed: [usize; 3],
    /// What may not be.
    pub(crate) faults: Vec<String>,
}

/// Reads the ledger. Processes that were killed may have left calls without an end.
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
        return Some("ran, and nobody has made it");
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
        [Note::Failed(Outcome::Ran)] if !ran => Some("is said to have run and did not"),
        [Note::Failed(Outcome::DidNotRun)] if ran => Some("is said not to have run and did"),
        [_] => None,
        _ => Some("has more than one end"),
    }
}
