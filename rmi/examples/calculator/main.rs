//! Two processes: a calculator whose methods take plain slices and are partly async, and a program
//! that calls it.
//!
//! The server is the same program, started with `--serve`. It prints its address, and ends when its
//! standard input is closed.

mod service;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use jstream_rmi::{CallError, Client, Exclusive, Server, Stub};

use crate::service::{Calculator, Memory, Plain, Registers};

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

/// Runs the server, with a shared object and an object whose methods take `&mut self`.
fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Calculator>("calculator", Arc::new(Plain::default()))?;
    server.bind::<dyn Memory>("memory", Exclusive::new(Registers::default()))?;
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
    let client = Client::connect(&address.parse()?).wait()?;
    let calculator = client.lookup::<dyn Calculator>("calculator").wait()?;

    // The server reads the numbers in place in its receive buffer.
    let numbers: Vec<f64> = (0..1000u32).map(f64::from).collect();
    let sum = calculator.sum(&numbers).wait()?;
    println!("sum: {}", sum.get());

    // An error of the method is part of its result.
    match calculator.mean(&[]).wait()?.get() {
        Ok(mean) => println!("mean: {mean}"),
        Err(reason) => println!("no mean: {reason}"),
    }

    // A method that waits does not block other calls.
    let next = calculator.next_sum();
    let dot = calculator.dot(&numbers, &numbers).wait()?;
    println!("dot: {}", dot.get());
    println!("the sum that came next: {}", {
        calculator.sum(&[1.0, 2.0]).wait()?;
        *block_on(next)?.get()
    });

    // No sum follows: the call fails at its deadline, and the method is dropped.
    let brief = calculator.within(Duration::from_millis(50));
    match brief.next_sum().wait() {
        Err(error @ CallError::Deadline { .. }) => println!("{error}: {:?}", error.outcome()),
        other => {
            return Err(
                format!("expected the call to miss its deadline, but got {other:?}").into(),
            );
        }
    }

    let memory = client.lookup::<dyn Memory>("memory").wait()?;
    memory.store("x", 40.0)?;
    println!("x: {:?}", memory.add("x", 2.0).wait()?.get());
    Ok(())
}

/// Blocks this thread on a future. Any runtime would do as well.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}
