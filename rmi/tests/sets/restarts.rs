//! Servers of a set that are stopped, shut down and started again, in this process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use jstream_rmi::{Address, Outcome, Remote, Server, remote};
use testing::until;

use crate::{LONG, Ledger, Running, Shop, addresses, open, set_of, start_all};

/// Calls from several threads while `restart` replaces one server after the other.
fn restarted(addresses: &[Address], restart: impl Fn(&mut Running)) -> Vec<Outcome> {
    let ledger: Arc<Ledger> = Arc::default();
    let mut running = start_all(addresses, &ledger);
    let set = set_of(addresses);
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    let (done, next) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let callers: Vec<_> = (0..3)
            .map(|_| {
                let (shop, done, next, ledger) = (shop.clone(), &done, &next, &ledger);
                scope.spawn(move || {
                    let mut failed = Vec::new();
                    while !done.load(Ordering::SeqCst) {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        let outcome = shop.buy(number).wait().map(|reply| *reply.get());
                        ledger.check(number, &outcome);
                        failed.extend(outcome.err().map(|error| error.outcome()));
                        // Idempotent calls hide the loss of a connection.
                        shop.look().wait().unwrap();
                    }
                    failed
                })
            })
            .collect();
        for round in 0..2 {
            for (id, address) in (0..).zip(addresses) {
                until(|| open(&set) == addresses.len());
                let so_far = next.load(Ordering::SeqCst);
                until(|| next.load(Ordering::SeqCst) > so_far + 50);
                restart(&mut running[id]);
                let so_far = next.load(Ordering::SeqCst);
                until(|| next.load(Ordering::SeqCst) > so_far + 50);
                running[id] = Running::start(address, round * 10 + id as u64, &ledger);
            }
        }
        done.store(true, Ordering::SeqCst);
        let failed = callers.into_iter().map(|caller| caller.join().unwrap());
        failed.flatten().collect()
    })
}

#[test]
fn no_call_is_lost_while_servers_are_shut_down_in_turn() {
    for addresses in addresses("shut-down", 3) {
        let failed = restarted(&addresses, |running| {
            let ended = running.serving.take().unwrap().shutdown(LONG).wait();
            assert_eq!((ended.cut_off, ended.abandoned), (0, false));
        });
        assert_eq!(failed, []);
    }
}

#[test]
fn outcomes_are_true_while_servers_are_stopped_in_turn() {
    for addresses in addresses("stopped", 3) {
        let failed = restarted(&addresses, Running::stop);
        // A call that did not run was made at another member.
        assert!(failed.iter().all(|outcome| *outcome == Outcome::MayHaveRun));
    }
}

#[remote]
trait Feed {
    fn subscribe(&self, observer: Remote<dyn Observer>);
}

#[remote]
trait Observer {
    fn notify(&self);
}

#[derive(Default)]
struct Subscribed(Mutex<Option<Remote<dyn Observer>>>);

#[remote]
impl Feed for Subscribed {
    fn subscribe(&self, observer: Remote<dyn Observer>) {
        *self.0.lock().unwrap() = Some(observer);
    }
}

/// Blocks each call while the gate is locked.
#[derive(Default)]
struct Blocking {
    has_begun: AtomicBool,
    gate: Mutex<()>,
}

#[remote]
impl Observer for Blocking {
    fn notify(&self) {
        self.has_begun.store(true, Ordering::SeqCst);
        drop(self.gate.lock().unwrap());
    }
}

#[test]
fn members_are_connected_while_a_method_of_the_program_blocks() {
    let addresses = &addresses("blocked", 2)[0];
    let ledger = Arc::default();
    let mut running = start_all(addresses, &ledger);
    let feeds: [Arc<Subscribed>; 2] = Default::default();
    let bind = |running: &Running, id: usize| {
        let feed = feeds[id].clone();
        running.server.bind::<dyn Feed>("feed", feed).unwrap();
    };
    bind(&running[0], 0);
    bind(&running[1], 1);
    let set = set_of(addresses);
    let feed = set.get::<dyn Feed>("feed");
    assert!(set.ready().wait());
    until(|| open(&set) == 2);

    let blocking: Arc<Blocking> = Arc::default();
    let held = blocking.gate.lock().unwrap();
    let export = Server::default().export::<dyn Observer>(blocking.clone());
    feed.subscribe(export.into_remote()).wait().unwrap();
    let (caller, observer) = (0..)
        .zip(&feeds)
        .find_map(|(id, feed)| Some((id, feed.0.lock().unwrap().take()?)))
        .unwrap();
    let call = thread::spawn(move || observer.notify().wait().map(drop));
    // The method runs although the program makes no call.
    until(|| blocking.has_begun.load(Ordering::SeqCst));

    let other = 1 - caller;
    running[other].stop();
    until(|| open(&set) == 1);
    running[other] = Running::start(&addresses[other], 7, &ledger);
    bind(&running[other], other);
    until(|| open(&set) == 2);
    assert!(!call.is_finished());
    drop(held);
    call.join().unwrap().unwrap();
}

#[test]
fn a_set_that_was_dropped_leaves_nothing() {
    for addresses in addresses("dropped", 2) {
        let ledger = Arc::default();
        let running = start_all(&addresses, &ledger);
        let set = set_of(&addresses);
        let shop = set.get::<dyn Shop>("shop");
        assert!(set.ready().wait());
        until(|| open(&set) == 2);
        drop(set);
        shop.look().wait().unwrap();
        drop(shop);
        until(|| running.iter().all(|one| one.connections() == 0));
    }
}
