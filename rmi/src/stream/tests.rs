//! Tests of both sides of a stream over an in-memory connection, in which the test determines the
//! order of frames.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use jstream::{EmptyBuffer, Limits, MessageBuffer};
use jstream_active::Attendant;
use jstream_base::SendError;
use proptest::prelude::*;

use crate::frame::{CloseReason, Key, Window, Word, written};
use crate::interface::Method;
use crate::session::{Clock, Flow, Half, Inbox, Line, Room, Signal, Streams, Taken, Tasks};
use crate::stream::error::StreamError;
use crate::stream::handle::Stream;
use crate::stream::receiving::Receiving;
use crate::stream::source::{Make, Polled, Source};
use crate::support::{CallError, Outcome, lock};

/// One side of the connection.
struct Side {
    peer: Mutex<Weak<Side>>,
    streams: Streams,
    window: Window,
    /// Limits of the messages that this side writes.
    limits: Limits,
    /// Frames in flight to this side.
    coming: Mutex<VecDeque<(u64, Vec<u8>)>>,
    /// Maximum number of frames in flight to this side.
    room: usize,
    free: Tasks,
}

impl Side {
    fn pair(window: Window, room: usize) -> [Arc<Self>; 2] {
        Self::limited_pair(window, room, Limits::default())
    }

    fn limited_pair(window: Window, room: usize, limits: Limits) -> [Arc<Self>; 2] {
        let side = || {
            Arc::new(Self {
                peer: Mutex::default(),
                streams: Streams::default(),
                window,
                limits,
                coming: Mutex::default(),
                room,
                free: Tasks::default(),
            })
        };
        let (one, other) = (side(), side());
        *lock(&one.peer) = Arc::downgrade(&other);
        *lock(&other.peer) = Arc::downgrade(&one);
        [one, other]
    }

    fn peer(&self) -> Arc<Self> {
        lock(&self.peer).upgrade().unwrap()
    }

    /// Delivers one of the frames in flight. Returns false if there is none.
    fn deliver(&self, which: usize) -> bool {
        let mut coming = lock(&self.coming);
        let len = coming.len();
        if len == 0 {
            return false;
        }
        let (word, bytes) = coming.remove(which % len).unwrap();
        drop(coming);
        self.streams.arrive(word, filled(&bytes));
        self.free.wake_all();
        true
    }
}

fn filled(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len().max(1))
        .copy_from(bytes)
        .unwrap()
}

impl Line for Side {
    fn poll_send(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        task: &Waker,
    ) -> Poll<Result<(), SendError>> {
        let peer = self.peer();
        let mut coming = lock(&peer.coming);
        if coming.len() >= peer.room {
            peer.free.register(task);
            return Poll::Pending;
        }
        let bytes = segments.iter().flat_map(|segment| segment.iter().copied());
        coming.push_back((word, bytes.collect()));
        Poll::Ready(Ok(()))
    }

    fn post(&self, word: u64) {
        lock(&self.peer().coming).push_back((word, Vec::new()));
    }

    fn wait(&self, signal: &Signal, until: Option<Instant>) {
        if !self.deliver(0) {
            signal.park(until);
        }
    }

    fn attendant(&self) -> Option<Attendant> {
        None
    }

