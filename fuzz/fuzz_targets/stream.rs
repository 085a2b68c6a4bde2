//! Streams of objects of several types.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::stream::run(input));
