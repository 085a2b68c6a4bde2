//! Members that a registry names, also one that lies.

use std::sync::Arc;
use std::thread;

use jstream_rmi::directory::{
    self, Change, Directory, Entry, EntryRef, Event, Names, Refusal, Registrar,
};
use jstream_rmi::{Address, Bound, ClientSet, RegistryNames, Server, Serving, Stream, remote};
use testing::until;

use crate::{Ledger, Running, Shop, addresses, open, quick};

fn registry(directory: impl Directory) -> Serving {
    let server = Server::default();
    server
        .bind::<dyn Directory>(directory::NAME, Arc::new(directory))
        .unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

#[test]
fn names_that_are_bound_and_unbound_are_members() {
    let registry = registry(Registrar::default());
    let ledger: Arc<Ledger> = Arc::default();
    let addresses = &addresses("registry", 2)[3];
    let mut all = Vec::new();
    for (id, address) in (0..).zip(addresses) {
        let running = Running::start(address, id, &ledger);
        let name = format!("shops/{id}");
        running
            .server
            .bind::<dyn Shop>(&name, running.object.clone())
            .unwrap();
        let names = Names::connect(registry.address()).wait().unwrap();
        let serving = running.serving.as_ref().unwrap();
        names.bind(&name, serving).wait().unwrap();
        all.push((running, names));
    }
    let names = Names::connect(registry.address()).wait().unwrap();
    let source = RegistryNames::watch(&names, "shops/").unwrap();
    let set = ClientSet::open_with(source, &quick()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    assert!(set.ready().wait());
    until(|| open(&set) == 2);
    // The end of a process, or of its connection to the registry, ends its names.
    drop(all.remove(0));
    until(|| set.members().len() == 1);
    assert_eq!(*shop.look().wait().unwrap().get(), 1);
    // An empty registry changes nothing: the last server may be reachable all the same.
    all[0].1.unbind("shops/1").wait().unwrap();
    assert_eq!(*shop.look().wait().unwrap().get(), 1);
}

/// A registry that names the server and ten thousand others, one of which is no address, and
/// changes its mind all the time.
struct Liar(Address);

#[remote]
impl Directory for Liar {
    async fn bind(&self, _: EntryRef<'_>, _: bool) -> Result<(), Refusal> {
        Err(Refusal::Full)
    }

    async fn unbind(&self, _: &str) -> Result<bool, Refusal> {
        Ok(false)
    }

    fn lookup(&self, name: &str) -> Option<Entry> {
        let number: u64 = name.rsplit('/').next()?.parse().unwrap_or(0);
        let addresses = match number {
            0 => vec![self.0.to_string()],
            1 => vec!["nonsense".to_owned(); 10_000],
            2 => return None,
            _ => vec![format!("inproc://sets-lies-{number}"); 3],
        };
        Some(Entry {
            name: "another".to_owned(),
            interface: String::new(),
            id: 0,
            description: String::new(),
            addresses,
        })
    }

    fn list(&self) -> Vec<Bound> {
        Vec::new()
    }

    fn watch(&self) -> Stream<Change> {
        let change = |number: u64| Change {
            event: match number % 7 {
                6 => Event::Unbound,
                5 => Event::Complete,
                _ => Event::Bound,
            },
            name: format!("shops/{}", number % 2000),
            interface: "x".repeat(100),
            id: number,
        };
        Stream::of((0..10_000).map(change))
    }
}

#[test]
fn a_registry_that_lies_is_bounded() {
    let address = &addresses("lies", 1)[2][0];
    let registry = registry(Liar(address.clone()));
    let ledger: Arc<Ledger> = Arc::default();
    let _running = Running::start(address, 0, &ledger);
    let names = Names::connect(registry.address()).wait().unwrap();
    let source = RegistryNames::watch(&names, "shops/").unwrap();
    let mut options = quick();
    options.max_connections = 8;
    options.refresh = std::time::Duration::from_millis(5);
    let set = ClientSet::open_with(source, &options).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    // It may leave the server out of the part of the list that the set uses. Then nothing answers.
    until(|| !set.members().is_empty());
    for _ in 0..20 {
        assert!(set.members().len() <= 8);
        thread::sleep(std::time::Duration::from_millis(5));
    }
    drop((set, shop));
}
