//! The server process, and the client's handle of it.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use jstream::buffer::{Pool, PoolOptions};
use jstream_rmi::{Address, Options, Server, ServerOptions};

use crate::measure;
use crate::page::OutputError;
use crate::service::{Dependencies, Keeper};

/// Returns transport options for lock files of any size.
pub(crate) fn large() -> Options {
    let mut pool = PoolOptions::default();
    // Address space for the graph that is kept, for the next one, and for small messages.
    pool.max_mapped = 12 << 30;
    let mut options = Options::new(Pool::new(pool));
    options.max_message = 4 << 30;
    options
}

/// Runs the server process: prints the addresses, and serves until the client closes standard
/// input.
pub(crate) fn serve() -> Result<(), Box<dyn Error>> {
    let mut options = ServerOptions::default();
    options.transport = large();
    let server = Server::new(options);
    server.bind::<dyn Dependencies>("dependencies", Arc::new(Keeper::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    let raw = TcpListener::bind("127.0.0.1:0")?;
    let addresses = format!("{}\n{}\n", serving.address(), raw.local_addr()?);
    io::stdout()
        .write_all(addresses.as_bytes())
        .map_err(OutputError::from)?;
    std::thread::spawn(move || measure::echo_lengths(&raw));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The client's handle of the server process, which ends when its standard input is closed.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: Address,
    /// Address of the bare socket.
    pub(crate) raw: SocketAddr,
}

impl ServerProcess {
    /// Starts this program again as the server.
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let mut line = || {
            lines
                .next()
                .unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))
        };
        Ok(Self {
            address: line()?.parse()?,
            raw: line()?.parse()?,
            child,
        })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            writeln!(io::stderr(), "the server did not end: {error}").ok();
        }
    }
}
