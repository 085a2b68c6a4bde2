//! A call at its server: its arguments, and where its result goes.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use jstream::{Filled, Limits, Received, Transportable};
use jstream_transport::active::Replier;

use crate::error::Outcome;
use crate::frame::Code;
use crate::here::Slot;
use crate::intercept::Watched;
use crate::message::{read, written};
use crate::promise::Promise;
use crate::reference::{As, Between, Giving, Passed, Taking};
use crate::session::{Connection, Session};
use crate::stream::{Ended, Line, Stop, Stream};

thread_local! {
    /// Why a method is ended whose future is dropped.
    static ENDING: Cell<Option<Code>> = const { Cell::new(None) };
}

/// A call whose arguments have arrived.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) payload: Filled,
    pub(crate) answer: Answer,
}

/// Where the reply to a call goes. The caller of one that is dropped is told that.
#[derive(Debug)]
pub struct Answer {
    /// Here until it is used.
    replier: Option<Replier>,
    /// Of a call without a connection.
    here: Option<Arc<Slot>>,
    /// The arguments have been read.
    is_read: Cell<bool>,
    /// What its caller is told when it is dropped.
    refused: Cell<Option<Code>>,
    /// Why its references are none.
    unfit: RefCell<String>,
    watched: Option<Arc<Watched>>,
    /// Others name its result.
    promise: Option<Promise>,
}

/// Why a call has no result. Its caller was told.
#[derive(Debug)]
pub enum Failed {
    /// The object's interface has no such method.
    UnknownMethod,
    /// The arguments are damaged, or of other types.
    Arguments,
    /// The result could not be written, or is more than the caller takes.
    Result,
    /// There are as many streams as may be, or one of that number.
    Streams,
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
        let session = self.answer.session();
        let limits = session.map_or_else(Limits::default, |session| session.terms.limits);
        match read::<A>(self.payload, limits) {
            Ok(arguments) => {
                self.answer.is_read.set(true);
                Ok((arguments, self.answer))
            }
            Err(error) => {
                let why = error.to_string();
                self.answer.refuse(Code::Arguments, &why);
                Err(Failed::Arguments)
            }
        }
    }
}

impl Answer {
    pub(super) fn new(
        replier: Replier,
        watched: Option<Arc<Watched>>,
        promise: Option<Promise>,
    ) -> Self {
        Self {
            replier: Some(replier),
            here: None,
            is_read: Cell::new(false),
            refused: Cell::new(None),
            unfit: RefCell::default(),
            watched,
            promise,
        }
    }

