//! Many concurrent chains of pipelined calls, while several threads serve.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, Outcome, Remote, Server, ServerOptions, Serving, WeakServer, remote,
};
use jstream_transport::active::yield_now;

use testing::until;

#[remote]
trait Step {
    fn next(&self, n: u64) -> Remote<dyn Step>;
    /// Yields `times` times first.
    async fn next_later(&self, n: u64, times: u64) -> Remote<dyn Step>;
    fn maybe(&self, n: u64) -> Option<Remote<dyn Step>>;
    fn fail(&self) -> Remote<dyn Step>;
    async fn fail_later(&self) -> Option<Remote<dyn Step>>;
    fn way(&self) -> Vec<u64>;
    fn note(&self, what: u64);
    #[remote(one_way)]
    fn note_only(&self, what: u64);
    /// Calls `ask` before it records `what`.
    fn note_with(&self, what: u64, ask: Remote<dyn Ask>) -> u64;
    fn noted(&self) -> Vec<u64>;
}

#[remote]
trait Ask {
    fn ask(&self, what: u64) -> u64;
}

struct Plain {
    server: WeakServer,
    way: Vec<u64>,
    noted: Mutex<Vec<u64>>,
}

impl Plain {
    fn below(&self, n: u64) -> Remote<dyn Step> {
        let mut way = self.way.clone();
        way.push(n);
        let below = Self {
            server: self.server.clone(),
            way,
            noted: Mutex::default(),
        };
        self.server
            .upgrade()
            .unwrap()
            .export(Arc::new(below))
            .into_remote()
    }
}

#[remote]
impl Step for Plain {
    fn next(&self, n: u64) -> Remote<dyn Step> {
        self.below(n)
    }

    async fn next_later(&self, n: u64, times: u64) -> Remote<dyn Step> {
        for _ in 0..times {
            yield_now().await;
        }
        self.below(n)
    }

    fn maybe(&self, n: u64) -> Option<Remote<dyn Step>> {
        (n > 0).then(|| self.below(n))
    }

    fn fail(&self) -> Remote<dyn Step> {
        panic!("as it should")
    }

    async fn fail_later(&self) -> Option<Remote<dyn Step>> {
        yield_now().await;
        None
    }

    fn way(&self) -> Vec<u64> {
        self.way.clone()
    }

    fn note(&self, what: u64) {
        self.noted.lock().unwrap().push(what);
    }

    fn note_only(&self, what: u64) {
        self.note(what);
    }

    fn note_with(&self, what: u64, ask: Remote<dyn Ask>) -> u64 {
        let answer = *ask.ask(what).wait().unwrap().get();
        self.note(what);
        answer
    }

    fn noted(&self) -> Vec<u64> {
        self.noted.lock().unwrap().clone()
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Number of calling threads, and of connections. Each thread makes `CHAINS` chains.
const CALLERS: u64 = 4;
const CHAINS: u64 = 600;

fn serve(address: &str, change: impl FnOnce(&mut ServerOptions)) -> (Server, Serving) {
    let mut options = ServerOptions::default();
    options.threads = 4;
    change(&mut options);
    let server = Server::new(options);
    let root = Plain {
        server: server.downgrade(),
        way: Vec::new(),
        noted: Mutex::default(),
    };
    server.bind::<dyn Step>("root", Arc::new(root)).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (server, serving)
}

fn is_not_given<T>(result: Result<T, CallError>) {
    let error = result.err().unwrap();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error:?}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
}

/// Makes one chain, and calls of the object at its end.
fn chain(root: &StepStub, random: &mut Random) {
    let depth = 1 + random.below(8);
    let fails_at = random.below(16);
    let (mut way, mut fails) = (Vec::new(), false);
    let (mut calls, mut options) = (Vec::new(), Vec::new());
    let mut at = root.clone();
    for level in 0..depth {
        let n = 1 + random.below(1000);
        way.push(n);
        fails |= level == fails_at;
        at = match (level == fails_at, random.below(3)) {
            (false, 0) => {
                let call = at.next(n);
                let next = call.pipelined();
                calls.push(call);
                next
            }
            (false, 1) => {
                let call = at.next_later(n, random.below(3));
                let next = call.pipelined();
                calls.push(call);
                next
            }
            (false, _) => {
                let call = at.maybe(n);
                let next = call.pipelined();
                options.push(call);
                next
            }
            (true, 0) => {
                let call = at.fail();
                let next = call.pipelined();
                calls.push(call);
                next
            }
            (true, 1) => {
                let call = at.maybe(0);
                let next = call.pipelined();
                options.push(call);
                next
            }
            (true, _) => {
                let call = at.fail_later();
                let next = call.pipelined();
                options.push(call);
                next
            }
        };
    }
    let notes: Vec<_> = (0..random.below(20)).map(|n| at.note(n)).collect();
    let (found, noted) = (at.way(), at.noted());
    if random.below(10) == 0 {
        // The chain is dropped: calls that have not begun by then do not run.
        drop((calls, options));
        for result in [found.wait(), noted.wait()] {
            if let Err(error) = result {
                // The object may also be gone before the calls begin.
                let is_gone = matches!(
                    error,
                    CallError::NotGiven { .. } | CallError::UnknownObject { .. }
                );
                assert!(is_gone, "{error:?}");
            }
        }
        return;
    }
    if fails {
        is_not_given(found.wait());
        is_not_given(noted.wait());
        notes.into_iter().for_each(|note| is_not_given(note.wait()));
        return;
    }
    // In some chains the links are waited for first. Later calls must not overtake the earlier
    // ones.
    if random.below(2) == 0 {
        for call in calls {
            call.wait().unwrap();
        }
    }
    at.note_only(100).unwrap();
    at.note(101).wait().unwrap();
    let all = at.noted().wait().unwrap().get().to_vec();
    let count = notes.len() as u64;
    assert!(
        all.iter().copied().eq((0..count).chain([100, 101])),
        "{all:?}"
    );
    assert_eq!(found.wait().unwrap().get(), &way);
    assert!(noted.wait().unwrap().get().iter().copied().eq(0..count));
    for note in notes {
        note.wait().unwrap();
    }
}

fn storm(address: &str) {
    let (server, serving) = serve(address, |_| {});
    let clients = [(); 2].map(|()| Client::connect(serving.address()).wait().unwrap());
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let client = &clients[usize::try_from(caller % 2).unwrap()];
            scope.spawn(move || {
                let root = client.lookup::<dyn Step>("root").wait().unwrap();
                let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (caller + 1));
                for _ in 0..CHAINS {
                    chain(&root, &mut random);
                }
            });
        }
    });
    let health = *clients[0].reflection().health().wait().unwrap().get();
    assert_eq!((health.refused_calls, health.waiting), (0, 0));
    drop(clients);
    until(|| server.references().exports == 1 && server.references().leases == 0);
}

