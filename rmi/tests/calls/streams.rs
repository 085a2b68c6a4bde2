//! Streams as results and arguments, over every device.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::{
    CallError, Client, ClientOptions, Exclusive, LookupError, Outcome, Sender, Server,
    ServerOptions, Serving, Stream, StreamError, Stub, remote,
};

use testing::tasks::block_on;
use testing::until;

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Line {
    number: u64,
    text: String,
}

#[remote]
trait Numbers {
    fn below(&self, most: u64) -> Stream<u64>;
    fn squares(&self, numbers: Stream<u64>) -> Stream<u64>;
    fn total(&self, numbers: Stream<u64>) -> u64;
    async fn dot(&self, scale: f64, a: Stream<f64>, b: Stream<f64>) -> f64;
    fn lines(&self, count: u64, bytes: usize) -> Stream<Line>;
    /// Returns an endless stream of items that a thread of the method makes.
    fn ticks(&self) -> Stream<u64>;
    fn fails(&self, after: u64) -> Stream<Result<u64, String>>;
    fn panics(&self, after: u64) -> Stream<u64>;
    fn sender_panics(&self) -> Stream<u64>;
    /// Takes only the first `count` items.
    fn first(&self, numbers: Stream<u64>, count: usize) -> u64;
    async fn sent_back(&self, numbers: Stream<u64>) -> Stream<u64>;
    fn weighed(&self, weights: &[f64], numbers: Stream<f64>) -> f64;
    fn made(&self) -> u64;
    fn ended(&self) -> u64;
}

#[derive(Default)]
struct Plain {
    /// The number of items made so far.
    made: Arc<AtomicUsize>,
    /// The number of threads of `ticks` that have ended.
    ended: Arc<AtomicUsize>,
}

#[remote]
impl Numbers for Plain {
    fn below(&self, most: u64) -> Stream<u64> {
        let made = self.made.clone();
        Stream::of((0..most).inspect(move |_| {
            made.fetch_add(1, Ordering::Relaxed);
        }))
    }

    fn squares(&self, mut numbers: Stream<u64>) -> Stream<u64> {
        Stream::polled(move |context| {
            let item = std::task::ready!(numbers.poll_next(context));
            std::task::Poll::Ready(item.map(|n| n.unwrap().get().pow(2)))
        })
    }

    fn total(&self, numbers: Stream<u64>) -> u64 {
        numbers.map(|n| *n.unwrap().get()).sum()
    }

    async fn dot(&self, scale: f64, mut a: Stream<f64>, mut b: Stream<f64>) -> f64 {
        let mut sum = 0.0;
        while let (Some(a), Some(b)) = (a.next().await, b.next().await) {
            sum += a.unwrap().get() * b.unwrap().get();
        }
        scale * sum
    }

    fn lines(&self, count: u64, bytes: usize) -> Stream<Line> {
        Stream::of((0..count).map(move |number| Line {
            number,
            text: "x".repeat(bytes),
        }))
    }

    fn ticks(&self) -> Stream<u64> {
        let (sender, stream) = jstream_rmi::stream(4);
        let (made, ended) = (self.made.clone(), self.ended.clone());
        thread::spawn(move || {
            for tick in 0.. {
                if sender.send(tick).wait().is_err() {
                    break;
                }
                made.fetch_add(1, Ordering::Relaxed);
            }
            ended.fetch_add(1, Ordering::Relaxed);
        });
        stream
    }

    fn fails(&self, after: u64) -> Stream<Result<u64, String>> {
        let good = (0..after).map(Ok);
        Stream::of(good.chain([Err("no more".to_owned())]))
    }

    fn panics(&self, after: u64) -> Stream<u64> {
        Stream::of((0..).inspect(move |n| assert!(*n < after, "on purpose")))
    }

    fn sender_panics(&self) -> Stream<u64> {
        let (sender, stream) = jstream_rmi::stream(4);
        thread::spawn(move || {
            sender.send(1).wait().unwrap();
            panic!("on purpose");
        });
        stream
    }

    fn first(&self, numbers: Stream<u64>, count: usize) -> u64 {
        numbers.take(count).map(|n| *n.unwrap().get()).sum()
    }

