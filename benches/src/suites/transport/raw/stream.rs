//! Stream sockets, either blocking or polled in a loop.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::spin;
use crate::Failure;
use crate::suites::transport::case::{Case, Way};
use crate::suites::transport::pair::Waiting;
use crate::suites::transport::side::{Channel, FILL, Over, Side, sum};

/// Listens, and accepts one connection.
pub(crate) fn serve(case: &Case) -> Result<Waiting, Failure> {
    let case = *case;
    if case.way == Way::Uds {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("jstream-benches-{}-{count}", process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        return Ok(Waiting::new(name, move || {
            unix(&case, listener.accept()?.0)
        }));
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    Ok(Waiting::new(address, move || {
        tcp(&case, listener.accept()?.0)
    }))
}

/// Connects to the listener.
pub(crate) fn join(case: &Case, address: &str) -> Result<Box<dyn Side>, Failure> {
    if case.way == Way::Uds {
        let address = SocketAddr::from_abstract_name(address)?;
        return unix(case, UnixStream::connect_addr(&address)?);
    }
    tcp(case, TcpStream::connect(address)?)
}

fn unix(case: &Case, socket: UnixStream) -> Result<Box<dyn Side>, Failure> {
    socket.set_nonblocking(case.spins)?;
    Ok(Box::new(Over::new(Stream::new(socket, case.bytes))))
}

fn tcp(case: &Case, socket: TcpStream) -> Result<Box<dyn Side>, Failure> {
    Ok(Box::new(Over::new(Stream::new(
        prepared(case, socket)?,
        case.bytes,
    ))))
}

/// Applies the settings of the case to a socket.
pub(super) fn prepared(case: &Case, socket: TcpStream) -> io::Result<TcpStream> {
    socket.set_nodelay(true)?;
    socket.set_nonblocking(case.spins)?;
    Ok(socket)
}

/// A socket with its send and receive buffers. The socket may be blocking or non-blocking.
pub(super) struct Stream<S> {
    pub(super) socket: S,
    sent: Vec<u8>,
    received: Vec<u8>,
}

impl<S> Stream<S> {
    pub(super) fn new(socket: S, bytes: usize) -> Self {
        Self {
            socket,
            sent: vec![FILL; bytes],
            received: vec![0; bytes],
        }
    }
}

impl<S: Read + Write> Channel for Stream<S> {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        if let Some(fill) = fill {
            self.sent.fill(fill);
        }
        let mut rest = self.sent.as_slice();
        while !rest.is_empty() {
            let count = some(|| self.socket.write(rest))?;
            rest = rest.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let mut rest = self.received.as_mut_slice();
        while !rest.is_empty() {
            let count = some(|| self.socket.read(rest))?;
            rest = rest.get_mut(count..).unwrap_or_default();
        }
        Ok(if look { sum(&self.received) } else { 0 })
    }
}

/// Retries `call` until it has transferred at least one byte, and returns the number of bytes.
fn some(mut call: impl FnMut() -> io::Result<usize>) -> Result<usize, Failure> {
    spin(|| match call() {
        Ok(0) => Err("the other side has ended".into()),
        Ok(count) => Ok(Some(count)),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(e.into()),
    })
}
