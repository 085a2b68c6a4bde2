//! Typed channels, on every device.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jstream::Transportable;
use jstream_transport::channel::{Channel, OpenError, Receiver, RecvError, SendError, Sender};
use jstream_transport::{Header, Options, channel, connect};
use testing::{LONG, SHORT};

const SCHEMES: [&str; 6] = ["inproc", "shm", "uds", "tcp", "uring", "sim"];
/// The devices on which operations make progress in the background. A simulation makes progress
/// only during the calls of its threads.
const GOING_ON: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];

#[derive(Transportable)]
struct Order {
    sender: u32,
    number: u32,
    symbol: String,
    legs: Vec<f64>,
}

fn order(sender: u32, number: u32) -> Order {
    Order {
        sender,
        number,
        symbol: format!("symbol {number}"),
        legs: vec![f64::from(number); number as usize % 50],
    }
}

/// Returns a channel at an unused address.
fn fresh<T: Transportable + 'static>(scheme: &str) -> Channel<T> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if scheme == "sim" {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        return channel(&format!("sim://channel-{number}"));
    }
    channel(&testing::transport::fresh(scheme).to_string())
}

/// Returns a channel that joins the side that listens at `address`.
fn joining<T: Transportable + 'static>(address: &impl ToString) -> Channel<T> {
    channel(&address.to_string())
}

/// Receives orders until the channel is closed. Returns their senders and numbers.
fn numbers(receiver: &Receiver<Order>) -> Vec<(u32, u32)> {
    let mut numbers = Vec::new();
    for order in receiver {
        let order = order.unwrap();
        let order = order.get();
        assert_eq!(order.symbol, format!("symbol {}", order.number));
        assert_eq!(order.legs.len(), order.number as usize % 50);
        numbers.push((order.sender, order.number));
    }
    numbers
}

#[test]
fn objects_come_in_order_and_then_the_channel_is_closed() {
    for scheme in SCHEMES {
        let (sender, receiver) = fresh(scheme).both().unwrap();
        let receiving = thread::spawn(move || {
            let numbers = numbers(&receiver);
            assert!(matches!(receiver.recv(), Err(RecvError::Closed { .. })));
            assert!(matches!(receiver.try_recv(), Err(RecvError::Closed { .. })));
            numbers
        });
        for number in 0..1000 {
            sender.send(&order(0, number)).unwrap();
        }
        drop(sender);
        let expected: Vec<_> = (0..1000).map(|number| (0, number)).collect();
        assert_eq!(receiving.join().unwrap(), expected, "{scheme}");
    }
}

#[test]
fn many_send_to_one_each_in_its_order() {
    const SENDERS: u32 = 4;
    const EACH: u32 = 400;
    for scheme in SCHEMES {
        let receiver = fresh(scheme).peers(SENDERS as usize).receiver().unwrap();
        let address = receiver.address().clone();
        let senders: Vec<_> = (0..SENDERS)
            .map(|me| {
                let address = address.clone();
                thread::spawn(move || {
                    let sender = joining(&address).sender().unwrap();
                    // Sends from two threads would have no order. This thread alternates between
                    // two handles, so its order is defined.
                    let clone = sender.clone();
                    for number in 0..EACH {
                        let sender = if number % 2 == 0 { &sender } else { &clone };
                        sender.send(&order(me, number)).unwrap();
                    }
                })
            })
            .collect();
        let numbers = numbers(&receiver);
        assert_eq!(numbers.len(), (SENDERS * EACH) as usize, "{scheme}");
        for me in 0..SENDERS {
            let of_one = numbers.iter().filter(|(sender, _)| *sender == me);
            assert!(of_one.map(|(_, number)| *number).eq(0..EACH), "{scheme}");
        }
        for sender in senders {
            sender.join().unwrap();
        }
    }
}

#[test]
fn one_sends_to_many_in_turn() {
    const RECEIVERS: usize = 3;
    const EACH: usize = 15;
    for scheme in GOING_ON {
        let sender: Sender<Order> = fresh(scheme).fan_out().peers(RECEIVERS).sender().unwrap();
        assert!(matches!(
            sender.try_send(&order(0, 0)),
            Err(SendError::Full)
        ));
        let address = sender.address().clone();
        let receivers: Vec<_> = (0..RECEIVERS)
            .map(|_| {
                let address = address.clone();
                thread::spawn(move || {
                    let receiver = joining(&address).fan_out().receiver().unwrap();
                    numbers(&receiver)
                })
            })
            .collect();
        for number in 0..RECEIVERS * EACH {
            sender.send(&order(0, number as u32)).unwrap();
        }
        drop(sender);
        for receiver in receivers {
            let numbers = receiver.join().unwrap();
            assert_eq!(numbers.len(), EACH, "{scheme}");
            assert!(
                numbers
                    .windows(2)
                    .all(|pair| pair[1].1 - pair[0].1 == RECEIVERS as u32)
            );
        }
    }
}

