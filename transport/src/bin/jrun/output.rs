//! Output of the processes of a job.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use crate::labels::Lines;
use crate::relay::{Relay, Target};

/// A destination of the output of processes. The number of a stream is twice that of its process,
/// plus 1 for errors.
pub(crate) trait JobOutput {
    /// Returns false while output has to wait in the processes.
    fn has_room(&self) -> bool;

    /// Takes output of a stream.
    fn push(&mut self, stream: usize, bytes: &[u8]);

    /// Notes that a stream has ended.
    fn end(&mut self, stream: usize);
}

/// The output of all processes of a job: labelled lines, or unchanged bytes in files.
pub(crate) struct LabelledOutput {
    relay: Relay,
    streams: Vec<(Lines, Target)>,
}

impl LabelledOutput {
    /// Creates the output of processes with these labels, if there are any. `files` are empty, or
    /// one for each stream.
    pub(crate) fn new(labels: Vec<Option<String>>, files: Vec<File>) -> io::Result<Self> {
        let has_files = !files.is_empty();
        let labels = labels.into_iter().flat_map(|label| [label.clone(), label]);
        let streams = labels.enumerate().map(|(number, label)| {
            let target = match (has_files, number & 1) {
                (true, _) => Target::File(number),
                (false, 0) => Target::Output,
                (false, _) => Target::Errors,
            };
            (Lines::new(label.filter(|_| !has_files)), target)
        });
        Ok(Self {
            streams: streams.collect(),
            relay: Relay::start(files)?,
        })
    }

    /// Writes errors of `ssh`.
    pub(crate) fn write_errors(&self, lines: Vec<u8>) {
        self.relay.write(Target::Errors, lines);
    }

    /// Returns the first error of writing, once.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.relay.failure()
    }

    /// Returns a descriptor that becomes readable when there is room again.
    pub(crate) fn changed(&self) -> BorrowedFd<'_> {
        self.relay.changed()
    }

    /// Writes the begun lines, and waits until everything is written, at most until a moment.
    /// Returns the error of writing.
    pub(crate) fn finish(mut self, until: Option<Instant>) -> Option<io::Error> {
        for (lines, target) in &mut self.streams {
            self.relay.write(*target, lines.end());
        }
        self.relay.finish(until)
    }
}

impl JobOutput for LabelledOutput {
    fn has_room(&self) -> bool {
        self.relay.has_room()
    }

    fn push(&mut self, stream: usize, bytes: &[u8]) {
        if let Some((lines, target)) = self.streams.get_mut(stream) {
            self.relay.write(*target, lines.push(bytes));
        }
    }
    fn end(&mut self, stream: usize) {
        if let Some((lines, target)) = self.streams.get_mut(stream) {
            self.relay.write(*target, lines.end());
        }
    }
}
