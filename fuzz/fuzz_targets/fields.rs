//! Adapters, verified and skipped fields, and changes in place.
#![no_main]

use jstream_fuzz::family::{fields::Fields, run};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Fields>(input));