#[test]
fn a_receiver_without_room_is_passed_over() {
    const COUNT: usize = 4000;
    for scheme in GOING_ON {
        let sender: Sender<Vec<u64>> = fresh(scheme).fan_out().peers(2).sender().unwrap();
        let join = || joining::<Vec<u64>>(sender.address()).fan_out().capacity(4);
        let (busy, idle) = (join().receiver().unwrap(), join().receiver().unwrap());
        let taking = thread::spawn(move || idle.iter().map(Result::unwrap).count());
        let object = vec![7; 1000];
        for _ in 0..COUNT {
            sender.send(&object).unwrap();
        }
        drop(sender);
        let left = busy.iter().map(Result::unwrap).count();
        assert!(left > 0 && left < COUNT / 2, "{scheme}: {left}");
        assert_eq!(taking.join().unwrap() + left, COUNT, "{scheme}");
    }
}

#[test]
fn what_waits_is_bounded() {
    for scheme in SCHEMES {
        let (sender, receiver) = fresh::<Vec<u64>>(scheme).capacity(4).both().unwrap();
        let object = vec![7; 1000];
        let mut sent = 0;
        let full = loop {
            match sender.try_send(&object) {
                Ok(()) => sent += 1,
                Err(error) => break error,
            }
            assert!(sent < 100_000, "{scheme}");
        };
        assert!(matches!(full, SendError::Full), "{scheme}: {full}");
        if scheme == "inproc" {
            assert_eq!(sent, 4);
        }
        // The system may have taken over messages meanwhile, which frees space.
        let late = loop {
            match sender.send_timeout(&object, SHORT) {
                Ok(()) => sent += 1,
                Err(error) => break error,
            }
        };
        assert!(
            matches!(late, SendError::TimedOut { after, .. } if after == SHORT),
            "{late}"
        );
        let blocked = {
            let (sender, object) = (sender.clone(), object.clone());
            thread::spawn(move || sender.send(&object))
        };
        for _ in 0..=sent {
            assert_eq!(receiver.recv_timeout(LONG).unwrap().get().len(), 1000);
        }
        blocked.join().unwrap().unwrap();
        assert!(
            matches!(receiver.try_recv(), Err(RecvError::Empty)),
            "{scheme}"
        );
        sender.send_timeout(&object, LONG).unwrap();
        assert_eq!(receiver.recv().unwrap().get().len(), 1000);
    }
}

#[test]
fn waiting_ends_in_time() {
    for scheme in SCHEMES {
        let (_sender, receiver) = fresh::<u64>(scheme).both().unwrap();
        assert!(matches!(receiver.try_recv(), Err(RecvError::Empty)));
        let late = receiver.recv_timeout(SHORT).unwrap_err();
        assert!(matches!(late, RecvError::TimedOut { .. }), "{late}");
    }
    let mut options = Options::default();
    options.send_timeout = SHORT;
    options.connect_timeout = SHORT;
    let lonely: Sender<u64> = fresh("shm")
        .fan_out()
        .options(options.clone())
        .sender()
        .unwrap();
    assert!(matches!(lonely.send(&1), Err(SendError::TimedOut { .. })));
    assert!(matches!(
        lonely.send_timeout(&1, SHORT),
        Err(SendError::TimedOut { .. })
    ));
    for scheme in SCHEMES {
        let nobody = match scheme {
            "tcp" | "uring" => channel::<u64>(&format!("{scheme}://127.0.0.1:1")),
            _ => fresh(scheme),
        };
        let error = nobody.options(options.clone()).sender().unwrap_err();
        assert!(matches!(error, OpenError::Connect { .. }), "{error}");
        assert!(error.to_string().contains("receiver"), "{error}");
    }
}

