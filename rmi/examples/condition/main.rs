//! Two processes: a server with a bounded buffer, and a program with a producer and a consumer,
//! each of which waits for the other.
//!
//! The server is the same program, started with `--serve`. It prints its address, and ends when its
//! standard input is closed.

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
    // The server ends when its standard input is closed.
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
        Ok(Client::connect(&address)
            .wait()?
            .lookup::<dyn Buffer>("buffer")
            .wait()?)
    };
    let (puts, takes) = (joined()?, joined()?);

    // Each call waits at the server. The threads here only wait for its reply.
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
    putting.join().map_err(|_| "the producer panicked")??;

    // No more words are added: the call fails at its deadline and has removed nothing.
    let brief = takes.within(Duration::from_millis(50));
    let error = brief
        .take()
        .wait()
        .err()
        .ok_or("expected the call to miss its deadline")?;
    println!("{error}: {:?}", error.outcome());

    // A dropped call is cancelled at once, and has removed nothing either.
    drop(takes.take());
    println!("left: {}", takes.len().wait()?.get());
    Ok(())
}
