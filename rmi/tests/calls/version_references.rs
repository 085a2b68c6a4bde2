//! References, streams and promises in calls whose other arguments are converted.
#![deny(warnings)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream::Transportable;
use jstream_rmi::{CallError, Client, Metadata, Remote, Server, Stream, Stub, WeakServer, remote};
use testing::until;

#[remote]
trait Listener {
    fn hear(&self, number: u64) -> u64;
}

#[derive(Default)]
struct Ear(AtomicU64);

impl Listener for Ear {
    fn hear(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::SeqCst) + number
    }
}

#[derive(Transportable)]
#[repr(u8)]
enum Mood {
    Good,
    Bad,
}

/// The trait of the server.
#[remote]
trait Room {
    fn join(&self, mood: &Mood, who: Remote<dyn Listener>) -> u64;
    fn pass(&self, who: Remote<dyn Listener>, mood: &Mood, times: u64) -> Remote<dyn Listener>;
    fn is_here(&self, room: Remote<dyn Room>, mood: &Mood) -> bool;
    fn sum(&self, mood: &Mood, items: Stream<u64>) -> u64;
    fn up_to(&self, mood: &Mood) -> Stream<u64>;
    fn len(&self, text: &str, mood: &Mood) -> u64;
    async fn slow(&self, text: &str, mood: &Mood) -> u64;
    fn long(&self, mood: &Mood) -> Long;
    fn ear(&self, mood: &Mood) -> Remote<dyn Listener>;
}

#[derive(Transportable)]
struct Long {
    mood: Mood,
    text: String,
    number: u32,
}

mod older {
    use jstream::Transportable;
    use jstream_rmi::{Remote, Stream, remote};

    use super::Listener;

    #[derive(Transportable)]
    #[repr(u8)]
    pub(super) enum Mood {
        Odd,
        Bad,
        Good,
    }

    #[remote]
    pub(super) trait Room {
        fn up_to(&self, mood: &Mood) -> Stream<u64>;
        fn sum(&self, mood: &Mood, items: Stream<u64>) -> u64;
        fn join(&self, who: Remote<dyn Listener>, mood: &Mood) -> u64;
        fn pass(&self, who: Remote<dyn Listener>, times: u32, mood: &Mood) -> Remote<dyn Listener>;
        fn is_here(&self, room: Remote<dyn Room>, mood: &Mood) -> bool;
        fn len(&self, text: &str, mood: &Mood) -> u64;
        async fn slow(&self, text: &str, mood: &Mood) -> u64;
        fn long(&self, mood: &Mood) -> Long;
        fn ear(&self, mood: &Mood) -> Remote<dyn Listener>;
    }

    #[derive(Transportable)]
    pub(super) struct Long {
        pub(super) number: u64,
        pub(super) text: String,
    }
}

struct Hall(WeakServer);

#[remote]
impl Room for Hall {
    fn join(&self, _: &Mood, who: Remote<dyn Listener>) -> u64 {
        *who.hear(7).wait().unwrap().get()
    }

    fn pass(&self, who: Remote<dyn Listener>, _: &Mood, times: u64) -> Remote<dyn Listener> {
        for _ in 0..times {
            who.hear(1).wait().unwrap();
        }
        who
    }

    fn is_here(&self, room: Remote<dyn Room>, _: &Mood) -> bool {
        room.local::<Arc<Hall>>().is_some()
    }

    fn sum(&self, _: &Mood, items: Stream<u64>) -> u64 {
        items.map(|item| *item.unwrap().get()).sum()
    }

    fn up_to(&self, _: &Mood) -> Stream<u64> {
        Stream::of(0..5)
    }

    fn len(&self, text: &str, _: &Mood) -> u64 {
        text.len() as u64
    }

    async fn slow(&self, text: &str, _: &Mood) -> u64 {
        text.len() as u64
    }

    fn ear(&self, _: &Mood) -> Remote<dyn Listener> {
        let server = self.0.upgrade().unwrap();
        server.export(Arc::new(Ear::default())).into_remote()
    }

