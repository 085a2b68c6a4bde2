//! Completions of completion queues.

use jstream_transport::{Completion, Outcome};

/// Returns the user value of a completion, the number of its message, and the payload.
pub fn received(completion: Completion) -> (u64, u64, Vec<u8>) {
    let Outcome::Received(message) = completion.outcome else {
        panic!("the completion is not a receive");
    };
    let message = message.unwrap();
    (
        completion.user,
        message.header.words[0],
        message.payload.as_bytes().to_vec(),
    )
}
