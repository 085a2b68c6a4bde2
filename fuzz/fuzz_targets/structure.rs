//! Values of all families, whose messages are damaged where it hurts.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::family::structure(input));
