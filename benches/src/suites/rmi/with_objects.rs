//! jstream's objects: names that are looked up, references that go along, and many objects at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jstream_rmi::{Client, ClientOptions, Export, Remote, Server, ServerOptions, remote};
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

/// How many references come by one call.
const AT_ONCE: usize = 10_000;

/// What is called, by its name and by references.
#[remote]
pub(super) trait Service {
    fn null(&self);

    /// As much as stands for a reference.
    fn word(&self, word: [u64; 3]) -> bool;

    /// Lets go of it at once.
    fn reference(&self, reference: Remote<dyn Service>) -> bool;

    /// References to those objects that begin there.
    fn give(&self, first: u64, count: u64) -> Vec<Remote<dyn Service>>;

    /// How much memory there is for each object that is exported.
    fn bytes(&self) -> f64;
}

/// One that has others.
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

/// Serves an object that has as many others as the case says.
pub(super) fn serve(case: &Case, objects: Objects, subject: &str) -> Result<Serving, Failure> {
    let mut settings = ServerOptions::default();
    settings.transport = options(case);
    settings.max_references = usize::MAX;
    let count = match objects {
        Objects::Exported(count) if subject == "jstream" => count,
        Objects::Exported(_) => 1,
        Objects::Lookup | Objects::Reference => 0,
    };
    let serving = exporting(settings, count)?.listen(&address(case)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// A server of an object that has so many others.
pub(super) fn exporting(settings: ServerOptions, count: usize) -> Result<Server, Failure> {
    let server = Server::new(settings);
    // All of one object, as what the program's own objects take is its own affair.
    let shared = Arc::new(Plain::alone());
    let mut exports = Vec::with_capacity(count);
    let before = resident(None)?;
    exports.extend((0..count).map(|_| server.export::<dyn Service>(shared.clone())));
    let bytes = resident(None)?.saturating_sub(before) as f64 / count as f64;
    server.bind::<dyn Service>(NAME, Arc::new(Plain { exports, bytes }))?;
    Ok(server)
}

/// Connects to who serves.
pub(super) fn join(
    case: &Case,
    objects: Objects,
    subject: &str,
    address: &str,
) -> Result<Box<dyn Caller>, Failure> {
    let messages = Arc::new(Messages::default());
    let mut settings = ClientOptions::default();
    settings.transport = options(case);
    settings.max_references = usize::MAX;
    settings.messages.tap = Some(messages.clone());
    let client = Client::connect_with(&address.parse()?, &settings)?;
    let service = client.lookup::<dyn Service>(NAME)?;
    let own = Server::default();
    let own = own.export::<dyn Service>(Arc::new(Plain::alone()));
    let what = match objects {
        Objects::Lookup if subject == "jstream" => What::Lookup,
        Objects::Lookup => What::Null,
        Objects::Reference if subject == "jstream" => What::Reference,
        Objects::Reference => What::Word,
        Objects::Exported(_) => What::Each(given(&service)?),
    };
    Ok(Box::new(Ours {
        what,
        client,
        service,
        own,
        turn: 0,
        messages,
        calls: 0,
    }))
}

/// All that the server has exported.
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
    /// Each in its turn.
    Each(Vec<Remote<dyn Service>>),
}

struct Ours {
    what: What,
    client: Client,
    service: ServiceStub,
    /// An object of this side.
    own: Export<dyn Service>,
    turn: usize,
    messages: Arc<Messages>,
    calls: usize,
}

/// Objects are called this far from each other, so that no cache has the next one.
const STRIDE: usize = 7919;

impl Ours {
    fn call(&mut self) -> Result<Given, Failure> {
        self.calls += 1;
        let fine = match &self.what {
            What::Lookup => {
                self.client.lookup::<dyn Service>(NAME)?;
                true
            }
            What::Null => {
                self.service.null().wait()?;
                true
            }
            What::Reference => *self.service.reference(self.own.remote()).wait()?.get(),
            What::Word => *self.service.word([1, 2, 3]).wait()?.get(),
            What::Each(all) => {
                self.turn = (self.turn + STRIDE) % all.len().max(1);
                let one = all.get(self.turn).ok_or("there is no object")?;
                one.null().wait()?;
                true
            }
        };
        if fine {
            Ok(Given::Nothing)
        } else {
            Err("a call gave another result".into())
        }
    }
}

impl Caller for Ours {
    fn calls(&mut self, samples: &mut Samples) -> Result<Given, Failure> {
        one_by_one(samples, || self.call())
    }

    fn flood(&mut self, _: usize) -> Result<(), Failure> {
        Err("objects are called one after another".into())
    }

    fn more(&mut self) -> Result<Vec<Figure>, Failure> {
        let messages = self.messages.0.load(Ordering::Relaxed) as f64;
        let mut figures = Vec::new();
        match &self.what {
            What::Each(all) if all.len() > 1 => {
                figures.push(("bytes", *self.service.bytes().wait()?.get(), "B"));
            }
            What::Each(_) => {}
            // Those that say what was let go of, for many calls at once, are among them.
            _ => figures.push(("messages", messages / self.calls as f64, "count")),
        }
        Ok(figures)
    }
}

/// Counts the messages of a connection, in both directions.
#[derive(Debug, Default)]
struct Messages(AtomicU64);

impl Tap for Messages {
    fn joined(&self, _: &[&str], _: &[&str]) {}

    fn message(&self, _: &Tapped<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
