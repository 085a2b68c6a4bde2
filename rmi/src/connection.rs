//! What the calls of one connection share: who sends, who receives, and what has come for whom.
//!
//! There is no thread in the path of a call: whoever waits for a reply receives for all others until
//! its own has come. A thread that waits receives itself; where only tasks wait, one of them polls a
//! receive that was posted, and is woken by it. Only while somebody sends and other calls are on their
//! way, a helper receives in their place if nobody else does. Without it both sides could wait for each
//! other to read.

use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jstream::{Limits, Transportable, WriteError, Writer};
use jstream_transport::{Endpoint, Message, RecvError, RecvTicket, SendError};

use crate::call::{Answer, Unanswered};
use crate::frame::{Frame, number_in};
use crate::stream::{Line, Signal, Window, Wire};

/// A connection, for as long as somebody may call over it.
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    limits: Limits,
    window: Window,
    wire: Arc<Wire>,
    writer: Mutex<Writer>,
    incoming: Mutex<Incoming>,
    /// Something has come, or no thread receives any more.
    arrived: Condvar,
    /// There may be something to do for the helper.
    wanted: Condvar,
}

/// Invariant: at most one thread has set `receiving`, and it alone receives.
#[derive(Default)]
struct Incoming {
    /// The number of the last call.
    last: u64,
    /// The calls that nobody has forgotten.
    calls: HashMap<u64, Waiting>,
    /// A thread receives.
    receiving: bool,
    /// A receive that tasks poll while no thread receives.
    posted: Option<RecvTicket>,
    /// The call of the task that polls it, or was woken to.
    polls: Option<u64>,
    /// How many calls were begun whose replies have not come, the forgotten ones included.
    on_their_way: usize,
    /// How many threads send, or wait to.
    sending: usize,
    /// How many threads wait for what others receive.
    sleeping: usize,
    has_helper: bool,
    /// Why nothing comes any more.
    lost: Option<Arc<str>>,
}

/// A call that somebody may wait for.
#[derive(Default)]
struct Waiting {
    answer: Option<Answer>,
    /// The task that waits.
    waker: Option<Waker>,
}

