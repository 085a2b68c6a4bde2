//! Captures, as the program shows them.

use std::fs;
use std::process::{Command, Output};

use jstream::capture::{Direction, Kind, Message, Method, Record, Start, encode, start};
use jstream::schema::Schema;
use jstream::{EmptyBuffer, Transportable, Writer};
use serde_json::{Value as Json, json};

fn bytes<T: Transportable>(value: &T) -> Vec<u8> {
    let filled = Writer::new().write(value, EmptyBuffer::heap(4096)).unwrap();
    filled.as_bytes().to_vec()
}

fn schema<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

/// A capture with a call and its result, a failed call, and a record of lost messages. The method
/// is described behind its first call.
fn capture() -> Vec<u8> {
    let message = |kind, number, word, payload: Vec<u8>| {
        let direction = match kind {
            Kind::Request => Direction::Inward,
            _ => Direction::Outward,
        };
        let mut message = Message::new(direction, kind);
        message.nanos = u64::from(number) * 1_000_000 + word;
        message.number = number;
        message.word = word;
        message.call = (kind == Kind::Request).then_some((1, 0));
        message.payload = payload;
        Record::Message(message)
    };
    let arguments = (7_u32, vec![1.5_f64, 2.0]);
    let records = [
        Record::Start(Start {
            by_client: false,
            unix_nanos: 1,
            peer: "inproc://x".to_owned(),
        }),
        message(Kind::Request, 1, 0, bytes(&arguments)),
        Record::Method(Method {
            direction: Direction::Inward,
            object: 1,
            interface: "Desk".to_owned(),
            name: "add".to_owned(),
            arguments: schema::<(u32, Vec<f64>)>(),
            result: schema::<String>(),
            ..Method::default()
        }),
        message(Kind::Reply, 1, 0, bytes(&"sum".to_owned())),
        message(Kind::Request, 2, 0, bytes(&arguments)),
        message(Kind::Reply, 2, 3, b"not so".to_vec()),
        Record::Lost {
            messages: 5,
            bytes: 99,
        },
        Record::End,
    ];
    let mut capture = start();
    records.iter().for_each(|of| encode(of, &mut capture));
    capture
}

/// Runs the program on a capture.
fn run(name: &str, capture: &[u8], arguments: &[&str]) -> Output {
    let file = format!("jstream-inspect-{}-{name}.jcap", std::process::id());
    let path = std::env::temp_dir().join(file);
    fs::write(&path, capture).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jstream-inspect"))
        .arg(&path)
        .args(arguments)
        .output()
        .unwrap();
    fs::remove_file(&path).unwrap();
    output
}

