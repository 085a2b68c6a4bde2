#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::field_reassign_with_default,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::io::IoSlice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use jstream::buffer::{BufferWriter, Pool, PoolOptions};
use jstream::{EmptyBuffer, Erased, Reader, Received, Writer};

use super::*;
use crate::connection::{
    Armed, Body, Fault, Incoming, Interest, Outbound, Outgoing, Payload, Push,
};
use crate::poll::sleep_on;
use jstream_base::Header;

/// Longer than any test takes, so that a hang becomes a failure.
const LONG: Duration = Duration::from_secs(120);

fn address(name: &str) -> Address {
    format!("inproc://{name}").parse().unwrap()
}

fn sides(ours: &Options, theirs: &Options) -> (Connection, Connection) {
    pair(&address("pair"), ours, theirs)
}

fn push(to: &mut dyn Outgoing, bytes: &[u8]) -> Result<Push, Fault> {
    let segments = [IoSlice::new(bytes)];
    to.push(&mut Outbound {
        header: Header::new(1, [2, 3, 4]).with_length(bytes.len() as u64),
        body: Body::Borrowed(&segments),
        is_exchange: false,
        taken: 0,
    })
}

fn push_body(to: &mut dyn Outgoing, length: u64, body: Body<'_>) -> Result<Push, Fault> {
    let mut message = Outbound {
        header: Header::default().with_length(length),
        body,
        is_exchange: false,
        taken: 0,
    };
    let pushed = to.push(&mut message);
    assert_eq!(
        matches!(message.body, Body::Taken),
        matches!(pushed, Ok(Push::Done))
    );
    pushed
}

fn payload(
    from: &mut dyn Incoming,
    mut into: Option<BufferWriter>,
) -> Result<Option<Payload>, Fault> {
    let payload = from.payload(&mut into);
    assert!(into.is_none());
    payload
}

fn bytes(from: &mut dyn Incoming) -> Vec<u8> {
    match payload(from, None).unwrap() {
        Some(Payload::Bytes(filled)) => filled.as_bytes().to_vec(),
        Some(Payload::Object(object)) => panic!("{object:?}"),
        None => panic!("no message"),
    }
}

/// Polls for a header as an endpoint does.
fn next(from: &mut dyn Incoming) -> Result<Header, Fault> {
    loop {
        if let Some(header) = from.header()? {
            return Ok(header);
        }
        from.wait(&mut None, Deadline::after(LONG))?;
    }
}

/// Pushes as an endpoint does.
fn send(to: &mut dyn Outgoing, bytes: &[u8]) {
    while push(to, bytes).unwrap() == Push::Untouched {
        to.wait(Deadline::after(LONG)).unwrap();
    }
}

#[test]
fn counts_of_messages_and_bytes_wrap() {
    for before in [1, 3, 100, 1000] {
        let mut options = Options::default();
        options.queue_messages = 4;
        options.queue_bytes = 300;
        let (mut to, mut from) = Direction::open_after(&options, 0u64.wrapping_sub(before));
        for round in 0..20u8 {
            // The limit in bytes admits three long messages; the limit of messages admits four
            // short ones.
            let (length, most) = if round % 2 == 0 { (100, 3) } else { (10, 4) };
            for number in 0..most {
                assert_eq!(push(&mut to, &vec![number; length]).unwrap(), Push::Done);
            }
            assert_eq!(push(&mut to, &vec![9; length]).unwrap(), Push::Untouched);
            for number in 0..most {
                let Some(Payload::Bytes(filled)) = payload(&mut from, None).unwrap() else {
                    panic!("bytes are here");
                };
                assert_eq!(filled.as_bytes(), vec![number; length]);
            }
            assert!(payload(&mut from, None).unwrap().is_none());
        }
    }
}

#[test]
fn payloads_of_every_length_arrive() {
    let options = Options::default();
    let (mut us, mut them) = sides(&options, &options);
    for length in (0..=INLINE * 2).chain([4096, 100_000]) {
        let sent: Vec<_> = (0..length).map(|at| at as u8).collect();
        assert_eq!(push(&mut *us.outgoing, &sent).unwrap(), Push::Done);
        for _ in 0..2 {
            let header = them.incoming.header().unwrap().unwrap();
            assert_eq!(header, Header::new(1, [2, 3, 4]).with_length(length as u64));
        }
        assert_eq!(bytes(&mut *them.incoming), sent);
        assert!(them.incoming.header().unwrap().is_none());
        assert!(payload(&mut *them.incoming, None).unwrap().is_none());
    }
    assert_eq!(options.pool.stats().in_use, 0);
}

