//! The server's end of a connection: what has come, and what is known of the calls that run.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use jstream::Limits;
use jstream_transport::{Endpoint, Message, RecvError, RecvTicket, SendError};

use crate::connection::lock;
use crate::frame::Frame;
use crate::stream::{Line, Signal, Streams, Window, Wire};

/// How many messages are taken from the connection before it is their turn. What waits there holds jbufs.
const AHEAD: usize = 64;

/// The number of no call.
const NONE: u64 = u64::MAX;

/// A connection, as the calls that came over it share it.
///
/// One thread receives, runs methods and polls those that wait. While a method runs, whoever asks
/// whether its caller has given up looks at what has come meanwhile, and keeps it in `ahead`.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) endpoint: Endpoint,
    pub(super) limits: Limits,
    window: Window,
    pub(super) max_streams: usize,
    pub(super) wire: Arc<Wire>,
    /// The connection's thread.
    thread: ThreadId,
    ahead: Mutex<Ahead>,
    /// The call that runs on the connection's thread.
    current: AtomicU64,
    /// Its caller has given it up.
    given_up: AtomicBool,
}

#[derive(Debug, Default)]
struct Ahead {
    next: VecDeque<Next>,
    /// A receive that was posted while methods waited.
    posted: Option<RecvTicket>,
}

/// What the thread of a connection is to do next.
#[derive(Debug)]
pub(super) enum Next {
    Message(Message, Instant),
    /// A call that was given up before it began.
    NotBegun(u64),
}

impl Link {
    /// That of a connection that this thread serves.
    pub(super) fn new(
        endpoint: Endpoint,
        limits: Limits,
        window: Window,
        max_streams: usize,
    ) -> Self {
        Self {
            wire: Wire::new(endpoint.clone()),
            thread: thread::current().id(),
            endpoint,
            limits,
            window,
            max_streams,
            ahead: Mutex::default(),
            current: AtomicU64::new(NONE),
            given_up: AtomicBool::new(false),
        }
    }

    /// A method runs from now on, for the call of this number.
    pub(super) fn runs(&self, number: Option<u64>) {
        self.given_up.store(false, Ordering::Relaxed);
        self.current
            .store(number.unwrap_or(NONE), Ordering::Relaxed);
    }

    /// Whether the caller of a call that runs has given it up.
    pub(crate) fn has_given_up(&self, number: u64) -> bool {
        self.look_ahead();
        self.current.load(Ordering::Relaxed) == number && self.given_up.load(Ordering::Relaxed)
    }

    /// What was taken from the connection already.
    pub(super) fn take_ahead(&self) -> Option<Next> {
        lock(&self.ahead).next.pop_front()
    }

    /// Takes what has come from the connection, so that calls which were given up don't begin. Errors
    /// are left for who receives.
    pub(super) fn look_ahead(&self) {
        let mut ahead = lock(&self.ahead);
        while ahead.next.len() < AHEAD {
            let message = match &mut ahead.posted {
                Some(posted) => {
                    let Some(Ok(message)) = posted.try_take() else {
                        return;
                    };
                    ahead.posted = None;
                    message
                }
                None => match self.endpoint.try_recv_message() {
                    Ok(message) => message,
                    Err(_) => return,
                },
            };
            self.keep(&mut ahead, message);
        }
    }

    fn keep(&self, ahead: &mut MutexGuard<'_, Ahead>, message: Message) {
        if let Some(Frame::Stream { word }) = Frame::parse(&message.header) {
            self.wire.streams.arrive(word, message.payload);
            return;
        }
        if let Some(Frame::Cancel { number }) = Frame::parse(&message.header) {
            if number == self.current.load(Ordering::Relaxed) {
                self.given_up.store(true, Ordering::Relaxed);
                return;
            }
            let waiting = ahead.next.iter_mut().find(|next| next.is_call(number));
            if let Some(waiting) = waiting {
                *waiting = Next::NotBegun(number);
                return;
            }
        }
        ahead.next.push_back(Next::Message(message, Instant::now()));
    }

    /// Waits for the next message. One that finds no room in the pool waits for others to leave it.
    pub(super) fn receive(&self, first: Option<Duration>, patience: Duration) -> Option<Message> {
        const PAUSE: Duration = Duration::from_millis(10);
        let mut waited = Duration::ZERO;
        loop {
            let posted = lock(&self.ahead).posted.take();
            let received = match (posted, first) {
                (Some(posted), _) => posted.wait().map_err(RecvError::from),
                (None, Some(first)) => self.endpoint.recv_message_timeout(first),
                (None, None) => self.endpoint.recv_message(),
            };
            match received {
                Ok(message) => return Some(message),
                Err(RecvError::NoBuffer { .. }) if waited < patience => {
                    thread::sleep(PAUSE);
                    waited = waited.saturating_add(PAUSE);
                }
                Err(_) => return None,
            }
        }
    }

    /// The next message, or whom to wake when it comes.
    pub(super) fn poll_receive(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, RecvError>> {
        let mut ahead = lock(&self.ahead);
        let posted = ahead
            .posted
            .get_or_insert_with(|| self.endpoint.recv_message_async());
        let polled = std::pin::Pin::new(posted).poll(context);
        if polled.is_ready() {
            ahead.posted = None;
        }
        polled.map_err(RecvError::from)
    }
}

/// How long the connection's thread waits for messages before it looks whether others have what it waits for.
const LOOK: Duration = Duration::from_millis(5);

impl Line for Link {
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
        if thread::current().id() != self.thread {
            return signal.park(until);
        }
        while !signal.is_set_or_tells(None) {
            if until.is_some_and(|until| until <= Instant::now()) {
                return;
            }
            let mut ahead = lock(&self.ahead);
            let received = match ahead.posted.take() {
                Some(mut posted) => match posted.wait_timeout(LOOK) {
                    Some(received) => received.map_err(RecvError::from),
                    None => {
                        ahead.posted = Some(posted);
                        continue;
                    }
                },
                None => self.endpoint.recv_message_timeout(LOOK),
            };
            match received {
                Ok(message) => self.keep(&mut ahead, message),
                Err(RecvError::TimedOut { .. } | RecvError::NoBuffer { .. }) => {}
                Err(error) => {
                    drop(ahead);
                    return self.wire.streams.lose(&error.to_string().into());
                }
            }
        }
    }

    fn streams(&self) -> &Streams {
        &self.wire.streams
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn window(&self) -> Window {
        self.window
    }
}

impl Next {
    fn is_call(&self, of: u64) -> bool {
        let Self::Message(message, _) = self else {
            return false;
        };
        matches!(
            Frame::parse(&message.header),
            Some(Frame::Call { number: Some(number), .. }) if number == of
        )
    }
}
