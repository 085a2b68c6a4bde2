//! Clients that disconnect while their references are given, renewed and released. None of these
//! may stay counted.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, CallInfo, Client, ClientOptions, Denied, Interceptor, Interceptors, Remote, Server,
    ServerOptions, Serving, Stub, Watch, WeakServer, remote,
};

use testing::until;

#[remote]
trait Part {
    fn number(&self) -> u64;
}

struct Number(u64);

impl Part for Number {
    fn number(&self) -> u64 {
        self.0
    }
}

#[remote]
trait Maker {
    fn make(&self, count: u64) -> Vec<Remote<dyn Part>>;
    fn take(&self, all: Vec<Remote<dyn Part>>) -> u64;
    fn hold(&self, one: Remote<dyn Part>, other: Option<Remote<dyn Part>>);
}

/// The method `hold` ends when nobody holds this.
static HELD: Mutex<()> = Mutex::new(());

struct Plain(WeakServer);

#[remote]
impl Maker for Plain {
    fn make(&self, count: u64) -> Vec<Remote<dyn Part>> {
        let part = |number| {
            let export = self
                .0
                .upgrade()
                .unwrap()
                .export::<dyn Part>(Arc::new(Number(number)));
            export.into_remote()
        };
        (0..count).map(part).collect()
    }

    fn take(&self, all: Vec<Remote<dyn Part>>) -> u64 {
        all.len() as u64
    }

    fn hold(&self, _: Remote<dyn Part>, _: Option<Remote<dyn Part>>) {
        drop(HELD.lock().unwrap());
    }
}

/// Number of clients. Each call gives a client `GIVEN` references.
const ROUNDS: u64 = 200;
const GIVEN: u64 = 125;

/// Lease time, so short that renewals are always in flight.
const LEASE: Duration = Duration::from_millis(20);

fn serve(address: &str) -> (Server, Serving) {
    let mut options = ServerOptions::default();
    options.lease = LEASE;
    let server = Server::new(options);
    let maker = Arc::new(Plain(server.downgrade()));
    server.bind::<dyn Maker>("maker", maker).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    (server, serving)
}

/// Connects a client that receives some references, drops some, and disconnects in one of several
/// ways.
fn come_and_go(serving: &Serving, own: &Server, round: u64) {
    let mut options = ClientOptions::default();
    options.lease = LEASE;
    let client = Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    let maker = client.lookup::<dyn Maker>("maker").wait().unwrap();
    let mut kept = maker.make(GIVEN).wait().unwrap();
    let more = [(); 3].map(|()| maker.make(GIVEN));
    let export = own.export::<dyn Part>(Arc::new(Number(round)));
    let given = maker.take(vec![export.remote(); 10]);
    // Some references are released while others arrive, some when all have arrived, and some with
    // the connection.
    kept.truncate(usize::try_from(round % GIVEN).unwrap());
    let [one, other, last] = more;
    match round % 5 {
        0 => drop((one, other, last)),
        1 => kept.extend(one.wait().unwrap()),
        2 => {
            kept.extend(one.wait().unwrap());
            kept.clear();
            drop((other, last));
        }
        3 => client.close(),
        _ => {
            kept.extend(last.wait().unwrap());
            thread::sleep(LEASE / 2);
        }
    }
    if round % 2 == 0 {
        drop(given);
        drop((client, maker));
        drop(kept);
    } else {
        drop(kept);
        drop((client, maker));
        drop(given);
    }
}

fn all_are_forgotten(address: &str) {
    let (server, serving) = serve(address);
    let own = Server::default();
    for round in 0..ROUNDS {
        come_and_go(&serving, &own, round);
    }
    until(|| {
        let counts = server.references();
        (counts.exports, counts.leases, counts.pins) == (1, 0, 0)
    });
    until(|| {
        let counts = own.references();
        (counts.exports, counts.leases, counts.pins) == (0, 0, 0)
    });
}

#[test]
fn of_clients_at_sockets() {
    all_are_forgotten("tcp://127.0.0.1:0");
}

#[test]
fn of_clients_in_this_process() {
    all_are_forgotten("inproc://reference-ends");
}

#[test]
fn what_a_client_does_not_take_is_not_leased() {
    for address in ["tcp://127.0.0.1:0", "inproc://reference-ends-large"] {
        let (server, serving) = serve(address);
        let mut options = ClientOptions::default();
        options.transport.max_message = 4 << 10;
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let maker = client.lookup::<dyn Maker>("maker").wait().unwrap();
        let error = maker.make(1000).wait().unwrap_err();
        assert!(matches!(error, CallError::NoResult { .. }), "{error}");
        // The leases end while the connection is open.
        until(|| server.references().leases == 0 && server.references().exports == 1);
        assert_eq!(maker.make(3).wait().unwrap().len(), 3);
    }
}

/// An interceptor that lives as long as the client.
struct Held {
    _by: Arc<()>,
}

impl Interceptor for Held {
    fn before(&self, _: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
        Ok(Box::new(()))
    }
}

/// Handles that are dropped after the connection has ended are released immediately. A timer would
/// not be enough, because the end of the connection may have stopped it.
#[test]
fn what_is_dropped_behind_the_end_is_forgotten_at_once() {
    for address in ["tcp://127.0.0.1:0", "inproc://reference-ends-behind"] {
        let (_server, serving) = serve(address);
        let own = Server::default();
        let held = Arc::new(());
        let mut options = ClientOptions::default();
        let by_client = Held { _by: held.clone() };
        options.interceptors = Interceptors::default().and(by_client);
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        drop(options);
        let maker = client.lookup::<dyn Maker>("maker").wait().unwrap();
        let export = own.export::<dyn Part>(Arc::new(Number(1)));
        let given = maker.take(vec![export.remote(); 10]);
        client.close();
        drop((client, maker, given));
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

/// The connection ends with the last handle of the program, although the server has not answered a
/// call that was given up: neither objects of the client nor of the server keep it.
#[test]
fn a_call_without_answer_does_not_keep_its_connection() {
    let (_server, serving) = serve("tcp://127.0.0.1:0");
    let own = Server::default();
    // Dropped before the server, which waits for its methods.
    let held = HELD.lock().unwrap();
    let export = own.export::<dyn Part>(Arc::new(Number(1)));
    for _ in 0..4 {
        let client = Client::connect(serving.address()).wait().unwrap();
        let maker = client.lookup::<dyn Maker>("maker").wait().unwrap();
        let theirs = maker.make(1).wait().unwrap().pop();
        let hasty = maker.within(Duration::from_millis(50));
        let error = hasty.hold(export.remote(), theirs).wait().unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        let weak = client.downgrade();
        drop((client, maker, hasty));
        until(|| weak.upgrade().is_none());
        until(|| own.references().pins == 0);
    }
    drop(held);
}
