//! Streams that are resumed after their server was restarted.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::{
    Address, AddressList, CallError, Client, ClientOptions, ClientSet, Metadata, Outcome, Retries,
    Server, Serving, SetOptions, Stream, StreamError, Stub, context, remote,
};
use jstream_sync::parker::block_on;
use testing::until;

use crate::{LONG, addresses, listen, options};

#[remote]
trait Feed {
    /// Returns the numbers from `from` on, each with the length of the topic.
    #[remote(resume = "from")]
    fn numbers(&self, topic: &str, from: u64, end: u64) -> Stream<(u64, u64)>;
    #[remote(resume = "from")]
    fn small(&self, from: u8) -> Stream<u8>;
    #[remote(resume = "type")]
    fn raw(&self, r#type: i32, words: &[&str]) -> Stream<i32>;
    /// Like `numbers`, and not resumed.
    fn plain(&self, from: u64) -> Stream<u64>;
    fn until(&self, from: u64, end: u64) -> Stream<u64>;
    async fn total(&self, numbers: Stream<(u64, u64)>) -> u64;
}

/// The calls of all servers of a test.
#[derive(Default)]
struct Log {
    /// The first number of each call of `numbers`, with the entry "tenant" of its metadata.
    calls: Mutex<Vec<(u64, Option<String>)>>,
    /// Number of items that were made.
    made: AtomicU64,
    /// The errors of streams that were passed on.
    errors: Mutex<Vec<String>>,
}

impl Log {
    fn starts(&self) -> Vec<u64> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|(from, _)| *from).collect()
    }
}

/// Behaviour of a server after some items of each stream.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Goes,
    /// Makes no further items after this number, and does not end the stream.
    Waits(u64),
    /// The producer panics after this number.
    Panics(u64),
}

struct Plain {
    log: Arc<Log>,
    habit: Habit,
    /// Is told when the server waits.
    waits: Option<Sender<()>>,
}

impl Plain {
    fn from<T: Transportable + Send + 'static>(
        &self,
        from: u64,
        end: u64,
        item: impl Fn(u64) -> T + Send + 'static,
    ) -> Stream<T> {
        let metadata = context().metadata().get("tenant").map(str::to_owned);
        self.log.calls.lock().unwrap().push((from, metadata));
        let (log, habit, mut waits) = (self.log.clone(), self.habit, self.waits.clone());
        let mut next = from;
        Stream::polled(move |_: &mut Context<'_>| {
            match habit {
                Habit::Waits(count) if next - from == count => {
                    if let Some(waits) = waits.take() {
                        waits.send(()).ok();
                    }
                    return Poll::Pending;
                }
                Habit::Panics(count) => assert!(next - from < count, "as it should"),
                _ => {}
            }
            if next >= end {
                return Poll::Ready(None);
            }
            next += 1;
            log.made.fetch_add(1, Ordering::SeqCst);
            Poll::Ready(Some(item(next - 1)))
        })
    }
}

#[remote]
impl Feed for Plain {
    fn numbers(&self, topic: &str, from: u64, end: u64) -> Stream<(u64, u64)> {
        let len = topic.len() as u64;
        self.from(from, end, move |number| (number, len))
    }

    fn small(&self, from: u8) -> Stream<u8> {
        self.from(from.into(), 256, |number| number as u8)
    }

    fn raw(&self, r#type: i32, words: &[&str]) -> Stream<i32> {
        let words = words.concat().len() as i32;
        self.from((r#type + 1000) as u64, 1010, move |number| {
            (number as i32 - 1000) * words
        })
    }

    fn plain(&self, from: u64) -> Stream<u64> {
        self.from(from, u64::MAX, |number| number)
    }

    fn until(&self, from: u64, end: u64) -> Stream<u64> {
        self.from(from, end, |number| number)
    }

    async fn total(&self, mut numbers: Stream<(u64, u64)>) -> u64 {
        let mut total = 0;
        while let Some(number) = numbers.next().await {
            match number {
                Ok(number) => total += number.get().0,
                Err(error) => self.log.errors.lock().unwrap().push(error.to_string()),
            }
        }
        total
    }
}

fn start_with(address: &Address, object: Plain) -> Serving {
    let server = Server::default();
    server.bind::<dyn Feed>("feed", Arc::new(object)).unwrap();
    listen(&server, address)
}

