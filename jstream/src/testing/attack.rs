//! Damaged messages, one after another, and what becomes of them. Nothing here knows their type.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::damage::{Boundary, bytes_instead_of};
use super::finding::{Finding, Tally, Wrong};
use super::places::Places;
use crate::read::{Limits, ReadError, Reader};

/// Reads a message, and uses what it holds; gives the error if it is refused.
pub(super) type Use<'k> = dyn Fn(&mut Reader, &[u8]) -> Result<Option<ReadError>, Wrong> + 'k;

/// A sound message, and what is done to it.
pub(super) struct Attack<'k> {
    /// The type's name.
    pub(super) of: &'static str,
    pub(super) sound: &'k [u8],
    pub(super) limits: Limits,
    /// The most messages to be made in each way of damaging.
    pub(super) most: usize,
    /// One reader for all of it.
    pub(super) reader: &'k RefCell<Reader>,
    pub(super) uses: &'k Use<'k>,
}

/// Messages of one way of damaging.
struct Run<'a, 'k> {
    attack: &'a Attack<'k>,
    tally: Tally,
}

impl Attack<'_> {
    pub(super) fn finding(&self, wrong: Wrong, message: &[u8]) -> Finding {
        Finding::new(self.of, wrong, self.sound, message)
    }

    /// Whether one message is accepted.
    pub(super) fn one(&self, message: &[u8]) -> Result<bool, Finding> {
        self.run().accepts(message)
    }

    /// Cuts the message short everywhere, and makes it longer.
    pub(super) fn lengths(&self) -> Result<Tally, Finding> {
        let mut run = self.run();
        let mut longer = self.sound.to_vec();
        let extended = [0, 0, 1, 0xff].map(|more| {
            longer.push(more);
            longer.clone()
        });
        let step = self.step(self.sound.len());
        let cut = (0..self.sound.len()).rev().step_by(step);
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
        let step = self.step(self.sound.len().saturating_mul(8));
        for (at, own) in self.sound.iter().enumerate().step_by(step) {
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

    /// Replaces what stands at the places by what is at the edge of what may, and by each other.
    pub(super) fn structure(&self, places: &Places) -> Result<Tally, Finding> {
        let mut run = self.run();
        let boundary = Boundary::of(self.sound, places);
        let mut all = Vec::new();
        for place in &places.all {
            let values = boundary.values(place);
            all.extend(values.into_iter().map(|value| (place, value)));
        }
        let mut bytes = self.sound.to_vec();
        for (place, value) in all.iter().step_by(self.step(all.len())) {
            if boundary.put(&mut bytes, place, *value) {
                run.accepts(&bytes)?;
            }
            bytes.copy_from_slice(self.sound);
        }
        boundary.aliases(|bytes| run.accepts(bytes).map(drop))?;
        run.end()
    }

    /// The distance between two of `count` messages that are tried.
    fn step(&self, count: usize) -> usize {
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
    /// Reads a message, and uses what it holds. Whatever the program does with it, it must not panic.
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

    /// Whatever the refused messages left behind must not harm the next one.
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
