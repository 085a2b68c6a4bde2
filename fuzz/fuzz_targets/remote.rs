//! Puts, gets and their replies.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::peers::remote::run(input));
