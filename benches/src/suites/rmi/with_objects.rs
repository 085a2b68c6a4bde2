//! Remote objects of jstream: lookups of names, references as arguments, and many exported objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{Client, ClientOptions, Export, Remote, Server, ServerOptions, remote};
use jstream_transport::Address;
use jstream_transport::active::{Tap, Tapped};

use super::address::{address, options};
use super::case::{Case, Objects};
use super::pair::Serving;
use super::resident::resident;
use super::samples::Samples;
use super::service::Given;
use super::subject::{Caller, Figure, one_by_one};
use crate::Failure;

pub(super) const NAME: &str = "objects";

/// Number of references that one call returns.
const AT_ONCE: usize = 10_000;

/// An interface that is called through its name and through references.
#[remote]
pub(super) trait Service {
    fn null(&self);

    /// Takes as many bytes as a reference has.
    fn word(&self, word: [u64; 3]) -> bool;

    /// Takes a reference and releases it immediately.
    fn reference(&self, reference: Remote<dyn Service>) -> bool;

    /// Returns references to at most `count` exported objects, from index `first` on.
    fn give(&self, first: u64, count: u64) -> Vec<Remote<dyn Service>>;

    /// Returns the memory per exported object in bytes.
    fn bytes(&self) -> f64;
}

/// Implementation with a list of other exported objects.
struct Plain {
    exports: Vec<Export<dyn Service>>,
    bytes: f64,
}

impl Plain {
    const fn alone() -> Self {
        Self {
            exports: Vec::new(),
            bytes: 0.0,
        }
    }
}

#[remote]
impl Service for Plain {
    fn null(&self) {}

    fn word(&self, word: [u64; 3]) -> bool {
        word != [0; 3]
    }

    fn reference(&self, reference: Remote<dyn Service>) -> bool {
        !reference.is_local()
    }

    fn give(&self, first: u64, count: u64) -> Vec<Remote<dyn Service>> {
        let exports = self.exports.iter().skip(first as usize);
        exports.take(count as usize).map(Export::remote).collect()
    }

    fn bytes(&self) -> f64 {
        self.bytes
    }
}