    async fn sent_back(&self, mut numbers: Stream<u64>) -> Stream<u64> {
        let first = *numbers.next().await.unwrap().unwrap().get();
        let rest = numbers.map(|n| *n.unwrap().get());
        drop(rest);
        Stream::of([first])
    }

    fn weighed(&self, weights: &[f64], numbers: Stream<f64>) -> f64 {
        let numbers = numbers.map(|n| *n.unwrap().get());
        weights.iter().zip(numbers).map(|(a, b)| a * b).sum()
    }

    fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed) as u64
    }

    fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed) as u64
    }
}

fn addresses() -> Vec<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let own = format!(
        "{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let file = std::env::temp_dir().join(format!("jstream-streams-{own}"));
    vec![
        format!("inproc://streams-{own}"),
        format!("shm://streams-{own}"),
        format!("uds://{}", file.display()),
        "tcp://127.0.0.1:0".to_owned(),
    ]
}

fn serve(address: &str) -> Serving {
    let server = Server::default();
    server
        .bind::<dyn Numbers>("numbers", Arc::new(Plain::default()))
        .unwrap();
    server.listen(&address.parse().unwrap()).unwrap()
}

fn lookup(serving: &Serving, options: &ClientOptions) -> NumbersStub {
    let client = Client::connect_with(serving.address(), options)
        .wait()
        .unwrap();
    client.lookup::<dyn Numbers>("numbers").wait().unwrap()
}

/// Runs a test over each device.
fn everywhere(test: impl Fn(&NumbersStub)) {
    for address in addresses() {
        let serving = serve(&address);
        test(&lookup(&serving, &ClientOptions::default()));
    }
}

/// Runs a test within the process only.
fn here(options: &ClientOptions, test: impl FnOnce(&NumbersStub)) {
    let serving = serve(&addresses()[0]);
    test(&lookup(&serving, options));
}

#[test]
fn all_items_come_in_order() {
    everywhere(|numbers| {
        let mut expected = 0;
        for item in numbers.below(100_000) {
            assert_eq!(*item.unwrap().get(), expected);
            expected += 1;
        }
        assert_eq!(expected, 100_000);
        assert_eq!(numbers.below(0).count(), 0);
    });
}

#[test]
fn arguments_come_to_the_method() {
    everywhere(|numbers| {
        let total = numbers.total(Stream::of(0..100_000)).wait().unwrap();
        assert_eq!(*total.get(), 100_000 * 99_999 / 2);
        let (a, b) = (Stream::of([1.0, 2.0, 3.0]), Stream::of([4.0, 5.0, 6.0]));
        assert_eq!(*numbers.dot(2.0, a, b).wait().unwrap().get(), 64.0);
        assert_eq!(*numbers.total(Stream::of([])).wait().unwrap().get(), 0);
    });
}

#[test]
fn large_arguments_may_go_with_a_stream() {
    everywhere(|numbers| {
        let weights = vec![2.0; 300_000];
        let weighed = numbers.weighed(&weights, Stream::of((0..1000).map(f64::from)));
        assert_eq!(*weighed.wait().unwrap().get(), 999_000.0);
    });
}

#[test]
fn both_directions_go_at_once() {
    everywhere(|numbers| {
        let squares = numbers.squares(Stream::of(0..20_000));
        let mut expected = 0u64;
        for square in squares {
            assert_eq!(*square.unwrap().get(), expected * expected);
            expected += 1;
        }
        assert_eq!(expected, 20_000);
    });
}

#[test]
fn senders_send_before_and_after_the_call() {
    everywhere(|numbers| {
        let (sender, stream) = jstream_rmi::stream(8);
        for n in 0..8 {
            sender.send(n).wait().unwrap();
        }
        let total = numbers.total(stream);
        // The sending thread itself delivers the items.
        for n in 8..10_000 {
            sender.send(n).wait().unwrap();
        }
        drop(sender);
        assert_eq!(*total.wait().unwrap().get(), 10_000 * 9_999 / 2);
    });
}

#[test]
fn large_items_come_one_by_one() {
    everywhere(|numbers| {
        let lines = numbers.lines(6, 3 << 20);
        for (number, line) in lines.enumerate() {
            let line = line.unwrap();
            assert_eq!(line.get().number, number as u64);
            assert_eq!(line.get().text.len(), 3 << 20);
        }
    });
}

