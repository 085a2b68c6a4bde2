//! Objects over every device.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self};
use std::time::Duration;

use jstream::buffer::Pool;
use jstream::{Adapter, Reader, Received, Transportable, Writer};
use jstream_transport::{
    Endpoint, Header, ObjectTicket, Options, RecvError, RecvObjectError, Remains, SendError,
    SendObjectError, connect, listen,
};
use testing::LONG;
use testing::tasks::block_on;

/// Returns an address for each device that works inside one process.
fn addresses() -> Vec<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("jstream-typed-{}-{next}", std::process::id());
    vec![
        format!("inproc://{name}"),
        format!("shm://{name}"),
        format!("uds://@{name}"),
        "tcp://127.0.0.1:0".into(),
        "uring://127.0.0.1:0".into(),
    ]
}

/// Runs a test with both ends of a connection, over each device.
fn over_all(options: &Options, test: impl Fn(Endpoint, Endpoint)) {
    for address in addresses() {
        let listener = listen(&address.parse().unwrap(), options).unwrap();
        let (client, server) = thread::scope(|scope| {
            let connecting = scope.spawn(|| connect(listener.local_address(), options).unwrap());
            let accepted = listener.accept().unwrap().establish().unwrap();
            (connecting.join().unwrap(), accepted)
        });
        test(client, server);
    }
}

#[derive(Transportable, Debug, PartialEq)]
struct Sample<'b> {
    id: u64,
    name: &'b str,
    values: &'b [f64],
}

/// A type with the same structure as `Sample`, but with owned parts.
type Words = Vec<String>;

fn words(count: usize) -> Words {
    (0..count).map(|n| format!("word {n}")).collect()
}

fn address_of(received: &Received<Vec<u64>>) -> usize {
    received.get().as_ptr().addr()
}

#[test]
fn objects_arrive() {
    over_all(&Options::default(), |us, them| {
        thread::scope(|scope| {
            scope.spawn(|| {
                for id in 0..100 {
                    let values = vec![id as f64; id as usize * 37];
                    let name = format!("sample {id}");
                    us.send_tagged(
                        id,
                        &Sample {
                            id,
                            name: &name,
                            values: &values,
                        },
                    )
                    .unwrap();
                }
            });
            for id in 0..100 {
                let (tag, received) = them.recv_tagged::<Sample<'_>>().unwrap();
                let sample = received.get();
                assert_eq!((tag, sample.id), (id, id));
                assert_eq!(sample.name, format!("sample {id}"));
                assert_eq!(sample.values, vec![id as f64; id as usize * 37]);
            }
        });
    });
}

#[test]
fn receiving_may_end_without_an_object() {
    over_all(&Options::default(), |us, them| {
        let empty = them.recv_within::<u64>(Duration::ZERO).unwrap_err();
        assert!(matches!(empty, RecvObjectError::Receive(RecvError::Empty)));
        let late = them.recv_within::<u64>(Duration::from_millis(5));
        assert!(matches!(
            late.unwrap_err(),
            RecvObjectError::Receive(RecvError::TimedOut { .. })
        ));
        us.try_send(&7u64).unwrap();
        assert_eq!(*them.recv_within::<u64>(LONG).unwrap().get(), 7);
        drop(us);
        let closed = them.recv::<u64>().unwrap_err();
        assert!(matches!(
            closed,
            RecvObjectError::Receive(RecvError::Closed { .. })
        ));
    });
}

#[test]
fn a_message_of_another_type_is_an_error_and_the_next_one_is_fine() {
    let pool = Pool::default();
    over_all(&Options::new(pool.clone()), |us, them| {
        us.send_tagged(9, &words(10)).unwrap();
        us.send_message(Header::default(), &[IoSlice::new(&[0xa5; 300])])
            .unwrap();
        us.send(&words(3)).unwrap();
        match them.recv::<Vec<u64>>().unwrap_err() {
            RecvObjectError::Read { header, .. } => assert_eq!(header.tag(), 9),
            other => panic!("{other}"),
        }
        let read = them.recv::<Words>().unwrap_err();
        assert!(matches!(read, RecvObjectError::Read { .. }), "{read}");
        let received = them.recv::<Words>().unwrap();
        assert_eq!(received.get().len(), 3);
        assert_eq!(pool.stats().in_use, 1);
        drop(received);
        assert_eq!(pool.stats().in_use, 0);
    });
}