fn start(address: &Address, log: &Arc<Log>, habit: Habit) -> Serving {
    let (log, waits) = (log.clone(), None);
    start_with(address, Plain { log, habit, waits })
}

fn connect(address: &Address) -> (Client, FeedStub) {
    let client = Client::connect_with(address, &options(LONG))
        .wait()
        .unwrap();
    let feed = client.lookup::<dyn Feed>("feed").wait().unwrap();
    (client, feed)
}

/// Takes items until the stream has handed out `until`, and checks each.
fn take(stream: &mut Stream<(u64, u64)>, next: &mut u64, until: u64, is_async: bool) {
    while *next < until {
        let item = match is_async {
            true => block_on(stream.next()),
            false => stream.next().wait(),
        };
        assert_eq!(*item.unwrap().unwrap().get(), (*next, 5));
        *next += 1;
    }
}

/// Takes all items of a stream that is not resumed, and its end.
fn take_plain(stream: &mut Stream<u64>, end: u64, is_async: bool) {
    let mut next = || match is_async {
        true => block_on(stream.next()),
        false => stream.next().wait(),
    };
    for number in 0..end {
        assert_eq!(*next().unwrap().unwrap().get(), number);
    }
    assert!(next().is_none());
}

#[test]
fn every_item_comes_once_and_in_order() {
    for is_async in [false, true] {
        for address in addresses("order") {
            let log = Arc::default();
            let mut serving = start(&address, &log, Habit::Goes);
            let (_client, feed) = connect(&address);
            let mut next = 17;
            let mut stream = feed.numbers("topic", 17, 10_017);
            for stop in [18, 3_000, 3_001, 7_500] {
                take(&mut stream, &mut next, stop, is_async);
                serving.stop();
                serving = start(&address, &log, Habit::Goes);
            }
            take(&mut stream, &mut next, 10_017, is_async);
            assert!(stream.next().wait().is_none());
            assert!(stream.next().wait().is_none());
            let starts = log.starts();
            assert_eq!(starts[0], 17);
            // Items that had arrived are handed out first.
            assert!(starts.is_sorted() && starts.len() <= 5, "{starts:?}");
            assert!(starts.len() > 1, "{starts:?}");
            serving.stop();
        }
    }
}

