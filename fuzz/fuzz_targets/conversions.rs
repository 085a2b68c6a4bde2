//! Messages of other versions, under untrusted schemas.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| jstream_fuzz::conversions::run(input));