#[test]
fn a_received_object_is_sent_on() {
    let pool = Pool::default();
    over_all(&Options::new(pool.clone()), |us, them| {
        us.send(&(0..1000).collect::<Vec<u64>>()).unwrap();
        for round in 0..4 {
            let (from, to) = if round % 2 == 0 {
                (&them, &us)
            } else {
                (&us, &them)
            };
            let mut received = from.recv::<Vec<u64>>().unwrap();
            assert_eq!(received.get()[3], 3 + round);
            let place = address_of(&received);
            received = change(received);
            from.send_received(round, received).unwrap();
            if from.info().limits.moves {
                let (tag, moved) = to.recv_tagged::<Vec<u64>>().unwrap();
                assert_eq!((tag, address_of(&moved)), (round, place));
                to.send_received(0, moved).unwrap();
                let moved = from.recv::<Vec<u64>>().unwrap();
                from.send_received(0, moved).unwrap();
            }
        }
        let last = them.recv_within::<Vec<u64>>(LONG).unwrap();
        assert_eq!(last.get()[3], 7);
        drop(last);
        assert_eq!(pool.stats().in_use, 0);
    });
}

/// Counts in the fourth number how often the object was forwarded.
fn change(received: Received<Vec<u64>>) -> Received<Vec<u64>> {
    let mut numbers = received.get().to_vec();
    numbers[3] += 1;
    let message = Writer::new().write(&numbers, received.into_empty());
    Reader::default().read(message.unwrap()).unwrap()
}

#[test]
fn an_object_that_moved_is_read_as_what_is_asked_for() {
    over_all(&Options::default(), |us, them| {
        let received = || -> Received<Words> {
            us.send(&words(20)).unwrap();
            them.recv().unwrap()
        };
        // The message is read as another type with the same structure.
        them.send_received(0, received()).unwrap();
        let texts = us.recv::<&[&str]>().unwrap();
        assert_eq!(texts.get()[19], "word 19");
        // If the structures differ, the read fails.
        them.send_received(0, received()).unwrap();
        let wrong = us.recv::<Vec<u64>>().unwrap_err();
        assert!(matches!(wrong, RecvObjectError::Read { .. }), "{wrong}");
        // The message is received as bytes.
        them.send_received(5, received()).unwrap();
        let message = us.recv_message().unwrap();
        assert_eq!(message.header.tag(), 5);
        assert_eq!(message.header.length, message.payload.len() as u64);
        let read = Reader::default().read::<Words>(message.payload).unwrap();
        assert_eq!(*read.get()[3], *"word 3");
        them.send_received(0, received()).unwrap();
        assert_eq!(
            us.post_recv_object::<Words>().wait().unwrap().get().len(),
            20
        );
    });
}

#[derive(Transportable)]
struct Twice<'b> {
    one: &'b [u64],
    other: &'b [u64],
}

#[test]
fn a_moved_object_that_became_longer_does_not_fit_and_is_received_next() {
    over_all(&Options::default(), |client, server| {
        let numbers: Vec<u64> = (0..400).collect();
        let twice = Twice {
            one: &numbers,
            other: &[],
        };
        client.send(&twice).unwrap();
        let mut received = server.recv::<Twice<'_>>().unwrap();
        received.with_mut(|twice| twice.other = twice.one);
        server.send_received(0, received).unwrap();
        let mut memory = [0; 5000];
        let error = client.recv_into(&mut memory).unwrap_err();
        assert!(
            matches!(error, RecvError::TooSmall { length, capacity: 5000 } if length > 6400),
            "{error}"
        );
        let received = client.recv::<Twice<'_>>().unwrap();
        assert_eq!(received.get().one, numbers);
        assert_eq!(received.get().other, numbers);
    });
}

#[test]
fn an_object_that_is_not_sent_on_comes_back() {
    over_all(&Options::default(), |us, them| {
        us.send(&words(5)).unwrap();
        let received = them.recv::<Words>().unwrap();
        them.close();
        let unsent = them.send_received(0, received).unwrap_err();
        assert!(matches!(
            unsent.error,
            SendObjectError::Send(SendError::ClosedLocally { .. })
        ));
        let received = match unsent.remains {
            Remains::Object(received) => received,
            Remains::Message(message) => Reader::default().read::<Words>(message).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(received.get().len(), 5);
    });
}

#[test]
fn posted_objects_are_sent_and_received_in_order() {
    over_all(&Options::default(), |us, them| {
        let receives: Vec<ObjectTicket<Words>> = (0..10).map(|_| them.post_recv_object()).collect();
        let sends: Vec<_> = (0..10)
            .map(|count| us.post_send_object(0, &words(count * 100)).unwrap())
            .collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                for ticket in sends {
                    ticket.wait().unwrap();
                }
            });
            for (count, ticket) in receives.into_iter().enumerate() {
                assert_eq!(ticket.wait().unwrap().get().len(), count * 100);
            }
        });
        // A dropped or cancelled ticket loses no message.
        drop(them.post_recv_object::<Words>());
        let mut ticket = them.post_recv_object::<Words>();
        assert!(ticket.try_take().is_none());
        assert!(ticket.wait_timeout(Duration::from_millis(5)).is_none());
        let cancelled = ticket.cancel().unwrap_err();
        assert!(matches!(
            cancelled,
            RecvObjectError::Receive(RecvError::Cancelled)
        ));
        us.send(&words(1)).unwrap();
        assert_eq!(them.recv::<Words>().unwrap().get().len(), 1);
    });
}

