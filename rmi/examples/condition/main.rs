//! Two processes: a server with a buffer of few places, and a program with a client that puts in and one that takes
//! out, each waiting for the other.
//!
//! The server is this program too, started with `--serve`; it says where it listens, and ends with its
//! standard input.

mod buffer;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::{CallError, Client, Server, Stub};

use crate::buffer::{Bounded, Buffer, BufferStub};

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().any(|argument| argument == "--serve") {
        return serve();
    }
    let (mut server, address) = start()?;
    let result = calls(&address);
    // It ends with its standard input.
    drop(server.stdin.take());
    server.wait()?;
    result
}

fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Buffer>("buffer", Arc::new(Bounded::of(3)))?;
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
    let address = address.parse()?;
    let joined = || -> Result<BufferStub, Box<dyn Error>> {
        Ok(Client::connect(&address)?.lookup::<dyn Buffer>("buffer")?)
    };
    let (puts, takes) = (joined()?, joined()?);

    // Each is a call that waits at the server; the threads here wait for its reply, and nothing else.
    let putting = thread::spawn(move || -> Result<(), CallError> {
        for word in [
            "wait",
            "until",
            "there",
            "is",
            "room",
            "or",
            "something",
            "to",
            "take",
        ] {
            puts.put(word).wait()?;
        }
        Ok(())
    });
    for _ in 0..9 {
        println!("took {:?}", takes.take().wait()?.get());
    }
    putting.join().map_err(|_| "it panicked")??;

    // Nothing comes any more: the call ends with its time, and has taken nothing.
    let brief = takes.within(Duration::from_millis(50));
    let error = brief.take().wait().err().ok_or("something came")?;
    println!("{error}: {:?}", error.outcome());

    // So does one that is dropped, at once.
    drop(takes.take());
    println!("left: {}", takes.len().wait()?.get());
    Ok(())
}
