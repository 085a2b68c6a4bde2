//! Options, results and enums.
#![no_main]

use jstream_fuzz::family::{options::Options, run};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Options>(input));