#[test]
fn chains_over_inproc() {
    storm("inproc://pipelining-storm");
}

#[test]
fn chains_over_tcp() {
    storm("tcp://127.0.0.1:0");
}

#[test]
fn chains_over_shm() {
    storm(&format!("shm://pipelining-storm-{}", std::process::id()));
}

/// Answers when a call that was made after its own has ended.
struct Waits(Mutex<Option<jstream_rmi::Call<()>>>);

impl Ask for Waits {
    fn ask(&self, what: u64) -> u64 {
        let behind = self.0.lock().unwrap().take();
        behind.unwrap().wait().unwrap();
        what + 1
    }
}

#[test]
fn who_waits_lets_those_behind_it_go_on() {
    for address in ["inproc://pipelining-waits", "tcp://127.0.0.1:0"] {
        for threads in [1, 4] {
            let (server, serving) = serve(address, |options| options.threads = threads);
            let client = Client::connect(serving.address()).wait().unwrap();
            let root = client.lookup::<dyn Step>("root").wait().unwrap();
            let next = root.next_later(1, 5);
            let step = next.pipelined();
            let waits = Arc::new(Waits(Mutex::default()));
            let ask = server.export::<dyn Ask>(waits.clone());
            let asked = {
                let mut behind = waits.0.lock().unwrap();
                let asked = step.note_with(1, ask.remote());
                *behind = Some(step.note(2));
                asked
            };
            let last = step.note(3);
            assert_eq!(*asked.wait().unwrap().get(), 2);
            last.wait().unwrap();
            // The first call waited before it recorded anything, so the second call recorded first.
            let noted = step.noted().wait().unwrap().get().to_vec();
            assert_eq!(noted.iter().position(|n| *n == 2), Some(0), "{noted:?}");
        }
    }
}

#[test]
fn what_is_held_ends_with_the_server() {
    for address in ["inproc://pipelining-shutdown", "tcp://127.0.0.1:0"] {
        let (_server, serving) = serve(address, |_| {});
        let client = Client::connect(serving.address()).wait().unwrap();
        let root = client.lookup::<dyn Step>("root").wait().unwrap();
        // This call waits for longer than the server runs.
        let next = root.next_later(1, u64::MAX);
        let step = next.pipelined();
        let held: Vec<_> = (0..20).map(|n| step.note(n)).collect();
        let below = step.next(2);
        let held_below = below.pipelined().note(1);
        root.way().wait().unwrap();
        let ending = thread::spawn(move || serving.shutdown(Duration::from_secs(5)).wait());
        for call in held {
            let error = call.wait().unwrap_err();
            assert!(matches!(error, CallError::Ending { .. }), "{error:?}");
            assert_eq!(error.outcome(), Outcome::DidNotRun);
        }
        let error = below.wait().unwrap_err();
        assert!(matches!(error, CallError::Ending { .. }), "{error:?}");
        let error = held_below.wait().unwrap_err();
        assert_eq!(error.outcome(), Outcome::DidNotRun, "{error:?}");
        drop(next);
        ending.join().unwrap();
    }
}