#[test]
fn a_payload_comes_where_it_is_wanted_or_in_its_own_jbuf() {
    let (mut us, mut them) = sides(&Options::default(), &Options::default());
    let pool = Pool::default();
    let jbuf = || pool.take(100).unwrap();
    let at = |payload: Payload| match payload {
        Payload::Bytes(filled) => filled.as_bytes().as_ptr().addr(),
        Payload::Object(_) => panic!("bytes were sent"),
    };

    push(&mut *us.outgoing, b"small").unwrap();
    let mut wanted = jbuf();
    let place = wanted.uninit_mut().as_ptr().addr();
    let got = payload(&mut *them.incoming, Some(wanted.writer())).unwrap();
    assert_eq!(at(got.unwrap()), place);

    let filled = jbuf().copy_from(b"moves").unwrap();
    let place = filled.as_bytes().as_ptr().addr();
    push_body(&mut *us.outgoing, 5, Body::Owned(filled)).unwrap();
    let got = payload(&mut *them.incoming, Some(jbuf().writer())).unwrap();
    assert_eq!(pool.stats().in_use, 1);
    assert_eq!(at(got.unwrap()), place);
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn an_object_moves() {
    let (mut us, mut them) = sides(&Options::default(), &Options::default());
    let message = Writer::new().write(&vec![1u64, 2], EmptyBuffer::heap(256));
    let received: Received<Vec<u64>> = Reader::default().read(message.unwrap()).unwrap();
    let place = received.get().as_ptr().addr();
    let body = Body::Object(Erased::new(received));
    assert_eq!(push_body(&mut *us.outgoing, 256, body).unwrap(), Push::Done);
    assert_eq!(them.incoming.header().unwrap().unwrap().length, 256);
    let Some(Payload::Object(object)) = payload(&mut *them.incoming, None).unwrap() else {
        panic!("an object was sent");
    };
    let received = object.downcast::<Vec<u64>>().unwrap();
    assert_eq!(received.get(), &[1, 2]);
    assert_eq!(received.get().as_ptr().addr(), place);
}

#[test]
fn both_bounds_hold() {
    let mut theirs = Options::default();
    theirs.queue_messages = 3;
    theirs.queue_bytes = 10;
    let (mut us, mut them) = sides(&Options::default(), &theirs);
    let mut push = |length| push(&mut *us.outgoing, &vec![1; length]).unwrap();
    assert_eq!(push(1000), Push::Done);
    assert_eq!(push(1), Push::Untouched);
    assert_eq!(bytes(&mut *them.incoming).len(), 1000);
    assert_eq!(push(4), Push::Done);
    assert_eq!(push(7), Push::Untouched);
    assert_eq!(push(6), Push::Done);
    assert_eq!(push(1), Push::Untouched);
    assert_eq!(push(0), Push::Done);
    assert_eq!(push(0), Push::Untouched);
    assert_eq!(bytes(&mut *them.incoming).len(), 4);
    assert_eq!(push(5), Push::Untouched);
    assert_eq!(push(4), Push::Done);
    for length in [6, 0, 4] {
        assert_eq!(bytes(&mut *them.incoming).len(), length);
    }
}

#[test]
fn the_ends_are_told_in_order() {
    let options = Options::default();
    let (mut us, mut them) = sides(&options, &options);
    push(&mut *us.outgoing, &[1; 200]).unwrap();
    push(&mut *us.outgoing, &[2; 2]).unwrap();
    push(&mut *them.outgoing, &[3; 3]).unwrap();
    drop(us.outgoing);
    assert_eq!(bytes(&mut *them.incoming), [1; 200]);
    assert_eq!(bytes(&mut *them.incoming), [2; 2]);
    assert!(matches!(them.incoming.header(), Err(Fault::Ended)));
    assert!(matches!(
        payload(&mut *them.incoming, None),
        Err(Fault::Ended)
    ));
    // The other direction continues until its receive half is dropped.
    assert_eq!(bytes(&mut *us.incoming), [3; 3]);
    push(&mut *them.outgoing, &[4; 400]).unwrap();
    assert_eq!(options.pool.stats().in_use, 1);
    drop(us.incoming);
    assert_eq!(options.pool.stats().in_use, 0);
    let refused = push(&mut *them.outgoing, &[5; 5]);
    assert!(matches!(refused, Err(Fault::Ended)));
}

#[test]
fn closing_ends_both_directions_and_delivers_what_was_taken() {
    let options = Options::default();
    let (mut us, mut them) = sides(&options, &options);
    push(&mut *us.outgoing, &[1; 100]).unwrap();
    push(&mut *them.outgoing, &[2; 200]).unwrap();
    us.control.close();
    us.control.close();
    assert!(matches!(us.incoming.header(), Err(Fault::ClosedLocally)));
    let refused = push(&mut *us.outgoing, &[]);
    assert!(matches!(refused, Err(Fault::ClosedLocally)));
    let refused = push(&mut *them.outgoing, &[]);
    assert!(matches!(refused, Err(Fault::Ended)));
    assert_eq!(bytes(&mut *them.incoming), [1; 100]);
    assert!(matches!(them.incoming.header(), Err(Fault::Ended)));
    assert_eq!(options.pool.stats().in_use, 0);
}

#[test]
fn a_pool_without_room_loses_nothing() {
    let mut small = PoolOptions::default();
    small.max_mapped = 512 << 10;
    let theirs = Options::new(Pool::new(small));
    let (mut us, mut them) = sides(&Options::default(), &theirs);
    let all: Vec<_> = std::iter::from_fn(|| theirs.pool.take(4096).ok()).collect();
    assert!(!all.is_empty());
    // Long messages fail because they need a buffer; short ones do not.
    let refused = push(&mut *us.outgoing, &[1; 1000]);
    assert!(matches!(refused, Err(Fault::NoBuffer { length: 1000, .. })));
    push(&mut *us.outgoing, &[2; 10]).unwrap();
    let refused = payload(&mut *them.incoming, None);
    assert!(matches!(refused, Err(Fault::NoBuffer { length: 10, .. })));
    assert_eq!(them.incoming.header().unwrap().unwrap().length, 10);
    drop(all);
    push(&mut *us.outgoing, &[1; 1000]).unwrap();
    assert_eq!(bytes(&mut *them.incoming), [2; 10]);
    assert_eq!(bytes(&mut *them.incoming), [1; 1000]);
}

#[test]
fn nothing_longer_is_taken_than_the_peer_allows() {
    let mut theirs = Options::default();
    theirs.max_message = 10;
    let (mut us, _them) = sides(&Options::default(), &theirs);
    assert_eq!(us.limits.max_send, 10);
    assert_eq!(push(&mut *us.outgoing, &[1; 10]).unwrap(), Push::Done);
    let refused = push(&mut *us.outgoing, &[1; 11]);
    assert!(matches!(refused, Err(Fault::TooLarge { length: 11 })));
}

#[test]
fn sleepers_wake() {
    const COUNT: usize = 20_000;
    let mut options = Options::default();
    options.queue_messages = 2;
    let (mut us, mut them) = sides(&options, &options);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..COUNT {
                send(&mut *us.outgoing, &number.to_ne_bytes());
                // From time to time, the receiver has time to fall asleep.
                if number % 1000 == 0 {
                    thread::sleep(Duration::from_millis(2));
                }
            }
        });
        for number in 0..COUNT {
            next(&mut *them.incoming).unwrap();
            assert_eq!(bytes(&mut *them.incoming), number.to_ne_bytes());
            if number % 1500 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
        }
    });
}

