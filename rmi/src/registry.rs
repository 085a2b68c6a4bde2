//! The names of a server's objects: itself a remote object, number 0 of every server.

use std::sync::Weak;

use jstream::Transportable;
use jstream_derive::remote;

use crate::exports::Exports;

/// The number of every server's registry.
pub(crate) const REGISTRY: u32 = 0;

/// What a name stands for.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Found<'b> {
    /// An object of the interface asked for, by its number.
    Object(u64),
    /// Nothing.
    Unknown,
    /// An object of another interface: its name and methods.
    Other(&'b str),
}

/// What a name stands for, as the registry answers.
pub(crate) struct Entry {
    pub(crate) object: u64,
    pub(crate) interface: u64,
    pub(crate) description: &'static str,
}

/// Finds objects by name.
#[remote(crate = crate)]
pub trait Registry {
    /// What is bound to `name`, if its interface has the id `interface`.
    fn lookup(&self, name: &str, interface: u64) -> Found<'_>;

    /// All names that are bound, in order.
    fn list(&self) -> Vec<String>;
}

/// The registry of one server.
pub(crate) struct Names {
    pub(crate) exports: Weak<Exports>,
}

impl Registry for Names {
    fn lookup(&self, name: &str, interface: u64) -> Found<'_> {
        match self.exports.upgrade().and_then(|all| all.entry(name)) {
            None => Found::Unknown,
            Some(entry) if entry.interface == interface => Found::Object(entry.object),
            Some(entry) => Found::Other(entry.description),
        }
    }

    fn list(&self) -> Vec<String> {
        self.exports
            .upgrade()
            .map(|all| all.names())
            .unwrap_or_default()
    }
}
