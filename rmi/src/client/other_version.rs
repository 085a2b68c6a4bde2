//! Lookups of objects whose interface has another id than the requested one.
//!
//! The server describes the interface of the object, and the methods are found by their names. If
//! arguments have changed, the caller describes them to the server, which converts them. The caller
//! converts results.
//!
//! Decision 121 has the reasons.

use std::sync::Arc;

use jstream::{Limits, Received};

use crate::call::{
    CallerMethod, CallerVersion, DescribedTrait, Description, DescriptionRef, paired,
};
use crate::client::handle::{Client, imported};
use crate::interface::{
    ClassList, DescribedClasses, IncomingMethod, Interface, MAX_DESCRIPTION, MappedMethod,
    MappedMethods, MethodMap, VersionPair, VersionPairs,
};
use crate::reference::FoundObject;
use crate::support::{CallError, LookupError, Operation, StepEnd, shown};

impl Client {
    /// Looks up a name whose object has an interface with another id and this description. Succeeds
    /// if a method can be called, which the server's reflection tells.
    pub(super) fn find_by_methods<R: 'static>(
        &self,
        name: String,
        interface: &'static Interface,
        found: String,
        stub: impl FnOnce(&Self, FoundObject) -> R + Send + 'static,
    ) -> Operation<Result<R, LookupError>> {
        let client = self.clone();
        let call = self.reflection().describe(&name);
        call.then(move |description| {
            let other = OtherObject {
                name,
                interface,
                found,
            };
            let description = match description {
                Ok(description) => description,
                Err(CallError::UnknownObject { .. } | CallError::Denied { .. }) => {
                    return client.find_by_id(other, stub);
                }
                // Not a difference of the interfaces, so a call may go on looking for the object.
                Err(error) => return StepEnd::Done(Err(error.into())),
            };
            client.find_described(other, &description.into_received(), stub)
        })
    }

    /// Looks up an object at a server without reflection. The interface may have the same id, and
    /// differ in the classes of trait objects alone. Else the texts of both interfaces are the only
    /// known difference.
    fn find_by_id<R: 'static>(
        &self,
        other: OtherObject,
        stub: impl FnOnce(&Self, FoundObject) -> R + Send + 'static,
    ) -> StepEnd<Result<R, LookupError>> {
        let id = other.interface.id();
        // The first lookup has asked with this id.
        if id == other.interface.version() {
            return StepEnd::Done(Err(other.by_texts()));
        }
        let name = other.name.clone();
        StepEnd::Next(self.find(&name, id, move |client, _, import| {
            let Ok(import) = import else {
                return StepEnd::Done(Err(other.by_texts()));
            };
            let methods = None;
            StepEnd::Done(Ok(stub(client, FoundObject { import, methods })))
        }))
    }

    /// Looks up an object whose interface the server has described.
    fn find_described<R: 'static>(
        &self,
        other: OtherObject,
        description: &Received<Option<Description>>,
        stub: impl FnOnce(&Self, FoundObject) -> R + Send + 'static,
    ) -> StepEnd<Result<R, LookupError>> {
        let Some(description) = description.get() else {
            return StepEnd::Done(Err(other.by_texts()));
        };
        let limits = self.connection().session().terms.limits;
        let compared = match other.compare(description, limits) {
            Ok(compared) => compared,
            Err(error) => return StepEnd::Done(Err(error)),
        };
        let (theirs, version) = (description.id, description.version);
        let ComparedVersions {
            mapped: MappedMethods { methods, changed },
            reached,
            ..
        } = compared;
        // The server need not convert anything, so the ordinary object is enough.
        if changed.is_empty() && reached.is_empty() {
            let name = other.name.clone();
            return StepEnd::Next(self.find(&name, version, move |client, _, import| {
                let Ok(import) = import else {
                    // The object was replaced after it was described.
                    return StepEnd::Done(Err(other.by_texts()));
                };
                let pair = VersionPair::called(other.interface, theirs, methods);
                let methods = MethodMap::of_first(VersionPairs::new(vec![pair]));
                StepEnd::Done(Ok(stub(client, FoundObject { import, methods })))
            }));
        }
        let incoming = compared.incoming;
        let mut methods = methods;
        let signatures = changed.iter().map(|(_, index)| {
            let theirs = description.methods.get(usize::from(*index));
            theirs.map_or("", |method| method.text).to_owned()
        });
        let signatures: Vec<_> = signatures.collect();
        let own = described(other.interface, &changed, &reached, &mut methods);
        let client = self.clone();
        let call = self.registry().lookup_version(&other.name, version, &own);
        StepEnd::Next(call.then(move |found| {
            let found = match found {
                Ok(found) => found,
                Err(error) => return StepEnd::Done(Err(error.into())),
            };
            let found = found.get();
            // The server refuses by its own indices, and the caller has the signatures by its own,
            // so both are paired here.
            for refused in found.refused {
                let mut all = changed.iter().zip(&signatures);
                let is_it = |((_, index), _): &(&(usize, u16), _)| *index == refused.index;
                let Some(((place, _), signature)) = all.find(is_it) else {
                    continue;
                };
                let method = other.interface.methods().get(*place);
                if let (Some(method), Some(found)) = (method, methods.get_mut(*place)) {
                    // Text of a peer, which ends in an error message.
                    let reason = shown(refused.reason);
                    let reason = format!("its arguments can't be converted: {reason}");
                    *found = Err(method.refused(signature, &reason));
                }
            }
            let import = found.number.and_then(|number| imported(&client, number));
            let Some(import) = import else {
                return StepEnd::Done(Err(match found.reason {
                    "" => other.by_texts(),
                    reason => other.by(shown(reason)),
                }));
            };
            if let Err(difference) = assert_callable(other.interface, &methods) {
                return StepEnd::Done(Err(other.by(difference)));
            }
            let mut pairs = reached;
            let own = VersionPair::called(other.interface, theirs, methods);
            // The pair of the requested interface itself replaces the one that was made for its
            // references: it has the methods as the server has accepted them.
            pairs.retain(|pair| !pair.is_of(other.interface));
            // The first pair is the one of the object that was looked up.
            pairs.insert(0, own.with_incoming(incoming));
            let methods = MethodMap::of_first(VersionPairs::new(pairs));
            StepEnd::Done(Ok(stub(&client, FoundObject { import, methods })))
        }))
    }
}

