//! A server under attack, and another client that the server serves at the same time.
//!
//! Server and client are pinned to one core and the attackers to another, so that the attackers'
//! own computation does not affect the server. The attack pauses while the client of a second
//! server, which is not attacked, makes calls. In this way both servers are measured on the same
//! machine at almost the same time.

mod deeds;
mod peer;
mod raw;
mod target;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jstream_rmi::{Client, Server, ServerOptions};
use jstream_transport::{Address, Options};

use self::deeds::{DEEDS, Deed};
use self::target::{Plain, Target, TargetStub};
use super::super::pair::Serving;
use super::super::resident::resident;
use super::{Scene, is_quick};
use crate::Failure;
use crate::measure::{Times, since};
use crate::suites::Bench;
use crate::suites::transport::Cores;

/// Name of the attacked object.
const NAME: &str = "target";

/// Bytes of answers that an attacker may leave unread.
const BACKLOG: usize = 2 << 20;

/// Bytes that a connection may occupy without having sent anything: a quarter of the pool's mapping
/// unit.
const SLAB: usize = 64 << 10;

/// Time for which each server is called, in turn.
const TURN: Duration = Duration::from_millis(20);

/// Returns the names of the attacks, in the order in which they are run.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    DEEDS.iter().map(|deed| deed.name)
}

