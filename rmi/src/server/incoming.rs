//! A call at its server: its arguments, and where its result goes.

use std::cell::{Cell, RefCell};
use std::io::IoSlice;

use jstream::{Filled, Reader, Received, Transportable, WriteError, Writer};
use jstream_transport::active::Replier;

use crate::frame::Code;
use crate::session::Session;

thread_local! {
    /// Arguments are read, and results written, by the thread that the method runs on.
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
    static WRITER: RefCell<Option<Writer>> = const { RefCell::new(None) };
    /// Why a method is ended whose future is dropped.
    static ENDING: Cell<Option<Code>> = const { Cell::new(None) };
}

/// A call whose arguments have arrived.
#[derive(Debug)]
pub struct Incoming {
    pub(super) payload: Filled,
    pub(super) answer: Answer,
}

/// Where the reply to a call goes. The caller of one that is dropped is told that.
#[derive(Debug)]
pub struct Answer {
    /// Here until it is used.
    replier: Option<Replier>,
}

/// Why a call has no result. Its caller was told.
#[derive(Debug)]
pub enum Failed {
    /// The object's interface has no such method.
    UnknownMethod,
    /// The arguments are damaged, or of other types.
    Arguments,
    /// The result could not be written.
    Result,
}

impl Incoming {
    /// Reads the arguments where they are.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are not an `A`.
    pub fn arguments<A>(self) -> Result<(Received<A>, Answer), Failed>
    where
        A: Transportable + 'static,
    {
        let mut reader = READER.take().unwrap_or_default();
        if let Some(session) = self.answer.session() {
            reader.set_limits(session.terms.limits);
        }
        let read = reader.read::<A>(self.payload);
        READER.set(Some(reader));
        match read {
            Ok(arguments) => Ok((arguments, self.answer)),
            Err(failure) => {
                let why = failure.error.to_string();
                self.answer.refuse(Code::Arguments, &why);
                Err(Failed::Arguments)
            }
        }
    }
}

impl Answer {
    pub(super) fn new(replier: Replier) -> Self {
        Self {
            replier: Some(replier),
        }
    }

    fn session(&self) -> Option<&Session> {
        self.replier.as_ref()?.attached()
    }

    /// Sends the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when it can't be written.
    pub fn reply<R: Transportable>(mut self, result: &R) -> Result<(), Failed> {
        let Some(replier) = self.replier.take() else {
            return Ok(());
        };
        if !replier.wants_reply() {
            return Ok(());
        }
        let mut replier = Some(replier);
        let written = written(result, |segments| {
            if let Some(replier) = replier.take() {
                replier.reply_segments(0, segments);
            }
        });
        match (written, replier) {
            (Err(error), Some(replier)) => {
                refuse(replier, Code::Result, &error.to_string());
                Err(Failed::Result)
            }
            _ => Ok(()),
        }
    }

    /// Tells the caller why there is no result.
    pub(super) fn refuse(mut self, code: Code, why: &str) {
        if let Some(replier) = self.replier.take() {
            refuse(replier, code, why);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let (Some(code), Some(replier)) = (ENDING.get(), self.replier.take()) {
            refuse(replier, code, "");
        }
    }
}

/// Drops what a method has, whose caller is told why.
pub(super) fn ending(code: Code, end: impl FnOnce()) {
    struct Back(Option<Code>);
    impl Drop for Back {
        fn drop(&mut self) {
            ENDING.set(self.0);
        }
    }
    let _back = Back(ENDING.replace(Some(code)));
    end();
}

/// The longest reason that is told to a peer, in bytes.
const LONGEST_REASON: usize = 1024;

/// Answers by an error instead of a result.
pub(super) fn refuse(replier: Replier, code: Code, why: &str) {
    let mut end = why.len().min(LONGEST_REASON);
    while !why.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let why = why.get(..end).unwrap_or_default();
    replier.reply(code as u64, why.as_bytes());
}

/// Hands a message to who sends it. The code of a value that is being written may write other messages.
pub(crate) fn written<T, R>(
    value: &T,
    send: impl FnOnce(&[IoSlice<'_>]) -> R,
) -> Result<R, WriteError>
where
    T: Transportable,
{
    let mut writer = WRITER.take().unwrap_or_default();
    let result = writer.gather(value, send);
    WRITER.set(Some(writer));
    result
}
