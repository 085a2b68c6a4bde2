//! Shared targets and cycles.
#![no_main]

use jstream_fuzz::family::{run, shared::SharedGraph};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<SharedGraph>(input));
