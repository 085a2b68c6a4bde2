//! The cost of the call, compared with a bare socket that transfers the same number of bytes.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use jstream::{EmptyBuffer, Reader, Writer};

use crate::graph::Graph;
use crate::service::DependenciesStub;

const ROUNDS: usize = 101;
/// Maximum time after which no further round starts.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum length of a message over the bare socket, which equals that of a graph.
const LONGEST: u64 = 4 << 30;

/// Server of the bare socket: reads messages, each a length and that many bytes, and answers with
/// the length.
pub(crate) fn echo_lengths(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        if let Err(error) = echo(stream) {
            writeln!(io::stderr(), "the bare socket failed: {error}").ok();
        }
    }
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = [0; 8];
    let mut bytes = Vec::new();
    loop {
        match stream.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let length = u64::from_le_bytes(head);
        if length > LONGEST {
            let why = format!("{length} bytes are more than {LONGEST}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        // Memory is allocated as data arrives, and not for the announced length.
        bytes.clear();
        let arrived = (&stream).take(length).read_to_end(&mut bytes)?;
        if (arrived as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        stream.write_all(&head)?;
    }
}

/// The medians of the measurements.
pub(crate) struct Costs {
    pub(crate) rounds: usize,
    /// Encoded size of the graph in bytes.
    pub(crate) bytes: usize,
    pub(crate) write: Duration,
    pub(crate) read: Duration,
    pub(crate) call: Duration,
    pub(crate) raw: Duration,
}

/// Performs the measurements. Writing and reading use one heap buffer in this process.
pub(crate) fn costs(
    dependencies: &DependenciesStub,
    graph: &Graph<'_>,
    raw: SocketAddr,
) -> Result<Costs, Box<dyn Error>> {
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    let bytes = writer.gather(graph, |segments| {
        segments.iter().map(|s| s.len()).sum::<usize>()
    })?;
    let socket = |error| format!("the bare socket failed: {error}");
    let mut stream = connect(raw).map_err(socket)?;
    let mut message = (bytes as u64).to_le_bytes().to_vec();
    message.resize(bytes.saturating_add(8), 7);

    let (mut writes, mut reads, mut calls, mut raws) = (vec![], vec![], vec![], vec![]);
    let mut jbuf = EmptyBuffer::heap(bytes);
    let begin = Instant::now();
    while calls.is_empty() || (calls.len() < ROUNDS && begin.elapsed() < PATIENCE) {
        let start = Instant::now();
        let filled = writer.write(graph, jbuf)?;
        writes.push(start.elapsed());

        let start = Instant::now();
        let received = reader.read::<Graph<'static>>(filled)?;
        reads.push(start.elapsed());
        jbuf = received.into_empty();

        let start = Instant::now();
        dependencies.submit(graph).wait()?;
        calls.push(start.elapsed());

        let start = Instant::now();
        exchange(&mut stream, &message).map_err(socket)?;
        raws.push(start.elapsed());
    }
    Ok(Costs {
        rounds: calls.len(),
        bytes,
        write: median(writes),
        read: median(reads),
        call: median(calls),
        raw: median(raws),
    })
}

fn connect(raw: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(raw)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn exchange(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    stream.write_all(message)?;
    stream.read_exact(&mut [0; 8])
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
