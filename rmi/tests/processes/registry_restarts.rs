//! A registry that stops and restarts: the behaviour of its clients meanwhile, and the contents of
//! its file.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use jstream::Transportable;
use jstream::file::{FileReader, FileWriter};
use jstream_rmi::directory::{
    self, Changes, Directory, DirectoryError, Entry, Event, Names, PersistError, Refusal,
    Registrar, RegistrarOptions,
};
use jstream_rmi::{Address, LookupError, Server, Serving, remote};

use testing::until;

#[remote]
trait Adder {
    fn add(&self, a: i64, b: i64) -> i64;
}

struct Plus;

impl Adder for Plus {
    fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

fn folder(of: &str) -> PathBuf {
    let name = format!("jstream-registry-{of}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// Starts a registry at an address that the previous one may not have released yet.
fn registry(at: &Address, registrar: Registrar) -> Serving {
    let server = Server::default();
    server
        .bind::<dyn Directory>(directory::NAME, Arc::new(registrar))
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match server.listen(at) {
            Ok(serving) => return serving,
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn owner(names: &[&str]) -> Serving {
    let server = Server::default();
    for name in names {
        server.bind::<dyn Adder>(name, Arc::new(Plus)).unwrap();
    }
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

/// Opens a persistent registrar. The previous one releases the file when the last of its calls has
/// ended, so this retries.
fn kept(file: &Path) -> Registrar {
    let registrar = OnceCell::new();
    until(|| {
        let opened = Registrar::persistent(file, RegistrarOptions::default());
        opened.is_ok_and(|opened| registrar.set(opened).is_ok())
    });
    registrar.into_inner().unwrap()
}

fn listed(names: &Names) -> Vec<String> {
    let all = names.list().wait().unwrap();
    all.into_iter().map(|bound| bound.name).collect()
}

fn sum(names: &Names, name: &str) -> i64 {
    let adder = names.lookup::<dyn Adder>(name).wait().unwrap();
    *adder.add(40, 2).wait().unwrap().get()
}

fn next(changes: &mut Changes) -> (Event, String) {
    let within = changes.next_timeout(Duration::from_secs(60));
    let change = within.expect("no change").unwrap().unwrap();
    (change.event, change.name)
}

fn event(event: Event, name: &str) -> (Event, String) {
    (event, name.to_owned())
}

fn names_are_bound_again(at: &Address) {
    let first = registry(at, Registrar::default());
    let at = first.address().clone();
    let serving = owner(&["a", "b"]);
    let of_server = Names::connect(&at).wait().unwrap();
    of_server.bind("a", &serving).wait().unwrap();
    of_server.bind("b", &serving).wait().unwrap();
    let other = Names::connect(&at).wait().unwrap();
    let passing = owner(&["c"]);
    other.bind("c", &passing).wait().unwrap();
    let client = Names::connect(&at).wait().unwrap();
    let mut changes = client.watch().unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(next(&mut changes), event(Event::Bound, name));
    }
    assert_eq!(next(&mut changes), event(Event::Complete, ""));

    drop(first);
    // While the registry is down.
    drop(other);
    let gone = client.list().wait().unwrap_err();
    assert!(!gone.to_string().is_empty());
    let registry = registry(&at, Registrar::default());
    until(|| listed(&client) == ["a", "b"]);
    assert_eq!(sum(&client, "a"), 42);
    assert!(!of_server.unbind("c").wait().unwrap());
    // The watcher sees the names that go with the first registry, or finds the differences when it
    // is connected again. A name that is bound again before that may produce no event, whichever
    // events came earlier.
    let mut bound = BTreeSet::from(["a", "b", "c"].map(str::to_owned));
    let mut until_bound = |names: &[&str]| {
        while !bound.iter().eq(names) {
            let (event, name) = next(&mut changes);
            match event {
                Event::Bound => assert!(bound.insert(name)),
                Event::Unbound => assert!(bound.remove(&name)),
                Event::Complete | Event::Missed | Event::Refused => panic!("{event:?}"),
            }
        }
    };
    until_bound(&["a", "b"]);
    assert!(of_server.unbind("b").wait().unwrap());
    until_bound(&["a"]);
    drop(of_server);
    until_bound(&[]);
    drop(registry);
}

#[test]
fn names_are_bound_again_when_the_registry_is_back_over_tcp() {
    names_are_bound_again(&"tcp://127.0.0.1:0".parse().unwrap());
}

#[test]
fn names_are_bound_again_when_the_registry_is_back_over_uds() {
    let folder = folder("uds");
    let at = format!("uds://{}/names", folder.display());
    names_are_bound_again(&at.parse().unwrap());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn names_that_others_have_bound_meanwhile_stay_theirs() {
    let first = registry(&"tcp://127.0.0.1:0".parse().unwrap(), Registrar::default());
    let at = first.address().clone();
    let (one, other) = (owner(&["a", "b"]), owner(&["a"]));
    let of_one = Names::connect(&at).wait().unwrap();
    of_one.bind("a", &one).wait().unwrap();
    of_one.bind("b", &one).wait().unwrap();
    drop(first);
    let again = Registrar::default();
    // Binds the name before the other client can reconnect.
    let local = Server::default();
    local
        .bind::<dyn Directory>(directory::NAME, Arc::new(again))
        .unwrap();
    let near = local.listen(&"inproc://registry-restarts".parse().unwrap());
    let near = near.unwrap();
    let of_other = Names::connect(near.address()).wait().unwrap();
    of_other.bind("a", &other).wait().unwrap();
    let _served = local.listen(&at).unwrap();
    until(|| listed(&of_other) == ["a", "b"]);
    let found = of_other.directory().lookup("a").wait().unwrap();
    let address = other.address().to_string();
    assert_eq!(found.get().unwrap().addresses, [address]);
}

#[test]
fn what_is_kept_outlives_the_registry() {
    let folder = folder("kept");
    let file = folder.join("names");
    let first = registry(&"tcp://127.0.0.1:0".parse().unwrap(), kept(&file));
    let at = first.address().clone();
    let (staying, going) = (owner(&["a", "b"]), owner(&["c"]));
    let of_staying = Names::connect(&at).wait().unwrap();
    of_staying.bind("a", &staying).wait().unwrap();
    of_staying.bind("b", &staying).wait().unwrap();
    let of_going = Names::connect(&at).wait().unwrap();
    of_going.bind("c", &going).wait().unwrap();
    let client = Names::connect(&at).wait().unwrap();
    let mut changes = client.watch().unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(next(&mut changes), event(Event::Bound, name));
    }
    assert_eq!(next(&mut changes), event(Event::Complete, ""));
    // Only one registrar can use the file.
    let taken = Registrar::persistent(&file, RegistrarOptions::default()).unwrap_err();
    assert!(matches!(taken, PersistError::File { .. }), "{taken}");

    drop(first);
    drop(of_going);
    drop(going);
    let second = registry(&at, kept(&file));
    let fresh = Names::connect(&at).wait().unwrap();
    assert_eq!(listed(&fresh), ["a", "b", "c"]);
    assert_eq!(sum(&fresh, "a"), 42);
    // The server of `c` is gone, which this lookup detects.
    let gone = fresh.lookup::<dyn Adder>("c").wait().unwrap_err();
    assert!(matches!(gone, LookupError::Unreachable { .. }), "{gone}");
    assert!(
        gone.to_string().contains("\"c\" is bound, but its server"),
        "{}",
        gone.to_string()
    );
    let other = owner(&["c"]);
    let refused = fresh.bind("c", &other).wait().unwrap_err();
    let DirectoryError::Refused { source, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(source, Refusal::Taken);
    assert!(fresh.unbind("c").wait().unwrap());
    // The first event of the watcher: the names that were bound before are still bound.
    assert_eq!(next(&mut changes), event(Event::Unbound, "c"));

    drop(fresh);
    until(|| ["a", "b"].map(|name| of_staying.bind(name, &staying).wait().is_ok()) == [true; 2]);
    drop(of_staying);
    until(|| listed(&client).is_empty());
    drop(second);
    let third = registry(&at, kept(&file));
    until(|| client.list().wait().is_ok());
    assert!(listed(&client).is_empty());
    drop(third);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_can_not_be_written_is_told() {
    let folder = folder("unwritten");
    let nowhere = folder.join("nowhere/names");
    let error = Registrar::persistent(&nowhere, RegistrarOptions::default()).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("nowhere"), "{said}");

    let file = folder.join("names");
    let serving = registry(&"tcp://127.0.0.1:0".parse().unwrap(), kept(&file));
    let names = Names::connect(serving.address()).wait().unwrap();
    let owner = owner(&["a", "b"]);
    fs::remove_dir_all(&folder).unwrap();
    let refused = names.bind("a", &owner).wait().unwrap_err();
    let DirectoryError::Refused { source, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(source, Refusal::NotKept);
    assert_eq!(listed(&names), ["a"]);
    // The next change is written together with this one.
    fs::create_dir(&folder).unwrap();
    names.bind("b", &owner).wait().unwrap();
    drop(serving);
    let again = registry(&"tcp://127.0.0.1:0".parse().unwrap(), kept(&file));
    assert_eq!(
        listed(&Names::connect(again.address()).wait().unwrap()),
        ["a", "b"]
    );
    drop(again);
    fs::remove_dir_all(folder).unwrap();
}

/// The head of a file of names, in any version.
#[derive(Transportable)]
struct Head {
    version: u32,
    names: u64,
}

fn entry(name: &str, addresses: &[&str]) -> Entry {
    Entry {
        name: name.to_owned(),
        interface: "Adder".to_owned(),
        id: 7,
        description: "fn add(&self)".to_owned(),
        addresses: addresses.iter().map(|&of| of.to_owned()).collect(),
    }
}

fn written(file: &Path, version: u32, names: u64, entries: &[Entry]) {
    let mut writer = FileWriter::create(file).unwrap();
    writer.push(&Head { version, names }).unwrap();
    for entry in entries {
        writer.push(entry).unwrap();
    }
    writer.commit().unwrap();
}

#[test]
fn files_that_are_none_of_names_are_refused() {
    let folder = folder("refused");
    let file = folder.join("names");
    let mut options = RegistrarOptions::default();
    options.max_names = 3;
    options.max_bytes = 4 << 10;
    let refused = || {
        let before = fs::read(&file).unwrap();
        let error = Registrar::persistent(&file, options.clone()).unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), before, "file unchanged");
        let said = error.to_string();
        assert!(said.contains(file.to_str().unwrap()), "{said}");
        said
    };
    let at = ["tcp://127.0.0.1:1"];
    let good = entry("a", &at);
    written(&file, 2, 1, std::slice::from_ref(&good));
    assert!(refused().contains("version 2"));
    written(&file, 1, 5, std::slice::from_ref(&good));
    assert!(refused().contains("object 0"));
    let long = "x".repeat(300);
    let much = "x".repeat(5000);
    let eight: Vec<Entry> = (0..4).map(|n| entry(&n.to_string(), &at)).collect();
    let mut described = entry("b", &at);
    described.description = much;
    for (entries, said) in [
        (
            vec![good.clone(), good.clone()],
            "object 2: its name occurs twice",
        ),
        (
            vec![good.clone(), entry(&long, &at)],
            "object 2: its name, or",
        ),
        (vec![entry("b", &[])], "object 1: it has no address"),
        (
            vec![entry("b", &["nonsense"])],
            "object 1: one of its addresses",
        ),
        (
            vec![entry("b", &[at[0]; 9])],
            "object 1: it has no address, or",
        ),
        (eight, "object 4: the names exceed"),
        (vec![described], "1"),
    ] {
        written(&file, 1, entries.len() as u64, &entries);
        let found = refused();
        assert!(found.contains(said), "{said}: {found}");
    }
    // A file with objects of another type.
    let mut writer = FileWriter::create(&file).unwrap();
    writer.push(&7u64).unwrap();
    writer.commit().unwrap();
    drop(writer);
    refused();

    // Files with a damaged byte, and truncated files.
    written(&file, 1, 1, std::slice::from_ref(&good));
    let whole = fs::read(&file).unwrap();
    let last = FileReader::open(&file).unwrap().entry(1).unwrap();
    let end = usize::try_from(last.place + last.len).unwrap();
    let (damaged, mut harmless) = (folder.join("damaged"), 0);
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&damaged, &bytes).unwrap();
        match Registrar::persistent(&damaged, options.clone()) {
            Ok(_) => {
                // The damaged byte was not used, and the file was written anew.
                assert_eq!(FileReader::open(&damaged).unwrap().len(), 2);
                harmless += 1;
            }
            Err(_) => assert_eq!(fs::read(&damaged).unwrap(), bytes),
        }
        fs::remove_file(&damaged).unwrap();
    }
    // Unused bytes are the second of two commits, and those between blocks.
    assert!(harmless < whole.len() / 7 * 3 / 4, "{harmless}");
    for length in (0..end).step_by(61) {
        fs::write(&damaged, &whole[..length]).unwrap();
        let error = Registrar::persistent(&damaged, options.clone()).unwrap_err();
        assert!(
            matches!(error, PersistError::File { .. }),
            "{length}: {error}"
        );
    }
    fs::remove_dir_all(folder).unwrap();
}
