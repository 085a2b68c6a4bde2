//! Headers of the messages by which both sides prove that they know a secret.

use jstream_base::frames;

/// Version of this protocol.
pub(crate) const SECRET_VERSION: u64 = 1;

frames! {
    /// A message of the authentication.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum SecretMessage by Kind, reserved Zero {
        CHALLENGE = 0x6a73_7201 => Challenge { version: u64 = First },
        PROOF = 0x6a73_7202 => Proof { version: u64 = First },
        COUNTERPROOF = 0x6a73_7203 => Counterproof { version: u64 = First },
    }
}
