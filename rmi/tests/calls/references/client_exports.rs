//! Objects that clients export without a server.

use std::sync::{Arc, Mutex, Weak};
use std::thread;

use jstream_rmi::{CallError, Client, Outcome, Remote, Server, Serving, context, remote};

use testing::until;

#[remote]
trait Listener {
    fn heard(&self, what: &str) -> u64;
    /// Suspends until the other side has called `heard`.
    async fn asked(&self) -> u64;
    /// Does not return before the connection ends.
    async fn stays(&self);
}

#[remote]
trait Room {
    fn join(&self, who: Remote<dyn Listener>);
    /// Calls all listeners and returns the sum of their answers.
    fn say(&self, what: &str) -> u64;
    async fn ask(&self) -> u64;
    fn leave_all(&self);
    /// Exports an object at the server, by the connection of the caller.
    fn ear(&self) -> Remote<dyn Listener>;
}

#[derive(Default)]
struct Ears(Mutex<Vec<Remote<dyn Listener>>>);

impl Ears {
    fn all(&self) -> Vec<Remote<dyn Listener>> {
        self.0.lock().unwrap().clone()
    }
}

#[remote]
impl Room for Ears {
    fn join(&self, who: Remote<dyn Listener>) {
        self.0.lock().unwrap().push(who);
    }

    fn say(&self, what: &str) -> u64 {
        let all = self.all();
        let heard = all.iter().map(|one| *one.heard(what).wait().unwrap().get());
        heard.sum()
    }

    async fn ask(&self) -> u64 {
        let mut sum = 0;
        for one in self.all() {
            sum += *one.asked().await.unwrap().get();
        }
        sum
    }

    fn leave_all(&self) {
        drop(std::mem::take(&mut *self.0.lock().unwrap()));
    }

    fn ear(&self) -> Remote<dyn Listener> {
        let caller = context().caller().unwrap();
        caller.export::<dyn Listener>(Ear::new(7)).into_remote()
    }
}

struct Ear {
    number: u64,
    heard: Mutex<Vec<String>>,
}

impl Ear {
    fn new(number: u64) -> Arc<Self> {
        Arc::new(Self {
            number,
            heard: Mutex::default(),
        })
    }

    fn heard(&self) -> usize {
        self.heard.lock().unwrap().len()
    }
}

#[remote]
impl Listener for Ear {
    fn heard(&self, what: &str) -> u64 {
        self.heard.lock().unwrap().push(what.to_owned());
        self.number
    }

    async fn asked(&self) -> u64 {
        let (answer, answered) = promise();
        thread::spawn(move || answer(5));
        answered.await + self.number
    }

    async fn stays(&self) {
        std::future::pending().await
    }
}

