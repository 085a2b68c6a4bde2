//! Executes a plan in a simulation, where the seed determines the order of all events.
//!
//! A proxy between two ranks may reorder messages. The rules must detect that.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use jstream::EmptyBuffer;
use jstream_transport::rank::{
    Error, Mesh, Rank, RankMessage, RecvRequest, SendRequest, Tag, Unreceived,
};
use jstream_transport::sim::{self, Settings, Simulation};
use jstream_transport::{Endpoint, Message, Options, connect, listen};

use super::book::{Asked, Book, End};
use super::plan::{Found, LITTLE, Plan, ROOM, ReceiveHow, Send, SendHow, Step, Wants, content};
use super::receiving::pattern;
use super::threads::options;
use testing::LONG;
use testing::transport::{filled, fresh};

const SOON: Duration = Duration::from_micros(300);

/// Executes a plan with a seed, and returns the faults. With `overtaken`, the proxy delays one
/// message in that many.
pub(crate) fn run(plan: &Plan, seed: u64, overtaken: Option<u64>) -> Vec<String> {
    let mut settings = Settings::new(seed);
    settings.max_steps = 3_000_000;
    let book = Rc::new(Book::new(plan, false));
    let all = {
        let book = book.clone();
        async move {
            let ranks = connected(&book.plan, overtaken).await;
            let lanes: Vec<_> = (0..book.plan.tasks.len())
                .map(|lane| {
                    let rank = ranks[book.plan.tasks[lane].rank as usize].clone();
                    let actor = Actor::new(rank, book.clone(), lane);
                    sim::spawn(&format!("lane {lane}"), actor.run())
                })
                .collect();
            drop(ranks);
            for lane in lanes {
                lane.await;
            }
        }
    };
    if let Err(stuck) = Simulation::new(settings).run(all) {
        book.fault(stuck.to_string());
    }
    book.faults()
}

fn patient() -> Options {
    let mut options = Options::default();
    options.spin = Duration::ZERO;
    options.handshake_timeout = LONG;
    options.message_timeout = LONG;
    options.connect_timeout = LONG;
    options.send_timeout = LONG;
    options
}

async fn pair() -> (Endpoint, Endpoint) {
    let listener = listen(&fresh("sim"), &patient()).unwrap();
    let address = listener.local_address().clone();
    let accepting = sim::spawn("accepts", async move {
        let incoming = listener.accept_async().await.unwrap();
        incoming.establish().unwrap()
    });
    let connected = connect(&address, &patient()).unwrap();
    (connected, accepting.await)
}

async fn connected(plan: &Plan, overtaken: Option<u64>) -> Vec<Rank> {
    let mut setting = plan.setting;
    setting.sleepy = true;
    let options = options(setting);
    let mut all: Vec<_> = (0..plan.size)
        .map(|rank| Some(Mesh::new(rank, plan.size, &options)))
        .collect();
    for one in 0..plan.size {
        for other in one + 1..plan.size {
            let (near, far) = match overtaken {
                None => pair().await,
                Some(every) => {
                    let (near, middle) = pair().await;
                    let (back, far) = pair().await;
                    for (from, to) in [(&middle, &back), (&back, &middle)] {
                        let passing = pass_on(from.clone(), to.clone(), every);
                        sim::spawn("between", passing);
                    }
                    (near, far)
                }
            };
            for (rank, peer, end) in [(one, other, near), (other, one, far)] {
                let mesh = all[rank as usize].take().unwrap();
                all[rank as usize] = Some(mesh.endpoint(peer, end).unwrap());
            }
        }
    }
    all.into_iter().map(|mesh| mesh.unwrap().build()).collect()
}

/// Forwards messages, but delays every `every`-th eager message until after the next one.
async fn pass_on(from: Endpoint, to: Endpoint, every: u64) {
    const EAGER: u32 = 0x6a73_7201;
    let send = |message: Message| to.post_send(message.header, message.payload);
    let mut count = 0;
    while let Ok(message) = from.post_recv(None).await {
        count += u64::from(message.header.kind == EAGER);
        if message.header.kind == EAGER && count % every == 0 {
            if let Some(Ok(next)) = unless_late(from.post_recv(None)).await {
                drop(send(next).await);
            }
        }
        drop(send(message).await);
    }
    let _ = to.finish();
}

