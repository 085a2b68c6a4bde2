//! Strings, slices, arrays and boxes.
#![no_main]

use jstream_fuzz::family::{run, strings::Strings};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Strings>(input));
