//! Test loops that read damaged messages. They do not depend on the type of the messages.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::damage::{Boundary, bytes_instead_of};
use super::finding::{Finding, Tally, Wrong};
use super::places::Places;
use crate::read::{Limits, ReadError, Reader};

/// Reads a message and uses its object; returns the error if the message is refused.
pub(super) type Use<'k> = dyn Fn(&mut Reader, &[u8]) -> Result<Option<ReadError>, Wrong> + 'k;

/// A sound message, and how it is tested.
pub(super) struct Attack<'k> {
    /// Name of the type.
    pub(super) of: &'static str,
    pub(super) sound: &'k [u8],
    pub(super) limits: Limits,
    /// Maximum number of messages for each kind of damage.
    pub(super) most: usize,
    /// Reader that is reused for all messages.
    pub(super) reader: &'k RefCell<Reader>,
    pub(super) uses: &'k Use<'k>,
}

/// The messages of one kind of damage.
struct Run<'a, 'k> {
    attack: &'a Attack<'k>,
    tally: Tally,
}

impl Attack<'_> {
    pub(super) fn finding(&self, wrong: Wrong, message: &[u8]) -> Finding {
        Finding::new(self.of, wrong, self.sound, message)
    }

    /// Reads one message; returns true if it is accepted.
    pub(super) fn one(&self, message: &[u8]) -> Result<bool, Finding> {
        self.run().accepts(message)
    }

    /// Truncates the message at every length, and extends it.
    pub(super) fn lengths(&self) -> Result<Tally, Finding> {
        let mut run = self.run();
        let mut longer = self.sound.to_vec();
        let extended = [0, 0, 1, 0xff].map(|more| {
            longer.push(more);
            longer.clone()
        });
        let stride = self.stride(self.sound.len());
        let cut = (0..self.sound.len()).rev().step_by(stride);
        let cut = cut.filter_map(|len| self.sound.get(..len));
        for message in cut.chain(extended.iter().map(Vec::as_slice)) {
            if run.accepts(message)? {
                return Err(self.finding(Wrong::Accepted, message));
            }
        }
        run.end()
    }

    /// Replaces each byte by several others.
    pub(super) fn bytes(&self) -> Result<Tally, Finding> {
        let mut run = self.run();
        let mut bytes = self.sound.to_vec();
        let stride = self.stride(self.sound.len().saturating_mul(8));
        for (at, own) in self.sound.iter().enumerate().step_by(stride) {
            for byte in bytes_instead_of(*own).chain([*own]) {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
                if byte != *own {
                    run.accepts(&bytes)?;
                }
            }
        }
        run.end()
    }

    /// Replaces each place by boundary values and by the values of other places.
    pub(super) fn structure(&self, places: &Places) -> Result<Tally, Finding> {
        let mut run = self.run();
        let boundary = Boundary::new(self.sound, places);
        let mut all = Vec::new();
        for place in &places.all {
            let values = boundary.values(place);
            all.extend(values.into_iter().map(|value| (place, value)));
        }
        let mut bytes = self.sound.to_vec();
        for (place, value) in all.iter().step_by(self.stride(all.len())) {
            if boundary.put(&mut bytes, place, *value) {
                run.accepts(&bytes)?;
            }
            bytes.copy_from_slice(self.sound);
        }
        boundary.aliases(|bytes| run.accepts(bytes).map(drop))?;
        run.end()
    }

    /// Returns the step by which to choose from `count` messages.
    fn stride(&self, count: usize) -> usize {
        count.div_ceil(self.most.max(1)).max(1)
    }

    fn run(&self) -> Run<'_, '_> {
        self.reader.borrow_mut().set_limits(self.limits);
        Run {
            attack: self,
            tally: Tally::default(),
        }
    }
}

impl Run<'_, '_> {
    /// Reads a message and uses its object; returns true if it is accepted. The program must not
    /// panic.
    fn accepts(&mut self, message: &[u8]) -> Result<bool, Finding> {
        let used = catch_unwind(AssertUnwindSafe(|| {
            (self.attack.uses)(&mut self.attack.reader.borrow_mut(), message)
        }));
        let wrong = match used {
            Ok(Ok(None)) => {
                self.tally.accepted = self.tally.accepted.saturating_add(1);
                return Ok(true);
            }
            Ok(Ok(Some(error))) if !error.to_string().is_empty() => {
                self.tally.refused = self.tally.refused.saturating_add(1);
                return Ok(false);
            }
            Ok(Ok(Some(error))) => Wrong::Refused(error),
            Ok(Err(wrong)) => wrong,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or(panic.downcast_ref::<&str>().map(ToString::to_string));
                Wrong::Panicked(text.unwrap_or_default())
            }
        };
        Err(self.attack.finding(wrong, message))
    }

    /// Reads the sound message, to check that the refused ones left the reader intact.
    fn end(self) -> Result<Tally, Finding> {
        let tally = self.tally;
        let sound = self.attack.sound;
        let wrong = match (self.attack.uses)(&mut self.attack.reader.borrow_mut(), sound) {
            Ok(None) => return Ok(tally),
            Ok(Some(error)) => Wrong::Refused(error),
            Err(wrong) => wrong,
        };
        Err(self.attack.finding(wrong, sound))
    }
}
