//! Bootstrap messages of worlds.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::peers::worlds::run(input));
