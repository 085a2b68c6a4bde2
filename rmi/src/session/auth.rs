//! Mutual authentication by a shared secret, before any other message is exchanged.
//!
//! The server sends a challenge of 32 random bytes. The client answers with a challenge of its own
//! and a proof: an HMAC-SHA256, keyed with the secret, over the client's role and both challenges.
//! The server answers with its own proof. The role is part of each proof, so an attacker cannot
//! reflect a side's challenge back to it.

use std::fmt;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, Mac};
use jstream_base::RecvError;
use jstream_endpoint::Endpoint;
use jstream_endpoint::acceptor::Candidate;
use sha2::Sha256;

use crate::frame::{SECRET_VERSION, SecretMessage};
use crate::support::AuthError;

const CHALLENGE: SecretMessage = SecretMessage::Challenge {
    version: SECRET_VERSION,
};

const PROOF: SecretMessage = SecretMessage::Proof {
    version: SECRET_VERSION,
};

const COUNTERPROOF: SecretMessage = SecretMessage::Counterproof {
    version: SECRET_VERSION,
};

/// A nonce or a proof.
type Bytes = [u8; 32];

/// Length in bytes of a message with a nonce and a proof.
const PROOF_LENGTH: usize = 64;

/// Side that computes a proof.
#[derive(Debug, Clone, Copy)]
enum Role {
    Client,
    Server,
}

impl Role {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Client => b"jstream rmi 1 client",
            Self::Server => b"jstream rmi 1 server",
        }
    }
}

/// A shared secret that both sides of a connection must know; see
/// [`ServerOptions::secret`](crate::ServerOptions::secret).
///
/// The secret controls access, and does not encrypt. An attacker who can read and modify network
/// traffic can take over an established connection. Use TLS as well to prevent this.
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

/// Error for a secret that is shorter than [`Secret::SHORTEST`].
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret of {len} bytes is too short: use at least {} random bytes",
    Secret::SHORTEST
)]
pub struct SecretTooShort {
    /// Length of the rejected secret in bytes.
    pub len: usize,
}

impl Secret {
    /// Minimum length in bytes. The bytes must be random, which this type cannot check. Do not use
    /// a password.
    pub const SHORTEST: usize = 16;

