//! A call at its server: its arguments, and where its result goes.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::io::IoSlice;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use jstream::{Filled, Limits, Received, Transportable};
use jstream_transport::active::Replier;

use crate::context::{Context, Plain};
use crate::error::Outcome;
use crate::frame::{Code, Deadline};
use crate::here::Slot;
use crate::intercept::Watched;
use crate::message::{read, written};
use crate::promise::Promise;
use crate::reference::{As, Between, Giving, Passed, Taking};
use crate::session::{Connection, Session, keep_result};
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
    /// The arguments have been read.
    is_read: Cell<bool>,
    /// What its caller is told when it is dropped.
    refused: Cell<Option<Code>>,
    /// What few have.
    rest: OnceCell<Box<Rest>>,
    /// Nothing has to know more of its call than a plain method does.
    is_plain: bool,
}

/// What only some answers have.
#[derive(Debug, Default)]
struct Rest {
    /// Of a call without a connection.
    here: Option<Arc<Slot>>,
    /// Why its arguments are none, or their references.
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

impl Rest {
    #[cold]
    fn of(
        here: Option<Arc<Slot>>,
        watched: Option<Arc<Watched>>,
        promise: Option<Promise>,
    ) -> OnceCell<Box<Self>> {
        OnceCell::from(Box::new(Self {
            here,
            unfit: RefCell::default(),
            watched,
            promise,
        }))
    }
}

impl Incoming {
    /// The message that the arguments are, and the way back.
    #[inline]
    #[must_use]
    pub fn into_parts(self) -> (Filled, Answer) {
        (self.payload, self.answer)
    }

    /// Reads the arguments where they are, and gives the way back, which stays where it is.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are not an `A`.
    #[inline]
    pub fn arguments<A>(&mut self) -> Result<(Received<A>, &mut Answer), Failed>
    where
        A: Transportable + 'static,
    {
        let answer = &mut self.answer;
        let payload = mem::replace(&mut self.payload, Filled::nothing());
        Ok((answer.arguments(payload)?, answer))
    }

    /// The same of a call without arguments.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when it has some.
    #[inline]
    pub fn no_arguments(&mut self) -> Result<&mut Answer, Failed> {
        if !self.payload.is_empty() {
            return self.arguments::<()>().map(|(_, answer)| answer);
        }
        // What a device may have received it into is let go.
        self.payload = Filled::nothing();
        self.answer.is_read.set(true);
        Ok(&mut self.answer)
    }
}

impl Answer {
    #[inline]
    pub(super) fn new(
        replier: Replier,
        watched: Option<Arc<Watched>>,
        promise: Option<Promise>,
        is_paused: bool,
    ) -> Self {
        let is_alone = watched.is_none() && promise.is_none();
        let rest = if is_alone {
            OnceCell::new()
        } else {
            Rest::of(None, watched, promise)
        };
        Self {
            replier: Some(replier),
            is_plain: is_alone && !is_paused,
            is_read: Cell::new(false),
            refused: Cell::new(None),
            rest,
        }
    }

    /// That of a call without a connection.
    pub(crate) fn here(slot: Arc<Slot>) -> Self {
        Self {
            replier: None,
            is_plain: false,
            is_read: Cell::new(false),
            refused: Cell::new(None),
            rest: Rest::of(Some(slot), None, None),
        }
    }

    #[inline]
    fn session(&self) -> Option<&Session> {
        self.replier.as_ref()?.attached()
    }

    /// Begins a plain method, unless something has to know more of its call.
    #[inline]
    pub(super) fn plain(&self, deadline: Deadline) -> Option<Plain> {
        let replier = self.replier.as_ref().filter(|_| self.is_plain)?;
        Plain::begin(replier, deadline)
    }

    /// What the method may know, of a call with a connection.
    pub(super) fn context(&self, deadline: Option<Instant>) -> Option<Context> {
        Some(Context {
            deadline,
            call: Some(self.replier.as_ref()?.mark()),
            watched: self.watched().cloned(),
        })
    }

    fn watched(&self) -> Option<&Arc<Watched>> {
        self.rest.get()?.watched.as_ref()
    }

    fn slot(&self) -> Option<&Arc<Slot>> {
        self.rest.get()?.here.as_ref()
    }

    /// Reads the arguments where they are.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] when they are not an `A`.
    #[inline]
    pub fn arguments<A>(&self, message: Filled) -> Result<Received<A>, Failed>
    where
        A: Transportable + 'static,
    {
        match read::<A>(message, self.limits()) {
            Ok(arguments) => {
                self.is_read.set(true);
                Ok(arguments)
            }
            Err(error) => Err(self.unfit(&error)),
        }
    }

    /// What is accepted as arguments.
    fn limits(&self) -> Limits {
        let session = self.session();
        session.map_or_else(Limits::default, |session| session.terms.limits)
    }

