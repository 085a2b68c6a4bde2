//! Schedules: the steps of one rank in a collective operation.
//!
//! Decision 088 has the reasons.

use std::fmt;

/// The place of a rank in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Number of the rank, from 0.
    pub rank: usize,
    /// Number of ranks in the group, at least 1.
    pub size: usize,
}

/// A memory area of one rank during the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// The elements that the rank contributes. A schedule never writes to them.
    Input,
    /// The elements that the rank gets. For a broadcast, the root contributes them.
    Output,
    /// Memory for intermediate results, without initial contents.
    Scratch,
}

/// A range of elements in an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The area.
    pub area: Area,
    /// Index of the first element.
    pub start: usize,
    /// Number of elements.
    pub len: usize,
}

impl Span {
    pub(crate) const fn new(area: Area, start: usize, len: usize) -> Self {
        Self { area, start, len }
    }

    /// Returns the index behind the last element.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.start.saturating_add(self.len)
    }

    /// Returns the elements of this span from index `start` on.
    pub(crate) const fn part(self, start: usize, len: usize) -> Self {
        Self::new(self.area, self.start.saturating_add(start), len)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.area == other.area && self.start < other.end() && other.start < self.end()
    }
}

/// The operand that a [`Step::Combine`] puts first. This matters for operations that are not
/// commutative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `into = with ⊕ into`.
    WithFirst,
    /// `into = into ⊕ with`.
    IntoFirst,
}

/// A step of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Begins to send a span. The message goes to the receive of the same position among the
    /// receives of `to` from this rank.
    Send {
        /// Number of the receiving rank.
        to: usize,
        /// The elements to send.
        span: Span,
    },
    /// Begins to receive a message that fills a span.
    Receive {
        /// Number of the sending rank.
        from: usize,
        /// The elements to overwrite.
        span: Span,
    },
    /// Blocks until all sends and receives that have begun are complete.
    Wait,
    /// Copies a span to another of the same length.
    Copy {
        /// The elements to copy.
        from: Span,
        /// The elements to overwrite.
        into: Span,
    },
    /// Combines the elements of two spans of the same length, pair by pair.
    Combine {
        /// The operand that is only read.
        with: Span,
        /// The operand that the result replaces.
        into: Span,
        /// The operand that comes first.
        order: Order,
    },
}

/// The steps of one rank in one collective operation.
///
/// A schedule does no I/O. It says which elements the rank sends, to whom, and where it puts what
/// it receives. The ranks of a group execute the schedules that were made with the same arguments.
///
/// The steps of every schedule have these properties, which are checked when it is made:
///
/// - Each span lies within its area, and no step writes to [`Area::Input`].
/// - Between the first send or receive and the next [`Step::Wait`], there are only sends and
///   receives. The span of a receive overlaps no other span among them.
/// - The spans of a copy or combination have the same length and do not overlap.
/// - Messages go to other ranks of the group. The last message is followed by a [`Step::Wait`].
#[derive(Clone, PartialEq, Eq)]
pub struct Schedule {
    position: Position,
    lengths: [usize; 3],
    steps: Vec<Step>,
}

impl Schedule {
    /// Returns the place of the rank that executes the schedule.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the number of elements of an area.
    #[must_use]
    pub fn len_of(&self, area: Area) -> usize {
        let [input, output, scratch] = self.lengths;
        match area {
            Area::Input => input,
            Area::Output => output,
            Area::Scratch => scratch,
        }
    }

    /// Returns the steps in the order of execution.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("position", &self.position)
            .field("lengths", &self.lengths)
            .field("steps", &self.steps)
            .finish()
    }
}

/// A schedule under construction.
pub(crate) struct Builder {
    position: Position,
    input: usize,
    output: usize,
    scratch: usize,
    steps: Vec<Step>,
    is_waiting: bool,
}

impl Builder {
    pub(crate) fn new(position: Position, input: usize, output: usize) -> Self {
        Self {
            position,
            input,
            output,
            scratch: 0,
            steps: Vec::new(),
            is_waiting: false,
        }
    }

    /// Returns all elements of the input.
    pub(crate) fn input(&self) -> Span {
        Span::new(Area::Input, 0, self.input)
    }

    /// Returns all elements of the output.
    pub(crate) fn output(&self) -> Span {
        Span::new(Area::Output, 0, self.output)
    }

    /// Adds `len` elements to the scratch area.
    pub(crate) fn scratch(&mut self, len: usize) -> Span {
        let span = Span::new(Area::Scratch, self.scratch, len);
        self.scratch = span.end();
        span
    }

    pub(crate) fn send(&mut self, to: usize, span: Span) {
        self.steps.push(Step::Send { to, span });
        self.is_waiting = true;
    }

