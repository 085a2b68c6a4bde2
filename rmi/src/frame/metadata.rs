//! Metadata of calls: string keys and values that travel with a call.
//!
//! Decision 085 has the reasons.

use std::fmt;
use std::sync::Arc;

use crate::frame::header::HAS_METADATA;
use crate::support::{MOST_METADATA_BYTES, MOST_METADATA_ENTRIES, MetadataError};

/// Length in bytes of the two lengths before an entry's key, and of the length behind the entries.
const LENGTHS: usize = 4;

/// The metadata of a call: string keys and values that travel with it, such as the trace context
/// of W3C. See the [guide](crate::guide::metadata).
///
/// Keys are visible ASCII without upper-case letters, and no key has two values. Values are any
/// text. There are at most [`MAX_ENTRIES`](Self::MAX_ENTRIES) entries, which take at most
/// [`MAX_BYTES`](Self::MAX_BYTES) bytes. Cheap to clone: clones share the entries until one of them
/// is changed.
///
/// ```
/// use jstream_rmi::Metadata;
///
/// # fn main() -> Result<(), jstream_rmi::MetadataError> {
/// let mut metadata = Metadata::default();
/// metadata.insert("tenant", "acme")?;
/// assert_eq!(metadata.get("tenant"), Some("acme"));
/// assert!(metadata.insert("Tenant", "acme").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata(Option<Arc<Vec<u8>>>);

impl Metadata {
    /// Maximum number of entries.
    pub const MAX_ENTRIES: usize = MOST_METADATA_ENTRIES;

    /// Maximum length of all entries in bytes: for each entry, the lengths of key and value plus 4.
    pub const MAX_BYTES: usize = MOST_METADATA_BYTES;

    /// Adds an entry, or replaces the value of an existing key.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] if the key is invalid or a limit would be exceeded. The entries are then
    /// unchanged.
    pub fn insert(&mut self, key: &str, value: &str) -> Result<(), MetadataError> {
        if !is_key(key) {
            let key = key.to_owned();
            return Err(MetadataError::Key { key });
        }
        let others = self.iter().filter(|(other, _)| *other != key);
        let (mut count, mut bytes) = (1_usize, length_of(key, value));
        for (key, value) in others {
            count = count.saturating_add(1);
            bytes = bytes.saturating_add(length_of(key, value));
        }
        if count > Self::MAX_ENTRIES {
            return Err(MetadataError::Entries);
        }
        if bytes > Self::MAX_BYTES {
            return Err(MetadataError::Bytes { bytes });
        }
        // After the checks, so that a failed insertion leaves the entries as they were.
        self.remove(key);
        // Copies the entries if other calls share them.
        let all = Arc::make_mut(self.0.get_or_insert_default());
        for length in [key.len(), value.len()] {
            // Both are below the limit of bytes.
            all.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
        }
        all.extend(key.as_bytes());
        all.extend(value.as_bytes());
        Ok(())
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Removes an entry. Returns true if there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        if self.get(key).is_none() {
            return false;
        }
        let mut rest = Vec::new();
        for (other, value) in self.iter().filter(|(other, _)| *other != key) {
            for length in [other.len(), value.len()] {
                rest.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
            }
            rest.extend(other.as_bytes());
            rest.extend(value.as_bytes());
        }
        self.0 = (!rest.is_empty()).then(|| Arc::new(rest));
        true
    }

    /// Returns the keys and values, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.encoded();
        std::iter::from_fn(move || next(&mut rest))
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns these entries with those of `over`, whose values replace those of the same key.
    pub(crate) fn with(&self, over: &Self) -> Result<Self, MetadataError> {
        if self.is_empty() {
            return Ok(over.clone());
        }
        let mut all = self.clone();
        for (key, value) in over.iter() {
            all.insert(key, value)?;
        }
        Ok(all)
    }

    /// Returns the encoded entries, without their length.
    fn encoded(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |all| all.as_slice())
    }

    /// Appends the encoded entries and their length.
    pub(crate) fn append_to(&self, payload: &mut Vec<u8>) {
        let all = self.encoded();
        payload.extend(all);
        let length = u32::try_from(all.len()).unwrap_or(u32::MAX);
        payload.extend(length.to_le_bytes());
    }

    /// Decodes the metadata at the end of a payload. Returns it with the number of bytes that it
    /// takes, or the rule that it breaks.
    pub(crate) fn at_end(payload: &[u8]) -> Result<(Self, usize), &'static str> {
        const SHORT: &str = "the metadata of the call is longer than its payload";
        let (rest, length) = payload.split_last_chunk::<LENGTHS>().ok_or(SHORT)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| SHORT)?;
        // Before anything is allocated: the peer chooses the length.
        if length > Self::MAX_BYTES {
            return Err("the metadata of the call takes more than 4096 bytes");
        }
        let start = rest.len().checked_sub(length).ok_or(SHORT)?;
        let all = rest.get(start..).unwrap_or_default();
        check(all)?;
        // A copy, because methods keep the metadata after the receive buffer has gone back to its
        // pool.
        let metadata = Self((!all.is_empty()).then(|| Arc::new(all.to_vec())));
        Ok((metadata, length.saturating_add(LENGTHS)))
    }
}

