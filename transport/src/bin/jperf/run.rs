//! `jperf run`: the client, which measures.

use std::mem;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use jstream::Pool;
use jstream_transport::{Endpoint, Options, connect};

use crate::arguments::Run;
use crate::failure::Failure;
use crate::greeting::{self, BEGIN, READY, receive, send_words};
use crate::lead::{Exchange, Taken, lead};
use crate::output::{self, ProgressLine};
use crate::own::{Own, Where};
use crate::party::Party;
use crate::report::{Report, Row};
use crate::tagged::{CLIENT, Tagged};
use crate::times::Times;
use crate::work::{Op, Plan, Receive, Touch, Work};
use crate::{machine, units};

/// Runs `jperf run`.
pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    arguments.check()?;
    let place = Where::from_uri(&arguments.uri)?;
    let sizes = &arguments.size.0;
    let longest = sizes.iter().copied().max().unwrap_or(0);
    let mut settings = RunSettings::usual();
    settings.spin = arguments.spin.unwrap_or(settings.spin);
    settings.trust = arguments.receive == Receive::Trusted;
    settings.longest = longest;
    let mut pins = arguments.pin.iter().copied();
    let (here, there) = (pins.next(), pins.next());
    let own = match &place {
        Where::Own(scheme) => Some(Own::start(scheme, &settings, there)?),
        Where::At(_) if there.is_some() => {
            let text = "the second processor of --pin is for a server that jperf run starts itself";
            return Err(Failure::Usage(text.to_owned()));
        }
        Where::At(_) => None,
    };
    let address = match (&place, &own) {
        (Where::At(address), _) => address,
        (_, Some(own)) => own.address(),
        (Where::Own(_), None) => unreachable!("the server was started above"),
    };
    if let Some(cpu) = here {
        machine::pin(cpu)?;
    }
    let options = settings.options();
    let connect_all = || {
        let endpoints = (0..arguments.connections).map(|_| {
            let endpoint = connect(address, &options)?;
            greeting::join(&endpoint, arguments.patience)?;
            Ok(endpoint)
        });
        endpoints.collect::<Result<Vec<_>, Failure>>()
    };
    let mut endpoints = connect_all()?;
    let first = endpoints.first();
    let notes = first
        .map(|endpoint| endpoint.info().degraded)
        .unwrap_or_default();
    if settings.trust && (address.scheme() != "shm" || !notes.is_empty()) {
        let reason = match address.scheme() {
            "shm" => notes.join("; "),
            scheme => format!("{scheme} does not read in place"),
        };
        return Err(Failure::Said(format!(
            "--receive trusted is not possible: {reason}"
        )));
    }
    if !arguments.quiet {
        for note in notes {
            output::print_error(note);
        }
    }
    let report = Report::begin(arguments, address)?;
    let progress = ProgressLine::new(arguments.quiet);
    for &size in sizes {
        let work = arguments.work(size)?;
        let length = units::bytes(size);
        progress.show(&format!(
            "{} of {length} bytes over {address}",
            work.op.name()
        ));
        let (plan, patience) = (arguments.plan(), arguments.patience);
        let row = if work.op == Op::Tags {
            if endpoints.is_empty() {
                endpoints = connect_all()?;
            }
            // The ranks take over the connections and end with them.
            measure_tags(
                mem::take(&mut endpoints),
                work,
                &plan,
                settings.spin,
                patience,
            )?
        } else {
            measure(&endpoints, work, &plan, patience)?
        };
        progress.show("");
        report.row(&row)?;
    }
    for endpoint in &endpoints {
        endpoint.finish()?;
    }
    drop(endpoints);
    own.map_or(Ok(()), Own::end)
}

impl Run {
    fn work(&self, size: u64) -> Result<Work, Failure> {
        let size = usize::try_from(size)?;
        let mut work = Work {
            op: self.op,
            receive: self.receive,
            touch: self.touch,
            check: self.check,
            size,
            window: self.window(),
            places: 1,
            order: self.order,
            depth: self.depth,
            think: 0,
        };
        if self.cold {
            let wanted = machine::cache().saturating_mul(2);
            let places = wanted.div_ceil(work.stride() as u64).max(2);
            work.places = u32::try_from(places)?;
            if self.receive == Receive::Moved {
                // Each place takes a jbuf, which has a minimum size.
                work.places = work.places.min(MOST_JBUFS);
            }
        }
        if self.touch == Touch::None && self.check {
            work.touch = Touch::Dirty;
        }
        Ok(work)
    }
}