impl Connection {
    pub(crate) fn new(endpoint: Endpoint, limits: Limits, window: Window) -> Self {
        Self {
            shared: Arc::new(Shared {
                wire: Wire::new(endpoint.clone()),
                endpoint,
                limits,
                window,
                writer: Mutex::new(Writer::new()),
                incoming: Mutex::default(),
                arrived: Condvar::new(),
                wanted: Condvar::new(),
            }),
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.shared.limits
    }

    /// What streams need of it.
    pub(crate) fn line(&self) -> Arc<dyn Line> {
        self.shared.clone()
    }

    /// Begins a call, and gives its number.
    pub(crate) fn begin(&self) -> Result<u64, SendError> {
        let mut incoming = lock(&self.shared.incoming);
        if incoming.lost.is_some() {
            return Err(SendError::Closed {
                peer: self.shared.endpoint.peer().clone(),
            });
        }
        let mut number = number_in(incoming.last.wrapping_add(1));
        // Numbers begin anew after some years of calls.
        while incoming.calls.contains_key(&number) {
            number = number_in(number.wrapping_add(1));
        }
        incoming.last = number;
        incoming.calls.insert(number, Waiting::default());
        incoming.on_their_way = incoming.on_their_way.saturating_add(1);
        Ok(number)
    }

    /// Sends a call that was begun.
    pub(crate) fn send<A: Transportable>(
        &self,
        frame: Frame,
        arguments: &A,
    ) -> Result<Result<(), SendError>, WriteError> {
        {
            let mut incoming = lock(&self.shared.incoming);
            incoming.sending = incoming.sending.saturating_add(1);
            if incoming.on_their_way > 1 {
                self.ask_for_help(&mut incoming);
            }
        }
        let result = lock(&self.shared.writer).gather(arguments, |segments| {
            self.shared.endpoint.send_message(frame.header(), segments)
        });
        let mut incoming = lock(&self.shared.incoming);
        incoming.sending = incoming.sending.saturating_sub(1);
        let answered = matches!(
            frame,
            Frame::Call {
                number: Some(_),
                ..
            }
        );
        if answered && !matches!(result, Ok(Ok(()))) {
            incoming.on_their_way = incoming.on_their_way.saturating_sub(1);
        }
        result
    }

    /// Sees to it that somebody receives while this thread sends. Where no thread is to be had, a
    /// peer that waits for us to read is waited for until the send times out.
    fn ask_for_help(&self, incoming: &mut Incoming) {
        if incoming.has_helper {
            self.shared.wanted.notify_one();
            return;
        }
        let shared = self.shared.clone();
        let helper = thread::Builder::new()
            .name("jstream-replies".to_owned())
            .spawn(move || shared.help());
        incoming.has_helper = helper.is_ok();
    }

    /// Nobody waits for this call any more. True when its reply is still to come.
    pub(crate) fn forget(&self, number: u64) -> bool {
        let mut incoming = lock(&self.shared.incoming);
        let forgotten = incoming.calls.remove(&number);
        let next = incoming.left(number);
        let lost = incoming.lost.is_some();
        drop(incoming);
        if let Some(next) = next {
            next.wake();
        }
        !lost && forgotten.is_some_and(|of| of.answer.is_none())
    }

    /// Tells the peer that nobody waits. Where that would take time it is not told.
    pub(crate) fn cancel(&self, number: u64) {
        let header = Frame::Cancel { number }.header();
        let told = self.shared.endpoint.try_send_message(header, &[]);
        drop(told);
    }

    /// Waits for what comes for a call.
    pub(crate) fn wait(&self, number: u64, until: Option<Instant>) -> Result<Answer, Unanswered> {
        let shared = &*self.shared;
        let mut incoming = lock(&shared.incoming);
        loop {
            if let Some(answer) = incoming.take(number) {
                // Others may wait for somebody to receive.
                shared.hand_over(incoming);
                return Ok(answer);
            }
            if let Some(reason) = &incoming.lost {
                return Err(Unanswered::Lost(reason.clone()));
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                shared.hand_over(incoming);
                return Err(Unanswered::Overdue);
            }
            if incoming.receiving {
                incoming.sleeping = incoming.sleeping.saturating_add(1);
                incoming = wait(&shared.arrived, incoming, until);
                incoming.sleeping = incoming.sleeping.saturating_sub(1);
                continue;
            }
            let (locked, failed) = shared.receive_one(incoming, until);
            incoming = locked;
            if let Some(reason) = failed {
                shared.hand_over(incoming);
                return Err(Unanswered::Lost(reason));
            }
        }
    }

    /// What has come for a call, or whom to wake when it comes.
    pub(crate) fn poll(
        &self,
        number: u64,
        until: Option<Instant>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Answer, Unanswered>> {
        let mut wake = Vec::new();
        let polled = self.shared.poll(number, until, context, &mut wake);
        wake.into_iter().for_each(Waker::wake);
        self.shared.tell_streams();
        polled
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut incoming = lock(&self.shared.incoming);
        incoming
            .lost
            .get_or_insert_with(|| "it was closed in this program".into());
        incoming.posted = None;
        drop(incoming);
        self.shared.endpoint.close();
        self.shared.wanted.notify_all();
        self.shared.tell_streams();
    }
}

impl Shared {
    /// Receives one message for all, while no other thread does, unless it is `until` before. A message
    /// that finds no room in the pool stays where it is, and its want of room is the result.
    fn receive_one<'s>(
        &'s self,
        mut incoming: MutexGuard<'s, Incoming>,
        until: Option<Instant>,
    ) -> (MutexGuard<'s, Incoming>, Option<Arc<str>>) {
        incoming.receiving = true;
        let posted = incoming.posted.take();
        incoming.polls = None;
        drop(incoming);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let mut unused = None;
        let message = match (posted, left) {
            (Some(posted), None) => posted.wait().map_err(RecvError::from),
            (Some(mut posted), Some(left)) => match posted.wait_timeout(left) {
                Some(message) => message.map_err(RecvError::from),
                None => {
                    unused = Some(posted);
                    Err(RecvError::Empty)
                }
            },
            (None, Some(left)) => self.endpoint.recv_message_timeout(left),
            (None, None) => self.endpoint.recv_message(),
        };
        let message = message.and_then(|message| self.unless_of_stream(message));
        let mut incoming = lock(&self.incoming);
        incoming.receiving = false;
        incoming.posted = unused;
        let mut wake = Vec::new();
        let failed = self.deliver(&mut incoming, message, &mut wake);
        if incoming.sleeping > 0 {
            self.arrived.notify_all();
        }
        if incoming.has_helper {
            self.wanted.notify_one();
        }
        if !wake.is_empty() || incoming.lost.is_some() {
            drop(incoming);
            wake.into_iter().for_each(Waker::wake);
            self.tell_streams();
            incoming = lock(&self.incoming);
        }
        (incoming, failed)
    }

    /// Gives a message to the call that it is for. The result says what room is missing.
    fn deliver(
        &self,
        incoming: &mut Incoming,
        message: Result<Message, RecvError>,
        wake: &mut Vec<Waker>,
    ) -> Option<Arc<str>> {
        match message {
            Ok(message) => wake.extend(incoming.deliver(message)),
            Err(RecvError::TimedOut { .. } | RecvError::Empty) => {}
            Err(error @ RecvError::NoBuffer { .. }) => return Some(error.to_string().into()),
            Err(error) => incoming.lose(&error.to_string()),
        }
        if incoming.lost.is_some() {
            wake.extend(incoming.wakers());
            self.endpoint.close();
        }
        None
    }

    /// A thread that received does so no longer: somebody else may have to.
    fn hand_over(&self, mut incoming: MutexGuard<'_, Incoming>) {
        let next = if incoming.sleeping > 0 {
            None
        } else {
            incoming.chosen()
        };
        drop(incoming);
        if let Some(next) = next {
            next.wake();
        }
    }

    fn poll(
        &self,
        number: u64,
        until: Option<Instant>,
        context: &mut Context<'_>,
        wake: &mut Vec<Waker>,
    ) -> Poll<Result<Answer, Unanswered>> {
        let mut incoming = lock(&self.incoming);
        loop {
            let ready = if let Some(answer) = incoming.take(number) {
                Ok(answer)
            } else if let Some(reason) = &incoming.lost {
                Err(Unanswered::Lost(reason.clone()))
            } else if until.is_some_and(|until| until <= Instant::now()) {
                Err(Unanswered::Overdue)
            } else {
                if let Some(waiting) = incoming.calls.get_mut(&number) {
                    match &mut waiting.waker {
                        Some(waker) => waker.clone_from(context.waker()),
                        none => *none = Some(context.waker().clone()),
                    }
                }
                if incoming.receiving {
                    return Poll::Pending;
                }
                let posted = incoming.posted.take();
                let mut posted = posted.unwrap_or_else(|| self.endpoint.recv_message_async());
                let Poll::Ready(message) = std::pin::Pin::new(&mut posted).poll(context) else {
                    incoming.posted = Some(posted);
                    incoming.polls = Some(number);
                    return Poll::Pending;
                };
                drop(incoming);
                let message = message.map_err(RecvError::from);
                let message = message.and_then(|message| self.unless_of_stream(message));
                incoming = lock(&self.incoming);
                match self.deliver(&mut incoming, message, wake) {
                    None => continue,
                    Some(reason) => Err(Unanswered::Lost(reason)),
                }
            };
            wake.extend(incoming.left(number));
            return Poll::Ready(ready);
        }
    }

    /// The helper: receives while somebody sends and nobody else receives, until the end.
    fn help(&self) {
        let mut incoming = lock(&self.incoming);
        while incoming.lost.is_none() {
            let needed = incoming.sending > 0 && incoming.on_their_way > 1;
            if needed && !incoming.receiving {
                let (locked, failed) = self.receive_one(incoming, None);
                incoming = locked;
                if failed.is_some() {
                    drop(incoming);
                    // Room comes when the program drops results.
                    thread::sleep(std::time::Duration::from_millis(1));
                    incoming = lock(&self.incoming);
                }
            } else {
                // A task that found the helper receiving polls in its place.
                if let Some(next) = incoming.chosen() {
                    drop(incoming);
                    next.wake();
                    incoming = lock(&self.incoming);
                    if incoming.sending > 0 || incoming.lost.is_some() {
                        continue;
                    }
                }
                incoming = wait(&self.wanted, incoming, None);
            }
        }
    }
}

/// How long a thread waits for messages before it looks whether others have what it waits for.
const LOOK: Duration = Duration::from_millis(5);

impl Shared {
    /// The message, unless it is of a stream, which has it then.
    fn unless_of_stream(&self, message: Message) -> Result<Message, RecvError> {
        let Some(Frame::Stream { word }) = Frame::parse(&message.header) else {
            return Ok(message);
        };
        self.wire.streams.arrive(word, message.payload);
        Err(RecvError::Empty)
    }

