//! Maps and sets.
#![no_main]

use jstream_fuzz::family::{maps::Maps, run};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Maps>(input));
