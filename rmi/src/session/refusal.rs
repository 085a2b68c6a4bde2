//! Replies that refuse a call.

use jstream_active::{Replier, Request};

use crate::frame::Code;

/// Maximum length in bytes of an error text that is sent to a peer.
const LONGEST_REASON: usize = 1024;

/// Replies with an error. If the method did not run, the caller keeps the references among the
/// arguments.
pub(crate) fn refuse(replier: Replier, code: Code, reason: &str) {
    refuse_by(replier, code.to_word(), reason);
}

/// Replies with an error to a call that did not run although the references among its arguments
/// were received.
pub(crate) fn refuse_received(replier: Replier, code: Code, reason: &str) {
    refuse_by(replier, code.to_word_of_received(), reason);
}

fn refuse_by(replier: Replier, word: u64, reason: &str) {
    // Reasons may contain text of the program, such as that of a panic. An answer counts against
    // the window and the backlog of the peer, so its size is bounded.
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let reason = reason.get(..end).unwrap_or_default();
    replier.reply(word, reason.as_bytes());
}

/// Refuses a request.
pub(crate) fn fail(request: Request, code: Code, reason: &str) {
    let (_, replier) = request.into_parts();
    refuse(replier, code, reason);
}