    fn streams(&self) -> &Streams {
        &self.streams
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn window(&self) -> Window {
        self.window
    }
}

fn nobody() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Makes a call whose argument is a stream. Returns the pumps that send it, and the stream at the
/// callee.
fn argument(
    [caller, callee]: &[Arc<Side>; 2],
    stream: Stream<Vec<u8>>,
) -> (super::pump::Pumps, Stream<Vec<u8>>) {
    let mut carried = super::call::Carried::over(caller.clone());
    let number = carried.send(stream);
    let line: Arc<dyn Line> = callee.clone();
    (
        carried.into_parts().0,
        Stream::argument(&line, number, None).unwrap(),
    )
}

/// One step of a test.
#[derive(Debug, Clone)]
enum Step {
    Drive,
    /// Delivers the frame at this index, which may overtake others.
    ToCallee(usize),
    ToCaller(usize),
    Take(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Drive),
        any::<usize>().prop_map(Step::ToCallee),
        any::<usize>().prop_map(Step::ToCaller),
        (1..20usize).prop_map(Step::Take),
    ];
    prop::collection::vec(step, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// For all windows, sizes and frame orders, each item arrives once and in order, and no more
    /// items are made than the window allows.
    #[test]
    fn items_come_once_and_in_order(
        sizes in prop::collection::vec(prop_oneof![0..40usize, 1000..3000usize], 0..200),
        items in 1..40usize,
        kib in 1..8u64,
        room in 1..10usize,
        together in any::<bool>(),
        steps in steps(),
    ) {
        let sides = Side::pair(Window::new(items, kib * 1024), room);
        let [caller, callee] = &sides;
        let made = Arc::new(Mutex::new(0usize));
        let stream = {
            let (made, mut sizes) = (made.clone(), sizes.clone().into_iter());
            let mut item = move || {
                let size = sizes.next()?;
                let mut made = lock(&made);
                *made += 1;
                Some(vec![u8::try_from(*made % 251).unwrap(); size])
            };
            if together {
                Stream::polled(move |_| Poll::Ready(item()))
            } else {
                Stream::of(std::iter::from_fn(item))
            }
        };
        let (mut pumps, mut taking) = argument(&sides, stream);
        let mut taken = 0usize;
        let mut ended = false;
        let mut take = |most: usize, ended: &mut bool, taken: &mut usize| {
            for _ in 0..most {
                match taking.poll_next(&mut nobody()) {
                    Poll::Ready(Some(Ok(item))) => {
                        assert_eq!(item.get().len(), sizes[*taken]);
                        let expected = u8::try_from((*taken + 1) % 251).unwrap();
                        assert!(item.get().iter().all(|byte| *byte == expected));
                        *taken += 1;
                    }
                    Poll::Ready(Some(Err(error))) => panic!("{error}"),
                    Poll::Ready(None) => *ended = true,
                    Poll::Pending => return,
                }
            }
        };
        for step in steps {
            match step {
                Step::Drive => pumps.drive(Waker::noop()),
                Step::ToCallee(which) => { callee.deliver(which); }
                Step::ToCaller(which) => { caller.deliver(which); }
                Step::Take(most) => take(most, &mut ended, &mut taken),
            }
            // Counts the items in flight, and the items that were made and found no room.
            let made = *lock(&made);
            prop_assert!(made <= taken + 2 * items, "{made} made, {taken} taken");
        }
        let mut idle = 0;
        while !ended {
            pumps.drive(Waker::noop());
            let moved = callee.deliver(0) | caller.deliver(0);
            let before = taken;
            take(1000, &mut ended, &mut taken);
            idle = if moved || taken > before { 0 } else { idle + 1 };
            prop_assert!(idle < 3, "nothing goes on, {taken} of {} taken", sizes.len());
        }
        prop_assert_eq!(taken, sizes.len());
        prop_assert!(pumps.is_empty());
    }

    /// No input of a peer causes a panic, and the window bounds the memory in use.
    #[test]
    fn a_peer_may_send_anything(
        frames in prop::collection::vec(
            (any::<u64>(), 0..4u32, prop::collection::vec(any::<u8>(), 0..64)), 0..100),
        near in any::<bool>(),
    ) {
        let sides = Side::pair(Window::new(8, 1024), 100);
        let [caller, callee] = &sides;
        let (mut pumps, mut taking) = argument(&sides, Stream::of((0..50).map(|n| vec![n; 9])));
        for (word, kind, bytes) in frames {
            // Most frames belong to an existing stream and are within its window.
            let word = if near {
                u64::from(kind) << 62 | 1 << 61 | (word & 0x0007_0003) << 32 | 1
            } else {
                word
            };
            callee.streams.arrive(word, filled(&bytes));
            caller.streams.arrive(word ^ 1 << 61, filled(&bytes));
            pumps.drive(Waker::noop());
            while let Poll::Ready(Some(_)) = taking.poll_next(&mut nobody()) {}
        }
        prop_assert!(lock(&caller.coming).len() + lock(&callee.coming).len() < 1000);
    }
}

/// Creates the receiving side of a stream. The test feeds its inbox.
fn taking(window: Window) -> ([Arc<Side>; 2], Arc<Inbox>, Stream<u64>) {
    let sides = Side::pair(window, 10);
    let inbox = Arc::new(Inbox::new(window));
    let streams = &sides[0].streams;
    let key = streams.join(1, Half::Takes(inbox.clone())).unwrap();
    let line: Arc<dyn Line> = sides[0].clone();
    let stream = Stream {
        of: crate::stream::handle::Of::Peer(Receiving::new(line, key, inbox.clone())),
        waits: crate::support::FirstWait::default(),
    };
    (sides, inbox, stream)
}

/// Returns the method of a call whose result is a stream.
fn method() -> &'static Method {
    static METHOD: OnceLock<Method> = OnceLock::new();
    METHOD.get_or_init(|| Method::new::<(), u64>("numbers", "numbers() -> Stream<u64>"))
}

fn frame(items: &[u64]) -> MessageBuffer {
    written(&items, Limits::default(), |segments| {
        let bytes: Vec<u8> = segments.iter().flat_map(|of| of.iter().copied()).collect();
        filled(&bytes)
    })
    .unwrap()
}

