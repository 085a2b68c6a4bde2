//! A call at its server: its arguments and its result.

use std::cell::{Cell, OnceCell};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;
use std::{fmt, mem};

use jstream::{Limits, MessageBuffer, Received, Transportable};
use jstream_active::Replier;

use crate::call::incoming::panic_reason::keep_replier;
use crate::frame::{Code, Metadata, read, written, written_copy};
use crate::reference::{Between, GiveError, Giving, Passed, PassedObjects, Taking};
use crate::session::{
    Answer, As, CallVersion, Connection, Context, Failed, Incoming, Line, LocalSlot, Promise, Rest,
    RunPermit, Session, Stop, Watched, keep_result, refuse, refuse_received,
};
use crate::stream::{Ended, Stream};
use crate::support::{Outcome, RareBox};

thread_local! {
    /// Error code for the caller of an async method whose future is being dropped.
    static ENDING: Cell<Option<Code>> = const { Cell::new(None) };
}

impl Incoming {
    /// Returns the message of the arguments, and the path of the result.
    #[inline]
    #[must_use]
    pub fn into_parts(self) -> (MessageBuffer, Answer) {
        (self.payload, self.answer)
    }

    /// Takes the call, and leaves one that was answered.
    pub(super) fn take(&mut self) -> Self {
        // A placeholder without a replier, whose drop does nothing.
        let answered = Answer {
            replier: None,
            is_plain: false,
            is_read: Cell::new(true),
            has_references: Cell::new(false),
            refused: Cell::new(None),
            rest: OnceCell::new(),
        };
        Self {
            payload: mem::replace(&mut self.payload, MessageBuffer::nothing()),
            answer: mem::replace(&mut self.answer, answered),
        }
    }

    /// Reads the arguments in place. Returns them with the path of the result, which is not moved.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] if the arguments are not an `A`.
    #[inline]
    pub fn arguments<A>(&mut self) -> Result<(Received<A>, &mut Answer), Failed>
    where
        A: Transportable + 'static,
    {
        let answer = &mut self.answer;
        let payload = mem::replace(&mut self.payload, MessageBuffer::nothing());
        Ok((answer.arguments(payload)?, answer))
    }

    /// Checks that a call has no arguments, and returns the path of the result.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] if the call has arguments.
    #[inline]
    pub fn no_arguments(&mut self) -> Result<&mut Answer, Failed> {
        // A message of `()` has the same meaning as no message.
        if !self.payload.is_empty() {
            return self.arguments::<()>().map(|(_, answer)| answer);
        }
        // Returns the receive buffer, if the device used one, to its pool.
        self.payload = MessageBuffer::nothing();
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
        promised: RareBox<Vec<u32>>,
        metadata: Metadata,
        is_paused: bool,
        mut permit: RareBox<RunPermit>,
    ) -> Self {
        // A permit needs the box, but no context of its own for the method.
        let is_alone =
            watched.is_none() && promise.is_none() && promised.is_none() && metadata.is_empty();
        let rest = if is_alone && permit.is_none() {
            OnceCell::new()
        } else {
            Rest::from_parts(None, watched, (promise, promised), metadata, permit.take())
        };
        Self {
            replier: Some(replier),
            is_plain: is_alone && !is_paused,
            is_read: Cell::new(false),
            has_references: Cell::new(false),
            refused: Cell::new(None),
            rest,
        }
    }

    /// Creates the answer of a call without a connection.
    pub(crate) fn local(slot: Arc<LocalSlot>) -> Self {
        Self {
            replier: None,
            is_plain: false,
            is_read: Cell::new(false),
            has_references: Cell::new(false),
            refused: Cell::new(None),
            rest: Rest::from_parts(
                Some(slot),
                None,
                (None, RareBox::none()),
                Metadata::default(),
                None,
            ),
        }
    }

    #[inline]
    fn session(&self) -> Option<&Session> {
        self.replier.as_ref()?.attached()
    }

