//! What calls and streams are written and read with.

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
#[inline]
pub(crate) fn read<T>(message: Filled, limits: Limits) -> Result<Received<T>, ReadError>
where
    T: Transportable + 'static,
{
    let read = READER.with(|place| {
        let mut reader = place.take().unwrap_or_default();
        reader.set_limits(limits);
        let read = reader.read::<T>(message);
        put_back(place, reader);
        read
    });
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
    WRITER.with(|place| {
        let mut writer = place.take().unwrap_or_default();
        let result = writer.gather(value, send);
        put_back(place, writer);
        result
    })
}

/// The next one finds it there.
#[inline]
fn put_back<T>(place: &Cell<Option<Box<T>>>, taken: Box<T>) {
    // Who was called meanwhile may have left another one.
    if let Some(other) = place.replace(Some(taken)) {
        let_go(other);
    }
}

#[cold]
fn let_go<T>(other: Box<T>) {
    drop(other);
}
