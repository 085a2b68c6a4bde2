//! Streams that are received from one peer and passed on to another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, ClientOptions, Server, ServerOptions, Serving, Stream, StreamError, remote,
};

use testing::until;

#[remote]
trait Words {
    /// Returns a stream of `count` numbered words.
    fn words(&self, count: u64) -> Stream<String>;
    /// Returns a stream of `count` words that ends with a panic.
    fn fails(&self, count: u64) -> Stream<String>;
    fn length(&self, words: Stream<String>) -> u64;
    async fn back(&self, words: Stream<String>) -> Stream<String>;
}

/// Serves the streams itself, or relays them from another server.
#[derive(Default)]
struct Plain {
    ahead: Option<WordsStub>,
    /// If set, takes one item of a stream before it passes the stream on.
    takes: AtomicBool,
    made: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

struct Ends(Arc<AtomicU64>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Plain {
    fn passed(&self, mut words: Stream<String>) -> Stream<String> {
        if self.takes.load(Ordering::SeqCst) {
            words.next().wait().unwrap().unwrap();
        }
        words
    }
}

#[remote]
impl Words for Plain {
    fn words(&self, count: u64) -> Stream<String> {
        if let Some(ahead) = &self.ahead {
            return self.passed(ahead.words(count));
        }
        let (made, ends) = (self.made.clone(), Ends(self.ended.clone()));
        Stream::of((0..count).map(move |n| {
            let _ends = &ends;
            made.fetch_add(1, Ordering::SeqCst);
            format!("the word {n}")
        }))
    }

    fn fails(&self, count: u64) -> Stream<String> {
        match &self.ahead {
            Some(ahead) => ahead.fails(count),
            None => Stream::of((0..).map(move |n| {
                assert!(n < count, "on purpose");
                n.to_string()
            })),
        }
    }

    fn length(&self, words: Stream<String>) -> u64 {
        match &self.ahead {
            Some(ahead) => *ahead.length(self.passed(words)).wait().unwrap().get(),
            None => words.map(|word| word.unwrap().get().len() as u64).sum(),
        }
    }

    async fn back(&self, words: Stream<String>) -> Stream<String> {
        words
    }
}

/// A server, and a relay in front of it.
struct Setup {
    first: Arc<Plain>,
    second: Arc<Plain>,
    _serving: [Serving; 2],
    words: WordsStub,
}

fn serve(object: &Arc<Plain>, address: &str) -> Serving {
    let mut options = ServerOptions::default();
    options.stream_items = 64;
    let server = Server::new(options);
    server.bind::<dyn Words>("words", object.clone()).unwrap();
    server.listen(&address.parse().unwrap()).unwrap()
}

fn lookup(serving: &Serving, items: usize) -> WordsStub {
    let mut options = ClientOptions::default();
    options.stream_items = items;
    let client = Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    client.lookup::<dyn Words>("words").wait().unwrap()
}

fn setup(name: &str, items: usize) -> [Setup; 2] {
    let inproc = [1, 2].map(|n| format!("inproc://relays-{name}-{n}"));
    let tcp = [(); 2].map(|()| "tcp://127.0.0.1:0".to_owned());
    [inproc, tcp].map(|[here, there]| {
        let first = Arc::new(Plain::default());
        let one = serve(&first, &here);
        let second = Arc::new(Plain {
            ahead: Some(lookup(&one, 64)),
            ..Plain::default()
        });
        let other = serve(&second, &there);
        let words = lookup(&other, items);
        Setup {
            first,
            second,
            _serving: [one, other],
            words,
        }
    })
}

#[test]
fn all_items_go_on_in_order() {
    for setup in setup("order", 64) {
        for count in [0, 1, 5000] {
            let words = setup.words.words(count);
            let all: Vec<_> = words.map(|word| word.unwrap().get().to_string()).collect();
            assert!(
                all.into_iter()
                    .eq((0..count).map(|n| format!("the word {n}")))
            );
        }
        let words = (0..3000).map(|n| "x".repeat(n % 7));
        let length: usize = words.clone().map(|word| word.len()).sum();
        let total = setup
            .words
            .length(Stream::of(words.clone()))
            .wait()
            .unwrap();
        assert_eq!(*total.get(), length as u64);
        // Back to the sender, while it still sends.
        let back = setup.words.back(Stream::of(words.clone()));
        let back = back.map(|word| word.unwrap().get().to_string());
        assert!(back.eq(words));
    }
}

/// Backpressure of the last receiver reaches the first sender.
#[test]
fn a_slow_taker_holds_up_the_maker_behind_the_relay() {
    for setup in setup("slow", 64) {
        let mut words = setup.words.words(100_000);
        for n in 0..200 {
            let word = words.next().wait().unwrap().unwrap();
            assert_eq!(*word.get(), format!("the word {n}"));
        }
        thread::sleep(Duration::from_millis(50));
        // Two windows, and the items in a buffer on the way.
        let made = setup.first.made.load(Ordering::SeqCst);
        assert!(made < 200 + 4 * 64, "{made} were made");
        drop(words);
        until(|| setup.first.ended.load(Ordering::SeqCst) == 1);
    }
}

#[test]
fn who_fails_is_told_of_at_the_end() {
    for setup in setup("fails", 64) {
        let mut words = setup.words.fails(10);
        let mut count = 0;
        let error = loop {
            match words.next().wait().unwrap() {
                Ok(word) => assert_eq!(*word.get(), count.to_string()),
                Err(error) => break error,
            }
            count += 1;
        };
        assert!(count <= 10);
        let panicked = |error: &CallError| matches!(error, CallError::Panicked { .. });
        let is_told = matches!(&error, StreamError::Call(call) if panicked(call));
        assert!(is_told, "{error:?}");
        assert!(words.next().wait().is_none());
    }
}

/// A stream of which items were taken is not passed on, because it would have a gap.
#[test]
fn one_that_was_taken_of_does_not_go_on() {
    for setup in setup("taken", 64) {
        setup.second.takes.store(true, Ordering::SeqCst);
        let error = setup.words.words(10).next().wait().unwrap().unwrap_err();
        assert!(error.to_string().contains("items were taken"), "{error}");
        until(|| setup.first.ended.load(Ordering::SeqCst) == 1);
        let words = (0..10).map(|n| n.to_string());
        setup.words.length(Stream::of(words)).wait().unwrap_err();
    }
}

/// Items that arrive together are passed on together. If the receiver has a smaller limit, the
/// stream may fail.
#[test]
fn who_takes_fewer_at_once_is_told() {
    for setup in setup("fewer", 2) {
        let words = setup.words.words(10_000);
        let (mut count, mut failed) = (0, false);
        for word in words {
            match word {
                Ok(_) => count += 1,
                Err(error) => {
                    assert!(
                        error.to_string().contains("more items than the window"),
                        "{error}"
                    );
                    failed = true;
                }
            }
        }
        assert!(failed != (count == 10_000));
        until(|| setup.first.ended.load(Ordering::SeqCst) == 1);
    }
}