    /// Returns the context of a method that is called over a connection.
    pub(super) fn context(&self, deadline: Option<Instant>) -> Option<Context> {
        Some(Context {
            deadline,
            call: Some(self.replier.as_ref()?.mark()),
            watched: self.watched().cloned(),
            metadata: self
                .rest
                .get()
                .map(|rest| rest.metadata.clone())
                .unwrap_or_default(),
        })
    }

    fn watched(&self) -> Option<&Arc<Watched>> {
        self.rest.get()?.watched.as_ref()
    }

    fn slot(&self) -> Option<&Arc<LocalSlot>> {
        self.rest.get()?.local.as_ref()
    }

    /// Reads the arguments in place.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] if the arguments are not an `A`.
    #[inline]
    pub fn arguments<A>(&self, message: MessageBuffer) -> Result<Received<A>, Failed>
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

    /// Returns the limits for the arguments and the result.
    fn limits(&self) -> Limits {
        let session = self.session();
        session.map_or_else(Limits::default, |session| session.terms.limits)
    }

    /// Records why the arguments are invalid, for the caller.
    fn unfit(&self, reason: &dyn fmt::Display) -> Failed {
        // The box is made here, on the failing path, so that calls with valid arguments allocate
        // nothing.
        let rest = self.rest.get_or_init(Box::default);
        rest.unfit.replace(reason.to_string());
        self.refused.set(Some(Code::Arguments));
        Failed::Arguments
    }

    /// Sends the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the result can't be written.
    pub fn reply<R: Transportable>(&mut self, result: &R) -> Result<(), Failed> {
        self.reply_as(result, true)
    }

    /// Sends the result. If `may_wait` is true, a large result may be kept until the caller fetches
    /// it.
    fn reply_as<R: Transportable>(&mut self, result: &R, may_wait: bool) -> Result<(), Failed> {
        let Some(replier) = &self.replier else {
            return self.reply_local(result);
        };
        if let Some(permit) = self.rest.get_mut().and_then(|rest| rest.permit.take()) {
            // The caller may make its next call as soon as it has the answer.
            permit.complete();
        }
        if !replier.wants_reply() {
            // A one-way method has ended, and its result has no receiver.
            self.seen(Ok(()), 0);
            self.replier = None;
            return Ok(());
        }
        match written(result, self.limits(), |segments| {
            self.send(segments, may_wait)
        }) {
            Ok(true) => Ok(()),
            // The transport has informed the caller.
            Ok(false) => Err(Failed::Result),
            Err(error) => {
                self.refuse(Code::Result, &error.to_string());
                Err(Failed::Result)
            }
        }
    }