    /// Creates a secret from its bytes.
    ///
    /// # Errors
    ///
    /// [`SecretTooShort`] if there are fewer than [`SHORTEST`](Self::SHORTEST) bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, SecretTooShort> {
        let len = bytes.len();
        if len < Self::SHORTEST {
            return Err(SecretTooShort { len });
        }
        Ok(Self(bytes.into()))
    }

    /// Computes the proof of `role`. `own` is the challenge that the proving side sent.
    fn proof(&self, role: Role, own: &Bytes, theirs: &Bytes) -> Hmac<Sha256> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("an HMAC accepts keys of any length")
        };
        for part in [role.name(), own, theirs] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Secret {
    /// Omits the secret bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Authenticates a client, then proves knowledge of the secret to it.
pub(crate) async fn admit(candidate: &Candidate, secret: &Secret) -> Result<(), AuthError> {
    let ours = nonce()?;
    candidate.send(CHALLENGE.header(), &ours).await?;
    // A client that knows of no secret sends its table of handlers instead. A length limit keeps a
    // stranger from making the server allocate before it has shown the secret.
    let answer = match candidate.receive(PROOF_LENGTH).await {
        Err(RecvError::TooSmall { .. }) => return Err(AuthError::NotAsked),
        received => received?,
    };
    let bytes = <&[u8; PROOF_LENGTH]>::try_from(answer.payload.as_bytes());
    let (Some(PROOF), Ok(bytes)) = (SecretMessage::decode(&answer.header), bytes) else {
        return Err(AuthError::NotAsked);
    };
    let (theirs, proof) = halves(bytes);
    let expected = secret.proof(Role::Client, &theirs, &ours);
    // The comparison takes the same time wherever the first difference is, so that an attacker
    // can't find the proof byte by byte.
    expected
        .verify_slice(&proof)
        .map_err(|_| AuthError::Wrong)?;
    let counterproof = secret
        .proof(Role::Server, &ours, &theirs)
        .finalize()
        .into_bytes();
    // The server proves itself second. A stranger that only connects gets no HMAC of the secret to
    // test guesses with offline.
    candidate.send(COUNTERPROOF.header(), &counterproof).await?;
    Ok(())
}

/// Proves knowledge of the secret to a server, then authenticates the server. Waits at most
/// `within` for each message.
pub(crate) fn prove(
    endpoint: &Endpoint,
    secret: &Secret,
    within: Duration,
) -> Result<(), AuthError> {
    let mut theirs = [0; 32];
    receive(endpoint, CHALLENGE, &mut theirs, within)?;
    let ours = nonce()?;
    let proof = secret
        .proof(Role::Client, &ours, &theirs)
        .finalize()
        .into_bytes();
    let segments = [IoSlice::new(&ours), IoSlice::new(&proof)];
    endpoint.send_message(PROOF.header(), &segments)?;
    let mut counterproof = [0; 32];
    receive(endpoint, COUNTERPROOF, &mut counterproof, within)?;
    let expected = secret.proof(Role::Server, &theirs, &ours);
    expected
        .verify_slice(&counterproof)
        .map_err(|_| AuthError::Wrong)
}

/// Receives the next message into `memory`. If it is not `message`, or has another length, returns
/// an error without allocating memory.
fn receive(
    endpoint: &Endpoint,
    message: SecretMessage,
    memory: &mut [u8],
    within: Duration,
) -> Result<(), AuthError> {
    // The server is not trusted yet, either. Its message goes into memory of a fixed size, so it
    // can't make the client allocate.
    let header = match endpoint.recv_into_within(memory, within) {
        Err(RecvError::TooSmall { .. }) => return Err(AuthError::NotAsked),
        received => received?,
    };
    if SecretMessage::decode(&header) == Some(message) && header.length == memory.len() as u64 {
        return Ok(());
    }
    Err(AuthError::NotAsked)
}

fn nonce() -> Result<Bytes, AuthError> {
    let mut nonce = [0; 32];
    let mut rest = &mut nonce[..];
    while !rest.is_empty() {
        let flags = rustix::rand::GetRandomFlags::empty();
        match rustix::rand::getrandom(&mut *rest, flags) {
            // `got` is at most the length of `rest`. An empty rest would end the loop, which is the
            // safe side for a length that can't occur.
            Ok(got) => rest = rest.get_mut(got..).unwrap_or_default(),
            // A signal interrupted the wait for the random pool of the system at boot.
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(AuthError::Random(error.into())),
        }
    }
    Ok(nonce)
}

fn halves(of: &[u8; 64]) -> (Bytes, Bytes) {
    let (mut first, mut second) = ([0; 32], [0; 32]);
    for (half, from) in [
        (&mut first, of.first_chunk()),
        (&mut second, of.last_chunk()),
    ] {
        half.copy_from_slice(from.unwrap_or(&[0; 32]));
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(of: Hmac<Sha256>) -> Vec<u8> {
        of.finalize().into_bytes().to_vec()
    }

    #[test]
    fn a_proof_says_role_secret_and_both_challenges() {
        let [one, other] =
            [b"sixteen bytes, 1", b"sixteen bytes, 2"].map(|of| Secret::new(of).unwrap());
        let (a, b) = ([1; 32], [2; 32]);
        let proof = bytes(one.proof(Role::Client, &a, &b));
        assert_eq!(bytes(one.proof(Role::Client, &a, &b)), proof);
        for another in [
            one.proof(Role::Server, &a, &b),
            one.proof(Role::Client, &b, &a),
            one.proof(Role::Client, &a, &a),
            other.proof(Role::Client, &a, &b),
        ] {
            assert_ne!(bytes(another), proof);
        }
    }

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert_eq!(Secret::new(b"a password").unwrap_err().len, 10);
        let secret = Secret::new(b"not to be shown to anybody").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn numbers_differ() {
        assert_ne!(nonce().unwrap(), nonce().unwrap());
    }

    #[test]
    fn an_answer_has_two_halves() {
        let mut answer = [1; 64];
        answer[32..].fill(2);
        assert_eq!(halves(&answer), ([1; 32], [2; 32]));
    }
}
