//! The work of the clients.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs, thread};

use jstream::buffer::Pool;
use jstream_rmi::directory::Names;
use jstream_rmi::{
    CallError, Client, ClientOptions, LookupError, Options, Outcome, Remote, Server, Stream,
    StreamError, Stub,
};

use crate::chaos::ledger::{Ledger, Note};
use crate::chaos::random::Random;
use crate::chaos::service::{Ear, Faults, Listener, NO_ITEM, Service, ServiceStub};
use crate::chaos::{LEASE, SERVERS};

/// Call timeout. It is longer than any pause of a process.
const PATIENCE: Duration = Duration::from_secs(10);

/// State that the threads of a client share.
pub(crate) struct Caller {
    pub(crate) folder: PathBuf,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) faults: Faults,
    /// The server of the objects whose references this client passes on.
    pub(crate) own: Server,
    pub(crate) options: ClientOptions,
    pub(crate) pool: Pool,
    /// True if this process is never killed. Server 0 is never killed either, so connections
    /// between the two must not end.
    pub(crate) survives: bool,
    pub(crate) is_over: AtomicBool,
    pub(crate) done: Mutex<BTreeMap<&'static str, u64>>,
}

/// The end of a call.
struct Ended {
    what: &'static str,
    call: u64,
    how: Result<bool, CallError>,
}

/// A kind of work.
type Work = fn(&Caller, &ServiceStub, &mut Random) -> Ended;

const WORK: [(&str, Work); 10] = [
    ("plain", plain),
    ("several", several),
    ("later", later),
    ("down", down),
    ("up", up),
    ("through", through),
    ("large", large),
    ("call back", call_back),
    ("references", references),
    ("pipelined", pipelined),
];

impl Caller {
    pub(crate) fn new(folder: PathBuf, process: u64, faults: Faults, survives: bool) -> Self {
        let mut options = ClientOptions::default();
        let pool = Pool::default();
        options.transport = Options::new(pool.clone());
        options.call_timeout = PATIENCE;
        options.lease = LEASE;
        Self {
            ledger: Arc::new(Ledger::open(&folder, process)),
            folder,
            faults,
            own: Server::default(),
            options,
            pool,
            survives,
            is_over: AtomicBool::new(false),
            done: Mutex::default(),
        }
    }

    /// Performs each kind of work once at server 0, over each of its addresses. All work must
    /// succeed, because this server is never killed.
    pub(crate) fn do_all(&self, random: &mut Random) {
        for address in self.addresses(0) {
            let client = Client::connect_with(&address.parse().unwrap(), &self.options)
                .wait()
                .unwrap();
            let service = client.lookup::<dyn Service>("service").wait().unwrap();
            for (name, work) in WORK {
                let ended = work(self, &service, random);
                let is_well = matches!(ended.how, Ok(true)) || self.faults.0;
                assert!(is_well, "{name}: {:?}", ended.how);
                self.note(ended);
            }
        }
        self.look_up(random);
    }

