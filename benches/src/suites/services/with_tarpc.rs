//! The service with tarpc, with the reconnecting and balancing that its users write by hand: each
//! call goes to the next server that is connected, and a lost connection is opened again with
//! growing pauses.

use std::future::ready;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tarpc::client::RpcError;
use tarpc::serde_transport::{Transport, new};
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::{Framed, LengthDelimitedCodec};
use tarpc::{client, context};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::CALL_TIMEOUT;
use super::calls::Answer;
use super::ledger::{ExecutedFile, Order};
use super::process::tell;
use super::with_tokio::{self, Calls, call_all, runtime};
use crate::Failure;

/// The first pause between attempts to connect, and the longest one: those of our sets.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

#[tarpc::service]
trait Desk {
    async fn submit(number: u64, client: String) -> (u64, u64);
}

#[derive(Clone)]
struct Served(Arc<with_tokio::Desk>);

impl Desk for Served {
    async fn submit(self, _: context::Context, number: u64, _: String) -> (u64, u64) {
        self.0.execute(number).await
    }
}

type Connection<I, O> = Transport<TcpStream, I, O, Bincode<I, O>>;

fn connection<I, O>(socket: TcpStream) -> Connection<I, O>
where
    I: for<'de> Deserialize<'de>,
    O: Serialize,
{
    new(
        Framed::new(socket, LengthDelimitedCodec::new()),
        Bincode::default(),
    )
}

/// Serves until the standard input ends.
pub(super) fn serve(server: usize, address: &str, executed: ExecutedFile) -> Result<(), Failure> {
    let desk = with_tokio::Desk::new(server, executed);
    let ended = desk.follow()?;
    runtime()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        tell("ready")?;
        let accepting = async {
            loop {
                let socket = listener.accept().await?.0;
                socket.set_nodelay(true)?;
                let channel = BaseChannel::with_defaults(connection(socket));
                let calls = channel.execute(Served(desk.clone()).serve());
                tokio::spawn(calls.for_each(|call| {
                    tokio::spawn(call);
                    ready(())
                }));
            }
        };
        tokio::select! {
            ended = accepting => ended,
            () = ended.notified() => Ok(()),
        }
    })
}

/// A server, and the connection to it.
struct Member {
    address: String,
    client: Mutex<Option<DeskClient>>,
    /// Notified when the connection was lost.
    lost: Notify,
}

impl Member {
    fn client(&self) -> Option<DeskClient> {
        self.client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn put(&self, client: Option<DeskClient>) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }

    /// Connects whenever there is no connection.
    async fn keep_connected(&self) {
        loop {
            let mut pause = PAUSES.0;
            while self.client().is_none() {
                match tokio::time::timeout(CALL_TIMEOUT, TcpStream::connect(&self.address)).await {
                    Ok(Ok(socket)) if socket.set_nodelay(true).is_ok() => {
                        let client = DeskClient::new(client::Config::default(), connection(socket));
                        self.put(Some(client.spawn()));
                    }
                    _ => {
                        tokio::time::sleep(pause).await;
                        pause = PAUSES.1.min(pause * 2);
                    }
                }
            }
            self.lost.notified().await;
        }
    }
}

#[derive(Clone)]
struct Client {
    members: Arc<Vec<Arc<Member>>>,
    next: Arc<AtomicUsize>,
}

impl Client {
    /// Returns the next member that is connected.
    fn choose(&self) -> Option<(&Member, DeskClient)> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.members.len();
        (first..first + count).find_map(|at| {
            let member = self.members.get(at % count)?;
            Some((member.as_ref(), member.client()?))
        })
    }
}

impl Calls for Client {
    async fn call(&self, order: Order) -> Result<Answer, Failure> {
        let deadline = Instant::now() + CALL_TIMEOUT;
        let (member, client) = loop {
            match self.choose() {
                Some(chosen) => break chosen,
                None if Instant::now() >= deadline => return Err("no server".into()),
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        };
        let mut context = context::current();
        context.deadline = deadline;
        let number = order.number();
        match client.submit(context, number, "client".to_owned()).await {
            Ok((price, server)) => Ok(Answer {
                number,
                price,
                server: server as usize,
            }),
            Err(error) => {
                if !matches!(error, RpcError::DeadlineExceeded) {
                    member.put(None);
                    member.lost.notify_one();
                }
                Err(error.into())
            }
        }
    }
}

/// Calls until the standard input ends.
pub(super) fn call(
    addresses: &[String],
    lanes: (u16, u16),
    folder: &Path,
    pause: Duration,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let member = |address: &String| {
            Arc::new(Member {
                address: address.clone(),
                client: Mutex::new(None),
                lost: Notify::new(),
            })
        };
        let members: Vec<_> = addresses.iter().map(member).collect();
        for member in members.iter().cloned() {
            tokio::spawn(async move { member.keep_connected().await });
        }
        let client = Client {
            members: Arc::new(members),
            next: Arc::default(),
        };
        call_all(client, lanes, folder, pause).await
    })
}
