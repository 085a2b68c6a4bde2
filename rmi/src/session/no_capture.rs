//! Stands for captures if the feature `capture` is off: there are none.
//!
//! Decision 104 has the reasons.

use std::convert::Infallible;
use std::sync::Arc;

use jstream_active::{Tap, Tapped};

use crate::interface::Interface;

/// A folder to which the traffic of connections is written. Without the feature `capture`, none can
/// be created.
#[derive(Debug, Clone)]
pub struct Capture(Infallible);

/// The capture of one connection and its lane.
#[derive(Debug, Clone)]
pub(crate) struct Capturing(Infallible);

/// The file of one connection.
#[derive(Debug)]
pub(crate) struct Tape(Infallible);

impl Capture {
    /// Returns the capture of a connection and of its further connections.
    pub(crate) fn connection(&self, _: bool) -> Capturing {
        match self.0 {}
    }
}

impl Capturing {
    /// Returns the file of a connection.
    pub(crate) fn tape(&self, _: String) -> Arc<Tape> {
        match self.0 {}
    }

    /// Records the interface of an object's number.
    pub(crate) fn record(&self, _: u32, _: usize, _: &'static Interface) {
        match self.0 {}
    }
}

impl Tape {
    /// Describes a method when it is called first.
    pub(crate) fn called(&self, _: u32, _: u16, _: &'static Interface) {
        match self.0 {}
    }
}

impl Tap for Tape {
    fn joined(&self, _: &[&str], _: &[&str]) {
        match self.0 {}
    }

    fn message(&self, _: &Tapped<'_>) {
        match self.0 {}
    }
}
