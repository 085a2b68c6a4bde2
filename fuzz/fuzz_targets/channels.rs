//! Hello frames and objects of typed channels.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::peers::channels::run(input));
