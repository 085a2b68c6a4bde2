//! By what the members of a world know each other.

use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::rand::{GetRandomFlags, getrandom};

use super::error::WorldError;

/// The number of a world, drawn by rank 0, which its members show to each other.
///
/// It keeps strangers out who come by accident. It is no key: it travels as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Session([u8; Session::LENGTH]);

impl Session {
    /// How many bytes it has.
    pub(super) const LENGTH: usize = 16;

    /// What who was not told says.
    pub(super) const UNKNOWN: Self = Self([0; Self::LENGTH]);

    /// A new one.
    ///
    /// # Errors
    ///
    /// What the system says when it has no random numbers.
    pub fn new() -> io::Result<Self> {
        loop {
            let mut bytes = [0; Self::LENGTH];
            match getrandom(&mut bytes, GetRandomFlags::empty()) {
                // So few come at once, or not at all.
                Ok(count) if count == bytes.len() && bytes != [0; Self::LENGTH] => {
                    return Ok(Self(bytes));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// A part of it, for the names of listeners.
    pub(super) fn short(&self) -> String {
        self.to_string().chars().take(Self::LENGTH).collect()
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Logs don't tell it.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl FromStr for Session {
    type Err = WorldError;

    /// Of 32 hexadecimal digits, as it is displayed.
    fn from_str(text: &str) -> Result<Self, WorldError> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u128::from_str_radix(text, 16).ok());
        let session = number.flatten().map(|number| Self(number.to_be_bytes()));
        session
            .filter(|session| *session != Self::UNKNOWN)
            .ok_or_else(|| WorldError::BadSession {
                text: text.escape_debug().take(64).collect(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_from_its_text() {
        let session = Session::new().unwrap();
        assert_ne!(session, Session::new().unwrap());
        let text = session.to_string();
        assert_eq!(text.len(), 32);
        assert_eq!(text.parse::<Session>().unwrap(), session);
        assert_eq!(Session::from_bytes(session.bytes()), Some(session));
        assert!(text.starts_with(&session.short()));
        assert!(!format!("{session:?}").contains(&session.short()));
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "12",
            "+0000000000000000000000000000001",
            &"0".repeat(32),
        ] {
            assert!(text.parse::<Session>().is_err(), "{text}");
        }
    }
}
