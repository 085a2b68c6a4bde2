//! Tests of each limit with values that are too low for a message.

use super::attack::Attack;
use super::finding::{Finding, Tally, Wrong};
use crate::read::{Limits, ReadError};

/// A limit: name, value and setter.
type Limit = (&'static str, usize, fn(&mut Limits, usize));

impl Attack<'_> {
    /// Lowers each limit until it refuses the sound message. The errors must name the limit.
    pub(super) fn lowered_limits(&self) -> Result<Tally, Finding> {
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
            tally.refused = tally.refused.saturating_add(self.lowered(limit)?);
        }
        Ok(tally)
    }

    /// Returns the number of times that a limit refused the message.
    fn lowered(&self, (name, highest, set): Limit) -> Result<usize, Finding> {
        let read_with = |limit| {
            let mut limits = self.limits;
            set(&mut limits, limit);
            let reader = &mut *self.reader.borrow_mut();
            reader.set_limits(limits);
            let used = (self.uses)(reader, self.sound);
            used.map_err(|wrong| self.finding(wrong, self.sound))
        };
        let fault = |limit, error| self.finding(Wrong::Limit { name, limit, error }, self.sound);
        let mut times = 0usize;
        let mut refused = |limit, error: ReadError| {
            times = times.saturating_add(1);
            if error.to_string().contains(&format!("Limits::{name}")) {
                Ok(())
            } else {
                Err(fault(limit, Some(error)))
            }
        };
        // Binary search for the minimum that the message needs: more than `low`, at most `high`.
        let (mut low, mut high) = (0usize, highest);
        match read_with(0)? {
            None if name == "bytes" => return Err(fault(0, None)),
            None => return Ok(0),
            Some(error) => refused(0, error)?,
        }
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            match read_with(middle)? {
                None => high = middle,
                Some(error) => {
                    refused(middle, error)?;
                    low = middle;
                }
            }
        }
        if name == "bytes" && high != self.sound.len() {
            return Err(fault(high, None));
        }
        Ok(times)
    }
}