#[test]
fn objects_are_awaited() {
    over_all(&Options::default(), |us, them| {
        thread::scope(|scope| {
            scope.spawn(|| {
                block_on(async {
                    for count in 0..50 {
                        them.post_send_object(0, &words(count))
                            .unwrap()
                            .await
                            .unwrap();
                        let answer = them.post_recv_object::<u64>().await.unwrap();
                        assert_eq!(*answer.get(), count as u64);
                    }
                });
            });
            block_on(async {
                for _ in 0..50 {
                    let words = us.post_recv_object::<Words>().await.unwrap();
                    let count = words.get().len() as u64;
                    us.post_send_object(0, &count).unwrap().await.unwrap();
                }
            });
        });
    });
}

thread_local! {
    /// The endpoint to which the adapter below reports.
    static REPORTS: RefCell<Option<Endpoint>> = const { RefCell::new(None) };
}

/// An adapter that sends messages while it is writing or reading.
struct Reporting;

impl Reporting {
    fn report(what: &str, value: u64) {
        REPORTS.with_borrow(|endpoint| {
            if let Some(endpoint) = endpoint {
                endpoint.send(&format!("{what} {value}")).unwrap();
            }
        });
    }
}

impl Adapter<u64> for Reporting {
    type Wire = u64;
    type Error = Infallible;

    fn to_wire(value: &u64) -> u64 {
        Self::report("wrote", *value);
        *value
    }

    fn from_wire(wire: &u64) -> Result<u64, Infallible> {
        Self::report("read", *wire);
        Ok(*wire)
    }
}

#[derive(Transportable)]
struct Reported {
    #[transportable(with = Reporting)]
    value: u64,
}

#[test]
fn code_of_the_program_may_use_the_endpoint() {
    over_all(&Options::default(), |us, them| {
        REPORTS.set(Some(us.clone()));
        us.send(&Reported { value: 7 }).unwrap();
        assert_eq!(*them.recv::<String>().unwrap().get(), "wrote 7");
        // This thread reads the object, and its report uses the same connection.
        assert_eq!(them.recv::<Reported>().unwrap().get().value, 7);
        assert_eq!(*them.recv::<String>().unwrap().get(), "read 7");
        REPORTS.set(None);
    });
}

#[test]
fn borrowed_memory_is_sent_inside_a_scope() {
    let mut options = Options::default();
    options.send_timeout = LONG;
    options.max_message = 16 << 20;
    over_all(&options, |us, them| {
        let parts: Vec<Vec<u8>> = (0..8).map(|part| vec![part; 1 << 20]).collect();
        thread::scope(|scope| {
            let receiving = scope.spawn(|| {
                let message = || them.recv_message().unwrap().payload;
                [(); 5].map(|()| message().as_bytes().to_vec())
            });
            let mut done = us.scope(|scope| {
                let all: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
                let whole = scope.post_send(Header::default(), &all);
                let tickets: Vec<_> = parts[..3]
                    .iter()
                    .map(|part| scope.post_send(Header::default(), &[IoSlice::new(part)]))
                    .collect();
                whole.wait().unwrap();
                // The end of the scope waits for the other sends.
                drop(tickets);
                scope.post_send(Header::default(), &[]).wait()
            });
            done.as_mut().unwrap();
            let received = receiving.join().unwrap();
            assert_eq!(received[0], parts.concat());
            assert_eq!(received[1..4], parts[..3]);
            assert!(received[4].is_empty());
        });
    });
}

#[test]
fn a_scope_ends_when_the_device_is_done_also_when_it_fails() {
    let mut options = Options::default();
    options.send_timeout = Duration::from_millis(100);
    options.queue_messages = 1;
    over_all(&options, |us, them| {
        let part = vec![1; 32 << 20];
        // The peer does not receive: one send may be taken, and the others are cancelled.
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            us.scope(|scope| {
                for _ in 0..4 {
                    let ticket = scope.post_send(Header::default(), &[IoSlice::new(&part)]);
                    let _ = ticket.is_done();
                }
                panic!("on purpose");
            })
        }));
        assert_eq!(
            panicked.unwrap_err().downcast_ref::<&str>(),
            Some(&"on purpose")
        );
        drop(part);
        // A message that is too long is rejected, and the scope ends.
        let long = vec![0; 1 << 20];
        let segments: Vec<_> = (0..65).map(|_| IoSlice::new(&long)).collect();
        let refused = us.scope(|scope| scope.post_send(Header::default(), &segments).wait());
        assert!(refused.is_err());
        drop(them);
    });
}