    pub(crate) fn receive(&mut self, from: usize, span: Span) {
        self.steps.push(Step::Receive { from, span });
        self.is_waiting = true;
    }

    /// Completes the sends and receives that have begun.
    pub(crate) fn wait(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            self.steps.push(Step::Wait);
        }
    }

    /// Sends to one rank, receives from another, and waits for both.
    pub(crate) fn exchange(&mut self, (to, sent): (usize, Span), (from, received): (usize, Span)) {
        self.receive(from, received);
        self.send(to, sent);
        self.wait();
    }

    pub(crate) fn copy(&mut self, from: Span, into: Span) {
        self.wait();
        if from != into && into.len > 0 {
            self.steps.push(Step::Copy { from, into });
        }
    }

    pub(crate) fn combine(&mut self, with: Span, into: Span, order: Order) {
        self.wait();
        if into.len > 0 {
            self.steps.push(Step::Combine { with, into, order });
        }
    }

    /// Returns the schedule.
    ///
    /// # Panics
    ///
    /// Panics if a step does not have the properties that [`Schedule`] promises. This is a bug of
    /// the algorithm that made the steps.
    pub(crate) fn finish(mut self) -> Schedule {
        self.wait();
        let schedule = Schedule {
            position: self.position,
            lengths: [self.input, self.output, self.scratch],
            steps: self.steps,
        };
        if let Err(fault) = schedule.check() {
            panic!(
                "the schedule of {:?} is invalid: {fault}",
                schedule.position
            );
        }
        schedule
    }
}

/// A violated property of a schedule.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{0:?} is outside of its area")]
    Outside(Span),
    #[error("{0:?} of the input is written to")]
    InputWritten(Span),
    #[error("{0:?} is received into while another step uses it")]
    Shared(Span),
    #[error("{0:?} and {1:?} differ in length or overlap")]
    Unequal(Span, Span),
    #[error("rank {0} is no other rank of the group")]
    NoPeer(usize),
    #[error("local work between a message and the next wait")]
    WorkBeforeWait,
    #[error("no wait follows the last message")]
    NoWait,
}

impl Schedule {
    /// Checks the properties that the type promises.
    fn check(&self) -> Result<(), Fault> {
        // The spans that are in use until the next wait; true for those of receives.
        let mut posted: Vec<(Span, bool)> = Vec::new();
        for step in &self.steps {
            match *step {
                Step::Send { to, span } => {
                    self.check_peer(to)?;
                    self.check_read(span)?;
                    posted.push((span, false));
                }
                Step::Receive { from, span } => {
                    self.check_peer(from)?;
                    self.check_written(span)?;
                    posted.push((span, true));
                }
                Step::Wait => {
                    check_posted(&mut posted)?;
                    posted.clear();
                }
                Step::Copy { from, into }
                | Step::Combine {
                    with: from, into, ..
                } => {
                    self.check_read(from)?;
                    self.check_written(into)?;
                    if from.len != into.len || from.overlaps(&into) {
                        return Err(Fault::Unequal(from, into));
                    }
                    if !posted.is_empty() {
                        return Err(Fault::WorkBeforeWait);
                    }
                }
            }
        }
        if posted.is_empty() {
            Ok(())
        } else {
            Err(Fault::NoWait)
        }
    }

    fn check_peer(&self, peer: usize) -> Result<(), Fault> {
        let Position { rank, size } = self.position;
        if peer < size && peer != rank {
            Ok(())
        } else {
            Err(Fault::NoPeer(peer))
        }
    }

    fn check_read(&self, span: Span) -> Result<(), Fault> {
        let end = span.start.checked_add(span.len);
        let is_inside = end.is_some_and(|end| end <= self.len_of(span.area));
        if is_inside {
            Ok(())
        } else {
            Err(Fault::Outside(span))
        }
    }

    fn check_written(&self, span: Span) -> Result<(), Fault> {
        if span.area == Area::Input {
            return Err(Fault::InputWritten(span));
        }
        self.check_read(span)
    }
}

/// Checks that the span of each receive overlaps no other.
fn check_posted(posted: &mut [(Span, bool)]) -> Result<(), Fault> {
    posted.sort_unstable_by_key(|(span, _)| (span.area, span.start, span.end()));
    // The largest end of all spans, and of those that are received into, in the current area.
    let mut area = None;
    let (mut end, mut received_end) = (0, 0);
    for (span, is_received) in posted.iter().filter(|(span, _)| span.len > 0) {
        if area != Some(span.area) {
            (area, end, received_end) = (Some(span.area), 0, 0);
        }
        let limit = if *is_received { end } else { received_end };
        if span.start < limit {
            return Err(Fault::Shared(*span));
        }
        end = end.max(span.end());
        if *is_received {
            received_end = received_end.max(span.end());
        }
    }
    Ok(())
}
