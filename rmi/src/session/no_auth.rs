//! Stands for the authentication by a shared secret if the feature `secret` is off: there are no
//! secrets, so no connection asks for one.
//!
//! Decision 104 has the reasons.

use std::convert::Infallible;
use std::time::Duration;

use jstream_endpoint::Endpoint;
use jstream_endpoint::acceptor::Candidate;

use crate::support::AuthError;

/// A shared secret that both sides of a connection must know. Without the feature `secret`, none
/// can be created.
#[derive(Debug, Clone)]
pub struct Secret(Infallible);

/// Authenticates a client.
#[allow(clippy::unused_async, reason = "as with the feature")]
pub(crate) async fn admit(_: &Candidate, secret: &Secret) -> Result<(), AuthError> {
    match secret.0 {}
}

/// Authenticates a server.
pub(crate) fn prove(_: &Endpoint, secret: &Secret, _: Duration) -> Result<(), AuthError> {
    match secret.0 {}
}
