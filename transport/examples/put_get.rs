//! A shared board. Workers put their results directly into the memory of the coordinator, which
//! receives a notice of each put. They get the results of the other workers from there.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use jstream::EmptyBuffer;
use jstream_transport::{
    Address, Endpoint, Header, Options, RecvError, RemoteKey, Rights, Window, connect, listen,
};

const WORKERS: u64 = 4;
const ROUNDS: u64 = 100;
/// Size in bytes of a worker's part of the board.
const SHARE: usize = 64 << 10;

type Failure = Box<dyn Error + Send + Sync>;

/// Runs a worker: puts its own part and gets that of its neighbour, repeatedly.
fn work(number: u64, address: &Address) -> Result<u64, Failure> {
    let endpoint = connect(address, &Options::default())?;
    let key = *endpoint.recv::<RemoteKey>()?.get();
    let at = |number: u64| number.saturating_mul(SHARE as u64);
    let neighbour = number.saturating_add(1).checked_rem(WORKERS).unwrap_or(0);
    let mut theirs = vec![0; SHARE];
    let mut seen = 0u64;
    for round in 1..=ROUNDS {
        let mine = vec![u8::try_from(round)?; SHARE];
        endpoint
            .remote()
            .put_notify(&key, at(number), &mine, Header::tagged(number))?;
        endpoint
            .remote()
            .get_into(&key, at(neighbour), &mut theirs)?;
        // The neighbour may be in the middle of a put. Then its part has data of two rounds.
        let first = theirs.first().copied().unwrap_or(0);
        let last = theirs.last().copied().unwrap_or(0);
        seen = seen.saturating_add(u64::from(first.max(last)));
    }
    Ok(seen)
}

/// Receives the notices of one worker, and serves its puts and gets meanwhile. Returns the number
/// of notices.
fn serve(endpoint: &Endpoint, board: &Window) -> Result<u64, Failure> {
    let exposure = endpoint.remote().expose(board, Rights::Both)?;
    endpoint.send(&exposure.key())?;
    let mut notices = 0u64;
    loop {
        match endpoint.recv_message_within(Duration::from_secs(30)) {
            Ok(_) => notices = notices.saturating_add(1),
            Err(RecvError::Closed { .. }) => return Ok(notices),
            Err(error) => return Err(error.into()),
        }
    }
}

fn main() -> Result<(), Failure> {
    let listener = listen(&"tcp://127.0.0.1:0".parse()?, &Options::default())?;
    let address = listener.local_address().clone();
    let board = Window::from(EmptyBuffer::heap(SHARE.saturating_mul(WORKERS.try_into()?)));
    let start = Instant::now();
    let notices = thread::scope(|scope| {
        let (address, board) = (&address, &board);
        let workers = (0..WORKERS).map(|number| scope.spawn(move || work(number, address)));
        let workers: Vec<_> = workers.collect();
        let servers = (0..WORKERS).map(|_| {
            let endpoint = listener.accept()?.establish()?;
            Ok(scope.spawn(move || serve(&endpoint, board)))
        });
        let servers = servers.collect::<Result<Vec<_>, Failure>>()?;
        for worker in workers {
            worker.join().map_err(|_| "a worker panicked")??;
        }
        let mut notices = 0u64;
        for server in servers {
            let served = server.join().map_err(|_| "a server panicked")??;
            notices = notices.saturating_add(served);
        }
        Ok::<_, Failure>(notices)
    })?;
    let is_full = board.with(|board| board.iter().all(|byte| u64::from(*byte) == ROUNDS));
    assert!(is_full, "all workers have put the last round");
    println!(
        "{notices} puts of {} KiB, each with a notice, and as many gets in {:.1?}.",
        SHARE >> 10,
        start.elapsed(),
    );
    Ok(())
}
