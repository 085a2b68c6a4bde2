//! Vectors, bytes and strings of other crates.
#![no_main]

use jstream_fuzz::family::{run, vectors::Vectors};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Vectors>(input));
