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
pub(crate) fn read<T>(message: Filled, limits: Limits) -> Result<Received<T>, ReadError>
where
    T: Transportable + 'static,
{
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
    let mut writer = writer();
    let result = writer.gather(value, send);
    keep_writer(writer);
    result
}

/// The thread's reader. This is done here for all types: the program's own code would have to ask where its place is.
fn reader(limits: Limits) -> Box<Reader> {
    let mut reader = READER.take().unwrap_or_default();
    reader.set_limits(limits);
    reader
}

fn keep_reader(reader: Box<Reader>) {
    // Who was called meanwhile may have left another one.
    if let Some(other) = READER.replace(Some(reader)) {
        drop(other);
    }
}

fn writer() -> Box<Writer> {
    WRITER.take().unwrap_or_default()
}

fn keep_writer(writer: Box<Writer>) {
    if let Some(other) = WRITER.replace(Some(writer)) {
        drop(other);
    }
}