#[test]
fn every_item_comes_once_while_the_server_dies_again_and_again() {
    const ITEMS: u64 = 10_000;
    for address in addresses("deaths") {
        let log = Arc::<Log>::default();
        let first = start(&address, &log, Habit::Goes);
        let (_client, feed) = connect(&address);
        let taken = [(); 4].map(|()| AtomicU64::new(0));
        let mut deaths = 0;
        let last = thread::scope(|scope| {
            let mut serving = first;
            for (reader, taken) in taken.iter().enumerate() {
                let mut stream = feed.numbers("topic", 0, ITEMS);
                scope.spawn(move || {
                    let mut next = 0;
                    while next < ITEMS {
                        let until = next + 1;
                        take(&mut stream, &mut next, until, reader % 2 == 0);
                        taken.store(next, Ordering::SeqCst);
                        if next % 100 == 0 {
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                    assert!(stream.next().wait().is_none());
                });
            }
            let load = || taken.each_ref().map(|taken| taken.load(Ordering::SeqCst));
            // The server dies while items are on their way, when each reader has got some.
            while load().iter().any(|taken| *taken < ITEMS) {
                let before = load();
                until(|| {
                    let mut pairs = before.iter().zip(load());
                    pairs.all(|(before, now)| now >= ITEMS.min(before + 500))
                });
                serving.stop();
                deaths += 1;
                serving = start(&address, &log, Habit::Goes);
            }
            serving
        });
        assert!(deaths >= 4, "{deaths}");
        last.stop();
    }
}

#[test]
fn a_stream_moves_from_a_server_that_is_shutting_down() {
    for is_async in [false, true] {
        let address: Address = format!("inproc://resuming-goodbye-{is_async}")
            .parse()
            .unwrap();
        let log = Arc::<Log>::default();
        let first = start(&address, &log, Habit::Waits(5));
        let (_client, feed) = connect(&address);
        let reader = thread::spawn(move || {
            let (mut stream, mut next) = (feed.numbers("topic", 3, 100), 3);
            // The first server makes five items, and then nothing happens until it says goodbye.
            take(&mut stream, &mut next, 100, is_async);
            assert!(stream.next().wait().is_none());
        });
        until(|| log.made.load(Ordering::SeqCst) == 5);
        thread::sleep(Duration::from_millis(20));
        let ending = thread::spawn(move || first.shutdown(LONG).wait());
        let second = start(&address, &log, Habit::Goes);
        reader.join().unwrap();
        // The stream has left the server, which therefore ends before its time.
        let ended = ending.join().unwrap();
        assert_eq!((ended.cut_off, ended.abandoned), (0, false));
        assert_eq!(log.starts(), [3, 8]);
        second.stop();
    }
}

#[test]
fn items_that_another_thread_has_received_arrive() {
    for address in addresses("received") {
        let log = Arc::<Log>::default();
        let serving = start(&address, &log, Habit::Goes);
        let (_client, feed) = connect(&address);
        let mut resumed = feed.numbers("topic", 0, 10);
        let mut plain = feed.until(0, 10);
        // Meanwhile, the thread that attends to the server receives for the connection. It leaves
        // the items to the next thread that serves, and records the results of the calls.
        thread::sleep(Duration::from_millis(300));
        // A task serves only while it is polled, and nobody else does so here.
        let (sender, receiver) = channel();
        thread::spawn(move || {
            take(&mut resumed, &mut 0, 10, true);
            take_plain(&mut plain, 10, true);
            sender.send(()).unwrap();
        });
        receiver.recv_timeout(LONG).expect("all items arrive");
        serving.stop();
    }
}

#[test]
fn items_that_arrived_before_the_end_of_a_server_are_handed_out() {
    thread::scope(|scope| {
        for is_async in [false, true] {
            for address in addresses(&format!("arrived-{is_async}")) {
                scope.spawn(move || {
                    let log = Arc::<Log>::default();
                    let serving = start(&address, &log, Habit::Goes);
                    let (_client, feed) = connect(&address);
                    let mut stream = feed.until(0, 10);
                    until(|| log.made.load(Ordering::SeqCst) == 10);
                    // Nobody polls the stream. The thread that attends to the server receives.
                    let ended = serving.shutdown(LONG).wait();
                    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
                    take_plain(&mut stream, 10, is_async);
                });
            }
        }
    });
}

#[test]
fn a_busy_stream_moves_from_a_server_that_is_shutting_down() {
    for address in addresses("busy") {
        let log = Arc::<Log>::default();
        let mut serving = start(&address, &log, Habit::Goes);
        let (_client, feed) = connect(&address);
        let (mut stream, mut next) = (feed.numbers("topic", 0, u64::MAX), 0);
        for _ in 0..3 {
            let stop = next + 2_000;
            take(&mut stream, &mut next, stop, false);
            let done = AtomicBool::new(false);
            let next_serving = thread::scope(|scope| {
                let (done, address, log) = (&done, &address, &log);
                // Over some devices, a new server can listen before the old one has ended.
                let ending = scope.spawn(move || {
                    let ended = serving.shutdown(Duration::from_millis(300)).wait();
                    assert!(!ended.abandoned);
                    done.store(true, Ordering::SeqCst);
                });
                let starting = scope.spawn(move || start(address, log, Habit::Goes));
                while !done.load(Ordering::SeqCst) {
                    let stop = next + 1;
                    take(&mut stream, &mut next, stop, false);
                }
                ending.join().unwrap();
                starting.join().unwrap()
            });
            serving = next_serving;
        }
        let stop = next + 2_000;
        take(&mut stream, &mut next, stop, false);
        serving.stop();
    }
}

#[test]
fn a_stream_that_has_ended_is_not_resumed() {
    let address: Address = "inproc://resuming-ended".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Goes);
    let (_client, feed) = connect(&address);
    let mut ended = feed.numbers("topic", 0, 10);
    take(&mut ended, &mut 0, 10, false);
    assert!(ended.next().wait().is_none());
    // All items of this one have arrived, and its end.
    let mut arrived = feed.numbers("topic", 0, 10);
    let mut context = Context::from_waker(Waker::noop());
    until(|| arrived.poll_next(&mut context).is_ready());
    assert_eq!(serving.shutdown(LONG).wait().cut_off, 0);
    let serving = start(&address, &log, Habit::Goes);
    assert!(ended.next().wait().is_none());
    assert_eq!(arrived.filter_map(Result::ok).count(), 9);
    assert_eq!(log.starts(), [0, 0]);
    serving.stop();
}

#[test]
fn errors_of_the_producer_are_not_resumed() {
    let address: Address = "inproc://resuming-panics".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Panics(3));
    let (_client, feed) = connect(&address);
    let mut stream = feed.numbers("topic", 0, 10);
    let error = loop {
        if let Err(error) = stream.next().wait().unwrap() {
            break error;
        }
    };
    assert!(
        matches!(
            error,
            StreamError::Panicked | StreamError::Call(CallError::Panicked { .. })
        ),
        "{error}"
    );
    assert!(stream.next().wait().is_none());
    assert_eq!(log.starts(), [0]);
    serving.stop();
}

