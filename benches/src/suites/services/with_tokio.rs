//! Common parts of the peers: a runtime of one thread in each process.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::calls::{Answer, Lane, Present, save};
use super::ledger::{End, ExecutedFile, Order};
use super::process::{each_line, tell};
use crate::Failure;

pub(super) fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// The object of a server.
#[derive(Debug)]
pub(super) struct Desk {
    executed: ExecutedFile,
    server: u64,
    /// Time that each call takes, in microseconds.
    delay_us: AtomicU64,
}

impl Desk {
    pub(super) fn new(server: usize, executed: ExecutedFile) -> Arc<Self> {
        Arc::new(Self {
            executed,
            server: server as u64,
            delay_us: AtomicU64::new(0),
        })
    }

    /// Executes an order. Returns its price, or a wrong one if it can't be recorded, and the number
    /// of the server.
    pub(super) async fn execute(&self, number: u64) -> (u64, u64) {
        let delay = self.delay_us.load(Ordering::Relaxed);
        if delay > 0 {
            tokio::time::sleep(Duration::from_micros(delay)).await;
        }
        match self.executed.record(number) {
            Ok(()) => (Order::price(number), self.server),
            Err(_) => (0, self.server),
        }
    }

    /// Follows the standard input on a thread of its own. Notifies when it ends.
    pub(super) fn follow(self: &Arc<Self>) -> Result<Arc<Notify>, Failure> {
        let (desk, ended) = (self.clone(), Arc::new(Notify::new()));
        let notify = ended.clone();
        thread::Builder::new().spawn(move || {
            each_line(|line| {
                desk.delay_us
                    .store(line.parse().unwrap_or(0), Ordering::Relaxed)
            });
            notify.notify_one();
        })?;
        Ok(ended)
    }
}

/// Client of a peer.
pub(super) trait Calls: Clone + Send + 'static {
    /// Makes a call.
    fn call(&self, order: Order) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

/// Calls with as many tasks as there are lanes, until the standard input ends.
pub(super) async fn call_all<C: Calls>(
    client: C,
    (first_lane, count): (u16, u16),
    folder: &Path,
    pause: Duration,
) -> Result<(), Failure> {
    let present: &'static Present = Box::leak(Box::default());
    thread::Builder::new().spawn(|| present.follow())?;
    tell("ready")?;
    let lanes = (first_lane..first_lane + count).map(|lane| {
        let (client, lane) = (client.clone(), Lane::open(folder, lane, present));
        async move {
            let called = tokio::spawn(call_in_lane(client, lane?, present, pause));
            called.await?
        }
    });
    save(folder, try_join_all(lanes).await?)
}

async fn call_in_lane<C: Calls>(
    client: C,
    mut lane: Lane<'static>,
    present: &Present,
    pause: Duration,
) -> Result<Lane<'static>, Failure> {
    while !present.is_over() {
        let begun = lane.begin();
        let ended = client.call(begun.order).await;
        // The errors of the peers do not say whether the call ran.
        lane.end(begun, ended.map_err(|_| End::MayHaveRun))?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    Ok(lane)
}
