//! The parts of an encoded schema: numbers, names and lists. `record.rs` specifies them.

use std::error::Error;
use std::fmt;

use super::link::TypeIndex;

/// Version of the encoding.
pub(super) const VERSION: u8 = 1;

pub(super) fn put_number(bytes: &mut Vec<u8>, mut n: u128) {
    // Nearly all numbers have seven bits.
    if let (Ok(short), true) = (u8::try_from(n), n < 0x80) {
        bytes.push(short);
        return;
    }
    while n >= 0x80 {
        let [low, ..] = n.to_le_bytes();
        bytes.push(low | 0x80);
        n >>= 7;
    }
    let [low, ..] = n.to_le_bytes();
    bytes.push(low);
}

pub(super) fn put_name(bytes: &mut Vec<u8>, name: &str) {
    put_number(bytes, name.len() as u128);
    bytes.extend_from_slice(name.as_bytes());
}

/// Returns the descriptor of a structure in canonical encoding.
pub(super) fn checksum(canonical: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(canonical)
}

/// Cursor over an encoded schema.
pub(super) struct Decoder<'b> {
    pub(super) bytes: &'b [u8],
    /// Number of bytes decoded so far.
    pub(super) at: usize,
    /// Number of types in the schema.
    pub(super) types: u32,
}

impl<'b> Decoder<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            types: 0,
        }
    }

    pub(super) fn malformed(&self, details: &'static str) -> SchemaError {
        SchemaError::Malformed {
            details,
            at: self.at,
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, SchemaError> {
        let Some(byte) = self.bytes.get(self.at) else {
            return Err(self.malformed("unexpected end"));
        };
        self.at = self.at.wrapping_add(1);
        Ok(*byte)
    }

    pub(super) fn number(&mut self) -> Result<u128, SchemaError> {
        let mut n = 0u128;
        for shift in (0..u128::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            n |= shifted;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(self.malformed("invalid number"))
    }

    pub(super) fn size(&mut self) -> Result<usize, SchemaError> {
        let n = self.number()?;
        usize::try_from(n).map_err(|_| self.malformed("size of more than 64 bits"))
    }

    pub(super) fn index(&mut self) -> Result<TypeIndex, SchemaError> {
        match u32::try_from(self.number()?) {
            Ok(index) if index < self.types => Ok(TypeIndex(index)),
            _ => Err(self.malformed("type index out of range")),
        }
    }

    /// Decodes bytes with a length prefix. `beyond` says what extends beyond the end.
    pub(super) fn sized(&mut self, beyond: &'static str) -> Result<&'b [u8], SchemaError> {
        let len = self.size()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(bytes) = rest.get(..len) else {
            return Err(self.malformed(beyond));
        };
        self.at = self.at.wrapping_add(len);
        Ok(bytes)
    }

    pub(super) fn name(&mut self) -> Result<String, SchemaError> {
        let name = self.sized("name that extends beyond the end")?;
        // Names appear in errors and logs, where control characters could do harm.
        match std::str::from_utf8(name) {
            Ok(name) if !name.contains(char::is_control) => Ok(name.to_owned()),
            _ => Err(self.malformed("name with invalid UTF-8 or control characters")),
        }
    }

    /// Decodes a list with a length prefix. Memory grows with the decoded elements only, and each
    /// element takes at least one byte. A length beyond the end of the input is therefore an error.
    pub(super) fn list<E>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<E, SchemaError>,
    ) -> Result<Vec<E>, SchemaError> {
        let len = self.size()?;
        let mut list = Vec::new();
        for _ in 0..len {
            list.push(element(self)?);
        }
        Ok(list)
    }
}

/// An error of decoding or storing a schema.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is longer than [`Schema::MAX_BYTES`](super::Schema::MAX_BYTES).
    TooLong {
        /// The length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The version of the encoding is not supported.
    Version {
        /// The first byte.
        found: u8,
    },
    /// The bytes are not a valid schema.
    Malformed {
        /// Description of the error.
        details: &'static str,
        /// Offset of the error in bytes.
        at: usize,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, limit } => {
                write!(
                    f,
                    "a schema of {len} bytes exceeds the limit of {limit} bytes"
                )
            }
            Self::Version { found } => write!(
                f,
                "a schema has version {found}, but only version {VERSION} is supported"
            ),
            Self::Malformed { details, at } => write!(f, "invalid schema: {details} at byte {at}"),
        }
    }
}

impl Error for SchemaError {}
