//! Exchanges a message between two builds whose compilers lay out a type differently. The reader
//! converts the message.
//!
//! ```text
//! layout_peer write FILE    writes a message, and the schema of its type to FILE.schema
//! layout_peer read FILE     reads it, and says if the layouts differ
//! layout_peer               does both in one process
//! ```
//!
//! The layout of a struct without `#[repr(C)]` is unspecified. To see a difference, build the
//! example twice with a nightly compiler and `RUSTFLAGS="-Zrandomize-layout -Zlayout-seed=N"`, with
//! another N each time. Let one build write the file and the other read it.

use std::env;
use std::error::Error;
use std::fs;

use jstream::schema::Schema;
use jstream::{EmptyBuffer, Reader, Transportable, Writer};

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Reading<'b> {
    station: u16,
    open: bool,
    value: f64,
    unit: &'b str,
    samples: &'b [Sample],
    checked: Option<u32>,
    previous: Option<&'b Reading<'b>>,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Sample {
    at: u64,
    value: f32,
    quality: u8,
    raw: (u8, u32, u16),
}

/// Calls `then` with the value that is sent.
fn with_sent<R>(then: impl FnOnce(&Reading<'_>) -> R) -> R {
    let samples: Vec<Sample> = (0..3u8)
        .map(|i| Sample {
            at: 0x0102_0304_0506_0708,
            value: f32::from(i),
            quality: i,
            raw: (i, 0x0a0b_0c0d, 0x0e0f),
        })
        .collect();
    let first = Reading {
        station: 0x1122,
        open: true,
        value: 21.5,
        unit: "°C",
        samples: &samples,
        checked: Some(0x3344_5566),
        previous: None,
    };
    then(&Reading {
        open: false,
        checked: None,
        previous: Some(&first),
        ..first
    })
}

fn write(file: &str) -> Result<(), Box<dyn Error>> {
    let message = with_sent(|sent| Writer::new().write(sent, EmptyBuffer::heap(4096)))?;
    fs::write(file, message.as_bytes())?;
    let (schema, root) = Schema::of::<Reading<'_>>();
    fs::write(format!("{file}.schema"), schema.to_bytes(root))?;
    Ok(())
}

fn read(file: &str) -> Result<(), Box<dyn Error>> {
    let mut reader = Reader::default();
    reader.learn_bytes(&fs::read(format!("{file}.schema"))?)?;
    let message = EmptyBuffer::heap(4096).copy_from(&fs::read(file)?)?;
    match reader.read::<Reading<'_>>(message) {
        Ok(received) => {
            with_sent(|sent| assert_eq!(received.get(), sent));
            if received.is_converted() {
                println!("converted from another layout:");
            }
            println!("{:?}", received.get());
            Ok(())
        }
        Err(failure) => Err(failure.into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", file] => write(file),
        ["read", file] => read(file),
        [] => {
            let name = format!("jstream-layout-peer-{}", std::process::id());
            let file = env::temp_dir().join(name);
            let file = file.to_str().ok_or("the temporary path is not UTF-8")?;
            write(file)?;
            let result = read(file);
            fs::remove_file(file)?;
            fs::remove_file(format!("{file}.schema"))?;
            result
        }
        _ => Err("usage: layout_peer [write FILE | read FILE]".into()),
    }
}
