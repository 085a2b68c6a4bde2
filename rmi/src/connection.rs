//! What the calls of one connection share: who sends, who receives, and what has come for whom.
//!
//! There is no thread in the path of a call: whoever waits for a reply receives for all others until
//! its own has come. Only while somebody sends and other calls are on their way, a helper receives
//! in their place if nobody else does. Without it both sides could wait for each other to read.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use jstream::{Limits, Transportable, WriteError, Writer};
use jstream_transport::{Endpoint, Message, RecvError, SendError};

use crate::call::Outcome;
use crate::frame::Frame;

/// A connection, for as long as somebody may call over it.
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    limits: Limits,
    writer: Mutex<Writer>,
    incoming: Mutex<Incoming>,
    /// Something has come, or nobody receives any more.
    arrived: Condvar,
    /// There may be something to do for the helper.
    wanted: Condvar,
}

/// Invariant: at most one thread has set `receiving`, and it alone receives.
#[derive(Default)]
struct Incoming {
    /// The number of the last call.
    last: u64,
    /// What is to come (`None`) and what has come for calls that nobody has forgotten.
    calls: HashMap<u64, Option<Outcome>>,
    receiving: bool,
    /// How many calls were begun whose replies have not come, the forgotten ones included.
    on_their_way: usize,
    /// How many threads send, or wait to.
    sending: usize,
    has_helper: bool,
    /// Why nothing comes any more.
    lost: Option<Arc<str>>,
}

impl Connection {
    pub(crate) fn new(endpoint: Endpoint, limits: Limits) -> Self {
        Self {
            shared: Arc::new(Shared {
                endpoint,
                limits,
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

    /// Begins a call, and gives its number.
    pub(crate) fn begin(&self) -> Result<u64, SendError> {
        let mut incoming = lock(&self.shared.incoming);
        if incoming.lost.is_some() {
            return Err(SendError::Closed {
                peer: self.shared.endpoint.peer().clone(),
            });
        }
        let number = incoming.last.wrapping_add(1);
        incoming.last = number;
        incoming.calls.insert(number, None);
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
        if !matches!(result, Ok(Ok(()))) {
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

    /// Nobody waits for this call any more.
    pub(crate) fn forget(&self, number: u64) {
        let forgotten = lock(&self.shared.incoming).calls.remove(&number);
        drop(forgotten);
    }

    /// Waits for what comes for a call.
    pub(crate) fn wait(&self, number: u64) -> Result<Outcome, Arc<str>> {
        let shared = &*self.shared;
        let mut incoming = lock(&shared.incoming);
        loop {
            if let Some(outcome) = incoming.calls.get_mut(&number).and_then(Option::take) {
                return Ok(outcome);
            }
            if let Some(reason) = &incoming.lost {
                return Err(reason.clone());
            }
            if incoming.receiving {
                incoming = wait(&shared.arrived, incoming);
                continue;
            }
            let (locked, failed) = shared.receive_one(incoming);
            incoming = locked;
            if let Some(reason) = failed {
                return Err(reason);
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut incoming = lock(&self.shared.incoming);
        incoming
            .lost
            .get_or_insert_with(|| "it was closed in this program".into());
        drop(incoming);
        self.shared.endpoint.close();
        self.shared.wanted.notify_all();
    }
}

impl Shared {
    /// Receives one message for all, while nobody else does. A message that finds no room in the
    /// pool stays where it is, and its want of room is the result.
    fn receive_one<'s>(
        &'s self,
        mut incoming: MutexGuard<'s, Incoming>,
    ) -> (MutexGuard<'s, Incoming>, Option<Arc<str>>) {
        incoming.receiving = true;
        drop(incoming);
        let message = self.endpoint.recv_message();
        let mut incoming = lock(&self.incoming);
        incoming.receiving = false;
        let mut failed = None;
        match message {
            Ok(message) => incoming.deliver(message),
            Err(error @ RecvError::NoBuffer { .. }) => failed = Some(error.to_string().into()),
            Err(error) => incoming.lose(&error.to_string()),
        }
        if incoming.lost.is_some() {
            self.endpoint.close();
        }
        self.arrived.notify_all();
        if incoming.has_helper {
            self.wanted.notify_one();
        }
        (incoming, failed)
    }

    /// The helper: receives while somebody sends and nobody else receives, until the end.
    fn help(&self) {
        let mut incoming = lock(&self.incoming);
        while incoming.lost.is_none() {
            let needed = incoming.sending > 0 && incoming.on_their_way > 1;
            if needed && !incoming.receiving {
                let (locked, failed) = self.receive_one(incoming);
                incoming = locked;
                if failed.is_some() {
                    drop(incoming);
                    // Room comes when the program drops results.
                    thread::sleep(std::time::Duration::from_millis(1));
                    incoming = lock(&self.incoming);
                }
            } else {
                incoming = wait(&self.wanted, incoming);
            }
        }
    }
}

impl Incoming {
    fn deliver(&mut self, message: Message) {
        let (number, outcome) = match Frame::parse(&message.header) {
            Some(Frame::Reply { number }) => (number, Outcome::Reply(message.payload)),
            Some(Frame::Error { number, code }) => (number, Outcome::Error(code, message.payload)),
            Some(Frame::Call { .. }) | None => {
                self.lose("the peer sent what is no reply");
                return;
            }
        };
        self.on_their_way = self.on_their_way.saturating_sub(1);
        // A reply to a call that was forgotten, or never made, is dropped.
        if let Some(waiting) = self.calls.get_mut(&number) {
            waiting.get_or_insert(outcome);
        }
    }

    fn lose(&mut self, reason: &str) {
        self.lost.get_or_insert_with(|| reason.into());
    }
}

/// What these locks guard is consistent between statements, so a panic elsewhere ends nothing.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'m, T>(condition: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}
