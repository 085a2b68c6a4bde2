//! Tests of the `inspect` module and of the program `jstream-inspect`.

pub(crate) mod agree;
#[cfg(unix)]
mod bounds;
mod captures;
mod compose;
mod golden;
mod hostile;
mod program;
mod samples;
mod schemas;
mod values;
#[cfg(unix)]
mod versions;
