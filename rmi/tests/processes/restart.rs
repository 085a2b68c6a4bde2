//! An orderly restart of a server while clients call, stream, pass references and are called back.
//! Each call ends with a result, or with an error that states whether it ran. Each call that ran
//! has its result.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Address, CallError, Client, ClientOptions, Outcome, Remote, Server, Stream, StreamError,
    WeakServer, remote,
};

use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Desk {
    fn plain(&self, call: u64) -> u64;
    async fn later(&self, call: u64) -> u64;
    fn down(&self, call: u64, count: u64) -> Stream<u64>;
    fn up(&self, call: u64, numbers: Stream<u64>) -> u64;
    /// Calls `who` back `times` times. Returns true if all of these calls succeeded.
    fn ask(&self, call: u64, who: Remote<dyn Asked>, times: u64) -> bool;
    fn give(&self, call: u64) -> Remote<dyn Asked>;
}

#[remote]
trait Asked {
    fn answer(&self, call: u64) -> u64;
}

/// A log of the calls that ran and of the outcomes that callers saw.
#[derive(Default)]
struct Book {
    next: AtomicU64,
    calls: Mutex<BTreeMap<u64, (u64, Vec<Outcome>)>>,
}

impl Book {
    fn begin(&self) -> u64 {
        let call = self.next.fetch_add(1, Ordering::SeqCst);
        self.calls.lock().unwrap().entry(call).or_default();
        call
    }

    fn ran(&self, call: u64) {
        self.calls.lock().unwrap().entry(call).or_default().0 += 1;
    }

    /// Records the end of a call and checks its result. Returns true if it succeeded.
    fn ended(&self, call: u64, how: Result<bool, CallError>) -> bool {
        let outcome = how
            .as_ref()
            .map_or_else(CallError::outcome, |_| Outcome::Ran);
        assert!(how.as_ref().map_or(true, |right| *right), "call {call}");
        let mut calls = self.calls.lock().unwrap();
        calls.entry(call).or_default().1.push(outcome);
        how.is_ok()
    }
}

struct Here {
    book: Arc<Book>,
    server: WeakServer,
}

#[remote]
impl Desk for Here {
    fn plain(&self, call: u64) -> u64 {
        self.book.ran(call);
        call
    }

    async fn later(&self, call: u64) -> u64 {
        jstream_transport::active::yield_now().await;
        self.plain(call)
    }

    fn down(&self, call: u64, count: u64) -> Stream<u64> {
        self.book.ran(call);
        Stream::of(0..count)
    }

    fn up(&self, call: u64, numbers: Stream<u64>) -> u64 {
        self.book.ran(call);
        numbers.map_while(Result::ok).map(|n| *n.get()).sum()
    }

    fn ask(&self, call: u64, who: Remote<dyn Asked>, times: u64) -> bool {
        self.book.ran(call);
        (0..times).all(|_| {
            let call = self.book.begin();
            let how = who.answer(call).wait();
            self.book
                .ended(call, how.map(|answer| *answer.get() == call))
        })
    }

    fn give(&self, call: u64) -> Remote<dyn Asked> {
        self.book.ran(call);
        let answers = Arc::new(Answers(self.book.clone()));
        self.server
            .upgrade()
            .unwrap()
            .export::<dyn Asked>(answers)
            .into_remote()
    }
}

struct Answers(Arc<Book>);

impl Asked for Answers {
    fn answer(&self, call: u64) -> u64 {
        self.0.ran(call);
        call
    }
}

fn taken(mut numbers: Stream<u64>, count: u64) -> Result<bool, CallError> {
    let mut next = 0;
    loop {
        match numbers.next().wait() {
            None => return Ok(next == count),
            Some(Ok(item)) if *item.get() == next => next += 1,
            Some(Ok(_)) => return Ok(false),
            Some(Err(StreamError::Call(error))) => return Err(error),
            Some(Err(StreamError::Lost { reason })) => {
                return Err(CallError::Lost {
                    method: "down",
                    reason,
                    idempotent: false,
                });
            }
            Some(Err(error)) => panic!("{error:?}"),
        }
    }
}