#[test]
fn whoever_sleeps_learns_of_an_end() {
    for close in [false, true] {
        let (us, mut them) = sides(&Options::default(), &Options::default());
        thread::scope(|scope| {
            let sleeping = scope.spawn(|| next(&mut *them.incoming));
            thread::sleep(Duration::from_millis(20));
            if close {
                us.control.close();
            } else {
                drop(us);
            }
            assert!(matches!(sleeping.join().unwrap(), Err(Fault::Ended)));
        });
    }
    let (_us, mut them) = sides(&Options::default(), &Options::default());
    thread::scope(|scope| {
        let control = them.control.clone();
        let sleeping = scope.spawn(|| next(&mut *them.incoming));
        thread::sleep(Duration::from_millis(20));
        control.close();
        assert!(matches!(
            sleeping.join().unwrap(),
            Err(Fault::ClosedLocally)
        ));
    });
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let mut options = Options::default();
    options.queue_messages = 1;
    let (mut us, mut them) = sides(&options, &options);
    let soon = || Deadline::after(Duration::from_millis(5));
    them.incoming.wait(&mut None, soon()).unwrap();
    push(&mut *us.outgoing, &[]).unwrap();
    assert_eq!(push(&mut *us.outgoing, &[]).unwrap(), Push::Untouched);
    us.outgoing.wait(soon()).unwrap();
    // The bell is no longer armed.
    bytes(&mut *them.incoming);
    assert_eq!(push(&mut *us.outgoing, &[]).unwrap(), Push::Done);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn wakers_are_called_once() {
    let mut options = Options::default();
    options.queue_messages = 2;
    let (mut us, mut them) = sides(&options, &options);
    let [received, sent] = [(); 2].map(|()| Arc::new(Count::default()));
    let [on_receive, on_send] = [&received, &sent].map(|count| Waker::from(count.clone()));
    let count = |count: &Arc<Count>| count.0.load(Ordering::SeqCst);

    assert_eq!(us.outgoing.arm(Some(&on_send)), Armed::Ready);
    assert_eq!(them.incoming.arm(Some(&on_receive)), Armed::Waker);
    push(&mut *us.outgoing, &[]).unwrap();
    push(&mut *us.outgoing, &[]).unwrap();
    assert_eq!((count(&received), count(&sent)), (1, 0));
    assert_eq!(them.incoming.arm(Some(&on_receive)), Armed::Ready);
    assert_eq!(push(&mut *us.outgoing, &[]).unwrap(), Push::Untouched);
    assert_eq!(us.outgoing.arm(Some(&on_send)), Armed::Waker);
    bytes(&mut *them.incoming);
    bytes(&mut *them.incoming);
    assert_eq!((count(&received), count(&sent)), (1, 1));
    // After the wake-ups, no half keeps a waker.
    drop((on_receive, on_send));
    assert_eq!(
        (Arc::strong_count(&received), Arc::strong_count(&sent)),
        (1, 1)
    );
}

#[test]
fn sources_become_ready_once_armed() {
    let mut options = Options::default();
    options.queue_messages = 1;
    let (mut us, mut them) = sides(&options, &options);
    for _ in 0..3 {
        assert_eq!(them.incoming.arm(None), Armed::Source);
        let source = |them: &Connection, wait| {
            let deadline = Deadline::after(wait);
            sleep_on([(them.incoming.source(), Interest::Readable)], deadline).unwrap()
        };
        assert!(!source(&them, Duration::ZERO));
        push(&mut *us.outgoing, &[]).unwrap();
        assert!(source(&them, LONG));
        assert_eq!(them.incoming.arm(None), Armed::Ready);

        assert_eq!(push(&mut *us.outgoing, &[]).unwrap(), Push::Untouched);
        assert_eq!(us.outgoing.arm(None), Armed::Source);
        let ready = |us: &Connection, wait| {
            sleep_on([us.outgoing.source()], Deadline::after(wait)).unwrap()
        };
        assert!(!ready(&us, Duration::ZERO));
        bytes(&mut *them.incoming);
        assert!(ready(&us, LONG));
    }
}

/// Connects and accepts. `accepted` decides about the request.
fn meet(
    name: &str,
    options: &Options,
    accepted: impl FnOnce(Accepted) + Send,
) -> Result<Connection, ConnectError> {
    let listener = Inproc.listen(&address(name), options).unwrap();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| Inproc.connect(&address(name), options));
        let source = [(listener.source(), Interest::Readable)];
        assert!(sleep_on(source, Deadline::after(LONG)).unwrap());
        let one = listener.try_accept().unwrap().unwrap();
        assert!(listener.try_accept().unwrap().is_none());
        assert!(!sleep_on(source, Deadline::after(Duration::ZERO)).unwrap());
        accepted(one);
        connecting.join().unwrap()
    })
}

