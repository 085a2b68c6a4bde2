//! Looking for what is wrong: calls by hand, captures, spans.
//!
//! The program `jcall` asks a server what it serves, and calls it, by what the server says of itself
//! ([`Client::reflection`](crate::Client::reflection)); it needs no trait.
//!
//! A [`Capture`](crate::Capture), set at a client or at a server, writes down what each connection carries: calls of both
//! directions, results, streams and references, with times, and the schemas of the methods that were called.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::capture::{CaptureReader, Record};
//! use jstream_rmi::{Capture, Client, ClientOptions, Server, remote};
//!
//! #[remote]
//! trait Adder {
//!     fn add(&self, a: u32, b: u32) -> u32;
//! }
//!
//! struct Plain;
//!
//! impl Adder for Plain {
//!     fn add(&self, a: u32, b: u32) -> u32 {
//!         a + b
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Adder>("adder", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://captured-adder".parse()?)?;
//!
//! let folder = std::env::temp_dir().join(format!("captures-{}", std::process::id()));
//! let capture = Capture::new(&folder)?;
//! let mut options = ClientOptions::default();
//! options.capture = Some(capture.clone());
//! let client = Client::connect_with(serving.address(), &options)?;
//! assert_eq!(*client.lookup::<dyn Adder>("adder")?.add(3, 4).wait()?.get(), 7);
//! capture.flush();
//!
//! let file = std::fs::read_dir(&folder)?.next().ok_or("no file")??.path();
//! let mut reader = CaptureReader::new(std::fs::File::open(file)?)?;
//! let mut called = Vec::new();
//! while let Some(record) = reader.read()? {
//!     if let Record::Method(method) = record {
//!         called.push(method.name);
//!     }
//! }
//! assert_eq!(called, ["lookup", "add"]);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! `jstream-inspect FILE` lists the messages, `--object N` shows the values of one, and `--json` is for programs:
//!
//! ```text
//! capture of a client, connected with inproc://captured-adder
//!      0           61 us -> request #1 Registry::lookup of object 0, 64 bytes
//!      1           97 us <- reply   #1 Registry::lookup, 40 bytes, after 36 us
//!      2          129 us -> request #2 Adder::add of object 1, 40 bytes
//!      3          140 us <- reply   #2 Adder::add, 36 bytes, after 11 us
//! ```
//!
//! `jcall replay FILE URI` makes the captured calls again, one after another, and tells which of them are answered otherwise
//! than they were: those of objects that were looked up by name, and that have no streams.
//!
//! Calls never wait for the disk. What it can't take in time, or what exceeds the limits of
//! [`CaptureOptions`](crate::CaptureOptions), is counted, and the file says how much is missing where. The files have all
//! arguments and results in them; the [`Secret`](crate::Secret) is proved before, and is not there.
//!
//! Where spans are wanted instead, [`Traced`](crate::Traced) makes them of calls, and the crates below say through `tracing`
//! what becomes of connections.