#[test]
fn it_does_not_matter_who_comes_first() {
    for scheme in ["inproc", "shm", "uds", "sim"] {
        let first = fresh::<u64>(scheme);
        let second = first.clone();
        let sending = thread::spawn(move || first.sender().unwrap().send(&5).unwrap());
        thread::sleep(SHORT);
        let receiver = second.receiver().unwrap();
        assert_eq!(*receiver.recv_timeout(LONG).unwrap().get(), 5, "{scheme}");
        sending.join().unwrap();
    }
}

#[test]
fn a_receiver_that_ends_is_said_to_have_closed() {
    for scheme in SCHEMES {
        let (sender, receiver) = fresh::<Vec<u8>>(scheme).both().unwrap();
        sender.send(&vec![1; 100]).unwrap();
        sender.send(&vec![2; 100]).unwrap();
        // The receiver takes one message, and never takes the other.
        assert_eq!(receiver.recv().unwrap().get().len(), 100);
        drop(receiver);
        let ended = loop {
            match sender.send_timeout(&vec![3; 3000], LONG) {
                Ok(()) => thread::sleep(Duration::from_millis(1)),
                Err(error) => break error,
            }
        };
        assert!(
            matches!(ended, SendError::Closed { .. }),
            "{scheme}: {ended}"
        );
        let again = sender.send(&vec![4]).unwrap_err();
        assert!(
            matches!(again, SendError::Closed { .. }),
            "{scheme}: {again}"
        );
    }
}

mod newer {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        sender: u64,
        number: u32,
        symbol: String,
        legs: Vec<f64>,
    }
}

#[test]
fn types_and_sides_that_do_not_fit_are_named() {
    for scheme in SCHEMES {
        let receiver = fresh::<Order>(scheme).receiver().unwrap();
        let address = receiver.address();
        let error = joining::<newer::Order>(address).sender().unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, OpenError::Type { .. }), "{text}");
        for words in [
            "`OrderRef` there",
            "`OrderRef` here",
            "Order.sender: `u64` can't become `u32`",
        ] {
            assert!(text.contains(words), "{text}");
        }
        let error = joining::<Order>(address).fan_out().receiver().unwrap_err();
        assert!(matches!(error, OpenError::Role { .. }), "{error}");
        let error = joining::<Order>(address).receiver().unwrap_err();
        assert!(
            matches!(error, OpenError::Listen { .. }) || scheme == "tcp",
            "{error}"
        );
        // The receiver still accepts senders of the right type.
        let sender = joining(address).sender().unwrap();
        sender.send(&order(1, 2)).unwrap();
        drop(sender);
        assert_eq!(numbers(&receiver), [(1, 2)]);
    }
    assert!(matches!(
        channel::<u64>("nothing").sender(),
        Err(OpenError::Address(_))
    ));
}

#[test]
fn whatever_one_sends_the_others_go_on() {
    const JOIN: u32 = 0x6a73_6301;
    for scheme in SCHEMES {
        let receiver = fresh::<Order>(scheme).peers(2).receiver().unwrap();
        let address = receiver.address();
        let options = Options::default();
        // A connection that stays silent.
        let _silent = connect(address, &options).unwrap();
        // A connection that begins with an unknown message.
        let wrong = connect(address, &options).unwrap();
        wrong.send_message(Header::new(7, [1; 3]), &[]).unwrap();
        assert!(wrong.recv_message().is_err());
        // A connection that joins, and sends a malformed object, an object of another type, and an
        // unknown kind of message.
        let joined = connect(address, &options).unwrap();
        let hello = Header::new(JOIN, [1, jstream::descriptor::<Order>(), 0]);
        joined.send_message(hello, &[]).unwrap();
        assert_eq!(joined.recv_message().unwrap().header.words[0], 0);
        let payload = [std::io::IoSlice::new(&[0xff; 300])];
        joined.send_message(Header::default(), &payload).unwrap();
        joined.send(&1u64).unwrap();
        joined
            .send_message(Header::new(99, [u64::MAX; 3]), &[])
            .unwrap();
        joined.send(&order(7, 7)).unwrap();
        let sender = joining(address).sender().unwrap();
        sender.send(&order(1, 1)).unwrap();
        drop((sender, joined));
        let (mut faults, mut orders) = (0, Vec::new());
        for received in &receiver {
            match received {
                Ok(order) => orders.push(order.get().sender),
                Err(RecvError::Read { .. }) => faults += 1,
                Err(error) => panic!("{scheme}: {error}"),
            }
        }
        orders.sort_unstable();
        assert_eq!((faults, &orders[..]), (3, &[1, 7][..]), "{scheme}");
    }
}

