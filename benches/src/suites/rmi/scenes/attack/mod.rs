//! A server that is attacked, and another client that it serves meanwhile.
//!
//! Both of them stay on one core, and the attackers on another one: what they compute is not the server's affair. The
//! attack pauses while a second server is asked, which nobody attacks, so that both are asked on the same machine at the same
//! time.

mod deeds;
mod peer;
mod raw;
mod target;

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
use crate::measure::since;
use crate::suites::Bench;
use crate::suites::transport::Cores;

/// What the target is called.
const NAME: &str = "target";

/// How many bytes of answers an attacker may leave unread.
const BACKLOG: usize = 2 << 20;

/// What a pool maps at once, which is what a connection may have without having sent anything.
const SLAB: usize = 64 << 10;

/// How long either server is asked, in turn.
const TURN: Duration = Duration::from_millis(20);

/// The names of the attacks, in the order in which they are run.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    DEEDS.iter().map(|deed| deed.name)
}

/// A server to be attacked.
pub(super) fn serve(_: &str) -> Result<Serving, Failure> {
    let mut settings = ServerOptions::default();
    settings.transport.spin = Duration::ZERO;
    settings.max_backlog = BACKLOG as u64;
    let server = Server::new(settings);
    server.bind::<dyn Target>(NAME, Arc::new(Plain))?;
    let serving = server.listen(&Address::tcp("127.0.0.1", 0)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// What attackers know of their server, and what is known of them.
#[derive(Debug, Clone)]
struct Aim {
    address: Address,
    options: Options,
    facts: Arc<Facts>,
}

#[derive(Debug, Default)]
struct Facts {
    /// How many bytes they have sent, and over how many connections.
    sent: AtomicUsize,
    connections: AtomicUsize,
    /// How often they have done what they do.
    times: AtomicUsize,
    pauses: AtomicBool,
    ends: AtomicBool,
}

impl Facts {
    /// How much memory the server may have for them: as much as it has received, and a slab for each connection.
    fn allowed(&self, deed: &Deed) -> usize {
        let each = SLAB + deed.kept;
        let connections = self.connections.load(Ordering::Relaxed);
        self.sent.load(Ordering::Relaxed) + connections * each
    }
}

/// Attackers at work.
struct Attackers {
    facts: Arc<Facts>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl Attackers {
    /// Starts them on that core. They have begun when this returns.
    fn start(aim: Aim, deed: Deed, core: usize) -> Result<Self, Failure> {
        let facts = aim.facts.clone();
        let thread = thread::Builder::new().name("attack".to_owned());
        let thread = thread.spawn(move || {
            core_affinity::set_for_current(core_affinity::CoreId { id: core });
            let facts = aim.facts.clone();
            let done = attack(&deed, &aim);
            // The server ends before they do.
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

    /// Has them pause, or go on.
    fn pause(&self, pauses: bool) {
        self.facts.pauses.store(pauses, Ordering::Relaxed);
        // What they have done is done with by then.
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

/// Runs the attack of that name: how much memory the server takes, and how long another client waits.
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
    scene.during(|| attacked.ask(false))?;
    scene.during(|| quiet.ask(false))?;
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
        scene.during(|| attacked.ask(true))?;
        // What they have sent by now may have been received.
        let grown = resident(scene.id())?.saturating_sub(before);
        if grown >= most {
            (most, allowed) = (grown, facts.allowed(&deed));
        }
        attackers.pause(true);
        alone.during(|| quiet.ask(true))?;
        attackers.pause(false);
    }
    let times = attackers.times();
    facts.ends.store(true, Ordering::Relaxed);
    let medians = [attacked.median(), quiet.median()];
    drop((attacked, scene));
    attackers.join()?;
    bench.row(name, "jstream", "attacks", times as f64, "count");
    bench.row(name, "jstream", "rtt_p50", medians[0], "ns");
    bench.row(name, "not-attacked", "rtt_p50", medians[1], "ns");
    bench.row(name, "jstream", "bytes", most as f64, "B");
    bench.row(name, "received", "bytes", allowed as f64, "B");
    Ok(())
}

/// Another client.
struct Bystander {
    _client: Client,
    target: TargetStub,
    times: Vec<f64>,
}

impl Bystander {
    fn new(scene: &Scene) -> Result<Self, Failure> {
        let client = Client::connect_with(&scene.address, &scene.options)?;
        Ok(Self {
            target: client.lookup::<dyn Target>(NAME)?,
            _client: client,
            times: Vec::new(),
        })
    }

    /// Asks for a while. With `counts`, the times of these calls do.
    fn ask(&mut self, counts: bool) -> Result<(), Failure> {
        let end = Instant::now() + TURN;
        while Instant::now() < end {
            let start = Instant::now();
            let sum = *self.target.add(1, 2).wait()?.get();
            if sum != 3 {
                return Err("a call gave another result".into());
            }
            if counts {
                self.times.push(since(start, 1));
            }
        }
        Ok(())
    }

    fn median(&mut self) -> f64 {
        self.times.sort_unstable_by(f64::total_cmp);
        let middle = self.times.get(self.times.len() / 2);
        middle.copied().unwrap_or(f64::NAN)
    }
}
