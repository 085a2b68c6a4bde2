//! Tests of files of objects.

mod checks;
mod classes;
mod contents;
mod crash;
mod follow;
mod hostile;
mod names;
