//! Remote calls with tonic (gRPC). Messages and methods are written by hand rather than generated.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

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

use super::case::{Case, What};
use super::pair::Serving;
use super::service::{self, Given};
use super::subject::Caller;
use super::with_tokio::{self, Remote};
use crate::Failure;

#[derive(Clone, Copy, PartialEq, Message)]
struct Nothing {}

#[derive(Clone, PartialEq, Message)]
struct Numbers {
    #[prost(double, repeated, tag = "1")]
    numbers: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Sum {
    #[prost(double, tag = "1")]
    sum: f64,
}

#[derive(Clone, PartialEq, Message)]
struct Item {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(float, repeated, tag = "3")]
    scores: Vec<f32>,
}

#[derive(Clone, PartialEq, Message)]
struct Items {
    #[prost(message, repeated, tag = "1")]
    items: Vec<Item>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Tally {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "2")]
    sum: f64,
}

fn tally(items: Items) -> Tally {
    let mut tally = service::Tally::default();
    for item in items.items {
        tally.add(item.id, item.name.as_bytes(), item.scores.into_iter());
    }
    let service::Tally { count, sum } = tally;
    Tally { count, sum }
}

const NULL: &str = "/jstream.Service/Null";
const SUM: &str = "/jstream.Service/Sum";
const STRUCTS: &str = "/jstream.Service/Structs";

/// Maximum message size in bytes, sufficient for the largest case. The default is too small.
const LARGEST: usize = 64 << 20;
/// Flow-control window in bytes. It holds a complete message, so neither side waits for credit.
const WINDOW: u32 = 8 << 20;

/// Dispatcher of the methods by their paths.
#[derive(Clone, Copy)]
struct Plain;

type Answer = http::Response<Body>;

impl Service<http::Request<Body>> for Plain {
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<Answer, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match request.uri().path() {
            NULL => unary(request, |Nothing {}| Nothing {}),
            SUM => unary(request, |Numbers { numbers }| Sum {
                sum: service::sum(&numbers),
            }),
            STRUCTS => unary(request, tally),
            _ => Box::pin(ready(Ok(
                Status::unimplemented("no such method").into_http()
            ))),
        }
    }
}

fn unary<Q, R>(request: http::Request<Body>, method: fn(Q) -> R) -> BoxFuture<Answer, Infallible>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    Box::pin(async move {
        let grpc = tonic::server::Grpc::new(ProstCodec::default());
        let mut grpc = grpc.max_decoding_message_size(LARGEST);
        Ok(grpc.unary(Method(method), request).await)
    })
}

struct Method<Q, R>(fn(Q) -> R);

impl<Q, R> UnaryService<Q> for Method<Q, R> {
    type Response = R;
    type Future = Ready<Result<Response<R>, Status>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        ready(Ok(Response::new((self.0)(request.into_inner()))))
    }
}

/// Accepts and serves connections.
pub(super) fn serve(case: &Case) -> Result<Serving, Failure> {
    #[cfg(feature = "tls")]
    let is_encrypted = case.is_encrypted();
    with_tokio::serve(case, move |listener| async move {
        let incoming = TcpIncoming::from(listener.into_tcp()?).with_nodelay(Some(true));
        let mut server = Server::builder()
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        server = server.max_frame_size(1 << 20);
        #[cfg(feature = "tls")]
        if is_encrypted {
            server = server.tls_config(tls::server()?)?;
        }
        Ok(server.serve_with_incoming(Plain, incoming).await?)
    })
}

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    with_tokio::join(case, |arguments| async move {
        let scheme = if case.is_encrypted() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        #[cfg(feature = "tls")]
        let endpoint = if case.is_encrypted() {
            endpoint.tls_config(tls::client()?)?
        } else {
            endpoint
        };
        let channel = endpoint.connect().await?;
        let item = |item: &service::Item<'_>| Item {
            id: item.id,
            name: item.name.to_owned(),
            scores: item.scores.to_vec(),
        };
        let items = arguments.items.iter().map(item).collect();
        Ok(Client {
            what: case.what,
            grpc: Grpc::new(channel),
            numbers: Numbers {
                numbers: arguments.numbers,
            },
            items: Items { items },
        })
    })
}

struct Client {
    what: What,
    grpc: Grpc<Channel>,
    numbers: Numbers,
    items: Items,
}

impl Client {
    async fn unary<Q, R>(&self, path: &'static str, request: Q) -> Result<R, Failure>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        let mut grpc = self.grpc.clone();
        grpc.ready().await?;
        let path = PathAndQuery::from_static(path);
        let answer = grpc.unary(Request::new(request), path, ProstCodec::default());
        Ok(answer.await?.into_inner())
    }
}

impl Remote for Client {
    async fn call(&self) -> Result<Given, Failure> {
        // A call takes ownership of its arguments.
        Ok(match self.what {
            What::Sum(_) => {
                let Sum { sum } = self.unary(SUM, self.numbers.clone()).await?;
                Given::Sum(sum)
            }
            What::Structs(_) => {
                let Tally { count, sum } = self.unary(STRUCTS, self.items.clone()).await?;
                Given::Tally(service::Tally { count, sum })
            }
            _ => {
                let Nothing {} = self.unary(NULL, Nothing {}).await?;
                Given::Nothing
            }
        })
    }
}

/// Certificates of the run in the form that tonic expects.
#[cfg(feature = "tls")]
mod tls {
    use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

    use crate::Failure;
    use crate::suites::rmi::certificates::{Certificates, HOST};

    fn parts() -> Result<(Identity, Certificate), Failure> {
        let [certificate, key, root] = Certificates::of_run()?.pem();
        let identity = Identity::from_pem(certificate, key);
        Ok((identity, Certificate::from_pem(root)))
    }

    pub(super) fn server() -> Result<ServerTlsConfig, Failure> {
        let (identity, root) = parts()?;
        Ok(ServerTlsConfig::new()
            .identity(identity)
            .client_ca_root(root))
    }

    pub(super) fn client() -> Result<ClientTlsConfig, Failure> {
        let (identity, root) = parts()?;
        Ok(ClientTlsConfig::new()
            .identity(identity)
            .ca_certificate(root)
            .domain_name(HOST))
    }
}