#[test]
fn a_slow_taker_holds_up_the_maker() {
    let options = {
        let mut options = ClientOptions::default();
        options.stream_items = 64;
        options
    };
    here(&options, |numbers| {
        let mut below = numbers.below(1_000_000);
        assert_eq!(*below.next().wait().unwrap().unwrap().get(), 0);
        let made = *numbers.made().wait().unwrap().get();
        // The items in flight, and those that were made meanwhile.
        assert!(made <= 129, "{made}");
        for _ in 0..500 {
            below.next().wait().unwrap().unwrap();
        }
        let made = *numbers.made().wait().unwrap().get();
        assert!((500..=630).contains(&made), "{made}");
    });
}

#[test]
fn one_that_nobody_looks_at_holds_up_no_other() {
    everywhere(|numbers| {
        let stalled: Vec<_> = (0..20).map(|_| numbers.below(1_000_000)).collect();
        assert_eq!(numbers.below(10_000).count(), 10_000);
        assert_eq!(
            *numbers.total(Stream::of(0..100)).wait().unwrap().get(),
            4950
        );
        for mut stream in stalled {
            assert_eq!(*stream.next().wait().unwrap().unwrap().get(), 0);
        }
    });
}

#[test]
fn who_takes_no_more_ends_the_maker() {
    everywhere(|numbers| {
        let mut ticks = numbers.ticks();
        for expected in 0..10_000 {
            assert_eq!(*ticks.next().wait().unwrap().unwrap().get(), expected);
        }
        drop(ticks);
        until(|| *numbers.ended().wait().unwrap().get() > 0);
    });
}

#[test]
fn a_method_that_takes_no_more_tells_its_caller() {
    everywhere(|numbers| {
        let (sender, stream) = jstream_rmi::stream(4);
        let first = numbers.first(stream, 3);
        let mut refused = None;
        for n in 1u64.. {
            if let Err(unwanted) = sender.send(n).wait() {
                refused = Some(unwanted.0);
                break;
            }
        }
        assert!(refused.unwrap() > 3);
        assert!(sender.is_unwanted());
        assert_eq!(*first.wait().unwrap().get(), 6);
    });
}

#[test]
fn a_call_that_is_dropped_ends_its_arguments() {
    here(&ClientOptions::default(), |numbers| {
        let (sender, stream) = jstream_rmi::stream(4);
        let total = numbers.total(stream);
        sender.send(1).wait().unwrap();
        drop(total);
        assert_eq!(sender.send(2).wait().unwrap_err().0, 2);
    });
}

#[test]
fn errors_are_items_and_panics_are_ends() {
    everywhere(|numbers| {
        let items: Vec<_> = numbers.fails(3).map(Result::unwrap).collect();
        assert_eq!(items.len(), 4);
        assert_eq!(items[2].get(), &Ok(2));
        assert_eq!(items[3].get(), &Err("no more"));

        let mut panics = numbers.panics(5);
        let end = panics.by_ref().find_map(Result::err).unwrap();
        assert!(
            matches!(end, StreamError::Call(CallError::Panicked { .. })),
            "{end}"
        );
        assert!(panics.next().wait().is_none());

        let items: Vec<_> = numbers.sender_panics().collect();
        assert_eq!(items.len(), 2);
        assert!(items[1].is_err(), "{items:?}");
        // The server is still alive.
        assert_eq!(numbers.below(3).count(), 3);
    });
}

#[test]
fn a_deadline_bounds_a_stream() {
    here(&ClientOptions::default(), |numbers| {
        let mut ticks = numbers.within(Duration::from_millis(50)).ticks();
        let error = ticks.by_ref().find_map(Result::err).unwrap();
        let StreamError::Call(CallError::Deadline { outcome, .. }) = error else {
            panic!("{error}");
        };
        assert_eq!(outcome, Outcome::MayHaveRun);
    });
}

