//! Hello frames and objects of typed channels, sent to listening and to joining sides.

use std::io::IoSlice;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::{EmptyBuffer, Transportable, Writer};
use jstream_transport::channel::{Channel, RecvError, channel};
use jstream_transport::{Address, Endpoint, Header, Incoming, Listener, connect, listen};

use super::{PATIENCE, address, options, say};

const JOIN: u32 = 0x6a73_6301;
const ANSWER: u32 = 0x6a73_6302;
const ACCEPT: u32 = 0x6a73_6304;

/// The maximum number of messages per input.
const MESSAGES: usize = 24;

/// The element type of the channel.
#[derive(Transportable)]
struct Order {
    number: u32,
    symbol: String,
    legs: Vec<f64>,
}

/// The description of the element type, and the message of an element.
static KNOWN: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let snapshots = jstream::schema::snapshots::<Order>().expect("it has no defaults");
    let description = snapshots.iter().flat_map(|snapshot| {
        let len = u32::try_from(snapshot.len()).expect("it is short");
        [&len.to_le_bytes(), &**snapshot].concat()
    });
    let order = Order {
        number: 1,
        symbol: "symbol".to_owned(),
        legs: vec![0.5; 3],
    };
    let message = Writer::new().write(&order, EmptyBuffer::heap(1024));
    let message = message.expect("there is room").as_bytes().to_vec();
    [description.collect(), message]
});

fn fresh() -> Address {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    address("inproc", &format!("channels-{number}"))
}

fn of(address: &Address) -> Channel<Order> {
    let mut options = options();
    options.handshake_timeout = Duration::from_millis(50);
    options.connect_timeout = Duration::from_millis(50);
    options.send_timeout = Duration::from_millis(5);
    channel(&address.to_string()).options(options)
}

/// Sends a hello frame, usually a valid one, and then messages.
fn messages(peer: &Endpoint, input: &mut Unstructured<'_>, kind: u32, role: u64) -> Result<()> {
    let [description, message] = &*KNOWN;
    if input.ratio(15, 16)? {
        let descriptor = jstream::descriptor::<Order>();
        // A part of it may be missing.
        let len = description.len() as u64 + u64::from(input.ratio(1, 8)?);
        let hello = Header::new(kind, [role, descriptor, len]);
        let _ = peer.send_message(hello, &[IoSlice::new(description)]);
    }
    for _ in 0..MESSAGES {
        let kinds = if input.ratio(1, 2)? {
            JOIN..=ACCEPT
        } else {
            0..=0
        };
        if input.is_empty() || !say(peer, input, kinds, &[description, message])? {
            break;
        }
    }
    Ok(())
}

pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(first) = u8::arbitrary(&mut input) else {
        return;
    };
    match first % 4 {
        0 | 1 => against_receiver(&mut input),
        2 => against_sender_that_listens(&mut input),
        _ => against_sender_that_joins(&mut input),
    }
}

fn against_receiver(input: &mut Unstructured<'_>) {
    let receiver = of(&fresh()).receiver().expect("the name is free");
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let begin = Instant::now();
            loop {
                match receiver.recv_timeout(Duration::from_millis(1)) {
                    Ok(order) => assert!(order.get().symbol.chars().count() < 1 << 20),
                    Err(RecvError::TimedOut { .. }) if begin.elapsed() < PATIENCE => {
                        if begin.elapsed() > Duration::from_millis(20) {
                            return;
                        }
                    }
                    Err(error @ RecvError::Closed { .. }) => {
                        return assert!(!error.to_string().is_empty());
                    }
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        });
        if let Ok(peer) = connect(receiver.address(), &options()) {
            let _ = messages(&peer, input, JOIN, 1);
        }
        receiving.join().expect("nothing panics there");
    });
}

fn send(sender: &jstream_transport::channel::Sender<Order>) {
    for number in 0..4 {
        let order = Order {
            number,
            symbol: String::new(),
            legs: Vec::new(),
        };
        if let Err(error) = sender.send_timeout(&order, Duration::from_millis(2)) {
            assert!(!error.to_string().is_empty());
        }
    }
}

fn against_sender_that_listens(input: &mut Unstructured<'_>) {
    let sender = of(&fresh()).fan_out().sender().expect("the name is free");
    thread::scope(|scope| {
        let sending = scope.spawn(|| send(&sender));
        if let Ok(peer) = connect(sender.address(), &options()) {
            let _ = messages(&peer, input, JOIN, 2);
        }
        sending.join().expect("nothing panics there");
    });
}

fn against_sender_that_joins(input: &mut Unstructured<'_>) {
    static LISTENER: LazyLock<Listener> =
        LazyLock::new(|| listen(&address("inproc", "channels"), &options()).expect("it is free"));
    thread::scope(|scope| {
        let sending = scope.spawn(|| match of(LISTENER.local_address()).sender() {
            Ok(sender) => send(&sender),
            Err(error) => assert!(!error.to_string().is_empty()),
        });
        // On a busy machine, the sender may time out before it has connected.
        let incoming = LISTENER.accept_timeout(Duration::from_millis(100));
        if let Some(Ok(peer)) = incoming.ok().map(Incoming::establish) {
            let _ = messages(&peer, input, ANSWER, 0);
        }
        sending.join().expect("nothing panics there");
    });
}
