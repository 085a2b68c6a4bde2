//! Executes a plan on threads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::rank::{
    self, Destination, Error, Options, Rank, RecvRequest, SendRequest, Source, Status, Tag,
};

use super::book::{Asked, Book};
use super::plan::{
    Elements, LITTLE, Plan, ROOM, ReceiveHow, Send, SendHow, Setting, Step, Wants, content, length,
};
use super::receiving::{Held, UNTOUCHED};
use testing::LONG;
use testing::transport::filled;
use testing::transport::ranks::group;

pub(crate) fn options(setting: Setting) -> Options {
    let mut options = Options::default();
    options.eager = setting.eager;
    if setting.tight {
        options.bounds.messages = 2;
    }
    if setting.sleepy {
        options.spin = Duration::ZERO;
    }
    options
}

/// Executes a plan, and returns the faults.
pub(crate) fn run(way: &'static str, plan: &Plan) -> Vec<String> {
    // Undelivered messages of such a connection are lost when the other end goes away.
    let resets = matches!(way, "tcp" | "uring");
    let book = Arc::new(Book::new(plan, resets));
    let ranks = group(way, plan.size, &options(plan.setting));
    let (done, over) = channel::<()>();
    let threads: Vec<_> = (0..plan.tasks.len())
        .map(|lane| {
            let (book, done) = (book.clone(), done.clone());
            let rank = ranks[book.plan.tasks[lane].rank as usize].clone();
            thread::spawn(move || {
                let _done = done;
                Actor::new(rank, &book, lane).run();
            })
        })
        .collect();
    drop((ranks, done));
    if over.recv_timeout(LONG / 6) == Err(RecvTimeoutError::Timeout) {
        eprintln!("deadlock over {way}: {:?}", book.faults());
        eprintln!("{plan:?}");
        std::process::abort();
    }
    for thread in threads {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
    book.faults()
}

/// A thread of a rank.
pub(super) struct Actor<'b> {
    pub(super) rank: Rank,
    pub(super) me: u32,
    pub(super) lane: usize,
    pub(super) book: &'b Book,
    /// True if the thread may wait for its messages to be received.
    may_wait: bool,
    /// The logical time: the number of operations so far.
    now: usize,
    order: usize,
    sends: VecDeque<(Send, SendRequest)>,
    pub(super) asked: Vec<Option<Asked>>,
    pub(super) receives: Vec<RecvRequest>,
    pub(super) held: Option<Held>,
    mourns: bool,
}

impl<'b> Actor<'b> {
    fn new(rank: Rank, book: &'b Book, lane: usize) -> Self {
        Self {
            may_wait: book.may_wait(lane),
            mourns: book.mourns(lane),
            me: rank.rank(),
            rank,
            lane,
            book,
            now: 0,
            order: 0,
            sends: VecDeque::new(),
            asked: Vec::new(),
            receives: Vec::new(),
            held: None,
        }
    }

    pub(super) fn tick(&mut self) -> usize {
        self.now += 1;
        self.now
    }

    fn run(mut self) {
        for step in &self.book.plan.tasks[self.lane].steps {
            if self.book.is_over() {
                break;
            }
            self.step(step);
        }
        if !self.book.is_victim(self.me) {
            self.finish();
        }
    }

    fn step(&mut self, step: &Step) {
        let hold = self.held.take();
        match *step {
            Step::Send(send) => self.send(send, self.may_wait),
            Step::Receive {
                wants,
                how,
                little,
                elements,
            } => {
                let room = if little { LITTLE } else { ROOM };
                match how {
                    ReceiveHow::Posted => self.post(wants, None),
                    ReceiveHow::PostedInto => self.post(wants, Some(room)),
                    how => self.receive(wants, how, room, elements),
                }
            }
            Step::Batch { wants, count, how } => self.batch(wants, count, how),
            Step::Exchange { send, wants } => self.exchange(send, wants),
            Step::Probe {
                wants,
                patience,
                then,
            } => self.probe(wants, patience, then),
            Step::Look(how) => self.look(how),
            Step::Cancel(which) => self.cancel(which),
            Step::Nobody => self.nobody(),
            Step::Pause(micros) => thread::sleep(Duration::from_micros(micros)),
        }
        if let Some(held) = hold {
            self.receive_held(held);
        }
    }

    pub(super) fn begin(&mut self, send: &Send) {
        self.order += 1;
        self.book.begin((self.me, self.lane), self.order, send);
    }

