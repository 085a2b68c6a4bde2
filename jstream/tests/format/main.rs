//! Test vectors for the message format of `FORMAT.md`. The current writer must produce the vector
//! files byte for byte, the current reader must read them, and so must a reader in Python that was
//! written from `FORMAT.md` alone.
//!
//! `VECTORS=overwrite` rewrites the files.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "test code"
)]

mod cases;
mod damage;
#[cfg(unix)]
mod files;
#[cfg(all(feature = "cli", not(address_sanitizer)))]
mod inspect;
mod streams;
#[cfg(all(feature = "testing", not(address_sanitizer)))]
mod sweep;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cases::{Case, Layout, cases};
use jstream::ReadError;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format")
}

/// Compares the vector file `name` with `bytes` and returns its content. If they differ, appends
/// the name to `wrong`. With `VECTORS=overwrite`, writes the file first.
fn golden(name: &str, bytes: &[u8], wrong: &mut Vec<String>) -> Vec<u8> {
    let path = folder().join("vectors").join(name);
    if env::var_os("VECTORS").is_some_and(|value| value == "overwrite") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    let known = fs::read(&path).unwrap_or_default();
    if known != bytes {
        wrong.push(name.to_owned());
    }
    known
}

fn assert_none_changed(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "these files differ from the output of the current writer; if the format changed, see \
         FORMAT.md and run this test with `VECTORS=overwrite`: {wrong:?}"
    );
}

/// Returns true if this compiler lays out the types of `case` as the compiler that wrote the
/// vectors.
fn is_laid_out_so(case: &Case) -> bool {
    if env::var_os("VECTORS").is_some() || case.layout == Layout::Fixed {
        return true;
    }
    let path = folder()
        .join("vectors")
        .join(format!("{}.schema", case.name));
    let same = fs::read(path).unwrap_or_default() == case.schema;
    if !same {
        eprintln!(
            "skipped: this compiler uses another layout for {}",
            case.name
        );
    }
    same
}

