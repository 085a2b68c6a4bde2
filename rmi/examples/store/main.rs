//! Four processes: a registry, a key-value store that is found through the registry, a watcher of
//! the store, and this process, which writes to the store.
//!
//! All processes run this program: `--registry` prints its address, `--store REGISTRY` serves the
//! table, and `--watch REGISTRY PREFIX` prints changes of the table. Each of them ends when its
//! standard input is closed.

mod table;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use jstream_rmi::directory::{self, Directory, Event, Names, Registrar};
use jstream_rmi::{Server, Stub};

use crate::table::{Memory, Table};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--registry"] => registry(),
        ["--store", registry] => store(registry),
        ["--watch", registry, prefix] => watch(registry, prefix),
        _ => run(),
    }
}

/// Prints a line for the parent process.
fn say(text: impl std::fmt::Display) -> Outcome {
    println!("{text}");
    Ok(io::stdout().flush()?)
}

fn until_the_end() -> Outcome {
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn registry() -> Outcome {
    let server = Server::default();
    server.bind::<dyn Directory>(directory::NAME, Arc::new(Registrar::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    say(serving.address())?;
    until_the_end()
}

fn store(registry: &str) -> Outcome {
    let server = Server::default();
    server.bind::<dyn Table>("table", Arc::new(Memory::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    let names = Names::connect(&registry.parse()?).wait()?;
    names.bind("table", &serving).wait()?;
    say("the store is bound")?;
    until_the_end()
}

fn watch(registry: &str, prefix: &str) -> Outcome {
    let names = Names::connect(&registry.parse()?).wait()?;
    let table = names.lookup::<dyn Table>("table").wait()?;
    let mut changes = table.within(std::time::Duration::MAX).watch(prefix);
    // Existing entries come first. After the first item, the prefix is being watched.
    while let Some(change) = changes.next().wait() {
        // If the store ends, the stream fails.
        let Ok(change) = change else { break };
        let change = change.get();
        match change.value {
            Some(value) => say(format_args!("{} is {value}", change.key))?,
            None => say(format_args!("{} was removed", change.key))?,
        }
    }
    say("the store is gone")
}

fn start(arguments: &[&str]) -> Outcome<(Child, BufReader<ChildStdout>)> {
    let mut child = Command::new(env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(child.stdout.take().ok_or("the process has no output")?);
    Ok((child, lines))
}

fn line(of: &mut BufReader<ChildStdout>) -> Outcome<String> {
    let mut line = String::new();
    of.read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn run() -> Outcome {
    let (mut registry, mut of_registry) = start(&["--registry"])?;
    let address = line(&mut of_registry)?;
    let names = Names::connect(&address.parse()?).wait()?;
    // The first item has all existing names, of which there are none. Names that are bound later
    // follow.
    let mut bound = names.watch()?;
    bound.next().ok_or("the registry is gone")??;

    let (mut store, mut of_store) = start(&["--store", &address])?;
    println!("{}", line(&mut of_store)?);
    let first = bound.next().ok_or("the registry is gone")??;
    println!("the registry: {} is bound", first.name);
    let table = names.lookup::<dyn Table>("table").wait()?;
    table.put("color/sky", "blue").wait()?;

    let (mut watcher, mut seen) = start(&["--watch", &address, "color/"])?;
    println!("watcher: {}", line(&mut seen)?);
    table.put("color/grass", "green").wait()?;
    table.put("weight/feather", "light").wait()?;
    table.remove("color/sky").wait()?;
    println!("watcher: {}", line(&mut seen)?);
    println!("watcher: {}", line(&mut seen)?);
    let weight = table.get("weight/feather").wait()?;
    println!("a feather is {}", weight.get().unwrap_or("unknown"));

    // When the store crashes, its name is removed.
    store.kill()?;
    store.wait()?;
    println!("watcher: {}", line(&mut seen)?);
    let last = bound.next().ok_or("the registry is gone")??;
    if last.event == Event::Unbound {
        println!("the registry: {} is no longer bound", last.name);
    }
    for child in [&mut watcher, &mut registry] {
        drop(child.stdin.take());
        child.wait()?;
    }
    Ok(())
}
