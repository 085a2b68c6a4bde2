//! Keys of offers and lanes.

/// An unguessable key of 128 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u64; 2]);

impl Key {
    /// Creates a key. Returns `None` if the system provides no random numbers.
    pub(crate) fn new() -> Option<Self> {
        let mut bytes = [0; 16];
        // From the random numbers of the system: a program that can guess the key can take the
        // object of another one, or join its connection.
        getrandom::fill(&mut bytes).ok()?;
        Some(Self::from_bytes(bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        let wide = u128::from_le_bytes(bytes);
        #[allow(clippy::cast_possible_truncation, reason = "its lower half")]
        Self([wide as u64, (wide >> 64) as u64])
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let [low, high] = self.0;
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }

    pub(crate) fn words(self) -> [u64; 2] {
        self.0
    }

    pub(crate) fn of_words(words: [u64; 2]) -> Self {
        Self(words)
    }
}