    pub(super) fn send(&mut self, send: Send, may_wait: bool) {
        let long = length(send.id, send.class) as u64;
        // True if the send cannot block.
        let is_free = !self.book.plan.setting.tight
            && self.rank.eager(send.to).is_some_and(|eager| long <= eager);
        let how = match send.how {
            how if may_wait => how,
            SendHow::Plain | SendHow::MessageBuffer if is_free => send.how,
            SendHow::Confirmed | SendHow::ScopedConfirmed => SendHow::PostedConfirmed,
            SendHow::Forgotten | SendHow::PostedConfirmed => send.how,
            _ => SendHow::Posted,
        };
        self.begin(&send);
        let (to, tag, bytes) = (send.to, send.tag, content(send.id, send.class));
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let rank = &self.rank;
        let result = match (how, send.typed) {
            (SendHow::Plain, false) => rank.send(to, tag, &bytes),
            (SendHow::Plain, true) => rank.send(to, tag, &words),
            (SendHow::Confirmed, false) => rank.ssend(to, tag, &bytes),
            (SendHow::Confirmed, true) => rank.ssend(to, tag, &words),
            (SendHow::Scoped, false) => rank.scope(|scope| scope.isend(to, tag, &bytes).wait()),
            (SendHow::Scoped, true) => rank.scope(|scope| scope.isend(to, tag, &words).wait()),
            (SendHow::ScopedConfirmed, false) => {
                rank.scope(|scope| scope.issend(to, tag, &bytes).wait())
            }
            (SendHow::ScopedConfirmed, true) => {
                rank.scope(|scope| scope.issend(to, tag, &words).wait())
            }
            (SendHow::MessageBuffer, _) => rank
                .buffers()
                .send(to, tag, filled(&bytes))
                .map_err(Error::from),
            (SendHow::Persistent, _) => {
                let mut persistent = rank.buffers().send_init(to, tag, filled(&bytes));
                let started = persistent.start();
                persistent.message_mut().as_bytes_mut().fill(0);
                started.and_then(|()| persistent.wait())
            }
            (SendHow::Cancelled, _) => return self.send_and_cancel(send, &bytes),
            (SendHow::PostedConfirmed, _) => {
                let request = rank.buffers().issend(to, tag, filled(&bytes));
                return self.sends.push_back((send, request));
            }
            (SendHow::Posted | SendHow::Forgotten, typed) => {
                let request = if typed {
                    rank.buffers().isend_of::<u64>(to, tag, filled(&bytes))
                } else {
                    rank.buffers().isend(to, tag, filled(&bytes))
                };
                if how == SendHow::Posted {
                    self.sends.push_back((send, request));
                }
                return;
            }
        };
        self.note_sent(&send, result);
    }

    pub(super) fn note_sent(&self, send: &Send, result: Result<(), Error>) {
        match result {
            Ok(()) => self.book.sent(send.id),
            Err(error) => self.book.unsent(send.to, &error),
        }
    }

    fn send_and_cancel(&mut self, send: Send, bytes: &[u8]) {
        let (to, tag) = (send.to, send.tag);
        let request = self.rank.buffers().issend(to, tag, filled(bytes));
        if send.id % 4 == 0 {
            let _ = self.rank.iprobe(self.me, u64::MAX);
        }
        match request.cancel() {
            Err(unsent) if matches!(unsent.error, Error::Cancelled) => {
                let again = Send {
                    id: send.id + 1,
                    ..send
                };
                self.order += 1;
                self.book.again(send.id, self.order, &again);
                let bytes = content(again.id, again.class);
                let sent = self.rank.send(to, tag, &bytes);
                self.note_sent(&again, sent);
            }
            result => self.note_sent(&send, result.map(drop).map_err(Error::from)),
        }
    }

    /// Uses null ranks, which accept all messages and supply empty ones.
    fn nobody(&self) {
        let mut memory = [UNTOUCHED; 4];
        let sent = self.rank.ssend(Destination::Null, 1, &memory);
        let got = self.rank.recv(Source::Null, Tag::Any, &mut memory);
        let found = self.rank.probe(Source::Null, 1).map(|found| found.status());
        let nobody = |status: &Status| status.source == Status::NOBODY && status.is_empty();
        let is_right = sent.is_ok()
            && got.is_ok_and(|status| nobody(&status))
            && found.is_ok_and(|status| nobody(&status));
        if !is_right || memory != [UNTOUCHED; 4] {
            self.book.fault("a null rank was not silent");
        }
    }

    /// Runs until all ranks have received all messages.
    fn finish(&mut self) {
        if let Some(held) = self.held.take() {
            self.receive_held(held);
        }
        while !self.receives.is_empty() {
            self.cancel(0);
        }
        if self.may_wait {
            self.wait_for_sends();
        }
        let begun = Instant::now();
        while !(self.book.is_over() && self.sends.is_empty()) {
            self.look_at_sends();
            if self.book.plan.tasks[self.lane].only_sends() {
                // Drives the detached sends.
                let _ = self.rank.iprobe(self.me, u64::MAX);
                thread::sleep(Duration::from_micros(100));
            } else {
                self.receive(Wants::ANY, ReceiveHow::Timed(500), ROOM, Elements::Bytes);
                self.mourn();
            }
            if begun.elapsed() > LONG / 12 {
                let left = self.sends.len();
                return self
                    .book
                    .fault(format!("{} has {left} sends left", self.me));
            }
        }
    }

    fn wait_for_sends(&mut self) {
        let (mut sends, mut requests): (Vec<_>, Vec<_>) = self.sends.drain(..).unzip();
        if self.lane % 2 == 0 {
            while let Some((place, result)) = rank::wait_any(&mut requests) {
                let result = result.map(drop).map_err(Error::from);
                self.note_sent(&sends[place], result);
            }
            return;
        }
        for (send, result) in sends.drain(..).zip(rank::wait_all(&mut requests)) {
            self.note_sent(&send, result.map(drop).map_err(Error::from));
        }
    }

    fn look_at_sends(&mut self) {
        for _ in 0..self.sends.len() {
            let (send, mut request) = self.sends.pop_front().unwrap();
            match request.test() {
                None => self.sends.push_back((send, request)),
                Some(result) => self.note_sent(&send, result.map(drop).map_err(Error::from)),
            }
        }
    }

    /// Records the end of the other rank, once it has no more messages.
    fn mourn(&mut self) {
        let victim = self.book.plan.victim.filter(|_| self.mourns);
        let gone = victim.map(|victim| self.rank.iprobe(victim, Tag::Any));
        if matches!(gone, Some(Err(_))) {
            self.mourns = false;
            self.book.mourn();
        }
    }
}
