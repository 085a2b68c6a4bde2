//! What calls and streams are written and read with. A method without arguments takes a message without bytes, and one
//! without a result gives one.

use std::any::TypeId;
use std::cell::Cell;
use std::io::IoSlice;

use jstream::{Filled, Limits, ReadError, Reader, Received, Transportable, WriteError, Writer};

thread_local! {
    /// By whoever makes a call, waits for it, or runs its method. Taken out meanwhile: the program's code that runs in it
    /// may make other calls.
    static READER: Cell<Option<Box<Reader>>> = const { Cell::new(None) };
    static WRITER: Cell<Option<Box<Writer>>> = const { Cell::new(None) };
}

/// Reads a message where it is.
pub(crate) fn read<T>(message: Filled, limits: Limits) -> Result<Received<T>, ReadError>
where
    T: Transportable + 'static,
{
    if let Some(nothing) = nothing(&message) {
        return Ok(nothing);
    }
    let mut reader = reader(limits);
    let read = reader.read::<T>(message);
    keep_reader(reader);
    read.map_err(|failure| failure.error)
}

/// Hands a message to who sends it.
pub(crate) fn written<T, R>(
    value: &T,
    send: impl FnOnce(&[IoSlice<'_>]) -> R,
) -> Result<R, WriteError>
where
    T: Transportable,
{
    if is_nothing::<T>() {
        return Ok(send(&[]));
    }
    let mut writer = writer();
    let result = writer.gather(value, send);
    keep_writer(writer);
    result
}

/// Whether messages of the type have no bytes.
#[inline]
pub(crate) fn is_nothing<T>() -> bool {
    typeid::of::<T>() == TypeId::of::<()>()
}

/// What a message without bytes is, if that is a `()`.
#[inline]
pub(crate) fn nothing<T>(message: &Filled) -> Option<Received<T>>
where
    T: Transportable + 'static,
{
    if message.is_empty() {
        Received::nothing()
    } else {
        None
    }
}

/// The thread's reader. This is done here for all types: the program's own code would have to ask where its place is.
fn reader(limits: Limits) -> Box<Reader> {
    let mut reader = READER.take().unwrap_or_default();
    reader.set_limits(limits);
    reader
}

fn keep_reader(reader: Box<Reader>) {
    // Who was called meanwhile may have left another one.
    drop(READER.replace(Some(reader)));
}

fn writer() -> Box<Writer> {
    WRITER.take().unwrap_or_default()
}

fn keep_writer(writer: Box<Writer>) {
    drop(WRITER.replace(Some(writer)));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use jstream::Spent;

    use super::*;

    #[test]
    fn nothing_takes_no_message() {
        let limits = Limits::default();
        let bytes =
            |segments: &[IoSlice<'_>]| segments.iter().map(|part| part.len()).sum::<usize>();
        assert_eq!(written(&(), bytes).unwrap(), 0);
        assert!(written(&((), ()), bytes).unwrap() > 0);
        let received = read::<()>(Filled::nothing(), limits).unwrap();
        assert_eq!((*received.get(), received.capacity()), ((), 0));
        let (copy, _) = received.detach().unwrap();
        let shared = copy.share();
        assert_eq!(*shared.get(), ());
        // One that is all the same written is taken, and what has bytes has to have them.
        let message = Writer::new().write(&(), Spent::heap(256)).unwrap();
        assert_eq!(*read::<()>(message, limits).unwrap().get(), ());
        read::<u64>(Filled::nothing(), limits).unwrap_err();
        read::<((), ())>(Filled::nothing(), limits).unwrap_err();
    }
}
