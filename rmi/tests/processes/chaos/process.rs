//! Child processes of the test: how they are started, paused and killed, and their main functions.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jstream::buffer::Pool;
use jstream_rmi::directory::{self, Directory, Names, Registrar};
use jstream_rmi::{ReferenceCounts, Server, ServerOptions, Serving};
use rustix::process::{Pid, Signal, kill_process};

use testing::process::again;

use crate::chaos::LEASE;
use crate::chaos::ledger::Ledger;
use crate::chaos::load::Caller;
use crate::chaos::random::Random;
use crate::chaos::service::{Faults, Here, Service};
use crate::chaos::stacks;

/// Timeout for an answer of a child process. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(120);

/// Number of calling threads per client.
const THREADS: usize = 3;

/// The role of a child process.
#[derive(Clone)]
pub(crate) struct Role {
    /// The index of a server; `None` for a client.
    pub(crate) server: Option<u64>,
    /// True if the process is never killed.
    pub(crate) survives: bool,
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
}

/// A running child process. Its number is unique.
pub(crate) struct Process {
    pub(crate) role: Role,
    pub(crate) number: u64,
    child: Child,
    commands: ChildStdin,
    answers: mpsc::Receiver<String>,
}

impl Process {
    pub(crate) fn start(role: Role, number: u64) -> Self {
        let server = role
            .server
            .map_or("-".to_owned(), |server| server.to_string());
        let flags = [role.survives, role.faults.0].map(|flag| u8::from(flag).to_string());
        let [survives, faults] = flags;
        let (number_text, seed) = (number.to_string(), role.seed.to_string());
        let folder = role.folder.to_str().unwrap();
        let words = [&server, &survives, &faults, &number_text, &seed, folder];
        let mut child = again("chaos::child", &words.join(" "))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (found, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, answer)) = line.split_once("chaos: ") {
                    found.send(answer.to_owned()).ok();
                }
            }
        });
        let commands = child.stdin.take().unwrap();
        let process = Self {
            role,
            number,
            child,
            commands,
            answers,
        };
        assert_eq!(process.answer(), "ready");
        process
    }

    /// Waits for the next answer of the process.
    fn answer(&self) -> String {
        let answer = self.answers.recv_timeout(LONG);
        answer.unwrap_or_else(|error| {
            stacks::print_of_children();
            let (number, id, folder) = (self.number, self.child.id(), &self.role.folder);
            panic!("process {number} ({id}) did not answer: {error}; see {folder:?}")
        })
    }

    /// Sends a command and waits for the answer.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        self.answer()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).unwrap();
    }

    /// Waits for the end of the process. Returns true if it succeeded.
    pub(crate) fn wait(mut self) -> bool {
        drop(self.commands);
        self.child.wait().unwrap().success()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn figures(&mut self) -> Figures {
        let answer = self.ask("figures");
        let words: Vec<_> = answer.split(' ').map(|n| n.parse().unwrap()).collect();
        Figures(words.try_into().unwrap())
    }
}

/// Counts of the resources that may leak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures([u64; 8]);

const NAMES: [&str; 8] = [
    "exports",
    "leases",
    "pins",
    "jbufs",
    "descriptors",
    "shared mappings",
    "threads",
    "MiB resident",
];

/// Permitted growth per resource. Standby threads and memory that is cached for later calls are not
/// leaks.
const SLACK: [u64; 8] = [0, 0, 0, 0, 0, 0, 20, 32];

impl Figures {
    fn of(counts: ReferenceCounts, pool: &Pool) -> Self {
        let count = |folder| fs::read_dir(folder).unwrap().count() as u64;
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let shared = maps.lines().filter(|line| line.contains("jstream-shm"));
        let sizes = fs::read_to_string("/proc/self/statm").unwrap();
        let resident: u64 = sizes.split(' ').nth(1).unwrap().parse().unwrap();
        Self([
            counts.exports as u64,
            counts.leases as u64,
            counts.pins as u64,
            pool.stats().in_use as u64,
            count("/proc/self/fd"),
            shared.count() as u64,
            count("/proc/self/task"),
            (resident * rustix::param::page_size() as u64) >> 20,
        ])
    }

    /// Describes the resources that exceed `before` by more than the permitted growth.
    pub(crate) fn more_than(&self, before: &Self) -> Vec<String> {
        (0..8)
            .filter(|&i| self.0[i] > before.0[i] + SLACK[i])
            .map(|i| format!("{} {}, and {} before", self.0[i], NAMES[i], before.0[i]))
            .collect()
    }
}

fn say(answer: &str) {
    let mut out = std::io::stdout().lock();
    // The newline ends any output of libtest on this line. The reader may be gone, so errors are
    // ignored.
    writeln!(out, "\nchaos: {answer}").ok();
    out.flush().ok();
}

/// Reads the next command. Returns `None` if the parent has closed the pipe.
fn command() -> Option<String> {
    std::io::stdin().lines().next()?.ok()
}

