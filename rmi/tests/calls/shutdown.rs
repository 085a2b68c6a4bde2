//! Orderly shutdown of servers: running calls end, new calls are refused with an error, and nothing
//! hangs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, LocalServer, Outcome, Server, ServerOptions, Serving, remote,
};

use testing::transport::fresh;
use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Work {
    fn block(&self) -> u64;
    async fn pend(&self);
    fn add(&self, a: u64, b: u64) -> u64;
    /// Returns so many numbers when the door is open.
    fn many(&self, count: u64) -> Vec<u64>;
}

/// A door at which plain methods wait.
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

    fn many(&self, count: u64) -> Vec<u64> {
        self.door.wait();
        (0..count).collect()
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

#[test]
fn what_runs_ends_and_what_comes_is_refused() {
    let (serving, door, _) = serve("order");
    let address = serving.address().clone();
    let client = crate::connect_once(&address);
    let work = client.lookup::<dyn Work>("work").wait().unwrap();
    let blocked = {
        let work = work.clone();
        thread::spawn(move || work.block().wait().map(|reply| *reply.get()))
    };
    until(|| door.waiting.load(Ordering::SeqCst) == 1);
    let ending = thread::spawn(move || serving.shutdown(LONG).wait());

    let watch = client.reflection();
    until(|| !watch.health().wait().unwrap().get().serving);
    until(|| work.add(1, 2).wait().is_err());
    let refused = work.add(1, 2).wait().unwrap_err();
    assert!(matches!(refused, CallError::Ending { .. }), "{refused}");
    assert_eq!(refused.outcome(), Outcome::DidNotRun);
    let looked_up = client.lookup::<dyn Work>("work").wait().unwrap_err();
    let why = looked_up.to_string();
    assert!(why.contains("shutting down"), "{why}");
    Client::connect(&address).wait().unwrap_err();
    assert!(!ending.is_finished());

    door.open();
    assert_eq!(blocked.join().unwrap().unwrap(), 7);
    let ended = ending.join().unwrap();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    did_not_run(&work);
}

/// Checks that a call fails because the server has shut down, and says that it did not run.
fn did_not_run(work: &WorkStub) {
    let refused = work.add(1, 2).wait().unwrap_err();
    assert!(matches!(refused, CallError::Ending { .. }), "{refused}");
    assert_eq!(refused.outcome(), Outcome::DidNotRun);
    assert!(refused.can_be_repeated());
    assert!(refused.to_string().contains("shut down"), "{refused}");
}

#[test]
fn calls_after_an_orderly_shutdown_did_not_run() {
    for address in ["inproc", "tcp", "uds", "shm"].map(fresh) {
        let server = Server::default();
        let object = Arc::new(Plain::default());
        server.bind::<dyn Work>("work", object).unwrap();
        let serving = server.listen(&address).unwrap();
        let client = crate::connect_once(serving.address());
        let work = client.lookup::<dyn Work>("work").wait().unwrap();
        assert_eq!(*work.add(1, 2).wait().unwrap().get(), 3);
        let ended = serving.shutdown(LONG).wait();
        assert_eq!((ended.cut_off, ended.abandoned), (0, false), "{address}");
        // The first call finds out that the server is gone, the others know.
        for _ in 0..3 {
            did_not_run(&work);
        }
        let looked_up = client.lookup::<dyn Work>("work").wait().unwrap_err();
        assert!(looked_up.to_string().contains("shut down"), "{looked_up}");
    }
}

/// The server ends as soon as the last method has returned. Its answer, and the announcement that
/// later calls do not run, are in the receive queue of a client that has not looked, or that looks
/// just then.
#[test]
fn an_answer_arrives_in_the_instant_of_the_end() {
    for round in 0..20 {
        for address in ["inproc", "tcp", "uds", "shm"].map(fresh) {
            let server = Server::default();
            let object = Plain::default();
            let door = object.door.clone();
            server.bind::<dyn Work>("work", Arc::new(object)).unwrap();
            let serving = server.listen(&address).unwrap();
            let clients = [(); 2].map(|()| crate::connect_once(serving.address()));
            let [one, other] =
                clients.map(|client| client.lookup::<dyn Work>("work").wait().unwrap());
            let unread = one.block();
            // The server keeps a large result until the client has fetched it.
            let count = if round % 2 == 0 { 1 } else { 1 << 17 };
            let looking = thread::spawn({
                let other = other.clone();
                move || other.many(count).wait().map(|all| all.get().len() as u64)
            });
            until(|| door.waiting.load(Ordering::SeqCst) == 2);
            let ending = thread::spawn(move || serving.shutdown(LONG).wait());
            if round % 4 < 2 {
                until(|| other.add(1, 2).wait().is_err());
            }
            door.open();
            let ended = ending.join().unwrap();
            assert_eq!((ended.cut_off, ended.abandoned), (0, false), "{address}");
            let looked = looking.join().unwrap();
            assert!(
                matches!(looked, Ok(n) if n == count),
                "{address} {round} {count} {looked:?}"
            );
            assert_eq!(*unread.wait().unwrap().get(), 7, "{address}");
            did_not_run(&one);
            did_not_run(&other);
        }
    }
}

#[test]
fn what_does_not_end_is_ended_or_left() {
    let (serving, door, dropped) = serve("cut-off");
    let client = crate::connect_once(serving.address());
    let work = client.lookup::<dyn Work>("work").wait().unwrap();
    let pending = work.pend();
    let blocked = {
        let work = work.clone();
        thread::spawn(move || work.block().wait().map(|reply| *reply.get()))
    };
    until(|| door.waiting.load(Ordering::SeqCst) == 1);
    let ended = serving.shutdown(Duration::from_millis(50)).wait();
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
    let clients = [(); 3].map(|()| crate::connect_once(serving.address()));
    for client in &clients {
        client.lookup::<dyn Work>("work").wait().unwrap();
    }
    let ended = serving.shutdown(Duration::MAX).wait();
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
    let client = crate::connect_once(serving.address());
    let work = client.lookup::<dyn Work>("work").wait().unwrap();
    let pending = work.pend();
    assert_eq!(*work.add(1, 2).wait().unwrap().get(), 3);
    let ended = serving.shutdown(Duration::from_millis(50)).wait();
    assert_eq!(ended.cut_off, 1);
    assert_eq!(pending.wait().unwrap_err().outcome(), Outcome::MayHaveRun);
    server.join().unwrap();
}
