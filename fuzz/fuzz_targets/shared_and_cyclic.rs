//! Objects that several pointers lead to, and circles of them.
#![no_main]

use jstream_fuzz::family::{run, shared::SharedGraph};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<SharedGraph>(input));
