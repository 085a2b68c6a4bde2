//! Three processes in a ring pass on one object. Each process modifies the object in place in its
//! receive buffer and forwards the same buffer, without a copy or an allocation.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use jstream::{MessageBuffer, Pool, Reader, Transportable, Writer};
use jstream_transport::{Address, Endpoint, Header, Listener, Options, connect, listen};

#[derive(Transportable)]
struct Baton {
    hops: u32,
    #[transportable(exclusive)]
    samples: Vec<f64>,
    route: Vec<String>,
}

const PROCESSES: u32 = 3;
const ROUNDS: u32 = 1000;

type Failure = Box<dyn Error + Send + Sync>;

/// Reads a baton, adds one to each sample, and converts it back to a message in the same buffer.
fn pass_on(
    baton: MessageBuffer,
    reader: &mut Reader,
    writer: &mut Writer,
) -> Result<MessageBuffer, Failure> {
    let mut baton = reader.read::<Baton>(baton)?;
    baton.with_mut(|baton| {
        baton.hops = baton.hops.saturating_add(1);
        baton.samples.iter_mut().for_each(|sample| *sample += 1.0);
    });
    let forwarded = writer.forward(baton)?;
    assert!(forwarded.in_place, "no pointer was changed");
    Ok(forwarded.message)
}

/// Connects to the next node, and accepts the connection of the previous one.
fn join(
    listener: &Listener,
    next: &Address,
    options: &Options,
) -> Result<(Endpoint, Endpoint), Failure> {
    thread::scope(|scope| {
        let forth = scope.spawn(|| connect(next, options));
        let back = listener.accept()?.establish()?;
        Ok((forth.join().map_err(|_| "connecting panicked")??, back))
    })
}

/// Runs a node: prints its address to stdout, reads the address of the next node from stdin, and
/// forwards messages until the ring is broken.
fn node(options: &Options) -> Result<(), Failure> {
    let listener = listen(&"tcp://127.0.0.1:0".parse()?, options)?;
    println!("{}", listener.local_address());
    let next = io::stdin().lines().next().ok_or("no next node")??;
    let (to, from) = join(&listener, &next.parse()?, options)?;
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    while let Ok(message) = from.recv_message() {
        let baton = pass_on(message.payload, &mut reader, &mut writer)?;
        to.send_buffer(message.header, baton)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::new(Pool::default());
    if env::args().nth(1).is_some_and(|word| word == "node") {
        return node(&options);
    }
    let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
    let mut next = listener.local_address().to_string();
    let mut children: Vec<Child> = Vec::new();
    for _ in 1..PROCESSES {
        let mut node = Command::new(env::current_exe()?);
        node.arg("node").stdin(Stdio::piped());
        let mut child = node.stdout(Stdio::piped()).spawn()?;
        writeln!(child.stdin.take().ok_or("no stdin")?, "{next}")?;
        let out = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        next = out.lines().next().ok_or("a node ended early")??;
        children.push(child);
    }
    let (to, from) = join(&listener, &next.parse()?, &options)?;
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    let (samples, route) = (vec![0.0; 1000], vec!["home".to_owned()]);
    let (hops, start) = (0, Instant::now());
    let baton = Baton {
        hops,
        samples,
        route,
    };
    let mut message = writer.write_to(&baton, &options.pool)?;
    for _ in 0..ROUNDS {
        let baton = pass_on(message, &mut reader, &mut writer)?;
        to.send_buffer(Header::new(1, [0; 3]), baton)?;
        message = from.recv_message_within(Duration::from_secs(30))?.payload;
    }
    let (took, baton) = (start.elapsed(), reader.read::<Baton>(message)?);
    println!("{} hops in {took:.1?}", baton.get().hops);
    drop((to, from));
    let ended = children.iter_mut().map(|child| child.wait().map(drop));
    Ok(ended.collect::<Result<_, _>>()?)
}
