//! Names of a registry that several servers have.
//!
//! Decision 123 has the reasons.

use std::hint::black_box;
use std::sync::Arc;

use crate::directory::protocol::{Entry, Refusal};

/// Minimum and maximum length of a key in bytes.
const SHORTEST_KEY: usize = 16;
const LONGEST_KEY: usize = 256;

/// The servers of a name. There is at least one.
pub(super) struct SharedName {
    key: Vec<u8>,
    pub(super) servers: Vec<SharedServer>,
}

/// A server of a name.
pub(super) struct SharedServer {
    pub(super) entry: Arc<Entry>,
    /// The connection that has bound the name for the server.
    pub(super) binder: usize,
}

/// Checks the length of a key.
pub(super) fn check_key(key: &[u8]) -> Result<(), Refusal> {
    match (SHORTEST_KEY..=LONGEST_KEY).contains(&key.len()) {
        true => Ok(()),
        false => Err(Refusal::KeyLength),
    }
}

impl SharedName {
    /// Creates a name with its first server.
    pub(super) fn new(key: &[u8], first: SharedServer) -> Self {
        Self {
            key: key.to_vec(),
            servers: vec![first],
        }
    }

    /// Returns true if this is the key of the name. Takes the same time for all keys of its length,
    /// so that it can't be guessed byte by byte.
    pub(super) fn has_key(&self, key: &[u8]) -> bool {
        let pairs = self.key.iter().zip(key);
        let difference = pairs.fold(0, |all, (own, other)| all | (own ^ other));
        // The compiler must not end the comparison at the first difference.
        self.key.len() == key.len() && black_box(difference) == 0
    }

    /// Returns the place of the server that has these addresses.
    pub(super) fn place_of(&self, addresses: &[String]) -> Option<usize> {
        let mut servers = self.servers.iter();
        servers.position(|server| server.entry.addresses == addresses)
    }

    /// Returns the entry that stands for all servers.
    pub(super) fn first(&self) -> Option<&Arc<Entry>> {
        Some(&self.servers.first()?.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_equal_as_a_whole() {
        let entry = Entry {
            name: "a".to_owned(),
            interface: String::new(),
            id: 0,
            description: String::new(),
            addresses: Vec::new(),
        };
        let first = SharedServer {
            entry: Arc::new(entry),
            binder: 1,
        };
        let shared = SharedName::new(&[7; 16], first);
        assert!(shared.has_key(&[7; 16]));
        let mut other = [7; 16];
        other[15] = 8;
        assert!(!shared.has_key(&other));
        assert!(!shared.has_key(&[7; 17]) && !shared.has_key(&[7; 15]) && !shared.has_key(&[]));
    }

    #[test]
    fn keys_have_a_length() {
        for (len, is_valid) in [
            (0, false),
            (15, false),
            (16, true),
            (256, true),
            (257, false),
        ] {
            assert_eq!(check_key(&vec![1; len]).is_ok(), is_valid, "{len}");
        }
    }
}
