//! Soak test: sends messages of all sizes over every device, and checks that none are lost or
//! modified and that no memory leaks.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of this program's own"
)]

use std::error::Error;
use std::io::{IoSlice, IsTerminal, Write};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs, io, process, thread};

use clap::Parser;
use jstream_transport::{
    Address, Endpoint, Header, ListenError, Listener, Options, RecvError, connect, listen,
};

/// Sends checksummed messages of mixed sizes over every device, between two processes (two threads
/// for inproc). Fails if a message is lost, modified or out of order, or if memory grows.
#[derive(Parser)]
struct Arguments {
    /// Number of messages per device.
    #[arg(long, default_value_t = 100_000)]
    messages: u64,
    /// Devices, by their schemes.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "inproc,shm,uds,tcp,uring"
    )]
    devices: Vec<String>,
    /// Sends to this address; the program starts itself with this option.
    #[arg(long, hide = true)]
    to: Option<Address>,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Maximum length of a payload in bytes.
const LONGEST: usize = 1 << 20;
/// Number of messages after which the receiver acknowledges them.
const RECEIPT: u64 = 1000;
/// Maximum growth of resident memory in bytes, compared to the state after a tenth of the messages.
const SLACK: i64 = 32 << 20;
/// Timeout that is longer than any step of a working transfer takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.to {
        Some(address) => connect(address, &Options::default())
            .map_err(Failure::from)
            .and_then(|endpoint| send_all(&endpoint, arguments.messages)),
        None => arguments
            .devices
            .iter()
            .try_for_each(|scheme| soak(scheme, arguments.messages)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Transfers all messages over one device.
fn soak(scheme: &str, messages: u64) -> Result<(), Failure> {
    let id = process::id();
    let uri = match scheme {
        "tcp" | "uring" => format!("{scheme}://127.0.0.1:0"),
        "uds" => format!("uds://@jstream-soak-{id}"),
        _ => format!("{scheme}://jstream-soak-{id}"),
    };
    let options = Options::default();
    let listener = match listen(&uri.parse()?, &options) {
        Err(ListenError::NoDevice { .. }) => {
            println!("{scheme:6} is not available in this build");
            return Ok(());
        }
        listener => listener?,
    };
    let address = listener.local_address().clone();
    let begun = Instant::now();
    let received = if scheme == "inproc" {
        thread::scope(|scope| {
            let sending = scope.spawn(|| send_all(&connect(&address, &options)?, messages));
            let received = receive_all(&accept(&listener)?, messages);
            let sent = sending.join().map_err(|_| "the sender panicked")?;
            let received = received?;
            sent.map(|()| received)
        })
    } else {
        let mut sender = start(&address, messages)?;
        let received = accept(&listener).and_then(|endpoint| receive_all(&endpoint, messages));
        if received.is_err() {
            // The sender may be waiting for this process.
            let _ = sender.kill();
        }
        let status = sender.wait()?;
        let received = received?;
        if !status.success() {
            return Err(format!("the sender over {scheme} ended with {status}").into());
        }
        Ok(received)
    }?;
    let stats = options.pool.stats();
    if stats.in_use > 0 {
        return Err(format!(
            "{} buffers were not returned to the pool over {scheme}",
            stats.in_use
        )
        .into());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{scheme:6} {messages} messages, {:.1} MB in {seconds:.2} s; resident {:+.1} MB, pool {:.1} MB{}",
        received.bytes as f64 / 1e6,
        received.grown as f64 / 1e6,
        stats.mapped as f64 / 1e6,
        received.degraded,
    );
    Ok(())
}

fn accept(listener: &Listener) -> Result<Endpoint, Failure> {
    Ok(listener.accept_timeout(PATIENCE)?.establish()?)
}

fn start(address: &Address, messages: u64) -> io::Result<Child> {
    let messages = messages.to_string();
    Command::new(env::current_exe()?)
        .args(["--to", &address.to_string(), "--messages", &messages])
        .spawn()
}

/// Returns the length of message `index`. Most messages are small.
fn length(index: u64) -> usize {
    let draw = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let most = match index % 5000 {
        0 => LONGEST,
        1..10 => 1 << 16,
        10..400 => 1 << 13,
        _ => 200,
    };
    usize::try_from(draw).unwrap_or(0) % most
}

/// Returns the data from which all payloads are cut.
fn material() -> Vec<u8> {
    let words = (0..(2 * LONGEST as u64) / 8)
        .map(|n| n.wrapping_mul(0xd134_2543_de82_ef95).rotate_left(29) ^ n);
    words.flat_map(u64::to_le_bytes).collect()
}

fn checksum(bytes: &[u8]) -> u64 {
    let chunks = bytes.chunks_exact(8);
    let rest = chunks.remainder().iter();
    let rest = rest.fold(1, |sum, byte| sum << 8 | u64::from(*byte));
    chunks.fold(rest, |sum, chunk| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        let mixed = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9fb2_1c65_1e98_df25);
        mixed.rotate_left(23)
    })
}

