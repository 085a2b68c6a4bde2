//! Arbitrary bytes, read as schemas.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::schemas::run(input));