#[test]
fn another_interface_ends_the_stream() {
    mod other {
        #[jstream_rmi::remote]
        pub(super) trait Feed {
            fn numbers(&self, topic: u8);
        }
    }
    struct Other;
    impl other::Feed for Other {
        fn numbers(&self, _: u8) {}
    }
    let address: Address = "inproc://resuming-interface".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(2));
    let (_client, feed) = connect(&address);
    let mut stream = feed.numbers("topic", 0, 10);
    take(&mut stream, &mut 0, 2, false);
    serving.stop();
    let server = Server::default();
    let object = Arc::new(Other);
    server.bind::<dyn other::Feed>("feed", object).unwrap();
    let serving = server.listen(&address).unwrap();
    let error = stream.next().wait().unwrap().unwrap_err();
    assert!(error.to_string().contains("another interface"), "{error}");
    assert!(stream.next().wait().is_none());
    serving.stop();
}

#[test]
fn numbers_that_are_too_large_end_the_stream() {
    let address: Address = "inproc://resuming-overflow".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(5));
    let (_client, feed) = connect(&address);
    let (mut fits, mut exceeds) = (feed.small(250), feed.small(251));
    for n in 0..5 {
        assert_eq!(*fits.next().wait().unwrap().unwrap().get(), 250 + n);
        assert_eq!(*exceeds.next().wait().unwrap().unwrap().get(), 251 + n);
    }
    serving.stop();
    let serving = start(&address, &log, Habit::Goes);
    assert_eq!(*fits.next().wait().unwrap().unwrap().get(), 255);
    assert!(fits.next().wait().is_none());
    let error = exceeds.next().wait().unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            StreamError::Unresumable {
                method: "small",
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("after 5 items"), "{error}");
    assert!(exceeds.next().wait().is_none());
    assert_eq!(log.starts(), [250, 251, 255]);
    serving.stop();
}

#[test]
fn all_arguments_and_the_metadata_are_repeated() {
    let address: Address = "inproc://resuming-arguments".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(3));
    let (_client, feed) = connect(&address);
    let mut metadata = Metadata::default();
    metadata.insert("tenant", "acme").unwrap();
    // The metadata is that of the place where the call is made.
    let words = [String::from("ab"), String::from("c")];
    let mut raw = context()
        .with_metadata(metadata)
        .enter(|| feed.raw(-5, &words.each_ref().map(String::as_str)));
    drop(words);
    for n in -5..-2 {
        assert_eq!(*raw.next().wait().unwrap().unwrap().get(), n * 3);
    }
    serving.stop();
    let serving = start(&address, &log, Habit::Goes);
    let rest: Vec<_> = raw.map(|item| *item.unwrap().get()).collect();
    assert_eq!(rest, (-2..10).map(|n| n * 3).collect::<Vec<_>>());
    let tenant = Some("acme".to_owned());
    assert_eq!(
        *log.calls.lock().unwrap(),
        [(995, tenant.clone()), (998, tenant)]
    );
    serving.stop();
}

/// Ends the server whenever it waits, and starts it again.
fn dying(address: &Address, log: &Arc<Log>, items: u64) -> (Sender<()>, thread::JoinHandle<u64>) {
    let (waits, waiting): (_, Receiver<()>) = channel();
    let object = |waits: &Sender<()>| Plain {
        log: log.clone(),
        habit: Habit::Waits(items),
        waits: Some(waits.clone()),
    };
    let mut serving = start_with(address, object(&waits));
    let (address, log, sender) = (address.clone(), log.clone(), waits.clone());
    let (stop, stopped) = channel();
    let thread = thread::spawn(move || {
        let mut deaths = 0;
        while stopped.try_recv().is_err() {
            if waiting.recv_timeout(Duration::from_millis(5)).is_ok() {
                // The items that were made arrive before that.
                thread::sleep(Duration::from_millis(5));
                serving.stop();
                deaths += 1;
                let object = Plain {
                    log: log.clone(),
                    habit: Habit::Waits(items),
                    waits: Some(sender.clone()),
                };
                serving = start_with(&address, object);
            }
        }
        serving.stop();
        deaths
    });
    (stop, thread)
}

