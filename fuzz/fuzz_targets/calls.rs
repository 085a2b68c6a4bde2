//! Changed frames of a client in any order, sent to a server.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::calls::run(input));
