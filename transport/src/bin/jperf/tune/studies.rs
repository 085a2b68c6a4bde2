//! Studies of each device.

use std::time::Duration;

use jstream_transport::rank::{self, Mesh};

use super::finding::{Finding, Setting};
use super::pair::{Bench, Pair, ping};
use super::table::TimeTable;
use crate::failure::Failure;
use crate::run::RunSettings;
use crate::work::{Op, Receive, Work};

/// A study of the device of a scheme. Returns `None` if it does not apply to the device.
type Study = fn(&Bench<'_>, &'static str) -> Result<Option<Finding>, Failure>;

pub(crate) const ALL: [Study; 4] = [spin, receive_into, eager, remote_reads];

/// Spin times, in microseconds.
const SPINS: [u64; 6] = [0, 2, 5, 10, 20, 50];
/// Delays of the answer, in nanoseconds.
const THINKING: [u64; 5] = [0, 2_000, 5_000, 10_000, 20_000];
/// Factor by which a shorter spin time may be slower than the best, because it leaves the processor
/// to other threads.
const SLACK: f64 = 1.1;

/// Payload lengths for receiving into memory or into jbufs.
const INTO: [u64; 9] = [
    8,
    64,
    512,
    2 << 10,
    8 << 10,
    32 << 10,
    128 << 10,
    512 << 10,
    2 << 20,
];
/// Payload lengths for sending eagerly or with an announcement.
const EAGER: [u64; 11] = [
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    4 << 20,
];
/// Payload lengths for which the memory of the other process can be read.
const READ: [u64; 3] = [4 << 20, 16 << 20, 64 << 20];

fn nothing_to_choose(pairs: &[Pair]) -> Failure {
    let count = pairs.len();
    Failure::Said(format!("there are only {count} servers"))
}