    /// Makes calls until `is_over` is set.
    pub(crate) fn work(&self, random: &mut Random) {
        while !self.is_over.load(Ordering::SeqCst) {
            let server = random.below(SERVERS);
            let addresses = self.addresses(server);
            if addresses.is_empty() {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            let address = &addresses[usize::try_from(random.below(3)).unwrap() % addresses.len()];
            if self.visit(address, random) {
                assert!(
                    !(self.survives && server == 0),
                    "the connection to a running server at {address} has ended"
                );
            }
            if random.one_in(4) {
                self.look_up(random);
            }
        }
    }

    fn addresses(&self, server: u64) -> Vec<String> {
        let listed = fs::read_to_string(self.folder.join(format!("server-{server}")));
        let listed = listed.unwrap_or_default();
        let device = env::var("JSTREAM_CHAOS_DEVICE").unwrap_or_default();
        let wanted = listed
            .lines()
            .filter(|address| address.starts_with(&device));
        wanted.map(str::to_owned).collect()
    }

    /// Connects to a server and does some work. Returns true if the connection was lost or could
    /// not be established.
    fn visit(&self, address: &str, random: &mut Random) -> bool {
        let Ok(client) = Client::connect_with(&address.parse().unwrap(), &self.options).wait()
        else {
            thread::sleep(Duration::from_millis(5));
            return true;
        };
        let service = match client.lookup::<dyn Service>("service").wait() {
            Ok(service) => service,
            Err(LookupError::Call(error)) => return is_lost(&error),
            Err(error) => panic!("{error}"),
        };
        let _serving = random.one_in(2).then(|| client.start().unwrap());
        for _ in 0..random.below(40) {
            let turn = usize::try_from(random.below(WORK.len() as u64)).unwrap();
            let ended = WORK[turn].1(self, &service, random);
            let lost = ended.how.as_ref().err().is_some_and(is_lost);
            self.note(ended);
            if lost || self.is_over.load(Ordering::SeqCst) {
                return lost;
            }
        }
        if random.one_in(8) {
            client.close();
        }
        false
    }

    /// Finds a server in the registry of server 0 and calls it.
    fn look_up(&self, random: &mut Random) {
        let addresses = self.addresses(0);
        let address = addresses[0].parse().unwrap();
        let Ok(names) = Names::connect_with(&address, &self.options).wait() else {
            assert!(!self.survives, "the registry can't be reached");
            return;
        };
        let name = format!("service-{}", random.below(SERVERS));
        match names.lookup::<dyn Service>(&name).wait() {
            Ok(service) => self.note(plain(self, &service, random)),
            Err(LookupError::OtherInterface { .. }) => panic!("{name} has another interface"),
            Err(_) => {}
        }
    }

    fn note(&self, ended: Ended) {
        let Ended { what, call, how } = ended;
        if self.faults.of(call, 4) {
            return;
        }
        let note = match how {
            Ok(true) => {
                *self.done.lock().unwrap().entry(what).or_default() += 1;
                Note::Result
            }
            Ok(false) => Note::Wrong,
            Err(error) => {
                assert!(!is_odd(&error), "{what}: {error:?}");
                Note::Failed(error.outcome())
            }
        };
        self.ledger.note(call, note);
    }

    fn ear(&self) -> Remote<dyn Listener> {
        let ear = Arc::new(Ear(self.ledger.clone()));
        self.own.export::<dyn Listener>(ear).into_remote()
    }
}

fn is_lost(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Lost { .. }
            | CallError::NotSent { .. }
            | CallError::Ending { .. }
            | CallError::ObjectLost { .. }
    )
}

/// Returns true if the end of a peer cannot explain the error.
fn is_odd(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Arguments { .. }
            | CallError::UnknownMethod { .. }
            | CallError::Denied { .. }
            | CallError::Refused { .. }
            | CallError::Panicked { .. }
            | CallError::NoResult { .. }
            | CallError::Here { .. }
            | CallError::Result { .. }
    )
}

fn ended(what: &'static str, call: u64, how: Result<bool, CallError>) -> Ended {
    Ended { what, call, how }
}

fn plain(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let (call, n) = (caller.ledger.begin(), random.below(1000));
    let reply = service.plain(call, n).wait();
    ended("plain", call, reply.map(|reply| *reply.get() == n + 1))
}

/// Makes several calls at once and drops some of them.
fn several(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let calls: Vec<_> = (0..16)
        .map(|n| {
            let call = caller.ledger.begin();
            (n, call, service.plain(call, n), random.one_in(8))
        })
        .collect();
    let mut last = None;
    for (n, call, sent, gives_up) in calls {
        last.take().into_iter().for_each(|ended| caller.note(ended));
        if gives_up {
            drop(sent);
            let told = Note::Failed(Outcome::MayHaveRun);
            caller.ledger.note(call, told);
            continue;
        }
        let how = sent.wait().map(|reply| *reply.get() == n + 1);
        last = Some(ended("several", call, how));
    }
    last.unwrap_or_else(|| plain(caller, service, random))
}