    /// Streams end with the connection.
    fn tell_streams(&self) {
        let lost = lock(&self.incoming).lost.clone();
        if let Some(reason) = lost {
            self.wire.streams.lose(&reason);
        }
    }
}

impl Line for Shared {
    fn poll_send(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        task: &Waker,
    ) -> Poll<Result<(), SendError>> {
        self.wire.poll_send(word, segments, task)
    }

    fn post(&self, word: u64) {
        self.wire.post(word);
    }

    fn wait(&self, signal: &Signal, until: Option<Instant>) {
        let mut incoming = lock(&self.incoming);
        loop {
            let now = Instant::now();
            let overdue = until.is_some_and(|until| until <= now);
            if signal.is_set_or_tells(None) || incoming.lost.is_some() || overdue {
                return self.hand_over(incoming);
            }
            let look = now.checked_add(LOOK);
            if incoming.receiving {
                incoming.sleeping = incoming.sleeping.saturating_add(1);
                incoming = wait(&self.arrived, incoming, look);
                incoming.sleeping = incoming.sleeping.saturating_sub(1);
            } else {
                (incoming, _) = self.receive_one(incoming, look);
            }
        }
    }

    fn streams(&self) -> &crate::stream::Streams {
        &self.wire.streams
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn window(&self) -> Window {
        self.window
    }
}

impl Incoming {
    /// The task to be told that something has come.
    fn deliver(&mut self, message: Message) -> Option<Waker> {
        let (number, answer) = match Frame::parse(&message.header) {
            Some(Frame::Reply { number }) => (number, Answer::Reply(message.payload)),
            Some(Frame::Error { number, code }) => (number, Answer::Error(code, message.payload)),
            Some(Frame::Call { .. } | Frame::Cancel { .. } | Frame::Stream { .. }) | None => {
                self.lose("the peer sent what is no reply");
                return None;
            }
        };
        self.on_their_way = self.on_their_way.saturating_sub(1);
        // A reply to a call that was forgotten, or never made, is dropped.
        let waiting = self.calls.get_mut(&number)?;
        waiting.answer.get_or_insert(answer);
        waiting.waker.take()
    }