#[test]
fn many_threads_receive_and_none_is_forgotten() {
    const COUNT: u32 = 300;
    for scheme in SCHEMES {
        let mut options = Options::default();
        options.spin = Duration::ZERO;
        let receiver = fresh::<Order>(scheme)
            .peers(2)
            .options(options)
            .receiver()
            .unwrap();
        let takers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || numbers(&receiver).len())
            })
            .collect();
        let address = receiver.address().clone();
        drop(receiver);
        let senders = [0, 1].map(|me| {
            joining(&address)
                .sender()
                .map(|sender| (me, sender))
                .unwrap()
        });
        for number in 0..COUNT {
            for (me, sender) in &senders {
                sender.send(&order(*me, number)).unwrap();
            }
            if number % 10 == 0 {
                // All receivers fall asleep.
                thread::sleep(Duration::from_millis(1));
            }
        }
        drop(senders);
        let taken = takers.into_iter().map(|taker| taker.join().unwrap());
        assert_eq!(taken.sum::<usize>(), 2 * COUNT as usize, "{scheme}");
    }
}

#[test]
fn a_channel_goes_on_with_those_who_join_later() {
    for scheme in SCHEMES {
        let receiver = fresh::<u64>(scheme).receiver().unwrap();
        for round in 0..5 {
            let sender = joining(receiver.address()).sender().unwrap();
            sender.send(&round).unwrap();
            assert_eq!(*receiver.recv_timeout(LONG).unwrap().get(), round);
            drop(sender);
            let closed = receiver.recv_timeout(LONG).unwrap_err();
            assert!(
                matches!(closed, RecvError::Closed { .. }),
                "{scheme}: {closed}"
            );
        }
    }
}

#[test]
fn received_objects_are_sent_on() {
    for scheme in SCHEMES {
        let (first, middle) = fresh::<Vec<u64>>(scheme).both().unwrap();
        let (onward, last) = fresh::<Vec<u64>>(scheme).both().unwrap();
        first.send(&(0..1000).collect()).unwrap();
        let object = middle.recv().unwrap();
        let place = object.get().as_ptr();
        onward.send_received(object).unwrap();
        let object = last.recv().unwrap();
        assert!(object.get().iter().copied().eq(0..1000), "{scheme}");
        assert_eq!(
            object.get().as_ptr() == place,
            scheme == "inproc",
            "{scheme}"
        );
    }
}

#[test]
fn a_pair_needs_no_name() {
    let (sender, receiver) = channel::pair::<String>().unwrap();
    let (other, _) = channel::pair::<String>().unwrap();
    assert_ne!(sender.address(), other.address());
    sender.send(&"hello".to_owned()).unwrap();
    assert_eq!(*receiver.recv().unwrap().get(), "hello");
}

#[test]
fn a_name_is_free_again_when_its_channel_is_gone() {
    for scheme in ["inproc", "shm", "uds", "sim"] {
        let channel = fresh::<u64>(scheme);
        for _ in 0..3 {
            let (sender, receiver) = channel.clone().both().unwrap();
            sender.send(&1).unwrap();
            assert_eq!(*receiver.recv().unwrap().get(), 1);
        }
    }
}

/// If a receiver stops reading, one send waits for the send timeout and fails. Those before it,
/// whose objects fit the buffers of the system, do not wait for it too.
#[test]
fn one_send_waits_for_a_receiver_that_stopped_reading() {
    const TIMEOUT: Duration = Duration::from_secs(8);
    let mut options = Options::default();
    options.send_timeout = TIMEOUT;
    thread::scope(|scope| {
        for is_timed in [false, true] {
            let (sender, receiver) = fresh::<Vec<u8>>("tcp")
                .options(options.clone())
                .both()
                .unwrap();
            scope.spawn(move || {
                let object = vec![7u8; 1000];
                let begun = Instant::now();
                let waited = loop {
                    let waited = begun.elapsed();
                    let sent = match is_timed {
                        false => sender.send(&object),
                        true => sender.send_timeout(&object, LONG),
                    };
                    if let Err(error) = sent {
                        assert!(matches!(error, SendError::Lost { .. }), "{error}");
                        break waited;
                    }
                };
                assert!(waited < TIMEOUT, "{waited:?}");
                drop(receiver);
            });
        }
    });
}
