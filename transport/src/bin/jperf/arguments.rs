//! Command line.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use jstream::command_line::Color;
use jstream_transport::Address;

use crate::failure::Failure;
use crate::greeting::Allowed;
use crate::own::SCHEMES;
use crate::server::Limits;
use crate::sizes::{self, Sizes};
use crate::units::parse_time;
use crate::work::{Op, Order, Plan, Receive, Touch};

/// Measures the cost of messages between two processes, hosts or threads.
#[derive(Debug, Parser)]
#[command(
    name = "jperf",
    version,
    after_help = "\
Examples:
  jperf run shm                                    ping-pong of 8 bytes; starts a server
  jperf run inproc --size 1..64M --receive moved   between two threads, with moved jbufs
  jperf serve tcp://0.0.0.0:5201 shm://perf        a server that runs until it is stopped
  jperf run tcp://host:5201 --op bandwidth --size 64K,1M --seconds 5
  jperf run shm --op rate --pin 0,1 --spin inf --json
  jperf tune --pin 0,1                             the best settings for this machine

Exit codes: 0 for success, 1 for a failure, 2 for wrong usage."
)]
pub(crate) struct Jperf {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Listens and serves measurements to all clients.
    Serve(Serve),
    /// Measures with a server that listens at a URI, or with one that this program starts.
    Run(Run),
    /// Measures the best settings of each device on this machine.
    Tune(Tune),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints the addresses at which it listens on the standard output, with the actual port for port 0. SIGINT and \
SIGTERM end it. The limits bound the memory that clients can make it use. A client that disconnects, stays \
silent or violates the protocol loses its connection; other clients are not affected.")]
pub(crate) struct Serve {
    /// Addresses to listen at: tcp://host:port, uring://host:port, uds:///path, shm://name; one or
    /// more.
    #[arg(required = true, value_name = "URI")]
    pub(crate) addresses: Vec<Address>,
    /// End when the last client has left.
    #[arg(long)]
    once: bool,
    /// Maximum length of a payload.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = sizes::size)]
    pub(crate) max_size: u64,
    /// Maximum memory of all clients together; jbufs may use the same amount again.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = sizes::memory)]
    pub(crate) max_memory: u64,
    /// Maximum number of concurrent clients.
    #[arg(long, value_name = "N", default_value_t = 64)]
    max_clients: usize,
    /// Maximum time for which a client may stay.
    #[arg(long, value_name = "TIME", default_value = "3600s", value_parser = parse_time)]
    max_time: Duration,
    /// Maximum time for which a client may be silent.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    idle: Duration,
    /// Time for which waiting threads spin before they sleep (default: that of the library); inf
    /// never sleeps.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spin: Option<Duration>,
    /// Processor on which clients are served.
    #[arg(long, value_name = "CPU")]
    pin: Option<usize>,
    /// Read messages of shared memory in place, if the client asks for it too. With this option,
    /// the user vouches for all processes of this user that may connect.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Don't read the memory of clients (shm).
    #[arg(long)]
    pub(crate) no_remote_reads: bool,
    /// Don't report clients on the standard error output.
    #[arg(long, short)]
    quiet: bool,
    /// End when the standard input ends.
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

impl Serve {
    /// Returns the limits for clients of a server with this spin time.
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
What is measured (--op), as defined by IMB and the OSU benchmarks:
  pingpong   The client sends a message, and the server sends one of the same length back when it has received
             all of it. The time is half of the round trip (IMB PingPong, osu_latency).
  pingping   Both sides send without waiting, and then receive, so that the messages cross. The time is that of
             one crossing. Two crossings are timed together and halved, because the time of a single one
             depends on which side is late (IMB PingPing).
  bandwidth  The client sends --window messages without waiting. When the server has received all of them, it
             answers with an empty message. The result is bytes of payload per second (osu_bw).
  rate       Like bandwidth; the result is messages per second (osu_mbw_mr).
  tags       Both sides are ranks, as in MPI. The client sends --window messages with tags from 0 (default 1: a
             ping-pong of tagged messages). When the server has all of them, it sends as many back. Receives
             are posted in the order of the tags, in reverse order, or for any tag and any source (--order);
             --depth receives of other tags are pending meanwhile. The time is half of the total, divided by
             the number of messages in a window.

Times are min, p50 (the median), p99 and max over all samples. A sample is --batch exchanges. For bandwidth and \
rate, an exchange is a window, and its time is divided by the number of messages in it. Each connection has \
a thread on both sides, and the throughput is that of all connections together.

What to believe:
  - Times depend on the processors of the threads: --pin gives the client, and a server that this program \
starts, a processor each. On a single processor, spinning has no benefit.
  - --spin inf on both sides measures messages without wake-ups. By default, waiting threads sleep after a \
while, as in most programs, and the times then include wake-ups.
  - The times of payloads that no program accesses do not include the cost of moving them through the caches. \
--touch=clean reads payloads on arrival, and --touch also writes each one before it is sent; --cold \
uses more memory than the caches hold.
  - Each time includes one reading of the clock. If this matters, --batch takes several exchanges together.")]
pub(crate) struct Run {
    /// Address of the server; or only a scheme (inproc, shm, uds, tcp, uring) for a server that
    /// this program starts: a thread for inproc, otherwise a process.
    #[arg(value_name = "URI")]
    pub(crate) uri: String,
    /// Kind of measurement.
    #[arg(long, value_enum, default_value = "pingpong")]
    pub(crate) op: Op,
    /// Payload lengths: 8, a list 8,1K,64K, or powers of two 1..64M.
    #[arg(long, short, value_name = "SIZES", default_value = "8")]
    pub(crate) size: Sizes,
    /// Maximum number of exchanges for each length (default: as many as --seconds allow).
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// Maximum time in seconds for each length (default: 0.5, or no limit with --iterations).
    #[arg(long, short = 't', value_name = "S", value_parser = seconds)]
    seconds: Option<Duration>,
    /// Number of exchanges for warm-up, which are not counted; fewer after 100 ms.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    warmup: u64,
    /// Number of exchanges between two readings of the clock (default: 1; 2 for pingping).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    batch: Option<u64>,
    /// Number of messages before an answer (default: 64 for bandwidth and rate, 1 for tags).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    window: Option<u32>,
    /// Order in which tagged messages are received.
    #[arg(long, value_enum, default_value = "in")]
    pub(crate) order: Order,
    /// Number of receives with other tags that are pending during the measurement.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1 << 20))]
    pub(crate) depth: u32,
    /// Access to payloads: --touch without a value writes all bytes before sending, and reads them
    /// on arrival.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "dirty")]
    pub(crate) touch: Touch,
    /// Cycle through memory twice as large as the largest cache of this side, so that no payload is
    /// in a cache before it is touched.
    #[arg(long)]
    pub(crate) cold: bool,
    /// Destination of received messages, on both sides.
    #[arg(long, value_enum, default_value = "into")]
    pub(crate) receive: Receive,
    /// Compare each byte with its expected value. The time for this is part of the results.
    #[arg(long)]
    pub(crate) check: bool,
    /// Number of concurrent connections.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) connections: u16,
    /// Time for which a waiting side spins before it sleeps (default: that of the library); inf
    /// never sleeps. A running server has its own --spin.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spin: Option<Duration>,
    /// Processors of this side, and of a server that it starts.
    #[arg(long, value_name = "CPU[,CPU]", value_delimiter = ',')]
    pub(crate) pin: Vec<usize>,
    /// Maximum time to wait for the server.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_time)]
    pub(crate) patience: Duration,
    /// Show the times of each length as a histogram.
    #[arg(long, conflicts_with = "json")]
    pub(crate) histogram: bool,
    /// Print a line of JSON for each length, with times in nanoseconds.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress and no heading.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
What is measured for each device, with ping-pongs whose payloads are read on arrival:
  Options::spin          Messages of 8 bytes; the server waits 0 to 20 us before it answers. The result is the
                         shortest spin time with which it takes at most 1.1 times as long as with the best.
  recv_message from      The length from which receiving into a jbuf is as fast as into memory of the program. \
The gain is relative to jbufs for all lengths.
  rank::Options::eager   The length up to which a message that no receive was posted for is better sent
                         eagerly, and copied twice, than announced, and received at its destination.
  Options::remote_reads  Messages of 4 to 64 MiB, with and without reading the other process's memory (shm).

All choices are measured in turn, in --rounds rounds; the median of each counts. The gain is the time of the \
default divided by that of the best setting, as the geometric mean of all points; a gain below 1.05 is not \
significant. Except in the first study, both sides spin as long as they wait. \
Give each side a separate processor (--pin), and repeat the run.")]
pub(crate) struct Tune {
    /// Devices (default: all).
    #[arg(value_name = "SCHEME", value_parser = clap::builder::PossibleValuesParser::new(SCHEMES))]
    pub(crate) schemes: Vec<String>,
    /// Seconds for which each choice is measured at each point, in each round.
    #[arg(long, short = 't', value_name = "S", default_value = "0.02", value_parser = seconds)]
    pub(crate) seconds: Duration,
    /// Number of rounds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Processors of both sides.
    #[arg(long, value_name = "CPU,CPU", value_delimiter = ',')]
    pub(crate) pin: Vec<usize>,
    /// Print all measured times.
    #[arg(long, conflicts_with = "json")]
    pub(crate) points: bool,
    /// Print a line of JSON for each setting, with all measured times in nanoseconds.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress and no heading.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Tune {
    /// Checks that the options are compatible.
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

/// Maximum time for the warm-up.
const WARMING: Duration = Duration::from_millis(100);
/// Default time of a measurement.
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

    /// Returns the number of messages before an answer.
    pub(crate) fn window(&self) -> u32 {
        self.window.unwrap_or(match self.op {
            Op::Tags => 1,
            _ => 64,
        })
    }

    /// Checks that the options are compatible.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = |text: &str| Err(Failure::Usage(text.to_owned()));
        if self.receive == Receive::Moved && !matches!(self.op, Op::Pingpong | Op::Pingping) {
            return wrong("--receive moved sends jbufs back: it is only for pingpong and pingping");
        }
        if self.op == Op::Tags && (self.receive != Receive::Into || self.cold) {
            return wrong("ranks receive into memory of the program: omit --receive and --cold");
        }
        if self.op != Op::Tags && (self.order != Order::In || self.depth > 0) {
            return wrong("--order and --depth are only for tags");
        }
        two(&self.pin)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if !(number > 0.0 && number <= 86_400.0) {
        return Err("must be more than 0, and at most 86400".to_owned());
    }
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
