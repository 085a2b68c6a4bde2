//! Exchanges: several messages at once, from and to the elements of one slice.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::EmptyBuffer;
use zerocopy::IntoBytes;

use super::communicator::COLLECTIVE;
use super::element::{Element, descriptor, name_of};
use super::error::{ElementName, Error, Unreceived, Unsent};
use super::layout::Selection;
use super::layout::error::LayoutError;
use super::layout::runs::Runs;
use super::layout::transfer::Layouts;
use super::member::Rank;
use super::names::{Destination, Source, Tag};
use super::node::Node;
use super::packing::pack;
use super::request::ReceiveTarget;
use super::requests::{RankMessage, RecvRequest, Request, SendRequest, Waitable};
use super::transfer::offers::SendMode;
use super::waiting::any_until;
use super::wire::Label;
use jstream_device::deadline::Deadline;
use jstream_matching::Pattern;

/// Messages that a rank sends from elements of a slice of `E`, and receives into elements of the
/// same slice, such as the borders of a part of a grid.
///
/// The messages that are sent are packed before anything is received. So elements may be sent and
/// received in the same exchange, and a rank waits only after it has posted everything: ranks that
/// exchange messages of any length with each other do not wait in a circle.
///
/// The layouts are checked when they are added. An exchange can be used any number of times, with
/// different slices, and is the same at each.
///
/// ```
/// use jstream_transport::rank::{self, Exchange, Layout};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(2, &rank::Options::default());
/// std::thread::scope(|scope| {
///     for rank in &ranks {
///         scope.spawn(move || -> Result<(), rank::Error> {
///             // A matrix of two rows of four elements. Its inner columns go to the other rank,
///             // which receives them into its outer ones.
///             let column = |index| Layout::indexed([(index, 1), (index + 4, 1)]);
///             let other = 1 - rank.rank();
///             let exchange = Exchange::new()
///                 .send(other, 1, &column(1)?)?
///                 .send(other, 2, &column(2)?)?
///                 .receive(other, 2, &column(0)?)?
///                 .receive(other, 1, &column(3)?)?;
///             let own = rank.rank();
///             let mut matrix = [0, own, own + 10, 0, 0, own, own + 10, 0];
///             rank.layouts().exchange(&exchange, &mut matrix)?;
///             let row = [other + 10, own, own + 10, other];
///             assert_eq!(matrix, [row, row].concat()[..]);
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
pub struct Exchange<E: Element> {
    sends: Vec<OutgoingPart>,
    receives: Vec<IncomingPart>,
    /// Number of elements that a slice must have at least.
    span: usize,
    elements: PhantomData<fn(&[E])>,
}

/// A message that is sent.
struct OutgoingPart {
    to: u32,
    tag: u64,
    /// Number of the type of the message's elements.
    descriptor: u64,
    runs: Runs,
    /// Length of the message in bytes.
    length: usize,
}

/// A message that is received.
struct IncomingPart {
    from: Source,
    tag: Tag,
    expected: ElementName,
    runs: Runs,
    /// Length of the message in bytes.
    length: usize,
}