/// Starts a server to be attacked.
pub(super) fn serve(_: &str) -> Result<Serving, Failure> {
    let mut settings = ServerOptions::default();
    settings.transport.spin = Duration::ZERO;
    settings.max_backlog = BACKLOG as u64;
    let server = Server::new(settings);
    server.bind::<dyn Target>(NAME, Arc::new(Plain))?;
    let serving = server.listen(&Address::tcp("127.0.0.1", 0)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// Address of the attacked server, and the counters of its attackers.
#[derive(Debug, Clone)]
struct Aim {
    address: Address,
    options: Options,
    facts: Arc<Facts>,
}

#[derive(Debug, Default)]
struct Facts {
    /// Bytes that the attackers have sent, and connections that they have opened.
    sent: AtomicUsize,
    connections: AtomicUsize,
    /// Number of times that the attackers have repeated their action.
    times: AtomicUsize,
    pauses: AtomicBool,
    ends: AtomicBool,
}

impl Facts {
    /// Returns the memory in bytes that the server may use for the attackers: the bytes that it has
    /// received, and a slab for each connection.
    fn allowed(&self, deed: &Deed) -> usize {
        let each = SLAB + deed.kept;
        let connections = self.connections.load(Ordering::Relaxed);
        self.sent.load(Ordering::Relaxed) + connections * each
    }
}

/// Running attackers.
struct Attackers {
    facts: Arc<Facts>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Attackers {
    /// Starts the attackers on `core`. Returns when they have completed their first action.
    fn start(aim: Aim, deed: Deed, core: usize) -> Result<Self, Failure> {
        let facts = aim.facts.clone();
        let thread = thread::Builder::new().name("attack".to_owned());
        let thread = thread.spawn(move || {
            core_affinity::set_for_current(core_affinity::CoreId { id: core });
            let facts = aim.facts.clone();
            let done = attack(&deed, &aim);
            // The server ends before the attackers do.
            if facts.ends.load(Ordering::Relaxed) {
                return Ok(());
            }
            done
        })?;
        let attackers = Self { facts, thread };
        while attackers.times() == 0 && !attackers.thread.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(attackers)
    }

    fn times(&self) -> usize {
        self.facts.times.load(Ordering::Relaxed)
    }

    /// Pauses or resumes the attackers.
    fn pause(&self, pauses: bool) {
        self.facts.pauses.store(pauses, Ordering::Relaxed);
        // After this time, the server has finished the work that the attackers caused.
        thread::sleep(Duration::from_millis(5));
    }

    fn join(self) -> Result<(), Failure> {
        let joined = self.thread.join();
        joined.unwrap_or_else(|_| Err("an attacker panicked".into()))
    }
}

fn attack(deed: &Deed, aim: &Aim) -> Result<(), Failure> {
    let mut attacker = (deed.begin)(aim)?;
    while !aim.facts.ends.load(Ordering::Relaxed) {
        if aim.facts.pauses.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        attacker()?;
        aim.facts.times.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Runs the attack `name`, and records the memory that the server uses and the latency of another
/// client.
pub(super) fn run(bench: &mut Bench<'_>, name: &str, cores: Cores) -> Result<(), Failure> {
    bench.progress.step(&format!("rmi / {name}"));
    let deed = DEEDS.iter().find(|deed| deed.name == name);
    let deed = *deed.ok_or_else(|| format!("there is no attack {name}"))?;
    let rounds = if is_quick(bench) { 8 } else { 100 };
    let (scene, alone) = (
        Scene::start(name, cores.first)?,
        Scene::start(name, cores.first)?,
    );
    let (mut attacked, mut quiet) = (Bystander::new(&scene)?, Bystander::new(&alone)?);
    scene.during(|| attacked.prepare())?;
    alone.during(|| quiet.prepare())?;
    let before = resident(scene.id())?;
    let facts = Arc::new(Facts::default());
    let aim = Aim {
        address: scene.address.clone(),
        options: scene.options.transport.clone(),
        facts: facts.clone(),
    };
    let attackers = scene.during(|| Attackers::start(aim, deed, cores.other))?;
    let (mut most, mut allowed) = (0, 0);
    for _ in 0..rounds {
        scene.during(|| attacked.ask())?;
        // The server may have received what the attackers have sent by now.
        let grown = resident(scene.id())?.saturating_sub(before);
        if grown >= most {
            (most, allowed) = (grown, facts.allowed(&deed));
        }
        attackers.pause(true);
        alone.during(|| quiet.ask())?;
        attackers.pause(false);
    }
    let times = attackers.times();
    facts.ends.store(true, Ordering::Relaxed);
    let (with, without) = (attacked.times(), quiet.times());
    drop((attacked, scene));
    attackers.join()?;
    bench.row(name, "jstream", "attacks", times as f64, "count");
    for (subject, times) in [("jstream", with), ("not-attacked", without)] {
        bench.timed(name, subject, "rtt_p50", times.median, "ns", &times);
    }
    bench.row(name, "jstream", "bytes", most as f64, "B");
    bench.row(name, "received", "bytes", allowed as f64, "B");
    Ok(())
}

/// A client that does not attack.
struct Bystander {
    _client: Client,
    target: TargetStub,
    times: Vec<f64>,
}

impl Bystander {
    fn new(scene: &Scene) -> Result<Self, Failure> {
        let client = Client::connect_with(&scene.address, &scene.options).wait()?;
        Ok(Self {
            target: client.lookup::<dyn Target>(NAME).wait()?,
            _client: client,
            times: Vec::new(),
        })
    }

    /// Makes calls so that the server allocates the memory that it keeps for any client.
    fn prepare(&mut self) -> Result<(), Failure> {
        for _ in 0..8 {
            let calls = [1 << 20, 1 << 10, 1].map(|length| self.target.give(length));
            for call in calls {
                call.wait()?;
            }
        }
        self.ask()?;
        self.times.clear();
        Ok(())
    }

    /// Makes calls for the duration of a turn.
    fn ask(&mut self) -> Result<(), Failure> {
        let end = Instant::now() + TURN;
        while Instant::now() < end {
            let start = Instant::now();
            let sum = *self.target.add(1, 2).wait()?.get();
            if sum != 3 {
                return Err("a call returned a wrong result".into());
            }
            self.times.push(since(start, 1));
        }
        Ok(())
    }

    fn times(&mut self) -> Times {
        Times::of(mem::take(&mut self.times), 1)
    }
}
