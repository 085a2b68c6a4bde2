//! Server for one run, in a thread or a child process.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{self, Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jstream_transport::{Address, listen};

use crate::failure::Failure;
use crate::greeting::Allowed;
use crate::run::RunSettings;
use crate::server::{Limits, Server, Shared};
use crate::sizes::LONGEST;
use crate::units::spell_time;

/// Time for which a server may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// Schemes for which a server can be started.
pub(crate) const SCHEMES: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];
/// Maximum memory in bytes of all clients of such a server.
const MEMORY: u64 = 16 * LONGEST;

/// Location of the server.
#[derive(Debug)]
pub(crate) enum Where {
    At(Address),
    /// A server that has to be started, at an address of this scheme.
    Own(&'static str),
}

impl Where {
    pub(crate) fn from_uri(uri: &str) -> Result<Self, Failure> {
        if let Some(scheme) = SCHEMES.iter().find(|scheme| **scheme == uri) {
            return Ok(Self::Own(scheme));
        }
        let usage = |text: String| Failure::Usage(text);
        if !uri.contains("://") {
            return Err(usage(format!(
                "`{uri}` is neither a URI nor a scheme alone ({})",
                SCHEMES.join(", ")
            )));
        }
        match uri.parse() {
            Ok(Address::Inproc { .. } | Address::Sim { .. }) => Err(usage(format!(
                "{uri} is inside one process, so no other process listens there; `inproc` alone starts a server"
            ))),
            Ok(address) => Ok(Self::At(address)),
            Err(error) => Err(usage(error.to_string())),
        }
    }
}

/// A server that ends when this is dropped.
pub(crate) struct Own {
    address: Address,
    runs: Runs,
}

enum Runs {
    Thread {
        shared: Arc<Shared>,
        thread: Option<JoinHandle<()>>,
    },
    Process(Child),
}

impl Own {
    /// Starts a server at a unique address.
    pub(crate) fn start(
        scheme: &str,
        settings: &RunSettings,
        pin: Option<usize>,
    ) -> Result<Self, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "jperf-{}-{}",
            process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let uri = match scheme {
            "tcp" | "uring" => format!("{scheme}://127.0.0.1:0"),
            "uds" => format!("uds://@{name}"),
            _ => format!("{scheme}://{name}"),
        };
        if scheme == "inproc" {
            Self::thread(&uri.parse()?, settings, pin)
        } else {
            Self::process(&uri, settings, pin)
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    fn thread(
        address: &Address,
        settings: &RunSettings,
        pin: Option<usize>,
    ) -> Result<Self, Failure> {
        let listener = listen(address, &settings.options())?;
        let limits = Limits {
            allowed: Allowed {
                longest: LONGEST,
                memory: MEMORY,
            },
            clients: usize::MAX,
            spin: settings.spin,
            idle: Duration::from_secs(60),
            time: Duration::MAX,
            once: false,
            quiet: true,
            pin,
        };
        let server = Server::new(listener, limits);
        let shared = server.shared.clone();
        let thread = thread::Builder::new().name("server".to_owned());
        Ok(Self {
            address: address.clone(),
            runs: Runs::Thread {
                shared,
                thread: Some(thread.spawn(move || server.work())?),
            },
        })
    }

    fn process(uri: &str, settings: &RunSettings, pin: Option<usize>) -> Result<Self, Failure> {
        let mut command = Command::new(env::current_exe()?);
        command.args([
            "serve",
            uri,
            "--quiet",
            "--with-parent",
            "--max-clients",
            "4096",
        ]);
        command.args(["--max-size", &LONGEST.to_string(), "--max-time", "inf"]);
        command.args(["--max-memory", &MEMORY.to_string()]);
        command.args(["--spin", &spell_time(settings.spin)]);
        if settings.trust {
            command.arg("--trust");
        }
        if settings.no_remote_reads {
            command.arg("--no-remote-reads");
        }
        if let Some(cpu) = pin {
            command.args(["--pin", &cpu.to_string()]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = child.stdout.take();
        let mut line = String::new();
        let heard = said.map(|said| BufReader::new(said).read_line(&mut line));
        let address = line.trim_end().strip_prefix("listening on ");
        let address = address.and_then(|address| address.parse().ok());
        let Some(address) = address else {
            end(&mut child);
            let reason = match heard {
                Some(Err(error)) => error.to_string(),
                _ => "see the standard error output".to_owned(),
            };
            return Err(Failure::Said(format!("the server did not start: {reason}")));
        };
        Ok(Self {
            address,
            runs: Runs::Process(child),
        })
    }

    /// Ends the server, and returns an error if it failed.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        if let Runs::Process(child) = &mut self.runs {
            child.stdin.take();
            end(child);
            let status = child.wait()?;
            if !status.success() {
                return Err(Failure::Said(format!("the server ended with {status}")));
            }
        }
        Ok(())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        match &mut self.runs {
            Runs::Thread { shared, thread } => {
                shared.stop();
                // A panic was reported by the thread itself.
                let _ = thread.take().map(JoinHandle::join);
            }
            Runs::Process(child) => {
                child.stdin.take();
                end(child);
            }
        }
    }
}

/// Waits for a process that was told to end, and kills it if it does not.
fn end(child: &mut Child) {
    let begun = Instant::now();
    while begun.elapsed() < GRACE {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
}