#[test]
fn a_time_out_takes_nothing_away() {
    let (sender, mut stream) = jstream_rmi::stream::<u64>(1);
    let short = Duration::from_millis(1);
    assert!(stream.next().wait_timeout(short).is_none());
    sender.send(7).wait().unwrap();
    let item = stream.next().wait_timeout(Duration::from_secs(30));
    assert_eq!(*item.unwrap().unwrap().unwrap().get(), 7);
    drop(sender);
    assert!(stream.next().wait_timeout(Duration::MAX).unwrap().is_none());
}

#[test]
fn a_server_that_stops_ends_its_streams() {
    for address in addresses() {
        let serving = serve(&address);
        let numbers = lookup(&serving, &ClientOptions::default());
        let mut ticks = numbers.ticks();
        ticks.next().wait().unwrap().unwrap();
        drop(serving);
        let error = ticks.find_map(Result::err).unwrap();
        assert!(
            matches!(
                error,
                StreamError::Call(CallError::Lost { .. }) | StreamError::Lost { .. }
            ),
            "{error}"
        );
    }
}

#[test]
fn streams_are_taken_where_they_are_made() {
    let plain = Plain::default();
    assert_eq!(plain.total(Stream::of(0..1000)), 499_500);
    assert_eq!(
        plain
            .squares(plain.below(10))
            .last()
            .unwrap()
            .unwrap()
            .get(),
        &81
    );
    let panicked: Vec<_> = plain.sender_panics().collect();
    assert!(matches!(panicked[1], Err(StreamError::Panicked)));
}

#[test]
fn many_threads_stream_over_one_connection() {
    everywhere(|numbers| {
        thread::scope(|scope| {
            for thread in 0..4u64 {
                scope.spawn(move || {
                    if thread % 2 == 0 {
                        assert_eq!(numbers.below(5_000).count(), 5_000);
                    } else {
                        let total = numbers.total(Stream::of(0..5_000)).wait();
                        assert_eq!(*total.unwrap().get(), 5_000 * 4_999 / 2);
                    }
                });
            }
        });
    });
}

