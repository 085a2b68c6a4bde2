//! The server process, as it runs and as the client holds it.

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

/// The transport's options, for lock files of any size.
pub(crate) fn large() -> Options {
    let mut pool = PoolOptions::default();
    // Address space for a graph that is kept, the next one, and what is small.
    pool.max_mapped = 12 << 30;
    let mut options = Options::new(Pool::new(pool));
    options.max_message = 4 << 30;
    options
}

/// The server process: says where it listens, and serves until its client is gone.
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

/// The server process as the client holds it: it ends when its standard input does.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: Address,
    /// Where its bare socket listens.
    pub(crate) raw: SocketAddr,
}

impl ServerProcess {
    /// Starts this very program.
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
