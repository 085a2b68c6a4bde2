//! Two processes with streams in both directions. The server searches for prime numbers and sends
//! each one when it is found, and the client takes as many as it needs. In the other direction, the
//! client sends numbers, and the server adds them up as they arrive.
//!
//! The server is the same program, started with `--serve`. It prints its address, and ends when its
//! standard input is closed.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use jstream_rmi::{Client, Server, Stream, StreamError, remote};

#[remote]
trait Primes {
    /// Returns all prime numbers from `least` on. The stream is infinite; the search ends when the
    /// receiver drops it.
    fn from(&self, least: u64) -> Stream<u64>;

    /// Returns the mean and the count of the numbers of a stream.
    async fn mean(&self, numbers: Stream<f64>) -> Result<(f64, u64), String>;
}

struct Plain;

#[remote]
impl Primes for Plain {
    fn from(&self, least: u64) -> Stream<u64> {
        // The iterator is advanced only while the receiver has room.
        Stream::of((least.max(2)..).filter(|n| is_prime(*n)))
    }

    async fn mean(&self, mut numbers: Stream<f64>) -> Result<(f64, u64), String> {
        let (mut sum, mut count) = (0.0, 0u64);
        while let Some(number) = numbers.next().await {
            sum += number.map_err(|error| error.to_string())?.get();
            count = count.saturating_add(1);
        }
        if count == 0 {
            return Err("there are no numbers".to_owned());
        }
        #[allow(clippy::cast_precision_loss, reason = "they are not that many")]
        Ok((sum / count as f64, count))
    }
}

fn is_prime(n: u64) -> bool {
    let divides = |d: &u64| n.checked_rem(*d) == Some(0);
    (2..n)
        .take_while(|d| d.saturating_mul(*d) <= n)
        .find(divides)
        .is_none()
}

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().any(|argument| argument == "--serve") {
        return serve();
    }
    let (mut server, address) = start()?;
    let result = calls(&address);
    // The server ends when its standard input is closed.
    drop(server.stdin.take());
    server.wait()?;
    result
}

fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Primes>("primes", Arc::new(Plain))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    println!("{}", serving.address());
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn start() -> Result<(Child, String), Box<dyn Error>> {
    let mut child = Command::new(env::current_exe()?)
        .arg("--serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut address)?;
    }
    Ok((child, address.trim().to_owned()))
}

fn calls(address: &str) -> Result<(), Box<dyn Error>> {
    let client = Client::connect(&address.parse()?).wait()?;
    let primes = client.lookup::<dyn Primes>("primes").wait()?;

    // Dropping the stream ends the search.
    let found: Result<Vec<u64>, StreamError> = primes
        .from(1_000_000)
        .take(5)
        .map(|prime| Ok(*prime?.get()))
        .collect();
    println!("primes: {:?}", found?);

    // Each measurement is sent as soon as it is made.
    let (sender, numbers) = jstream_rmi::stream(16);
    let mean = primes.mean(numbers);
    for measured in [1.5, 2.5, 5.0] {
        sender.send(measured).wait()?;
    }
    drop(sender);
    println!("mean and count: {:?}", mean.wait()?.get());
    println!(
        "no numbers: {:?}",
        primes.mean(Stream::of([])).wait()?.get()
    );
    Ok(())
}
