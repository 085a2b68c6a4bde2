//! Types that can be passed by reference, and the references of one message.
//!
//! Decision 086 has the reasons.

use std::borrow::Cow;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jstream::{Restore, Transportable};
use smallvec::SmallVec;

use crate::frame::MOST_PROMISED;
use crate::interface::{Interface, Method, VersionPairs};
use crate::reference::found::FoundObject;
use crate::reference::handed::{Handed, HandedRef, Unfit};
use crate::reference::object::{Ahead, Object, ObjectPlace};
use crate::reference::remote::Remote;
use crate::reference::stub::Remotable;
use crate::reference::third_party::offer;
use crate::session::{As, Connection, Import, Node, References};
use crate::support::lock;

/// References among the arguments and the result.
impl Method {
    /// Checks at compile time that `P` can be passed by reference.
    pub fn passes<P: Passed>() {}

    /// Adds references as the argument with this index, or as the result if `place` is `None`.
    #[must_use]
    pub fn passing<P: Passed>(self, place: Option<usize>) -> Self {
        let mut text = String::new();
        P::describe(&mut text);
        self.with_references(place, text, P::reach)
    }
}

/// Types with references that can be arguments or results: a [`Remote`], a struct or enum that is
/// [`Referring`](super::Referring), and an [`Option`], [`Vec`], boxed slice, array or [`Result`] of
/// these, which can be nested. The error of a `Result` may be any transportable type.
///
/// A method can also borrow such an argument, as `&P`, `&[P]` or `&[&[P]]`, if the type is
/// [`Clone`]: the call passes copies of the references.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be passed by reference",
    note = "`Remote<dyn Trait>` can, where the trait has `#[remote]`, and so can an `Option`, `Vec`, boxed slice, array or \
            `Result` of it, and a struct or enum that derives `Referring`"
)]
pub trait Passed: Sized + 'static {
    /// The wire form.
    #[doc(hidden)]
    type Wire: Transportable + 'static;

    /// Appends the description of the type, for the identity of the method.
    #[doc(hidden)]
    fn describe(text: &mut String);

    /// Adds the interfaces of its references.
    #[doc(hidden)]
    fn reach(all: &mut Vec<&'static Interface>);

    /// Returns the interface of the reference, if the type holds at most one.
    #[doc(hidden)]
    fn interface() -> Option<&'static Interface> {
        None
    }

    /// Returns the object of that reference, if there is one.
    #[doc(hidden)]
    fn object(&self) -> Option<&Object> {
        None
    }

    #[doc(hidden)]
    fn give(self, giving: &mut Giving) -> Self::Wire;

    /// Converts a received form. All its references are taken, also if one of them or another part
    /// is invalid: a reference that is not taken is not given back.
    ///
    /// # Errors
    ///
    /// The reason why the first invalid part is invalid.
    #[doc(hidden)]
    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit>;
}

impl<T: Remotable + ?Sized> Passed for Remote<T> {
    type Wire = Handed;

    fn describe(text: &mut String) {
        text.push_str(T::NAME);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        all.push(T::interface());
    }

    fn interface() -> Option<&'static Interface> {
        Some(T::interface())
    }

    fn object(&self) -> Option<&Object> {
        Some(Self::object(self))
    }

    fn give(self, giving: &mut Giving) -> Handed {
        giving.give(self.object())
    }

    fn take(form: &HandedRef<'_>, taking: &Taking) -> Result<Self, Unfit> {
        let object = taking.take(form, T::interface())?;
        Ok(Self::from_object(object))
    }
}

impl<P: Passed> Passed for Option<P> {
    type Wire = Option<P::Wire>;

    fn describe(text: &mut String) {
        text.push('?');
        P::describe(text);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        P::reach(all);
    }

    fn interface() -> Option<&'static Interface> {
        P::interface()
    }

    fn object(&self) -> Option<&Object> {
        self.as_ref()?.object()
    }

    fn give(self, giving: &mut Giving) -> Self::Wire {
        self.map(|one| one.give(giving))
    }

    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit> {
        form.as_ref().map(|one| P::take(one, taking)).transpose()
    }
}

