//! Bytes of any kind, taken for schemas.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::schemas::run(input));
