//! A misspelled option of a trait is not ignored.

use jstream::transportable;

#[transportable(krate = jstream)]
trait Shape {}

fn main() {}
