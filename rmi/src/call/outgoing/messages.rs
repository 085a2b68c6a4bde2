//! Calls whose arguments are already encoded.

use std::io::IoSlice;
use std::sync::OnceLock;
use std::time::Instant;

use jstream::MessageBuffer;

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::outgoing_call::{ended, sent_one_way, with_metadata};
use crate::call::outgoing::sent::{Rest, Sent};
use crate::frame::Metadata;
use crate::interface::Method;
use crate::reference::Object;
use crate::support::CallError;

impl Object {
    /// Sends a call with encoded arguments, this deadline and metadata. The method is named with
    /// its interface, which is empty if that is not known.
    pub(crate) fn send_message(
        &self,
        (interface, method): (&'static str, &'static Method),
        index: usize,
        message: &[u8],
        (deadline, mut metadata): (Option<Instant>, Metadata),
    ) -> Result<Sent, CallError> {
        let header = self.header_until(method, index, deadline)?;
        let bytes = message.len() as u64;
        let watched = self.watched((interface, method), deadline, bytes, &mut metadata)?;
        let segments = [IoSlice::new(message)];
        // A pipelined object may have become known since then.
        let Some((connection, number)) = self.way() else {
            let here = CallError::Here {
                method: method.name(),
            };
            return Err(ended(watched.as_ref(), here));
        };
        let word = header.aimed(number).to_word();
        let session = connection.session();
        let ticket = with_metadata(word, &segments, Vec::new(), &metadata, |word, segments| {
            connection.call(word, segments, deadline)
        });
        match ticket {
            Ok(ticket) => {
                let rest = Rest::with_interceptors(None, watched);
                Ok(self.sent(ticket, session, method, deadline, rest))
            }
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
    ) -> Result<MessageBuffer, CallError> {
        static METHOD: OnceLock<Method> = OnceLock::new();
        let method = METHOD.get_or_init(|| Method::new::<(), ()>("the method", "its description"));
        let (deadline, header) = self.header(method, index)?;
        let mut metadata = self.metadata(method)?;
        let segments = [IoSlice::new(message)];
        if one_way {
            let Some((connection, number)) = self.way() else {
                return Err(CallError::Here {
                    method: method.name(),
                });
            };
            let word = header.aimed(number).to_word();
            let bytes = message.len() as u64;
            let watched = self.watched(("", method), deadline, bytes, &mut metadata)?;
            let sent = with_metadata(word, &segments, Vec::new(), &metadata, |word, segments| {
                connection.call_one_way(word, segments, deadline)
            });
            return match sent {
                Ok(()) => {
                    sent_one_way(watched.as_ref());
                    Ok(MessageBuffer::nothing())
                }
                Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
            };
        }
        self.send_message(("", method), index, message, (deadline, metadata))?
            .wait_for_message()
    }
}