/// Maximum number of jbufs that move back and forth.
const MOST_JBUFS: u32 = 1 << 14;

/// Configuration of both sides.
#[derive(Debug, Clone)]
pub(crate) struct RunSettings {
    /// Time for which a waiting thread spins before it sleeps.
    pub(crate) spin: Duration,
    pub(crate) trust: bool,
    /// True if large messages are not read from the memory of the other process.
    pub(crate) no_remote_reads: bool,
    /// Maximum length of a payload, in bytes.
    pub(crate) longest: u64,
}

impl RunSettings {
    /// Returns the default settings. Must be called before a thread is pinned, because the default
    /// on a single processor is not to spin.
    pub(crate) fn usual() -> Self {
        Self {
            spin: Options::default().spin,
            trust: false,
            no_remote_reads: false,
            longest: 0,
        }
    }

    /// Returns the options for the connections of this side.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new(Pool::default());
        options.max_message = options.max_message.max(self.longest);
        options.queue_bytes = options.queue_bytes.max(self.longest);
        options.remote_reads = !self.no_remote_reads;
        options.spin = self.spin;
        if self.trust {
            // SAFETY: the user who passes `--receive trusted` vouches for the program on the other
            // side, as the help text says. This program does not change or map the memory of a
            // connection.
            options = unsafe { options.trust_peer() };
        }
        options
    }
}

/// Measures once, over all connections concurrently.
pub(crate) fn measure(
    endpoints: &[Endpoint],
    work: Work,
    plan: &Plan,
    patience: Duration,
) -> Result<Row, Failure> {
    let mut parties = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        send_words(endpoint, BEGIN, work.to_words())?;
        receive(endpoint, READY, patience)?;
        parties.push(Party::new(endpoint, work, patience)?);
    }
    row(&mut parties, work, plan)
}

/// Measures once, with ranks over all connections concurrently.
fn measure_tags(
    endpoints: Vec<Endpoint>,
    work: Work,
    plan: &Plan,
    spin: Duration,
    patience: Duration,
) -> Result<Row, Failure> {
    let mut ranks = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        send_words(&endpoint, BEGIN, work.to_words())?;
        receive(&endpoint, READY, patience)?;
        ranks.push(Tagged::new(&endpoint, CLIENT, work, spin)?);
    }
    row(&mut ranks, work, plan)
}

/// Returns the combined result of all parties.
fn row(parties: &mut [impl Exchange], work: Work, plan: &Plan) -> Result<Row, Failure> {
    let connections = parties.len();
    let all = match parties {
        [party] => vec![lead(party, &work, plan, || {})?],
        parties => lead_all(parties, &work, plan)?,
    };
    let mut times = Times::default();
    let mut exchanges = 0u64;
    for taken in &all {
        times.merge(&taken.times);
        exchanges = exchanges.saturating_add(taken.exchanges);
    }
    let begun = all.iter().map(|taken| taken.begun).min();
    let ended = all.iter().map(|taken| taken.ended).max();
    let seconds = begun.zip(ended);
    let seconds = seconds.map_or(0.0, |(begun, ended)| {
        (ended.duration_since(begun)).as_secs_f64()
    });
    let messages = exchanges.saturating_mul(work.messages());
    Ok(Row {
        work,
        connections,
        times,
        messages_per_second: messages as f64 / seconds.max(1e-9),
    })
}

/// Runs each connection in its own thread. All threads finish the warm-up before any of them
/// measures.
fn lead_all(
    parties: &mut [impl Exchange],
    work: &Work,
    plan: &Plan,
) -> Result<Vec<Taken>, Failure> {
    let barrier = Barrier::new(parties.len());
    let barrier = &barrier;
    thread::scope(|scope| {
        let leading: Vec<_> = parties
            .iter_mut()
            .map(|party| {
                scope.spawn(move || {
                    let mut came = false;
                    let taken = lead(party, work, plan, || {
                        came = true;
                        barrier.wait();
                    });
                    if !came {
                        // The other threads must not wait for one that failed.
                        barrier.wait();
                    }
                    taken
                })
            })
            .collect();
        leading
            .into_iter()
            .map(|thread| {
                let panicked = |_| Failure::Said("a thread panicked".to_owned());
                thread.join().map_err(panicked)?
            })
            .collect()
    })
}