impl<P: Passed> Passed for Vec<P> {
    type Wire = Vec<P::Wire>;

    fn describe(text: &mut String) {
        text.push('*');
        P::describe(text);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        P::reach(all);
    }

    fn give(self, giving: &mut Giving) -> Self::Wire {
        self.into_iter().map(|one| one.give(giving)).collect()
    }

    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit> {
        all(form.iter().map(|one| P::take(one, taking)))
    }
}

impl<P: Passed> Passed for Box<[P]> {
    type Wire = Vec<P::Wire>;

    fn describe(text: &mut String) {
        Vec::<P>::describe(text);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        P::reach(all);
    }

    fn give(self, giving: &mut Giving) -> Self::Wire {
        self.into_vec().give(giving)
    }

    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit> {
        all(form.iter().map(|one| P::take(one, taking))).map(Vec::into_boxed_slice)
    }
}

impl<P: Passed, const N: usize> Passed for [P; N] {
    type Wire = [P::Wire; N];

    fn describe(text: &mut String) {
        text.push_str(&format!("[{N}]"));
        P::describe(text);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        P::reach(all);
    }

    fn give(self, giving: &mut Giving) -> Self::Wire {
        self.map(|one| one.give(giving))
    }

    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit> {
        let taken = all(form.iter().map(|one| P::take(one, taking)))?;
        taken.try_into().map_err(|_| Unfit::unknown())
    }
}

impl<P: Passed, E: Restore + 'static> Passed for Result<P, E> {
    type Wire = Result<P::Wire, E>;

    fn describe(text: &mut String) {
        text.push('!');
        P::describe(text);
    }

    fn reach(all: &mut Vec<&'static Interface>) {
        P::reach(all);
    }

    fn interface() -> Option<&'static Interface> {
        P::interface()
    }

    fn object(&self) -> Option<&Object> {
        self.as_ref().ok()?.object()
    }

    fn give(self, giving: &mut Giving) -> Self::Wire {
        self.map(|one| one.give(giving))
    }

    fn take(
        form: &<Self::Wire as Transportable>::InPlace<'_>,
        taking: &Taking,
    ) -> Result<Self, Unfit> {
        match form {
            Ok(one) => P::take(one, taking).map(Ok),
            Err(error) => match jstream::restore::<E>(error) {
                Ok(error) => Ok(Err(error)),
                Err(why) => Err(Unfit(why.to_string())),
            },
        }
    }
}

/// Collects the elements of a list. Unlike `collect`, it takes those after an invalid one, too.
fn all<P>(taken: impl ExactSizeIterator<Item = Result<P, Unfit>>) -> Result<Vec<P>, Unfit> {
    let mut all = Vec::with_capacity(taken.len());
    let mut failed = None;
    for one in taken {
        match one {
            Ok(one) if failed.is_none() => all.push(one),
            // The references after an invalid one are taken and dropped, so that they are given
            // back.
            Ok(_) => {}
            Err(unfit) => failed = failed.or(Some(unfit)),
        }
    }
    failed.map_or(Ok(all), Err)
}

/// Types with at most one reference, whose object can be called before it has arrived: see
/// [`RemoteCall::pipelined`](crate::RemoteCall).
pub trait Leads: Passed {
    /// The trait of the object.
    type To: Remotable + ?Sized;
}

impl<T: Remotable + ?Sized> Leads for Remote<T> {
    type To = T;
}

impl<P: Leads> Leads for Option<P> {
    type To = P::To;
}

impl<P: Leads, E: Restore + 'static> Leads for Result<P, E> {
    type To = P::To;
}

/// The references of a call of a local object.
pub(crate) type Passing = Arc<PassedObjects>;

/// The objects that a call without a connection passes.
pub(crate) type PassedObjects = Mutex<Vec<Object>>;

/// The two sides between which references are passed.
#[derive(Clone)]
pub(crate) enum Between {
    Peers(Connection),
    /// Within this program.
    Here(Passing),
}

