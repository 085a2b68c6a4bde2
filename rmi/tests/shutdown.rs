//! Servers that end in order: what runs ends, what comes is told so, and nothing hangs.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, LocalServer, Outcome, Server, ServerOptions, Serving, remote,
};

/// Long enough for any machine; only what hangs takes it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Work {
    fn block(&self) -> u64;
    async fn pend(&self);
    fn add(&self, a: u64, b: u64) -> u64;
}

/// A door that plain methods wait at.
#[derive(Default)]
struct Door {
    open: Mutex<bool>,
    changed: Condvar,
    waiting: AtomicU64,
}

impl Door {
    fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

#[derive(Default)]
struct Plain {
    door: Arc<Door>,
    dropped: Arc<AtomicBool>,
}

struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[remote]
impl Work for Plain {
    fn block(&self) -> u64 {
        self.door.wait();
        7
    }

    async fn pend(&self) {
        let _flag = Flag(self.dropped.clone());
        std::future::pending().await
    }

    fn add(&self, a: u64, b: u64) -> u64 {
        a + b
    }
}

fn serve(name: &str) -> (Serving, Arc<Door>, Arc<AtomicBool>) {
    let server = Server::default();
    let object = Plain::default();
    let (door, dropped) = (object.door.clone(), object.dropped.clone());
    server.bind::<dyn Work>("work", Arc::new(object)).unwrap();
    let address = format!("inproc://shutdown-{name}").parse().unwrap();
    (server.listen(&address).unwrap(), door, dropped)
}

fn until(happens: impl Fn() -> bool) {
    while !happens() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_runs_ends_and_what_comes_is_refused() {
    let (serving, door, _) = serve("order");
    let address = serving.address().clone();
    let client = Client::connect(&address).unwrap();
    let work = client.lookup::<dyn Work>("work").unwrap();
    let blocked = {
        let work = work.clone();
        thread::spawn(move || work.block().wait().map(|reply| *reply.get()))
    };
    until(|| door.waiting.load(Ordering::SeqCst) == 1);
    let ending = thread::spawn(move || serving.shutdown(LONG));

    let watch = client.reflection();
    until(|| !watch.health().wait().unwrap().get().serving);
    until(|| work.add(1, 2).wait().is_err());
    let refused = work.add(1, 2).wait().unwrap_err();
    assert!(matches!(refused, CallError::Ending { .. }), "{refused}");
    assert_eq!(refused.outcome(), Outcome::DidNotRun);
    let looked_up = client.lookup::<dyn Work>("work").unwrap_err();
    let why = looked_up.source().unwrap().to_string();
    assert!(why.contains("the peer ends"), "{why}");
    Client::connect(&address).unwrap_err();
    assert!(!ending.is_finished());

    door.open();
    assert_eq!(blocked.join().unwrap().unwrap(), 7);
    let ended = ending.join().unwrap();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    let lost = work.add(1, 2).wait().unwrap_err();
    assert_ne!(lost.outcome(), Outcome::Ran);
}

#[test]
fn what_does_not_end_is_ended_or_left() {
    let (serving, door, dropped) = serve("cut-off");
    let client = Client::connect(serving.address()).unwrap();
    let work = client.lookup::<dyn Work>("work").unwrap();
    let pending = work.pend();
    let blocked = {
        let work = work.clone();
        thread::spawn(move || work.block().wait().map(|reply| *reply.get()))
    };
    until(|| door.waiting.load(Ordering::SeqCst) == 1);
    let ended = serving.shutdown(Duration::from_millis(50));
    assert_eq!((ended.cut_off, ended.abandoned), (2, true));
    for error in [
        pending.wait().unwrap_err(),
        blocked.join().unwrap().unwrap_err(),
    ] {
        assert!(matches!(error, CallError::Lost { .. }), "{error}");
        assert_eq!(error.outcome(), Outcome::MayHaveRun);
    }
    until(|| dropped.load(Ordering::SeqCst));
    door.open();
}

#[test]
fn an_idle_server_ends_at_once() {
    let (serving, ..) = serve("idle");
    let clients = [(); 3].map(|()| Client::connect(serving.address()).unwrap());
    for client in &clients {
        client.lookup::<dyn Work>("work").unwrap();
    }
    let ended = serving.shutdown(Duration::MAX);
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
}

#[test]
fn a_server_of_one_thread_ends_in_order() {
    let (told, address) = mpsc::channel();
    let server = thread::spawn(move || {
        let server = LocalServer::new(ServerOptions::default());
        let object = Arc::new(Plain::default());
        server.bind::<dyn Work>("work", object).unwrap();
        let serving = server.listen(&"inproc://shutdown-local".parse().unwrap());
        told.send(serving.unwrap()).unwrap();
        server.serve();
    });
    let serving = address.recv().unwrap();
    let client = Client::connect(serving.address()).unwrap();
    let work = client.lookup::<dyn Work>("work").unwrap();
    let pending = work.pend();
    assert_eq!(*work.add(1, 2).wait().unwrap().get(), 3);
    let ended = serving.shutdown(Duration::from_millis(50));
    assert_eq!(ended.cut_off, 1);
    assert_eq!(pending.wait().unwrap_err().outcome(), Outcome::MayHaveRun);
    server.join().unwrap();
}

/// Notes who has called.
#[derive(Default)]
struct Register {
    ran: Mutex<HashMap<u64, u64>>,
}

#[remote]
trait Registers {
    fn note(&self, number: u64) -> u64;
    async fn note_later(&self, number: u64) -> u64;
}

#[remote]
impl Registers for Register {
    fn note(&self, number: u64) -> u64 {
        *self.ran.lock().unwrap().entry(number).or_default() += 1;
        number
    }

    async fn note_later(&self, number: u64) -> u64 {
        jstream_transport::active::yield_now().await;
        self.note(number)
    }
}

/// What its caller was told of each call.
fn call_until(
    address: &jstream_rmi::Address,
    numbers: &AtomicU64,
    done: &AtomicBool,
) -> Vec<(u64, Outcome)> {
    let mut told = Vec::new();
    while !done.load(Ordering::SeqCst) {
        let Ok(client) = Client::connect(address) else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let Ok(register) = client.lookup::<dyn Registers>("register") else {
            continue;
        };
        loop {
            let [first, second, third] = [(); 3].map(|()| numbers.fetch_add(1, Ordering::SeqCst));
            let calls = [
                (first, register.note(first)),
                (second, register.note_later(second)),
                (third, register.note(third)),
            ];
            let mut failed = false;
            for (number, call) in calls {
                told.push(match call.wait() {
                    Ok(reply) => {
                        assert_eq!(*reply.get(), number);
                        (number, Outcome::Ran)
                    }
                    Err(error) => {
                        failed = true;
                        (number, error.outcome())
                    }
                });
            }
            if failed || done.load(Ordering::SeqCst) {
                break;
            }
        }
    }
    told
}

#[test]
fn a_restart_under_load_leaves_no_call_without_an_outcome() {
    let server = Server::default();
    let register = Arc::new(Register::default());
    server
        .bind::<dyn Registers>("register", register.clone())
        .unwrap();
    let mut serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let address = serving.address().clone();
    let (numbers, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let told: Vec<_> = thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| call_until(&address, &numbers, &done)))
            .collect();
        for _ in 0..5 {
            let before = numbers.load(Ordering::SeqCst);
            until(|| numbers.load(Ordering::SeqCst) > before + 100);
            let ended = serving.shutdown(LONG);
            assert_eq!((ended.cut_off, ended.abandoned), (0, false));
            serving = server.listen(&address).unwrap();
        }
        done.store(true, Ordering::SeqCst);
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    let ran = register.ran.lock().unwrap();
    let count = |number: &u64| ran.get(number).copied().unwrap_or(0);
    for (number, outcome) in &told {
        match outcome {
            Outcome::Ran => assert_eq!(count(number), 1, "call {number}"),
            Outcome::DidNotRun => assert_eq!(count(number), 0, "call {number}"),
            Outcome::MayHaveRun => assert!(count(number) <= 1, "call {number}"),
        }
    }
    assert_eq!(told.len() as u64, numbers.load(Ordering::SeqCst));
    let well = told
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::Ran)
        .count();
    assert!(well > told.len() / 2, "{well} of {}", told.len());
}
