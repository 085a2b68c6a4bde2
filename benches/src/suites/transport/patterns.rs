//! Message patterns between ranks, of chapter 4 of the thesis on McMPI: orders of tags, and several
//! pairs at once.

use std::thread;
use std::time::Instant;

use jstream_transport::rank::Rank;

use super::case::{Case, Pattern, TAGS, Work};
use super::side::{FILL, Samples, Side};
use crate::Failure;
use crate::measure::since;

/// Tag of the message behind all others.
const LAST: u64 = 0;
/// Tag of the answer.
const ANSWER: u64 = 1;
/// Tag of the first of the other messages, as in section 5.1.4 of the thesis.
const FIRST: u64 = 10_001;
/// Tag of the messages of a pair.
const TAG: u64 = 7;

/// Creates the side of these ranks of a case.
pub(super) fn side(case: &Case, mut ranks: Vec<Rank>) -> Result<Box<dyn Side>, Failure> {
    Ok(match case.pattern {
        Pattern::Tags { reverse } => {
            let rank = ranks.pop().ok_or("the side has no rank")?;
            Box::new(Tags::new(rank, reverse, case.bytes))
        }
        _ => Box::new(Pairs {
            ranks,
            samples: Samples::default(),
        }),
    })
}

/// Messages with ascending tags, and a last message behind them. The leading side receives that one
/// first. Then it is timed while it receives the others, which have arrived by then.
struct Tags {
    rank: Rank,
    other: u32,
    sent: Vec<Tagged>,
    /// Received messages, in the order in which they are received.
    received: Vec<Tagged>,
    samples: Samples,
}

/// A message with its tag.
struct Tagged {
    tag: u64,
    bytes: Vec<u8>,
}

impl Tagged {
    /// Creates the message with this tag, whose bytes tell the tag.
    fn new(tag: u64, length: usize) -> Self {
        let bytes = vec![Self::mark(tag); length];
        Self { tag, bytes }
    }

    fn mark(tag: u64) -> u8 {
        tag.to_le_bytes()[0]
    }

    fn is_right(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == Self::mark(self.tag))
    }
}

impl Tags {
    fn new(rank: Rank, reverse: bool, length: usize) -> Self {
        let tags = || FIRST..FIRST + TAGS as u64;
        let mut received: Vec<Tagged> = tags().map(|tag| Tagged::new(tag, length)).collect();
        if reverse {
            received.reverse();
        }
        Self {
            other: 1 - rank.rank(),
            rank,
            sent: tags().map(|tag| Tagged::new(tag, length)).collect(),
            received,
            samples: Samples::default(),
        }
    }

    /// Receives all messages, and returns the time of a receive of those before the last.
    fn receive(&mut self) -> Result<f64, Failure> {
        let (rank, other) = (&self.rank, self.other);
        for message in &mut self.received {
            message.bytes.fill(0);
        }
        rank.recv::<u8>(other, LAST, &mut [])?;
        let start = Instant::now();
        for message in &mut self.received {
            rank.recv(other, message.tag, &mut message.bytes)?;
        }
        let each = since(start, TAGS);
        if !self.received.iter().all(Tagged::is_right) {
            return Err("a received message is not that of its tag".into());
        }
        Ok(each)
    }
}

impl Side for Tags {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let each = self.receive()?;
            self.samples.push(each);
            self.rank.send::<u8>(self.other, ANSWER, &[])?;
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        let (rank, other) = (&self.rank, self.other);
        for _ in 0..work.exchanges() {
            for message in &self.sent {
                rank.send(other, message.tag, &message.bytes)?;
            }
            rank.send::<u8>(other, LAST, &[])?;
            rank.recv::<u8>(other, ANSWER, &mut [])?;
        }
        Ok(())
    }
}

/// Pairs of ranks. One rank of each pair is on this side, in a thread of its own. All pairs
/// exchange messages at the same time, and the first of them is timed.
struct Pairs {
    ranks: Vec<Rank>,
    samples: Samples,
}

/// One rank of a pair, with its messages.
struct Half<'a> {
    rank: &'a Rank,
    other: u32,
    sent: Vec<u8>,
    received: Vec<u8>,
}

impl<'a> Half<'a> {
    fn new(rank: &'a Rank, work: &Work) -> Self {
        let pairs = rank.size() / 2;
        Self {
            rank,
            other: (rank.rank() + pairs) % rank.size(),
            sent: vec![FILL; work.bytes],
            received: vec![0; work.bytes],
        }
    }

    fn send(&self) -> Result<(), Failure> {
        Ok(self.rank.send(self.other, TAG, &self.sent)?)
    }

    fn recv(&mut self) -> Result<(), Failure> {
        self.rank.recv(self.other, TAG, &mut self.received)?;
        if self.received != self.sent {
            return Err("the received bytes differ from the bytes sent".into());
        }
        Ok(())
    }
}

impl Pairs {
    /// Runs `first` for the first rank, and `others` for each of the others at the same time.
    fn at_once<R>(
        ranks: &[Rank],
        work: &Work,
        first: impl FnOnce(Half<'_>) -> Result<R, Failure>,
        others: impl Fn(Half<'_>) -> Result<(), Failure> + Sync,
    ) -> Result<R, Failure> {
        let (one, rest) = ranks.split_first().ok_or("the side has no rank")?;
        thread::scope(|scope| {
            let others = &others;
            let half = |rank| scope.spawn(move || others(Half::new(rank, work)));
            let running: Vec<_> = rest.iter().map(half).collect();
            let result = first(Half::new(one, work));
            for other in running {
                let joined = other.join();
                joined.unwrap_or_else(|_| Err("a rank has panicked".into()))?;
            }
            result
        })
    }
}

impl Side for Pairs {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        let Self { ranks, samples } = self;
        let exchange = |half: &mut Half<'_>| {
            half.send()?;
            half.recv()
        };
        samples.begin(work.batches + 1);
        Self::at_once(
            ranks,
            work,
            |mut half| {
                for _ in 0..=work.batches {
                    let start = Instant::now();
                    for _ in 0..work.batch {
                        exchange(&mut half)?;
                    }
                    samples.push(since(start, work.batch * work.share()));
                }
                Ok(())
            },
            |mut half| (0..work.exchanges()).try_for_each(|_| exchange(&mut half)),
        )?;
        Ok(samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        let all = |mut half: Half<'_>| {
            (0..work.exchanges()).try_for_each(|_| {
                half.recv()?;
                half.send()
            })
        };
        Self::at_once(&self.ranks, work, all, all)
    }
}
