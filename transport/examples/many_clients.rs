//! One thread and one completion queue serve many clients. Each client sends batches of
//! measurements, which are read in place in the receive buffers, and gets back statistics and
//! outliers.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use jstream::{Pool, Reader, Transportable, Writer};
use jstream_transport::{
    Address, CompletionQueue, Endpoint, Header, Options, Outcome, connect, listen,
};

#[derive(Transportable)]
struct Batch {
    sensor: String,
    samples: Vec<f64>,
}

#[derive(Transportable)]
struct Summary {
    mean: f64,
    deviation: f64,
    outliers: Vec<f64>,
}

const CLIENTS: u32 = 32;
const BATCHES: u32 = 100;
const SAMPLES: u32 = 1000;

type Failure = Box<dyn Error + Send + Sync>;

fn summarize(samples: &[f64]) -> Summary {
    let count = samples.len().max(1) as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares = samples.iter().map(|sample| (sample - mean).powi(2));
    let deviation = (squares.sum::<f64>() / count).sqrt();
    let far = |sample: &&f64| (**sample - mean).abs() > 3.0 * deviation;
    let outliers = samples.iter().filter(far).copied().collect();
    Summary {
        mean,
        deviation,
        outliers,
    }
}

/// Serves all clients until the last one closes. Returns the number of batches.
fn serve(clients: &[Endpoint], pool: &Pool) -> Result<u32, Failure> {
    let queue = CompletionQueue::new()?;
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    for (number, client) in (0u64..).zip(clients) {
        queue.post_recv(client, number, None);
    }
    let (mut served, mut connected) = (0u32, clients.len());
    while connected > 0 {
        let completion = queue
            .wait(Duration::from_secs(30))
            .ok_or("no client sends")?;
        let client = usize::try_from(completion.user)?;
        let client = clients.get(client).ok_or("an unknown client")?;
        match completion.outcome {
            Outcome::Received(Ok(message)) => {
                let batch = reader.read::<Batch>(message.payload)?;
                let reply = writer.write_to(&summarize(batch.get().samples), pool)?;
                queue.post_send(client, completion.user, message.header, reply);
                queue.post_recv(client, completion.user, None);
                served = served.saturating_add(1);
            }
            // If a client closes, only its own operations fail.
            Outcome::Received(Err(_)) => connected = connected.saturating_sub(1),
            Outcome::Sent(sent) => drop(sent?),
            _ => {}
        }
    }
    Ok(served)
}

/// Sends batches, with up to two in flight at a time. Returns the number of outliers.
fn client(number: u32, address: &Address, options: &Options) -> Result<usize, Failure> {
    let endpoint = connect(address, options)?;
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    let mut state = number.wrapping_add(1);
    let mut outliers = 0usize;
    for round in 0..=BATCHES {
        if round < BATCHES {
            let samples = (0..SAMPLES).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Mostly noise, with an occasional peak.
                let peak = if state % 997 == 0 { 1000.0 } else { 0.0 };
                f64::from(state >> 24) + peak
            });
            let (sensor, samples) = (format!("sensor {number}"), samples.collect());
            let message = writer.write_to(&Batch { sensor, samples }, &options.pool)?;
            endpoint.send_buffer(Header::new(1, [u64::from(round), 0, 0]), message)?;
        }
        if round > 0 {
            let reply = endpoint.recv_message_within(Duration::from_secs(30))?;
            let summary = reader.read::<Summary>(reply.payload)?;
            let summary = summary.get();
            assert!(summary.mean > 100.0 && summary.deviation > 50.0, "noise");
            outliers = outliers.saturating_add(summary.outliers.len());
        }
    }
    Ok(outliers)
}

fn main() -> Result<(), Failure> {
    let options = Options::new(Pool::default());
    let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
    let address = listener.local_address().clone();
    let start = Instant::now();
    let (served, outliers) = thread::scope(|scope| {
        let clients = (0..CLIENTS).map(|number| {
            let (address, options) = (&address, &options);
            scope.spawn(move || client(number, address, options))
        });
        let clients: Vec<_> = clients.collect();
        let accepted = (0..CLIENTS).map(|_| Ok(listener.accept()?.establish()?));
        let accepted = accepted.collect::<Result<Vec<_>, Failure>>()?;
        let served = serve(&accepted, &options.pool)?;
        let mut outliers = 0usize;
        for client in clients {
            outliers = outliers.saturating_add(client.join().map_err(|_| "a client panicked")??);
        }
        Ok::<_, Failure>((served, outliers))
    })?;
    println!(
        "One thread served {served} batches of {CLIENTS} clients in {:.1?}; {outliers} of {} samples were outliers.",
        start.elapsed(),
        served.saturating_mul(SAMPLES),
    );
    Ok(())
}
