//! Common parts of the peers: a single-threaded tokio runtime on each side.

use std::future::Future;
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::thread;

use futures::future::try_join_all;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use super::address::name;
use super::case::{Case, IN_FLIGHT, Way};
use super::pair::Serving;
use super::samples::Samples;
use super::service::{Arguments, Expected, Given};
use super::subject::Caller;
use crate::Failure;

/// A connection over any socket.
pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Io for S {}

/// Listener on which a server accepts its one connection.
pub(super) enum Listener {
    Tcp(TcpListener),
    Uds(UnixListener),
}

impl Listener {
    /// Returns the listener for servers that accept connections themselves.
    pub(super) fn into_tcp(self) -> Result<net::TcpListener, Failure> {
        let Self::Tcp(listener) = self else {
            return Err("this subject supports only TCP".into());
        };
        Ok(net::TcpListener::from_std(listener)?)
    }

    pub(super) async fn accept(self) -> Result<Box<dyn Io>, Failure> {
        Ok(match self {
            Self::Tcp(_) => {
                let socket = self.into_tcp()?.accept().await?.0;
                socket.set_nodelay(true)?;
                Box::new(socket)
            }
            Self::Uds(listener) => {
                let listener = net::UnixListener::from_std(listener)?;
                Box::new(listener.accept().await?.0)
            }
        })
    }
}

/// Serves on a new thread, which ends with the process.
pub(super) fn serve<F>(
    case: &Case,
    serve: impl FnOnce(Listener) -> F + Send + 'static,
) -> Result<Serving, Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let (address, listener) = if case.way == Way::Uds {
        let name = name();
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        (name, Listener::Uds(listener))
    } else {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        (listener.local_addr()?.to_string(), Listener::Tcp(listener))
    };
    let server = thread::Builder::new().name("runtime".to_owned());
    let server = server.spawn(move || -> Result<(), Failure> {
        LocalSet::new().block_on(&runtime()?, serve(listener))
    })?;
    Ok(Serving::new(address, server))
}

fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Connects to the server.
pub(super) async fn connect(case: &Case, address: &str) -> Result<Box<dyn Io>, Failure> {
    if case.way == Way::Uds {
        let address = SocketAddr::from_abstract_name(address)?;
        let socket = UnixStream::connect_addr(&address)?;
        socket.set_nonblocking(true)?;
        return Ok(Box::new(net::UnixStream::from_std(socket)?));
    }
    let socket = TcpStream::connect(address)?;
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    Ok(Box::new(net::TcpStream::from_std(socket)?))
}

/// Client of a peer.
pub(super) trait Remote {
    /// Makes a call of the case, with arguments that were passed at creation.
    async fn call(&self) -> Result<Given, Failure>;
}

/// The calling side, which makes its calls in tasks of one thread.
pub(super) struct Tasks<R> {
    // Dropped before the runtime that it uses.
    remote: R,
    local: LocalSet,
    runtime: Runtime,
    expected: Expected,
}

/// Connects a client, and returns a caller that uses it.
pub(super) fn join<R: Remote + 'static, F>(
    case: &Case,
    client: impl FnOnce(Arguments) -> F,
) -> Result<Box<dyn Caller>, Failure>
where
    F: Future<Output = Result<R, Failure>>,
{
    let (local, runtime, arguments) = (LocalSet::new(), runtime()?, Arguments::of(case));
    Ok(Box::new(Tasks {
        expected: Expected::of(case, &arguments),
        remote: local.block_on(&runtime, client(arguments))?,
        local,
        runtime,
    }))
}

impl<R: Remote> Caller for Tasks<R> {
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        let all = async {
            while let Some(calls) = samples.next() {
                for _ in 0..calls {
                    self.expected.check(self.remote.call().await?)?;
                }
            }
            Ok(())
        };
        self.local.block_on(&self.runtime, all)
    }

    fn flood(&mut self, calls: usize) -> Result<(), Failure> {
        let one = |_| async {
            for _ in 0..calls / IN_FLIGHT {
                self.remote.call().await?;
            }
            Ok::<_, Failure>(())
        };
        let all = try_join_all((0..IN_FLIGHT).map(one));
        self.local.block_on(&self.runtime, all)?;
        Ok(())
    }
}