#[test]
fn todays_writer_writes_the_vectors_and_todays_reader_reads_them() {
    let mut wrong = Vec::new();
    for case in cases() {
        let Case { name, schema, .. } = &case;
        if !is_laid_out_so(&case) {
            let message = fs::read(folder().join("vectors").join(format!("{name}.bin"))).unwrap();
            let read = (case.read)(&message);
            assert!(matches!(read, Err(ReadError::Descriptor { .. })), "{name}");
            continue;
        }
        let message = golden(&format!("{name}.bin"), &case.message, &mut wrong);
        golden(&format!("{name}.schema"), schema, &mut wrong);
        for (i, class) in case.classes.iter().enumerate() {
            golden(&format!("{name}.class{i}.schema"), class, &mut wrong);
        }
        golden(&format!("{name}.json"), case.json.as_bytes(), &mut wrong);
        // Writing the received object again must produce the same bytes.
        match (case.read)(&message) {
            Ok(again) => assert_eq!(again, message, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert_none_changed(&wrong);
}

#[test]
fn damaged_vectors_are_refused_for_what_is_wrong_with_them() {
    let mut wrong = Vec::new();
    let mut refused_otherwise = Vec::new();
    let cases = cases();
    for damaged in damage::all() {
        let case = cases.iter().find(|case| case.name == damaged.of).unwrap();
        if !is_laid_out_so(case) {
            continue;
        }
        let name = damaged.name;
        let message = (damaged.damage)(&case.message);
        golden(&format!("refused/{name}.bin"), &message, &mut wrong);
        golden(
            &format!("refused/{name}.json"),
            damaged.expected().as_bytes(),
            &mut wrong,
        );
        let found = match (case.read)(&message) {
            Ok(_) => "it was read".to_owned(),
            Err(error) => {
                let found = (damage::kind_of(&error), damage::offset_of(&error));
                if found == (damaged.kind, damaged.offset) {
                    continue;
                }
                error.to_string()
            }
        };
        refused_otherwise.push(format!("{name}: {found}"));
    }
    assert!(refused_otherwise.is_empty(), "{refused_otherwise:#?}");
    assert_none_changed(&wrong);
}

#[test]
fn streams_are_put_together_of_messages() {
    let mut wrong = Vec::new();
    for stream in streams::streams(&cases()) {
        golden(
            &format!("{}.stream", stream.name),
            &stream.bytes,
            &mut wrong,
        );
        let expected = stream.expected();
        golden(
            &format!("{}.stream.json", stream.name),
            expected.as_bytes(),
            &mut wrong,
        );
    }
    assert_none_changed(&wrong);
}

/// The current stream writer produces the streams byte for byte, and the current reader reads or
/// refuses them as expected.
#[test]
fn todays_streams_are_these() {
    let cases = cases();
    for stream in streams::streams(&cases) {
        let name = stream.name;
        if stream.refused.is_none() {
            assert_eq!(streams::written(stream.of), stream.bytes, "{name}");
        }
        assert_eq!(streams::read(&stream), stream.refused, "{name}");
    }
}

/// The current file writer produces the files byte for byte, and the current reader reads or
/// refuses them as expected.
#[cfg(unix)]
#[test]
fn todays_files_are_these() {
    let mut wrong = Vec::new();
    for file in files::files() {
        let name = file.name;
        let bytes = golden(&format!("{name}.file"), &file.bytes, &mut wrong);
        golden(
            &format!("{name}.file.json"),
            file.expected().as_bytes(),
            &mut wrong,
        );
        assert_eq!(files::read(file.of, &bytes), file.refused, "{name}");
    }
    assert_none_changed(&wrong);
}

/// The folder contains no file of a vector that was removed.
#[test]
fn every_file_belongs_to_a_vector() {
    let mut known = BTreeSet::new();
    for case in cases() {
        known.extend(["bin", "schema", "json"].map(|kind| format!("{}.{kind}", case.name)));
        known.extend((0..case.classes.len()).map(|i| format!("{}.class{i}.schema", case.name)));
    }
    for damaged in damage::all() {
        known.extend(["bin", "json"].map(|kind| format!("refused/{}.{kind}", damaged.name)));
    }
    for stream in streams::streams(&cases()) {
        known.extend(["stream", "stream.json"].map(|kind| format!("{}.{kind}", stream.name)));
    }
    #[cfg(unix)]
    for file in files::files() {
        known.extend(["file", "file.json"].map(|kind| format!("{}.{kind}", file.name)));
    }
    for path in ["", "refused/"] {
        for file in fs::read_dir(folder().join("vectors").join(path)).unwrap() {
            let file = file.unwrap();
            let name = format!("{path}{}", file.file_name().into_string().unwrap());
            let of_a_feature = cases::OF_FEATURES.iter().any(|of| name.starts_with(of));
            let is_known = known.contains(&name) || of_a_feature || file.path().is_dir();
            assert!(is_known, "{name}");
        }
    }
}

/// Runs the Python reader: over all vectors if `arguments` is empty, otherwise over `input`.
fn in_python(arguments: &[&str], input: &str) {
    if env::var_os("VECTORS").is_some() {
        eprintln!("skipped: the vectors are being written");
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return;
    }
    let mut python = Command::new("python3")
        .arg("-B")
        .arg(folder().join("check.py"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Dropping the pipe after the write ends the input. The script reads all input before it prints
    // anything. If the write fails, the exit status reports it.
    let _ = python.stdin.take().unwrap().write_all(input.as_bytes());
    let checked = python.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    let errors = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}{errors}");
    eprint!("{said}");
}

#[test]
fn a_reader_in_python_agrees() {
    in_python(&[], "");
}

/// Both readers accept or refuse the same messages, for the same reasons.
#[test]
fn a_reader_in_python_agrees_about_damage() {
    let mut input = String::new();
    let mut random = Random(7);
    for case in cases().iter().filter(|case| is_laid_out_so(case)) {
        for _ in 0..60 {
            let message = random.damaged(&case.message);
            let result = match (case.read)(&message) {
                Ok(_) => "read".to_owned(),
                Err(error) => format!(
                    "{}:{:?}",
                    damage::kind_of(&error),
                    damage::offset_of(&error)
                ),
            };
            let message: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(input, "{};{message};{result}", case.name).unwrap();
        }
    }
    in_python(&["--damaged"], &input);
}

/// A pseudo-random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    /// Returns the message with a few bytes or words changed; the header is rarely affected.
    fn damaged(&mut self, message: &[u8]) -> Vec<u8> {
        let mut message = message.to_vec();
        for _ in 0..=self.below(2) {
            let from = if self.below(8) == 0 { 16 } else { 40 };
            let at = from.min(message.len() - 1);
            let at = at + self.below(message.len() - at);
            match self.below(6) {
                0 => message[at] = message[at].wrapping_add(1),
                1 => message[at] = message[at].wrapping_sub(1),
                2 => message[at] ^= 1 << self.below(8),
                3 => message[at] = 0,
                4 => message[at] = u8::try_from(self.below(256)).unwrap(),
                // Copies one word over another.
                _ => {
                    let words = message.len() / 8;
                    let (to, from) = (8 * self.below(words), 8 * self.below(words));
                    if to >= 16 {
                        message.copy_within(from..from + 8, to);
                    }
                }
            }
        }
        message
    }
}