    /// That of a call without a connection.
    pub(crate) fn here(slot: Arc<Slot>) -> Self {
        Self {
            replier: None,
            here: Some(slot),
            is_read: Cell::new(false),
            refused: Cell::new(None),
            unfit: RefCell::default(),
            watched: None,
            promise: None,
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
    pub fn reply<R: Transportable>(self, result: &R) -> Result<(), Failed> {
        self.reply_as(result, true)
    }

    /// The same of one that may be kept until its caller fetches it, or not.
    fn reply_as<R: Transportable>(mut self, result: &R, may_wait: bool) -> Result<(), Failed> {
        let Some(replier) = self.replier.take() else {
            return self.reply_here(result);
        };
        if !replier.wants_reply() {
            self.seen(Ok(()), 0);
            return Ok(());
        }
        let mut replier = Some(replier);
        let written = written(result, |segments| {
            let Some(replier) = replier.take() else {
                return true;
            };
            if self.watched.is_some() {
                let lengths = segments.iter().map(|segment| segment.len() as u64);
                self.seen(Ok(()), lengths.fold(0, u64::saturating_add));
            }
            let session = replier.attached::<Session>().filter(|_| may_wait);
            if let Some(number) =
                session.and_then(|session| session.keep_result(&replier, segments))
            {
                replier.reply(Code::Kept as u64, &number.to_le_bytes());
                return true;
            }
            replier.reply_segments(0, segments)
        });
        match (written, replier) {
            (Err(error), Some(replier)) => {
                self.seen(Err(Code::Result.outcome()), 0);
                refuse(replier, Code::Result, &error.to_string());
                Err(Failed::Result)
            }
            // Its caller was told.
            (Ok(false), _) => Err(Failed::Result),
            _ => Ok(()),
        }
    }

    fn reply_here<R: Transportable>(self, result: &R) -> Result<(), Failed> {
        let Some(slot) = &self.here else {
            return Ok(());
        };
        match written(result, |segments| slot.reply(segments)) {
            Ok(()) => Ok(()),
            Err(error) => {
                slot.refuse(Code::Result, &error.to_string());
                Err(Failed::Result)
            }
        }
    }

    /// Between whom references are passed.
    fn between(&self) -> Option<Between> {
        match (&self.replier, &self.here) {
            (Some(replier), _) => Some(Between::Peers(Connection::of(replier.peer()))),
            (None, Some(slot)) => Some(Between::Here(slot.passing.clone())),
            (None, None) => None,
        }
    }

    /// References that are an argument.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are none that the caller may pass.
    pub fn references<P: Passed>(
        &self,
        form: &<P::Wire as Transportable>::InPlace<'_>,
    ) -> Result<P, Failed> {
        let taken = self.between().map(|from| P::take(form, &Taking::new(from)));
        match taken {
            Some(Ok(references)) => Ok(references),
            Some(Err(unfit)) => {
                self.unfit.replace(unfit.0);
                self.refused.set(Some(Code::Arguments));
                Err(Failed::Arguments)
            }
            None => Err(Failed::Arguments),
        }
    }

    /// Sends references as the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when they can't be passed or written.
    pub fn give<P: Passed>(mut self, references: P) -> Result<(), Failed> {
        let wants = self.replier.as_ref().is_none_or(Replier::wants_reply);
        let Some(to) = self.between().filter(|_| wants) else {
            return Ok(());
        };
        let mut giving = Giving::new(to.clone(), As::Result);
        let wire = references.give(&mut giving);
        if let Some(why) = giving.take_failure() {
            self.refuse(Code::Result, &why);
            return Err(Failed::Result);
        }
        let (promise, given) = (self.promise.take(), giving.only());
        let sent = self.reply_as(&wire, false);
        // Calls that name it begin behind its answer, once the method is over.
        if let (Some(promise), Some(number), Ok(())) = (promise, given, &sent) {
            promise.keep(number, &to);
        }
        giving.arrived(sent.is_ok());
        sent
    }

    /// The connection, as streams need it.
    fn line(&self) -> Option<Arc<dyn Line>> {
        let peer = self.replier.as_ref()?.peer();
        Some(Arc::new(Connection::of(peer)))
    }

    /// A stream that is an argument.
    ///
    /// # Errors
    ///
    /// [`Failed::Streams`] when the peer has too many, or that one already.
    pub fn argument<T: Transportable + 'static>(&self, number: u64) -> Result<Stream<T>, Failed> {
        let most = self
            .session()
            .map_or(0, |session| session.terms.max_streams);
        let line = self.line().filter(|line| line.streams().count() < most);
        let stream = line.and_then(|line| Stream::argument(&line, number));
        stream.ok_or_else(|| {
            self.refused.set(Some(Code::Streams));
            Failed::Streams
        })
    }

    /// Sends the items of a stream as the result.
    ///
    /// # Errors
    ///
    /// [`Failed::Result`] when not all of them could be sent.
    pub async fn stream<T>(self, stream: Stream<T>, word: u64) -> Result<(), Failed>
    where
        T: Transportable + 'static,
    {
        let Some(line) = self.line() else {
            return Ok(());
        };
        let why = match stream.result(line, word).await {
            Ok(frames) => return self.reply(&frames),
            Err(Ended::Failed(_)) => {
                self.refuse(Code::Panicked, "");
                return Err(Failed::Result);
            }
            Err(Ended::Unwritten(error)) => error.to_string(),
            Err(Ended::Unsent(error)) => error.to_string(),
            Err(Ended::Stopped(Stop::Broken(rule))) => rule.to_owned(),
            Err(Ended::Stopped(Stop::Lost(_) | Stop::Unwanted)) => {
                "nobody takes its items".to_owned()
            }
            Err(Ended::Received) => {
                "its items come from a peer, and some were taken: a stream is to be made of them"
                    .to_owned()
            }
            Err(Ended::Passed(error)) => format!("its items come from a peer: {error}"),
            Err(Ended::Large) => {
                "its items come from a peer, and more of them together than are taken at once"
                    .to_owned()
            }
        };
        self.refuse(Code::Result, &why);
        Err(Failed::Result)
    }

    /// The call has ended.
    #[inline]
    fn seen(&self, result: Result<(), Outcome>, bytes: u64) {
        if let Some(watched) = &self.watched {
            watched.end(result, bytes);
        }
    }

    /// Tells the caller why there is no result.
    pub(super) fn refuse(mut self, code: Code, why: &str) {
        self.seen(Err(code.outcome()), 0);
        if let Some(replier) = self.replier.take() {
            refuse(replier, code, why);
        } else if let Some(slot) = &self.here {
            slot.refuse(code, why);
        }
    }

    /// What the caller of a call is told that ends without an answer. A call whose arguments nobody has read did not run, and
    /// has taken no references.
    fn why_ended(&self) -> Option<Code> {
        let code = ENDING.get().or(self.refused.get());
        match code {
            _ if self.is_read.get() => code,
            Some(Code::Overdue) => Some(Code::TooLate),
            None if std::thread::panicking() => Some(Code::Arguments),
            code => code,
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let Some(code) = self.why_ended() else { return };
        let mut why = self.unfit.take();
        if why.is_empty() && code == Code::Arguments {
            why.push_str("reading them panicked");
        }
        if let Some(replier) = self.replier.take() {
            self.seen(Err(code.outcome()), 0);
            refuse(replier, code, &why);
        } else if let Some(slot) = &self.here {
            slot.refuse(code, &why);
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
pub(crate) fn refuse(replier: Replier, code: Code, why: &str) {
    let mut end = why.len().min(LONGEST_REASON);
    while !why.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let why = why.get(..end).unwrap_or_default();
    replier.reply(code as u64, why.as_bytes());
}
