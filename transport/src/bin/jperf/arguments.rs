//! The command line.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use jstream_transport::Address;

use crate::failure::Failure;
use crate::greeting::Allowed;
use crate::own::SCHEMES;
use crate::server::Limits;
use crate::sizes::{self, Sizes};
use crate::units::parse_time;
use crate::work::{Op, Order, Plan, Receive, Touch};

/// Measures what messages cost between two processes, hosts or threads.
#[derive(Debug, Parser)]
#[command(
    name = "jperf",
    version,
    after_help = "\
Examples:
  jperf run shm                                    ping-pong of 8 bytes, with a server of its own
  jperf run inproc --size 1..64M --receive moved   between two threads, jbufs that move
  jperf serve tcp://0.0.0.0:5201 shm://perf        a server, for as long as it is wanted
  jperf run tcp://host:5201 --op bandwidth --size 64K,1M --seconds 5
  jperf run shm --op rate --pin 0,1 --spin inf --json
  jperf tune --pin 0,1                             what the defaults should be on this machine

Exit codes: 0 when all went well, 1 on a failure, 2 on wrong usage."
)]
pub(crate) struct Jperf {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Listens, and does its part for every client that comes.
    Serve(Serve),
    /// Measures, with a server that listens at a URI or with one of its own.
    Run(Run),
    /// Measures what the best settings of each device are on this machine.
    Tune(Tune),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Says on the standard output where it listens, with the port that port 0 became. SIGINT and SIGTERM end it. \
A client can make it use no more memory than the limits say; one that breaks off, says nothing, or \
talks nonsense loses its own connection and nothing else.")]
pub(crate) struct Serve {
    /// Where to listen: tcp://host:port, uring://host:port, uds:///path, shm://name; any number of them.
    #[arg(required = true, value_name = "URI")]
    pub(crate) addresses: Vec<Address>,
    /// Ends when nobody is connected any more after the first client came.
    #[arg(long)]
    once: bool,
    /// The longest payload.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = sizes::size)]
    pub(crate) max_size: u64,
    /// The most memory that all clients together may ask for, and as much again for jbufs.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = sizes::memory)]
    pub(crate) max_memory: u64,
    /// The most clients at once.
    #[arg(long, value_name = "N", default_value_t = 64)]
    max_clients: usize,
    /// How long a client may stay.
    #[arg(long, value_name = "TIME", default_value = "3600s", value_parser = parse_time)]
    max_time: Duration,
    /// How long a client may be silent.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    idle: Duration,
    /// How long this side looks again and again before it sleeps (default: that of the library); inf never
    /// sleeps.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spin: Option<Duration>,
    /// The processor that clients are served on.
    #[arg(long, value_name = "CPU")]
    pin: Option<usize>,
    /// Reads messages of shared memory in place, where the client asks for it too. Whoever says this vouches
    /// for all processes of this user that may connect.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Doesn't read the memory of clients (shm).
    #[arg(long)]
    pub(crate) no_remote_reads: bool,
    /// Says nothing of clients on the standard error output.
    #[arg(long, short)]
    quiet: bool,
    /// Ends with the standard input.
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

impl Serve {
    /// What clients may do, of a server that spins for so long.
    pub(crate) fn limits(&self, spin: Duration) -> Limits {
        Limits {
            allowed: Allowed {
                longest: self.max_size,
                memory: self.max_memory,
            },
            clients: self.max_clients,
            spin,
            idle: self.idle,
            time: self.max_time,
            once: self.once,
            quiet: self.quiet,
            pin: self.pin,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
What is measured (--op), as IMB and the OSU benchmarks define it:
  pingpong   The client sends a message and waits for one of the same length, which the server sends when it
             has received all of the first. The time is half of the round trip (IMB PingPong, osu_latency).
  pingping   Both sides send without waiting, and then receive, so that the messages cross. The time is that of
             one crossing. Two are timed together and halved, as single ones depend on which side is
             late (IMB PingPing).
  bandwidth  The client sends --window messages one behind the other; when all of them are received, the
             server answers with an empty one. Bytes in a second of all payloads (osu_bw).
  rate       The same; messages in a second (osu_mbw_mr).
  tags       Both sides are ranks, as in MPI. The client sends --window messages with tags from 0 on (default 1: a
             ping-pong of tagged messages), and the server as many back when it has all of them. Receives are
             posted in the order of the tags, in the reverse one, or for any tag of anybody (--order); --depth
             receives of other tags wait beside. The time is half of all that, divided by the messages of a window.

Times are min, p50 (half are shorter), p99 and max over all samples. A sample is --batch exchanges; in bandwidth and \
rate an exchange is a window, and its time is divided by the messages in it. With several connections, each \
has a thread on both sides, and what gets through is that of all together.

What to believe:
  - Where a thread runs decides: --pin gives the client, and a server that this program starts, a \
processor each. On one processor nothing is gained by spinning.
  - --spin inf on both sides measures the way alone; the default sleeps after a while, as programs do, and then \
waking is in the times.
  - Payloads that nobody touches hide what moving them costs. --touch=clean reads them where they arrive, \
--touch writes them anew before each is sent, too; --cold uses more memory than the caches hold.
  - One look at the clock is in every time. Where that counts, --batch takes several exchanges together.")]
pub(crate) struct Run {
    /// Where the server is; or a scheme alone (inproc, shm, uds, tcp, uring), for a server that this program
    /// starts: a thread for inproc, else a process.
    #[arg(value_name = "URI")]
    pub(crate) uri: String,
    /// What is measured.
    #[arg(long, value_enum, default_value = "pingpong")]
    pub(crate) op: Op,
    /// The lengths of payloads: 8, a list 8,1K,64K, or powers of two 1..64M.
    #[arg(long, short, value_name = "SIZES", default_value = "8")]
    pub(crate) size: Sizes,
    /// How many exchanges of each length, at most (default: as many as --seconds allow).
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// How many seconds of each length, at most (default: 0.5, or no limit with --iterations).
    #[arg(long, short = 't', value_name = "S", value_parser = seconds)]
    seconds: Option<Duration>,
    /// How many exchanges come before those that count; fewer after 100 ms.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    warmup: u64,
    /// How many exchanges there are between two looks at the clock (default: 1; 2 for pingping).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    batch: Option<u64>,
    /// How many messages come before an answer (bandwidth and rate: 64 by default; tags: 1).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    window: Option<u32>,
    /// The order in which tagged messages are received.
    #[arg(long, value_enum, default_value = "in")]
    pub(crate) order: Order,
    /// How many receives of other tags wait beside.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20))]
    pub(crate) depth: u32,
    /// What is done to payloads: with --touch alone, all is written before it is sent, and read where it
    /// arrives.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "dirty")]
    pub(crate) touch: Touch,
    /// Memory that is walked through, twice as large as the largest cache of this side, so that no payload
    /// is in a cache before it is touched.
    #[arg(long)]
    pub(crate) cold: bool,
    /// Where messages are received, on both sides.
    #[arg(long, value_enum, default_value = "into")]
    pub(crate) receive: Receive,
    /// Compares each byte with what it should be. That costs time, which is measured, too.
    #[arg(long)]
    pub(crate) check: bool,
    /// How many connections work at once.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) connections: u16,
    /// How long a side looks again and again before it sleeps (default: that of the library); inf never
    /// sleeps. A server that runs already has its own --spin.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spin: Option<Duration>,
    /// The processors: of this side, and of a server that it starts.
    #[arg(long, value_name = "CPU[,CPU]", value_delimiter = ',')]
    pub(crate) pin: Vec<usize>,
    /// How long to wait for the server.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_time)]
    pub(crate) patience: Duration,
    /// All times of each length as a picture.
    #[arg(long, conflicts_with = "json")]
    pub(crate) histogram: bool,
    /// A line of JSON for each length; times are in nanoseconds.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, and no heading.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
What is measured of each device, with ping-pongs whose payloads are read where they arrive:
  Options::spin          Messages of 8 bytes; the server thinks for 0 to 20 us before it answers. The shortest
                         time of spinning that takes at most 1.1 times as long as the best.
  recv_message from      The length from which on a jbuf is as good as memory of the program. The gain is \
over jbufs for all lengths.
  rank::Options::eager   The length up to which a message of a rank that no receive waits for yet is better sent
                         at once, and copied twice, than announced, and received where it is wanted.
  Options::remote_reads  Messages of 4 to 64 MiB, with and without reading the other process's memory (shm).

All choices take turns, --rounds times; the middle one of each counts. The gain is the time of the default \
divided by that of the best setting, as the geometric mean of all points; less than 1.05 is nothing to go by. \
But for the first, both sides spin as long as they wait. \
Give each side a processor of its own (--pin), and run it twice.")]
pub(crate) struct Tune {
    /// The devices (default: all).
    #[arg(value_name = "SCHEME", value_parser = clap::builder::PossibleValuesParser::new(SCHEMES))]
    pub(crate) schemes: Vec<String>,
    /// How many seconds each choice is measured at each point, in each round.
    #[arg(long, short = 't', value_name = "S", default_value = "0.02", value_parser = seconds)]
    pub(crate) seconds: Duration,
    /// How many rounds there are.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// The processors of both sides.
    #[arg(long, value_name = "CPU,CPU", value_delimiter = ',')]
    pub(crate) pin: Vec<usize>,
    /// All that was measured.
    #[arg(long, conflicts_with = "json")]
    pub(crate) points: bool,
    /// A line of JSON for each setting, with all that was measured; times are in nanoseconds.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, and no heading.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Tune {
    /// Whether the parts fit together.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        two(&self.pin)
    }
}

fn two(pin: &[usize]) -> Result<(), Failure> {
    if pin.len() > 2 {
        return Err(Failure::Usage(
            "--pin takes one or two processors".to_owned(),
        ));
    }
    Ok(())
}

/// The longest time for exchanges that don't count.
const WARMING: Duration = Duration::from_millis(100);
/// What a measurement takes where nobody says.
const USUAL: Duration = Duration::from_millis(500);

impl Run {
    pub(crate) fn plan(&self) -> Plan {
        let endless = if self.iterations.is_some() {
            Duration::MAX
        } else {
            USUAL
        };
        Plan {
            warmup: self.warmup,
            warming: WARMING,
            iterations: self.iterations.unwrap_or(u64::MAX),
            time: self.seconds.unwrap_or(endless),
            batch: self.batch.unwrap_or(match self.op {
                Op::Pingping => 2,
                _ => 1,
            }),
        }
    }

    /// How many messages come before an answer.
    pub(crate) fn window(&self) -> u32 {
        self.window.unwrap_or(match self.op {
            Op::Tags => 1,
            _ => 64,
        })
    }

    /// Whether the parts fit together.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = |text: &str| Err(Failure::Usage(text.to_owned()));
        if self.receive == Receive::Moved && !matches!(self.op, Op::Pingpong | Op::Pingping) {
            return wrong("--receive moved sends back what came: it is for pingpong and pingping");
        }
        if self.op == Op::Tags && (self.receive != Receive::Into || self.cold) {
            return wrong("ranks receive into memory of the program: neither --receive nor --cold");
        }
        if self.op != Op::Tags && (self.order != Order::In || self.depth > 0) {
            return wrong("--order and --depth are for tags");
        }
        two(&self.pin)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if !(number > 0.0 && number <= 86_400.0) {
        return Err("more than 0, and at most 86400".to_owned());
    }
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
