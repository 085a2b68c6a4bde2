//! Messages of one version of a type that are read as another version.
#![cfg(feature = "evolve")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use jstream::schema::{Schema, descriptor};
use jstream::{ReadError, Reader, Received, Transportable, to_vec};

mod compatible;
mod conversions;
mod differential;
mod hostile;
mod originals;
#[cfg(all(feature = "file", unix))]
mod stores;
mod values;

/// Reads a message of `Old` as a `New`, after the reader has learnt the schema of `Old`.
fn convert<Old, New>(value: &Old) -> Result<Received<New>, ReadError>
where
    Old: Transportable + 'static,
    New: Transportable + 'static,
{
    convert_bytes::<Old, New>(&to_vec(value).unwrap())
}

/// Reads these bytes, a message of `Old`, as a `New`.
fn convert_bytes<Old, New>(bytes: &[u8]) -> Result<Received<New>, ReadError>
where
    Old: Transportable + 'static,
    New: Transportable + 'static,
{
    assert_ne!(descriptor::<Old>(), descriptor::<New>(), "the types differ");
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    let message = jstream::EmptyBuffer::heap(bytes.len())
        .copy_from(bytes)
        .unwrap();
    reader.read::<New>(message).map_err(|failure| failure.error)
}

/// Returns the error of a conversion that fails.
fn refusal<Old, New>(value: &Old) -> String
where
    Old: Transportable + 'static,
    New: Transportable + 'static,
{
    match convert::<Old, New>(value) {
        Ok(_) => panic!("the message was converted"),
        Err(error) => error.to_string(),
    }
}