/// Returns a function that completes the future, which is not ready before that.
fn promise() -> (impl FnOnce(u64) + Send, impl Future<Output = u64> + Send) {
    use std::task::{Poll, Waker};
    let shared: Arc<Mutex<(Option<u64>, Option<Waker>)>> = Arc::default();
    let other = shared.clone();
    let answer = move |value| {
        let mut shared = other.lock().unwrap();
        shared.0 = Some(value);
        if let Some(waker) = shared.1.take() {
            waker.wake();
        }
    };
    let mut polled = false;
    let answered = std::future::poll_fn(move |context| {
        let mut shared = shared.lock().unwrap();
        match shared.0 {
            // The first poll is always pending, so that the method is suspended.
            Some(value) if polled => Poll::Ready(value),
            _ => {
                polled = true;
                shared.1 = Some(context.waker().clone());
                if shared.0.is_some() {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
        }
    });
    (answer, answered)
}

struct Setup {
    server: Server,
    room: Arc<Ears>,
    serving: Serving,
}

impl Setup {
    fn new(address: &str) -> Self {
        let server = Server::default();
        let room = Arc::new(Ears::default());
        server.bind::<dyn Room>("room", room.clone()).unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        Self {
            server,
            room,
            serving,
        }
    }

    fn client(&self) -> (Client, RoomStub) {
        let client = Client::connect(self.serving.address()).wait().unwrap();
        let room = client.lookup::<dyn Room>("room").wait().unwrap();
        (client, room)
    }
}

impl Drop for Setup {
    /// The room belongs to the server, which belongs to the connections, to which the references in
    /// the room belong.
    fn drop(&mut self) {
        drop(std::mem::take(&mut *self.room.0.lock().unwrap()));
    }
}

/// Runs a test over each kind of connection.
fn over_all(name: &str, test: impl Fn(&Setup)) {
    test(&Setup::new("tcp://127.0.0.1:0"));
    test(&Setup::new(&format!("inproc://client-exports-{name}")));
    #[cfg(unix)]
    {
        let path = std::env::temp_dir().join(format!("jstream-{name}-{}", std::process::id()));
        test(&Setup::new(&format!("uds://{}", path.display())));
    }
}

#[test]
fn are_called_back() {
    over_all("calls", |of| {
        let (client, room) = of.client();
        let ear = Ear::new(1);
        let export = client.export::<dyn Listener>(ear.clone());
        room.join(export.remote()).wait().unwrap();
        assert_eq!(export.references(), 1);
        // The waiting thread serves plain methods, and async ones until they suspend.
        assert_eq!(*room.say("hello").wait().unwrap().get(), 1);
        assert_eq!(*room.ask().wait().unwrap().get(), 6);
        // A thread serves calls of which this side knows nothing.
        let _serves = client.start().unwrap();
        let listener = of.room.all().remove(0);
        assert_eq!(*listener.heard("again").wait().unwrap().get(), 1);
        assert_eq!(*listener.asked().wait().unwrap().get(), 6);
        assert_eq!(*ear.heard.lock().unwrap(), ["hello", "again"]);
        // Here the reference is the object itself.
        assert!(export.remote().is_local());
    });
}

#[test]
fn live_as_long_as_they_are_referenced() {
    over_all("leaks", |of| {
        let (client, room) = of.client();
        let object = |number| {
            let ear = Ear::new(number);
            (Arc::downgrade(&ear), client.export::<dyn Listener>(ear))
        };
        let gone = |ear: &Weak<Ear>| ear.strong_count() == 0;

        // The last reference ends the export.
        let (ear, export) = object(1);
        room.join(export.into_remote()).wait().unwrap();
        assert_eq!(*room.say("hello").wait().unwrap().get(), 1);
        assert!(!gone(&ear));
        room.leave_all().wait().unwrap();
        let _serves = client.start().unwrap();
        until(|| gone(&ear));

        // So does the handle, even if there are references.
        let (ear, export) = object(2);
        room.join(export.remote()).wait().unwrap();
        drop(export);
        assert!(gone(&ear));
        let listener = of.room.all().remove(0);
        let error = listener.heard("nobody").wait().unwrap_err();
        assert!(matches!(error, CallError::UnknownObject { .. }), "{error}");
        room.leave_all().wait().unwrap();

        // So does the end of the connection.
        let (ear, export) = object(3);
        room.join(export.into_remote()).wait().unwrap();
        client.close();
        until(|| gone(&ear));
    });
}

#[test]
fn fail_after_the_client_has_gone() {
    over_all("gone", |of| {
        let (client, room) = of.client();
        let ear = Ear::new(1);
        let export = client.export::<dyn Listener>(ear.clone());
        room.join(export.remote()).wait().unwrap();
        let serves = client.start().unwrap();
        let listener = of.room.all().remove(0);
        listener.heard("hello").wait().unwrap();
        // The export does not keep the connection open.
        drop((room, client, serves));
        // A call that is being sent when the connection ends may have run.
        let did_not_run = |error: &CallError| error.outcome() == Outcome::DidNotRun;
        until(|| {
            listener
                .heard("nobody")
                .wait()
                .is_err_and(|error| did_not_run(&error))
        });
        let error = listener.heard("nobody").wait().unwrap_err();
        assert!(matches!(error, CallError::ObjectLost { .. }), "{error}");
        assert!(did_not_run(&error), "{error}");
        until(|| export.references() == 0);
        // The export remains, and another connection can pass it on.
        let (_client, room) = of.client();
        room.leave_all().wait().unwrap();
        room.join(export.remote()).wait().unwrap();
        assert_eq!(*room.say("again").wait().unwrap().get(), 1);
        assert_eq!(ear.heard(), 2);
    });
}

/// A method that is suspended when its connection is closed is dropped.
#[test]
fn end_with_their_connection() {
    over_all("closed", |of| {
        let (client, room) = of.client();
        let ear = Ear::new(1);
        let export = client.export::<dyn Listener>(ear.clone());
        room.join(export.remote()).wait().unwrap();
        let _serves = client.start().unwrap();
        let listener = of.room.all().remove(0);
        let stays = listener.stays();
        listener.heard("hello").wait().unwrap();
        client.close();
        let error = stays.wait().unwrap_err();
        assert!(matches!(error, CallError::Lost { .. }), "{error}");
        drop(export);
        until(|| Arc::strong_count(&ear) == 1);
    });
}

#[test]
fn of_two_clients_are_two_objects() {
    over_all("two", |of| {
        let ((one, first), (other, second)) = (of.client(), of.client());
        let ear = Ear::new(1);
        let by_one = one.export::<dyn Listener>(ear.clone());
        let by_other = other.export::<dyn Listener>(ear.clone());
        assert_ne!(by_one.remote(), by_other.remote());
        first.join(by_one.remote()).wait().unwrap();
        second.join(by_other.remote()).wait().unwrap();
        let serves = [&one, &other].map(|client| client.start().unwrap());
        assert_eq!(*first.say("both").wait().unwrap().get(), 2);
        assert_eq!(ear.heard(), 2);
        // The end of one of them leaves the other.
        drop((first, one, by_one));
        let all = of.room.all();
        until(|| all[0].heard("gone").wait().is_err());
        assert_eq!(*all[1].heard("left").wait().unwrap().get(), 1);
        drop((serves, by_other));
        assert_eq!(Arc::strong_count(&ear), 1);
    });
}

/// If a connection exports a server, the objects belong to it. So do those that a method exports
/// over the connection of its caller.
#[test]
fn belong_to_the_server_of_the_connection() {
    over_all("servers", |of| {
        let (client, room) = of.client();
        let before = client.export::<dyn Listener>(Ear::new(1));
        let own = Server::default();
        assert!(client.export_server(&own));
        assert_eq!(own.references().exports, 0);
        let after = client.export::<dyn Listener>(Ear::new(2));
        assert_eq!(own.references().exports, 1);
        for export in [&before, &after] {
            room.join(export.remote()).wait().unwrap();
        }
        assert_eq!(*room.say("hello").wait().unwrap().get(), 3);

        assert_eq!(of.server.references().exports, 1);
        let ear = room.ear().wait().unwrap();
        assert_eq!(of.server.references().exports, 2);
        assert_eq!(*ear.heard("hello").wait().unwrap().get(), 7);
        drop(ear);
        until(|| of.server.references().exports == 1);
    });
}
