//! Servers behind a network that loses all messages, and members that are no servers.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use jstream_rmi::{Client, ClientOptions, LookupError, Stub};
use testing::{SHORT, until};

use super::*;

/// A relay in front of a server, which stands for the network between both.
#[derive(Clone)]
struct Relay {
    address: Address,
    /// Number of times that the network was cut. Messages of connections that were made before
    /// that are lost, without an end of the connection.
    cuts: Arc<AtomicUsize>,
    is_cut: Arc<AtomicBool>,
    /// True while the network delays all messages.
    is_slow: Arc<AtomicBool>,
}

impl Relay {
    fn start(server: &Address) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let relay = Self {
            address: format!("tcp://{at}").parse().unwrap(),
            cuts: Arc::default(),
            is_cut: Arc::default(),
            is_slow: Arc::default(),
        };
        let target: SocketAddr = server.to_string()[6..].parse().unwrap();
        let this = relay.clone();
        // The threads end with the process.
        thread::spawn(move || {
            for accepted in listener.incoming() {
                let accepted = accepted.unwrap();
                let Ok(joined) = TcpStream::connect(target) else {
                    continue;
                };
                let made = this.cuts.load(Ordering::SeqCst);
                for (from, to) in [(&accepted, &joined), (&joined, &accepted)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let this = this.clone();
                    thread::spawn(move || this.copy(&from, &to, made));
                }
            }
        });
        relay
    }

    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream, made: usize) {
        let mut bytes = [0; 4096];
        let is_lost =
            || self.is_cut.load(Ordering::SeqCst) || self.cuts.load(Ordering::SeqCst) != made;
        loop {
            let read = from.read(&mut bytes).unwrap_or(0);
            while self.is_slow.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            if is_lost() {
                if read == 0 {
                    return;
                }
                continue;
            }
            if read == 0 || to.write_all(&bytes[..read]).is_err() {
                // The other side may have ended, too.
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cuts.fetch_add(1, Ordering::SeqCst);
    }

    /// Lets new connections through.
    fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

/// Returns options with a brief time for each lookup.
fn brief() -> SetOptions {
    let mut options = quick();
    options.client.messages.handshake_timeout = Duration::from_millis(300);
    options
}

#[test]
fn a_connection_whose_messages_are_lost_is_replaced() {
    let addresses = &addresses("cut", 2)[3];
    let ledger = Arc::default();
    let running = start_all(addresses, &ledger);
    let relay = Relay::start(&addresses[0]);
    let list = AddressList::new([relay.address.clone(), addresses[1].clone()]).unwrap();
    let set = ClientSet::open_with(list, &brief()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    until(|| open(&set) == 2);
    relay.cut();
    let hasty = shop.within(Duration::from_millis(30));
    let (mut number, mut failed) = (0, 0);
    let mut call = || {
        // Two calls at once, so that the member gets some although it is expensive.
        for call in [hasty.buy(number), hasty.buy(number + 1)] {
            let outcome = call.wait().map(|reply| *reply.get());
            ledger.check(number, &outcome);
            failed += u32::from(outcome.is_err());
            number += 1;
        }
        failed
    };
    until(|| {
        call();
        open(&set) == 1
    });
    assert!(call() > 0);
    relay.mend();
    let before = running[0].object.calls();
    until(|| {
        call();
        open(&set) == 2 && running[0].object.calls() > before
    });
}

#[test]
fn references_outlive_lookups_that_are_too_slow() {
    let addresses = &addresses("slow", 1)[3];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let relay = Relay::start(&addresses[0]);
    let list = AddressList::new([relay.address.clone()]).unwrap();
    let set = ClientSet::open_with(list, &brief()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    until(|| open(&set) == 1);
    let counter = shop.counter().wait().unwrap();
    let before = *counter.next().wait().unwrap().get();
    relay.is_slow.store(true, Ordering::SeqCst);
    // The set looks a new name up, and gets no answer in time.
    let other = set.get::<dyn Shop>("other");
    let refused = other.within(Duration::from_millis(1000)).look().wait();
    assert!(refused.is_err());
    relay.is_slow.store(false, Ordering::SeqCst);
    // A connection that the set has left refuses calls once the set's thread has looked at it.
    thread::sleep(SHORT);
    assert_eq!(*counter.next().wait().unwrap().get(), before + 1);
}

#[test]
fn a_lookup_without_an_answer_ends_with_its_timeout() {
    let addresses = &addresses("mute", 1)[3];
    let ledger = Arc::default();
    let _running = start_all(addresses, &ledger);
    let relay = Relay::start(&addresses[0]);
    let mut options = ClientOptions::default();
    options.call_timeout = Duration::from_millis(100);
    let client = Client::connect_with(&relay.address, &options)
        .wait()
        .unwrap();
    // From now on, the server tells nothing about the version that it has.
    relay.cut();
    let error = client.lookup::<dyn Shop>("shop").wait().unwrap_err();
    assert!(
        matches!(error, LookupError::Call(CallError::Deadline { .. })),
        "{error}"
    );
}

/// Listens, and calls `answer` with each connection, which is kept. Returns the address, and the
/// number of connections.
fn listen(answer: impl Fn(&TcpStream) -> bool + Send + 'static) -> (Address, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            if answer(&stream) {
                kept.push(stream);
            }
        }
    });
    (format!("tcp://{at}").parse().unwrap(), count)
}

#[test]
fn members_that_are_no_servers_get_no_calls_and_few_connections() {
    let good = &addresses("honest", 1)[3];
    let ledger: Arc<Ledger> = Arc::default();
    let _running = start_all(good, &ledger);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("tcp://{}", listener.local_addr().unwrap())
    };
    let mute = listen(|_| true);
    let ending = listen(|_| false);
    let web = listen(|mut stream| {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            .is_ok()
    });
    let garbage = listen(|mut stream| stream.write_all(&[0xA5; 4096]).is_ok());
    let liars = [&mute, &ending, &web, &garbage];
    let mut all: Vec<Address> = liars.iter().map(|(address, _)| address.clone()).collect();
    all.push(closed.parse().unwrap());
    all.push(good[0].clone());
    let begun = Instant::now();
    let set = ClientSet::open_with(AddressList::new(all).unwrap(), &brief()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    for number in 0..300 {
        let outcome = shop.buy(number).wait().map(|reply| *reply.get());
        assert!(outcome.is_ok(), "{outcome:?}");
        ledger.check(number, &outcome);
    }
    // Each of them was tried more than once, and again after pauses.
    until(|| {
        liars
            .iter()
            .all(|(_, count)| count.load(Ordering::SeqCst) > 2)
    });
    set.close();
    // The pauses are at least 1, 2, 4 and 8 ms long, and all later ones 10 ms.
    let most = 5 + begun.elapsed().as_millis() / 10;
    for (address, count) in liars {
        let count = count.load(Ordering::SeqCst) as u128;
        assert!(
            count <= most,
            "{count} connections to {address}, not {most}"
        );
    }
    assert_eq!(open(&set), 0);
}
