//! A call from the other side, with the path of its result.
//!
//! Decisions 015 and 075 have the reasons.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use jstream::MessageBuffer;
use jstream_active::Replier;

use crate::frame::{Code, Metadata};
use crate::session::admission::RunPermit;
use crate::session::intercept::Watched;
use crate::session::objects::call_version::CallVersion;
use crate::session::objects::local_slot::LocalSlot;
use crate::session::pipelining::Promise;
use crate::support::RareBox;

/// A call whose arguments have arrived.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) payload: MessageBuffer,
    pub(crate) answer: Answer,
}

/// The path of a call's result. If it is dropped unused, the caller is informed.
#[derive(Debug)]
pub struct Answer {
    /// `None` after the reply was sent.
    pub(crate) replier: Option<Replier>,
    /// True if the arguments have been read.
    pub(crate) is_read: Cell<bool>,
    /// True if references among the arguments have been received.
    pub(crate) has_references: Cell<bool>,
    /// Error code for the caller if this answer is dropped.
    pub(crate) refused: Cell<Option<Code>>,
    /// State that most answers do not need.
    pub(crate) rest: OnceCell<Box<Rest>>,
    /// True if the call has neither interceptors, a promise, metadata nor a manual clock.
    pub(crate) is_plain: bool,
}

/// State that most answers do not need.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Result slot of a call without a connection.
    pub(crate) local: Option<Arc<LocalSlot>>,
    /// Error text if the arguments or their references are invalid.
    pub(crate) unfit: RefCell<String>,
    pub(crate) watched: Option<Arc<Watched>>,
    /// Present if other calls may name the result.
    pub(crate) promise: Option<Promise>,
    /// Numbers of the objects that other calls, whose results are arguments, have returned.
    pub(crate) promised: Vec<u32>,
    pub(crate) metadata: Metadata,
    /// Present if the call was made in another version of the interface.
    pub(crate) version: Option<CallVersion>,
    /// The right to run, at a server that limits its calls. The answer ends it.
    pub(crate) permit: Option<Box<RunPermit>>,
}

/// The reason why a call has no result. The caller has already been informed.
#[derive(Debug)]
pub enum Failed {
    /// The object's interface has no such method.
    UnknownMethod,
    /// The arguments are malformed or of other types.
    Arguments,
    /// The result could not be written, or exceeds the limits of the caller.
    Result,
    /// The limit of streams is reached, or a stream with this number exists already.
    Streams,
}

impl Answer {
    /// Ends the call, which has not begun, and tells the caller why.
    #[cold]
    pub(crate) fn fail(self, code: Code, reason: String) {
        // The answer is dropped at the end of this function, which sends the code and the text. So
        // a call fails in one way, wherever it fails.
        let rest = self.rest.get_or_init(Box::default);
        rest.unfit.replace(reason);
        self.refused.set(Some(code));
    }

    /// Records that the call was made in another version of the interface.
    pub(crate) fn set_version(&mut self, version: CallVersion) {
        self.rest.get_or_init(Box::default);
        if let Some(rest) = self.rest.get_mut() {
            rest.version = Some(version);
        }
    }

    /// Returns the versions of a call that was made in another version of the interface.
    pub(crate) fn version(&self) -> Option<&CallVersion> {
        self.rest.get()?.version.as_ref()
    }
}

impl Rest {
    pub(crate) fn from_parts(
        local: Option<Arc<LocalSlot>>,
        watched: Option<Arc<Watched>>,
        (promise, mut promised): (Option<Promise>, RareBox<Vec<u32>>),
        metadata: Metadata,
        permit: Option<Box<RunPermit>>,
    ) -> OnceCell<Box<Self>> {
        OnceCell::from(Box::new(Self {
            local,
            unfit: RefCell::default(),
            watched,
            promise,
            promised: promised.take().map_or_else(Vec::new, |promised| *promised),
            metadata,
            version: None,
            permit,
        }))
    }
}
