//! Four processes: a chat room and three members, one of which crashes.
//!
//! A member passes a reference to an object of its own when it joins, and the room calls this
//! object. All processes run this program: `--serve` is the room, which prints its address, and
//! `--join ADDRESS NAME` is a member. Each of them ends when its standard input is closed.

mod room;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use jstream_rmi::{Client, Server};

use crate::room::{Lobby, Member, Room};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--serve"] => serve(),
        ["--join", address, name] => join(address, name),
        _ => talk(),
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Room>("lobby", Arc::new(Lobby::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    println!("{}", serving.address());
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Prints the messages that it receives.
struct Ear(String);

impl Member for Ear {
    fn heard(&self, from: &str, what: &str) {
        println!("{} hears {from}: {what}", self.0);
    }
}

fn join(address: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let client = Client::connect(&address.parse()?).wait()?;
    // Receives calls while this thread waits for input.
    let _hears = client.start()?;
    let lobby = client.lookup::<dyn Room>("lobby").wait()?;
    let ear = client.export::<dyn Member>(Arc::new(Ear(name.to_owned())));
    println!(
        "{name} is number {}",
        lobby.join(name, ear.remote()).wait()?.get()
    );
    io::stdout().flush()?;
    for line in io::stdin().lines() {
        let heard = lobby.say(ear.remote(), &line?).wait()?;
        println!("{name} was heard by {}", heard.get());
        io::stdout().flush()?;
    }
    Ok(())
}

fn start(arguments: &[&str]) -> Result<(Child, BufReader<ChildStdout>, String), Box<dyn Error>> {
    let mut child = Command::new(env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("the process has no output")?);
    let mut first = String::new();
    lines.read_line(&mut first)?;
    Ok((child, lines, first.trim().to_owned()))
}

fn talk() -> Result<(), Box<dyn Error>> {
    let (mut server, _of_server, address) = start(&["--serve"])?;
    let (mut ann, mut of_ann, hello) = start(&["--join", &address, "ann"])?;
    println!("{hello}");
    let (mut bob, mut of_bob, hello) = start(&["--join", &address, "bob"])?;
    println!("{hello}");
    let (mut cid, _of_cid, hello) = start(&["--join", &address, "cid"])?;
    println!("{hello}");

    let mut says = |line: &str| -> Result<(), Box<dyn Error>> {
        writeln!(ann.stdin.as_mut().ok_or("no input")?, "{line}")?;
        let (mut heard, mut said) = (String::new(), String::new());
        of_bob.read_line(&mut heard)?;
        of_ann.read_line(&mut said)?;
        print!("{heard}{said}");
        Ok(())
    };
    says("hello")?;
    // A member that crashed is not called again.
    cid.kill()?;
    cid.wait()?;
    says("is anybody there?")?;

    for child in [&mut ann, &mut bob, &mut server] {
        drop(child.stdin.take());
        child.wait()?;
    }
    Ok(())
}
