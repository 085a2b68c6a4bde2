//! Arbitrary bytes, read as files.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::files::run(input));