/// Makes one call of each kind. They are all in flight at once, except for those that need the
/// result of another. Returns true if all succeeded.
fn round(book: &Arc<Book>, desk: &DeskStub, own: &Server) -> bool {
    let [first, second, third] = [(); 3].map(|()| book.begin());
    let calls = [
        (first, desk.plain(first)),
        (second, desk.later(second)),
        (third, desk.plain(third)),
    ];
    let [down, up, ask, give] = [(); 4].map(|()| book.begin());
    let items = 2000;
    let below = desk.down(down, items);
    let sum = desk.up(up, Stream::of(0..items));
    let answers = own.export::<dyn Asked>(Arc::new(Answers(book.clone())));
    let asked = desk.ask(ask, answers.remote(), 5);
    let given = desk.give(give);

    let mut well = true;
    for (call, sent) in calls {
        let how = sent.wait().map(|reply| *reply.get() == call);
        well &= book.ended(call, how);
    }
    let sum = sum.wait().map(|sum| *sum.get() == items * (items - 1) / 2);
    well &= book.ended(up, sum);
    well &= book.ended(down, taken(below, items));
    well &= book.ended(ask, asked.wait().map(|all| *all.get()));
    let given = given.wait();
    if let Ok(given) = &given {
        let call = book.begin();
        let how = given.answer(call).wait();
        well &= book.ended(call, how.map(|answer| *answer.get() == call));
    }
    well & book.ended(give, given.map(|_| true))
}

fn call_until(address: &Address, book: &Arc<Book>, done: &AtomicBool) {
    let own = Server::default();
    while !done.load(Ordering::SeqCst) {
        // Otherwise calls that were returned would wait here for the next server, which waits for
        // those whose streams this thread has to send.
        let mut once = ClientOptions::default();
        once.reconnect = None;
        let Ok(client) = Client::connect_with(address, &once).wait() else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let Ok(desk) = client.lookup::<dyn Desk>("desk").wait() else {
            continue;
        };
        while round(book, &desk, &own) && !done.load(Ordering::SeqCst) {}
    }
    until(|| own.references() == Server::default().references());
}

fn restarted(address: &str) {
    let server = Server::default();
    let book = Arc::new(Book::default());
    let here = Here {
        book: book.clone(),
        server: server.downgrade(),
    };
    server.bind::<dyn Desk>("desk", Arc::new(here)).unwrap();
    let before = server.references();
    let mut serving = server.listen(&address.parse().unwrap()).unwrap();
    let address = serving.address().clone();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| call_until(&address, &book, &done));
        }
        for _ in 0..5 {
            let so_far = book.next.load(Ordering::SeqCst);
            until(|| book.next.load(Ordering::SeqCst) > so_far + 100);
            let ended = serving.shutdown(LONG).wait();
            assert_eq!((ended.cut_off, ended.abandoned), (0, false));
            serving = server.listen(&address).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    let calls = book.calls.lock().unwrap();
    for (call, (ran, told)) in &*calls {
        let &[told] = &told[..] else {
            panic!("call {call} has the ends {told:?}");
        };
        match told {
            Outcome::Ran => assert_eq!(*ran, 1, "call {call}"),
            _ => assert_eq!(*ran, 0, "call {call} ran, but ended with {told:?}"),
        }
    }
    let well = calls.values().filter(|(ran, _)| *ran == 1).count();
    assert!(well > calls.len() / 2, "{well} of {}", calls.len());
    drop(calls);
    until(|| server.references() == before);
}

#[test]
fn over_tcp() {
    restarted("tcp://127.0.0.1:0");
}

#[test]
fn over_shared_memory() {
    restarted(&format!("shm://jstream-restart-{}", std::process::id()));
}

#[test]
fn in_process() {
    restarted("inproc://restart");
}
