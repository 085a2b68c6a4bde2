//! Connections by a shared secret: each side proves that it knows it, before anything else is said.
//!
//! The server sends a challenge, 32 bytes of the system's random numbers. The client answers with a challenge of its
//! own and with its proof, an HMAC-SHA256 under the secret of its role and both challenges; the server with its own proof.
//! The roles are parts of the proofs, so nobody can have a side answer its own challenge.

use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, Mac};
use jstream_transport::{Endpoint, Header, RecvError, SendError};
use sha2::Sha256;

/// The kinds of the three messages.
const CHALLENGE: u32 = 0x6a73_7201;
const PROOF: u32 = 0x6a73_7202;
const COUNTERPROOF: u32 = 0x6a73_7203;

const VERSION: u64 = 1;

/// A number that is used once, and the length of a proof.
type Bytes = [u8; 32];

/// Who proves.
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

/// What both sides of a connection know, and nobody else: see [`ServerOptions::secret`](crate::ServerOptions::secret).
///
/// It says who may call. It hides nothing: who can read and change what goes over the network can take a connection over
/// once it is made. Where that is a threat, use TLS, too.
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

/// A secret that is shorter than [`Secret::SHORTEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret of {len} bytes can be guessed: use random ones, {} at least",
    Secret::SHORTEST
)]
pub struct SecretTooShort {
    /// Its length in bytes.
    pub len: usize,
}

impl Secret {
    /// The fewest bytes of a secret. They are to be random, which nobody can see: a password is not.
    pub const SHORTEST: usize = 16;

    /// The secret of these bytes.
    ///
    /// # Errors
    ///
    /// [`SecretTooShort`].
    pub fn new(bytes: &[u8]) -> Result<Self, SecretTooShort> {
        let len = bytes.len();
        if len < Self::SHORTEST {
            return Err(SecretTooShort { len });
        }
        Ok(Self(bytes.into()))
    }

    /// What proves that a side knows the secret: of its own challenge first.
    fn proof(&self, role: Role, own: &Bytes, theirs: &Bytes) -> Hmac<Sha256> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("a key of an HMAC has any length")
        };
        for part in [role.name(), own, theirs] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Secret {
    /// Nothing of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Why the sides of a connection don't believe each other. It has ended then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// There are no random numbers to be had.
    #[error("the system gives no random numbers")]
    Random(#[source] io::Error),
    /// What this side says could not be sent.
    #[error("the proof of the secret was not sent")]
    Send(#[from] SendError),
    /// The other side has not answered. A server that does not believe its client ends the connection.
    #[error("no proof of the secret from the other side, which may have another secret: {0}")]
    Receive(#[from] RecvError),
    /// The other side says something else.
    #[error("the other side does not ask for a secret; it needs one, or this side none")]
    NotAsked,
    /// Its proof is wrong.
    #[error("the other side has another secret")]
    Wrong,
}

/// Has a client prove that it knows the secret, within this time, and proves the same to it.
pub(crate) fn admit(
    endpoint: &Endpoint,
    secret: &Secret,
    within: Duration,
) -> Result<(), AuthError> {
    let ours = nonce()?;
    endpoint.send_message(
        Header::new(CHALLENGE, [VERSION, 0, 0]),
        &[IoSlice::new(&ours)],
    )?;
    let mut answer = [0; 64];
    receive(endpoint, PROOF, &mut answer, within)?;
    let (theirs, proof) = halves(&answer);
    let expected = secret.proof(Role::Client, &theirs, &ours);
    expected
        .verify_slice(&proof)
        .map_err(|_| AuthError::Wrong)?;
    let counterproof = secret
        .proof(Role::Server, &ours, &theirs)
        .finalize()
        .into_bytes();
    let header = Header::new(COUNTERPROOF, [VERSION, 0, 0]);
    endpoint.send_message(header, &[IoSlice::new(&counterproof)])?;
    Ok(())
}

/// Proves to a server that this side knows the secret, and has it prove the same, each step within this time.
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
    endpoint.send_message(Header::new(PROOF, [VERSION, 0, 0]), &segments)?;
    let mut counterproof = [0; 32];
    receive(endpoint, COUNTERPROOF, &mut counterproof, within)?;
    let expected = secret.proof(Role::Server, &theirs, &ours);
    expected
        .verify_slice(&counterproof)
        .map_err(|_| AuthError::Wrong)
}

/// The next message, which has this kind and this length: no memory is taken for another one.
fn receive(
    endpoint: &Endpoint,
    kind: u32,
    memory: &mut [u8],
    within: Duration,
) -> Result<(), AuthError> {
    let header = match endpoint.recv_into_timeout(memory, within) {
        Err(RecvError::TooSmall { .. }) => return Err(AuthError::NotAsked),
        received => received?,
    };
    let fits = header.kind == kind && header.words == [VERSION, 0, 0];
    if fits && header.length == memory.len() as u64 {
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
            Ok(got) => rest = rest.get_mut(got..).unwrap_or_default(),
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
