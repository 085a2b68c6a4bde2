//! A web server whose handlers call a remote object, and the orderly end of both.
//!
//! The program starts the server of the object itself, requests a page, and ends.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use jstream_rmi::{Client, Server, remote};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

#[remote]
trait Quotes {
    async fn quote(&self, symbol: &str) -> Option<f64>;
}

struct Exchange;

#[remote]
impl Quotes for Exchange {
    async fn quote(&self, symbol: &str) -> Option<f64> {
        // The method runs in the runtime of the program.
        tokio::time::sleep(Duration::from_millis(1)).await;
        (symbol == "DAX").then_some(99.5)
    }
}

/// Answers `GET /quotes/SYMBOL`. If the client of the web server disconnects, this future is
/// dropped, which cancels the call.
async fn quote(
    State(quotes): State<QuotesStub>,
    Path(symbol): Path<String>,
) -> Result<String, (StatusCode, String)> {
    let quote = quotes.quote(&symbol).await;
    let quote = quote.map_err(|error| (StatusCode::BAD_GATEWAY, error.to_string()))?;
    let quote = quote.get().as_ref();
    let quote = quote.ok_or_else(|| (StatusCode::NOT_FOUND, format!("no quote of {symbol}")))?;
    Ok(quote.to_string())
}

/// Returns the answer to a request of a page.
async fn page(listener: &str, path: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(listener).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Quotes>("quotes", Arc::new(Exchange))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;

    let client = Client::connect(serving.address()).await?;
    let quotes = client.lookup::<dyn Quotes>("quotes").await?;
    let app = Router::new()
        .route("/quotes/{symbol}", get(quote))
        .with_state(quotes);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    // A long-running program waits for `tokio::signal::ctrl_c()` instead.
    let (end, ended) = oneshot::channel::<()>();
    let web = tokio::spawn(
        axum::serve(listener, app)
            .with_graceful_shutdown(async move { drop(ended.await) })
            .into_future(),
    );

    let answer = page(&address, "/quotes/DAX").await?;
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("99.5"),
        "{answer}"
    );
    let answer = page(&address, "/quotes/none").await?;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");

    // The web server ends first, because its handlers make calls.
    drop(end);
    web.await??;
    let ended = serving.shutdown(Duration::from_secs(10)).await;
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    println!("both servers have ended");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())
}