/// The main function of a child process. Returns immediately if this process is not a child.
pub(crate) fn act() {
    let Some(role) = testing::process::role() else {
        return;
    };
    let words: Vec<_> = role.splitn(6, ' ').collect();
    let [server, survives, faults, number, seed, folder] = words[..] else {
        panic!("invalid role {role:?}");
    };
    let [number, seed] = [number, seed].map(|word| word.parse().unwrap());
    let role = Role {
        server: server.parse().ok(),
        survives: survives == "1",
        folder: folder.into(),
        seed,
        faults: Faults(faults == "1"),
    };
    report_panics(&role.folder, number);
    match role.server {
        Some(server) => serve(&role, server, number),
        None => call(&role, number),
    }
}

/// Appends the panics of all threads to a file, which survives the kill of this process.
fn report_panics(folder: &Path, number: u64) {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("panics"));
    let (file, usual) = (file.unwrap(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        writeln!(&file, "process {number}: {info}").ok();
        usual(info);
    }));
}

fn serve(role: &Role, index: u64, number: u64) {
    let mut options = ServerOptions::default();
    options.lease = LEASE;
    options.call_timeout = Duration::from_secs(2);
    let pool = options.transport.pool.clone();
    let server = Server::new(options);
    let here = Arc::new(Here {
        server: server.clone(),
        ledger: Arc::new(Ledger::open(&role.folder, number)),
        faults: role.faults,
        kept: Mutex::new(VecDeque::new()),
    });
    server.bind::<dyn Service>("service", here.clone()).unwrap();
    let name = format!("service-{index}");
    server.bind::<dyn Service>(&name, here.clone()).unwrap();
    if index == 0 {
        let registrar = Arc::new(Registrar::default());
        server
            .bind::<dyn Directory>(directory::NAME, registrar)
            .unwrap();
    }
    let serving = listen(&server, role, index);
    let registry = fs::read_to_string(role.folder.join("server-0")).unwrap();
    let registry = registry.lines().next().unwrap().parse().unwrap();
    let names = Names::connect(&registry).wait().unwrap();
    names.rebind(&name, &serving).wait().unwrap();
    say("ready");
    while let Some(command) = command() {
        match command.as_str() {
            "figures" => {
                let kept = std::mem::take(&mut *here.kept.lock().unwrap());
                drop(kept);
                let figures = Figures::of(server.references(), &pool);
                say(&figures.0.map(|n| n.to_string()).join(" "));
            }
            _ => break,
        }
    }
    drop(names);
    let ended = serving.shutdown(Duration::from_secs(5)).wait();
    // The bound service holds the server, so unbind it to break the reference cycle.
    assert!(server.unbind("service") && server.unbind(&name));
    say(if ended.abandoned {
        "abandoned"
    } else {
        "ended"
    });
}

/// Listens at the addresses of the previous server with this index, if there was one.
fn listen(server: &Server, role: &Role, index: u64) -> Serving {
    let list = role.folder.join(format!("server-{index}"));
    let before = fs::read_to_string(&list).unwrap_or_default();
    let tcp = before
        .lines()
        .next()
        .unwrap_or("tcp://127.0.0.1:0")
        .to_owned();
    let mut addresses = vec![
        tcp,
        format!("uds://{}/socket-{index}", role.folder.display()),
        format!(
            "shm://{}-{index}",
            role.folder.file_name().unwrap().to_str().unwrap()
        ),
    ];
    let listen = |addresses: &[String]| {
        let parsed: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        server.listen_all(&parsed)
    };
    let serving = listen(&addresses).unwrap_or_else(|_| {
        // Another program may have taken the port.
        addresses[0] = "tcp://127.0.0.1:0".to_owned();
        listen(&addresses).unwrap()
    });
    let addresses: Vec<_> = serving
        .addresses()
        .iter()
        .map(ToString::to_string)
        .collect();
    let draft = list.with_extension("draft");
    fs::write(&draft, addresses.join("\n")).unwrap();
    fs::rename(draft, list).unwrap();
    serving
}

fn call(role: &Role, number: u64) {
    let caller = Caller::new(role.folder.clone(), number, role.faults, role.survives);
    let mut random = Random::new(role.seed);
    say("ready");
    while let Some(command) = command() {
        match command.as_str() {
            "load" => {
                if role.survives {
                    caller.do_all(&mut random);
                }
                caller.is_over.store(false, Ordering::SeqCst);
                work(&caller, &mut random);
            }
            "figures" => {
                let figures = Figures::of(caller.own.references(), &caller.pool);
                say(&figures.0.map(|n| n.to_string()).join(" "));
            }
            _ => break,
        }
    }
    say("ended");
}

/// Makes calls until the next command arrives.
fn work(caller: &Caller, random: &mut Random) {
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let mut random = random.fork();
            scope.spawn(move || caller.work(&mut random));
        }
        say("working");
        command();
        caller.is_over.store(true, Ordering::SeqCst);
    });
    let done = caller.done.lock().unwrap();
    let done: Vec<_> = done
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    say(&done.join(", "));
}
