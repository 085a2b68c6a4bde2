//! Two sides of a connection: one side leads and measures the time, and the other follows.

use std::hint::black_box;
use std::time::Instant;

use super::case::{Pattern, Touch, Work};
use crate::Failure;
use crate::measure::since;

/// Value of the bytes of a payload that is not rewritten for each message.
pub(super) const FILL: u8 = 1;

/// One side of a connection that carries messages.
pub(super) trait Channel {
    /// Sends a message of the case's length: the existing bytes, or bytes that are overwritten with
    /// `fill` first.
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure>;

    /// Receives a message. Returns its [`sum`] if `look`.
    fn recv(&mut self, look: bool) -> Result<u64, Failure>;
}

/// One side of a measurement over any kind of connection.
pub(super) trait Side {
    /// Runs a round as the leading side. Returns nanoseconds per message, as the median of all
    /// samples.
    fn lead(&mut self, work: &Work) -> Result<f64, Failure>;

    /// Runs a round as the following side.
    fn follow(&mut self, work: &Work) -> Result<(), Failure>;
}

/// A [`Side`] that uses a channel.
pub(super) struct Over<C> {
    channel: C,
    samples: Samples,
    /// Fill byte of the latest message, if the payload is rewritten for each message.
    turn: u8,
}

impl<C: Channel> Over<C> {
    pub(super) fn new(channel: C) -> Self {
        Self {
            channel,
            samples: Samples::default(),
            turn: 0,
        }
    }

    fn send(&mut self, touch: Touch) -> Result<(), Failure> {
        let fill = (touch == Touch::Dirty).then(|| {
            self.turn = self.turn.wrapping_add(1);
            self.turn
        });
        self.channel.send(fill)
    }

    fn recv(&mut self, work: &Work, touch: Touch) -> Result<(), Failure> {
        let sum = self.channel.recv(touch != Touch::Untouched)?;
        if touch == Touch::Clean && sum != expected(work.bytes) {
            return Err("the received bytes differ from the bytes sent".into());
        }
        black_box(sum);
        Ok(())
    }

    fn exchange(&mut self, work: &Work) -> Result<(), Failure> {
        match work.pattern {
            Pattern::Window(n) => {
                for _ in 0..n {
                    self.send(work.touch)?;
                }
            }
            _ => self.send(work.touch)?,
        }
        self.recv(work, work.touch)
    }
}

impl<C: Channel> Side for Over<C> {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let start = Instant::now();
            for _ in 0..work.batch {
                self.exchange(work)?;
            }
            self.samples.push(since(start, work.batch * work.share()));
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        for _ in 0..work.exchanges() {
            let first = match work.pattern {
                Pattern::Window(n) => n,
                _ => 1,
            };
            for _ in 0..first {
                self.recv(work, work.touch)?;
            }
            self.send(work.touch)?;
        }
        Ok(())
    }
}

/// Samples of a round, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    /// Discards the previous samples, and reserves capacity for `count`.
    pub(super) fn begin(&mut self, count: usize) {
        self.0.clear();
        self.0.reserve(count);
    }

    pub(super) fn push(&mut self, ns: f64) {
        self.0.push(ns);
    }

    /// Returns the median. The first sample is left out, since both sides have only just woken up.
    pub(super) fn median(&mut self) -> f64 {
        let Some(counted) = self.0.get_mut(1..) else {
            return f64::NAN;
        };
        counted.sort_unstable_by(f64::total_cmp);
        counted.get(counted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Returns the sum of the 8-byte words and of the remaining bytes, so that every byte is read.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest: u64 = words.remainder().iter().copied().map(u64::from).sum();
    // Each chunk has 8 bytes.
    let word = |chunk: &[u8]| chunk.try_into().map_or(0, u64::from_le_bytes);
    words.map(word).fold(rest, u64::wrapping_add)
}

/// Returns the [`sum`] of `bytes` bytes with the value [`FILL`].
fn expected(bytes: usize) -> u64 {
    let words = u64::from_le_bytes([FILL; 8]).wrapping_mul(bytes as u64 / 8);
    words.wrapping_add(u64::from(FILL) * (bytes as u64 % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_as_expected() {
        for bytes in [0, 1, 8, 13, 65_536] {
            assert_eq!(sum(&vec![FILL; bytes]), expected(bytes));
        }
        assert_ne!(sum(&[1, 1, 1, 1, 1, 1, 1, 2, 1]), expected(9));
    }

    #[test]
    fn the_first_sample_does_not_count() {
        let mut samples = Samples::default();
        for _ in 0..2 {
            samples.begin(4);
            for ns in [900.0, 3.0, 1.0, 2.0] {
                samples.push(ns);
            }
            assert_eq!(samples.median().to_bits(), 2f64.to_bits());
        }
    }
}