#[test]
fn clones_of_a_sender_share_its_stream() {
    let (sender, stream) = jstream_rmi::stream::<u64>(4);
    let send = |sender: Sender<u64>| thread::spawn(move || sender.send(1).wait().unwrap());
    let threads: Vec<_> = (0..8).map(|_| send(sender.clone())).collect();
    drop(sender);
    assert_eq!(stream.map(|one| *one.unwrap().get()).sum::<u64>(), 8);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn as_many_streams_as_the_server_says() {
    let options = {
        let mut options = ServerOptions::default();
        options.max_streams = 1;
        options
    };
    let server = Server::new(options);
    server
        .bind::<dyn Numbers>("numbers", Arc::new(Plain::default()))
        .unwrap();
    let serving = server.listen(&addresses()[0].parse().unwrap()).unwrap();
    let numbers = lookup(&serving, &ClientOptions::default());
    let error = numbers
        .dot(1.0, Stream::of([1.0]), Stream::of([1.0]))
        .wait()
        .unwrap_err();
    assert!(matches!(error, CallError::Busy { .. }), "{error}");
    assert_eq!(*numbers.total(Stream::of([5])).wait().unwrap().get(), 5);
}

#[test]
fn open_results_leave_room_for_other_calls() {
    let serving = serve(&addresses()[0]);
    let mut options = ClientOptions::default();
    options.stream_items = 4;
    options.call_timeout = Duration::from_secs(60);
    let numbers = lookup(&serving, &options);
    let window = usize::from(options.messages.window_messages);
    let mut open: Vec<_> = (0..window).map(|_| numbers.below(1_000_000)).collect();
    assert_eq!(*numbers.total(Stream::of([5])).wait().unwrap().get(), 5);
    let mut refused = 0;
    for stream in &mut open {
        match stream.next().wait().unwrap() {
            Ok(item) => assert_eq!(*item.get(), 0),
            Err(StreamError::Call(CallError::NoResult { reason, .. })) => {
                assert!(reason.contains("take or drop some"), "{reason}");
                refused += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    // If several threads open streams at once, there may be a few more than the limit.
    assert!((1..=window / 4).contains(&refused), "{refused}");
    drop(open);
    // The server learns of closed streams with later messages.
    until(|| {
        let mut stream = numbers.below(1);
        matches!(stream.next().wait(), Some(Ok(_)))
    });
}

#[remote]
trait Alone {
    fn count(&mut self, numbers: Stream<u64>) -> Stream<u64>;
    async fn seen(&mut self) -> u64;
}

#[derive(Default)]
struct Counter(u64);

#[remote]
impl Alone for Counter {
    fn count(&mut self, numbers: Stream<u64>) -> Stream<u64> {
        for number in numbers {
            self.0 += number.unwrap().get();
        }
        Stream::of(0..self.0)
    }

    async fn seen(&mut self) -> u64 {
        self.0
    }
}

#[test]
fn nobody_has_the_object_while_its_items_go() {
    let server = Server::default();
    let object = Exclusive::new(Counter::default());
    server.bind::<dyn Alone>("alone", object).unwrap();
    let serving = server.listen(&addresses()[0].parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let alone = client.lookup::<dyn Alone>("alone").wait().unwrap();
    let mut items = alone.count(Stream::of([1_000_000, 2]));
    items.next().wait().unwrap().unwrap();
    assert_eq!(*alone.seen().wait().unwrap().get(), 1_000_002);
}

mod other {
    use jstream_rmi::{Stream, remote};

    #[remote]
    pub(super) trait Numbers {
        fn below(&self, most: u64) -> Stream<u32>;
    }
}

#[test]
fn other_items_are_another_method() {
    let serving = serve(&addresses()[0]);
    let client = Client::connect(serving.address()).wait().unwrap();
    let error = client
        .lookup::<dyn other::Numbers>("numbers")
        .wait()
        .unwrap_err();
    let LookupError::OtherInterface {
        expected, found, ..
    } = error
    else {
        panic!("{error}");
    };
    assert!(expected.contains("fn below(&self, most: u64) -> Stream<u32>"));
    assert!(found.contains("fn below(&self, most: u64) -> Stream<u64>"));
}

#[remote(mock)]
trait Feed {
    fn prices(&self, of: &str) -> Stream<f64>;
    async fn orders(&self, orders: Stream<Line>) -> u64;
}

#[test]
fn mocks_have_streams() {
    let feed = Arc::new(FeedMock::default());
    feed.expect_prices(|of| Stream::of(vec![1.0; of.len()]));
    feed.expect_orders(|orders| orders.map(|line| line.unwrap().get().number).sum());
    let server = Server::default();
    server.bind::<dyn Feed>("feed", feed.clone()).unwrap();
    let serving = server.listen(&addresses()[0].parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let stub = client.lookup::<dyn Feed>("feed").wait().unwrap();
    assert_eq!(stub.prices("abc").count(), 3);
    let orders = (0..4).map(|number| Line {
        number,
        text: "order".to_owned(),
    });
    let sum = stub.orders(Stream::of(orders)).wait().unwrap();
    assert_eq!(*sum.get(), 6);
    assert_eq!(feed.calls_of_prices(), 1);
}

#[test]
fn items_are_kept_for_as_long_as_one_likes() {
    here(&ClientOptions::default(), |numbers| {
        let kept: Vec<_> = numbers.lines(500, 10).map(Result::unwrap).collect();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let numbers = kept.iter().map(|line| line.get().number).sum::<u64>();
            sender.send(numbers).unwrap();
        });
        assert_eq!(receiver.recv().unwrap(), 500 * 499 / 2);
    });
}

#[test]
fn items_are_awaited_as_they_are_waited_for() {
    everywhere(|numbers| {
        block_on(async {
            let mut below = numbers.below(20_000);
            let mut expected = 0;
            while let Some(item) = below.next().await {
                assert_eq!(*item.unwrap().get(), expected);
                expected += 1;
            }
            assert_eq!(expected, 20_000);

            // Meanwhile, no other call of the connection is awaited.
            let (sender, stream) = jstream_rmi::stream(4);
            let total = numbers.total(stream);
            for n in 0..20_000 {
                sender.send(n).await.unwrap();
            }
            drop(sender);
            assert_eq!(*total.await.unwrap().get(), 20_000 * 19_999 / 2);

            let (a, b) = (Stream::of([1.0; 5_000]), Stream::of([2.0; 5_000]));
            assert_eq!(*numbers.dot(1.0, a, b).await.unwrap().get(), 10_000.0);
        });
    });
}
