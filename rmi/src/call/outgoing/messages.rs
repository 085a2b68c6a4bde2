//! Calls whose arguments are already encoded.

use std::io::IoSlice;
use std::sync::OnceLock;
use std::time::Instant;

use jstream::Filled;

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::outgoing_call::{ended, sent_one_way};
use crate::call::outgoing::sent::Sent;
use crate::frame::CallHeader;
use crate::interface::Method;
use crate::reference::Object;
use crate::support::CallError;

impl Object {
    /// Sends a call with encoded arguments and this deadline.
    pub(crate) fn send_message(
        &self,
        method: &'static Method,
        index: usize,
        message: &[u8],
        deadline: Option<Instant>,
    ) -> Result<Sent, CallError> {
        let word = self.word_until(method, index, deadline)?;
        let watched = self.watched("", method, deadline, message.len() as u64)?;
        let segments = [IoSlice::new(message)];
        // A pipelined object may have become known since then.
        let Some((connection, number)) = self.way() else {
            let here = CallError::Here {
                method: method.name(),
            };
            return Err(ended(watched.as_ref(), here));
        };
        let word = CallHeader::aimed(word, number);
        let session = connection.session();
        match connection.call(session, word, &segments, deadline) {
            Ok(ticket) => Ok(self.sent(ticket, session, method, deadline, watched)),
            Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
        }
    }

    /// Calls the method at `index` of any interface with encoded arguments. Returns the encoded
    /// result.
    pub(crate) fn call_described(
        &self,
        index: usize,
        message: &[u8],
        one_way: bool,
    ) -> Result<Filled, CallError> {
        static METHOD: OnceLock<Method> = OnceLock::new();
        let method = METHOD.get_or_init(|| Method::new::<(), ()>("the method", "its description"));
        let (deadline, word) = self.word(method, index)?;
        let segments = [IoSlice::new(message)];
        if one_way {
            let Some((connection, number)) = self.way() else {
                return Err(CallError::Here {
                    method: method.name(),
                });
            };
            let word = CallHeader::aimed(word, number);
            let watched = self.watched("", method, deadline, message.len() as u64)?;
            return match connection.call_one_way(word, &segments, deadline) {
                Ok(()) => {
                    sent_one_way(watched.as_ref());
                    Ok(Filled::nothing())
                }
                Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
            };
        }
        self.send_message(method, index, message, deadline)?
            .wait_for_message()
    }
}
