//! Arbitrary bytes, read as a recursive type with every kind of field.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::recursive(input));
