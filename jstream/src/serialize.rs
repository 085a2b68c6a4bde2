//! Serialization in one call: to a `Vec`, and from a slice.

use std::cell::Cell;
use std::thread::LocalKey;

use crate::buffer::EmptyBuffer;
use crate::model::Transportable;
use crate::read::{Limits, ReadError, Reader};
use crate::received::Received;
use crate::write::{WriteError, Writer};

thread_local! {
    static WRITER: Cell<Option<Box<Writer>>> = const { Cell::new(None) };
    static READER: Cell<Option<Box<Reader>>> = const { Cell::new(None) };
}

/// Calls `f` with the thread's codec, or with a new one if that is in use further up the stack (by
/// a function of the program that writing or reading calls) or was in use when a panic occurred.
fn with_codec<C: Default, R>(
    codec: &'static LocalKey<Cell<Option<Box<C>>>>,
    f: impl FnOnce(&mut C) -> R,
) -> R {
    let mut taken = codec
        .try_with(Cell::take)
        .ok()
        .flatten()
        .unwrap_or_default();
    let result = f(&mut taken);
    // The thread may be ending, and then nothing is kept.
    let _ = codec.try_with(|codec| codec.set(Some(taken)));
    result
}

/// Writes `value`, and everything that it reaches, as a message in a new `Vec`.
///
/// Each thread reuses the work lists of one [`Writer`]. To write into a buffer, a pool, or a
/// `std::io::Write`, or with another limit, use a `Writer`.
///
/// ```
/// use jstream::Transportable;
///
/// #[derive(Transportable)]
/// struct Player {
///     name: String,
///     scores: Vec<u32>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let player = Player { name: "Ada".to_owned(), scores: vec![3, 5] };
/// let bytes: Vec<u8> = jstream::to_vec(&player)?;
///
/// let received = jstream::from_slice::<Player>(&bytes)?;
/// let form: &PlayerRef<'_> = received.get();
/// assert_eq!((form.name, form.scores), ("Ada", &[3, 5][..]));
/// let again: Player = received.to_owned()?;
/// assert_eq!(again.scores, player.scores);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As for [`Writer::gather`].
pub fn to_vec<T: Transportable>(value: &T) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    with_codec(&WRITER, |writer| writer.write_vec(value, &mut bytes))?;
    Ok(bytes)
}

/// Reads the message in `bytes`, with the default [`Limits`].
///
/// The message is copied once, into an aligned buffer of its own, because its bytes become objects
/// with native pointers where they lie. The result owns that buffer and borrows nothing from
/// `bytes`; references to its objects borrow from the result. [`Received::get`] returns the object,
/// and [`Received::to_owned`] a value that owns its parts. `bytes` can be a `&Vec<u8>` or a
/// `&bytes::Bytes`: their memory is not aligned as objects need it, so owning it would not save the
/// copy.
///
/// To read without a copy, receive the bytes into an [`EmptyBuffer`] or a buffer of a
/// [`Pool`](crate::Pool), and read them with a [`Reader`]. A `Reader` also has other limits. Each
/// thread reuses the work lists of one reader.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes = jstream::to_vec(&("seven", 7u32))?;
/// let received = jstream::from_slice::<(&str, u32)>(&bytes)?;
/// assert_eq!(received.get(), &("seven", 7));
///
/// let error = jstream::from_slice::<(&str, u32)>(&bytes[..50]).unwrap_err();
/// assert!(error.to_string().contains("don't add up to the message's 50 bytes"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// A [`ReadError`] says what is wrong with the message, and where.
pub fn from_slice<T>(bytes: &[u8]) -> Result<Received<T>, ReadError>
where
    T: Transportable + 'static,
{
    let (len, limit) = (bytes.len(), Limits::default().bytes);
    if len > limit {
        return Err(ReadError::TooLong { len, limit });
    }
    let message = match EmptyBuffer::heap(len).copy_from(bytes) {
        Ok(message) => message,
        Err(_) => unreachable!("the buffer has the length of the message"),
    };
    with_codec(&READER, |reader| reader.read(message)).map_err(|failure| failure.error)
}
