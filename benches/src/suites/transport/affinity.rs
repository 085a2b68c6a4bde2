//! Effect of the cores on which two ranks run, as in section 5.1.5 of the thesis on McMPI: a
//! ping-pong of two threads, with each pair of cores.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use jstream_transport::rank::{self, Mesh, Rank};
use jstream_transport::{Address, Options, connect, listen};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::{SUITE, watch};
use crate::Failure;
use crate::measure::{self, note_interval, since};
use crate::suites::Bench;

/// Names of the cases, in the order in which they are run. The number is the length of a message.
pub(super) const NAMES: [&str; 2] = ["affinity/inproc/1", "affinity/shm/1"];

/// Maximum number of pairs of cores: all of a machine with 8 cores. On larger ones, the pairs of
/// the first cores are measured.
const MAX_PAIRS: usize = 28;
/// Exchanges per round. The start of the two threads of a round is not timed.
const EXCHANGES: usize = 500;
/// Exchanges before these.
const UNCOUNTED: usize = 20;
const TAG: u64 = 7;
/// Spin time of threads that wait for one on another core, far more than a message takes: the
/// wake-up of threads is not measured. On the same core, threads sleep.
const SPIN: Duration = Duration::from_micros(200);

/// Two ranks, with the cores of each.
struct Subject {
    name: String,
    ranks: [Rank; 2],
    cores: [CpuSet; 2],
}

/// Runs the case `case`.
pub(super) fn run(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    bench.progress.step(&format!("{SUITE} / {case}"));
    let scheme = case.split('/').nth(1).unwrap_or_default();
    let mut subjects = Vec::new();
    for (name, spin, cores) in masks(&measure::cores()) {
        subjects.push(Box::new(Subject {
            ranks: pair(scheme, spin)?,
            name,
            cores,
        }));
    }
    let times = measure::interleave(&mut subjects, &bench.effort, |subject| {
        let what = format!("{case}, {}", subject.name);
        let each = watch::during(&what, None, || round(subject))?;
        note_interval(each, 2 * EXCHANGES);
        Ok(each)
    })?;
    for (subject, times) in subjects.iter().zip(times) {
        let median = times.median;
        bench.timed(case, &subject.name, "half_rtt_p50", median, "ns", &times);
    }
    let text = "two threads; the numbers are the cores of each, and the first line is without a \
                restriction; threads on one core sleep, and others spin";
    bench.note(case, text.to_owned());
    Ok(())
}

/// Returns the sets of cores of both threads with their names and spin times: all cores for both,
/// the first core for both, and pairs of different cores.
fn masks(cores: &[usize]) -> Vec<(String, Duration, [CpuSet; 2])> {
    let set = |of: &[usize]| {
        let mut set = CpuSet::new();
        for core in of.iter().filter(|core| **core < CpuSet::MAX_CPU) {
            set.set(*core);
        }
        set
    };
    let mut found = vec![("jstream-any".to_owned(), SPIN, [set(cores), set(cores)])];
    let first = cores.first().map(|first| (*first, *first));
    let pairs = cores.iter().enumerate().flat_map(|(n, one)| {
        let others = cores.get(n + 1..).unwrap_or_default();
        others.iter().map(move |other| (*one, *other))
    });
    for (one, other) in first.into_iter().chain(pairs.take(MAX_PAIRS)) {
        let name = format!("jstream-{one}-{other}");
        let spin = if one == other { Duration::ZERO } else { SPIN };
        found.push((name, spin, [set(&[one]), set(&[other])]));
    }
    found
}

/// Creates two connected ranks in this process.
fn pair(scheme: &str, spin: Duration) -> Result<[Rank; 2], Failure> {
    let mut options = rank::Options::default();
    options.spin = spin;
    if scheme == "inproc" {
        let ranks = rank::threads(2, &options);
        return ranks
            .try_into()
            .map_err(|_| "there are not two ranks".into());
    }
    let name = format!("bench-affinity-{}-{:?}", std::process::id(), Instant::now());
    let name = name.replace(|c: char| !c.is_alphanumeric(), "-");
    let mut endpoint_options = Options::default();
    endpoint_options.spin = spin;
    let listener = listen(&Address::shm(&name)?, &endpoint_options)?;
    let address = listener.local_address().clone();
    let (accepted, connected) = thread::scope(|scope| {
        let accepting = scope.spawn(|| Ok::<_, Failure>(listener.accept()?.establish()?));
        let connected = connect(&address, &endpoint_options);
        let accepted = accepting.join();
        (
            accepted.unwrap_or_else(|_| Err("accepting panicked".into())),
            connected,
        )
    });
    let mesh = |rank| Mesh::new(rank, 2, &options);
    Ok([
        mesh(0).endpoint(1, accepted?)?.build(),
        mesh(1).endpoint(0, connected?)?.build(),
    ])
}

/// Runs a round of both threads. Returns half a round trip in nanoseconds.
fn round(subject: &Subject) -> Result<f64, Failure> {
    let begin = &Barrier::new(2);
    let [first, second] = &subject.ranks;
    let [own, other] = &subject.cores;
    let exchanges = UNCOUNTED + EXCHANGES;
    thread::scope(|scope| {
        let following = scope.spawn(move || {
            let is_pinned = sched_setaffinity(None, other);
            begin.wait();
            is_pinned?;
            let mut byte = [0u8];
            for _ in 0..exchanges {
                second.recv(0, TAG, &mut byte)?;
                second.send(0, TAG, &byte)?;
            }
            Ok::<_, Failure>(())
        });
        let leading = scope.spawn(move || {
            let is_pinned = sched_setaffinity(None, own);
            begin.wait();
            is_pinned?;
            let mut start = Instant::now();
            for n in 0..exchanges {
                if n == UNCOUNTED {
                    start = Instant::now();
                }
                let sent = [n.to_le_bytes()[0]];
                let mut received = [0u8];
                first.send(1, TAG, &sent)?;
                first.recv(1, TAG, &mut received)?;
                if received != sent {
                    return Err("the received byte differs from the byte sent".into());
                }
            }
            Ok::<_, Failure>(since(start, 2 * EXCHANGES))
        });
        let panicked = |_| -> Failure { "a rank has panicked".into() };
        let followed = following.join().map_err(panicked)?;
        let led = leading.join().map_err(panicked)?;
        followed.and(led)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_of_few_cores_are_measured() {
        let names = |cores: &[usize]| {
            let masks = masks(cores).into_iter();
            masks.map(|(name, ..)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[3]), ["jstream-any", "jstream-3-3"]);
        let three = names(&[0, 1, 2]);
        assert_eq!(three[2..], ["jstream-0-1", "jstream-0-2", "jstream-1-2"]);
        let many: Vec<usize> = (0..64).collect();
        assert_eq!(names(&many).len(), 2 + MAX_PAIRS);
    }

    #[test]
    fn both_kinds_of_ranks_exchange_messages() {
        for scheme in ["inproc", "shm"] {
            let mut all = CpuSet::new();
            for core in measure::cores() {
                all.set(core);
            }
            let subject = Subject {
                name: String::new(),
                ranks: pair(scheme, SPIN).unwrap(),
                cores: [all, all],
            };
            assert!(round(&subject).unwrap() > 0.0, "{scheme}");
        }
    }
}
