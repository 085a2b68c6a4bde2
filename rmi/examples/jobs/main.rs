//! A job queue and three worker processes, one of which is killed while it has a job.
//!
//! A worker gets a job as a reference. If its process ends, the queue is notified and gives the job
//! to another worker. All processes run this program: `--work ADDRESS NAME` is a worker, `--hang
//! ADDRESS NAME` is a worker that never completes its job.

mod queue;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use jstream_rmi::{Client, Server};

use crate::queue::{Jobs, Queue};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--work", address, name] => work(address, name),
        ["--hang", address, name] => hang(address, name),
        _ => run(),
    }
}

fn work(address: &str, name: &str) -> Outcome {
    let queue = Client::connect(&address.parse()?)
        .wait()?
        .lookup::<dyn Queue>("queue")
        .wait()?;
    while !queue.is_done().wait()?.get() {
        match queue.take(name).wait()? {
            Some(job) => {
                let number = *job.number().wait()?.get();
                job.done((1..=number).product()).wait()?;
            }
            // Other workers still have jobs, and may crash.
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    Ok(())
}

fn hang(address: &str, name: &str) -> Outcome {
    let queue = Client::connect(&address.parse()?)
        .wait()?
        .lookup::<dyn Queue>("queue")
        .wait()?;
    let job = queue.take(name).wait()?.ok_or("there is no job")?;
    println!("{}", job.number().wait()?.get());
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn start(arguments: &[&str]) -> Outcome<Child> {
    let mut command = Command::new(env::current_exe()?);
    let command = command.args(arguments).stdin(Stdio::piped());
    Ok(command.stdout(Stdio::piped()).spawn()?)
}

fn run() -> Outcome {
    let server = Server::default();
    let jobs = Jobs::new(&server, 1..=8);
    server.bind::<dyn Queue>("queue", jobs.clone())?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    let address = serving.address().to_string();

    let mut dying = start(&["--hang", &address, "cid"])?;
    let mut lines = BufReader::new(dying.stdout.take().ok_or("the process has no output")?);
    lines.read_line(&mut String::new())?;
    let mut workers = Vec::new();
    for name in ["ann", "bob"] {
        workers.push(start(&["--work", &address, name])?);
    }
    dying.kill()?;
    dying.wait()?;
    for mut worker in workers {
        if !worker.wait()?.success() {
            return Err("a worker has failed".into());
        }
    }
    for (job, result) in jobs.results() {
        println!("job {job}: {result}");
    }
    println!(
        "references that workers still hold: {}",
        server.references().leases
    );
    Ok(())
}
