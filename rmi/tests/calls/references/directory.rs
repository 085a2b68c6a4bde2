//! The registry for several servers: over sockets, and under floods of names.

use std::net::{IpAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::directory::{
    self, Change, Changes, Directory, DirectoryError, Entry, EntryRef, Event, Names, Refusal,
    Registrar, RegistrarOptions,
};
use jstream_rmi::{
    Address, Bound, Client, ClientOptions, LookupError, Remotable, Secret, Server, ServerOptions,
    Serving, Stream, remote,
};

use testing::until;

#[remote]
trait Adder {
    fn add(&self, a: i64, b: i64) -> i64;
}

#[remote]
trait Other {
    fn nothing(&self);
}

struct Plus(i64);

impl Adder for Plus {
    fn add(&self, a: i64, b: i64) -> i64 {
        a + b + self.0
    }
}

fn registry(address: &str, options: RegistrarOptions, server: ServerOptions) -> Serving {
    let server = Server::new(server);
    let registrar = Arc::new(Registrar::new(options));
    server
        .bind::<dyn Directory>(directory::NAME, registrar)
        .unwrap();
    server.listen(&address.parse().unwrap()).unwrap()
}

fn plain() -> Serving {
    registry(
        "tcp://127.0.0.1:0",
        RegistrarOptions::default(),
        ServerOptions::default(),
    )
}

/// A registry in which every program of the host may replace and unbind the names of others.
fn open() -> Serving {
    let mut options = RegistrarOptions::default();
    options.anyone_may_replace = true;
    registry("tcp://127.0.0.1:0", options, ServerOptions::default())
}

/// Starts a server with objects of the given names.
fn owner(names: &[(&str, i64)]) -> Serving {
    let server = Server::default();
    for (name, plus) in names {
        server
            .bind::<dyn Adder>(name, Arc::new(Plus(*plus)))
            .unwrap();
    }
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

fn sum(names: &Names, name: &str) -> i64 {
    let adder = names.lookup::<dyn Adder>(name).wait().unwrap();
    *adder.add(1, 2).wait().unwrap().get()
}

fn listed(names: &Names) -> Vec<String> {
    let all = names.list().wait().unwrap();
    all.into_iter().map(|bound| bound.name).collect()
}

fn next(changes: &mut Changes) -> (Event, String) {
    let change = changes.next().unwrap().unwrap();
    (change.event, change.name)
}

fn next_of(changes: &mut Stream<Change>) -> (Event, String) {
    let item = changes.next().wait().unwrap().unwrap();
    let change = item.get();
    (change.event, change.name.to_owned())
}

fn refusal(of: Result<(), DirectoryError>) -> Refusal {
    match of {
        Err(DirectoryError::Refused { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

#[test]
fn objects_of_several_servers_are_found_and_called() {
    let registry = open();
    let (one, other) = (owner(&[("a", 10), ("b", 20)]), owner(&[("a", 30)]));
    let of_one = Names::connect(registry.address()).wait().unwrap();
    of_one.bind("a", &one).wait().unwrap();
    of_one.bind("b", &one).wait().unwrap();
    let of_other = Names::connect(registry.address()).wait().unwrap();
    assert_eq!(refusal(of_other.bind("a", &other).wait()), Refusal::Taken);

    let client = Names::connect(registry.address()).wait().unwrap();
    assert_eq!(listed(&client), ["a", "b"]);
    assert_eq!((sum(&client, "a"), sum(&client, "b")), (13, 23));
    of_other.rebind("a", &other).wait().unwrap();
    assert_eq!(sum(&client, "a"), 33);
    assert!(client.unbind("b").wait().unwrap());
    assert!(!client.unbind("b").wait().unwrap());
    let unknown = client.lookup::<dyn Adder>("b").wait().unwrap_err();
    assert!(matches!(unknown, LookupError::Unknown { .. }), "{unknown}");
    let unserved = of_one.bind("c", &one).wait().unwrap_err();
    assert!(matches!(unserved, DirectoryError::NotServed { .. }));

    let wrong = client
        .lookup::<dyn Other>("a")
        .wait()
        .unwrap_err()
        .to_string();
    assert!(wrong.contains("Other here, Adder there"), "{wrong}");

    // The server is gone, but its name is still bound.
    drop(other);
    let gone = client.lookup::<dyn Adder>("a").wait().unwrap_err();
    assert!(matches!(gone, LookupError::Unreachable { .. }), "{gone}");
    let wrong = client
        .lookup::<dyn Other>("a")
        .wait()
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains(
            "Other { fn nothing(&self) } here, Adder { fn add(&self, a: i64, b: i64) -> i64 } there"
        ),
        "{wrong}"
    );
}

#[test]
fn names_go_with_who_bound_them_and_watchers_know() {
    let registry = open();
    let serving = owner(&[("a", 0), ("b", 0), ("c", 0)]);
    let of_a = Names::connect(registry.address()).wait().unwrap();
    of_a.bind("a", &serving).wait().unwrap();
    let of_others = Names::connect(registry.address()).wait().unwrap();
    of_others.bind("b", &serving).wait().unwrap();

    let client = Names::connect(registry.address()).wait().unwrap();
    let mut changes = client.watch().unwrap();
    assert_eq!(next(&mut changes), (Event::Bound, "a".to_owned()));
    assert_eq!(next(&mut changes), (Event::Bound, "b".to_owned()));
    assert_eq!(next(&mut changes), (Event::Complete, String::new()));
    of_others.bind("c", &serving).wait().unwrap();
    assert_eq!(next(&mut changes), (Event::Bound, "c".to_owned()));
    // A name that another connection has taken over stays bound.
    of_others.rebind("a", &serving).wait().unwrap();
    assert_eq!(next(&mut changes), (Event::Bound, "a".to_owned()));
    drop(of_a);
    assert!(of_others.unbind("b").wait().unwrap());
    assert_eq!(next(&mut changes), (Event::Unbound, "b".to_owned()));
    drop(of_others);
    let gone = [next(&mut changes), next(&mut changes)].map(|(event, name)| {
        assert_eq!(event, Event::Unbound);
        name
    });
    assert_eq!(gone, ["a", "c"]);
    assert!(listed(&client).is_empty());
}

fn unbound(of: Result<bool, DirectoryError>) -> Refusal {
    refusal(of.map(|_| ()))
}

/// Local programs without the secret must not redirect or remove the names of others.
#[test]
fn only_the_binder_replaces_and_unbinds_a_name() {
    let local = format!("uds://@directory-{}", std::process::id());
    for address in ["tcp://127.0.0.1:0", &local] {
        let registry = registry(
            address,
            RegistrarOptions::default(),
            ServerOptions::default(),
        );
        let (honest, forged) = (owner(&[("a", 10)]), owner(&[("a", 30)]));
        let binder = Names::connect(registry.address()).wait().unwrap();
        binder.bind("a", &honest).wait().unwrap();
        let other = Names::connect(registry.address()).wait().unwrap();
        assert_eq!(
            refusal(other.rebind("a", &forged).wait()),
            Refusal::NotBinder
        );
        assert_eq!(unbound(other.unbind("a").wait()), Refusal::NotBinder);
        // Binding the same entry again does not make the caller the binder.
        other.bind("a", &honest).wait().unwrap();
        other.rebind("a", &honest).wait().unwrap();
        assert_eq!(
            refusal(other.rebind("a", &forged).wait()),
            Refusal::NotBinder
        );
        assert_eq!(unbound(other.unbind("a").wait()), Refusal::NotBinder);
        assert_eq!(sum(&other, "a"), 13);
        binder.rebind("a", &honest).wait().unwrap();
        assert!(binder.unbind("a").wait().unwrap());
        assert!(listed(&other).is_empty());
    }
}

/// A program that has lost its connection binds its names again, before or after the registry has
/// learned of the end of that connection.
#[test]
fn a_name_that_was_bound_twice_stays_for_the_second() {
    let registry = plain();
    let serving = owner(&[("a", 0)]);
    let first = Names::connect(registry.address()).wait().unwrap();
    first.bind("a", &serving).wait().unwrap();
    let second = Names::connect(registry.address()).wait().unwrap();
    second.bind("a", &serving).wait().unwrap();
    let mut changes = second.watch().unwrap();
    assert_eq!(next(&mut changes), (Event::Bound, "a".to_owned()));
    assert_eq!(next(&mut changes), (Event::Complete, String::new()));
    drop(first);
    until(|| second.rebind("a", &owner(&[("a", 1)])).wait().is_ok());
    assert_eq!(next(&mut changes), (Event::Bound, "a".to_owned()));
    assert!(second.unbind("a").wait().unwrap());
    assert_eq!(next(&mut changes), (Event::Unbound, "a".to_owned()));
    // The name is also unbound if the second connection ends before the first.
    let first = Names::connect(registry.address()).wait().unwrap();
    first.bind("a", &serving).wait().unwrap();
    assert_eq!(next(&mut changes), (Event::Bound, "a".to_owned()));
    let third = Names::connect(registry.address()).wait().unwrap();
    third.bind("a", &serving).wait().unwrap();
    drop(third);
    drop(first);
    assert_eq!(next(&mut changes), (Event::Unbound, "a".to_owned()));
    assert!(listed(&second).is_empty());
}

/// A program that repeats the entry of another one does not take over its name when that loses its
/// connection and binds again.
#[test]
fn who_repeats_an_entry_does_not_take_the_name_over() {
    let registry = plain();
    let (honest, forged) = (owner(&[("a", 10)]), owner(&[("a", 1000)]));
    let old = Names::connect(registry.address()).wait().unwrap();
    old.bind("a", &honest).wait().unwrap();
    let new = Names::connect(registry.address()).wait().unwrap();
    new.bind("a", &honest).wait().unwrap();
    let thief = Names::connect(registry.address()).wait().unwrap();
    thief.bind("a", &honest).wait().unwrap();
    let observer = Client::connect(registry.address()).wait().unwrap();
    let connections = || {
        let health = observer.reflection().health().wait();
        health.unwrap().get().connections
    };
    let before = connections();
    drop(old);
    // What the end of a connection causes may still run when it is not counted any more.
    until(|| connections() < before);
    for _ in 0..20 {
        assert_eq!(
            refusal(thief.rebind("a", &forged).wait()),
            Refusal::NotBinder
        );
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(unbound(thief.unbind("a").wait()), Refusal::NotBinder);
    assert_eq!(sum(&new, "a"), 13);
    drop(thief);
    until(|| new.rebind("a", &owner(&[("a", 11)])).wait().is_ok());
    assert!(new.unbind("a").wait().unwrap());
}

/// Claims count as names, so that one connection can't hold more of them.
#[test]
fn claims_count_as_names() {
    let mut options = RegistrarOptions::default();
    options.max_names_each = 2;
    let registry = registry("tcp://127.0.0.1:0", options, ServerOptions::default());
    let serving = owner(&[("a", 1), ("b", 2), ("c", 3)]);
    let [first, second] = [0, 1].map(|_| Names::connect(registry.address()).wait().unwrap());
    first.bind("a", &serving).wait().unwrap();
    first.bind("b", &serving).wait().unwrap();
    second.bind("c", &serving).wait().unwrap();
    second.bind("a", &serving).wait().unwrap();
    second.bind("a", &serving).wait().unwrap();
    assert_eq!(
        refusal(second.bind("b", &serving).wait()),
        Refusal::TooMany { most: 2 }
    );
}

#[test]
fn the_registry_and_its_users_may_be_in_one_program() {
    let address = "inproc://directory-in-one";
    let (options, server) = (RegistrarOptions::default(), ServerOptions::default());
    let registry = registry(address, options, server);
    let names = Names::connect(registry.address()).wait().unwrap();
    let server = Server::default();
    server.bind::<dyn Adder>("a", Arc::new(Plus(1))).unwrap();
    let serving = server.listen(&"inproc://directory-owner".parse().unwrap());
    names.bind("a", &serving.unwrap()).wait().unwrap();
    let serving = server.listen(&"inproc://directory-owner".parse().unwrap());
    assert_eq!(sum(&names, "a"), 4);
    drop(serving);
}

#[test]
fn who_knows_the_secret_changes_names() {
    let secret = Secret::new(b"sixteen bytes and more").unwrap();
    let mut options = ServerOptions::default();
    options.secret = Some(secret.clone());
    let registry = registry("tcp://127.0.0.1:0", RegistrarOptions::default(), options);
    assert!(Names::connect(registry.address()).wait().is_err());
    let mut options = ClientOptions::default();
    options.secret = Some(secret.clone());
    let names = Names::connect_with(registry.address(), &options)
        .wait()
        .unwrap();
    let mut of_server = ServerOptions::default();
    of_server.secret = Some(secret);
    let server = Server::new(of_server);
    server.bind::<dyn Adder>("a", Arc::new(Plus(0))).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    names.bind("a", &serving.unwrap()).wait().unwrap();
    assert_eq!(listed(&names), ["a"]);
}

/// Returns an address of this host that is not recognised as local, if there is one.
fn outside() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Connecting a UDP socket sends nothing.
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

fn seen_from(ip: IpAddr, serving: &Serving) -> Address {
    let address = serving.address().to_string();
    let (_, port) = address.rsplit_once(':').unwrap();
    Address::tcp(&ip.to_string(), port.parse().unwrap()).unwrap()
}

#[test]
fn other_hosts_change_names_by_the_secret_alone() {
    let Some(ip) = outside() else {
        eprintln!("skipped: this host has no address but its loopback");
        return;
    };
    let open = registry(
        "tcp://0.0.0.0:0",
        RegistrarOptions::default(),
        ServerOptions::default(),
    );
    let far = Names::connect(&seen_from(ip, &open)).wait().unwrap();
    let serving = owner(&[("a", 0)]);
    assert_eq!(refusal(far.bind("a", &serving).wait()), Refusal::NotAllowed);
    let unbound = far.unbind("a").wait().map(|_| ());
    assert_eq!(refusal(unbound), Refusal::NotAllowed);
    let near = Names::connect(
        &open
            .address()
            .to_string()
            .replace("0.0.0.0", "127.0.0.1")
            .parse()
            .unwrap(),
    )
    .wait()
    .unwrap();
    near.bind("a", &serving).wait().unwrap();
    assert_eq!(listed(&far), ["a"]);
    // The server listens only at a local address, so the entry has no address for other hosts.
    let entry = far.directory().lookup("a").wait().unwrap();
    assert!(entry.get().unwrap().addresses.is_empty());

    let secret = Secret::new(b"sixteen bytes and more").unwrap();
    let mut options = ServerOptions::default();
    options.secret = Some(secret.clone());
    let closed = registry("tcp://0.0.0.0:0", RegistrarOptions::default(), options);
    let mut options = ClientOptions::default();
    options.secret = Some(secret);
    let far = Names::connect_with(&seen_from(ip, &closed), &options)
        .wait()
        .unwrap();
    let server = Server::default();
    server.bind::<dyn Adder>("a", Arc::new(Plus(0))).unwrap();
    let serving = server.listen(&"tcp://0.0.0.0:0".parse().unwrap()).unwrap();
    far.bind("a", &serving).wait().unwrap();
    // The entry has the address from which the name was bound.
    let entry = far.directory().lookup("a").wait().unwrap();
    let expected = seen_from(ip, &serving).to_string();
    assert_eq!(entry.get().unwrap().addresses, [expected]);
}

/// Returns an entry as a hostile program would make it.
fn entry<'e>(name: &'e str, description: &'e str, addresses: &'e [&'e str]) -> EntryRef<'e> {
    EntryRef {
        name,
        interface: "Adder",
        id: 1,
        description,
        addresses,
    }
}

#[test]
fn floods_of_names_are_bounded_and_others_go_on() {
    let mut options = RegistrarOptions::default();
    options.max_names_each = 50;
    options.max_names = 120;
    options.max_bytes = 1 << 20;
    let registry = registry("tcp://127.0.0.1:0", options, ServerOptions::default());
    let serving = owner(&[("mine", 5)]);
    let names = Names::connect(registry.address()).wait().unwrap();
    names.bind("mine", &serving).wait().unwrap();

    let at = ["tcp://127.0.0.1:1"];
    let attackers: Vec<_> = (0..3)
        .map(|of| {
            let attacker = Names::connect(registry.address()).wait().unwrap();
            let mut refused = Vec::new();
            for n in 0..200 {
                let name = format!("{of}-{n}");
                let done = attacker.directory().bind(entry(&name, "", &at), false);
                refused.extend(done.wait().unwrap().get().err());
            }
            (attacker, refused)
        })
        .collect();
    assert!(attackers[0].1.contains(&Refusal::TooMany { most: 50 }));
    assert!(attackers[2].1.contains(&Refusal::Full));
    assert_eq!(listed(&names).len(), 120);

    // Names and addresses that are too long, too many addresses, and no usable address.
    let refused = |entry: EntryRef<'_>, replace| {
        let done = names.directory().bind(entry, replace).wait().unwrap();
        done.get().unwrap_err()
    };
    let long = "x".repeat(1 << 20);
    assert_eq!(refused(entry(&long, "", &at), false), Refusal::TooLong);
    assert_eq!(refused(entry("n", "", &[&long]), false), Refusal::TooLong);
    assert_eq!(
        refused(entry("n", "", &[at[0]; 9]), false),
        Refusal::TooLong
    );
    for bad in ["", "nonsense", "inproc://elsewhere"] {
        assert_eq!(refused(entry("n", "", &[bad]), false), Refusal::NoAddress);
    }
    // A name of another client cannot be taken.
    let hostile = attackers[0].0.directory();
    let taken = hostile.bind(entry("mine", "", &at), false).wait().unwrap();
    assert_eq!(taken.get().unwrap_err(), Refusal::Taken);
    assert_eq!(sum(&names, "mine"), 8);

    // The names of a client are unbound when it has disconnected.
    drop((hostile, attackers));
    until(|| listed(&names) == ["mine"]);
    // A long description is truncated, and counts towards the limit.
    let long = "x".repeat(100 << 10);
    for n in 0..40 {
        let name = format!("{n}");
        let done = names.directory().bind(entry(&name, &long, &at), false);
        if let Err(refusal) = done.wait().unwrap().get() {
            assert_eq!((*refusal, n > 10), (Refusal::Full, true));
        }
    }
    assert!(listed(&names).len() < 20);
    assert_eq!(sum(&names, "mine"), 8);
}

#[test]
fn watchers_that_do_not_read_are_told_that_they_missed_something() {
    let mut options = RegistrarOptions::default();
    options.max_changes = 8;
    options.max_watchers = 2;
    let registry = registry("tcp://127.0.0.1:0", options, ServerOptions::default());
    let serving = owner(&[("a", 0)]);
    let names = Names::connect(registry.address()).wait().unwrap();
    names.bind("a", &serving).wait().unwrap();
    let mut options = ClientOptions::default();
    options.stream_items = 16;
    let idle = Client::connect_with(registry.address(), &options)
        .wait()
        .unwrap();
    let idle = idle
        .lookup::<dyn Directory>(directory::NAME)
        .wait()
        .unwrap();
    let mut lazy = idle.watch();
    assert_eq!(next_of(&mut lazy), (Event::Bound, "a".to_owned()));
    let mut second = names.directory().watch();
    assert_eq!(next_of(&mut second), (Event::Bound, "a".to_owned()));
    let mut third = names.watch().unwrap();
    let refused = third.next().unwrap().unwrap();
    assert_eq!(refused.event, Event::Refused);
    assert!(refused.name.contains("max_watchers)"), "{}", refused.name);
    assert!(third.next().is_none());
    drop(second);
    // More changes than the stream window and `max_changes` have room for.
    for _ in 0..200 {
        names.rebind("a", &serving).wait().unwrap();
    }
    let mut last = (Event::Bound, String::new());
    while let Some(item) = lazy.next().wait() {
        last.0 = item.unwrap().get().event;
    }
    assert_eq!(last.0, Event::Missed);
    // The client can watch again.
    assert_eq!(next_of(&mut idle.watch()), (Event::Bound, "a".to_owned()));
}

#[test]
fn one_connection_does_not_take_the_places_of_all_watchers() {
    let mut options = RegistrarOptions::default();
    options.max_watchers_each = 3;
    let registry = registry("tcp://127.0.0.1:0", options, ServerOptions::default());
    let greedy = Client::connect(registry.address()).wait().unwrap();
    let greedy = greedy
        .lookup::<dyn Directory>(directory::NAME)
        .wait()
        .unwrap();
    let mut few: Vec<_> = (0..3).map(|_| greedy.watch()).collect();
    for watch in &mut few {
        assert_eq!(next_of(watch).0, Event::Complete);
    }
    let (event, reason) = next_of(&mut greedy.watch());
    assert_eq!(event, Event::Refused);
    assert!(reason.contains("max_watchers_each"), "{reason}");
    let names = Names::connect(registry.address()).wait().unwrap();
    assert_eq!(next_of(&mut names.directory().watch()).0, Event::Complete);
    // A slot is free again when one of the watches has ended.
    few.pop();
    until(|| next_of(&mut greedy.watch()).0 == Event::Complete);
}

#[test]
fn changes_that_wait_for_all_watchers_are_bounded() {
    let mut options = RegistrarOptions::default();
    options.max_change_bytes = 8 << 10;
    let registry = registry("tcp://127.0.0.1:0", options, ServerOptions::default());
    let serving = owner(&[("a", 0)]);
    let names = Names::connect(registry.address()).wait().unwrap();
    let mut options = ClientOptions::default();
    options.stream_items = 4;
    let idle = Client::connect_with(registry.address(), &options)
        .wait()
        .unwrap();
    let idle = idle
        .lookup::<dyn Directory>(directory::NAME)
        .wait()
        .unwrap();
    let mut lazy: Vec<_> = (0..8).map(|_| idle.watch()).collect();
    for watch in &mut lazy {
        assert_eq!(next_of(watch).0, Event::Complete);
    }
    let mut reader = names.directory().watch();
    assert_eq!(next_of(&mut reader).0, Event::Complete);
    // Fewer changes for each watcher than `max_changes`, but more bytes for all of them than
    // `max_change_bytes`.
    for _ in 0..400 {
        names.rebind("a", &serving).wait().unwrap();
        assert_eq!(next_of(&mut reader), (Event::Bound, "a".to_owned()));
    }
    for mut watch in lazy {
        let mut last = Event::Complete;
        while let Some(item) = watch.next().wait() {
            last = item.unwrap().get().event;
            if last == Event::Missed {
                break;
            }
        }
        assert_eq!(last, Event::Missed);
    }
}

/// A registry that returns the same address fifty times for every name.
struct Liar(String);

#[remote]
impl Directory for Liar {
    async fn bind(&self, _: EntryRef<'_>, _: bool) -> Result<(), Refusal> {
        Err(Refusal::Full)
    }

    async fn bind_shared(&self, _: EntryRef<'_>, _: &[u8]) -> Result<(), Refusal> {
        Err(Refusal::Full)
    }

    fn servers(&self, name: &str) -> Vec<Entry> {
        self.lookup(name).into_iter().collect()
    }

    async fn unbind(&self, _: &str) -> Result<bool, Refusal> {
        Ok(false)
    }

    fn lookup(&self, name: &str) -> Option<Entry> {
        let interface = <dyn Adder as Remotable>::interface();
        Some(Entry {
            name: name.to_owned(),
            interface: interface.name().to_owned(),
            id: interface.id(),
            description: String::new(),
            addresses: vec![self.0.clone(); 50],
        })
    }

    fn list(&self) -> Vec<Bound> {
        Vec::new()
    }

    fn watch(&self) -> Stream<Change> {
        Stream::of(Vec::new())
    }
}

/// The addresses are of a server that accepts connections and says nothing. Connecting to all of
/// them has one deadline, and no more are tried than an honest registry accepts.
#[test]
fn a_registry_that_lies_does_not_hold_a_lookup() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", silent.local_addr().unwrap());
    let server = Server::default();
    server
        .bind::<dyn Directory>(directory::NAME, Arc::new(Liar(address)))
        .unwrap();
    let registry = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    for (call, handshake) in [(2, 1000), (1000, 1)] {
        let mut options = ClientOptions::default();
        options.call_timeout = Duration::from_secs(call);
        options.transport.handshake_timeout = Duration::from_secs(handshake);
        let names = Names::connect_with(registry.address(), &options)
            .wait()
            .unwrap();
        let error = names.lookup::<dyn Adder>("a").wait().unwrap_err();
        assert!(matches!(error, LookupError::Unreachable { .. }), "{error}");
    }
    silent.set_nonblocking(true).unwrap();
    let tried = std::iter::from_fn(|| silent.accept().ok()).count();
    assert!((2..=16).contains(&tried), "{tried}");
}