/// Sends all messages, and checks the acknowledgements of the receiver.
fn send_all(endpoint: &Endpoint, messages: u64) -> Result<(), Failure> {
    let material = material();
    let mut all = 0u64;
    for index in 0..messages {
        let from = usize::try_from(index % LONGEST as u64)?;
        let payload = &material[from..from + length(index)];
        let sum = checksum(payload);
        all = all.rotate_left(1) ^ sum;
        let header = Header::new(1, [index, sum, 0]);
        endpoint.send_message(header, &[IoSlice::new(payload)])?;
        if (index + 1) % RECEIPT == 0 || index + 1 == messages {
            let receipt = endpoint.recv_message_within(PATIENCE)?.header;
            if receipt.words != [index + 1, all, 0] {
                return Err(format!(
                    "wrong acknowledgement after {} messages: {receipt:?}",
                    index + 1
                )
                .into());
            }
        }
    }
    endpoint.finish()?;
    match endpoint.recv_message_within(PATIENCE) {
        Err(RecvError::Closed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(message) => Err(format!(
            "unexpected message after the last one: {:?}",
            message.header
        )
        .into()),
    }
}

struct Received {
    bytes: u64,
    grown: i64,
    degraded: String,
}

fn receive_all(endpoint: &Endpoint, messages: u64) -> Result<Received, Failure> {
    let (mut bytes, mut all, mut before) = (0, 0u64, 0);
    let progress = io::stderr().is_terminal();
    let warm = (messages / 10).max(RECEIPT).min(messages / 2);
    for index in 0..messages {
        let message = endpoint.recv_message_within(PATIENCE)?;
        let payload = message.payload.as_bytes();
        let sum = checksum(payload);
        let header = message.header;
        if header.words != [index, sum, 0] || payload.len() != length(index) {
            return Err(
                format!("message {index} was lost, modified or reordered: {header:?}").into(),
            );
        }
        all = all.rotate_left(1) ^ sum;
        bytes += payload.len() as u64;
        drop(message);
        if index == warm {
            before = resident()?;
        }
        if (index + 1) % RECEIPT == 0 || index + 1 == messages {
            let receipt = Header::new(2, [index + 1, all, 0]);
            endpoint.send_message(receipt, &[])?;
            if progress && (index + 1) % (100 * RECEIPT) == 0 {
                eprint!("\r{} {} of {messages}\r", endpoint.info().scheme, index + 1);
                io::stderr().flush()?;
            }
        }
    }
    let grown = resident()? - before;
    if grown > SLACK {
        return Err(
            format!("resident memory has grown by {grown} bytes since message {warm}").into(),
        );
    }
    match endpoint.recv_message_within(PATIENCE) {
        Err(RecvError::Closed { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(message) => {
            return Err(format!(
                "unexpected message after the last one: {:?}",
                message.header
            )
            .into());
        }
    }
    let notes = endpoint.info().degraded.iter();
    Ok(Received {
        bytes,
        grown,
        degraded: notes.map(|note| format!("; {note}")).collect(),
    })
}

/// Returns the resident memory of this process in bytes.
fn resident() -> Result<i64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.ok_or("no VmRSS")?.parse::<i64>()? * 1024)
}
