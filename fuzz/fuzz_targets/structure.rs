//! Values of all families, with typical damage to their messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::family::structure(input));
