//! Session of a server with one client.

use std::time::{Duration, Instant};

use jstream_transport::{Endpoint, RecvError};

use crate::failure::Failure;
use crate::greeting::{self, BEGIN, READY, expect, refuse, send_words};
use crate::party::Party;
use crate::server::Shared;
use crate::tagged::{SERVER, Tagged};
use crate::work::{Op, Work};

/// Time for which a client may take to read the notice of an error.
const FAREWELL: Duration = Duration::from_millis(200);

/// Serves the requests of a client one after the other, until the client ends.
pub(crate) fn session(endpoint: &Endpoint, shared: &Shared) -> Result<(), Failure> {
    let limits = &shared.limits;
    greeting::welcome(endpoint, limits.allowed, limits.idle)?;
    let begun = Instant::now();
    let has_time = || match begun.elapsed() > limits.time {
        true => Err(Failure::Said("the session exceeded --max-time".to_owned())),
        false => Ok(()),
    };
    loop {
        let message = match endpoint.recv_message_within(limits.idle) {
            Err(RecvError::Closed { .. }) => return Ok(()),
            message => message?,
        };
        expect(&message.header, BEGIN, None)?;
        has_time()?;
        let work = match Work::of_words(message.header.words, limits.allowed) {
            Ok(work) => work,
            Err(reason) => {
                refuse(endpoint, &reason)?;
                continue;
            }
        };
        let Some(_grant) = shared.grant(work.memory()) else {
            refuse(
                endpoint,
                "other clients use all memory of the server; try again, or raise its --max-memory",
            )?;
            continue;
        };
        if work.op == Op::Tags {
            send_words(endpoint, READY, [0; 3])?;
            return Tagged::new(endpoint, SERVER, work, limits.spin)?.follow(has_time);
        }
        let mut party = Party::new(endpoint, work, limits.idle)?;
        send_words(endpoint, READY, [0; 3])?;
        if let Err(failure) = party.follow(has_time) {
            farewell(endpoint);
            return Err(failure);
        }
    }
}

/// Lets the client read the last message: a stream that is dropped with unread messages may be
/// reset.
fn farewell(endpoint: &Endpoint) {
    if endpoint.finish().is_err() {
        return;
    }
    let begun = Instant::now();
    while let Some(left) = FAREWELL.checked_sub(begun.elapsed()) {
        if endpoint.recv_message_within(left).is_err() {
            return;
        }
    }
}
