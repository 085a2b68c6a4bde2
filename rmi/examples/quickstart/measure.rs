//! What the call costs, beside a bare socket that carries as many bytes.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use jstream::{Reader, Spent, Writer};

use crate::graph::Graph;
use crate::service::DependenciesStub;

const ROUNDS: usize = 101;

/// Answers every message of a length and as many bytes with its length: the bare socket's server.
pub(crate) fn echo_lengths(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        if let Err(error) = echo(stream) {
            eprintln!("the bare socket failed: {error}");
        }
    }
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut length = [0; 8];
    let mut bytes = Vec::new();
    loop {
        match stream.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        bytes.resize(usize::try_from(u64::from_le_bytes(length)).unwrap_or(0), 0);
        stream.read_exact(&mut bytes)?;
        stream.write_all(&length)?;
    }
}

/// Measures and prints.
pub(crate) fn table(
    dependencies: &DependenciesStub,
    graph: &Graph<'_>,
    raw: SocketAddr,
) -> Result<(), Box<dyn Error>> {
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let length = writer.gather(graph, |segments| {
        segments.iter().map(|s| s.len()).sum::<usize>()
    })?;
    let mut stream = TcpStream::connect(raw)?;
    stream.set_nodelay(true)?;
    let mut message = (length as u64).to_le_bytes().to_vec();
    message.resize(length.saturating_add(8), 7);

    let (mut writes, mut reads, mut calls, mut raws) = (vec![], vec![], vec![], vec![]);
    let mut jbuf = Spent::heap(length);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let filled = writer.write(graph, jbuf)?;
        writes.push(start.elapsed());

        let start = Instant::now();
        let received = reader.read::<Graph<'static>>(filled)?;
        reads.push(start.elapsed());
        jbuf = received.into_spent();

        let start = Instant::now();
        dependencies.submit(graph).wait()?;
        calls.push(start.elapsed());

        let start = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut [0; 8])?;
        raws.push(start.elapsed());
    }
    println!("{:<44}{:>12}", "bytes sent in the call", length);
    for (what, times) in [
        ("writing the graph", writes),
        ("checking it and making it native, in place", reads),
        ("round trip of the call", calls),
        ("round trip of a bare socket, as many bytes", raws),
    ] {
        println!("{what:<44}{:>9.1} us", median(times).as_secs_f64() * 1e6);
    }
    println!("(medians of {ROUNDS} rounds)");
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
