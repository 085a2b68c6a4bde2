//! Reading and writing of the messages of calls and streams. A method without arguments takes an
//! empty message, and a method without a result returns one.
//!
//! Decision 014 has the reasons.

use std::any::TypeId;
use std::cell::Cell;
use std::io::IoSlice;

use jstream::{
    EmptyBuffer, Limits, MessageBuffer, ReadError, Reader, Received, Transportable, WriteError,
    Writer,
};

thread_local! {
    /// Cached reader of a thread. It is taken out while it is in use, because the program's code
    /// that runs meanwhile may make other calls.
    static READER: Cell<Option<Box<Reader>>> = const { Cell::new(None) };
    static WRITER: Cell<Option<Box<Writer>>> = const { Cell::new(None) };
}

/// Reads a message in place.
pub(crate) fn read<T>(message: MessageBuffer, limits: Limits) -> Result<Received<T>, ReadError>
where
    T: Transportable + 'static,
{
    if let Some(nothing) = nothing(&message) {
        return Ok(nothing);
    }
    let mut reader = reader(limits);
    // The reader is not in its place meanwhile: reading runs code of the program, which may make a
    // call that reads.
    let read = reader.read::<T>(message);
    keep_reader(reader);
    read.map_err(|failure| failure.error)
}

/// Writes a value and passes the segments of its message to `send`.
pub(crate) fn written<T, R>(
    value: &T,
    limits: Limits,
    send: impl FnOnce(&[IoSlice<'_>]) -> R,
) -> Result<R, WriteError>
where
    T: Transportable,
{
    if is_nothing::<T>() {
        return Ok(send(&[]));
    }
    let mut writer = writer(limits);
    let result = writer.gather(value, send);
    keep_writer(writer);
    result
}

/// Writes a value, and returns its message in one piece.
pub(crate) fn written_copy<T: Transportable>(
    value: &T,
    limits: Limits,
) -> Result<MessageBuffer, WriteError> {
    written(value, limits, copied)
}

/// Copies segments into a message on the heap.
fn copied(segments: &[IoSlice<'_>]) -> MessageBuffer {
    let bytes: Vec<u8> = segments
        .iter()
        .flat_map(|part| part.iter().copied())
        .collect();
    match EmptyBuffer::heap(bytes.len()).copy_from(&bytes) {
        Ok(filled) => filled,
        Err(_) => unreachable!("the buffer has room for all bytes"),
    }
}

/// Returns true if messages of the type are empty.
#[inline]
pub(crate) fn is_nothing<T>() -> bool {
    typeid::of::<T>() == TypeId::of::<()>()
}

/// Returns the value of an empty message, if `T` is `()`.
#[inline]
pub(crate) fn nothing<T>(message: &MessageBuffer) -> Option<Received<T>>
where
    T: Transportable + 'static,
{
    if message.is_empty() {
        Received::nothing()
    } else {
        None
    }
}

/// Returns the thread's reader. Not generic, so that it is compiled in this crate: in the program's
/// crate, access to the thread-local variable would be indirect.
fn reader(limits: Limits) -> Box<Reader> {
    let mut reader = READER.take().unwrap_or_default();
    reader.set_limits(limits);
    reader
}

fn keep_reader(reader: Box<Reader>) {
    // A nested call may have left another reader.
    drop(READER.replace(Some(reader)));
}

fn writer(limits: Limits) -> Box<Writer> {
    let mut writer = WRITER.take().unwrap_or_default();
    writer.set_limits(limits);
    writer
}

fn keep_writer(writer: Box<Writer>) {
    drop(WRITER.replace(Some(writer)));
}

#[inline]
pub(crate) fn length(segments: &[IoSlice<'_>]) -> usize {
    if let [only] = segments {
        return only.len();
    }
    let lengths = segments.iter().map(|segment| segment.len());
    lengths.fold(0, usize::saturating_add)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use jstream::EmptyBuffer;

    use super::*;

    #[test]
    fn nothing_takes_no_message() {
        let limits = Limits::default();
        let bytes =
            |segments: &[IoSlice<'_>]| segments.iter().map(|part| part.len()).sum::<usize>();
        assert_eq!(written(&(), Limits::default(), bytes).unwrap(), 0);
        assert!(written(&((), ()), Limits::default(), bytes).unwrap() > 0);
        let received = read::<()>(MessageBuffer::nothing(), limits).unwrap();
        assert_eq!((*received.get(), received.capacity()), ((), 0));
        let (copy, _) = received.detach().unwrap();
        let shared = copy.share();
        assert_eq!(*shared.get(), ());
        // An encoded `()` is accepted, but other types must not be empty.
        let message = Writer::new().write(&(), EmptyBuffer::heap(256)).unwrap();
        assert_eq!(*read::<()>(message, limits).unwrap().get(), ());
        read::<u64>(MessageBuffer::nothing(), limits).unwrap_err();
        read::<((), ())>(MessageBuffer::nothing(), limits).unwrap_err();
    }
}