    /// Sends the encoded result. Returns false if the caller does not accept a message like that.
    fn send(&mut self, segments: &[IoSlice<'_>], may_wait: bool) -> bool {
        // Before the message is sent: the caller may otherwise see the result before the
        // interceptors of the server have seen the end of the call.
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
                replier.reply_in_place(Code::Kept.to_word(), &[IoSlice::new(&number)])
            }
        };
        // The reply was sent in place, so the replier is done in any case. Without it, the drop of
        // this answer reports nothing more.
        self.replier = None;
        sent
    }

    fn reply_local<R: Transportable>(&self, result: &R) -> Result<(), Failed> {
        let Some(slot) = self.slot() else {
            return Ok(());
        };
        match written_copy(result, self.limits()) {
            Ok(result) => {
                slot.reply(result);
                Ok(())
            }
            Err(error) => {
                slot.refuse(Code::Result, &error.to_string());
                Err(Failed::Result)
            }
        }
    }

    /// Reports the outcome to the interceptors.
    #[inline]
    fn seen(&self, result: Result<(), Outcome>, bytes: u64) {
        if let Some(watched) = self.watched() {
            watched.end(result, bytes);
        }
    }

    /// Informs the caller why there is no result.
    pub(super) fn refuse(&mut self, code: Code, reason: &str) {
        self.seen(Err(code.outcome()), 0);
        // The permit ends before the answer is sent, so that a caller with one call at a time finds
        // its place free.
        drop(self.rest.get_mut().and_then(|rest| rest.permit.take()));
        if let Some(replier) = self.replier.take() {
            refuse(replier, code, reason);
        } else if let Some(slot) = self.slot() {
            slot.refuse(code, reason);
        }
    }

    /// Informs the caller why the call ends without an answer, if there is a reason to report.
    fn end(&mut self) {
        let Some(code) = self.end_code() else {
            if let Some(replier) = self.replier.take() {
                // Outside of a panic this drops the replier, which returns the call as unanswered.
                keep_replier(replier);
            }
            return;
        };
        let rest = self.rest.get_mut();
        let mut reason = rest.map_or_else(String::new, |rest| rest.unfit.take());
        // No check has failed before the arguments were read, so their reading was interrupted: a
        // type of the program has panicked there.
        if reason.is_empty() && code == Code::Arguments {
            reason.push_str("reading them panicked");
        }
        if let Some(replier) = self.replier.take() {
            self.seen(Err(code.outcome()), 0);
            if self.has_references.get() {
                refuse_received(replier, code, &reason);
            } else {
                refuse(replier, code, &reason);
            }
        } else if let Some(slot) = self.slot() {
            slot.refuse(code, &reason);
        }
    }

    /// Returns the error code for a call that ends without an answer. A call whose arguments were
    /// not read did not run and has received no references.
    fn end_code(&self) -> Option<Code> {
        // The reason of the drop in progress, set by `ending` around it. A refusal of this call
        // comes first.
        let code = self.refused.get().or(ENDING.get());
        match code {
            _ if self.is_read.get() => code,
            // The method was never polled as far as its arguments, so it has not run.
            Some(Code::Overdue) => Some(Code::TooLate),
            None if std::thread::panicking() => Some(Code::Arguments),
            code => code,
        }
    }
}

/// References and streams of the call.
impl Answer {
    /// Returns the two sides between which references are passed.
    fn between(&self) -> Option<Between> {
        match (&self.replier, self.slot()) {
            (Some(replier), _) => Some(Between::Peers(Connection::from_peer(replier.peer()))),
            (None, Some(slot)) => {
                let passing = slot.passing.clone().downcast::<PassedObjects>();
                passing.ok().map(Between::Here)
            }
            (None, None) => None,
        }
    }

    /// Converts references among the arguments. From then on, the answer tells the caller that they
    /// have arrived. So all of them have to be converted, even if some are invalid.
    ///
    /// # Errors
    ///
    /// [`Failed::Arguments`] if the caller may not pass these references.
    pub fn references<P: Passed>(
        &self,
        form: &<P::Wire as Transportable>::InPlace<'_>,
    ) -> Result<P, Failed> {
        // Set before they are taken: the caller counts them as arrived even if one of them is
        // refused, and the others are given back by their drops.
        self.has_references.set(true);
        let rest = self.rest.get();
        let promised = rest.map_or_else(Vec::new, |rest| rest.promised.clone());
        let taken = self.between().map(|from| {
            let versions = self.version().map(|version| version.pairs.clone());
            let taking = Taking::of_call(from, promised).with_versions(versions);
            P::take(form, &taking)
        });
        match taken {
            Some(Ok(references)) => Ok(references),
            // The first invalid argument is reported.
            Some(Err(_)) if self.refused.get().is_some() => Err(Failed::Arguments),
            Some(Err(unfit)) => Err(self.unfit(&unfit.0)),
            None => Err(Failed::Arguments),
        }
    }