/// The references of a message that is about to be sent.
pub struct Giving {
    to: Between,
    how: As,
    /// Numbers of the given objects. An entry with number 0 holds the number of a returned
    /// reference that is kept.
    objects: SmallVec<[(u32, u64); 1]>,
    /// Objects that must exist until the other side has received them.
    kept: Vec<Object>,
    /// Numbers of the calls in flight whose results are given.
    promised: Vec<u32>,
    /// The interfaces that the other side has in another version.
    versions: Option<Arc<VersionPairs>>,
    failed: Option<GiveError>,
}

/// The reason why references can't be passed.
pub(crate) enum GiveError {
    Refused(&'static str),
    /// A call that should have returned one of the objects has failed.
    Failed(&'static str),
}

/// The references of a received message.
pub struct Taking {
    from: Between,
    /// Numbers of the objects of this side that other calls, whose results are arguments of this
    /// call, have returned.
    promised: Vec<u32>,
    /// The interfaces that the other side has in another version.
    versions: Option<Arc<VersionPairs>>,
}

impl Giving {
    pub(crate) fn new(to: Between, how: As) -> Self {
        Self {
            to,
            how,
            objects: SmallVec::new(),
            kept: Vec::new(),
            promised: Vec::new(),
            versions: None,
            failed: None,
        }
    }

    /// Sets the interfaces that the other side has in another version.
    pub(crate) fn with_versions(mut self, versions: Option<Arc<VersionPairs>>) -> Self {
        self.versions = versions;
        self
    }

    /// Creates an empty set of references, for a call of a local object.
    pub(crate) fn none() -> Self {
        Self::new(Between::Here(Arc::default()), As::Argument)
    }

    pub(crate) fn between(&self) -> &Between {
        &self.to
    }

    /// Returns the table of the references of a call of a local object.
    pub(crate) fn passing(&self) -> Passing {
        match &self.to {
            Between::Here(passing) => passing.clone(),
            Between::Peers(_) => Passing::default(),
        }
    }

    /// Returns the reason why the references can't be passed, if any.
    pub(crate) fn take_failure(&mut self) -> Option<GiveError> {
        self.failed.take()
    }

    /// Returns the numbers of the calls in flight whose results are given.
    pub(crate) fn promised(&self) -> &[u32] {
        &self.promised
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.kept.is_empty() && self.failed.is_none()
    }

    /// Returns the number of the given object, if exactly one object of the sender was given.
    pub(crate) fn only(&self) -> Option<u32> {
        match self.objects.as_slice() {
            [(number, _)] if *number != 0 => Some(*number),
            _ => None,
        }
    }

    pub(super) fn give(&mut self, object: &Object) -> Handed {
        let handed = match (&self.to, object.place()) {
            (Between::Here(passing), _) => {
                let mut passing = lock(passing);
                let number = u32::try_from(passing.len()).unwrap_or(u32::MAX);
                passing.push(object.clone());
                Ok(Handed::Yours { number, kept: 0 })
            }
            (Between::Peers(to), ObjectPlace::Here(node)) => {
                let node = match &self.versions {
                    // The other side calls this node by the indices of its own version.
                    Some(versions) => Cow::Owned(node.in_version(versions)),
                    None => Cow::Borrowed(node),
                };
                // Given when it is encoded: the pin has to exist before the message can arrive.
                match to.references().give(to, &node, self.how) {
                    Some(number) => {
                        self.objects.push((number, 0));
                        Ok(mine(to, &node, number))
                    }
                    None => Err(GiveError::Refused(
                        "the other side has reached its limit of references (max_references)",
                    )),
                }
            }
            (Between::Peers(to), ObjectPlace::Import(import)) => {
                let to = to.clone();
                self.give_other(&to, object, import)
                    .map_err(GiveError::Refused)
            }
            (Between::Peers(to), ObjectPlace::Ahead(ahead)) => {
                let to = to.clone();
                self.promise(&to, object, ahead)
            }
            (Between::Peers(to), ObjectPlace::Member(member, _)) => {
                let to = to.clone();
                self.give_other(&to, object, member.import())
                    .map_err(GiveError::Refused)
            }
            (Between::Peers(_), ObjectPlace::Set(_)) => Err(GiveError::Refused(
                "the stub of a set calls several objects; pass a reference that one has returned",
            )),
            (Between::Peers(_), ObjectPlace::Own(..)) => Err(GiveError::Refused(
                "the registry of a connection can't be passed to others",
            )),
        };
        // The encoding goes on with a placeholder, because code of the derive can't stop in
        // between. The call is not sent.
        handed.unwrap_or_else(|why| {
            self.failed.get_or_insert(why);
            Handed::nothing()
        })
    }

    /// Gives the object that a call in flight will return.
    fn promise(
        &mut self,
        to: &Connection,
        object: &Object,
        ahead: &Ahead,
    ) -> Result<Handed, GiveError> {
        if let Some(why) = ahead.failure() {
            return Err(GiveError::Failed(why));
        }
        let number = match ahead.call() {
            // The promise is resolved by the server of the call, so it can't be part of an answer
            // of this side.
            Some((at, number)) if is_same_connection(at, to) && self.how == As::Argument => number,
            Some((at, _)) if is_same_connection(at, to) => {
                let why = "the call that returns the object has not ended: wait for it first";
                return Err(GiveError::Refused(why));
            }
            _ => {
                return Err(GiveError::Refused(
                    "the call that returns the object was made over another connection and has \
                     not ended: wait for it first",
                ));
            }
        };
        // One number for each call, although the object may be passed several times.
        let known = self.promised.iter().position(|known| *known == number);
        let index = known.unwrap_or(self.promised.len());
        if index >= MOST_PROMISED {
            return Err(GiveError::Refused(
                "the results of more than 16 calls that have not ended are arguments of one call: \
                 wait for some of them first",
            ));
        }
        if known.is_none() {
            self.promised.push(number);
            // Keeps the placeholder, so that the object is not released before this call has got
            // it.
            self.kept.push(object.clone());
        }
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Ok(Handed::Promised { index })
    }

    fn give_other(
        &mut self,
        to: &Connection,
        object: &Object,
        import: &Arc<Import>,
    ) -> Result<Handed, &'static str> {
        if !is_same_connection(to, import.connection()) {
            let offered = offer(import, to);
            self.kept.push(object.clone());
            return offered;
        }
        let mut kept = 0;
        if self.how == As::Argument {
            self.kept.push(object.clone());
        } else {
            kept = to
                .references()
                // An answer has no answer, so the other side confirms the reference with this
                // number.
                .keep(import.clone())
                .ok_or("too many returned references are in flight (max_references)")?;
            self.objects.push((0, kept));
        }
        Ok(Handed::Yours {
            number: import.number(),
            kept,
        })
    }

    /// Records whether the other side has received the references.
    pub(crate) fn arrived(&mut self, has: bool) {
        let given = self.take_given();
        if let Between::Peers(to) = &self.to {
            given.arrived(to, has);
        }
    }

    /// Returns the given objects of a call that was abandoned. Objects of others need not exist any
    /// longer for it: the call was cancelled, and fails if it does not find them.
    pub(crate) fn abandon(mut self) -> GivenObjects {
        self.take_given()
    }

    fn take_given(&mut self) -> GivenObjects {
        GivenObjects {
            how: self.how,
            objects: mem::take(&mut self.objects),
        }
    }
}

/// Objects that were given in a message, until it is known whether they have arrived.
pub(crate) struct GivenObjects {
    how: As,
    /// As in [`Giving`].
    objects: SmallVec<[(u32, u64); 1]>,
}

impl GivenObjects {
    /// Records whether the other side has received the references.
    pub(crate) fn arrived(self, to: &Connection, has: bool) {
        let references = to.references();
        for (number, by) in self.objects {
            match self.how {
                As::Argument => references.arrived(number, has),
                As::Name | As::Result if !has => references.take_back(number, by),
                // It has arrived, and is given back by the other side.
                As::Name | As::Result => {}
            }
        }
    }
}

/// If the message was not sent, the references have not arrived.
impl Drop for Giving {
    fn drop(&mut self) {
        // Empty if `arrived` or `abandon` was called, so this only undoes what was never sent.
        self.arrived(false);
    }
}

impl Taking {
    pub(crate) fn new(from: Between) -> Self {
        Self::of_call(from, Vec::new())
    }

