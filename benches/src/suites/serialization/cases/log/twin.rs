//! Twin types whose strings may be owned or borrowed.

use super::{Address, walk_fields};
use crate::suites::serialization::subjects::Lend;

/// Twin of the data set with strings of type `S`.
pub(in crate::suites) type Of<S> = Logs<Vec<Log<S>>>;

impl Lend for super::Logs {
    type Lent<'a> = Of<&'a str>;
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Logs<L> {
    logs: L,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Log<S> {
    address: Address,
    identity: S,
    userid: S,
    date: S,
    request: S,
    code: u16,
    size: u64,
}

walk_fields!([L] Logs<L> => logs);
walk_fields!([S] Log<S> => address identity userid date request code size);
