//! Frames of ranks.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::peers::ranks::run(input));
