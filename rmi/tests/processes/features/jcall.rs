//! The program `jcall`, against a server of this process.

use std::process::{Command, Output};
use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{Secret, Server, ServerOptions, Serving, Stream, remote};
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
    assert_eq!(printed(&jcall(&serving, &[])), "book  Book\n");
    let names = parsed(&jcall(&serving, &["--json"]));
    let id = &names["names"][0]["id"];
    assert_eq!(
        names,
        json!({"names": [{"name": "book", "interface": "Book", "id": id}]})
    );

    let listed = printed(&jcall(&serving, &["book"]));
    let mut lines = listed.lines();
    assert_eq!(lines.next(), Some("book: Book"));
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
    assert!(
        text.contains("fn add(&self, a: i32, b: i32) -> i32"),
        "{text}"
    );
    assert!(
        text.contains(".1: expected an integer from -2147483648 to 2147483647"),
        "{text}"
    );
    for arguments in [&["book", "add", "1"][..], &["book", "add", "1", "2", "3"]] {
        let (code, text) = of(arguments);
        assert_eq!(code, 2);
        assert!(text.contains("expected a list of 2"), "{text}");
    }
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
        text.contains("panicked") && text.contains("MayHaveRun"),
        "{text}"
    );
    let (code, text) = of(&["book", "waits", "--timeout", "0.2"]);
    assert_eq!(code, 1);
    assert!(text.contains("no result in time"), "{text}");
    // The server is still alive.
    assert_eq!(
        parsed(&jcall(&serving, &["book", "add", "1", "2"])),
        json!(3)
    );
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
    let client = jstream_rmi::Client::connect_with(serving.address(), &options).unwrap();
    let book = client.lookup::<dyn Book>("book").unwrap();
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