    /// What has come for a call, which is done with then.
    fn take(&mut self, number: u64) -> Option<Answer> {
        let answer = self.calls.get_mut(&number)?.answer.take()?;
        self.calls.remove(&number);
        Some(answer)
    }

    /// A call is not waited for any more: the task to poll in its place, if it was the one that did.
    fn left(&mut self, number: u64) -> Option<Waker> {
        if self.polls == Some(number) {
            self.polls = None;
        }
        self.chosen()
    }

    /// The task that is to poll from now on, where nobody receives.
    fn chosen(&mut self) -> Option<Waker> {
        if self.receiving || self.polls.is_some() {
            return None;
        }
        let mut waiting = self.calls.iter();
        let (number, waker) =
            waiting.find_map(|(number, of)| Some((*number, of.waker.clone()?)))?;
        self.polls = Some(number);
        Some(waker)
    }

    /// All tasks that wait.
    fn wakers(&mut self) -> Vec<Waker> {
        let all = self.calls.values_mut();
        all.filter_map(|waiting| waiting.waker.take()).collect()
    }

    fn lose(&mut self, reason: &str) {
        self.lost.get_or_insert_with(|| reason.into());
    }
}

/// What these locks guard is consistent between statements, so a panic elsewhere ends nothing.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'m, T>(
    condition: &Condvar,
    guard: MutexGuard<'m, T>,
    until: Option<Instant>,
) -> MutexGuard<'m, T> {
    match until {
        None => condition
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner),
        Some(until) => {
            let left = until.saturating_duration_since(Instant::now());
            let waited = condition.wait_timeout(guard, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