/// Returns the protocol violation that the consumer sees.
fn broken(stream: Stream<u64>) -> &'static str {
    match stream.last() {
        Some(Err(StreamError::Broken { rule })) => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_than_the_window_is_refused() {
    let (_sides, inbox, stream) = taking(Window::new(3, 1 << 20));
    inbox.arrive(0, 2, frame(&[1, 2]));
    inbox.arrive(1, 2, frame(&[3, 4]));
    assert_eq!(broken(stream), "it has sent too many items for the window");

    let (_sides, inbox, stream) = taking(Window::new(1000, 1024));
    inbox.arrive(0, 200, frame(&[0; 200]));
    inbox.arrive(1, 1, frame(&[0]));
    assert_eq!(broken(stream), "it has sent too many bytes for the window");

    let (_sides, inbox, stream) = taking(Window::new(3, 1 << 20));
    inbox.arrive(3, 1, frame(&[1]));
    assert_eq!(broken(stream), "it has sent too many items for the window");
}

#[test]
fn a_frame_comes_once_and_says_what_it_has() {
    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.arrive(1, 1, frame(&[1]));
    inbox.arrive(1, 1, frame(&[1]));
    assert_eq!(broken(stream), "it has sent a frame twice");

    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.arrive(0, 1, frame(&[1, 2]));
    assert_eq!(broken(stream), "a frame has a wrong number of items");

    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.arrive(0, 1, filled(&[7; 40]));
    assert!(matches!(stream.last(), Some(Err(StreamError::Item { .. }))));
}

#[test]
fn an_end_is_an_end() {
    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.close(CloseReason::Ended, 1);
    inbox.arrive(1, 1, frame(&[1]));
    assert_eq!(broken(stream), "it has sent items after the end");

    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.arrive(1, 1, frame(&[1]));
    inbox.close(CloseReason::Ended, 1);
    assert_eq!(broken(stream), "it has sent more frames than it states");

    let (_sides, inbox, stream) = taking(Window::new(8, 1024));
    inbox.close(CloseReason::Ended, 1);
    inbox.close(CloseReason::Ended, 1);
    assert_eq!(broken(stream), "it has ended a stream twice");

    let (_sides, inbox, mut stream) = taking(Window::new(8, 1024));
    inbox.close(CloseReason::Panicked, 1);
    inbox.arrive(0, 1, frame(&[5]));
    assert_eq!(*stream.next().wait().unwrap().unwrap().get(), 5);
    assert!(matches!(
        stream.next().wait(),
        Some(Err(StreamError::Panicked))
    ));
    assert!(stream.next().wait().is_none());
}

#[test]
fn what_came_before_a_loss_is_there() {
    let ([side, _other], inbox, mut stream) = taking(Window::new(8, 1024));
    inbox.arrive(0, 1, frame(&[5]));
    side.streams.lose(&"of the weather".into());
    assert_eq!(*stream.next().wait().unwrap().unwrap().get(), 5);
    let Some(Err(StreamError::Lost { reason })) = stream.next().wait() else {
        panic!("it is lost");
    };
    assert_eq!(reason, "of the weather");
    // Streams that begin later are lost, too.
    let inbox = Arc::new(Inbox::new(Window::new(1, 1)));
    side.streams.begin(Half::Takes(inbox.clone()));
    assert!(matches!(inbox.poll_frame(Waker::noop()), Taken::Stop(_)));
}

#[test]
fn an_answer_that_came_before_a_loss_counts() {
    for frames in [1, 2] {
        let ([side, _other], inbox, mut stream) = taking(Window::new(8, 1024));
        let crate::stream::handle::Of::Peer(receiving) = &mut stream.of else {
            unreachable!("it comes from a peer");
        };
        let ending = Box::pin(async move { Ok(frames) });
        receiving.belongs_to(ending, (method(), None), &Clock::SYSTEM);
        inbox.arrive(0, 1, frame(&[5]));
        side.streams.lose(&"of the weather".into());
        assert_eq!(*stream.next().wait().unwrap().unwrap().get(), 5);
        match stream.next().wait() {
            None => assert_eq!(frames, 1),
            Some(Err(StreamError::Lost { .. })) => assert_eq!(frames, 2),
            other => panic!("{other:?}"),
        }
        assert!(stream.next().wait().is_none());
    }
}

#[test]
fn a_stream_whose_items_are_missing_ends_at_its_deadline() {
    let (_sides, inbox, mut stream) = taking(Window::new(8, 1024));
    let crate::stream::handle::Of::Peer(receiving) = &mut stream.of else {
        unreachable!("it comes from a peer");
    };
    let clock = Clock::paused();
    let deadline = clock.now() + Duration::from_secs(1);
    let terms = (method(), Some(deadline));
    receiving.belongs_to(Box::pin(async { Ok(2) }), terms, &clock);
    inbox.arrive(0, 1, frame(&[5]));
    assert_eq!(*stream.next().wait().unwrap().unwrap().get(), 5);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    assert!(stream.poll_next(&mut context).is_pending());
    assert!(stream.has_arrived());
    clock.advance(Duration::from_secs(2));
    assert!(
        woken.0.load(Ordering::SeqCst),
        "the deadline wakes the task"
    );
    let Poll::Ready(Some(Err(StreamError::Call(error)))) = stream.poll_next(&mut context) else {
        panic!("the stream has ended");
    };
    assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::Ran);
    assert!(stream.next().wait().is_none());
}

