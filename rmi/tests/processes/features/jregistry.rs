//! The program `jregistry`, as a server process and as clients of it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use jstream_rmi::directory::Names;
use jstream_rmi::{Server, Serving, remote};
use serde_json::{Value as Json, json};

#[remote]
trait Adder {
    fn add(&self, a: i64, b: i64) -> i64;
}

struct Plus;

impl Adder for Plus {
    fn add(&self, a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
}

/// A registry process, which is killed on drop.
struct Registry {
    child: Child,
    address: String,
}

impl Registry {
    fn start(arguments: &[&str]) -> Self {
        Self::start_at("tcp://127.0.0.1:0", arguments)
    }

    fn start_at(uri: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jregistry"))
            .args(["serve", uri])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        Self { child, address }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn jregistry(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jregistry"));
    let output = command.args(["--timeout", "100"]).args(arguments).output();
    output.unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the exit code and the error output of the program.
fn complaint(output: &Output) -> (i32, String) {
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    (output.status.code().unwrap(), text)
}

fn owner() -> Serving {
    let server = Server::default();
    server.bind::<dyn Adder>("adder", Arc::new(Plus)).unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

#[test]
fn names_are_listed_looked_up_and_unbound() {
    let registry = Registry::start(&["--anyone-may-replace"]);
    let at = registry.address.as_str();
    assert_eq!(printed(&jregistry(&["list", at])), "nothing is bound\n");

    let serving = owner();
    let names = Names::connect(&at.parse().unwrap()).wait().unwrap();
    names.bind("adder", &serving).wait().unwrap();
    assert_eq!(printed(&jregistry(&["list", at])), "adder  Adder\n");
    let list: Json = serde_json::from_str(&printed(&jregistry(&["list", at, "--json"]))).unwrap();
    let found = printed(&jregistry(&["lookup", at, "adder", "--json"]));
    let found: Json = serde_json::from_str(&found).unwrap();
    let id = found.get("id").unwrap();
    assert_eq!(
        list,
        json!({"names": [{"name": "adder", "interface": "Adder", "id": id}]})
    );
    let address = serving.address().to_string();
    assert_eq!(found.get("addresses"), Some(&json!([address])));
    let shown = printed(&jregistry(&["lookup", at, "adder"]));
    assert!(
        shown.contains("fn add(&self, a: i64, b: i64) -> i64"),
        "{shown}"
    );
    assert!(shown.contains(&address), "{shown}");
    let adder = names.lookup::<dyn Adder>("adder").wait().unwrap();
    assert_eq!(*adder.add(40, 2).wait().unwrap().get(), 42);

    let lookup = |options: &[&str]| jregistry(&[&["lookup", at, "adder"], options].concat());
    assert_eq!(printed(&lookup(&["--quiet"])), "");
    let coloured = printed(&lookup(&["--color", "always"]));
    assert!(
        coloured.starts_with("\u{1b}[1madder\u{1b}[0m: "),
        "{coloured:?}"
    );

    assert_eq!(printed(&jregistry(&["unbind", at, "adder"])), "");
    for command in ["unbind", "lookup"] {
        let (code, text) = complaint(&jregistry(&[command, at, "adder"]));
        assert_eq!(code, 1);
        assert_eq!(text, "jregistry: nothing is bound to \"adder\"\n");
    }
}

/// Errors name the address, and not the name under which a registry is bound.
#[test]
fn a_server_without_a_registry_is_told() {
    let serving = owner();
    let at = serving.address().to_string();
    let nowhere = format!("uds:///nowhere/jregistry-{}", std::process::id());
    for (at, reason) in [(&at, "is not a registry"), (&nowhere, "can't be reached")] {
        let (code, text) = complaint(&jregistry(&["list", at]));
        assert_eq!(code, 1);
        assert!(text.contains(&**at) && text.contains(reason), "{text}");
        assert!(!text.contains("jstream.directory"), "{text}");
    }
}

/// Kills a persistent registry and restarts it. Old and new clients find the same names.
fn killed_and_started_again(uri: &str, file: &std::path::Path) {
    let persist = ["--persist", file.to_str().unwrap(), "--anyone-may-replace"];
    let registry = Registry::start_at(uri, &persist);
    let at = registry.address.clone();
    let (serving, going) = (owner(), owner());
    let names = Names::connect(&at.parse().unwrap()).wait().unwrap();
    names.bind("adder", &serving).wait().unwrap();
    let other = Names::connect(&at.parse().unwrap()).wait().unwrap();
    // The names are in the file when `rebind` returns.
    other.rebind("adder", &going).wait().unwrap();
    names.rebind("adder", &serving).wait().unwrap();
    drop(registry);
    drop((other, going));
    let mut registry = Registry::start_at(&at, &persist);
    // The system may not have released the port yet.
    for _ in 0..200 {
        if !registry.address.is_empty() {
            break;
        }
        drop(registry);
        std::thread::sleep(std::time::Duration::from_millis(50));
        registry = Registry::start_at(&at, &persist);
    }
    assert_eq!(printed(&jregistry(&["list", &at])), "adder  Adder\n");
    let adder = names.lookup::<dyn Adder>("adder").wait().unwrap();
    assert_eq!(*adder.add(40, 2).wait().unwrap().get(), 42);
    assert_eq!(printed(&jregistry(&["unbind", &at, "adder"])), "");
    drop(registry);

    std::fs::write(file, b"no names").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jregistry"));
    let refused = command.args(["serve", uri]).args(persist).output().unwrap();
    let (code, text) = complaint(&refused);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(persist[1]), "{text}");
}

#[test]
fn names_outlive_a_registry_that_is_killed() {
    let (file, _) = tempfile();
    let over_tcp = file.with_extension("tcp");
    killed_and_started_again("tcp://127.0.0.1:0", &over_tcp);
    let over_uds = file.with_extension("uds");
    let uri = format!("uds://{}", file.with_extension("socket").display());
    killed_and_started_again(&uri, &over_uds);
    for file in [file, over_tcp, over_uds] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn secrets_are_asked_for() {
    let mut file = tempfile();
    file.1.write_all(b"a secret of some length").unwrap();
    let path = file.0.to_str().unwrap();
    let registry = Registry::start(&["--secret", path]);
    let at = registry.address.as_str();
    let (code, text) = complaint(&jregistry(&["list", at]));
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("jregistry: "), "{text}");
    let listed = printed(&jregistry(&["list", at, "--secret", path]));
    assert_eq!(listed, "nothing is bound\n");
    std::fs::remove_file(&file.0).unwrap();
}

/// Creates a temporary file, which the caller removes.
fn tempfile() -> (std::path::PathBuf, std::fs::File) {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("jregistry-test-{}-{count}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = std::fs::File::create(&path).unwrap();
    (path, file)
}

#[test]
fn wrong_usage_is_told() {
    for arguments in [&[][..], &["serve"], &["list"], &["list", "nowhere"]] {
        let (code, _) = complaint(&jregistry(arguments));
        assert_eq!(code, 2, "{arguments:?}");
    }
    let unread = ["list", "tcp://127.0.0.1:1", "--secret", "/nowhere/at/all"];
    let (code, text) = complaint(&jregistry(&unread));
    assert_eq!(code, 2, "{text}");
    let (code, _) = complaint(&jregistry(&["list", "tcp://127.0.0.1:1"]));
    assert_eq!(code, 1);
}