/// Makes calls that wait at the server, some of them longer than their timeout.
fn later(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let brief = service.within(Duration::from_millis(2));
    let calls: Vec<_> = (0..4)
        .map(|n| {
            let call = caller.ledger.begin();
            let stub = if random.one_in(4) { &brief } else { service };
            (n, call, stub.later(call, n, random.below(5000)))
        })
        .collect();
    for (n, call, sent) in calls {
        let how = sent.wait().map(|reply| *reply.get() == n + 1);
        caller.note(ended("later", call, how));
    }
    let call = caller.ledger.begin();
    let reply = service.later(call, 1, random.below(2000)).wait();
    ended("later", call, reply.map(|reply| *reply.get() == 2))
}

/// Checks a stream: its items must be correct as far as they arrive, and it must end after the last
/// item or with an error.
fn taken(mut numbers: Stream<u64>, from: u64, count: u64) -> Result<bool, CallError> {
    let lost = |reason: String| CallError::Lost {
        method: "a stream",
        reason,
        idempotent: false,
    };
    let mut expected = from;
    loop {
        match numbers.next().wait() {
            None => return Ok(expected == from + count),
            Some(Ok(item)) if *item.get() == NO_ITEM => return Err(lost("no item".to_owned())),
            Some(Ok(item)) if *item.get() != expected => return Ok(false),
            Some(Ok(_)) => expected += 1,
            Some(Err(StreamError::Call(error))) => return Err(error),
            Some(Err(error @ StreamError::Lost { .. })) => return Err(lost(error.to_string())),
            Some(Err(error)) => panic!("{error:?}"),
        }
    }
}

fn down(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let (call, count) = (caller.ledger.begin(), random.below(5000));
    let how = taken(service.down(call, count), 0, count);
    ended("down", call, how)
}

fn up(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let (call, count) = (caller.ledger.begin(), random.below(5000) + 1);
    let reply = service.up(call, Stream::of(0..count)).wait();
    let how = reply.map(|sum| *sum.get() == Some(count * (count - 1) / 2));
    ended("up", call, how)
}

fn through(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let (call, count) = (caller.ledger.begin(), random.below(2000));
    let how = taken(service.through(call, Stream::of(0..count)), 1, count);
    ended("through", call, how)
}

/// Passes large arguments. From 256 KiB on they use a second connection.
fn large(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let count = 10 << random.below(14);
    let numbers: Vec<u64> = (0..count).collect();
    let call = caller.ledger.begin();
    let reply = service.large(call, &numbers).wait();
    let how = reply.map(|reply| reply.get().iter().copied().eq(1..=count));
    ended("large", call, how)
}

fn call_back(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    if random.one_in(2) {
        let call = caller.ledger.begin();
        let how = service.keep(call, caller.ear()).wait();
        caller.note(ended("keep", call, how.map(|right| *right.get())));
    }
    let (call, times) = (caller.ledger.begin(), random.below(10));
    let reply = service.call_back(call, caller.ear(), times).wait();
    let how = reply.map(|answers| answers.get().is_some_and(|answers| answers <= times));
    ended("call back", call, how)
}

fn references(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let mut call = caller.ledger.begin();
    let given = service.give(call, 7).wait();
    let counter = match given {
        Ok(counter) => counter,
        Err(error) => return ended("references", call, Err(error)),
    };
    for n in 7..7 + random.below(10) {
        caller.note(ended("references", call, Ok(true)));
        call = caller.ledger.begin();
        match counter.count(call).wait() {
            // An error ends the sequence, because a call whose answer was lost may still have
            // counted.
            Ok(count) if *count.get() == n => {}
            Ok(_) => return ended("references", call, Ok(false)),
            Err(error) => return ended("references", call, Err(error)),
        }
    }
    ended("references", call, Ok(true))
}

/// Makes pipelined calls.
fn pipelined(caller: &Caller, service: &ServiceStub, random: &mut Random) -> Ended {
    let (given, start) = (caller.ledger.begin(), random.below(1000));
    let giving = service.give(given, start);
    let counter = giving.pipelined();
    let counts: Vec<_> = (0..random.below(8))
        .map(|_| {
            let call = caller.ledger.begin();
            (call, counter.count(call))
        })
        .collect();
    let mut open: BTreeSet<_> = (start..start + counts.len() as u64).collect();
    for (call, count) in counts {
        let how = count.wait().map(|count| open.remove(count.get()));
        caller.note(ended("pipelined", call, how));
    }
    ended("pipelined", given, giving.wait().map(|_| true))
}
