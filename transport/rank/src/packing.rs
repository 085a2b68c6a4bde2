//! Transfer of messages whose elements are not consecutive in memory.
//!
//! A short message is packed on the stack, so it takes the fast paths of all messages. A long
//! message between threads is copied once, from the sender's elements to the receiver's. Few long
//! runs are sent over a connection without packing. Any other message is packed once, and unpacked
//! once from the buffer in which it arrives.

use std::time::Duration;

use jstream::buffer::MessageBuffer;

use super::error::{ElementName, Error};
use super::layout::runs::Runs;
use super::line::Line;
use super::local::{Near, PostOutcome};
use super::names::Status;
use super::node::{Link, Node};
use super::transfer::offers::SendMode;
use super::wire::Label;
use jstream_device::connection::Payload;
use jstream_matching::Pattern;

/// The way in which selected runs of bytes get to another rank.
pub(super) enum RunTransfer<'n, 'b> {
    /// The receiver copies them from the memory of the sender.
    Lent(&'n Near),
    /// The device gathers them.
    Segments(&'n Line, Vec<&'b [u8]>),
    /// The sender packs them in a buffer.
    Packed,
}

impl<'n, 'b> RunTransfer<'n, 'b> {
    /// Returns how the selected runs of `bytes`, which have `length` bytes in all, are sent.
    pub(super) fn new(
        node: &'n Node,
        to: u32,
        bytes: &'b [u8],
        runs: &Runs,
        length: usize,
    ) -> Self {
        match node.link(to) {
            // The receiver copies the elements once, from the memory of this thread. A short
            // message is packed instead, because its sender would have to wait.
            Ok(Link::Thread(near)) if length as u64 > node.inbox.eager_between_threads => {
                Self::Lent(near)
            }
            // A device that moves buffers takes a packed message without a copy of its own.
            Ok(Link::Line(line)) if !line.endpoint.shared().info().limits.moves => {
                match runs.segments(bytes, length) {
                    Some(segments) => Self::Segments(line, segments),
                    None => Self::Packed,
                }
            }
            _ => Self::Packed,
        }
    }
}

/// Copies the selected runs of `bytes` to a buffer.
pub(super) fn pack(
    node: &Node,
    to: u32,
    bytes: &[u8],
    runs: &Runs,
    length: usize,
) -> MessageBuffer {
    let pool = match node.line(to) {
        Some(line) => &line.endpoint.shared().info().pool,
        None => node.inbox.pool(),
    };
    runs.packed(bytes, length, pool)
}

/// Packs the selected runs of `bytes` in a buffer and sends it. Blocks until it has been sent.
pub(super) fn send_packed(
    node: &Node,
    to: u32,
    label: Label,
    bytes: &[u8],
    runs: &Runs,
    length: usize,
) -> Result<(), Error> {
    let packed = pack(node, to, bytes, runs, length);
    match node.link(to)? {
        // The packed bytes go through the fast path of all sends. A device that moves buffers gets
        // the buffer itself.
        Link::Line(line) if !line.endpoint.shared().info().limits.moves => {
            node.send_bytes(to, label, packed.as_bytes(), SendMode::Standard)
        }
        _ => match node.post_buffer(to, label, packed, SendMode::Standard) {
            PostOutcome::Done | PostOutcome::Gone(_) => Ok(()),
            PostOutcome::Pending(id) => node.outcome(id).result.map(drop),
            PostOutcome::Refused(error, _) => Err(error),
        },
    }
}

/// Packs at most `N` bytes on the stack and sends them.
pub(super) fn send_packed_short<const N: usize>(
    node: &Node,
    to: u32,
    label: Label,
    bytes: &[u8],
    runs: &Runs,
    length: usize,
) -> Result<(), Error> {
    let mut packed = [0u8; N];
    let packed = packed.get_mut(..length).unwrap_or_default();
    runs.pack(bytes, packed);
    node.send_bytes(to, label, packed, SendMode::Standard)
}

/// Receives a message of at most `capacity` bytes, which `N` is enough for, on the stack, and
/// unpacks it.
#[allow(clippy::too_many_arguments, reason = "one caller has all of them")]
pub(super) fn receive_unpacked<const N: usize>(
    node: &Node,
    pattern: Pattern,
    expected: ElementName,
    bytes: &mut [u8],
    runs: &Runs,
    capacity: usize,
    timeout: Option<Duration>,
) -> Result<Status, Error> {
    let mut packed = [0u8; N];
    let memory = packed.get_mut(..capacity).unwrap_or_default();
    let status = node.receive_bytes(pattern, expected, memory, timeout)?;
    runs.unpack(packed.get(..status.len::<u8>()).unwrap_or_default(), bytes);
    Ok(status)
}

/// Copies a message to the selected runs of memory.
pub(super) fn put_runs(
    node: &Node,
    status: Status,
    payload: Payload,
    runs: &Runs,
    memory: &mut [u8],
) -> Result<Status, Error> {
    let filled = node.bytes_of(payload)?;
    let (length, capacity) = (filled.len() as u64, runs.length()? as u64);
    // An object that was converted to a message may be longer than it was announced.
    if length > capacity {
        return Err(Error::Truncated {
            length,
            capacity,
            rank: status.source,
            tag: status.tag,
        });
    }
    runs.unpack(filled.as_bytes(), memory);
    let bytes = length;
    Ok(Status { bytes, ..status })
}