/// Splits the captured payload of a call with this header word into its arguments and its metadata.
/// Returns `None` if the metadata is invalid.
#[must_use]
pub fn metadata_of(word: u64, payload: &[u8]) -> Option<(&[u8], Metadata)> {
    if word & HAS_METADATA == 0 {
        return Some((payload, Metadata::default()));
    }
    let (metadata, taken) = Metadata::at_end(payload).ok()?;
    let length = payload.len().checked_sub(taken)?;
    Some((payload.get(..length)?, metadata))
}

/// Checks encoded entries.
fn check(all: &[u8]) -> Result<(), &'static str> {
    let (mut rest, mut keys) = (all, Vec::new());
    while !rest.is_empty() {
        let (key, _) = next(&mut rest)
            .ok_or("an entry of the call's metadata is longer than all of it, or not UTF-8")?;
        if !is_key(key) {
            return Err(
                "a key of the call's metadata is empty, or has other characters than visible \
                        ASCII without upper-case letters",
            );
        }
        keys.push(key);
        // Checked in the loop, so that the list of keys stays short, too.
        if keys.len() > Metadata::MAX_ENTRIES {
            return Err("the metadata of the call has more than 32 entries");
        }
    }
    keys.sort_unstable();
    match keys.windows(2).any(|pair| pair.first() == pair.last()) {
        true => Err("the metadata of the call has the same key twice"),
        false => Ok(()),
    }
}

/// Takes the first entry.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(&'a str, &'a str)> {
    let (lengths, texts) = rest.split_first_chunk::<LENGTHS>()?;
    let [a, b, c, d] = *lengths;
    let (key, texts) = texts.split_at_checked(u16::from_le_bytes([a, b]).into())?;
    let (value, behind) = texts.split_at_checked(u16::from_le_bytes([c, d]).into())?;
    *rest = behind;
    Some((
        std::str::from_utf8(key).ok()?,
        std::str::from_utf8(value).ok()?,
    ))
}

fn is_key(key: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    !key.is_empty() && key.bytes().all(is_valid)
}

/// Returns the encoded length of an entry.
fn length_of(key: &str, value: &str) -> usize {
    let texts = key.len().saturating_add(value.len());
    texts.saturating_add(LENGTHS)
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let mut metadata = Metadata::default();
        assert!(metadata.is_empty() && !metadata.remove("a"));
        metadata.insert("a", "1").unwrap();
        metadata.insert("b", "ü\n").unwrap();
        metadata.insert("a", "").unwrap();
        let copy = metadata.clone();
        let mut payload = b"arguments".to_vec();
        metadata.append_to(&mut payload);
        let (read, taken) = Metadata::at_end(&payload).unwrap();
        assert_eq!(payload.split_at(payload.len() - taken).0, b"arguments");
        assert_eq!(read.iter().collect::<Vec<_>>(), [("b", "ü\n"), ("a", "")]);
        assert_eq!((read.get("b"), read.get("c")), (Some("ü\n"), None));
        assert!(metadata.remove("a") && metadata.remove("b") && metadata.is_empty());
        assert_eq!(copy, read);
    }

    #[test]
    fn one_more_than_a_limit_is_an_error() {
        let mut metadata = Metadata::default();
        for key in ["", "A", "a b", "ä", "a\n"] {
            let error = metadata.insert(key, "").unwrap_err();
            assert!(matches!(error, MetadataError::Key { .. }), "{error}");
        }
        for place in 0..Metadata::MAX_ENTRIES {
            metadata.insert(&place.to_string(), "").unwrap();
        }
        metadata.insert("0", "again").unwrap();
        assert_eq!(metadata.insert("more", ""), Err(MetadataError::Entries));
        let mut metadata = Metadata::default();
        let mut value = "v".repeat(Metadata::MAX_BYTES - LENGTHS - 1);
        metadata.insert("k", &value).unwrap();
        metadata.insert("k", &value).unwrap();
        value.push('v');
        let bytes = Metadata::MAX_BYTES + 1;
        assert_eq!(
            metadata.insert("k", &value),
            Err(MetadataError::Bytes { bytes })
        );
        assert_eq!(metadata.get("k").unwrap().len(), value.len() - 1);
    }
}
