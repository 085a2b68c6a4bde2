//! Strangers who open connections and stay silent, from a process of their own.
//!
//! A test program that uses them has the test `strangers`, marked `#[ignore]`, which calls
//! [`attack`]. A test starts it as a child process by [`Strangers::start`].

use std::collections::VecDeque;
use std::env;
use std::io::Read;
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::effort;
use crate::process::again;

/// The environment variable with the kind of the attack, its rate, and the addresses.
const ATTACK: &str = "JSTREAM_TEST_STRANGERS";

/// Number of connections that the strangers hold at most, if they have as many descriptors.
const MOST: usize = 4000;

/// Number of the first connections, which the strangers hold until the end. Of the others, they
/// close the oldest one if they have too many.
const KEPT: usize = 1500;

/// Bytes that the strangers send on each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// No bytes.
    Nothing,
    /// The greeting of the device, and then nothing.
    Greeting,
    /// The greeting of the device, a byte at a time on all connections that are held, and then
    /// nothing.
    Bytes,
}

/// Number of the latest connections on which a byte is sent at a time.
const SLOW: usize = 300;

/// A connection that is held.
struct Held {
    socket: Socket,
    /// Number of bytes of the greeting that were sent one by one.
    said: usize,
}

impl Held {
    fn say_more(&mut self) {
        if let Some(byte) = GREETING.get(self.said..=self.said) {
            self.said += 1;
            let _ = self.socket.send(byte);
        }
    }
}

/// The greeting of the device on a 64-bit little-endian machine, with a limit of 1 MiB.
const GREETING: [u8; 32] = [
    b'j', b's', b't', b'r', b'e', b'a', b'm', 0, 2, 0, 0, 0, 2, 1, 64, 0, 0, 0, 16, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0,
];

/// A process that opens connections. Dropping this ends it.
pub struct Strangers(Child);

impl Strangers {
    /// Lets strangers open `rate` connections a second, times [`effort`], to each of `addresses`,
    /// from many source addresses if `from_many`. `test` is the name of the test that calls [`attack`]. Returns when
    /// they have begun.
    pub fn start(
        test: &str,
        words: Words,
        rate: u32,
        from_many: bool,
        addresses: &[SocketAddr],
    ) -> Self {
        let mut order = format!("{words:?} {} {from_many}", rate * effort());
        for address in addresses {
            order += &format!(" {address}");
        }
        let mut command = again(test, "strangers");
        let command = command.env(ATTACK, order);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut begun = [0; 1];
        let mut said = Vec::new();
        while !said.ends_with(b"begun\n") {
            let output = child.stdout.as_mut().unwrap();
            output.read_exact(&mut begun).unwrap();
            said.extend(begun);
        }
        Self(child)
    }

    /// Ends the attack, and returns the number of connections that were opened.
    pub fn end(mut self) -> u64 {
        drop(self.0.stdin.take());
        let mut said = String::new();
        let output = self.0.stdout.as_mut().unwrap();
        output.read_to_string(&mut said).unwrap();
        let opened = said.lines().find_map(|line| line.strip_prefix("opened "));
        opened.unwrap().parse().unwrap()
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Attacks as [`Strangers::start`] has ordered, until standard input ends. Does nothing in other
/// processes.
pub fn attack() {
    let Ok(order) = env::var(ATTACK) else {
        return;
    };
    let mut order = order.split(' ');
    let words = match order.next().unwrap() {
        "Nothing" => Words::Nothing,
        "Bytes" => Words::Bytes,
        _ => Words::Greeting,
    };
    let rate: u32 = order.next().unwrap().parse().unwrap();
    let from_many: bool = order.next().unwrap().parse().unwrap();
    let addresses: Vec<SocketAddr> = order.map(|address| address.parse().unwrap()).collect();
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let most = limit.current.and_then(|most| usize::try_from(most).ok());
    let most = most.map_or(MOST, |most| most.saturating_sub(100)).min(MOST);
    let ends = thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let mut held = VecDeque::new();
    let (mut tries, mut opened) = (0u64, 0u64);
    let begun = Instant::now();
    while !ends.is_finished() {
        let due = begun.elapsed().as_secs_f64() * f64::from(rate);
        while (tries as f64) < due {
            tries += 1;
            for address in &addresses {
                let Ok(socket) = open(*address, words, from_many.then_some(tries)) else {
                    continue;
                };
                opened += 1;
                held.push_back(Held { socket, said: 0 });
                if held.len() > most {
                    drop(held.remove(KEPT.min(most / 2)));
                }
            }
            if tries == 1 {
                println!("begun");
            }
        }
        if words == Words::Bytes {
            let slow = held.iter_mut().rev().take(SLOW);
            slow.for_each(Held::say_more);
        }
        thread::sleep(Duration::from_millis(1));
    }
    println!("opened {opened}");
}

fn open(address: SocketAddr, words: Words, from: Option<u64>) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    if let Some(from) = from {
        let [.., a, b] = from.to_be_bytes();
        let from = SocketAddr::from(([127, 7, a, b.max(1)], 0));
        socket.bind(&SockAddr::from(from))?;
    }
    match socket.connect(&SockAddr::from(address)) {
        Ok(()) => {}
        Err(error)
            if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    if words == Words::Greeting {
        // On the loopback interface, the connection is complete unless the backlog is full.
        let _ = socket.send(&GREETING);
    }
    Ok(socket)
}

/// Sets the limit of descriptors of this process.
pub fn limit_descriptors(most: u64) {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(most);
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Returns the socket address of an address such as `tcp://127.0.0.1:80`.
pub fn socket_of(address: &str) -> SocketAddr {
    let (_, host) = address.split_once("://").unwrap();
    host.parse().unwrap()
}
