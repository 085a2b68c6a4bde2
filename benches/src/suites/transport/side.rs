//! The two sides of a connection at work: one begins and takes the times, the other answers.

use std::hint::black_box;
use std::time::Instant;

use super::case::{Pattern, Touch, Work};
use crate::Failure;
use crate::measure::since;

/// What a payload is filled with where nobody makes it anew.
pub(super) const FILL: u8 = 1;

/// One side of whatever messages travel over.
pub(super) trait Channel {
    /// Sends a message of the case's length: bytes that stand ready, or `fill`, written anew.
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure>;

    /// Receives one, and returns [`sum`] of it if it should `look`.
    fn recv(&mut self, look: bool) -> Result<u64, Failure>;
}

/// One side at work, whatever it sends over.
pub(super) trait Side {
    /// Does its part of a round as the one that begins; nanoseconds per message, of the middle one of
    /// all samples.
    fn lead(&mut self, work: &Work) -> Result<f64, Failure>;

    /// Does its part as the other.
    fn follow(&mut self, work: &Work) -> Result<(), Failure>;
}

/// A [`Side`] of a channel.
pub(super) struct Over<C> {
    channel: C,
    samples: Samples,
    /// What messages are filled with, where they are made anew.
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
            return Err("what was received is not what was sent".into());
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

/// The samples of a round, in memory that stays.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    /// Forgets what was there, and makes room for `count`.
    pub(super) fn begin(&mut self, count: usize) {
        self.0.clear();
        self.0.reserve(count);
    }

    pub(super) fn push(&mut self, ns: f64) {
        self.0.push(ns);
    }

    /// The middle one, the first left out: both sides have just woken then.
    pub(super) fn median(&mut self) -> f64 {
        let Some(counted) = self.0.get_mut(1..) else {
            return f64::NAN;
        };
        counted.sort_unstable_by(f64::total_cmp);
        counted.get(counted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Looks at all bytes: their sum as words of 8, and what is left.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest: u64 = words.remainder().iter().copied().map(u64::from).sum();
    // Each chunk is of 8 bytes.
    let word = |chunk: &[u8]| chunk.try_into().map_or(0, u64::from_le_bytes);
    words.map(word).fold(rest, u64::wrapping_add)
}

/// The [`sum`] of so many bytes that nobody made anew.
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