    fn long(&self, mood: &Mood) -> Long {
        Long {
            mood: match mood {
                Mood::Good => Mood::Bad,
                Mood::Bad => Mood::Good,
            },
            text: "b".repeat(20 << 20),
            number: 3,
        }
    }
}

fn assert_refused<T>(result: Result<T, CallError>) {
    let error = result.err().unwrap();
    assert!(matches!(error, CallError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("Odd"), "{error}");
}

#[test]
fn what_refused_calls_carry_is_given_back() {
    for address in ["inproc://version-references", "tcp://127.0.0.1:0"] {
        let server = Server::default();
        let hall = Hall(server.downgrade());
        server.bind::<dyn Room>("room", Arc::new(hall)).unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let room = client.lookup::<dyn older::Room>("room").wait().unwrap();
        let ear = Arc::new(Ear::default());
        let export = client.export::<dyn Listener>(ear.clone());
        let (good, odd) = (older::Mood::Good, older::Mood::Odd);
        assert_eq!(*room.join(export.remote(), &good).wait().unwrap().get(), 7);
        assert_refused(room.join(export.remote(), &odd).wait());
        let passed = room.pass(export.remote(), 2, &good).wait().unwrap();
        assert!(passed.is_local());
        drop(passed);
        assert_refused(room.pass(export.remote(), 2, &odd).wait());
        // Pipelined calls of what a converted call returns, and of what a refused one does not.
        let call = room.ear(&older::Mood::Bad);
        assert_eq!(*call.pipelined().hear(10).wait().unwrap().get(), 10);
        drop(call);
        let call = room.ear(&odd);
        let pipelined = call.pipelined();
        let hear = pipelined.hear(10);
        let join = room.join(Remote::from_stub(pipelined), &good);
        for error in [hear.wait().unwrap_err(), join.wait().unwrap_err()] {
            assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
        }
        assert_refused(call.wait());
        // Promised arguments of converted calls.
        let call = room.ear(&good);
        let promised = Remote::from_stub(call.pipelined());
        assert_eq!(*room.join(promised, &good).wait().unwrap().get(), 7);
        drop(call);
        // A reference to the object itself comes home, although this caller has another version.
        let own = Remote::<dyn older::Room>::from_stub(room.clone());
        assert!(*room.is_here(own.clone(), &good).wait().unwrap().get());
        assert_refused(room.is_here(own, &odd).wait());
        let sum = room.sum(&good, Stream::of(0..1000)).wait();
        assert_eq!(*sum.unwrap().get(), 499_500);
        for _ in 0..200 {
            assert_refused(room.sum(&odd, Stream::of(0..)).wait());
            let mut items = room.up_to(&odd);
            assert!(Iterator::next(&mut items).unwrap().is_err());
        }
        let items = room.up_to(&good).map(|item| *item.unwrap().get());
        assert_eq!(items.sum::<u64>(), 10);
        // Long arguments, and what follows them.
        let text = "a".repeat(3 << 20);
        let mut metadata = Metadata::default();
        metadata.insert("key", "value").unwrap();
        for room in [room.clone(), room.with_metadata(metadata)] {
            assert_eq!(*room.len(&text, &good).wait().unwrap().get(), 3 << 20);
            assert_eq!(*room.slow(&text, &good).wait().unwrap().get(), 3 << 20);
            assert_refused(room.slow(&text, &odd).wait());
            assert_refused(room.len(&text, &odd).wait());
        }
        // Results that the caller fetches.
        let calls: Vec<_> = (0..4).map(|_| room.long(&good)).collect();
        for call in calls {
            let long = call.wait().unwrap();
            assert_eq!((long.get().text.len(), long.get().number), (20 << 20, 3));
        }
        until(|| export.references() == 0);
        assert_eq!(server.references().pins, 0);
        drop(room);
        until(|| server.references().leases == 0);
        drop(export);
        assert_eq!(Arc::strong_count(&ear), 1);
    }
}
