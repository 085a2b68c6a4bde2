//! tarpc's `pubsub`: a server that passes what publishers publish on to the subscribers of a topic.
//!
//! In the original, the server has one port for publishers and one for subscribers, whose
//! connections it uses in the other direction. Here, a subscriber passes a reference to itself.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jstream_rmi::{Address, Client, Export, Remote, Server, ServingThread, remote};

#[remote]
trait Subscriber {
    fn topics(&self) -> &[String];
    fn receive(&self, topic: &str, message: &str);
}

#[remote]
trait Broker {
    async fn subscribe(&self, subscriber: Remote<dyn Subscriber>) -> Result<(), String>;
    /// Returns the number of subscribers that have received the message.
    async fn publish(&self, topic: &str, message: &str) -> u64;
}

#[derive(Default)]
struct Topics {
    subscribers: Mutex<HashMap<String, Vec<Remote<dyn Subscriber>>>>,
}

#[remote]
impl Broker for Topics {
    async fn subscribe(&self, subscriber: Remote<dyn Subscriber>) -> Result<(), String> {
        let topics = subscriber
            .topics()
            .await
            .map_err(|error| error.to_string())?;
        let mut subscribers = lock(&self.subscribers);
        for topic in topics.get().iter() {
            subscribers
                .entry((*topic).to_owned())
                .or_default()
                .push(subscriber.clone());
        }
        Ok(())
    }

    async fn publish(&self, topic: &str, message: &str) -> u64 {
        let subscribers = {
            let all = lock(&self.subscribers);
            all.get(topic).cloned().unwrap_or_default()
        };
        // All calls are under way before the first of them is awaited.
        let calls: Vec<_> = subscribers
            .iter()
            .map(|one| (one, one.receive(topic, message)))
            .collect();
        let mut received = 0;
        for (subscriber, call) in calls {
            match call.await {
                Ok(_) => received = u64::saturating_add(received, 1),
                Err(error) => {
                    println!("a subscriber of {topic} is gone: {error}");
                    let mut all = lock(&self.subscribers);
                    all.values_mut()
                        .for_each(|of| of.retain(|one| one != subscriber));
                }
            }
        }
        received
    }
}

struct Reader {
    name: &'static str,
    topics: Vec<String>,
    received: Mutex<Vec<String>>,
}

impl Subscriber for Reader {
    fn topics(&self) -> &[String] {
        &self.topics
    }

    fn receive(&self, topic: &str, message: &str) {
        println!("{}: {topic}: {message}", self.name);
        lock(&self.received).push(message.to_owned());
    }
}

/// A subscriber, which is subscribed as long as this exists.
struct Subscription {
    reader: Arc<Reader>,
    _export: Export<dyn Subscriber>,
    /// The connection ends with its last handle.
    _client: Client,
    _thread: ServingThread,
}

fn subscribe(
    address: &Address,
    name: &'static str,
    topics: &[&str],
) -> Result<Subscription, Box<dyn Error>> {
    let topics = topics.iter().map(|&topic| topic.to_owned()).collect();
    let reader = Arc::new(Reader {
        name,
        topics,
        received: Mutex::default(),
    });
    let client = Client::connect(address).wait()?;
    let export = client.export::<dyn Subscriber>(reader.clone());
    client
        .lookup::<dyn Broker>("broker")
        .wait()?
        .subscribe(export.remote())
        .wait()?
        .to_owned()??;
    // From now on, a thread serves the calls of the broker.
    let thread = client.start()?;
    Ok(Subscription {
        reader,
        _export: export,
        _client: client,
        _thread: thread,
    })
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Broker>("broker", Arc::new(Topics::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    let address = serving.address();

    let first = subscribe(address, "first", &["calculus", "cool shorts"])?;
    let second = subscribe(address, "second", &["cool shorts", "history"])?;

    let broker = Client::connect(address)
        .wait()?
        .lookup::<dyn Broker>("broker")
        .wait()?;
    let publish = |topic, message| broker.publish(topic, message).wait().map(|n| *n.get());
    assert_eq!(publish("calculus", "sqrt(2)")?, 1);
    assert_eq!(publish("cool shorts", "hello to all")?, 2);
    assert_eq!(publish("history", "napoleon")?, 1);
    assert_eq!(*lock(&first.reader.received), ["sqrt(2)", "hello to all"]);
    drop(first);
    assert_eq!(publish("cool shorts", "hello to who?")?, 1);
    let received = lock(&second.reader.received);
    assert_eq!(*received, ["hello to all", "napoleon", "hello to who?"]);
    println!("done");
    Ok(())
}
