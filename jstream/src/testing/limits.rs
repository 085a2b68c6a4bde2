//! Each limit, lowered to where it refuses a message.

use super::finding::{Finding, Tally, Wrong};
use super::{Kit, read};
use crate::model::Transportable;
use crate::read::{Limits, ReadError, Reader};

/// A limit: its name, its value, and how it is set.
type Limit = (&'static str, usize, fn(&mut Limits, usize));

impl<T: Transportable + 'static> Kit<T> {
    /// Lowers each limit to where it refuses a sound message, which it must do by its name.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn lowered_limits(&self, sound: &[u8]) -> Result<Tally, Finding> {
        let depth = self.limits.depth.map_or(usize::MAX, |depth| depth as usize);
        let all: [Limit; 5] = [
            ("bytes", self.limits.bytes, |limits, to| limits.bytes = to),
            ("zero_sized", self.limits.zero_sized, |limits, to| {
                limits.zero_sized = to;
            }),
            ("depth", depth, |limits, to| {
                limits.depth = u32::try_from(to).ok();
            }),
            ("pending", self.limits.pending, |limits, to| {
                limits.pending = to;
            }),
            ("shared", self.limits.shared, |limits, to| {
                limits.shared = to;
            }),
        ];
        let mut tally = Tally::default();
        for limit in all {
            tally = tally.and(self.lowered(sound, limit)?);
        }
        Ok(tally)
    }

    fn lowered(&self, sound: &[u8], (name, highest, set): Limit) -> Result<Tally, Finding> {
        let read_with = |limit| {
            let mut limits = self.limits;
            set(&mut limits, limit);
            read::<T>(&mut Reader::new(limits), sound).map(drop)
        };
        // The least that the message needs: more than `low`, at most `high`.
        let (mut low, mut high) = (0usize, highest);
        let mut tally = Tally::default();
        let fault = |limit, error| {
            let wrong = Wrong::Limit { name, limit, error };
            Finding::new::<T>(wrong, sound, sound)
        };
        let mut refused = |limit, error: ReadError| {
            tally.refused = tally.refused.saturating_add(1);
            if error.to_string().contains(&format!("Limits::{name}")) {
                Ok(())
            } else {
                Err(fault(limit, Some(error)))
            }
        };
        match read_with(0) {
            Ok(()) if name == "bytes" => return Err(fault(0, None)),
            Ok(()) => return Ok(tally),
            Err(error) => refused(0, error)?,
        }
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            match read_with(middle) {
                Ok(()) => high = middle,
                Err(error) => {
                    refused(middle, error)?;
                    low = middle;
                }
            }
        }
        if name == "bytes" && high != sound.len() {
            return Err(fault(high, None));
        }
        Ok(tally)
    }
}
