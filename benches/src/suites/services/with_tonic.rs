//! The service with tonic (gRPC), whose channel balances over the servers with tower.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use prost::Message;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::UnaryService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::CALL_TIMEOUT;
use super::calls::Answer;
use super::ledger::{ExecutedFile, Order};
use super::process::{Version, tell};
use super::with_tokio::{Calls, Desk, call_all, runtime};
use crate::Failure;

const SUBMIT: &str = "/jstream.Desk/Submit";

#[derive(Clone, PartialEq, Message)]
struct Parcel {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(string, tag = "2")]
    client: String,
}

/// The message of the second version, whose additional field the first one ignores.
#[derive(Clone, PartialEq, Message)]
struct WeighedParcel {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(string, tag = "2")]
    client: String,
    #[prost(uint32, tag = "3")]
    weight: u32,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Receipt {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(uint64, tag = "2")]
    price: u64,
    #[prost(uint64, tag = "3")]
    server: u64,
}

#[derive(Clone)]
struct Served {
    desk: Arc<Desk>,
    version: Version,
}

type HttpAnswer = http::Response<Body>;

impl Service<http::Request<Body>> for Served {
    type Response = HttpAnswer;
    type Error = Infallible;
    type Future = BoxFuture<HttpAnswer, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let served = self.clone();
        Box::pin(async move {
            Ok(match served.version {
                Version::First => {
                    let mut grpc = tonic::server::Grpc::new(ProstCodec::default());
                    grpc.unary(First(served.desk), request).await
                }
                Version::Second => {
                    let mut grpc = tonic::server::Grpc::new(ProstCodec::default());
                    grpc.unary(Second(served.desk), request).await
                }
            })
        })
    }
}

async fn receipt(desk: Arc<Desk>, number: u64) -> Result<Response<Receipt>, Status> {
    let (price, server) = desk.execute(number).await;
    Ok(Response::new(Receipt {
        number,
        price,
        server,
    }))
}

struct First(Arc<Desk>);

impl UnaryService<Parcel> for First {
    type Response = Receipt;
    type Future = BoxFuture<Response<Receipt>, Status>;

    fn call(&mut self, request: Request<Parcel>) -> Self::Future {
        Box::pin(receipt(self.0.clone(), request.into_inner().number))
    }
}

struct Second(Arc<Desk>);

impl UnaryService<WeighedParcel> for Second {
    type Response = Receipt;
    type Future = BoxFuture<Response<Receipt>, Status>;

    fn call(&mut self, request: Request<WeighedParcel>) -> Self::Future {
        Box::pin(receipt(self.0.clone(), request.into_inner().number))
    }
}

/// Serves until the standard input ends.
pub(super) fn serve(
    version: Version,
    server: usize,
    address: &str,
    executed: ExecutedFile,
) -> Result<(), Failure> {
    let desk = Desk::new(server, executed);
    let ended = desk.follow()?;
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tell("ready")?;
        let served = Served { desk, version };
        let server = Server::builder();
        Ok(server
            .serve_with_incoming_shutdown(served, incoming, ended.notified())
            .await?)
    })
}

#[derive(Clone)]
struct Client {
    grpc: Grpc<Channel>,
    version: Version,
}

impl Client {
    async fn unary<Q: Message + 'static>(&self, request: Q) -> Result<Receipt, Failure> {
        let mut grpc = self.grpc.clone();
        let call = async {
            grpc.ready().await?;
            let path = PathAndQuery::from_static(SUBMIT);
            let answer = grpc.unary(Request::new(request), path, ProstCodec::default());
            Ok::<_, Failure>(answer.await?.into_inner())
        };
        // While no endpoint is ready, the channel waits without a limit.
        tokio::time::timeout(CALL_TIMEOUT, call).await?
    }
}

impl Calls for Client {
    async fn call(&self, order: Order) -> Result<Answer, Failure> {
        let (number, client) = (order.number(), "client".to_owned());
        let receipt = match self.version {
            Version::First => self.unary(Parcel { number, client }).await?,
            Version::Second => {
                self.unary(WeighedParcel {
                    number,
                    client,
                    weight: 2,
                })
                .await?
            }
        };
        Ok(Answer {
            number: receipt.number,
            price: receipt.price,
            server: receipt.server as usize,
        })
    }
}

/// Calls until the standard input ends.
pub(super) fn call(
    version: Version,
    addresses: &[String],
    lanes: (u16, u16),
    folder: &Path,
    pause: Duration,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let endpoint = |address: &String| -> Result<Endpoint, Failure> {
            Ok(Endpoint::from_shared(format!("http://{address}"))?
                .tcp_nodelay(true)
                .timeout(CALL_TIMEOUT)
                .connect_timeout(CALL_TIMEOUT))
        };
        let endpoints: Result<Vec<_>, _> = addresses.iter().map(endpoint).collect();
        let grpc = Grpc::new(Channel::balance_list(endpoints?.into_iter()));
        call_all(Client { grpc, version }, lanes, folder, pause).await
    })
}