#[test]
fn the_messages_are_listed() {
    let output = run("list", &capture(), &[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let expected = [
        "capture of a server, connected with inproc://x",
        "<- request #1 Desk::add of object 1",
        "-> reply   #1 Desk::add",
        "<- request #2 Desk::add of object 1",
        "failed with 3: not so",
        "5 messages with 99 bytes are missing here",
        "the connection has ended",
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn the_values_of_a_message_are_shown() {
    let value = |number: &str| {
        let output = run(number, &capture(), &["--json", "--object", number]);
        assert!(output.status.success());
        let all: Json = serde_json::from_slice(&output.stdout).unwrap();
        all["capture"][0]["value"].clone()
    };
    assert_eq!(value("0"), json!([7, [1.5, 2.0]]));
    assert_eq!(value("1"), json!("sum"));
    assert_eq!(value("3"), Json::Null);
}

/// The payload of a call with bit 47 in its word ends with metadata: the length of each key and
/// value in 16 bits, their texts, and the length of all entries in 32 bits.
#[test]
fn the_values_of_a_call_with_metadata_are_shown() {
    let arguments = bytes(&(7_u32, vec![1.5_f64, 2.0]));
    let with =
        |metadata: &[u8], length: u32| [&arguments[..], metadata, &length.to_le_bytes()].concat();
    let entry = b"\x06\0\x04\0tenantacme";
    let all = u32::try_from(entry.len()).unwrap();
    let method = Method {
        direction: Direction::Inward,
        object: 1,
        interface: "Desk".to_owned(),
        name: "add".to_owned(),
        arguments: schema::<(u32, Vec<f64>)>(),
        result: schema::<String>(),
        ..Method::default()
    };
    let unit = Method {
        place: 1,
        name: "nothing".to_owned(),
        arguments: schema::<()>(),
        ..method.clone()
    };
    let call = |kind, place, payload: Vec<u8>| {
        let mut call = Message::new(Direction::Inward, kind);
        call.word = 1 << 47 | u64::from(place) << 32 | 1;
        call.call = Some((1, place));
        call.payload = payload;
        Record::Message(call)
    };
    let mut records = vec![Record::Method(method), Record::Method(unit)];
    records.extend([
        call(Kind::Request, 0, with(entry, all)),
        call(Kind::OneWay, 0, with(&[], 0)),
        call(Kind::Request, 1, [&entry[..], &all.to_le_bytes()].concat()),
        // A forged length of metadata: nothing is left for the arguments.
        call(Kind::Request, 0, with(entry, u32::MAX)),
        call(Kind::Request, 0, vec![1, 2]),
    ]);
    let mut capture = start();
    records.iter().for_each(|of| encode(of, &mut capture));
    let shown = |number: &str| {
        let name = format!("metadata-{number}");
        let output = run(&name, &capture, &["--json", "--object", number]);
        let all: Json = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), all["capture"][0]["value"].clone())
    };
    let value = json!([7, [1.5, 2.0]]);
    assert_eq!(shown("0"), (Some(0), value.clone()));
    assert_eq!(shown("1"), (Some(0), value));
    assert_eq!(shown("2"), (Some(0), Json::Null));
    for number in ["3", "4"] {
        let (code, _) = shown(number);
        assert_eq!(code, Some(1));
    }
    let output = run("metadata", &capture, &[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("Desk::add of object 1").count(), 4, "{text}");
}

/// Control characters in names, addresses, reasons and values of a forged capture do not reach the
/// terminal.
#[test]
fn text_of_a_capture_commands_no_terminal() {
    let hostile = |before: &str| format!("{before}\u{1b}[2J\u{9b}31m\n\r\u{7f}\u{202e}");
    let mut call = Message::new(Direction::Inward, Kind::Request);
    call.call = Some((1, 0));
    call.payload = bytes(&hostile("value"));
    let mut failed = Message::new(Direction::Outward, Kind::Reply);
    failed.word = 3;
    failed.payload = hostile("reason").into_bytes();
    let records = [
        Record::Start(Start {
            by_client: false,
            unix_nanos: 1,
            peer: hostile("peer"),
        }),
        Record::Method(Method {
            direction: Direction::Inward,
            object: 1,
            interface: hostile("interface"),
            name: hostile("name"),
            arguments: schema::<String>(),
            result: schema::<String>(),
            ..Method::default()
        }),
        Record::Message(call),
        Record::Message(failed),
    ];
    let mut capture = start();
    records.iter().for_each(|of| encode(of, &mut capture));
    for arguments in [&[][..], &["--object", "0"], &["--object", "1"]] {
        let name = format!("hostile-{}", arguments.last().unwrap_or(&""));
        let output = run(&name, &capture, arguments);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let is_command = |c: char| c == '\u{202e}' || c.is_control() && c != '\n';
        assert!(!text.contains(is_command), "{text:?}");
        assert_eq!(text.contains("peer"), arguments.is_empty(), "{text:?}");
        assert!(text.contains("name") && !text.contains("\n\n"), "{text:?}");
        assert!(text.lines().count() <= 3, "{text:?}");
    }
}

#[test]
fn a_capture_that_is_cut_off_is_shown_up_to_there() {
    let capture = capture();
    let output = run("cut", &capture[..capture.len() - 5], &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 6);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ends inside the record"), "{said}");
}
