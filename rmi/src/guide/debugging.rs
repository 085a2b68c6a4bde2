//! Debugging: calls by hand, captures, and spans.
//!
//! The program `jcall` asks a server for its objects and calls them. It uses the description that
//! the server gives of itself ([`Client::reflection`](crate::Client::reflection)) and does not need
//! the trait:
//!
//! ```text
//! $ jcall tcp://127.0.0.1:7000 bank
//! bank: Bank
//!   fn open(&self, balance: i64) -> Remote<dyn Account>
//!   fn balance_of(&self, account: Remote<dyn Account>) -> i64
//! $ jcall tcp://127.0.0.1:7000 bank open
//! jcall: open: argument 1 (balance: i64) is missing; try '1'
//! $ jcall tcp://127.0.0.1:7000 bank open 7 --json
//! {"object":2,"reference":"dyn Account"}
//! $ jcall tcp://127.0.0.1:7000 bank balance_of savings
//! 40
//! ```
//!
//! An argument that is a reference is the name of an object that is bound at the server. `--quiet`
//! prints errors only. `--completions SHELL` prints completions for a shell, and `--man` the manual
//! page; `jregistry` has the same options.
//!
//! A [`Capture`](crate::Capture) of a client or a server records the traffic of each connection:
//! calls in both directions, results, streams and references, with times, and the schemas of the
//! methods that were called.
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
//! let client = Client::connect_with(serving.address(), &options).wait()?;
//! assert_eq!(*client.lookup::<dyn Adder>("adder").wait()?.add(3, 4).wait()?.get(), 7);
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
//! `jstream-inspect FILE` lists the messages, and `--object N` shows the values of one message.
//! `--json` produces output for programs:
//!
//! ```text
//! capture of a client, connected with inproc://captured-adder
//!      0           61 us -> request #1 Registry::lookup of object 0, 64 bytes
//!      1           97 us <- reply   #1 Registry::lookup, 40 bytes, after 36 us
//!      2          129 us -> request #2 Adder::add of object 1, 40 bytes
//!      3          140 us <- reply   #2 Adder::add, 36 bytes, after 11 us
//! ```
//!
//! `jcall replay FILE URI` repeats the captured calls one after the other and reports those whose
//! answers differ from the captured ones. It repeats only calls of objects that were looked up by
//! name and that have no streams.
//!
//! Calls never wait for the disk. If the disk is too slow, or the capture exceeds the limits of
//! [`CaptureOptions`](crate::CaptureOptions), messages are dropped and counted, and the file
//! records how many are missing and where. The files contain all arguments and results. They do not
//! contain the [`Secret`](crate::Secret), because authentication takes place before the capture
//! starts.
//!
//! For spans, use [`Traced`](crate::Traced), which creates a span for each call. The lower crates
//! record events of connections with `tracing`.