#[test]
fn a_listener_establishes_refuses_or_forgets() {
    let options = Options::default();
    let mut theirs = None;
    let ours = meet("establishes", &options, |accepted| {
        theirs = Some(accepted.half_made.establish().unwrap());
    });
    let (mut ours, mut theirs) = (ours.unwrap(), theirs.unwrap());
    push(&mut *ours.outgoing, b"hello").unwrap();
    assert_eq!(bytes(&mut *theirs.incoming), b"hello");

    let long = format!("no\n{}é", "x".repeat(MAX_REASON - 4));
    match meet("refuses", &options, |accepted| {
        accepted.half_made.refuse(&long)
    }) {
        Err(ConnectError::Refused { reason, .. }) => {
            assert_eq!(reason, format!("no\\n{}", "x".repeat(MAX_REASON - 4)));
        }
        other => panic!("{:?}", other.err()),
    }

    let closed = meet("forgets", &options, drop).err().unwrap();
    assert!(matches!(
        closed,
        ConnectError::Handshake {
            source: HandshakeError::Closed { received: 0 },
            ..
        }
    ));

    let mut hasty = Options::default();
    hasty.handshake_timeout = Duration::from_millis(5);
    let late = meet("hesitates", &hasty, |accepted| {
        thread::sleep(Duration::from_millis(200));
        assert!(accepted.half_made.establish().is_err());
    });
    assert!(matches!(
        late.err().unwrap(),
        ConnectError::Handshake {
            source: HandshakeError::TimedOut { .. },
            ..
        }
    ));
}

