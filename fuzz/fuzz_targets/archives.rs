//! Archives of rkyv.
#![no_main]

use jstream_fuzz::family::{archives::Archives, run};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Archives>(input));
