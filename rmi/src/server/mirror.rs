//! The reflection object of a server.

use std::sync::{Arc, Weak};

use crate::call::{Bound, Description, Health, Reflection};
use crate::interface::Interface;
use crate::server::load::Load;
use crate::session::Exports;

/// The reflection object of one server.
pub(crate) struct Mirror {
    pub(crate) exports: Weak<Exports>,
    pub(crate) load: Arc<Load>,
}

impl Reflection for Mirror {
    fn bound(&self) -> Vec<Bound> {
        let all = self.exports.upgrade().map(|all| all.interfaces());
        let bound = |(name, interface): (String, &'static Interface)| Bound {
            name,
            interface: interface.name().to_owned(),
            id: interface.id(),
        };
        all.into_iter().flatten().map(bound).collect()
    }

    fn describe(&self, name: &str) -> Option<Description> {
        let interface = self.exports.upgrade()?.interface(name)?;
        Some(Description::of(interface))
    }

    fn health(&self) -> Health {
        let names = self.exports.upgrade().map_or(0, |all| all.names().len());
        self.load.health(names as u64)
    }
}
