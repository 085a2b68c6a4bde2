//! The program `jcall`, against a server of this process.

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{Remote, Secret, Server, ServerOptions, Serving, Stream, WeakServer, remote};
use serde_json::{Value as Json, json};

#[derive(Transportable)]
struct Leg {
    price: f64,
    count: u32,
    side: Side,
}

#[derive(Transportable, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

#[derive(Transportable)]
struct Order {
    id: u64,
    symbol: String,
    legs: Vec<Leg>,
    parent: Option<Box<Order>>,
}

#[derive(Transportable)]
struct Receipt {
    id: u64,
    total: f64,
    parents: Vec<String>,
    rest: Option<u32>,
}

#[remote]
trait Book {
    fn submit(&self, order: &OrderRef<'_>) -> Receipt;
    fn add(&self, a: i32, b: i32) -> i32;
    fn greet(&self, name: &str) -> String;
    #[remote(one_way)]
    fn note(&self, text: &str);
    #[remote(idempotent)]
    fn nothing(&self);
    fn fails(&self);
    async fn waits(&self) -> u8;
    fn prices(&self, of: Stream<u64>) -> Stream<f64>;
}

struct Here;

fn total(order: &OrderRef<'_>) -> f64 {
    let signed = |leg: &LegRef<'_>| {
        let signs = [(Side::Buy, 1.0), (Side::Sell, -1.0)];
        let (_, sign) = signs
            .into_iter()
            .find(|(side, _)| *side == leg.side)
            .unwrap();
        sign * leg.price * f64::from(leg.count)
    };
    order.legs.iter().map(signed).sum()
}

#[remote]
impl Book for Here {
    fn submit(&self, order: &OrderRef<'_>) -> Receipt {
        let parents = std::iter::successors(order.parent, |order| order.parent);
        Receipt {
            id: order.id,
            total: total(order),
            parents: parents.map(|order| order.symbol.to_owned()).collect(),
            rest: None,
        }
    }

    fn add(&self, a: i32, b: i32) -> i32 {
        a + b
    }

    fn greet(&self, name: &str) -> String {
        format!("hello, {name}")
    }

    fn note(&self, _text: &str) {}

    fn nothing(&self) {}

    fn fails(&self) {
        panic!("as it should");
    }

    async fn waits(&self) -> u8 {
        std::future::pending().await
    }

    fn prices(&self, _of: Stream<u64>) -> Stream<f64> {
        Stream::of(std::iter::empty())
    }
}

fn serve(options: ServerOptions) -> (Server, Serving) {
    let server = Server::new(options);
    server.bind::<dyn Book>("book", Arc::new(Here)).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    (server, serving.unwrap())
}

