//! Two processes exchange messages of several sizes, and one of them prints the latency.
//!
//! `pingpong [ADDRESS]`: uses shared memory by default, or any other address (`tcp://127.0.0.1:0`,
//! `uds://@pingpong`). `inproc` and `sim` can't reach another process, so the other side is a
//! thread.

use std::error::Error;
use std::io::IoSlice;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, process, thread};

use jstream_transport::{Address, Endpoint, Header, Options, connect, listen};

type Failure = Box<dyn Error + Send + Sync>;

const SIZES: [usize; 4] = [8, 1 << 10, 64 << 10, 1 << 20];
const WAIT: Duration = Duration::from_secs(30);

/// Returns the number of rounds for a size. Larger messages take longer and get fewer rounds.
fn rounds(size: usize) -> usize {
    const BYTES: usize = 32 << 20;
    BYTES.checked_div(size).map_or(1, |n| n.clamp(500, 20_000))
}

/// Returns every message in the buffer that it arrived in, until the peer closes.
fn echo(address: &Address) -> Result<(), Failure> {
    let endpoint = connect(address, &Options::default())?;
    while let Ok(message) = endpoint.recv_message() {
        endpoint.send_buffer(message.header, message.payload)?;
    }
    Ok(())
}

/// Returns the round-trip times of all rounds in ascending order.
fn measure(endpoint: &Endpoint, size: usize) -> Result<Vec<Duration>, Failure> {
    let ball = vec![7; size];
    let mut back = vec![0; size];
    let mut times = Vec::with_capacity(rounds(size));
    for round in 0..rounds(size) {
        let header = Header::tagged(u64::try_from(round)?);
        let start = Instant::now();
        endpoint.send_message(header, &[IoSlice::new(&ball)])?;
        let came = endpoint.recv_into_within(&mut back, WAIT)?;
        times.push(start.elapsed());
        assert_eq!((came.tag(), &back), (header.tag(), &ball));
    }
    times.sort_unstable();
    Ok(times)
}

fn main() -> Result<(), Failure> {
    let mut words = env::args().skip(1);
    let default = || format!("shm://pingpong-{}", process::id());
    let uri = words.next().unwrap_or_else(default);
    if uri == "echo" {
        return echo(&words.next().ok_or("no address")?.parse()?);
    }
    let listener = listen(&uri.parse()?, &Options::default())?;
    let address = listener.local_address().clone();
    let (mut process, mut thread) = (None, None);
    if matches!(address.scheme(), "inproc" | "sim") {
        let address = address.clone();
        thread = Some(thread::spawn(move || echo(&address)));
    } else {
        let mut other = Command::new(env::current_exe()?);
        process = Some(other.args(["echo", &address.to_string()]).spawn()?);
    }
    let endpoint = listener.accept_timeout(WAIT)?.establish()?;
    for sentence in endpoint.info().degraded {
        println!("{sentence}");
    }
    for size in SIZES {
        let times = measure(&endpoint, size)?;
        let at = |n: usize| times.get(times.len().saturating_mul(n) / 100).copied();
        let (median, most) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
        println!(
            "{address}: {size} bytes one way: median {:.2?}, p99 {:.2?}",
            median.div_f64(2.0),
            most.div_f64(2.0)
        );
    }
    drop(endpoint);
    if let Some(mut process) = process {
        let status = process.wait()?;
        return if status.success() {
            Ok(())
        } else {
            Err(status.to_string().into())
        };
    }
    match thread {
        Some(thread) => thread.join().map_err(|_| "the echo panicked")?,
        None => Ok(()),
    }
}
