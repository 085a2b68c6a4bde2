//! Members that a registry names, also one that lies.

use std::sync::Arc;
use std::thread;

use jstream_rmi::directory::{
    self, Change, Directory, DirectoryError, Entry, EntryRef, Event, Names, Refusal, Registrar,
    RegistrarOptions,
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

    async fn bind_shared(&self, _: EntryRef<'_>, _: &[u8]) -> Result<(), Refusal> {
        Err(Refusal::Full)
    }

    fn servers(&self, name: &str) -> Vec<Entry> {
        let times = if name.ends_with("03") { 300 } else { 1 };
        vec![self.lookup(name); times]
            .into_iter()
            .flatten()
            .collect()
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

/// A server of a shared name, with the connection that has bound the name.
struct SharingServer {
    running: Running,
    names: Names,
}

const KEY: &[u8] = b"sixteen bytes or more";

fn sharing(registry: &Serving, address: &Address, id: u64) -> SharingServer {
    SharingServer {
        running: Running::start(address, id, &Arc::default()),
        names: Names::connect(registry.address()).wait().unwrap(),
    }
}

impl SharingServer {
    fn bind(&self, key: &[u8]) -> Result<(), Refusal> {
        let serving = self.running.serving.as_ref().unwrap();
        refusal(self.names.bind_shared("shop", serving, key).wait())
    }
}

fn refusal<R>(result: Result<R, DirectoryError>) -> Result<R, Refusal> {
    result.map_err(|error| match error {
        DirectoryError::Refused { source, .. } => source,
        error => panic!("{error}"),
    })
}

#[test]
fn servers_that_share_a_name_are_members() {
    let mut options = RegistrarOptions::default();
    options.max_servers = 3;
    let registry = registry(Registrar::new(options));
    let addresses = &addresses("shared", 4)[3];
    let mut servers: Vec<_> = (0..4)
        .map(|id| sharing(&registry, &addresses[id as usize], id))
        .collect();
    let names = Names::connect(registry.address()).wait().unwrap();
    assert_eq!(servers[0].bind(b"too short"), Err(Refusal::KeyLength));
    for server in &servers[..3] {
        server.bind(KEY).unwrap();
        server.bind(KEY).unwrap();
    }
    assert_eq!(
        servers[3].bind(KEY),
        Err(Refusal::TooManyServers { most: 3 })
    );
    assert_eq!(names.list().wait().unwrap().len(), 1);
    let set =
        ClientSet::open_with(RegistryNames::watch(&names, "shop").unwrap(), &quick()).unwrap();
    let shop = set.get::<dyn Shop>("shop");
    until(|| open(&set) == 3);
    until(|| *shop.look().wait().unwrap().get() == 2);
    // A lookup of one server finds the first.
    let found = names.lookup::<dyn Shop>("shop").wait().unwrap();
    assert_eq!(*found.look().wait().unwrap().get(), 0);

    // A server that ends leaves the others, also if it is the first one.
    drop(servers.remove(0));
    until(|| set.members().len() == 2);
    until(|| {
        let found = names.lookup::<dyn Shop>("shop").wait().unwrap();
        *found.look().wait().unwrap().get() == 1
    });
    // So there is room for another one.
    servers[2].bind(KEY).unwrap();
    until(|| open(&set) == 3);
    // One that unbinds the name unbinds itself.
    assert!(servers[0].names.unbind("shop").wait().unwrap());
    until(|| set.members().len() == 2);
    assert_eq!(
        refusal(servers[0].names.unbind("shop").wait()),
        Err(Refusal::NotBinder)
    );
    servers.clear();
    until(|| names.list().wait().unwrap().is_empty());
}

#[test]
fn strangers_neither_join_nor_take_over_a_shared_name() {
    let registry = registry(Registrar::default());
    let addresses = &addresses("strangers", 2)[3];
    let own = sharing(&registry, &addresses[0], 0);
    let stranger = sharing(&registry, &addresses[1], 1);
    let serving = stranger.running.serving.as_ref().unwrap();
    own.bind(KEY).unwrap();
    let mut other = KEY.to_vec();
    *other.last_mut().unwrap() ^= 1;
    for key in [&other[..], &[0; 16], &[0; 256], &KEY[..16]] {
        assert_eq!(stranger.bind(key), Err(Refusal::WrongKey));
    }
    let names = &stranger.names;
    assert_eq!(
        refusal(names.bind("shop", serving).wait()),
        Err(Refusal::Taken)
    );
    assert_eq!(
        refusal(names.rebind("shop", serving).wait()),
        Err(Refusal::NotBinder)
    );
    assert_eq!(
        refusal(names.unbind("shop").wait()),
        Err(Refusal::NotBinder)
    );
    // Nor can the entry of the server be repeated.
    let theirs = names.directory().lookup("shop").wait().unwrap();
    let theirs = theirs.get().unwrap();
    let bound = names.directory().bind(theirs, false).wait().unwrap();
    assert_eq!(*bound.get(), Err(Refusal::Taken));
    let bound = names.directory().bind(theirs, true).wait().unwrap();
    assert_eq!(*bound.get(), Err(Refusal::NotBinder));
    let bound = names
        .directory()
        .bind_shared(theirs, &other)
        .wait()
        .unwrap();
    assert_eq!(*bound.get(), Err(Refusal::WrongKey));
    let found = names.lookup::<dyn Shop>("shop").wait().unwrap();
    assert_eq!(*found.look().wait().unwrap().get(), 0);
    // A name of a single server can't be shared by another one.
    let serving = own.running.serving.as_ref().unwrap();
    own.names.bind("session", serving).wait().unwrap();
    let session = stranger.running.serving.as_ref().unwrap();
    let shared = names.bind_shared("session", session, KEY).wait();
    assert_eq!(refusal(shared), Err(Refusal::Taken));
    // The key is that of the name while it is bound.
    drop(own);
    until(|| stranger.bind(&other).is_ok());
}

#[test]
fn a_server_binds_its_shared_name_again_after_a_restart_of_the_registry() {
    let running = registry(Registrar::default());
    let address = running.address().clone();
    let addresses = &addresses("again", 2)[3];
    let servers: Vec<_> = (0..2)
        .map(|id| sharing(&running, &addresses[id as usize], id))
        .collect();
    for server in &servers {
        server.bind(KEY).unwrap();
    }
    let names = Names::connect(&address).wait().unwrap();
    let set =
        ClientSet::open_with(RegistryNames::watch(&names, "shop").unwrap(), &quick()).unwrap();
    let _shop = set.get::<dyn Shop>("shop");
    until(|| open(&set) == 2);
    running.stop();
    let server = Server::default();
    server
        .bind::<dyn Directory>(directory::NAME, Arc::new(Registrar::default()))
        .unwrap();
    let mut again = None;
    until(|| {
        again = server.listen(&address).ok();
        again.is_some()
    });
    until(|| {
        let found = names.directory().servers("shop").wait();
        found.is_ok_and(|found| found.get().len() == 2)
    });
    until(|| open(&set) == 2);
}