/// Records that a task was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn numbers_are_used_once_at_a_time() {
    let streams = Streams::default();
    let half = || Half::Sends(Arc::new(Flow::default()));
    let one = streams.begin(half());
    assert_ne!(streams.begin(half()), one);
    assert!(streams.join(one.number, half()).is_some());
    assert!(streams.join(one.number, half()).is_none());
    assert_eq!(streams.count(), 1);
    let theirs = Key { ours: false, ..one };
    streams.remove(theirs);
    assert!(streams.join(one.number, half()).is_some());
}

#[test]
fn what_makes_a_stream_ends_with_it() {
    let sides = Side::pair(Window::new(4, 1024), 100);
    let [caller, callee] = &sides;
    let alive = Arc::new(());
    let (mut pumps, taking) = {
        let held = alive.clone();
        let endless = Stream::of((0u8..).map(move |n| {
            let _ = &held;
            vec![n]
        }));
        argument(&sides, endless)
    };
    while caller.deliver(0) | callee.deliver(0) {
        pumps.drive(Waker::noop());
    }
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(taking);
    while caller.deliver(0) | callee.deliver(0) {
        pumps.drive(Waker::noop());
    }
    assert_eq!(Arc::strong_count(&alive), 1);
    assert!(pumps.is_empty());
}

/// An item that cannot be written does not affect the frames that were sent before it.
#[test]
fn items_before_one_that_is_too_large_arrive() {
    let mut limits = Limits::default();
    limits.bytes = 1024;
    let sides = Side::limited_pair(Window::new(8, 1 << 20), 100, limits);
    let [caller, callee] = &sides;
    // Each pause ends a frame, so the frames have the items 1, 2 and the large one.
    let mut next = 0;
    let stream = Stream::polled(move |context: &mut Context<'_>| {
        next += 1;
        if next % 2 == 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(match next {
            1 => Some(vec![1]),
            3 => Some(vec![2]),
            5 => Some(vec![0; 4096]),
            _ => None,
        })
    });
    let (mut pumps, mut taking) = argument(&sides, stream);
    // No item is taken before all frames have arrived, so no frame is granted.
    while !pumps.is_empty() {
        pumps.drive(Waker::noop());
        while caller.deliver(0) | callee.deliver(0) {}
    }
    for expected in [1, 2] {
        let item = taking.next().wait().unwrap().unwrap();
        assert_eq!(*item.get(), [expected]);
    }
    let end = taking.next().wait();
    assert!(matches!(end, Some(Err(StreamError::Unsent))), "{end:?}");
}

#[test]
fn a_word_that_is_for_the_other_half_ends_the_stream() {
    let streams = Streams::default();
    let flow = Arc::new(Flow::opened(Window::new(4, 1024)));
    let key = streams.begin(Half::Sends(flow.clone()));
    let theirs = Key { ours: false, ..key };
    let data = Word::Data { place: 0, items: 1 };
    assert!(streams.arrive(data.pack(theirs), filled(&[])));
    assert!(matches!(flow.room(), Room::Stop(_)));
    assert!(!streams.arrive(0, filled(&[])));
}

#[test]
fn a_function_is_asked_until_it_has_nothing() {
    let mut source: Source<u64> = Source::Made(Box::new(Polled({
        let mut next = 0;
        move |_: &mut Context<'_>| {
            next += 1;
            if next % 4 == 0 {
                return Poll::Pending;
            }
            Poll::Ready(Some(next))
        }
    })));
    let mut into = Vec::new();
    assert!(source.poll_make(&mut into, 10, &mut nobody()).is_ready());
    assert_eq!(into, [1, 2, 3]);
    let mut fails = Polled(|_: &mut Context<'_>| Poll::<Option<u64>>::Pending);
    assert!(fails.poll_make(&mut into, 10, &mut nobody()).is_pending());
}
