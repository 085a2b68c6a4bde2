//! Tests of files of objects.

mod callbacks;
mod checks;
mod classes;
mod contents;
mod crash;
mod follow;
mod hostile;
mod names;
