//! Lookups of objects whose interface has another id than the requested one.

use std::sync::Arc;

use crate::client::handle::Client;
use crate::interface::{DescribedMethod, Interface};
use crate::session::Import;
use crate::support::{LookupError, Operation, StepEnd, shown};

impl Client {
    /// Looks up a name whose object has an interface with another id and this description. Succeeds
    /// if the object has the requested methods at the same places and others behind them, which the
    /// server's reflection tells.
    #[cold]
    pub(super) fn find_by_methods<R: 'static>(
        &self,
        name: String,
        interface: &'static Interface,
        found: String,
        stub: impl FnOnce(&Self, Arc<Import>) -> R + Send + 'static,
    ) -> Operation<Result<R, LookupError>> {
        let client = self.clone();
        let call = self.reflection().describe(&name);
        call.then(move |description| {
            let other = OtherObject {
                name,
                interface,
                found,
            };
            // Without reflection, the texts of both interfaces are the only known difference.
            let Ok(description) = description else {
                return StepEnd::Done(Err(other.by_texts()));
            };
            let Some(description) = description.get() else {
                return StepEnd::Done(Err(other.by_texts()));
            };
            let methods = description.methods.iter().map(|method| DescribedMethod {
                name: method.name,
                signature: method.text,
                schemas: [method.arguments, method.result],
                one_way: method.one_way,
            });
            let methods: Vec<_> = methods.collect();
            let differences = interface.differences(description.name, &methods);
            if !differences.is_empty() {
                return StepEnd::Done(Err(other.by(differences.join("; "))));
            }
            let name = other.name.clone();
            StepEnd::Next(
                client.find(&name, description.id, move |client, _, import| {
                    // The object may have been replaced after it was described.
                    let import = import.map_err(|_| other.by_texts());
                    StepEnd::Done(import.map(|import| stub(client, import)))
                }),
            )
        })
    }
}

/// An object with another interface than the requested one.
struct OtherObject {
    name: String,
    interface: &'static Interface,
    /// Description of the object's interface.
    found: String,
}

impl OtherObject {
    fn by_texts(self) -> LookupError {
        let expected = self.interface.differs_from(&self.found);
        let difference = format!("{expected} here, {} there", shown(&self.found));
        self.by(difference)
    }

    fn by(self, difference: String) -> LookupError {
        LookupError::OtherInterface {
            expected: self.interface.differs_from(&self.found),
            found: shown(&self.found),
            name: self.name,
            difference,
        }
    }
}