#[test]
fn a_closed_listener_frees_its_name_and_tells_who_waits() {
    let options = Options::default();
    let listener = Inproc.listen(&address("closes"), &options).unwrap();
    let taken = Inproc.listen(&address("closes"), &options).err();
    assert!(matches!(taken, Some(ListenError::InUse { .. })));
    let source = [(listener.source(), Interest::Readable)];
    thread::scope(|scope| {
        let connecting = scope.spawn(|| Inproc.connect(&address("closes"), &options));
        assert!(sleep_on(source, Deadline::after(LONG)).unwrap());
        listener.close();
        let unheard = connecting.join().unwrap().err();
        assert!(matches!(unheard, Some(ConnectError::NoListener { .. })));
    });
    assert!(sleep_on(source, Deadline::after(Duration::ZERO)).unwrap());
    let closed = listener.try_accept().err();
    assert!(matches!(closed, Some(AcceptError::ClosedLocally { .. })));
    let again = Inproc.listen(&address("closes"), &options).unwrap();
    drop(listener);
    assert!(matches!(
        Inproc.listen(&address("closes"), &options).err(),
        Some(ListenError::InUse { .. })
    ));
    drop(again);
}

#[test]
fn those_who_wait_to_be_accepted_are_bounded() {
    let options = Options::default();
    let listener = Inproc.listen(&address("bounded"), &options).unwrap();
    let mut hasty = Options::default();
    hasty.connect_timeout = Duration::from_millis(5);
    hasty.handshake_timeout = LONG;
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..128)
            .map(|_| scope.spawn(|| Inproc.connect(&address("bounded"), &hasty)))
            .collect();
        until_full(&options, || waiting.iter().any(|one| one.is_finished()));
        listener.close();
        for one in waiting {
            assert!(one.join().unwrap().is_err());
        }
    });
}

/// Makes connection attempts that time out, until the backlog is full.
fn until_full(options: &Options, any_ended: impl Fn() -> bool) {
    let mut brief = options.clone();
    brief.connect_timeout = Duration::ZERO;
    brief.handshake_timeout = Duration::ZERO;
    loop {
        assert!(!any_ended(), "they fit");
        match Inproc.connect(&address("bounded"), &brief).err().unwrap() {
            ConnectError::TimedOut { .. } => return,
            // The backlog still had room.
            ConnectError::Handshake { .. } => thread::yield_now(),
            other => panic!("{other}"),
        }
    }
}