    /// Sends references as the result.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the references can't be passed or written.
    pub fn give<P: Passed>(&mut self, references: P) -> Result<(), Failed> {
        let wants = self.replier.as_ref().is_none_or(Replier::wants_reply);
        // A one-way call has no answer that could carry the references, so they are dropped here,
        // which gives nothing.
        let Some(to) = self.between().filter(|_| wants) else {
            return Ok(());
        };
        let versions = self.version().map(|version| version.pairs.clone());
        let mut giving = Giving::new(to.clone(), As::Result).with_versions(versions);
        let wire = references.give(&mut giving);
        if let Some(GiveError::Refused(reason) | GiveError::Failed(reason)) = giving.take_failure()
        {
            self.refuse(Code::Result, reason);
            return Err(Failed::Result);
        }
        let rest = self.rest.get_mut();
        // If the answer fails, the drop of the promise at the end of this function fails the calls
        // that wait for it.
        let promise = rest.and_then(|rest| rest.promise.take());
        let given = giving.only();
        // A result with references is never kept to be fetched: the caller could give it up without
        // reading which objects it had got.
        let sent = self.reply_as(&wire, false);
        // Pipelined calls of the result start after the answer, when the method has ended.
        if let (Some(promise), Some(number), Ok(())) = (promise, given, &sent) {
            if let Between::Peers(to) = &to {
                promise.keep(number, to);
            }
        }
        giving.arrived(sent.is_ok());
        sent
    }

    /// Returns the connection, in the form that streams need.
    fn line(&self) -> Option<Arc<dyn Line>> {
        let peer = self.replier.as_ref()?.peer();
        Some(Arc::new(Connection::from_peer(peer)))
    }

    /// Opens a stream among the arguments.
    ///
    /// # Errors
    ///
    /// [`Failed::Streams`] if the peer has too many streams, or a stream with this number already.
    pub fn argument<T: Transportable + 'static>(&self, number: u64) -> Result<Stream<T>, Failed> {
        let most = self
            .session()
            .map_or(0, |session| session.terms.max_streams);
        // Checked before the stream exists, so that a peer can't make it exceed the limit for a
        // moment.
        let line = self.line().filter(|line| line.streams().count() < most);
        let conversion = self.version().and_then(CallVersion::next_frames);
        let stream = line.and_then(|line| Stream::argument(&line, number, conversion));
        stream.ok_or_else(|| {
            self.refused.set(Some(Code::Streams));
            Failed::Streams
        })
    }

    /// Sends the items of a stream as the result.
    ///
    /// # Errors
    ///
    /// [`Failed::Result`] if not all items could be sent.
    pub async fn stream<T>(mut self, stream: Stream<T>, word: u64) -> Result<(), Failed>
    where
        T: Transportable + 'static,
    {
        // The time of a stream depends on its receiver. Other limits apply to its items.
        drop(self.rest.get_mut().and_then(|rest| rest.permit.take()));
        let Some(line) = self.line() else {
            return Ok(());
        };
        let open = line.streams().results();
        let most = self
            .session()
            .map_or(0, |session| session.terms.max_result_streams);
        if open >= most {
            let reason = format!(
                "{open} result streams are open, which is the limit of {most} (three quarters of \
                 Settings::window_messages of the side that sends them): take or drop some first"
            );
            self.refuse(Code::Result, &reason);
            return Err(Failed::Result);
        }
        let reason = match stream.result(line, word).await {
            Ok(frames) => return self.reply(&frames),
            Err(Ended::Failed(_)) => {
                self.refuse(Code::Panicked, "");
                return Err(Failed::Result);
            }
            Err(Ended::WriteFailure(error)) => error.to_string(),
            Err(Ended::Unsent(error)) => error.to_string(),
            Err(Ended::Stopped(Stop::Broken(rule))) => rule.to_owned(),
            Err(Ended::Stopped(Stop::Lost(_) | Stop::Unwanted)) => {
                "the peer no longer takes its items".to_owned()
            }
            Err(Ended::Received) => {
                "the stream comes from a peer, and items were taken: make a new one of the rest"
                    .to_owned()
            }
            Err(Ended::Passed(error)) => format!("the stream comes from a peer: {error}"),
            Err(Ended::Large) => {
                "the stream comes from a peer, and a frame has more items than the window"
                    .to_owned()
            }
        };
        self.refuse(Code::Result, &reason);
        Err(Failed::Result)
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

/// Drops the state of a method by `end`, and reports `code` to its caller.
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
