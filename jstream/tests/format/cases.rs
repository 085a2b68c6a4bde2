//! The test vectors: values, and the JSON that a reader written from `FORMAT.md` must find in their
//! messages.

mod features;
mod of_std;
mod plain;
mod pointers;

use std::ptr;
use std::sync::Mutex;

use jstream::schema::Schema;
use jstream::{EmptyBuffer, ReadError, Reader, Transportable, Writer};

pub use features::OF_FEATURES;
#[cfg(unix)]
pub use pointers::drawing;

/// The layout of the types of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Defined by the language: the same with every compiler.
    Fixed,
    /// Partly chosen by the compiler. The schema describes it.
    Chosen,
}

/// One vector.
pub struct Case {
    pub name: &'static str,
    pub layout: Layout,
    pub schema: Vec<u8>,
    /// The schemas of the classes of trait objects.
    pub classes: Vec<Vec<u8>>,
    pub message: Vec<u8>,
    pub json: &'static str,
    /// Reads a message as the vector's type and writes the received object again.
    pub read: fn(&[u8]) -> Result<Vec<u8>, ReadError>,
}

pub fn schema_of<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = Writer::new().gather(value, |segments| {
        segments
            .iter()
            .for_each(|segment| bytes.extend_from_slice(segment));
    });
    written.unwrap();
    bytes
}

fn read<T>(bytes: &[u8]) -> Result<Vec<u8>, ReadError>
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    let received = Reader::default().read::<T>(filled);
    let received = received.map_err(|failure| failure.error)?;
    Ok(received.with(|form| bytes_of(form)))
}

fn case<T>(name: &'static str, layout: Layout, value: &T, json: &'static str) -> Case
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    Case {
        name,
        layout,
        schema: schema_of::<T>(),
        classes: Vec::new(),
        message: bytes_of(value),
        json,
        read: read::<T>,
    }
}

/// Leaks a value. A static list keeps its address, so that leak detectors find it reachable.
fn leak<T>(value: T) -> &'static T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let value: &T = Box::leak(Box::new(value));
    let mut kept = KEPT.lock().unwrap();
    kept.push(ptr::from_ref(value).expose_provenance());
    value
}

/// All vectors.
pub fn cases() -> Vec<Case> {
    let mut all = plain::plain();
    all.extend(plain::structs());
    all.extend(plain::tagged());
    all.extend(pointers::pointers());
    all.extend(pointers::owners());
    all.extend(pointers::shared());
    all.extend(of_std::of_std());
    all.extend(features::features());
    all
}
