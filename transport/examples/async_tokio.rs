//! Clients and a server as tasks of a single tokio thread. The futures of endpoints need no
//! particular runtime, so tokio only has to poll them.

use std::error::Error;
use std::time::Duration;

use jstream::{Pool, Reader, Transportable, Writer};
use jstream_transport::{Address, Endpoint, Header, Listener, Options, connect, listen};
use tokio::task::{spawn_blocking, spawn_local};
use tokio::time::timeout;

#[derive(Transportable)]
struct Question {
    text: String,
}

#[derive(Transportable)]
struct Answer {
    words: u64,
    longest: String,
}

type Failure = Box<dyn Error + Send + Sync>;

const CLIENTS: usize = 3;

/// Answers questions until the client closes.
async fn serve(client: Endpoint, pool: Pool) -> Result<(), Failure> {
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    while let Ok(message) = client.post_recv(None).await {
        let question = reader.read::<Question>(message.payload)?;
        let words = question.get().text.split_whitespace();
        let answer = Answer {
            words: words.clone().count() as u64,
            longest: words.max_by_key(|word| word.len()).unwrap_or("").to_owned(),
        };
        // Simulates work. Other clients are served meanwhile.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let reply = writer.write_to(&answer, &pool)?;
        client.post_send(message.header, reply).await?;
    }
    Ok(())
}

async fn accept(listener: Listener, pool: Pool) -> Result<(), Failure> {
    for _ in 0..CLIENTS {
        let incoming = listener.accept_async().await?;
        // Establishing waits for the handshake of the peer.
        let client = spawn_blocking(move || incoming.establish()).await??;
        spawn_local(serve(client, pool.clone()));
    }
    Ok(())
}

async fn ask(number: usize, address: Address, options: Options) -> Result<(), Failure> {
    let pool = options.pool.clone();
    let server = spawn_blocking(move || connect(&address, &options)).await??;
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    for text in ["to be or not to be", "receive buffers full of objects"] {
        let question = Question {
            text: text.to_owned(),
        };
        let message = writer.write_to(&question, &pool)?;
        server.post_send(Header::new(1, [0; 3]), message).await?;
        // A receive that is dropped and repeated loses no message.
        let mut patience = 0usize;
        let reply = loop {
            match timeout(Duration::from_millis(5), server.post_recv(None)).await {
                Ok(reply) => break reply?,
                Err(_) => patience = patience.saturating_add(1),
            }
        };
        let answer = reader.read::<Answer>(reply.payload)?;
        let answer = answer.get();
        println!(
            "client {number}: {text:?} has {} words, the longest is {:?}; the answer arrived after {patience} timeouts",
            answer.words, answer.longest
        );
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let options = Options::new(Pool::default());
    let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
    let address = listener.local_address().clone();
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async move {
        let accepting = spawn_local(accept(listener, options.pool.clone()));
        let clients =
            (0..CLIENTS).map(|number| spawn_local(ask(number, address.clone(), options.clone())));
        for client in clients.collect::<Vec<_>>() {
            client.await??;
        }
        accepting.await?
    })?;
    println!("{CLIENTS} clients were answered by one thread");
    Ok(())
}
