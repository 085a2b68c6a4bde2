//! The ledger of a run: which orders were executed, and how the calls that made them ended.
//!
//! The files of the ledger survive the processes that call and execute. A server appends the number
//! of each order before it answers, so that the number stays if the server is killed. A client
//! appends one byte for each call that has ended.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// Every fourth call is idempotent, so that its order may be executed several times.
const IDEMPOTENT: u64 = 4;

/// Number of an order: the lane of its caller, and its position among the calls of that lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) lane: u16,
    pub(super) position: u32,
}

impl Order {
    pub(super) fn number(self) -> u64 {
        u64::from(self.lane) << 32 | u64::from(self.position)
    }

    fn from_number(number: u64) -> Self {
        Self {
            lane: (number >> 32) as u16,
            position: number as u32,
        }
    }

    pub(super) fn is_idempotent(self) -> bool {
        u64::from(self.position) % IDEMPOTENT == IDEMPOTENT - 1
    }

    /// Returns the right answer to the order.
    pub(super) fn price(number: u64) -> u64 {
        number.wrapping_mul(3) ^ 1
    }
}

/// End of a call, as its caller was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum End {
    Answered = b'a',
    /// Answered by a wrong result.
    Wrong = b'w',
    /// Failed, and the order was not executed.
    DidNotRun = b'n',
    /// Failed, and the order may have been executed.
    MayHaveRun = b'm',
    /// Failed, and the order was executed.
    Ran = b'r',
}

impl End {
    fn from_byte(byte: u8) -> Option<Self> {
        [
            Self::Answered,
            Self::Wrong,
            Self::DidNotRun,
            Self::MayHaveRun,
            Self::Ran,
        ]
        .into_iter()
        .find(|end| *end as u8 == byte)
    }
}

/// The file into which a server writes the orders that it executes.
#[derive(Debug)]
pub(super) struct ExecutedFile(File);

impl ExecutedFile {
    pub(super) fn open(folder: &Path, server: usize) -> io::Result<Self> {
        let path = folder.join(format!("executed-{server}"));
        Ok(Self(
            OpenOptions::new().create(true).append(true).open(path)?,
        ))
    }

    /// Records an order. Other processes see it at once.
    pub(super) fn record(&self, number: u64) -> io::Result<()> {
        (&self.0).write_all(&number.to_le_bytes())
    }
}

/// Returns the file with the ends of the calls of a lane.
pub(super) fn ends_file(folder: &Path, lane: u16) -> PathBuf {
    folder.join(format!("ends-{lane}"))
}

/// Numbers of calls by their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    pub(super) calls: u64,
    pub(super) did_not_run: u64,
    pub(super) may_have_run: u64,
    pub(super) ran: u64,
}

impl CallCounts {
    pub(super) fn failed(&self) -> u64 {
        self.did_not_run + self.may_have_run + self.ran
    }
}

/// Compares what was executed with what the callers were told.
///
/// # Errors
///
/// The first order whose call has a wrong end.
pub(super) fn check(folder: &Path, servers: usize, lanes: u16) -> Result<CallCounts, Failure> {
    let mut ends = Vec::new();
    for lane in 0..lanes {
        ends.push(fs::read(ends_file(folder, lane))?);
    }
    let mut executed: Vec<Vec<u8>> = ends.iter().map(|ends| vec![0; ends.len()]).collect();
    for server in 0..servers {
        let path = folder.join(format!("executed-{server}"));
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let mut number = [0; 8];
        // A process that was killed may have left a part of a number.
        while file.read_exact(&mut number).is_ok() {
            let order = Order::from_number(u64::from_le_bytes(number));
            let lane = executed.get_mut(usize::from(order.lane));
            let times = lane.and_then(|lane| lane.get_mut(order.position as usize));
            let times = times.ok_or_else(|| format!("nobody has made the call of {order:?}"))?;
            *times = times.saturating_add(1);
        }
    }
    let mut counts = CallCounts::default();
    for (lane, (ends, executed)) in (0..lanes).zip(ends.iter().zip(&executed)) {
        for (position, (end, times)) in (0..).zip(ends.iter().zip(executed)) {
            let order = Order { lane, position };
            check_call(order, *end, *times, &mut counts)?;
        }
    }
    Ok(counts)
}

fn check_call(order: Order, end: u8, times: u8, counts: &mut CallCounts) -> Result<(), Failure> {
    let end = End::from_byte(end).ok_or("a file of ends is malformed")?;
    counts.calls += 1;
    let most = if order.is_idempotent() { u8::MAX } else { 1 };
    let (range, count) = match end {
        End::Answered => (1..=most, None),
        End::Ran => (1..=most, Some(&mut counts.ran)),
        End::DidNotRun => (0..=0, Some(&mut counts.did_not_run)),
        End::MayHaveRun => (0..=most, Some(&mut counts.may_have_run)),
        End::Wrong => return Err(format!("{order:?} has got a wrong answer").into()),
    };
    if let Some(count) = count {
        *count += 1;
    }
    if range.contains(&times) {
        return Ok(());
    }
    Err(format!("{order:?} was executed {times} times, but its call ended as {end:?}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of checking one lane of calls, and the positions that were executed.
    fn checked(ends: &[End], executed: &[u32]) -> Result<CallCounts, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = ends.iter().map(|end| *end as u8).collect();
        fs::write(ends_file(folder.path(), 0), bytes).unwrap();
        let file = ExecutedFile::open(folder.path(), 0).unwrap();
        for position in executed.iter().copied() {
            file.record(Order { lane: 0, position }.number()).unwrap();
        }
        check(folder.path(), 1, 1)
    }

    #[test]
    fn true_ends_are_counted() {
        let ends = [
            End::Answered,
            End::DidNotRun,
            End::MayHaveRun,
            End::Answered,
            End::MayHaveRun,
            End::Ran,
        ];
        let counts = checked(&ends, &[0, 3, 3, 4, 5]).unwrap();
        assert_eq!((counts.calls, counts.failed()), (6, 4));
        assert_eq!((counts.did_not_run, counts.may_have_run), (1, 2));
    }

    #[test]
    fn wrong_ends_are_found() {
        assert!(checked(&[End::Answered], &[]).is_err());
        assert!(checked(&[End::Answered], &[0, 0]).is_err());
        assert!(checked(&[End::DidNotRun], &[0]).is_err());
        assert!(checked(&[End::MayHaveRun], &[0, 0]).is_err());
        assert!(checked(&[End::Ran], &[]).is_err());
        assert!(checked(&[End::Wrong], &[0]).is_err());
        // Nobody has made this call.
        assert!(checked(&[End::Answered], &[0, 1]).is_err());
    }
}