    /// Its caller is told why its arguments are none.
    #[cold]
    fn unfit(&self, why: &dyn fmt::Display) -> Failed {
        let rest = self.rest.get_or_init(Box::default);
        rest.unfit.replace(why.to_string());
        self.refused.set(Some(Code::Arguments));
        Failed::Arguments
    }

    /// Sends the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when it can't be written.
    pub fn reply<R: Transportable>(&mut self, result: &R) -> Result<(), Failed> {
        self.reply_as(result, true)
    }

    /// The same of one that may be kept until its caller fetches it, or not.
    fn reply_as<R: Transportable>(&mut self, result: &R, may_wait: bool) -> Result<(), Failed> {
        let Some(replier) = &self.replier else {
            return self.reply_here(result);
        };
        if !replier.wants_reply() {
            self.seen(Ok(()), 0);
            self.replier = None;
            return Ok(());
        }
        match written(result, |segments| self.send(segments, may_wait)) {
            Ok(true) => Ok(()),
            // Its caller was told.
            Ok(false) => Err(Failed::Result),
            Err(error) => {
                self.refuse(Code::Result, &error.to_string());
                Err(Failed::Result)
            }
        }
    }

    /// Sends a message that is the result. False where its caller takes none like that.
    fn send(&mut self, segments: &[IoSlice<'_>], may_wait: bool) -> bool {
        if let Some(watched) = self.watched() {
            let lengths = segments.iter().map(|segment| segment.len() as u64);
            watched.end(Ok(()), lengths.fold(0, u64::saturating_add));
        }
        let Some(replier) = &mut self.replier else {
            return true;
        };
        let sent = match may_wait.then(|| keep_result(replier, segments)).flatten() {
            None => replier.reply_in_place(0, segments),
            Some(number) => {
                let number = number.to_le_bytes();
                replier.reply_in_place(Code::Kept as u64, &[IoSlice::new(&number)])
            }
        };
        self.replier = None;
        sent
    }

    fn reply_here<R: Transportable>(&self, result: &R) -> Result<(), Failed> {
        let Some(slot) = self.slot() else {
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
        match (&self.replier, self.slot()) {
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
            Some(Err(unfit)) => Err(self.unfit(&unfit.0)),
            None => Err(Failed::Arguments),
        }
    }

    /// Sends references as the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] when they can't be passed or written.
    pub fn give<P: Passed>(&mut self, references: P) -> Result<(), Failed> {
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
        let rest = self.rest.get_mut();
        let promise = rest.and_then(|rest| rest.promise.take());
        let given = giving.only();
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
    pub async fn stream<T>(mut self, stream: Stream<T>, word: u64) -> Result<(), Failed>
    where
        T: Transportable + 'static,
    {
        let Some(line) = self.line() else {
            return Ok(());
        };
        let open = line.streams().results();
        let most = self
            .session()
            .map_or(0, |session| session.terms.max_result_streams);
        if open >= most {
            let why = format!(
                "{open} result streams are open, and {most} may be (three quarters of \
                 Settings::window_messages of the side that sends them): take or drop some first"
            );
            self.refuse(Code::Result, &why);
            return Err(Failed::Result);
        }
        let why = match stream.result(line, word).await {
            Ok(frames) => return self.reply(&frames),
            Err(Ended::Failed(_)) => {
                self.refuse(Code::Panicked, "");
                return Err(Failed::Result);
            }
            Err(Ended::WriteFailure(error)) => error.to_string(),
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
        if let Some(watched) = self.watched() {
            watched.end(result, bytes);
        }
    }

    /// Tells the caller why there is no result.
    pub(super) fn refuse(&mut self, code: Code, why: &str) {
        self.seen(Err(code.outcome()), 0);
        if let Some(replier) = self.replier.take() {
            refuse(replier, code, why);
        } else if let Some(slot) = self.slot() {
            slot.refuse(code, why);
        }
    }

    /// Tells the caller of a call without an answer why it ends, where that is to be said.
    #[cold]
    fn end(&mut self) {
        let Some(code) = self.why_ended() else { return };
        let rest = self.rest.get_mut();
        let mut why = rest.map_or_else(String::new, |rest| rest.unfit.take());
        if why.is_empty() && code == Code::Arguments {
            why.push_str("reading them panicked");
        }
        if let Some(replier) = self.replier.take() {
            self.seen(Err(code.outcome()), 0);
            refuse(replier, code, &why);
        } else if let Some(slot) = self.slot() {
            slot.refuse(code, &why);
        }
    }

    /// What the caller of a call is told that ends without an answer. A call whose arguments nobody has read did not run, and
    /// has taken no references.
    fn why_ended(&self) -> Option<Code> {
        let code = self.refused.get().or(ENDING.get());
        match code {
            _ if self.is_read.get() => code,
            Some(Code::Overdue) => Some(Code::TooLate),
            None if std::thread::panicking() => Some(Code::Arguments),
            code => code,
        }
    }
}

impl Drop for Answer {
    #[inline]
    fn drop(&mut self) {
        if self.replier.is_some() || self.rest.get().is_some() {
            self.end();
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