/// Checks that a method can be called. The error lists the reason of each.
fn assert_callable(interface: &Interface, methods: &[MappedMethod]) -> Result<(), String> {
    if methods.is_empty() || methods.iter().any(Result::is_ok) {
        return Ok(());
    }
    let reasons = interface.methods().iter().zip(methods);
    let reasons = reasons.filter_map(|(method, found)| {
        let reason = found.as_ref().err()?;
        Some(format!("{}: {reason}", method.name()))
    });
    Err(reasons.collect::<Vec<_>>().join("; "))
}

/// Describes the arguments that have changed. A method whose arguments take too many bytes can't be
/// called.
fn described(
    interface: &Interface,
    changed: &[(usize, u16)],
    reached: &[VersionPair],
    methods: &mut [MappedMethod],
) -> CallerVersion {
    let mut classes = ClassList::default();
    let reached = interface
        .reached()
        .iter()
        .filter(|own| reached.iter().any(|pair| pair.is_of(own)));
    let reached = reached.inspect(|own| {
        let snapshots = own.class_snapshots().iter();
        snapshots.for_each(|class| classes.add(class.clone()));
    });
    let reached = DescribedTrait::all(reached.copied());
    let mut room = MAX_DESCRIPTION;
    let mut described = Vec::new();
    for (place, index) in changed {
        let (Some(method), Some(found)) =
            (interface.methods().get(*place), methods.get_mut(*place))
        else {
            continue;
        };
        let [arguments, _] = method.snapshots().unwrap_or_default();
        let mut arguments = arguments.into_iter();
        let first = arguments.next();
        let frames = method.frame_snapshots().unwrap_or_default();
        let names = method.argument_names().map(str::len);
        let lengths = names.chain(frames.iter().map(Vec::len));
        let names_len = lengths.fold(0, usize::saturating_add);
        // No method takes more than half of what is left, so that one large type does not make all
        // other methods uncallable.
        let fits = |snapshot: &Vec<u8>| snapshot.len().saturating_add(names_len) <= room / 2;
        let Some(snapshot) = first.filter(fits) else {
            *found = Err("the description of its arguments is too long".to_owned());
            continue;
        };
        room = room.saturating_sub(snapshot.len().saturating_add(names_len));
        arguments.for_each(|class| classes.add(class));
        described.push(CallerMethod {
            index: *index,
            argument_names: method.argument_names().map(str::to_owned).collect(),
            arguments: snapshot,
            frames,
        });
    }
    let mut classes = classes.into_snapshots();
    let mut taken = 0usize;
    // Classes that do not fit are left out. Objects of these classes are then refused in the
    // conversion.
    classes.retain(|class| {
        let len = class.len().saturating_add(taken);
        let fits = len <= room;
        if fits {
            taken = len;
        }
        fits
    });
    CallerVersion {
        methods: described,
        classes,
        reached,
    }
}

/// An object with another interface than the requested one.
struct OtherObject {
    name: String,
    interface: &'static Interface,
    /// Description of the object's interface.
    found: String,
}

/// Differences of the versions of both sides, found by a lookup.
struct ComparedVersions {
    mapped: MappedMethods,
    /// The interfaces of the objects that calls pass on.
    reached: Vec<VersionPair>,
    /// Conversions of the calls that the server makes of objects of the requested interface, if
    /// calls pass such objects.
    incoming: Arc<[IncomingMethod]>,
}

impl OtherObject {
    /// Finds the methods of the requested interface at the object, and pairs the interfaces of the
    /// objects that calls pass on.
    fn compare(
        &self,
        description: &DescriptionRef<'_>,
        limits: Limits,
    ) -> Result<ComparedVersions, LookupError> {
        let compared = DescribedClasses::new(description.classes, limits).and_then(|classes| {
            let theirs = description.described();
            let mapped = self.interface.map(&theirs, &classes)?;
            assert_callable(self.interface, &mapped.methods)?;
            let reached = paired(self.interface, description.reached, &classes)?;
            // Only if objects of this interface are passed does the other side call them with other
            // indices.
            let is_reached = reached.iter().any(|pair| pair.is_of(self.interface));
            let incoming = match is_reached {
                true => self.interface.incoming(&theirs, &classes).into(),
                false => Arc::default(),
            };
            Ok(ComparedVersions {
                mapped,
                reached,
                incoming,
            })
        });
        compared.map_err(|difference| self.by(difference))
    }

    fn by_texts(&self) -> LookupError {
        let expected = self.interface.differs_from(&self.found);
        let difference = format!("{expected} here, {} there", shown(&self.found));
        self.by(difference)
    }

    fn by(&self, difference: String) -> LookupError {
        LookupError::OtherInterface {
            expected: self.interface.differs_from(&self.found),
            found: shown(&self.found),
            name: self.name.clone(),
            difference,
        }
    }
}
