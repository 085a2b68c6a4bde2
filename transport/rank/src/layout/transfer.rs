//! Sends and receives with layouts.

use std::time::Duration;

use zerocopy::IntoBytes;

use super::Selection;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::member::Rank;
use crate::names::{Destination, Source, Status, Tag};
use crate::packing::{RunTransfer, receive_unpacked, send_packed, send_packed_short};
use crate::scope::{Scope, ScopedRecv, ScopedSend};
use crate::transfer::offers::SendMode;
use jstream_matching::Pattern;

/// Maximum length in bytes of a message that is packed and unpacked on the stack. A longer one is
/// packed in a buffer of the pool, which takes the same fast paths.
const SHORT: usize = 4096;

/// Length in bytes of a smaller array on the stack, which takes less time to initialise.
const TINY: usize = 512;

/// Transfer of the elements that layouts select; see [`Rank::layouts`].
///
/// A [`Layout`](crate::Layout) selects the elements of a slice that are sent or received. The
/// message has the selected elements without gaps.
#[derive(Debug, Clone, Copy)]
pub struct Layouts<'r> {
    pub(crate) rank: &'r Rank,
}

impl Layouts<'_> {
    /// Like [`Rank::send`], for the elements that a layout selects.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if `elements` is shorter than the layout. Otherwise as for
    /// [`Rank::send`].
    pub fn send<E: Element, L: Selection<E>>(
        &self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &[E],
        layout: &L,
    ) -> Result<(), Error> {
        let runs = layout.runs();
        let length = runs.check_send(elements.len())?;
        let Destination::Rank(to) = to.into() else {
            return Ok(());
        };
        let (node, to) = (self.rank.node(), self.rank.members().in_node(to));
        let (label, bytes) = (self.rank.label::<L::Item>(tag), elements.as_bytes());
        let sent = match (runs.single(), length) {
            (Some(range), _) => {
                let bytes = bytes.get(range).unwrap_or_default();
                node.send_bytes(to, label, bytes, SendMode::Standard)
            }
            (None, 0..=TINY) => send_packed_short::<TINY>(node, to, label, bytes, &runs, length),
            (None, 0..=SHORT) => send_packed_short::<SHORT>(node, to, label, bytes, &runs, length),
            (None, _) => match RunTransfer::new(node, to, bytes, &runs, length) {
                RunTransfer::Packed => send_packed(node, to, label, bytes, &runs, length),
                RunTransfer::Lent(_) | RunTransfer::Segments(..) => {
                    // The segments are lent, which needs a request that has ended before the call
                    // returns.
                    return self.rank.scope(|scope| {
                        let sent = scope.send_runs(to, label, bytes, &runs, length);
                        sent.wait()
                    });
                }
            },
        };
        sent.map_err(|error| self.rank.members().error(error))
    }

    /// Like [`Rank::recv`], into the elements that a layout selects. A message that is shorter
    /// than all of them fills the first ones. The other elements are unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if `elements` is shorter than the layout, or if blocks of the layout
    /// overlap. [`Error::Truncated`] if the message is longer than the selected elements. Otherwise
    /// as for [`Rank::recv`].
    pub fn recv<E: Element, L: Selection<E>>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
        layout: &L,
    ) -> Result<Status, Error> {
        self.receive_layout(self.rank.pattern(from, tag), elements, layout, None)
    }

    /// Like [`recv`](Self::recv), for at most `timeout`, as [`Rank::recv_timeout`].
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if no message has begun to arrive in time. Otherwise as for
    /// [`recv`](Self::recv).
    pub fn recv_timeout<E: Element, L: Selection<E>>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &mut [E],
        layout: &L,
        timeout: Duration,
    ) -> Result<Status, Error> {
        self.receive_layout(
            self.rank.pattern(from, tag),
            elements,
            layout,
            Some(timeout),
        )
    }

    fn receive_layout<E: Element, L: Selection<E>>(
        &self,
        pattern: Option<Pattern>,
        elements: &mut [E],
        layout: &L,
        timeout: Option<Duration>,
    ) -> Result<Status, Error> {
        let runs = layout.runs();
        let capacity = runs.check_receive(elements.len())?;
        let Some(pattern) = pattern else {
            return Ok(Status::NULL);
        };
        let (node, bytes) = (self.rank.node(), elements.as_mut_bytes());
        let expected = name_of::<L::Item>();
        let received = match (runs.single(), capacity) {
            (Some(range), _) => {
                let bytes = bytes.get_mut(range).unwrap_or_default();
                node.receive_bytes(pattern, expected, bytes, timeout)
            }
            (None, 0..=TINY) => {
                receive_unpacked::<TINY>(node, pattern, expected, bytes, &runs, capacity, timeout)
            }
            (None, 0..=SHORT) => {
                receive_unpacked::<SHORT>(node, pattern, expected, bytes, &runs, capacity, timeout)
            }
            (None, _) => {
                return self.rank.scope(|scope| {
                    let mut receive =
                        scope.receive_runs(Some(pattern), expected, bytes, runs, capacity);
                    let Some(after) = timeout else {
                        return receive.wait();
                    };
                    match receive.wait_timeout(after) {
                        Some(received) => received,
                        // The message may have begun to arrive. Then the receive ends with it.
                        None => receive.cancel().map_err(|error| match error {
                            Error::Cancelled => Error::TimedOut { after },
                            error => error,
                        }),
                    }
                });
            }
        };
        self.rank.members().result(received)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Like [`isend`](Self::isend), for the elements that a layout selects. If they are packed, this
    /// call does it.
    pub fn isend_layout<E: Element, L: Selection<E>>(
        &'scope self,
        to: impl Into<Destination>,
        tag: u64,
        elements: &'scope [E],
        layout: &L,
    ) -> ScopedSend<'scope> {
        let runs = layout.runs();
        let length = match runs.check_send(elements.len()) {
            Ok(length) => length,
            Err(error) => return self.ended_send(Err(error.into())),
        };
        let Destination::Rank(to) = to.into() else {
            return self.ended_send(Ok(()));
        };
        let to = self.rank().members().in_node(to);
        let (label, bytes) = (self.rank().label::<L::Item>(tag), elements.as_bytes());
        match runs.single() {
            Some(range) => {
                let bytes = bytes.get(range).unwrap_or_default();
                self.send_bytes(to, label, bytes, SendMode::Standard)
            }
            None => self.send_runs(to, label, bytes, &runs, length),
        }
    }

    /// Like [`irecv`](Self::irecv), into the elements that a layout selects. If the message has to
    /// be unpacked, the call that waits for it does so, or the end of the scope.
    pub fn irecv_layout<E: Element, L: Selection<E>>(
        &'scope self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        elements: &'scope mut [E],
        layout: &L,
    ) -> ScopedRecv<'scope> {
        let runs = layout.runs();
        let capacity = match runs.check_receive(elements.len()) {
            Ok(capacity) => capacity,
            Err(error) => return self.ended_receive(Err(error.into())),
        };
        let pattern = self.rank().pattern(from, tag);
        let (expected, bytes) = (name_of::<L::Item>(), elements.as_mut_bytes());
        match runs.single() {
            Some(range) => {
                let bytes = bytes.get_mut(range).unwrap_or_default();
                self.receive_bytes(pattern, expected, bytes)
            }
            None => self.receive_runs(pattern, expected, bytes, runs, capacity),
        }
    }
}
