//! An array into which the arrays of other ranks are combined.

use crate::schedule::{Area, Builder, Order, Span};

/// The elements that a rank has combined so far.
///
/// In the beginning they are its input. The first array that is received goes into the result, and
/// is combined with the input there. So no element is copied. Later arrays go into scratch memory,
/// which is as long as the first of them: each must be at most as long as those before it.
///
/// An array may be combined with a part of the elements. From then on only that part is valid, and
/// later arrays have to lie within it. [Halving](super::halving) narrows the part in each round.
pub(super) struct Accumulator {
    /// The elements so far: the input until the first combination, and the result from then on.
    held: Span,
    result: Span,
    /// Scratch memory for arrays after the first, once one was needed.
    received: Option<Span>,
}

impl Accumulator {
    /// Creates an accumulator of `input`, which combines in `result`, a span of the same length.
    pub(super) fn new(input: Span, result: Span) -> Self {
        Self {
            held: input,
            result,
            received: None,
        }
    }

    /// Returns what has been combined so far.
    pub(super) fn held(&self) -> Span {
        self.held
    }

    /// Returns true if nothing has been combined. The result is free to receive into then.
    fn is_untouched(&self) -> bool {
        self.held != self.result
    }

    /// Returns the memory to receive the elements into that will be combined with the elements from
    /// `start` on.
    pub(super) fn target(&mut self, builder: &mut Builder, start: usize, len: usize) -> Span {
        if self.is_untouched() {
            return self.result.part(start, len);
        }
        let scratch = self.received.get_or_insert_with(|| builder.scratch(len));
        scratch.part(0, len)
    }

    /// Combines the received elements with those from `start` on. Only the combined elements are
    /// held from then on.
    pub(super) fn combine(
        &mut self,
        builder: &mut Builder,
        received: Span,
        start: usize,
        is_received_first: bool,
    ) {
        let own = self.held.part(start, received.len);
        // The first array is in the result already and takes the place of its operands there. Later
        // arrays are combined into the result, where the own elements are.
        let (with, into, order) = match (self.is_untouched(), is_received_first) {
            (true, true) => (own, received, Order::IntoFirst),
            (true, false) => (own, received, Order::WithFirst),
            (false, true) => (received, own, Order::WithFirst),
            (false, false) => (received, own, Order::IntoFirst),
        };
        builder.combine(with, into, order);
        self.held = self.result;
    }

    /// Receives all elements of another rank and combines them.
    pub(super) fn receive(&mut self, builder: &mut Builder, from: usize, is_received_first: bool) {
        let target = self.target(builder, 0, self.result.len);
        builder.receive(from, target);
        self.combine(builder, target, 0, is_received_first);
    }

    /// Puts the elements into the result, unless they are there.
    pub(super) fn finish(self, builder: &mut Builder) {
        if self.held.area == Area::Input {
            builder.copy(self.held, self.result);
        }
    }
}
