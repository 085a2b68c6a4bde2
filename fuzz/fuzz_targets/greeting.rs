//! Greetings of both sides.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::peers::greeting::run(input));