impl<E: Element> Exchange<E> {
    /// Returns an exchange without messages.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sends: Vec::new(),
            receives: Vec::new(),
            span: 0,
            elements: PhantomData,
        }
    }

    /// Adds a message of the elements that a layout selects. Nothing is sent to
    /// [`Destination::Null`].
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooLarge`] if the message would have more than `isize::MAX` bytes.
    pub fn send<L: Selection<E>>(
        mut self,
        to: impl Into<Destination>,
        tag: u64,
        layout: &L,
    ) -> Result<Self, LayoutError> {
        let runs = layout.runs();
        let length = runs.length()?;
        if let Destination::Rank(to) = to.into() {
            self.span = self.span.max(runs.span());
            self.sends.push(OutgoingPart {
                to,
                tag,
                descriptor: descriptor::<L::Item>(),
                runs,
                length,
            });
        }
        Ok(self)
    }

    /// Adds a message that is received into the elements that a layout selects. It has to have as
    /// many elements as the layout. If an element belongs to several messages, it has the value of
    /// the one that was added last. Nothing is received from [`Source::Null`].
    ///
    /// # Errors
    ///
    /// As for [`Layout::check_receive`](super::Layout::check_receive), and
    /// [`LayoutError::TooLarge`] if the message would have more than `isize::MAX` bytes.
    pub fn receive<L: Selection<E>>(
        mut self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        layout: &L,
    ) -> Result<Self, LayoutError> {
        let runs = layout.runs();
        let span = runs.span();
        let length = runs.check_receive(span)?;
        let from = from.into();
        if from != Source::Null {
            self.span = self.span.max(span);
            self.receives.push(IncomingPart {
                from,
                tag: tag.into(),
                expected: name_of::<L::Item>(),
                runs,
                length,
            });
        }
        Ok(self)
    }

    /// Returns the number of elements that a slice must have at least.
    #[must_use]
    pub fn span(&self) -> usize {
        self.span
    }

    fn check(&self, length: usize) -> Result<(), Error> {
        let span = self.span;
        match span > length {
            true => Err(LayoutError::OutOfBounds { span, length }.into()),
            false => Ok(()),
        }
    }
}

impl<E: Element> Default for Exchange<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Element> fmt::Debug for Exchange<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("sends", &self.sends.len())
            .field("receives", &self.receives.len())
            .field("span", &self.span)
            .finish_non_exhaustive()
    }
}

impl Layouts<'_> {
    /// Sends and receives the messages of an exchange, and blocks until all of them have been
    /// received and sent.
    ///
    /// # Errors
    ///
    /// As for [`PostedExchange::wait`] and [`begin_exchange`](Self::begin_exchange).
    pub fn exchange<E: Element>(
        &self,
        exchange: &Exchange<E>,
        elements: &mut [E],
    ) -> Result<(), Error> {
        self.begin_exchange(exchange, elements)?.wait(elements)
    }

    /// Posts the messages of an exchange. The elements are copied, so that the program may read and
    /// change all of them until it waits. What was received is not in the slice before that.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if the slice is too short. Nothing is sent then.
    pub fn begin_exchange<'x, E: Element>(
        &self,
        exchange: &'x Exchange<E>,
        elements: &[E],
    ) -> Result<PostedExchange<'x, E>, Error> {
        exchange.post(self.rank, None, elements)
    }
}

impl<E: Element> Exchange<E> {
    /// Posts the messages, in the context of the collective operations if they are those of an
    /// `operation`.
    pub(super) fn post(
        &self,
        rank: &Rank,
        operation: Option<Operation>,
        elements: &[E],
    ) -> Result<PostedExchange<'_, E>, Error> {
        self.check(elements.len())?;
        let bytes = elements.as_bytes();
        // Receives come first, so that messages that arrive meanwhile find theirs.
        let receives = self.receives.iter().map(|part| {
            let pattern = part.pattern(rank, operation);
            let receive = rank.post_recv(pattern, ReceiveTarget::Pool, part.expected);
            PostedPart::Receive(receive)
        });
        let mut parts: Vec<_> = receives.collect();
        let sends = self.sends.iter();
        parts.extend(sends.map(|part| PostedPart::Send(part.post(rank, operation, bytes))));
        Ok(PostedExchange {
            exchange: self,
            rank: rank.clone(),
            operation,
            left: parts.len(),
            parts,
            received: self.receives.iter().map(|_| None).collect(),
            has_ended: false,
        })
    }
}

/// The collective operation to which the messages of an exchange belong. All members give it the
/// same number, so that no message is taken for one of another exchange, even if an exchange ends
/// early at some members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    number: u64,
}

/// Number of bits of a tag that hold the number of the operation. The bits above hold the tag of
/// the message in the exchange, plus one: plain collective operations have zeros there.
const NUMBER_BITS: u32 = 48;

impl Operation {
    /// Largest tag of a message in the exchange.
    pub(super) const MAX_TAG: u64 = (u64::MAX >> NUMBER_BITS).wrapping_sub(1);

    /// Returns the next operation of the communicator. All members have to begin their operations
    /// in the same order.
    pub(super) fn next(rank: &Rank) -> Self {
        // Wraps after more operations than a program can make in years.
        let number =
            rank.communicator().next_collective() & (u64::MAX >> (u64::BITS - NUMBER_BITS));
        Self { number }
    }

    fn tag(self, tag: u64) -> u64 {
        tag.wrapping_add(1) << NUMBER_BITS | self.number
    }
}

/// Returns the context and the tag of a message.
fn address(rank: &Rank, operation: Option<Operation>, tag: u64) -> (u32, u64) {
    match operation {
        Some(operation) => (rank.context() | COLLECTIVE, operation.tag(tag)),
        None => (rank.context(), tag),
    }
}

impl OutgoingPart {
    fn post(&self, rank: &Rank, operation: Option<Operation>, elements: &[u8]) -> SendRequest {
        let in_node = rank.members().in_node(self.to);
        let packed = pack(rank.node(), in_node, elements, &self.runs, self.length);
        let (context, tag) = address(rank, operation, self.tag);
        let label = Label {
            context,
            tag,
            descriptor: self.descriptor,
        };
        let to = Destination::Rank(self.to);
        rank.post_send(to, label, packed, SendMode::Standard)
    }
}

impl IncomingPart {
    fn pattern(&self, rank: &Rank, operation: Option<Operation>) -> Option<Pattern> {
        let pattern = rank.pattern(self.from, self.tag)?;
        match self.tag {
            Tag::Is(tag) => {
                let (context, tag) = address(rank, operation, tag);
                let tag = Some(tag);
                Some(Pattern {
                    context,
                    tag,
                    ..pattern
                })
            }
            Tag::Any => Some(pattern),
        }
    }

    /// Checks the length of a message.
    fn check(&self, message: &RankMessage) -> Result<(), Error> {
        let (length, size) = (message.payload.len() as u64, self.length as u64);
        let (rank, tag) = (message.status.source, message.status.tag);
        match length.cmp(&size) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(Error::TooShort {
                length,
                size,
                rank,
                tag,
            }),
            Ordering::Greater => Err(Error::Truncated {
                length,
                capacity: size,
                rank,
                tag,
            }),
        }
    }
}

/// A message of an exchange that was posted.
enum PostedPart {
    Receive(RecvRequest),
    Send(SendRequest),
}

enum PartOutcome {
    Received(Result<RankMessage, Unreceived>),
    Sent(Result<Option<EmptyBuffer>, Unsent>),
}

impl Waitable for PostedPart {
    fn pending(&self) -> Option<&Arc<Node>> {
        match self {
            Self::Receive(receive) => receive.pending(),
            Self::Send(send) => send.pending(),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Receive(receive) => receive.is_done(),
            Self::Send(send) => send.is_done(),
        }
    }

    fn take(&mut self) -> Option<PartOutcome> {
        match self {
            Self::Receive(receive) => receive.take().map(PartOutcome::Received),
            Self::Send(send) => send.take().map(PartOutcome::Sent),
        }
    }
}

impl Request for PostedPart {
    type Output = PartOutcome;
}

/// An exchange whose messages were posted; see [`Layouts::begin_exchange`].
///
/// If it is dropped, the messages are still sent, and the receives are cancelled. A message that
/// arrives later is then received by the next receive that it matches, such as one of the same
/// exchange. Messages of [`Halos`](super::Halos) are dropped instead.
#[must_use = "what was received is in the slice only after `wait`"]
pub struct PostedExchange<'x, E: Element> {
    exchange: &'x Exchange<E>,
    rank: Rank,
    operation: Option<Operation>,
    /// The receives in the order of the exchange, and then the sends.
    parts: Vec<PostedPart>,
    /// Number of messages whose outcome was not taken.
    left: usize,
    /// The messages that were received.
    received: Vec<Option<RankMessage>>,
    has_ended: bool,
}

impl<E: Element> PostedExchange<'_, E> {
    /// Blocks until all messages have been received and sent, and copies those that were received
    /// to their elements.
    ///
    /// # Errors
    ///
    /// The error of the first message that fails, such as [`Error::PeerGone`]. A message with fewer
    /// elements than its layout is [`Error::TooShort`], and one with more is [`Error::Truncated`].
    /// [`Error::Layout`] if the slice is too short. In all cases the elements are unchanged, and
    /// the exchange ends as if it were dropped.
    ///
    /// # Panics
    ///
    /// Panics if [`wait_timeout`](Self::wait_timeout) has returned the outcome before.
    pub fn wait(mut self, elements: &mut [E]) -> Result<(), Error> {
        match self.finish(elements, Deadline::NEVER) {
            Some(outcome) => outcome,
            None => unreachable!("nothing ends a wait without a deadline but the outcome"),
        }
    }

    /// Like [`wait`](Self::wait), for at most `timeout`. Returns `None` if a message is missing by
    /// then. The exchange goes on in that case, and can be waited for again.
    ///
    /// # Errors
    ///
    /// As for [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// Panics if the outcome was returned before.
    pub fn wait_timeout(
        &mut self,
        elements: &mut [E],
        timeout: Duration,
    ) -> Option<Result<(), Error>> {
        self.finish(elements, Deadline::after(timeout))
    }

    fn finish(&mut self, elements: &mut [E], deadline: Deadline) -> Option<Result<(), Error>> {
        assert!(!self.has_ended, "the outcome was returned before");
        let outcome = match self.exchange.check(elements.len()) {
            Ok(()) => self.advance(deadline).transpose()?,
            Err(error) => Err(error),
        };
        self.end();
        if outcome.is_ok() {
            self.unpack(elements);
        }
        Some(outcome)
    }

    /// Waits for the messages. Returns `None` if the deadline passes.
    fn advance(&mut self, deadline: Deadline) -> Result<Option<()>, Error> {
        while self.left > 0 {
            let Some((place, outcome)) = any_until(&mut self.parts, deadline) else {
                return Ok(None);
            };
            self.left = self.left.saturating_sub(1);
            match outcome {
                PartOutcome::Sent(sent) => drop(sent?),
                PartOutcome::Received(message) => {
                    let message = message?;
                    if let Some(part) = self.exchange.receives.get(place) {
                        part.check(&message)?;
                    }
                    if let Some(received) = self.received.get_mut(place) {
                        *received = Some(message);
                    }
                }
            }
        }
        Ok(Some(()))
    }

    /// Cancels what has not arrived. Messages that were posted are sent nevertheless.
    fn end(&mut self) {
        if mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.parts.clear();
        if self.operation.is_none() {
            return;
        }
        let receives = self.exchange.receives.iter().zip(&self.received);
        let missing = receives.filter(|(_, received)| received.is_none());
        for pattern in missing.filter_map(|(part, _)| part.pattern(&self.rank, self.operation)) {
            if let Some(tag) = pattern.tag {
                let context = pattern.context;
                self.rank
                    .node()
                    .with(|state, deferred| state.end_operation(context, tag, deferred));
            }
        }
    }

    /// Copies the messages to their elements, in the order of the exchange.
    fn unpack(&mut self, elements: &mut [E]) {
        let bytes = elements.as_mut_bytes();
        for (part, message) in self.exchange.receives.iter().zip(&mut self.received) {
            if let Some(message) = message.take() {
                part.runs.unpack(message.payload.as_bytes(), bytes);
            }
        }
    }
}

impl<E: Element> Drop for PostedExchange<'_, E> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<E: Element> fmt::Debug for PostedExchange<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostedExchange")
            .field("exchange", self.exchange)
            .finish_non_exhaustive()
    }
}
