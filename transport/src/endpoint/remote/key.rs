//! What a peer has to know to put and get.

use jstream::Transportable;

/// What a peer may do with exposed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Transportable)]
pub enum Rights {
    /// Read it.
    Get,
    /// Write to it.
    Put,
    /// Both.
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

/// Names memory that an endpoint has exposed, for the other end of its connection.
///
/// It is a plain value: send it as an object, or [in the words](Self::to_words) of a header. Nobody can
/// guess it, and it means nothing on another connection. What it says of length and rights is there to
/// be read; the owner looks at its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Transportable)]
pub struct RemoteKey {
    pub(super) number: u64,
    pub(super) length: u64,
    pub(super) rights: Rights,
}

impl RemoteKey {
    /// How many bytes are exposed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether none are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What may be done with them.
    #[must_use]
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// The key as the words of a [`Header`](crate::Header).
    #[must_use]
    pub fn to_words(&self) -> [u64; 3] {
        let rights = match self.rights {
            Rights::Get => 1,
            Rights::Put => 2,
            Rights::Both => 3,
        };
        [self.number, self.length, rights]
    }

    /// The key that travelled in `words`; `None` when they are none.
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
