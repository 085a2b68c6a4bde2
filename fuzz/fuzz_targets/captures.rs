//! Arbitrary bytes, read as captures.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::captures::run(input));
