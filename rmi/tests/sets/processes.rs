//! Three servers in processes of their own, one after the other of which is killed and started
//! again. Each call writes its number to a file, which is the ledger.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use jstream_rmi::{Address, CallError, Outcome, Server, remote};
use testing::process::{again, role};
use testing::until;

use crate::{LONG, addresses, open, set_of};

#[remote]
trait Book {
    /// Writes the number, and returns the process.
    fn enter(&self, number: u64) -> u32;
    #[remote(idempotent)]
    fn process(&self) -> u32;
}

struct Written(File);

impl Book for Written {
    fn enter(&self, number: u64) -> u32 {
        // Appended at once, so that the kernel keeps it if this process is killed.
        (&self.0).write_all(&number.to_le_bytes()).unwrap();
        std::process::id()
    }

    fn process(&self) -> u32 {
        std::process::id()
    }
}

struct ServerProcess {
    child: Child,
    /// Kept, so that the process can write.
    _output: BufReader<ChildStdout>,
}

impl ServerProcess {
    fn start(address: &Address, ledger: &Path) -> Self {
        let mut child = again("processes::server_process", "server")
            .env("SETS_ADDRESS", address.to_string())
            .env("SETS_LEDGER", ledger)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.by_ref().lines();
        assert!(lines.any(|line| line.unwrap().contains("listening")));
        Self {
            child,
            _output: output,
        }
    }

    /// Shuts the server down in order.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may be gone already. The wait below reports that.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Entry point of the server process. In the test process it does nothing.
#[test]
fn server_process() {
    if role().is_none() {
        return;
    }
    let address: Address = std::env::var("SETS_ADDRESS").unwrap().parse().unwrap();
    let ledger = OpenOptions::new()
        .append(true)
        .open(std::env::var_os("SETS_LEDGER").unwrap())
        .unwrap();
    let server = Server::default();
    server
        .bind::<dyn Book>("book", Arc::new(Written(ledger)))
        .unwrap();
    let mut serving = server.listen(&address);
    for _ in 0..500 {
        if serving.is_ok() {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(10));
        serving = server.listen(&address);
    }
    let serving = serving.unwrap();
    println!("\nlistening");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    serving.shutdown(LONG).wait();
}

/// Reads how often each call ran.
fn read(ledger: &Path) -> BTreeMap<u64, u32> {
    let bytes = std::fs::read(ledger).unwrap();
    let mut times = BTreeMap::new();
    for number in bytes.chunks_exact(8) {
        let number = u64::from_le_bytes(number.try_into().unwrap());
        *times.entry(number).or_default() += 1;
    }
    times
}

fn restarted(name: &str, addresses: &[Address], is_killed: bool) {
    let ledger: PathBuf =
        std::env::temp_dir().join(format!("jstream-sets-{name}-{}", std::process::id()));
    File::create(&ledger).unwrap();
    let mut running: Vec<_> = addresses
        .iter()
        .map(|address| Some(ServerProcess::start(address, &ledger)))
        .collect();
    let set = set_of(addresses);
    let book = set.get::<dyn Book>("book");
    assert!(set.ready().wait());
    let (done, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcomes: Vec<(u64, Result<u32, CallError>)> = thread::scope(|scope| {
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (book, done, next) = (book.clone(), &done, &next);
                scope.spawn(move || {
                    let mut outcomes = Vec::new();
                    while !done.load(Ordering::SeqCst) {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        let outcome = book.enter(number).wait().map(|reply| *reply.get());
                        outcomes.push((number, outcome));
                        book.process().wait().unwrap();
                    }
                    outcomes
                })
            })
            .collect();
        for (id, address) in addresses.iter().enumerate() {
            until(|| open(&set) == addresses.len());
            let so_far = next.load(Ordering::SeqCst);
            until(|| next.load(Ordering::SeqCst) > so_far + 100);
            match (running[id].take(), is_killed) {
                (Some(process), false) => process.end(),
                (process, _) => drop(process),
            }
            let so_far = next.load(Ordering::SeqCst);
            until(|| next.load(Ordering::SeqCst) > so_far + 100);
            running[id] = Some(ServerProcess::start(address, &ledger));
        }
        until(|| open(&set) == addresses.len());
        done.store(true, Ordering::SeqCst);
        let each = callers.into_iter().map(|caller| caller.join().unwrap());
        each.flatten().collect()
    });
    let times = read(&ledger);
    std::fs::remove_file(&ledger).unwrap();
    assert!(outcomes.len() > 600);
    for (number, outcome) in &outcomes {
        let times = times.get(number).copied().unwrap_or(0);
        match outcome.as_ref().map_err(CallError::outcome) {
            Ok(_) => assert_eq!(times, 1, "call {number}"),
            Err(Outcome::MayHaveRun) if is_killed => assert!(times <= 1, "call {number}"),
            Err(_) => panic!("call {number} ended with {outcome:?}"),
        }
    }
}

#[test]
fn no_call_is_lost_while_processes_are_killed_in_turn() {
    let all = addresses("killed", 3);
    restarted("killed-shm", &all[2], true);
    restarted("killed-tcp", &all[3], true);
}

#[test]
fn no_call_fails_while_processes_are_shut_down_in_turn() {
    let all = addresses("ended", 3);
    restarted("ended-shm", &all[2], false);
    restarted("ended-tcp", &all[3], false);
}
