//! Frames of streams on their way to an endpoint.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use jstream::{Filled, Spent};
use jstream_transport::{Endpoint, SendError, SendTicket};

use super::line::{Streams, length};
use super::tasks::Tasks;
use super::word::Word;
use crate::connection::lock;
use crate::frame::Frame;

/// The streams of a connection, and what of them is sent.
#[derive(Debug)]
pub(crate) struct Wire {
    endpoint: Endpoint,
    pub(crate) streams: Streams,
    outbox: Mutex<Outbox>,
    /// What waits may go on. Whoever has the outbox looks at this before it leaves.
    woken: AtomicBool,
    /// Who waits until frames can be sent.
    tasks: Tasks,
}

#[derive(Debug, Default)]
struct Outbox {
    /// The frame that goes next, from a copy.
    going: Option<SendTicket>,
    /// Those without a payload that go behind it.
    waiting: VecDeque<u64>,
}

impl Wire {
    pub(crate) fn new(endpoint: Endpoint) -> Arc<Self> {
        Arc::new(Self {
            endpoint,
            streams: Streams::default(),
            outbox: Mutex::default(),
            woken: AtomicBool::new(false),
            tasks: Tasks::default(),
        })
    }

    /// Sends a frame, from a copy if it does not go at once. Only one such waits: others are `Pending`.
    pub(crate) fn poll_send(
        self: &Arc<Self>,
        word: u64,
        segments: &[IoSlice<'_>],
        task: &Waker,
    ) -> Poll<Result<(), SendError>> {
        self.tasks.register(task);
        let mut outbox = lock(&self.outbox);
        let sent = if self.flush(&mut outbox) {
            Poll::Ready(self.send(&mut outbox, word, segments))
        } else {
            Poll::Pending
        };
        self.leave(outbox);
        sent
    }

    /// Sends a frame without a payload when it can be sent.
    pub(crate) fn post(self: &Arc<Self>, word: u64) {
        let mut outbox = lock(&self.outbox);
        let before = outbox
            .waiting
            .iter()
            .position(|known| is_replaced(*known, word));
        if let Some(before) = before {
            outbox.waiting.remove(before);
        }
        outbox.waiting.push_back(word);
        self.flush(&mut outbox);
        self.leave(outbox);
    }

    fn leave(self: &Arc<Self>, outbox: MutexGuard<'_, Outbox>) {
        drop(outbox);
        while self.woken.swap(false, Ordering::SeqCst) {
            let Ok(mut outbox) = self.outbox.try_lock() else {
                // Whoever has it looks.
                self.woken.store(true, Ordering::SeqCst);
                return;
            };
            self.flush(&mut outbox);
        }
    }

    /// Sends what waits. Whether nothing does any more.
    fn flush(self: &Arc<Self>, outbox: &mut Outbox) -> bool {
        loop {
            if let Some(going) = &mut outbox.going {
                let waker = Waker::from(self.clone());
                let polled = std::pin::Pin::new(going).poll(&mut Context::from_waker(&waker));
                if polled.is_pending() {
                    return false;
                }
                outbox.going = None;
            }
            let Some(word) = outbox.waiting.pop_front() else {
                return true;
            };
            // Who receives finds out what ended the connection.
            let _ = self.send(outbox, word, &[]);
        }
    }

    fn send(
        self: &Arc<Self>,
        outbox: &mut Outbox,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        let header = Frame::Stream { word }.header();
        match self.endpoint.try_send_message(header, segments) {
            Err(SendError::WouldBlock | SendError::NoBuffer { .. }) => {
                let filled = gathered(&self.endpoint, segments);
                outbox.going = Some(self.endpoint.send_message_async(header, filled));
                self.flush(outbox);
                Ok(())
            }
            sent => sent,
        }
    }
}

/// A frame has gone: others may.
impl Wake for Wire {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        // It may be this thread that has the outbox.
        if let Ok(outbox) = self.outbox.try_lock() {
            self.leave(outbox);
        }
        self.tasks.wake_all();
    }
}

/// Whether a later frame says all that one before it does.
fn is_replaced(known: u64, by: u64) -> bool {
    match (Word::parse(known), Word::parse(by)) {
        (Some((one, Word::Grant { .. })), Some((other, Word::Grant { .. }))) => one == other,
        _ => false,
    }
}

fn gathered(endpoint: &Endpoint, segments: &[IoSlice<'_>]) -> Filled {
    let length = length(segments);
    let spent = endpoint
        .take(length)
        .unwrap_or_else(|_| Spent::heap(length));
    let mut filling = spent.filling();
    for segment in segments {
        let fits = filling.extend(segment);
        debug_assert!(fits, "there is room for all of them");
    }
    filling.finish()
}
