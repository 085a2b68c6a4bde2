//! Tests of the `jperf` program, run as a child process.

mod common;
mod run;
mod serve;
mod tune;