/// Runs the program with the server's address before these arguments.
fn jcall(serving: &Serving, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jcall"));
    if !arguments.contains(&"--timeout") {
        command.arg("--timeout").arg("100");
    }
    command.arg(serving.address().to_string());
    command.args(arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn parsed(output: &Output) -> Json {
    serde_json::from_str(&printed(output)).unwrap()
}

/// Returns the exit code and the error output of the program.
fn complaint(output: &Output) -> (i32, String) {
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(text.starts_with("jcall: "), "{text}");
    (output.status.code().unwrap(), text)
}

#[test]
fn names_and_methods_are_listed() {
    let (_server, serving) = serve(ServerOptions::default());
    let names = parsed(&jcall(&serving, &["--json"]));
    let id = &names["names"][0]["id"];
    let shown_id = id.as_str().unwrap();
    assert!(shown_id.starts_with("0x"), "{id}");
    let listed = printed(&jcall(&serving, &[]));
    assert_eq!(listed, format!("book  Book {shown_id}\n"));
    assert_eq!(
        names,
        json!({"names": [{"name": "book", "interface": "Book", "id": id}]})
    );

    let listed = printed(&jcall(&serving, &["book"]));
    let mut lines = listed.lines();
    assert_eq!(lines.next().unwrap(), format!("book: Book {shown_id}"));
    assert_eq!(
        lines.next(),
        Some("  fn submit(&self, order: &OrderRef<'_>) -> Receipt")
    );
    assert!(
        listed.contains("  fn note(&self, text: &str)  // one-way\n"),
        "{listed}"
    );
    assert!(listed.contains("// streams: can't be called"), "{listed}");
    let methods = parsed(&jcall(&serving, &["book", "--json"]));
    assert_eq!(&methods["id"], id);
    assert_eq!(methods["methods"][4]["name"], "nothing");
    assert_eq!(methods["methods"][4]["idempotent"], true);
}

#[test]
fn methods_are_called_with_json() {
    let (_server, serving) = serve(ServerOptions::default());
    let call = |arguments: &[&str]| {
        let arguments = [&["book", "--json"], arguments].concat();
        parsed(&jcall(&serving, &arguments))
    };
    assert_eq!(call(&["add", "40", "2"]), json!(42));
    assert_eq!(call(&["add", "-40", "-2"]), json!(-42));
    assert_eq!(call(&["greet", "\"Ada\""]), json!("hello, Ada"));
    // An argument that is not valid JSON is passed as a string.
    assert_eq!(
        call(&["greet", "Ada Lovelace"]),
        json!("hello, Ada Lovelace")
    );
    assert_eq!(call(&["nothing"]), Json::Null);
    let leg = |price, side| json!({"price": price, "count": 4, "side": side});
    let order = |id, symbol, legs: Json, parent: Json| json!({"id": id, "symbol": symbol, "legs": legs, "parent": parent});
    let parent = order(1, "WHOLE", json!([]), Json::Null);
    let legs = json!([leg(2.5, "Buy"), leg(0.5, "Sell")]);
    let receipt = call(&["submit", &order(7, "ACME", legs, parent).to_string()]);
    let expected = json!({"id": 7, "total": 8.0, "parents": ["WHOLE"], "rest": null});
    assert_eq!(receipt, expected);

    assert_eq!(printed(&jcall(&serving, &["book", "note", "noted"])), "");
    let pretty = printed(&jcall(&serving, &["book", "greet", "you\u{1b}[2J"]));
    assert!(!pretty.contains('\u{1b}'), "{pretty:?}");
}

#[test]
fn wrong_usage_is_told_from_failures() {
    let (_server, serving) = serve(ServerOptions::default());
    let of = |arguments: &[&str]| complaint(&jcall(&serving, arguments));
    let (code, text) = of(&["book", "sub"]);
    assert_eq!(code, 2);
    assert!(
        text.contains("has no method `sub`; it has: submit, add, greet"),
        "{text}"
    );
    let (code, text) = of(&["book", "add", "1", "3000000000"]);
    assert_eq!(code, 2);
    assert!(text.contains("argument 2 (b: i32)"), "{text}");
    assert_eq!(
        text,
        "jcall: add: argument 2 (b: i32): expected an integer from -2147483648 to 2147483647, \
         found 3000000000; try '1'\n"
    );
    let (code, text) = of(&["book", "add", "1"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "jcall: add: argument 2 (b: i32) is missing; try '1'\n"
    );
    let (code, text) = of(&["book", "add", "1", "2", "3"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "jcall: add takes 2 arguments (a: i32, b: i32), but 3 were given\n"
    );
    let (code, text) = of(&["book", "greet"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "jcall: greet: argument 1 (name: &str) is missing; try '\"text\"'\n"
    );
    // The example of an argument is a valid argument.
    let (code, text) = of(&["book", "submit"]);
    assert_eq!(code, 2);
    let (_, example) = text
        .trim_end()
        .trim_end_matches('\'')
        .split_once(" try '")
        .unwrap();
    let receipt = parsed(&jcall(&serving, &["book", "submit", example, "--json"]));
    assert_eq!(receipt["id"], 1);
    let (code, text) = of(&["book", "submit", "{\"id\": 7}"]);
    assert_eq!(code, 2);
    assert!(text.contains("the field \"symbol\" is missing"), "{text}");
    let (code, text) = of(&["book", "prices"]);
    assert_eq!(code, 2);
    assert!(text.contains("has streams"), "{text}");

    let (code, text) = of(&["shelf"]);
    assert_eq!(code, 1);
    assert!(text.contains("nothing is bound to \"shelf\""), "{text}");
    let (code, text) = of(&["book", "fails"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("panicked") && text.contains("(the method may have run)"),
        "{text}"
    );
    let (code, text) = of(&["book", "waits", "--timeout", "0.2"]);
    assert_eq!(code, 1);
    assert!(text.contains("no result before its deadline"), "{text}");
    let (code, text) = of(&[
        "book",
        "submit",
        "{\"id\": 1, \"symbol\": 5, \"legs\": [], \"parent\": null}",
    ]);
    assert_eq!(code, 2);
    assert!(
        text.contains("argument 1 (order: &OrderRef<'_>) at `.symbol`"),
        "{text}"
    );
    // The server is still alive.
    assert_eq!(
        parsed(&jcall(&serving, &["book", "add", "1", "2"])),
        json!(3)
    );
}

#[remote]
trait Account {
    fn balance(&self) -> i64;
}

struct Savings(i64);

impl Account for Savings {
    fn balance(&self) -> i64 {
        self.0
    }
}

#[remote]
trait Bank {
    fn open(&self, balance: i64) -> Remote<dyn Account>;
    fn find(&self, balance: i64) -> Option<Remote<dyn Account>>;
    fn total(&self, of: Vec<Remote<dyn Account>>) -> i64;
    fn balance_of(&self, account: Remote<dyn Account>) -> i64;
    fn rates(&self) -> BTreeMap<String, u32>;
}

struct Branch(WeakServer);

impl Bank for Branch {
    fn open(&self, balance: i64) -> Remote<dyn Account> {
        let server = self.0.upgrade().unwrap();
        let export = server.export::<dyn Account>(Arc::new(Savings(balance)));
        export.into_remote()
    }

    fn find(&self, balance: i64) -> Option<Remote<dyn Account>> {
        (balance > 0).then(|| self.open(balance))
    }

    fn total(&self, of: Vec<Remote<dyn Account>>) -> i64 {
        of.into_iter().map(|account| self.balance_of(account)).sum()
    }

    fn balance_of(&self, account: Remote<dyn Account>) -> i64 {
        account.local::<Arc<Savings>>().unwrap().0
    }

    fn rates(&self) -> BTreeMap<String, u32> {
        BTreeMap::from([("day".to_owned(), 1), ("year".to_owned(), 3)])
    }
}

#[test]
fn references_are_named_and_shown() {
    let (server, serving) = serve(ServerOptions::default());
    let branch = Arc::new(Branch(server.downgrade()));
    server.bind::<dyn Bank>("bank", branch).unwrap();
    for (name, balance) in [("hers", 40), ("his", 2)] {
        let account = Arc::new(Savings(balance));
        server.bind::<dyn Account>(name, account).unwrap();
    }
    let call = |arguments: &[&str]| {
        let arguments = [&["bank", "--json"], arguments].concat();
        parsed(&jcall(&serving, &arguments))
    };
    assert_eq!(call(&["balance_of", "hers"]), json!(40));
    assert_eq!(call(&["total", r#"["hers", "his"]"#]), json!(42));
    let opened = call(&["open", "7"]);
    let number = &opened["object"];
    assert!(number.is_u64(), "{opened}");
    assert_eq!(
        opened,
        json!({ "reference": "dyn Account", "object": number })
    );
    assert_eq!(call(&["find", "7"])["reference"], "dyn Account");
    assert_eq!(call(&["find", "0"]), Json::Null);
    assert_eq!(call(&["rates"]), json!({ "day": 1, "year": 3 }));

    let (code, text) = complaint(&jcall(&serving, &["bank", "balance_of", "theirs"]));
    assert_eq!(code, 1);
    assert!(text.contains("nothing is bound to \"theirs\""), "{text}");
    let (code, text) = complaint(&jcall(&serving, &["bank", "balance_of", "7"]));
    assert_eq!(code, 2);
    assert!(
        text.contains("expected the name of a bound object"),
        "{text}"
    );
    // An object of another interface is refused by the server.
    let (code, text) = complaint(&jcall(&serving, &["bank", "balance_of", "book"]));
    assert_eq!(code, 1);
    assert!(text.contains("did not run"), "{text}");
}

/// The trait of the server before some changes.
mod older {
    use jstream_rmi::remote;

    #[remote]
    pub(super) trait Book {
        fn add(&self, a: i16) -> i32;
        fn greet(&self, name: &str) -> String;
        fn note(&self, text: &str);
        fn gone(&self);
    }
}

struct Before;

impl older::Book for Before {
    fn add(&self, a: i16) -> i32 {
        a.into()
    }

    fn greet(&self, name: &str) -> String {
        name.to_owned()
    }

    fn note(&self, _: &str) {}

    fn gone(&self) {}
}

#[test]
fn servers_of_two_versions_are_compared() {
    let (_new, new) = serve(ServerOptions::default());
    let server = Server::default();
    server
        .bind::<dyn older::Book>("book", Arc::new(Before))
        .unwrap();
    let old = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let old = old.unwrap();
    let compat = |one: &Serving, other: &Serving, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jcall"));
        command.args(["compat", "--timeout", "100"]);
        let addresses = [one, other].map(|of| of.address().to_string());
        command.args(addresses).args(arguments).output().unwrap()
    };
    let output = compat(&old, &new, &["--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let compared: Json = serde_json::from_slice(&output.stdout).unwrap();
    let methods = &compared["names"][0]["methods"];
    let of = |place: usize, key: &str| methods[place][key].as_str().unwrap_or_default();
    assert_eq!(of(0, "calls"), "refused");
    assert!(of(0, "reason").starts_with("arguments: b: "), "{methods}");
    assert_eq!(of(1, "calls"), "unchanged");
    assert_eq!(of(2, "calls"), "refused");
    assert_eq!(of(3, "reason"), "it is missing there");
    assert_eq!(compared["compatible"], false);
    let same = printed(&compat(&new, &new, &["--name", "book"]));
    assert!(same.contains("  add: unchanged\n"), "{same}");
    let (code, text) = complaint(&compat(&old, &new, &["--quiet"]));
    assert!(
        code == 1 && text.contains("can't call all methods"),
        "{text}"
    );
}

#[test]
fn colours_and_silence_are_asked_for() {
    let (_server, serving) = serve(ServerOptions::default());
    assert_eq!(printed(&jcall(&serving, &["--quiet"])), "");
    assert_eq!(
        printed(&jcall(&serving, &["book", "add", "1", "2", "-q"])),
        ""
    );
    let (code, text) = complaint(&jcall(&serving, &["book", "fails", "--quiet"]));
    assert_eq!((code, text.is_empty()), (1, false));
    let names = printed(&jcall(&serving, &["--color", "always"]));
    assert!(
        names.starts_with("\u{1b}[1mbook\u{1b}[0m  Book "),
        "{names:?}"
    );
    let names = printed(&jcall(&serving, &["--color=never"]));
    assert!(names.starts_with("book  Book "), "{names:?}");
    let failed = jcall(&serving, &["shelf", "--color=always"]);
    let text = String::from_utf8(failed.stderr).unwrap();
    assert!(text.starts_with("\u{1b}[1;31mjcall\u{1b}[0m: "), "{text:?}");
}

/// Checks the completions and the manual page of a program.
pub(super) fn pages(program: &str, part: &str) {
    let of = |arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        printed(&output)
    };
    for (shell, word) in [
        ("bash", "COMPREPLY"),
        ("zsh", "#compdef"),
        ("fish", "complete -c"),
    ] {
        let script = of(&["--completions", shell]);
        assert!(script.contains(word), "{shell}: {script}");
        assert!(
            script.contains("color") && script.contains(part),
            "{shell}: {script}"
        );
    }
    let manual = of(&["--man"]);
    assert!(manual.contains(".TH") && manual.contains(part), "{manual}");
    let wrong = Command::new(program)
        .args(["--completions", "cmd"])
        .output();
    assert_eq!(wrong.unwrap().status.code(), Some(2));
}

#[test]
fn shells_complete_and_manuals_are_printed() {
    pages(env!("CARGO_BIN_EXE_jcall"), "replay");
    pages(env!("CARGO_BIN_EXE_jregistry"), "lookup");
}

#[test]
fn a_secret_is_shown_that_is_known() {
    let secret = [7; 32];
    let file = std::env::temp_dir().join(format!("jcall-secret-{}", std::process::id()));
    std::fs::write(&file, secret).unwrap();
    let file = file.to_str().unwrap();
    let mut options = ServerOptions::default();
    options.secret = Some(Secret::new(&secret).unwrap());
    let (_server, serving) = serve(options);
    let sum = jcall(&serving, &["book", "add", "1", "2", "--secret", file]);
    let (code, _) = complaint(&jcall(&serving, &["book"]));
    std::fs::remove_file(file).unwrap();
    assert_eq!(parsed(&sum), json!(3));
    assert_eq!(code, 1);
    let (code, text) = complaint(&jcall(&serving, &["--secret", file]));
    assert_eq!(code, 2);
    assert!(text.contains("the secret in"), "{text}");
}

#[test]
fn a_server_that_is_not_there_or_says_nothing() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jcall"));
    let nobody = command.arg(format!("uds:///nowhere/jcall-{}", std::process::id()));
    let (code, text) = complaint(&nobody.output().unwrap());
    assert_eq!(code, 1);
    assert!(text.contains("can't reach"), "{text}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jcall"));
    let wrong = command.arg("udp://host:1").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let help = Command::new(env!("CARGO_BIN_EXE_jcall"))
        .arg("--help")
        .output()
        .unwrap();
    assert!(printed(&help).contains("Exit codes"));

    let mut silent = ServerOptions::default();
    silent.reflects = false;
    let (_server, serving) = serve(silent);
    let (code, _) = complaint(&jcall(&serving, &[]));
    assert_eq!(code, 1);
}

/// Replays captured calls. The answers of the same object are equal, and the differing answer of
/// another object is reported.
#[test]
fn captured_calls_are_made_again() {
    struct Other;
    #[remote]
    impl Book for Other {
        fn submit(&self, order: &OrderRef<'_>) -> Receipt {
            Here.submit(order)
        }
        fn add(&self, a: i32, b: i32) -> i32 {
            a - b
        }
        fn greet(&self, name: &str) -> String {
            Here.greet(name)
        }
        fn note(&self, _text: &str) {}
        fn nothing(&self) {}
        fn fails(&self) {
            panic!("as it should");
        }
        async fn waits(&self) -> u8 {
            std::future::pending().await
        }
        fn prices(&self, _of: Stream<u64>) -> Stream<f64> {
            Stream::of(std::iter::empty())
        }
    }

    let folder = std::env::temp_dir().join(format!("jcall-replay-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let capture = jstream_rmi::Capture::new(&folder).unwrap();
    let (_server, serving) = serve(ServerOptions::default());
    let mut options = jstream_rmi::ClientOptions::default();
    options.capture = Some(capture.clone());
    let client = jstream_rmi::Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    let book = client.lookup::<dyn Book>("book").wait().unwrap();
    assert_eq!(*book.add(3, 4).wait().unwrap().get(), 7);
    assert_eq!(*book.greet("you").wait().unwrap().get(), "hello, you");
    assert!(book.fails().wait().is_err());
    book.note("a word").unwrap();
    book.nothing().wait().unwrap();
    drop((book, client));
    capture.flush();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();

    let replay = |uri: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_jcall"))
            .arg("replay")
            .arg(file.path())
            .args([uri, "--json", "--timeout", "100"])
            .output()
            .unwrap();
        let said: Json = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), said)
    };
    let (code, said) = replay(&serving.address().to_string());
    let all = json!({ "same": 5, "left_out": 0, "lost": 0, "differ": [] });
    assert_eq!((code, said), (Some(0), all));

    let server = Server::default();
    server.bind::<dyn Book>("book", Arc::new(Other)).unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    let (code, said) = replay(&serving.address().to_string());
    assert_eq!(code, Some(1));
    let differ = json!([{ "call": 1, "method": "Book::add", "then": 7, "now": -1 }]);
    assert_eq!((&said["same"], &said["differ"]), (&json!(4), &differ));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The results of calls in flight are objects that the replay does not know.
#[test]
fn calls_with_promised_objects_are_left_out() {
    let (server, serving) = serve(ServerOptions::default());
    let branch = Arc::new(Branch(server.downgrade()));
    server.bind::<dyn Bank>("bank", branch).unwrap();
    let folder = std::env::temp_dir().join(format!("jcall-promised-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let capture = jstream_rmi::Capture::new(&folder).unwrap();
    let mut options = jstream_rmi::ClientOptions::default();
    options.capture = Some(capture.clone());
    let client = jstream_rmi::Client::connect_with(serving.address(), &options);
    let client = client.wait().unwrap();
    let bank = client.lookup::<dyn Bank>("bank").wait().unwrap();
    assert_eq!(bank.rates().wait().unwrap().get().len(), 2);
    let open = bank.open(7);
    // A call of the promised object, and one that passes it.
    let balance = open.pipelined().balance();
    let promised: Remote<dyn Account> = Remote::from_stub(open.pipelined());
    let passed = bank.balance_of(promised.clone());
    let listed = bank.total(vec![promised]);
    assert_eq!(*balance.wait().unwrap().get(), 7);
    assert_eq!(*passed.wait().unwrap().get(), 7);
    assert_eq!(*listed.wait().unwrap().get(), 7);
    assert_eq!(bank.rates().wait().unwrap().get().len(), 2);
    open.wait().unwrap();
    drop((bank, client));
    capture.flush();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let replay = Command::new(env!("CARGO_BIN_EXE_jcall"))
        .arg("replay")
        .arg(file.path())
        .args([&serving.address().to_string(), "--json", "--timeout", "100"])
        .output();
    // The call that makes the object is left out as well, because others name it.
    let all = json!({ "same": 2, "left_out": 4, "lost": 0, "differ": [] });
    assert_eq!(parsed(&replay.unwrap()), all);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn metadata_is_sent_and_repeated() {
    #[remote]
    trait Tenants {
        fn current(&self) -> String;
    }

    struct FromMetadata;

    impl Tenants for FromMetadata {
        fn current(&self) -> String {
            let context = jstream_rmi::context();
            context
                .metadata()
                .get("tenant")
                .unwrap_or("none")
                .to_owned()
        }
    }

    let (server, serving) = serve(ServerOptions::default());
    server
        .bind::<dyn Tenants>("tenants", Arc::new(FromMetadata))
        .unwrap();
    let current = ["tenants", "current", "--json"];
    assert_eq!(parsed(&jcall(&serving, &current)), json!("none"));
    let entries = ["--metadata", "a=b", "--metadata", "tenant=a=c"];
    let call = jcall(&serving, &[&current[..], &entries].concat());
    assert_eq!(parsed(&call), json!("a=c"));
    for (entry, why) in [
        ("tenant", "write it as KEY=VALUE"),
        ("=v", "visible ASCII"),
        ("Tenant=v", "upper-case"),
    ] {
        let call = jcall(&serving, &["tenants", "current", "--metadata", entry]);
        let (code, text) = complaint(&call);
        assert!(code == 2 && text.contains(why), "{text}");
    }

    let folder = std::env::temp_dir().join(format!("jcall-metadata-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let capture = jstream_rmi::Capture::new(&folder).unwrap();
    let mut options = jstream_rmi::ClientOptions::default();
    options.capture = Some(capture.clone());
    let client = jstream_rmi::Client::connect_with(serving.address(), &options);
    let client = client.wait().unwrap();
    let tenants = client.lookup::<dyn Tenants>("tenants").wait().unwrap();
    let mut metadata = jstream_rmi::Metadata::default();
    metadata.insert("tenant", "acme").unwrap();
    let tenants = jstream_rmi::Stub::with_metadata(&tenants, metadata);
    assert_eq!(*tenants.current().wait().unwrap().get(), "acme");
    drop((tenants, client));
    capture.flush();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let replay = Command::new(env!("CARGO_BIN_EXE_jcall"))
        .arg("replay")
        .arg(file.path())
        .args([&serving.address().to_string(), "--json", "--timeout", "100"])
        .output();
    let all = json!({ "same": 1, "left_out": 0, "lost": 0, "differ": [] });
    assert_eq!(parsed(&replay.unwrap()), all);
    std::fs::remove_dir_all(&folder).unwrap();
}
