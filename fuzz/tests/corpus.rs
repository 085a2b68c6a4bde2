//! Replays the corpora without a fuzzer, with any compiler.

use std::fs;
use std::path::Path;

use jstream::{EmptyBuffer, Reader, Transportable};
use jstream_fuzz::family::{
    Family, archives, dynamic, fields, maps, options, run, shared, strings, vectors,
};
use jstream_fuzz::message::{framed, unframed};
use jstream_fuzz::mode;
use jstream_fuzz::model::Node;

/// Returns the inputs of a target with their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let entries = fs::read_dir(folder).unwrap();
    let inputs = entries.map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap())
    });
    let inputs: Vec<_> = inputs.collect();
    assert!(
        !inputs.is_empty(),
        "no seeds; make them: cargo run --example seeds"
    );
    inputs
}

fn replay(target: &str, run: fn(&[u8])) {
    for (name, input) in corpus(target) {
        println!("{name}");
        run(&input);
    }
}

#[test]
fn recursive() {
    replay("recursive", jstream_fuzz::recursive);
}

#[test]
fn families() {
    fn replay_family<F: Family>() {
        replay(F::NAME, run::<F>);
    }
    replay_family::<strings::Strings>();
    replay_family::<options::Options>();
    replay_family::<maps::Maps>();
    replay_family::<shared::SharedGraph>();
    replay_family::<dynamic::Dynamic>();
    replay_family::<fields::Fields>();
    replay_family::<vectors::Vectors>();
    replay_family::<archives::Archives>();
}

#[test]
fn captures() {
    replay("captures", jstream_fuzz::captures::run);
}

#[test]
fn peers() {
    replay("greeting", jstream_fuzz::peers::greeting::run);
    replay("remote", jstream_fuzz::peers::remote::run);
    replay("ranks", jstream_fuzz::peers::ranks::run);
    replay("worlds", jstream_fuzz::peers::worlds::run);
    replay("channels", jstream_fuzz::peers::channels::run);
}

#[test]
fn structure() {
    replay("structure", jstream_fuzz::family::structure);
}

#[test]
fn stream() {
    replay("stream", jstream_fuzz::stream::run);
}

#[test]
fn calls() {
    replay("calls", jstream_fuzz::calls::run);
}

#[test]
fn schema() {
    replay("schema", jstream_fuzz::schemas::run);
}

#[test]
fn conversions() {
    replay("conversions", jstream_fuzz::conversions::run);
}

#[test]
fn file() {
    replay("file", jstream_fuzz::files::run);
}

fn assert_read<T: Transportable + 'static>(name: &str, message: &[u8]) {
    let jbuf = EmptyBuffer::heap(message.len()).copy_from(message).unwrap();
    if let Err(failure) = Reader::default().read::<T>(jbuf) {
        panic!("{name}: {failure}; make the seeds anew: cargo run --example seeds");
    }
}

/// A seed that the reader refuses at once teaches the fuzzer nothing.
#[test]
fn seeds_are_messages_of_this_format() {
    let mut framed_seeds = 0;
    for (name, input) in corpus("recursive") {
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
        assert_read::<Node<'static>>(&name, &message);
    }
    assert!(framed_seeds > 0, "no seeds");
}

/// The seeds may have the type layouts of another compiler, but the samples of this compiler must
/// be valid messages.
#[test]
fn samples_are_messages_of_this_format() {
    fn check<F: Family>() {
        let (kit, sound) = (F::kit(), F::sample());
        assert_read::<F::Root>(F::NAME, &sound);
        let framed = kit.damaged(&[], &[&[1], unframed(&sound).as_slice()].concat());
        assert_eq!(framed, sound);
        kit.bytes(&sound).unwrap();
        kit.structure(&sound).unwrap();
        kit.lengths(&sound).unwrap();
        kit.lowered_limits(&sound).unwrap();
    }
    check::<strings::Strings>();
    check::<options::Options>();
    check::<maps::Maps>();
    check::<shared::SharedGraph>();
    check::<dynamic::Dynamic>();
    check::<fields::Fields>();
    check::<vectors::Vectors>();
    check::<archives::Archives>();
}