    /// Creates the references of a call among whose arguments are objects that other calls have
    /// returned.
    pub(crate) fn of_call(from: Between, promised: Vec<u32>) -> Self {
        Self {
            from,
            promised,
            versions: None,
        }
    }

    /// Sets the interfaces that the other side has in another version.
    pub(crate) fn with_versions(self, versions: Option<Arc<VersionPairs>>) -> Self {
        Self { versions, ..self }
    }

    pub(super) fn take(
        &self,
        form: &HandedRef<'_>,
        interface: &'static Interface,
    ) -> Result<Object, Unfit> {
        let from = match (&self.from, form) {
            (Between::Here(passing), HandedRef::Yours { number, .. }) => {
                let passing = lock(passing);
                let object = usize::try_from(*number).ok().and_then(|i| passing.get(i));
                return object.cloned().ok_or_else(Unfit::unknown);
            }
            (Between::Here(_), _) => return Err(Unfit::unknown()),
            (Between::Peers(from), _) => from,
        };
        let references = from.references();
        match *form {
            HandedRef::Yours { number, kept } => {
                if kept != 0 {
                    // First, whether or not the object is found: the other side keeps its reference
                    // until it is told.
                    references.give_back(from, 0, kept);
                }
                object_of_this_side(references, number, interface)
            }
            HandedRef::Promised { index } => {
                let index = usize::try_from(index).ok();
                let number = index.and_then(|index| self.promised.get(index));
                object_of_this_side(references, *number.ok_or_else(Unfit::unknown)?, interface)
            }
            // No object has this number, and in a message that gives references back it has another
            // meaning.
            HandedRef::Mine { number: 0, .. } => Err(Unfit::unknown()),
            HandedRef::Mine {
                number,
                lease,
                interface: id,
            } => {
                let versions = self.versions.as_ref();
                let methods = versions.and_then(|versions| versions.methods(interface, id));
                if let (None, Err(other)) = (&methods, fits(id, interface)) {
                    // The sender has counted the reference, so a refused one is given back.
                    references.give_back(from, number, 1);
                    return Err(other);
                }
                let lease = Duration::from_millis(lease.into());
                let import = references.enter(from, number, Some(lease));
                let import = import.ok_or_else(Unfit::many)?;
                let time = from.session().terms.time;
                Ok(Object::found(FoundObject { import, methods }, time))
            }
            HandedRef::Elsewhere { key, address } => {
                // Nothing has to be given back: the offer of an object that is never claimed
                // expires.
                let Some(claim) = from.session().terms.third_parties else {
                    let why = "objects of third parties are not accepted (third_parties)";
                    return Err(Unfit(why.to_owned()));
                };
                let claimed = claim(from, key, address, interface);
                claimed.map(Object::imported).map_err(Unfit)
            }
        }
    }
}

/// Returns true if both are handles of one connection.
fn is_same_connection(one: &Connection, other: &Connection) -> bool {
    // Lanes share the table of their first connection, so both are the same here.
    std::ptr::eq::<References>(&**one.references(), &**other.references())
}

/// Returns the object of this side to which the other side refers by this number.
fn object_of_this_side(
    references: &References,
    number: u32,
    interface: &'static Interface,
) -> Result<Object, Unfit> {
    let node = references.object(number).ok_or_else(Unfit::unknown)?;
    // The other side may name any object that it was given, also one of another trait.
    fits(node.interface().id(), interface)?;
    Ok(Object::local(node))
}

/// Returns the wire form of an object of this side.
fn mine(to: &Connection, node: &Node, number: u32) -> Handed {
    let lease = to.references().lease().as_millis();
    Handed::Mine {
        number,
        lease: u32::try_from(lease).unwrap_or(u32::MAX),
        interface: node.interface().id(),
    }
}

fn fits(id: u64, interface: &'static Interface) -> Result<(), Unfit> {
    if id == interface.id() {
        return Ok(());
    }
    Err(Unfit(format!(
        "the object has another interface, or another version of {}",
        interface.description()
    )))
}
