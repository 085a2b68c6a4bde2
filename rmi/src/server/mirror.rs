//! The reflection object of a server.

use std::sync::{Arc, Weak};

use crate::call::{Bound, Description, Health, Reflection, Signature};
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
        let methods = interface.methods().iter().map(|method| {
            let [arguments, result] = method.snapshots().unwrap_or_default();
            let first = |of: Vec<Vec<u8>>| of.into_iter().next().unwrap_or_default();
            Signature {
                name: method.name().to_owned(),
                older_names: texts(method.older_names()),
                id: method.id(),
                text: method.signature().to_owned(),
                argument_names: method.argument_names().map(str::to_owned).collect(),
                arguments: first(arguments),
                result: first(result),
                carried: method.carried(),
                one_way: method.is_one_way(),
                idempotent: method.is_idempotent(),
                streams: method.has_streams(),
            }
        });
        Some(Description {
            name: interface.name().to_owned(),
            id: interface.id(),
            version: interface.version(),
            older_names: texts(interface.older_names()),
            methods: methods.collect(),
            classes: interface.class_snapshots().to_vec(),
        })
    }

    fn health(&self) -> Health {
        let names = self.exports.upgrade().map_or(0, |all| all.names().len());
        self.load.health(names as u64)
    }
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|&text| text.to_owned()).collect()
}
