//! Replies that refuse a call.

use jstream_transport::active::{Replier, Request};

use crate::frame::Code;

/// Maximum length in bytes of an error text that is sent to a peer.
const LONGEST_REASON: usize = 1024;

/// Replies with an error.
pub(crate) fn refuse(replier: Replier, code: Code, why: &str) {
    let mut end = why.len().min(LONGEST_REASON);
    while !why.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let why = why.get(..end).unwrap_or_default();
    replier.reply(code as u64, why.as_bytes());
}

/// Refuses a request.
pub(crate) fn fail(request: Request, code: Code, why: &str) {
    let (_, replier) = request.into_parts();
    refuse(replier, code, why);
}