#[test]
fn a_call_that_ends_each_server_is_repeated_three_times() {
    let address: Address = "inproc://resuming-fatal".parse().unwrap();
    let log = Arc::<Log>::default();
    let (stop, deaths) = dying(&address, &log, 0);
    let (_client, feed) = connect(&address);
    let mut stream = feed.numbers("topic", 7, 10);
    let error = stream.next().wait().unwrap().unwrap_err();
    match &error {
        StreamError::Call(error) => assert_eq!(error.outcome(), Outcome::MayHaveRun, "{error}"),
        error => assert!(matches!(error, StreamError::Lost { .. }), "{error}"),
    }
    assert!(stream.next().wait().is_none());
    assert_eq!(log.starts(), [7; 4]);
    stop.send(()).unwrap();
    assert_eq!(deaths.join().unwrap(), 4);
}

#[test]
fn each_item_is_progress() {
    let address: Address = "inproc://resuming-one".parse().unwrap();
    let log = Arc::<Log>::default();
    let (stop, deaths) = dying(&address, &log, 1);
    let (_client, feed) = connect(&address);
    let mut stream = feed.numbers("topic", 0, 12);
    take(&mut stream, &mut 0, 12, false);
    let starts = log.starts();
    assert_eq!(starts, (0..12).collect::<Vec<_>>());
    drop(stream);
    stop.send(()).unwrap();
    assert!(deaths.join().unwrap() >= 11);
}

#[test]
fn streams_wait_for_the_connection_until_their_deadline_and_with_patience() {
    let address: Address = "inproc://resuming-waits".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(1));
    let impatient = options(Duration::from_millis(60));
    let impatient = Client::connect_with(&address, &impatient).wait().unwrap();
    let hasty = impatient.lookup::<dyn Feed>("feed").wait().unwrap();
    let (_client, feed) = connect(&address);
    let brief = feed.within(Duration::from_millis(200));
    let mut streams = [&hasty, &brief, &hasty, &brief].map(|feed| feed.numbers("topic", 0, 10));
    for stream in &mut streams {
        take(stream, &mut 0, 1, false);
    }
    serving.stop();
    for (stream, is_async) in streams.iter_mut().zip([false, false, true, true]) {
        let item = match is_async {
            true => block_on(stream.next()),
            false => stream.next().wait(),
        };
        let error = item.unwrap().unwrap_err();
        // The call may have run, before its connection was lost.
        assert!(
            matches!(
                &error,
                StreamError::Call(CallError::Lost { .. } | CallError::Deadline { .. })
            ),
            "{error}"
        );
        assert!(stream.next().wait().is_none());
    }
    // A stream that is made while there is no connection waits for it. Others do not.
    let mut late = feed.numbers("topic", 40, 50);
    assert!(feed.plain(0).next().wait().unwrap().is_err());
    let mut context = Context::from_waker(Waker::noop());
    assert!(late.poll_next(&mut context).is_pending());
    let serving = start(&address, &log, Habit::Goes);
    take(&mut late, &mut 40, 50, false);
    assert!(late.next().wait().is_none());
    serving.stop();
}

#[test]
fn without_reconnecting_streams_are_not_resumed() {
    let address: Address = "inproc://resuming-off".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(2));
    let mut options = ClientOptions::default();
    options.reconnect = None;
    let client = Client::connect_with(&address, &options).wait().unwrap();
    let feed = client.lookup::<dyn Feed>("feed").wait().unwrap();
    let mut stream = feed.numbers("topic", 0, 10);
    take(&mut stream, &mut 0, 2, false);
    serving.stop();
    let serving = start(&address, &log, Habit::Goes);
    assert!(stream.next().wait().unwrap().is_err());
    assert!(stream.next().wait().is_none());
    assert_eq!(log.starts(), [0]);
    serving.stop();
}