/// Returns the output of `future`, or `None` if it takes too long.
async fn unless_late<F: Future>(future: F) -> Option<F::Output> {
    let (mut future, mut late) = (pin!(future), pin!(sim::sleep(SOON * 10)));
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => late.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// A task of a rank.
struct Actor {
    rank: Rank,
    me: u32,
    lane: usize,
    book: Rc<Book>,
    may_wait: bool,
    now: usize,
    order: usize,
    sends: Vec<(Send, SendRequest)>,
    receives: Vec<(Asked, RecvRequest)>,
    mourns: bool,
}

impl Actor {
    fn new(rank: Rank, book: Rc<Book>, lane: usize) -> Self {
        let me = rank.rank();
        Self {
            may_wait: book.may_wait(lane),
            mourns: book.mourns(lane),
            rank,
            me,
            lane,
            book,
            now: 0,
            order: 0,
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }

    fn tick(&mut self) -> usize {
        self.now += 1;
        self.now
    }

    async fn run(mut self) {
        let book = self.book.clone();
        for step in &book.plan.tasks[self.lane].steps {
            if book.is_over() {
                break;
            }
            self.step(step).await;
        }
        if !book.is_victim(self.me) {
            self.finish().await;
        }
    }

    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Send(send) | Step::Exchange { send, .. } => self.send(send).await,
            Step::Receive {
                wants, how, little, ..
            } => {
                let room = (how != ReceiveHow::MessageBuffer).then_some(match little {
                    true => LITTLE,
                    false => ROOM,
                });
                match how {
                    ReceiveHow::Posted | ReceiveHow::PostedInto => self.post(wants, room),
                    ReceiveHow::Timed(micros) => {
                        self.post(wants, room);
                        sim::sleep(Duration::from_micros(micros)).await;
                        self.look();
                    }
                    _ => self.receive(wants, room).await,
                }
            }
            Step::Batch { wants, count, .. } => {
                for _ in 0..count {
                    self.receive(wants, None).await;
                }
            }
            Step::Probe { wants, then, .. } => self.probe(wants, then).await,
            Step::Look(_) | Step::Cancel(_) => {
                self.look();
            }
            Step::Nobody => sim::yield_now().await,
            Step::Pause(micros) => sim::sleep(Duration::from_micros(micros)).await,
        }
    }

    async fn send(&mut self, send: Send) {
        self.order += 1;
        self.book.begin((self.me, self.lane), self.order, &send);
        let (to, tag, bytes) = (send.to, send.tag, content(send.id, send.class));
        let request = match send.how {
            SendHow::Confirmed | SendHow::ScopedConfirmed | SendHow::PostedConfirmed => {
                self.rank.buffers().issend(to, tag, filled(&bytes))
            }
            _ if send.typed => self.rank.buffers().isend_of::<u64>(to, tag, filled(&bytes)),
            _ => self.rank.buffers().isend(to, tag, filled(&bytes)),
        };
        let is_posted = matches!(send.how, SendHow::Posted | SendHow::PostedConfirmed);
        if send.how == SendHow::Forgotten {
            drop(request);
        } else if self.may_wait && !is_posted {
            let sent = request.await.map(drop);
            self.note_sent(&send, sent.map_err(Error::from));
        } else {
            self.sends.push((send, request));
        }
    }

    fn note_sent(&self, send: &Send, result: Result<(), Error>) {
        match result {
            Ok(()) => self.book.sent(send.id),
            Err(error) => self.book.unsent(send.to, &error),
        }
    }

    fn ask(&mut self, wants: Wants, waits: bool) -> Option<Asked> {
        let now = self.tick();
        self.book.ask(self.me, self.lane, wants, waits, now)
    }

    fn posted(&self, wants: Wants, room: Option<usize>) -> RecvRequest {
        let (from, tag) = pattern(wants);
        match room {
            Some(room) => self
                .rank
                .buffers()
                .irecv_into(from, tag, EmptyBuffer::heap(room)),
            None => self.rank.buffers().irecv(from, tag),
        }
    }

    fn post(&mut self, wants: Wants, room: Option<usize>) {
        if let Some(asked) = self.ask(wants, false) {
            let request = self.posted(wants, room);
            self.receives.push((asked, request));
        }
    }

    async fn receive(&mut self, wants: Wants, room: Option<usize>) {
        if let Some(asked) = self.ask(wants, true) {
            let result = self.posted(wants, room).await;
            self.note(asked, result);
        }
    }

    /// Records a completed receive. Returns true if it got a message.
    fn note(&mut self, asked: Asked, result: Result<RankMessage, Unreceived>) -> bool {
        let end = self.end_of(result);
        let now = self.tick();
        self.book.answer(self.me, asked, &end, now);
        matches!(end, End::Got(_))
    }

    fn end_of(&self, result: Result<RankMessage, Unreceived>) -> End {
        match result {
            Ok(message) => self.book.got(&message.status, message.payload.as_bytes()),
            Err(unreceived) => self.book.failed(&unreceived.error),
        }
    }

    async fn probe(&mut self, wants: Wants, then: Found) {
        let Some(asked) = self.ask(wants, false) else {
            return;
        };
        let (from, tag) = pattern(wants);
        let found = self.rank.iprobe(from, tag).ok().flatten();
        let since = self.tick();
        let Some(found) = found else {
            return self.book.unask(self.me, &asked);
        };
        if then == Found::GivenBack {
            let status = found.status();
            let id = self
                .book
                .message_of(status.source, status.tag, status.bytes);
            sim::sleep(SOON).await;
            drop(found);
            let until = self.tick();
            self.book
                .hide(id.unwrap(), self.me, self.lane, since, until);
            return self.book.unask(self.me, &asked);
        }
        if then == Found::Held {
            sim::sleep(SOON).await;
        }
        let end = self.end_of(found.irecv().await);
        match end {
            End::Got(_) => self.book.answer(self.me, asked, &end, since),
            _ => self.book.unask(self.me, &asked),
        }
    }

    /// Polls all posted operations. Returns true if a receive got a message.
    fn look(&mut self) -> bool {
        let mut got = false;
        for (asked, mut request) in std::mem::take(&mut self.receives) {
            match request.test() {
                None => self.receives.push((asked, request)),
                Some(result) => got |= self.note(asked, result),
            }
        }
        for (send, mut request) in std::mem::take(&mut self.sends) {
            match request.test() {
                None => self.sends.push((send, request)),
                Some(result) => {
                    self.note_sent(&send, result.map(drop).map_err(Error::from));
                }
            }
        }
        got
    }

    /// Runs until all ranks have received all messages. Receives that are still posted then get no
    /// message.
    async fn finish(&mut self) {
        let receives = !self.book.plan.tasks[self.lane].only_sends();
        let mut turns = 0;
        loop {
            let is_over = self.book.is_over();
            let is_open = self
                .receives
                .iter()
                .any(|(asked, _)| asked.wants == Wants::ANY);
            if receives && !is_open {
                self.post(Wants::ANY, None);
            }
            let got = self.look();
            // Messages of the rank that ends may have arrived together with its end.
            if is_over && self.sends.is_empty() && !got {
                return;
            }
            let _ = self.rank.iprobe(self.me, u64::MAX);
            let victim = self.book.plan.victim.filter(|_| self.mourns);
            let gone = victim.map(|victim| self.rank.iprobe(victim, Tag::Any));
            if matches!(gone, Some(Err(_))) {
                self.mourns = false;
                self.book.mourn();
            }
            sim::sleep(SOON).await;
            turns += 1;
            if turns > 20_000 {
                let left = self.sends.len();
                return self
                    .book
                    .fault(format!("{} has {left} sends left", self.me));
            }
        }
    }
}