/// Serves an object with as many exported objects as the case says.
pub(super) fn serve(case: &Case, objects: Objects, subject: &str) -> Result<Serving, Failure> {
    let mut settings = ServerOptions::default();
    settings.transport = options(case)?;
    settings.max_references = usize::MAX;
    let count = match objects {
        Objects::Exported(count) if subject != "jstream-one" => count,
        Objects::Exported(_) => 1,
        Objects::Lookup | Objects::Reference => 0,
    };
    let serving = exporting(settings, count)?.listen(&address(case)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// Creates a server with `count` exports and an object that returns references to them.
pub(super) fn exporting(settings: ServerOptions, count: usize) -> Result<Server, Failure> {
    let server = Server::new(settings);
    // All exports share one object, since the memory of the program's own objects is not measured.
    let shared = Arc::new(Plain::alone());
    let mut exports = Vec::with_capacity(count);
    let before = resident(None)?;
    exports.extend((0..count).map(|_| server.export::<dyn Service>(shared.clone())));
    let bytes = resident(None)?.saturating_sub(before) as f64 / count as f64;
    server.bind::<dyn Service>(NAME, Arc::new(Plain { exports, bytes }))?;
    Ok(server)
}

/// Connects to the server.
pub(super) fn join(
    case: &Case,
    objects: Objects,
    subject: &str,
    address: &str,
) -> Result<Box<dyn Caller>, Failure> {
    let mut settings = ClientOptions::default();
    settings.transport = options(case)?;
    settings.max_references = usize::MAX;
    let address = address.parse()?;
    let client = Client::connect_with(&address, &settings).wait()?;
    let service = client.lookup::<dyn Service>(NAME).wait()?;
    let own = Server::default();
    let own = own.export::<dyn Service>(Arc::new(Plain::alone()));
    let what = match objects {
        Objects::Lookup if subject == "jstream" => What::Lookup,
        Objects::Lookup => What::Null,
        Objects::Reference if subject == "jstream" => What::Reference,
        Objects::Reference => What::Word,
        Objects::Exported(_) => What::Each(given(&service)?),
    };
    // A large distance makes it unlikely that the next object is in a cache. With 0, the same
    // object is called each time.
    let step = if subject == "jstream-each" { STRIDE } else { 0 };
    Ok(Box::new(Ours {
        what,
        client,
        service,
        own,
        turn: 0,
        step,
        again: (address, settings),
    }))
}

/// Returns references to all objects that the server has exported.
pub(super) fn given(service: &ServiceStub) -> Result<Vec<Remote<dyn Service>>, Failure> {
    let mut all = Vec::new();
    loop {
        let some = service.give(all.len() as u64, AT_ONCE as u64).wait()?;
        if some.is_empty() {
            return Ok(all);
        }
        all.extend(some);
    }
}

enum What {
    Lookup,
    Null,
    Reference,
    Word,
    /// The exported objects in turn.
    Each(Vec<Remote<dyn Service>>),
}

struct Ours {
    what: What,
    client: Client,
    service: ServiceStub,
    /// An object exported by this side.
    own: Export<dyn Service>,
    turn: usize,
    step: usize,
    /// Address and options for another connection to the same server.
    again: (Address, ClientOptions),
}

/// Distance between objects that are called in turn.
const STRIDE: usize = 7919;

impl Ours {
    fn call(&mut self) -> Result<Given, Failure> {
        let fine = match &self.what {
            What::Lookup => {
                self.client.lookup::<dyn Service>(NAME).wait()?;
                true
            }
            What::Null => {
                self.service.null().wait()?;
                true
            }
            What::Reference => *self.service.reference(self.own.remote()).wait()?.get(),
            What::Word => *self.service.word([1, 2, 3]).wait()?.get(),
            What::Each(all) => {
                self.turn = (self.turn + self.step) % all.len().max(1);
                let one = all.get(self.turn).ok_or("no object was exported")?;
                one.null().wait()?;
                true
            }
        };
        if fine {
            Ok(Given::Nothing)
        } else {
            Err("a call returned a wrong result".into())
        }
    }
}

impl Caller for Ours {
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        one_by_one(samples, || self.call())
    }

    fn flood(&mut self, _: usize) -> Result<(), Failure> {
        Err("objects are not called concurrently in this suite".into())
    }

    fn more(&mut self) -> Result<Vec<Figure>, Failure> {
        if let What::Each(all) = &self.what {
            if all.len() == 1 {
                return Ok(Vec::new());
            }
            let bytes = *self.service.bytes().wait()?.get();
            return Ok(vec![("bytes", bytes, "B")]);
        }
        let messages = Arc::new(Messages::default());
        let (address, settings) = &mut self.again;
        settings.messages.tap = Some(messages.clone());
        self.client = Client::connect_with(address, settings).wait()?;
        self.service = self.client.lookup::<dyn Service>(NAME).wait()?;
        let before = messages.0.load(Ordering::Relaxed);
        for _ in 0..CALLS {
            self.call()?;
        }
        // The client releases references with a delay, for many calls at once.
        thread::sleep(Duration::from_millis(20));
        self.service.null().wait()?;
        let messages = messages.0.load(Ordering::Relaxed) - before - 2;
        Ok(vec![("messages", messages as f64 / CALLS as f64, "count")])
    }
}

/// Number of calls whose messages are counted.
const CALLS: usize = 10_000;

/// Counter of the messages of a connection in both directions.
#[derive(Debug, Default)]
struct Messages(AtomicU64);

impl Tap for Messages {
    fn joined(&self, _: &[&str], _: &[&str]) {}

    fn message(&self, _: &Tapped<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