/// Finds the best spin time, with answers after different delays.
fn spin(bench: &Bench<'_>, scheme: &'static str) -> Result<Option<Finding>, Failure> {
    let usual = bench.spin;
    let mut spins: Vec<_> = SPINS.into_iter().map(Duration::from_micros).collect();
    spins.push(usual);
    spins.sort_unstable();
    spins.dedup();
    let names = spins.iter().map(|spin| format!("{} us", spin.as_micros()));
    let mut table = TimeTable::new(THINKING.to_vec(), names.collect());
    let pairs = spins.iter().map(|spin| {
        let settings = RunSettings {
            spin: *spin,
            ..bench.busy(0)
        };
        bench.pair(scheme, &settings)
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    bench.fill(
        &format!("spinning over {scheme}"),
        &mut table,
        |thinks, choice| {
            let pair = pairs.get(choice).ok_or_else(|| nothing_to_choose(&pairs))?;
            let work = Work {
                think: u32::try_from(thinks)?,
                ..ping(8)?
            };
            Ok((pair, work))
        },
    )?;
    let best = table.first_good(SLACK);
    let found = spins.get(best).copied().unwrap_or(usual);
    let before = spins.iter().position(|spin| *spin == usual).unwrap_or(best);
    Ok(Some(Finding {
        scheme,
        subject: "Options::spin",
        at: "thinks",
        usual: Some(Setting::Time(usual)),
        found: Setting::Time(found),
        gain: Some(table.mean(|_| before) / table.mean(|_| best)),
        code: format!(
            "options.spin = Duration::from_micros({});",
            found.as_micros()
        ),
        table,
    }))
}

/// Measures two ways of sending and receiving with the same server.
fn compare(
    bench: &Bench<'_>,
    scheme: &'static str,
    points: &[u64],
    names: [&str; 2],
    ways: [(Op, Receive); 2],
) -> Result<(Pair, TimeTable), Failure> {
    let longest = points.iter().copied().max().unwrap_or(0);
    let pair = bench.pair(scheme, &bench.busy(longest))?;
    let mut table = TimeTable::new(points.to_vec(), names.map(str::to_owned).to_vec());
    let [first, second] = ways;
    let subject = format!("{} or {} over {scheme}", names[0], names[1]);
    bench.fill(&subject, &mut table, |size, choice| {
        let (op, receive) = if choice == 0 { first } else { second };
        let work = Work {
            op,
            receive,
            ..ping(size)?
        };
        Ok((&pair, work))
    })?;
    Ok((pair, table))
}

/// Finds the length up to which receiving into memory is better than into a jbuf.
fn receive_into(bench: &Bench<'_>, scheme: &'static str) -> Result<Option<Finding>, Failure> {
    let names = ["recv_into", "recv_message"];
    let ways = [(Op::Pingpong, Receive::Into), (Op::Pingpong, Receive::Jbuf)];
    let (_, table) = compare(bench, scheme, &INTO, names, ways)?;
    let split = table.best_split();
    let from = INTO.get(split).copied();
    Ok(Some(Finding {
        scheme,
        subject: "recv_message from",
        at: "bytes",
        usual: None,
        found: Setting::Bytes(from),
        gain: Some(table.mean(|_| 1) / table.mean(|point| usize::from(point >= split))),
        code: match from {
            Some(from) => format!("// recv_into below {from} bytes, recv_message from there on"),
            None => "// recv_into for all lengths".to_owned(),
        },
        table,
    }))
}

/// Finds the length up to which an unexpected message is better sent eagerly, with two copies, than
/// announced.
fn eager(bench: &Bench<'_>, scheme: &'static str) -> Result<Option<Finding>, Failure> {
    let names = ["eager", "announced"];
    let ways = [
        (Op::Pingpong, Receive::Copied),
        (Op::Rendezvous, Receive::Into),
    ];
    let (pair, table) = compare(bench, scheme, &EAGER, names, ways)?;
    let mesh = Mesh::new(0, 2, &rank::Options::default());
    let ranks = mesh.endpoint(1, pair.endpoint.clone())?.build();
    let usual = ranks.eager(1).unwrap_or(0);
    let split = table.best_split();
    let before = EAGER.iter().filter(|size| **size <= usual).count();
    // If the split is at the same point as the default, the default is kept: lengths between the
    // points are unknown.
    let found = match split {
        split if split == before => usual,
        split => EAGER.into_iter().take(split).next_back().unwrap_or(0),
    };
    let rule = |split: usize| table.mean(|point| usize::from(point >= split));
    Ok(Some(Finding {
        scheme,
        subject: "rank::Options::eager",
        at: "bytes",
        usual: Some(Setting::Bytes(Some(usual))),
        found: Setting::Bytes(Some(found)),
        gain: Some(rule(before) / rule(split)),
        code: format!("ranks.eager = Some({found});"),
        table,
    }))
}

/// Finds out whether long messages are better read from the memory of the other process.
fn remote_reads(bench: &Bench<'_>, scheme: &'static str) -> Result<Option<Finding>, Failure> {
    if scheme != "shm" {
        return Ok(None);
    }
    let longest = READ.iter().copied().max().unwrap_or(0);
    let pairs = [false, true].map(|no_remote_reads| {
        let settings = RunSettings {
            no_remote_reads,
            ..bench.busy(longest)
        };
        bench.pair(scheme, &settings)
    });
    let [reads, copies] = pairs;
    let (reads, copies) = (reads?, copies?);
    if !reads.endpoint.info().degraded.is_empty() {
        // The operating system does not allow it.
        return Ok(None);
    }
    let names = ["read", "copied"].map(str::to_owned).to_vec();
    let mut table = TimeTable::new(READ.to_vec(), names);
    bench.fill("long messages over shm", &mut table, |size, choice| {
        Ok((if choice == 0 { &reads } else { &copies }, ping(size)?))
    })?;
    let best = usize::from(table.mean(|_| 1) < table.mean(|_| 0));
    Ok(Some(Finding {
        scheme,
        subject: "Options::remote_reads",
        at: "bytes",
        usual: Some(Setting::Is(true)),
        found: Setting::Is(best == 0),
        gain: Some(table.mean(|_| 0) / table.mean(|_| best)),
        code: format!("options.remote_reads = {};", best == 0),
        table,
    }))
}
