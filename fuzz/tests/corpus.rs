//! Replays the corpus without a fuzzer, on any compiler.

use std::fs;
use std::path::Path;

use jstream::{Reader, Spent};
use jstream_fuzz::message::{framed, unframed};
use jstream_fuzz::mode;
use jstream_fuzz::model::Node;

/// The inputs of the target, with their names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/recursive");
    let entries = fs::read_dir(folder).unwrap();
    let inputs = entries.map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap())
    });
    inputs.collect()
}

#[test]
fn no_input_breaks_anything() {
    for (name, input) in corpus() {
        println!("{name}");
        jstream_fuzz::recursive(&input);
    }
}

/// Seeds that the reader refuses at its door teach the fuzzer nothing.
#[test]
fn seeds_are_messages_of_this_format() {
    let mut framed_seeds = 0;
    for (name, input) in corpus() {
        let (first, rest) = input.split_first().unwrap();
        if !name.starts_with("seed-") || *first != mode::FRAMED {
            continue;
        }
        framed_seeds += 1;
        let message = framed(rest);
        assert_eq!(
            framed(&unframed(&message))[8..],
            message[8..],
            "{name} is framed in two ways"
        );
        let jbuf = Spent::heap(message.len()).copy_from(&message).unwrap();
        let read = Reader::default().read::<Node<'static>>(jbuf);
        assert!(
            read.is_ok(),
            "{name}: {}; make the seeds anew: cargo run --example seeds",
            read.unwrap_err()
        );
    }
    assert!(framed_seeds > 0, "no seeds");
}
