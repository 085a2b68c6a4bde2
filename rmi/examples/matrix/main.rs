//! Two processes: a server that computes with matrices of any kind, and a program that sends dense,
//! diagonal and composed matrices as trait objects.
//!
//! The server is the same program, started with `--serve`. It prints its address, and ends when its
//! standard input is closed.

mod matrices;
mod service;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use jstream_rmi::{Client, Server};

use crate::matrices::{Dense, Diagonal, Matrix, Outer, Sum};
use crate::service::{Algebra, Misfit, Plain};

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
    server.bind::<dyn Algebra>("algebra", Arc::new(Plain))?;
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
    let algebra = client.lookup::<dyn Algebra>("algebra").wait()?;

    // The numbers are sent from their place in memory, and read in place in the receive buffer.
    let values: Vec<f64> = (0..300u32).map(|n| f64::from(n % 11)).collect();
    let dense = Dense {
        columns: 20,
        values: &values,
    };
    let vector = [1.0; 20];
    let product = algebra.apply(&dense, &vector).wait()?;
    println!("dense: {:?}", product.get().map(|values| values.len()));

    // A matrix of rank one, whose 20 x 20 numbers are never stored, and a sum that refers to other
    // matrices.
    let (diagonal, outer) = (
        Diagonal { values: &vector },
        Outer {
            left: &vector,
            right: &vector,
        },
    );
    let sum = Sum {
        parts: &[&diagonal, &outer, &diagonal],
    };
    let product = algebra.apply(&sum, &vector).wait()?;
    println!(
        "sum: {:?}",
        product.get().map(|values| values.first().copied())
    );

    let all: [&dyn Matrix; 3] = [&dense, &outer, &sum];
    println!("traces: {:?}", algebra.traces(&all).wait()?.get());

    // An error of the method is part of its result.
    match algebra.apply(&outer, &[1.0, 2.0]).wait()?.get() {
        Err(Misfit { matrix, vector }) => println!("{matrix} columns, {vector} numbers"),
        Ok(values) => return Err(format!("expected an error, but got {values:?}").into()),
    }
    Ok(())
}
