//! Objects of several types one after another.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::stream::run(input));
