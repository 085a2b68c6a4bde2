//! Estimates of what serialization costs an application: the time to write and read one message,
//! times the number of messages, as in section 4.3.3 of the thesis on jstreams.

use std::hint::black_box;
use std::ops::Add;
use std::time::Instant;

use jstream::{EmptyBuffer, Limits, Reader, Received, Transportable, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::measure::since;

/// Number of measurements of which the median is taken.
const ROUNDS: usize = 31;

/// Messages of a measurement.
const MESSAGES: usize = 32;

/// Times of the serialization of a message in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) write: f64,
    pub(super) read: f64,
}

impl Cost {
    /// Returns the time to write a message once and read it at `readers` receivers.
    pub(super) fn read_by(self, readers: usize) -> Self {
        Self {
            read: self.read * readers as f64,
            ..self
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            write: self.write + other.write,
            read: self.read + other.read,
        }
    }
}

/// Returns the times in which a call writes `value`, without copying large arrays, and its receiver
/// reads it in place.
pub(super) fn in_place<T: Transportable + 'static>(value: &T) -> Result<Cost, Failure> {
    let mut limits = Limits::default();
    limits.depth = None;
    let (mut writer, mut reader) = (Writer::with_limits(limits), Reader::new(limits));
    let length = writer.message_len(value)?;
    let mut empty: Vec<_> = (0..MESSAGES).map(|_| EmptyBuffer::heap(length)).collect();
    median_of(|| {
        let start = Instant::now();
        for _ in 0..MESSAGES {
            writer.gather(black_box(value), |segments| {
                black_box(segments);
            })?;
        }
        let write = since(start, MESSAGES);
        // The device fills the buffers; this is not part of serialization.
        let mut filled = Vec::with_capacity(MESSAGES);
        for buffer in empty.drain(..) {
            filled.push(writer.write(value, buffer)?);
        }
        let mut received: Vec<Received<T>> = Vec::with_capacity(MESSAGES);
        let start = Instant::now();
        for message in filled {
            received.push(reader.read::<T>(message)?);
        }
        let read = since(start, MESSAGES);
        black_box(&received);
        empty.extend(received.into_iter().map(Received::into_empty));
        Ok(Cost { write, read })
    })
}

/// Returns the times in which postcard writes `value` to a buffer that it allocates, and allocates
/// and reads a copy of it.
pub(super) fn copied<T: Serialize + DeserializeOwned>(value: &T) -> Result<Cost, Failure> {
    median_of(|| {
        let start = Instant::now();
        let mut messages = Vec::with_capacity(MESSAGES);
        for _ in 0..MESSAGES {
            messages.push(postcard::to_allocvec(black_box(value))?);
        }
        let write = since(start, MESSAGES);
        let start = Instant::now();
        for message in messages {
            let copy: T = postcard::from_bytes(black_box(&message))?;
            black_box(copy);
        }
        Ok(Cost {
            write,
            read: since(start, MESSAGES),
        })
    })
}

fn median_of(mut round: impl FnMut() -> Result<Cost, Failure>) -> Result<Cost, Failure> {
    let rounds = (0..ROUNDS).map(|_| round());
    let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
    let median = |time: fn(&Cost) -> f64| {
        let mut times: Vec<_> = rounds.iter().map(time).collect();
        times.sort_unstable_by(f64::total_cmp);
        times.get(ROUNDS / 2).copied().unwrap_or(f64::NAN)
    };
    Ok(Cost {
        write: median(|cost| cost.write),
        read: median(|cost| cost.read),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_take_time() {
        let value = vec![0.5f64; 100];
        for cost in [in_place(&value).unwrap(), copied(&value).unwrap()] {
            assert!(cost.write > 0.0 && cost.read > 0.0, "{cost:?}");
        }
    }
}
