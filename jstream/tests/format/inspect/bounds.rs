//! Limits of the program: on the bytes that it reads, on its search, and on the characters that it
//! prints to a terminal.

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

use crate::inspect::program::files::written;
use crate::inspect::program::{Folder, printed, run};
use crate::inspect::samples;

/// Endless inputs are not read to their end, and no more bytes are read than `--bytes` allows.
#[test]
fn inputs_without_an_end() {
    let text = printed(1, &["/dev/zero"]);
    assert!(text.contains("not the start of a message"), "{text}");
    let folder = Folder::new("endless");
    let sample = samples::order();
    let [message, schema] = folder.sample(&sample);
    run(2, &[&message, "--schema", "/dev/zero", "--bytes", "1000"]);
    let just = sample.bytes.len().max(sample.schema.len());
    run(
        0,
        &[&message, "--schema", &schema, "--bytes", &just.to_string()],
    );
    let fewer = (just - 1).to_string();
    let output = run(2, &[&message, "--schema", &schema, "--bytes", &fewer]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--bytes raises the limit"));
    // The length of an unknown input is reported correctly.
    let text = printed(1, &[&folder.file("none", &[b'x'; 5000]), "--json"]);
    let json: Json = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["len"], &json["objects"]), (&5000.into(), &0.into()));
}

#[test]
fn names_command_no_terminal() {
    let folder = Folder::new("names");
    let path = folder.file("\u{1b}[31mred\u{202e}", b"nothing");
    let output = run(2, &[&folder.file("x", b"jst\x01"), "--schema", &path]);
    let output = String::from_utf8(output.stderr).unwrap();
    assert!(output.contains("\\u{1b}[31mred\\u{202e}"), "{output}");
    assert!(!output.contains(['\u{1b}', '\u{202e}']), "{output}");

    // A struct `a\u{202e}b` without fields.
    let schema = b"\x01\x01\x05a\xe2\x80\xaeb\x00\x01\x02\x00";
    let text = printed(0, &[&folder.file("\u{1b}", schema)]);
    assert!(text.contains("struct a\\u{202e}b"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let json = printed(0, &[&folder.file("\u{1b}", schema), "--json"]);
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schemas"][0]["types"][0]["name"], "a\u{202e}b");
}

/// A file whose index has a million blank entries.
fn empty_index() -> Vec<u8> {
    const COUNT: u64 = 1_000_000;
    let words = |words: &[u64]| {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.collect::<Vec<_>>()
    };
    let summed = |mut bytes: Vec<u8>| {
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    };
    let end = 1536 + 40 + COUNT * 40;
    let mut file = b"jstfile\x01".to_vec();
    file.resize(512, 0);
    file.extend(summed(words(&[1, end, 1536, 0, COUNT])));
    file.resize(1536, 0);
    let magic = u64::from(u32::from_le_bytes(*b"jsx\x01"));
    file.extend(summed(words(&[magic, 0, 0, COUNT])));
    file.resize(usize::try_from(end).unwrap(), 0);
    file
}

#[test]
fn an_index_of_nothing_is_given_up() {
    let folder = Folder::new("index");
    let path = folder.file("index", &empty_index());
    for arguments in [&[&path as &str] as &[_], &[&path, "--quiet"]] {
        let output = run(1, arguments);
        assert!(output.stdout.len() + output.stderr.len() < 100_000);
    }
    let json: Json = serde_json::from_str(&printed(1, &[&path, "--json"])).unwrap();
    assert_eq!(json["messages"].as_array().unwrap().len(), 64);
    let faults = json["faults"].to_string();
    assert!(faults.contains("from 64 on"), "{faults}");
}

#[test]
fn objects_that_are_too_long_are_said() {
    let folder = Folder::new("long");
    let path = folder.0.join("legs.jst");
    written(&path, 1);
    let path = path.to_str().unwrap();
    let text = printed(1, &[path, "--bytes", "20"]);
    assert!(text.contains("object 0 has 56 bytes"), "{text}");
    assert!(text.contains("object 1 has"), "{text}");
}
