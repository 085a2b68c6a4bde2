//! The calls of a client process: their numbers, ends and latencies.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use super::ledger::{End, Order, ends_file};
use super::process::{each_line, tell};
use super::{MOST_PHASES, SERVERS};
use crate::Failure;

/// Part of a run to which a latency belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// Not measured.
    WarmUp,
    /// Before the fault.
    Undisturbed,
    Fault,
}

impl Period {
    const ALL: [Self; 3] = [Self::WarmUp, Self::Undisturbed, Self::Fault];
}

/// The present time as the parent has described it, shared by the lanes of a client.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Number of the phase. A phase begins when a fault begins, or a server has returned.
    phase: AtomicUsize,
    period: AtomicUsize,
    /// The server with a fault, whose latencies are not recorded.
    faulty: AtomicUsize,
    /// True if a server has answered in a phase.
    answered: [[AtomicBool; SERVERS]; MOST_PHASES],
    is_over: AtomicBool,
}

impl Present {
    /// Follows what the parent says until the standard input ends.
    pub(super) fn follow(&self) {
        each_line(|line| {
            let mut numbers = line.split(' ').map_while(|word| word.parse().ok());
            let mut next = || numbers.next().unwrap_or(usize::MAX);
            let (phase, period, faulty) = (next(), next(), next());
            self.faulty.store(faulty, Ordering::SeqCst);
            self.period.store(period, Ordering::SeqCst);
            self.phase.store(phase, Ordering::SeqCst);
        });
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Tells the parent if this is the first answer of a server in this phase.
    fn record_answer(&self, phase: usize, server: usize) {
        let answered = self.answered.get(phase).and_then(|phase| phase.get(server));
        if answered
            .is_some_and(|one| !one.load(Ordering::Relaxed) && !one.swap(true, Ordering::SeqCst))
        {
            // If the parent has ended, so does this process.
            let _ = tell(&first_answer(phase, server));
        }
    }
}

/// Returns the line that reports the first answer of a server in a phase.
pub(super) fn first_answer(phase: usize, server: usize) -> String {
    format!("first {phase} {server}")
}

/// Returns the line that tells a client about the present time.
pub(super) fn present_line(phase: usize, period: Period, faulty: Option<usize>) -> String {
    format!("{phase} {} {}", period as usize, faulty.unwrap_or(SERVERS))
}

/// Answer to an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) number: u64,
    pub(super) price: u64,
    pub(super) server: usize,
}

/// A call that was begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) order: Order,
    phase: usize,
    at: Instant,
}

/// A sequence of calls, one after the other.
pub(super) struct Lane<'p> {
    present: &'p Present,
    next: Order,
    ends: BufWriter<File>,
    /// Latencies of each period in nanoseconds.
    latencies: [Histogram<u64>; 3],
}

/// Creates a histogram of latencies in nanoseconds, with three significant digits.
fn histogram() -> Result<Histogram<u64>, Failure> {
    Ok(Histogram::new(3)?)
}

impl<'p> Lane<'p> {
    pub(super) fn open(folder: &Path, lane: u16, present: &'p Present) -> Result<Self, Failure> {
        Ok(Self {
            present,
            next: Order { lane, position: 0 },
            ends: BufWriter::new(File::create(ends_file(folder, lane))?),
            latencies: [histogram()?, histogram()?, histogram()?],
        })
    }

    pub(super) fn begin(&mut self) -> Begun {
        let order = self.next;
        self.next.position += 1;
        Begun {
            order,
            phase: self.present.phase.load(Ordering::SeqCst),
            at: Instant::now(),
        }
    }

    /// Records the end of a call.
    pub(super) fn end(&mut self, begun: Begun, end: Result<Answer, End>) -> Result<(), Failure> {
        let took = begun.at.elapsed().as_nanos() as u64;
        let number = begun.order.number();
        let end = match end {
            Ok(answer) if answer.number == number && answer.price == Order::price(number) => {
                // A call that was begun earlier may have been answered before the phase.
                self.present.record_answer(begun.phase, answer.server);
                if answer.server != self.present.faulty.load(Ordering::SeqCst) {
                    let period = self.present.period.load(Ordering::SeqCst);
                    if let Some(latencies) = self.latencies.get_mut(period) {
                        latencies.record(took)?;
                    }
                }
                End::Answered
            }
            Ok(_) => End::Wrong,
            Err(end) => end,
        };
        self.ends.write_all(&[end as u8])?;
        Ok(())
    }
}

/// Writes the latencies of all lanes of a client.
pub(super) fn save(folder: &Path, lanes: Vec<Lane<'_>>) -> Result<(), Failure> {
    let first = lanes.first().map_or(0, |lane| lane.next.lane);
    for period in Period::ALL {
        let mut all = histogram()?;
        for lane in &lanes {
            if let Some(latencies) = lane.latencies.get(period as usize) {
                all.add(latencies)?;
            }
        }
        let mut file = File::create(latencies_file(folder, first, period))?;
        V2Serializer::new()
            .serialize(&all, &mut file)
            .map_err(|error| format!("cannot write latencies: {error:?}"))?;
    }
    for mut lane in lanes {
        lane.ends.flush()?;
    }
    Ok(())
}

fn latencies_file(folder: &Path, first_lane: u16, period: Period) -> PathBuf {
    folder.join(format!("latencies-{first_lane}-{}", period as usize))
}

/// Returns the latencies of a period of several clients, named by their first lanes.
pub(super) fn load(
    folder: &Path,
    first_lanes: impl Iterator<Item = u16>,
    period: Period,
) -> Result<Histogram<u64>, Failure> {
    let mut all = histogram()?;
    for first in first_lanes {
        let mut file = File::open(latencies_file(folder, first, period))?;
        let one: Histogram<u64> = Deserializer::new()
            .deserialize(&mut file)
            .map_err(|error| format!("cannot read latencies: {error:?}"))?;
        all.add(&one)?;
    }
    Ok(all)
}
