//! Client options from the command line.

use std::path::Path;
use std::time::Duration;

use jstream_rmi::{ClientOptions, Secret};

use crate::failure::Failure;

/// Returns client options with this timeout in seconds, and with the secret in the file.
pub(crate) fn client(timeout: f64, secret: Option<&Path>) -> Result<ClientOptions, Failure> {
    let time = Duration::try_from_secs_f64(timeout)
        .map_err(|_| Failure::Usage(format!("--timeout {timeout} is not a number of seconds")))?;
    let mut options = ClientOptions::default();
    options.call_timeout = time;
    options.transport.connect_timeout = time;
    options.transport.handshake_timeout = time;
    options.secret = read_secret(secret)?;
    Ok(options)
}

/// Reads a secret: all bytes of the file.
pub(crate) fn read_secret(file: Option<&Path>) -> Result<Option<Secret>, Failure> {
    let Some(file) = file else {
        return Ok(None);
    };
    let usage = |why: &dyn std::error::Error| {
        Failure::Usage(format!("the secret in {}: {why}", file.display()))
    };
    let bytes = std::fs::read(file).map_err(|error| usage(&error))?;
    Ok(Some(Secret::new(&bytes).map_err(|error| usage(&error))?))
}
