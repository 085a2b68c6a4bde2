//! Trait objects.
#![no_main]

use jstream_fuzz::family::{dynamic::Dynamic, run};

libfuzzer_sys::fuzz_target!(|input: &[u8]| run::<Dynamic>(input));
