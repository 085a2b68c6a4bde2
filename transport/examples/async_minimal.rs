//! Endpoints with a minimal executor: a thread that parks until it is woken.

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use jstream::Pool;
use jstream_transport::{Endpoint, Header, Options, connect, listen};

type Failure = Box<dyn Error + Send + Sync>;

const ROUNDS: u32 = 10_000;
const SIZES: [usize; 3] = [8, 1024, 65_536];

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Unpark(thread::current())).into();
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Returns every message in the buffer that it arrived in.
async fn echo(client: Endpoint) -> Result<(), Failure> {
    while let Ok(message) = client.post_recv(None).await {
        client.post_send(message.header, message.payload).await?;
    }
    Ok(())
}

async fn ping(server: &Endpoint, size: usize, pool: &Pool) -> Result<Duration, Failure> {
    let mut ball = pool.take(size)?.copy_from(&vec![7; size])?;
    let start = Instant::now();
    for round in 0..ROUNDS {
        let header = Header::new(1, [u64::from(round), 0, 0]);
        // The operation owns the buffer, so a leaked future never leaves the device with freed
        // memory.
        server.post_send(header, ball).await?;
        let back = server.post_recv(None).await?;
        assert_eq!(back.header.words, [u64::from(round), 0, 0]);
        ball = back.payload;
    }
    Ok(start.elapsed())
}

fn main() -> Result<(), Failure> {
    let options = Options::new(Pool::default());
    for uri in ["inproc://minimal", "tcp://127.0.0.1:0"] {
        let listener = listen(&uri.parse()?, &options)?;
        let address = listener.local_address().clone();
        let echoing = thread::spawn(move || {
            let incoming = block_on(listener.accept_async())?;
            block_on(echo(incoming.establish()?))
        });
        let server = connect(&address, &options)?;
        for size in SIZES {
            let took = block_on(ping(&server, size, &options.pool))?;
            let each = took.div_f64(f64::from(ROUNDS));
            println!("{address}: {size} bytes, round trip in {each:.1?}");
        }
        drop(server);
        echoing.join().map_err(|_| "echoing panicked")??;
    }
    Ok(())
}
