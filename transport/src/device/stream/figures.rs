//! What the halves cost, beside a program that uses the same sockets without them.
//!
//! `cargo test --release -p jstream-transport --lib figures -- --ignored --nocapture`
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "the numbers of these measurements are small"
)]

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use jstream::buffer::{Filled, Spent};
use rustix::thread::{CpuSet, sched_setaffinity};
use socket2::{MaybeUninitSlice, Socket};

use super::Wire;
use super::socket::SocketWire;
use super::tests::{Way, options, recv, send};
use crate::device::connection::{Body, Connection, Device};
use crate::device::tcp::{Tcp, prepare};

const ROUNDS: usize = 15;

/// Both ends of something that carries messages of one length.
trait End: Send {
    fn send(&mut self, bytes: &[u8]);
    fn recv(&mut self, length: usize);
}

struct Raw {
    wire: SocketWire,
    socket: Socket,
    buffer: Vec<u8>,
    spins: bool,
}

impl End for Raw {
    fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let n = if self.spins {
                self.wire
                    .try_write(&[IoSlice::new(bytes)])
                    .unwrap()
                    .unwrap_or(0)
            } else {
                self.socket.send(bytes).unwrap()
            };
            bytes = &bytes[n..];
        }
    }

    fn recv(&mut self, length: usize) {
        self.buffer.resize(1 << 20, 0);
        let mut got = 0;
        while got < length {
            let rest = &mut self.buffer[got..length];
            // SAFETY: the bytes stay initialised, since sockets only write to them.
            let rest = unsafe { &mut *(std::ptr::from_mut(rest) as *mut [MaybeUninit<u8>]) };
            if self.spins {
                let slices = &mut [MaybeUninitSlice::new(rest)];
                got += self.wire.try_read(slices).unwrap().unwrap_or(0);
            } else {
                got += self.socket.recv(rest).unwrap();
            }
        }
    }
}

struct Ours {
    connection: Connection,
    way: Way,
}

impl End for Ours {
    fn send(&mut self, bytes: &[u8]) {
        let segments = [IoSlice::new(bytes)];
        send(&mut *self.connection.outgoing, 1, Body::Borrowed(&segments)).unwrap();
    }

    fn recv(&mut self, length: usize) {
        let (_, filled) = recv(&mut *self.connection.incoming, self.way, None).unwrap();
        assert_eq!(filled.len(), length);
    }
}

fn raw(device: &str, spins: bool) -> (Box<dyn End>, Box<dyn End>) {
    let (a, b) = if device == "tcp" {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let a = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (b, _) = listener.accept().unwrap();
        let (a, b) = (Socket::from(a), Socket::from(b));
        prepare(&a, &options()).unwrap();
        prepare(&b, &options()).unwrap();
        (a, b)
    } else {
        let pair = std::os::unix::net::UnixStream::pair().unwrap();
        (Socket::from(pair.0), Socket::from(pair.1))
    };
    let end = |socket: Socket| -> Box<dyn End> {
        Box::new(Raw {
            wire: SocketWire::new(socket.try_clone().unwrap()),
            socket,
            buffer: Vec::new(),
            spins,
        })
    };
    (end(a), end(b))
}

fn ours(device: &str, spins: bool) -> (Box<dyn End>, Box<dyn End>) {
    let (device, at): (&dyn Device, _) = if device == "tcp" {
        (&Tcp, "tcp://127.0.0.1:0".parse().unwrap())
    } else {
        (
            &crate::device::uds::Uds,
            "uds://@jstream-figures".parse().unwrap(),
        )
    };
    let (a, b) = super::tests::pair(device, &at);
    let way = if spins { Way::Busy } else { Way::Blocking };
    let end = |connection| -> Box<dyn End> { Box::new(Ours { connection, way }) };
    (end(a), end(b))
}

fn pin(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).unwrap();
}

/// Half a round trip, or the time of one message of a stream, in microseconds.
fn measure(
    (mut a, mut b): (Box<dyn End>, Box<dyn End>),
    length: usize,
    count: usize,
    stream: bool,
) -> f64 {
    let window = if stream { 64 } else { 1 };
    let far = thread::spawn(move || {
        pin(1);
        let bytes = vec![1; length];
        for _ in 0..count / window {
            for _ in 0..window {
                b.recv(length);
            }
            b.send(if stream { &bytes[..1] } else { &bytes });
        }
    });
    pin(0);
    let bytes = vec![1; length];
    let mut start = Instant::now();
    let warm = count / window / 8;
    for round in 0..count / window {
        if round == warm {
            start = Instant::now();
        }
        for _ in 0..window {
            a.send(&bytes);
        }
        a.recv(if stream { 1 } else { length });
    }
    let taken = start.elapsed().as_secs_f64() * 1e6;
    far.join().unwrap();
    let rounds = (count / window - warm) as f64;
    if stream {
        taken / rounds / 64.0
    } else {
        taken / rounds / 2.0
    }
}

#[test]
#[ignore = "measures"]
fn figures() {
    let only = std::env::var("FIGURES").unwrap_or_default();
    for device in ["tcp", "uds"] {
        for stream in [false, true] {
            for spins in [true, false] {
                for (length, count) in [(8, 2000), (1024, 2000), (65_536, 600), (1 << 20, 128)] {
                    let name = format!(
                        "{device} {} {} {length}",
                        if stream { "stream" } else { "ping" },
                        if spins { "spin" } else { "block" }
                    );
                    if !name.contains(&only) {
                        continue;
                    }
                    let count = if stream { count.max(64 * 8) } else { count };
                    let mut all = [Vec::new(), Vec::new()];
                    for _ in 0..ROUNDS {
                        all[0].push(measure(raw(device, spins), length, count, stream));
                        all[1].push(measure(ours(device, spins), length, count, stream));
                    }
                    let [raw, ours] = all.map(|mut all| {
                        all.sort_by(f64::total_cmp);
                        (all[0], all[ROUNDS / 2])
                    });
                    println!(
                        "{name:24} least: raw {:8.2} us  ours {:8.2} us  {:.3}  median: {:8.2} {:8.2} {:.3}",
                        raw.0,
                        ours.0,
                        ours.0 / raw.0,
                        raw.1,
                        ours.1,
                        ours.1 / raw.1
                    );
                }
            }
        }
    }
}
