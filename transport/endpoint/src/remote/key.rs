//! Key that a peer needs for puts and gets.

use jstream::Transportable;

/// Operations that a peer may perform on exposed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Transportable)]
pub enum Rights {
    /// Read the memory.
    Get,
    /// Write to the memory.
    Put,
    /// Read and write the memory.
    Both,
}

impl Rights {
    pub(super) fn allows_get(self) -> bool {
        matches!(self, Self::Get | Self::Both)
    }

    pub(super) fn allows_put(self) -> bool {
        matches!(self, Self::Put | Self::Both)
    }
}

/// Key of exposed memory, for the peer of the connection.
///
/// A key is a plain value: send it as an object, or [in the words](Self::to_words) of a header. It
/// can't be guessed, and it is not valid on another connection. The length and the rights in it are
/// informative; the owner checks its own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Transportable)]
pub struct RemoteKey {
    pub(super) number: u64,
    pub(super) length: u64,
    pub(super) rights: Rights,
}

impl RemoteKey {
    /// Returns the number of exposed bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns true if no bytes are exposed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the permitted operations.
    #[must_use]
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// Returns the key as the words of a [`Header`](jstream_base::Header).
    #[must_use]
    pub fn to_words(&self) -> [u64; 3] {
        let rights = match self.rights {
            Rights::Get => 1,
            Rights::Put => 2,
            Rights::Both => 3,
        };
        [self.number, self.length, rights]
    }

    /// Returns the key that `words` contain, or `None` if they contain no key.
    #[must_use]
    pub fn from_words(words: [u64; 3]) -> Option<Self> {
        let [number, length, rights] = words;
        let rights = match rights {
            1 => Rights::Get,
            2 => Rights::Put,
            3 => Rights::Both,
            _ => return None,
        };
        Some(Self {
            number,
            length,
            rights,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_fit_the_words_of_a_header() {
        for rights in [Rights::Get, Rights::Put, Rights::Both] {
            let key = RemoteKey {
                number: u64::MAX,
                length: 5,
                rights,
            };
            assert_eq!(RemoteKey::from_words(key.to_words()), Some(key));
        }
        assert_eq!(RemoteKey::from_words([1, 2, 0]), None);
        assert_eq!(RemoteKey::from_words([1, 2, 4]), None);
    }
}
