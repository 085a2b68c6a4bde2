//! Tests with several processes: communication, shutdown, crashes and protocol violations.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::too_many_lines,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::undocumented_unsafe_blocks,
    reason = "test code"
)]

mod deaths;
mod figures;
mod lies;
mod messages;
mod reads;
mod storms;
mod wraps;

use std::env;
use std::io::IoSlice;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};

use super::Shm;
use crate::connection::*;
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;

const ROLE: &str = "JSTREAM_SHM_ROLE";
const NAME: &str = "JSTREAM_SHM_NAME";

/// Another process, which is killed when the handle is dropped.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs one of the roles below in a separate process.
fn spawn(role: &str, address: &Address) -> Other {
    let child = Command::new(env::current_exe().unwrap())
        .args(["shm::tests::part", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env(NAME, address.to_string())
        .stdout(Stdio::null())
        .spawn();
    Other(child.unwrap())
}

/// Entry point of the processes that `spawn` starts. Does nothing in the test process itself.
#[test]
fn part() {
    let (Ok(role), Ok(name)) = (env::var(ROLE), env::var(NAME)) else {
        return;
    };
    let address = name.parse().unwrap();
    match role.as_str() {
        "echo" => messages::echo(&address),
        "begin" => deaths::begin(&address),
        "idle" => deaths::idle(&address),
        "hidden" => deaths::hidden(&address),
        "thousand" => deaths::thousand(&address),
        "listen" => deaths::accept_all(&address),
        "guest" => lies::guest(&address),
        "shut out" => lies::shut_out(&address),
        "stranger" => lies::stranger(&address),
        "talk" => storms::talk(&address),
        "sink" => figures::sink(&address),
        "bounce" => figures::bounce(&address),
        _ => panic!("no part {role}"),
    }
}

fn options() -> Options {
    Options::new(Pool::default())
}

/// Returns an address that no other test uses.
fn address() -> Address {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Address::shm(&format!("test-{}-{number}", std::process::id())).unwrap()
}

fn listen(address: &Address) -> Box<dyn Accept> {
    Shm.listen(address, &options()).unwrap()
}

fn accept(listener: &dyn Accept) -> Connection {
    loop {
        if let Some(accepted) = listener.try_accept().unwrap() {
            return accepted.half_made.establish().unwrap();
        }
        sleep_on([(listener.source(), Interest::Readable)], Deadline::NEVER).unwrap();
    }
}

/// Returns both ends of a connection in this process.
fn pair() -> (Connection, Connection) {
    pair_with(&options())
}

fn pair_with(options: &Options) -> (Connection, Connection) {
    let address = address();
    let listener = Shm.listen(&address, options).unwrap();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| Shm.connect(&address, options).unwrap());
        let server = accept(&*listener);
        (client.join().unwrap(), server)
    })
}

fn outbound<'a>(kind: u32, length: usize, body: Body<'a>) -> Outbound<'a> {
    Outbound {
        header: Header::new(kind, [1, 2, 3]).with_length(length as u64),
        body,
        is_exchange: false,
        taken: 0,
    }
}

fn send_outbound(outgoing: &mut dyn Outgoing, message: &mut Outbound<'_>) -> Result<(), Fault> {
    loop {
        match outgoing.push(message)? {
            Push::Done => return Ok(()),
            _ => outgoing.wait(Deadline::NEVER)?,
        }
    }
}

fn send(outgoing: &mut dyn Outgoing, kind: u32, parts: &[&[u8]]) -> Result<(), Fault> {
    let length = parts.iter().map(|part| part.len()).sum();
    let slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
    send_outbound(
        outgoing,
        &mut outbound(kind, length, Body::Borrowed(&slices)),
    )
}

fn receive(incoming: &mut dyn Incoming) -> Result<(Header, MessageBuffer), Fault> {
    let mut into = None;
    loop {
        if let Some(header) = incoming.header()? {
            if let Some(Payload::Bytes(filled)) = incoming.payload(&mut into)? {
                return Ok((header, filled));
            }
        }
        incoming.wait(&mut into, Deadline::NEVER)?;
    }
}

/// Returns bytes whose values depend on their positions.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|n| ((n * 31) ^ (n >> 8) ^ seed) as u8)
        .collect()
}

fn jbuf(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}
