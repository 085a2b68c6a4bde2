//! Conversion of failures of a call to [`CallError`].

use jstream_active::{Reason, RequestError, Returned, decode_retry_after};
use jstream_base::SendError;

use crate::frame::Code;
use crate::interface::Method;
use crate::support::{CallError, Outcome, shown};

/// Converts an error code and text of the peer. The text is untrusted, so it is only ever
/// displayed.
pub(crate) fn failure(method: &'static Method, code: u64, text: &[u8]) -> CallError {
    // Control characters of a peer must not reach a terminal or a log.
    let said = || shown(&String::from_utf8_lossy(text));
    let reason = || match said() {
        text if text.is_empty() => "no reason given".to_owned(),
        text => text,
    };
    let name = method.name();
    let overdue = |outcome| CallError::Deadline {
        method: name,
        outcome,
        idempotent: method.is_idempotent(),
    };
    match Code::from_word(code) {
        Some(Code::Denied) => CallError::Denied {
            method: name,
            reason: reason(),
        },
        Some(Code::UnknownObject) => CallError::UnknownObject { method: name },
        Some(Code::UnknownMethod) => CallError::UnknownMethod {
            signature: method.signature(),
            known: reason(),
        },
        Some(Code::Arguments) => CallError::Refused {
            method: name,
            reason: reason(),
        },
        // A kept result that could not be fetched. The number in the payload means nothing to the
        // program.
        Some(Code::Result | Code::Kept) => CallError::NoResult {
            method: name,
            reason: reason(),
        },
        Some(Code::NotGiven) => CallError::NotGiven {
            method: name,
            reason: reason(),
        },
        Some(Code::Streams) => CallError::Busy {
            method: name,
            retry_after: std::str::from_utf8(text).ok().and_then(decode_retry_after),
        },
        Some(Code::Ending) => CallError::Ending { method: name },
        Some(Code::Panicked) => CallError::Panicked {
            method: name,
            reason: said(),
            idempotent: method.is_idempotent(),
        },
        Some(Code::TooLate) => overdue(Outcome::DidNotRun),
        Some(Code::Overdue) => overdue(Outcome::MayHaveRun),
        // A later version may have more codes. What they say about the method is not known, so it
        // may have run.
        None => lost(
            method,
            format!("the peer answered with the unknown code {code}"),
        ),
    }
}

pub(crate) fn lost(method: &'static Method, reason: String) -> CallError {
    CallError::Lost {
        method: method.name(),
        reason,
        idempotent: method.is_idempotent(),
    }
}

/// Converts the error of a call that has no answer.
pub(super) fn unanswered(method: &'static Method, error: RequestError) -> CallError {
    match error {
        RequestError::Returned { returned, .. } => returned_as(method, &returned),
        RequestError::Lost { .. } | RequestError::NoRoom { .. } | RequestError::Forked { .. } => {
            lost(method, error.to_string())
        }
        error => unsent(method, error),
    }
}

/// Converts the reason for which the transport returned a call.
fn returned_as(method: &'static Method, returned: &Returned) -> CallError {
    let name = method.name();
    let given_up = |outcome| CallError::Cancelled {
        method: name,
        outcome,
    };
    match returned.reason {
        Reason::Busy => CallError::Busy {
            method: name,
            retry_after: returned.retry_after,
        },
        Reason::Ending => CallError::Ending { method: name },
        Reason::Panicked => CallError::Panicked {
            method: name,
            reason: String::new(),
            idempotent: method.is_idempotent(),
        },
        Reason::Cancelled => given_up(Outcome::DidNotRun),
        Reason::Unanswered => given_up(Outcome::MayHaveRun),
        Reason::Unsendable => CallError::NoResult {
            method: name,
            reason: shown(&returned.text),
        },
        // The reasons of active messages may grow, too.
        _ => lost(method, shown(&returned.to_string())),
    }
}

/// Converts the error of a call that was not sent.
pub(crate) fn unsent(method: &'static Method, error: RequestError) -> CallError {
    let name = method.name();
    let not_sent = |source| CallError::NotSent {
        method: name,
        source,
    };
    match error {
        RequestError::Send(source) => not_sent(source),
        RequestError::Ended { peer } => not_sent(SendError::Closed { peer }),
        RequestError::Forked { peer } => not_sent(SendError::Forked { peer }),
        RequestError::TimedOut { peer, after } => not_sent(SendError::TimedOut { after, peer }),
        RequestError::NoCredit => CallError::Busy {
            method: name,
            retry_after: None,
        },
        RequestError::Returned { returned, .. } => returned_as(method, &returned),
        error => lost(method, error.to_string()),
    }
}