#[test]
fn streams_can_be_passed_on() {
    let address: Address = "inproc://resuming-relay".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Goes);
    let (_client, feed) = connect(&address);
    let feed = feed.retrying(Retries::default());
    let total = feed.total(feed.numbers("topic", 0, 2_000)).wait().unwrap();
    assert_eq!(*total.get(), 1_999_000);
    let mut begun = feed.numbers("topic", 0, 2_000);
    take(&mut begun, &mut 0, 1, false);
    assert_eq!(*feed.total(begun).wait().unwrap().get(), 0);
    let given_up = StreamError::GivenUp.to_string();
    assert_eq!(*log.errors.lock().unwrap(), [given_up]);
    serving.stop();
}

#[test]
fn a_dropped_stream_leaves_nothing() {
    let address: Address = "inproc://resuming-dropped".parse().unwrap();
    let log = Arc::<Log>::default();
    let serving = start(&address, &log, Habit::Waits(1));
    let (client, feed) = connect(&address);
    let weak = client.downgrade();
    let mut stream = feed.numbers("topic", 0, 10);
    take(&mut stream, &mut 0, 1, true);
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(stream.next()).poll(&mut context).is_pending());
    serving.stop();
    until(|| {
        let state = client.state();
        assert!(pin!(stream.next()).poll(&mut context).is_pending());
        matches!(state, jstream_rmi::ConnectionState::Lost { .. })
    });
    drop((stream, feed, client));
    until(|| weak.upgrade().is_none());
}

/// Returns a set of servers, and a stub of the feed that is pinned or chosen for each call.
fn set_of(addresses: &[Address]) -> ClientSet {
    let mut options = SetOptions::default();
    options.client = crate::options(LONG);
    options.watch = Duration::from_millis(5);
    let list = AddressList::new(addresses.iter().cloned()).unwrap();
    ClientSet::open_with(list, &options).unwrap()
}

#[test]
fn streams_of_a_set_go_on_at_other_servers() {
    let pairs = addresses("set-a").into_iter().zip(addresses("set-b"));
    for (first, second) in pairs {
        let log = Arc::<Log>::default();
        let addresses = [first, second];
        let mut servers = addresses
            .each_ref()
            .map(|address| Some(start(address, &log, Habit::Goes)));
        let set = set_of(&addresses);
        assert!(set.ready().wait());
        let feed = set.get::<dyn Feed>("feed");
        let (mut stream, mut next) = (feed.numbers("topic", 5, u64::MAX), 5);
        for round in 0..4 {
            let stop = next + 3_000;
            take(&mut stream, &mut next, stop, round % 2 == 0);
            // One after the other is stopped, and only the other one is left.
            let at = round % 2;
            servers[at].take().unwrap().stop();
            // The items that had arrived are handed out first.
            let stop = next + 3_000;
            take(&mut stream, &mut next, stop, round % 2 == 1);
            servers[at] = Some(start(&addresses[at], &log, Habit::Goes));
            until(|| {
                let members = set.members();
                let open = |one: &&_| -> bool {
                    let one: &jstream_rmi::MemberInfo = one;
                    one.state == jstream_rmi::MemberState::Open
                };
                members.iter().filter(open).count() == 2
            });
        }
        let starts = log.starts();
        assert!(starts.len() >= 2 && starts.is_sorted(), "{starts:?}");
        assert_eq!(starts[0], 5);
        drop((stream, feed, set));
        servers.into_iter().flatten().for_each(Serving::stop);
    }
}

#[test]
fn streams_of_a_set_move_from_a_server_that_is_shutting_down() {
    let addresses = ["a", "b"].map(|name| format!("inproc://resuming-set-{name}").parse().unwrap());
    let log = Arc::<Log>::default();
    let first = start(&addresses[0], &log, Habit::Waits(5));
    let set = set_of(&addresses);
    let feed = set.get::<dyn Feed>("feed");
    let mut stream = feed.numbers("topic", 0, 20);
    take(&mut stream, &mut 0, 5, false);
    let second = start(&addresses[1], &log, Habit::Goes);
    let reader = thread::spawn(move || {
        take(&mut stream, &mut 5, 20, false);
        assert!(stream.next().wait().is_none());
    });
    let ended = first.shutdown(LONG).wait();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    reader.join().unwrap();
    assert_eq!(log.starts(), [0, 5]);
    second.stop();
}
