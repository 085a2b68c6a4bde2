//! Comparison of an interface with that of an object of another version, as its server describes
//! it.
//!
//! Decision 121 has the reasons.

use std::collections::HashSet;
use std::sync::Arc;

use jstream::Limits;

use crate::interface::class_list::{MAX_CLASSES, MAX_DESCRIPTION};
use crate::interface::conversion::{MessageConversion, TheirClasses, TheirMessage};
use crate::interface::mapped_method::{IncomingMethod, MappedMethod, TheirMethod};
use crate::interface::methods::{Interface, Method};
use crate::support::shown;

/// An object's interface, as its server describes it.
pub(crate) struct DescribedInterface<'d> {
    pub(crate) name: &'d str,
    pub(crate) older_names: &'d [&'d str],
    pub(crate) id: u64,
    pub(crate) methods: Vec<DescribedMethod<'d>>,
}

/// A method of an object's interface, as its server describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedMethod<'d> {
    pub(crate) name: &'d str,
    pub(crate) older_names: &'d [&'d str],
    pub(crate) signature: &'d str,
    pub(crate) id: u64,
    /// Schemas of the arguments' message and of the result's message, with the fields that must be
    /// understood.
    pub(crate) snapshots: [&'d [u8]; 2],
    pub(crate) argument_names: &'d [&'d str],
    pub(crate) carried: &'d [&'d str],
    /// Schemas of the frames of each stream.
    pub(crate) frames: &'d [&'d [u8]],
    pub(crate) one_way: bool,
}

/// The methods of an interface at an object of another version.
pub(crate) struct MappedMethods {
    pub(crate) methods: Vec<MappedMethod>,
    /// The methods whose arguments the server has to convert, each with its index here and there.
    pub(crate) changed: Vec<(usize, u16)>,
}

/// The classes that the trait objects of one side may have, as the other side knows them.
pub(crate) struct DescribedClasses<'d> {
    snapshots: &'d [&'d [u8]],
    decoded: TheirClasses,
    /// Limits of each conversion.
    limits: Limits,
}

impl<'d> DescribedClasses<'d> {
    /// Decodes the classes. Messages are converted within these limits.
    ///
    /// # Errors
    ///
    /// The reason why the description is refused.
    pub(crate) fn new(snapshots: &'d [&'d [u8]], limits: Limits) -> Result<Self, String> {
        let len = snapshots.iter().map(|class| class.len());
        if snapshots.len() > MAX_CLASSES || len.fold(0, usize::saturating_add) > MAX_DESCRIPTION {
            return Err("the description of the classes there is too long".to_owned());
        }
        Ok(Self {
            snapshots,
            decoded: TheirClasses::new(snapshots),
            limits,
        })
    }

    /// Returns whether messages to the other side and from it may have classes that the receiver
    /// has not, so that they need a conversion.
    fn may_vary(&self, own: &Interface) -> [bool; 2] {
        let (own, theirs) = (own.class_snapshots(), self.snapshots);
        let to_them = own.iter().any(|own| !theirs.contains(&own.as_slice()));
        let from_them = theirs
            .iter()
            .any(|theirs| !own.iter().any(|own| own == theirs));
        [to_them, from_them]
    }

    pub(crate) fn decoded(&self) -> &TheirClasses {
        &self.decoded
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}

impl Interface {
    /// Finds the methods of this interface at an object of another version, by their names.
    ///
    /// # Errors
    ///
    /// The reason why no method can be called.
    pub(crate) fn map(
        &self,
        theirs: &DescribedInterface<'_>,
        classes: &DescribedClasses<'_>,
    ) -> Result<MappedMethods, String> {
        let name = self.name();
        // Methods of two unrelated traits may have the same names by chance.
        if !self.is_named_like(theirs) {
            return Err(format!("{name} here, {} there", shown(theirs.name)));
        }
        let places = self.places(&theirs.methods);
        let [arguments_may_vary, results_may_vary] = classes.may_vary(self);
        // The server chooses how much it describes, so one limit holds for all methods together.
        let mut room = MAX_DESCRIPTION;
        let mut changed = Vec::new();
        let own = self.methods().iter().zip(places).enumerate();
        let methods = own.map(|(index, (method, place))| {
            let found = place.and_then(|place| Some((place, theirs.methods.get(place)?)));
            let Some((place, their_method)) = found else {
                return Err(format!("`{}` is missing there", method.signature()));
            };
            let place = u16::try_from(place).map_err(|_| "there are too many methods there")?;
            let [in_arguments, in_result] = method.has_trait_objects();
            let arguments_vary = arguments_may_vary && in_arguments;
            let result_varies = results_may_vary && in_result;
            let [same_arguments, same_result] = method.has_same_types(their_method);
            let refused = |reason: String| method.refused(their_method.signature, &reason);
            method.assert_called_alike(their_method).map_err(refused)?;
            // The caller of a one-way method gets no result, so its description is not needed.
            let result = match method.is_one_way() || (same_result && !result_varies) {
                true => None,
                false => {
                    let [_, snapshot] = their_method.snapshots;
                    let left = room.checked_sub(snapshot.len());
                    room = left.ok_or_else(|| {
                        refused("the description of its result is too long".to_owned())
                    })?;
                    let result = method.result_from(their_method, classes);
                    Some(result.map_err(refused)?)
                }
            };
            let frames = method.changed_frames(their_method, results_may_vary);
            // The streams among the arguments are converted by the server, which receives them.
            let frames = match frames.iter().position(|(is_result, _)| *is_result) {
                Some(index) if frames.get(index).is_some_and(|(_, changed)| *changed) => {
                    let snapshot = their_method.frames.get(index).map_or(0, |of| of.len());
                    let left = room.checked_sub(snapshot);
                    room = left.ok_or_else(|| {
                        refused("the description of its items is too long".to_owned())
                    })?;
                    let frames = method.frames_from(their_method, index, classes);
                    Some(frames.map_err(refused)?)
                }
                _ => None,
            };
            let sent = method.changed_frames(their_method, arguments_may_vary);
            let sent_changed = sent
                .iter()
                .any(|(is_result, changed)| !is_result && *changed);
            // Only these are described to the server, which converts what it receives.
            if !same_arguments || arguments_vary || sent_changed {
                changed.push((index, place));
            }
            Ok(TheirMethod {
                index: place,
                result: result.map(Arc::new),
                frames: frames.map(Arc::new),
            })
        });
        let methods: Vec<MappedMethod> = methods.collect();
        Ok(MappedMethods { methods, changed })
    }

    /// Plans how calls of this interface's objects are converted that the other side makes in its
    /// version. Returns one for each method.
    pub(crate) fn incoming(
        &self,
        theirs: &DescribedInterface<'_>,
        classes: &DescribedClasses<'_>,
    ) -> Vec<IncomingMethod> {
        let [_, may_vary] = classes.may_vary(self);
        let own = self.methods().iter().zip(self.places(&theirs.methods));
        let methods = own.map(|(method, place)| {
            let Some(their_method) = place.and_then(|place| theirs.methods.get(place)) else {
                return IncomingMethod::default();
            };
            let [in_arguments, _] = method.has_trait_objects();
            let [same_arguments, _] = method.has_same_types(their_method);
            let message = TheirMessage {
                snapshot: their_method.snapshots[0],
                names: Some(their_method.argument_names),
                classes: classes.decoded(),
            };
            let varies = !same_arguments || (may_vary && in_arguments);
            let message = varies.then_some(message);
            method.incoming(their_method, message.as_ref(), may_vary, classes)
        });
        methods.collect()
    }

    /// Plans how calls of the method with this index are converted, whose caller has described the
    /// arguments' message, the names of its parts, and the frames of its streams. Returns `None` if
    /// there is no such method.
    pub(crate) fn incoming_method(
        &self,
        index: u16,
        (snapshot, argument_names, frames): (&[u8], &[&str], &[&[u8]]),
        classes: &DescribedClasses<'_>,
    ) -> Option<IncomingMethod> {
        let method = self.methods().get(usize::from(index))?;
        let [_, may_vary] = classes.may_vary(self);
        let [in_arguments, _] = method.has_trait_objects();
        let theirs = DescribedMethod {
            name: method.name(),
            older_names: &[],
            signature: "",
            // The caller describes types and no id, so the types are compared.
            id: 0,
            snapshots: [snapshot, &[]],
            argument_names,
            // Compared by the caller when it has found the method.
            carried: &[],
            frames,
            one_way: method.is_one_way(),
        };
        let message = TheirMessage {
            snapshot,
            names: Some(argument_names),
            classes: classes.decoded(),
        };
        let [same_arguments, _] = method.has_same_types(&theirs);
        let varies = !same_arguments || (may_vary && in_arguments);
        let message = varies.then_some(message);
        Some(method.incoming(&theirs, message.as_ref(), may_vary, classes))
    }

    /// Returns true if the interface has the same name, or one has a name that the other one had.
    pub(crate) fn is_named_like(&self, theirs: &DescribedInterface<'_>) -> bool {
        is_same_name(
            (self.name(), self.older_names()),
            (theirs.name, theirs.older_names),
        )
    }

    /// Returns the index of each method among those of the other version. Methods of the same name
    /// go before those with older names, and no two have the same index.
    fn places(&self, theirs: &[DescribedMethod<'_>]) -> Vec<Option<usize>> {
        let mut taken = HashSet::new();
        let mut take = |is_it: &dyn Fn(&DescribedMethod<'_>) -> bool| {
            let place = theirs.iter().position(is_it);
            place.filter(|place| taken.insert(*place))
        };
        let methods = self.methods();
        let same_name = methods.iter();
        let mut places: Vec<_> = same_name
            .map(|method| take(&|theirs| theirs.name == method.name()))
            .collect();
        for (place, method) in places.iter_mut().zip(methods) {
            let own = (method.name(), method.older_names());
            let is_it =
                |theirs: &DescribedMethod<'_>| is_same_name(own, (theirs.name, theirs.older_names));
            *place = place.or_else(|| take(&is_it));
        }
        places
    }
}

/// Returns true if two parts of programs, each with its older names, have the same name, or one has
/// a name that the other one had.
pub fn is_same_name(own: (&str, &[&str]), theirs: (&str, &[&str])) -> bool {
    own.0 == theirs.0 || own.1.contains(&theirs.0) || theirs.1.contains(&own.0)
}

impl Method {
    /// Returns the reason why the method can't be called, with both signatures if they differ.
    pub(crate) fn refused(&self, their_signature: &str, reason: &str) -> String {
        let (own, theirs) = (self.signature(), shown(their_signature));
        if own == theirs {
            return reason.to_owned();
        }
        format!("`{own}` here, `{theirs}` there: {reason}")
    }

    /// Checks that a method of another version is called and answered in the same way.
    ///
    /// # Errors
    ///
    /// The reason why the method can't be called.
    fn assert_called_alike(&self, theirs: &DescribedMethod<'_>) -> Result<(), String> {
        if self.id() == theirs.id {
            return Ok(());
        }
        if self.is_one_way() != theirs.one_way {
            let kind = |one_way| if one_way { "one-way" } else { "answered" };
            let (own, theirs) = (kind(self.is_one_way()), kind(theirs.one_way));
            return Err(format!("it is {own} here, {theirs} there"));
        }
        // The skeleton takes streams and references at fixed arguments, so they can't move.
        if self.carried() != theirs.carried || self.carried_streams().count() != theirs.frames.len()
        {
            return Err("its streams or references are other arguments there".to_owned());
        }
        Ok(())
    }

    /// Returns whether the types of the arguments' message and of the result's message are those of
    /// a method of another version.
    fn has_same_types(&self, theirs: &DescribedMethod<'_>) -> [bool; 2] {
        if self.id() == theirs.id {
            return [true; 2];
        }
        let [own_arguments, own_result] = self.descriptors();
        let [arguments, result] = theirs.snapshots.map(descriptor_of);
        [arguments == Some(own_arguments), result == Some(own_result)]
    }

    /// Plans the conversion of the results of a method of another version.
    ///
    /// # Errors
    ///
    /// The reason why no result can be converted.
    fn result_from(
        &self,
        theirs: &DescribedMethod<'_>,
        classes: &DescribedClasses<'_>,
    ) -> Result<MessageConversion, String> {
        if self.returns_references() {
            // What can't be converted would not be given back.
            return Err("its result has references, and another type there".to_owned());
        }
        let ([_, snapshot], [_, descriptor]) = (theirs.snapshots, self.descriptors());
        let theirs = TheirMessage {
            snapshot,
            names: None,
            classes: classes.decoded(),
        };
        let (own, limits) = (self.result_schema(), classes.limits());
        let conversion = MessageConversion::new(&theirs, &own, descriptor, limits);
        conversion.map_err(|reason| format!("its result can't be converted: {reason}"))
    }

    /// Returns for each stream whether it is the result, and whether the receiver has to convert
    /// its items. `may_vary` is true if the sender has classes that the receiver has not.
    fn changed_frames(&self, theirs: &DescribedMethod<'_>, may_vary: bool) -> Vec<(bool, bool)> {
        let is_same = self.id() == theirs.id;
        let streams = self.carried_streams().enumerate();
        let streams = streams.map(|(index, (is_result, descriptor))| {
            let varies = || {
                let schema = self.frame_schema(index);
                may_vary && schema.is_some_and(|(schema, _)| schema.has_trait_objects())
            };
            let snapshot = theirs.frames.get(index);
            let is_equal = is_same || snapshot.and_then(|of| descriptor_of(of)) == Some(descriptor);
            (is_result, !is_equal || varies())
        });
        streams.collect()
    }

    /// Plans the conversion of the frames of the stream with this index.
    ///
    /// # Errors
    ///
    /// The reason why no item can be converted.
    fn frames_from(
        &self,
        theirs: &DescribedMethod<'_>,
        index: usize,
        classes: &DescribedClasses<'_>,
    ) -> Result<MessageConversion, String> {
        let (Some(own), Some((_, descriptor)), Some(snapshot)) = (
            self.frame_schema(index),
            self.carried_streams().nth(index),
            theirs.frames.get(index),
        ) else {
            return Err("the items of its streams are not described".to_owned());
        };
        let theirs = TheirMessage {
            snapshot,
            names: None,
            classes: classes.decoded(),
        };
        let planned = MessageConversion::new(&theirs, &own, descriptor, classes.limits());
        planned.map_err(|reason| format!("the items of a stream can't be converted: {reason}"))
    }

    /// Plans how calls in the version of the other side are converted. `message` describes their
    /// arguments if these are converted.
    fn incoming(
        &self,
        theirs: &DescribedMethod<'_>,
        message: Option<&TheirMessage<'_>>,
        may_vary: bool,
        classes: &DescribedClasses<'_>,
    ) -> IncomingMethod {
        let planned = message.map(|message| self.arguments_from(message, classes.limits()));
        let mut incoming = IncomingMethod {
            arguments: planned,
            frames: Vec::new(),
        };
        let frames = self.changed_frames(theirs, may_vary);
        for (index, (is_result, changed)) in frames.into_iter().enumerate() {
            // The items of the result are converted by the caller, which receives them.
            if is_result {
                continue;
            }
            let conversion = changed.then(|| self.frames_from(theirs, index, classes));
            match conversion.transpose() {
                Ok(conversion) => incoming.frames.push(conversion.map(Arc::new)),
                // A stream whose items can't be converted makes the call useless, so it is refused
                // with its arguments.
                Err(reason) => incoming.arguments = Some(Err(reason)),
            }
        }
        incoming
    }

    /// Plans the conversion of the arguments of callers that have another version of the method.
    ///
    /// # Errors
    ///
    /// The reason why no arguments can be converted.
    pub(crate) fn arguments_from(
        &self,
        theirs: &TheirMessage<'_>,
        limits: Limits,
    ) -> Result<MessageConversion, String> {
        let [descriptor, _] = self.descriptors();
        MessageConversion::new(theirs, &self.arguments_schema(), descriptor, limits)
    }
}

/// Returns the descriptor of the type that a snapshot describes.
fn descriptor_of(snapshot: &[u8]) -> Option<u64> {
    let (schema, root) = jstream::schema::Schema::from_snapshot(snapshot).ok()?;
    Some(schema.descriptor(root))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]
mod tests {
    use super::*;

    mod there {
        #[derive(jstream::Transportable)]
        pub(super) struct Point {
            pub(super) _x: u32,
        }

        /// A class of points whose number does not fit.
        pub(super) mod other {
            #[derive(jstream::Transportable)]
            pub(in super::super) struct Point {
                pub(in super::super) _x: bool,
            }
        }
    }

    #[derive(jstream::Transportable)]
    struct Point {
        _x: u64,
    }

    type Places = Vec<Result<(u16, bool), String>>;

    /// Returns the methods of one interface at an object of another one, with true if results are
    /// converted, and the indices of the methods whose arguments are.
    fn mapped(ours: Vec<Method>, theirs: Vec<Method>) -> (Places, Vec<(usize, u16)>) {
        let (ours, theirs) = (Interface::new("T", ours), Interface::new("T", theirs));
        let mapped = map(&ours, &theirs).unwrap();
        let places = mapped.methods.into_iter();
        let places = places.map(|found| found.map(|of| (of.index, of.result.is_some())));
        (places.collect(), mapped.changed)
    }

    fn map(ours: &Interface, theirs: &Interface) -> Result<MappedMethods, String> {
        let methods = theirs.methods();
        let snapshots = methods.iter().map(|method| method.snapshots().unwrap());
        let snapshots: Vec<_> = snapshots.collect();
        let carried: Vec<Vec<String>> = methods.iter().map(Method::carried).collect();
        let carried: Vec<Vec<&str>> = carried
            .iter()
            .map(|of| of.iter().map(String::as_str).collect())
            .collect();
        let frames: Vec<Vec<Vec<u8>>> = methods
            .iter()
            .map(|method| method.frame_snapshots().unwrap())
            .collect();
        let frames: Vec<Vec<&[u8]>> = frames
            .iter()
            .map(|of| of.iter().map(Vec::as_slice).collect())
            .collect();
        let described = methods.iter().enumerate();
        let described = described.map(|(place, method)| DescribedMethod {
            name: method.name(),
            older_names: method.older_names(),
            signature: method.signature(),
            id: method.id(),
            snapshots: snapshots[place].each_ref().map(|of| of[0].as_slice()),
            argument_names: &[],
            carried: &carried[place],
            frames: &frames[place],
            one_way: method.is_one_way(),
        });
        let theirs = DescribedInterface {
            name: theirs.name(),
            older_names: theirs.older_names(),
            id: theirs.id(),
            methods: described.collect(),
        };
        let classes = DescribedClasses::new(&[], Limits::default())?;
        ours.map(&theirs, &classes)
    }

    fn add() -> Method {
        let add =
            Method::new::<(&'static Point, u64), ()>("add", "fn add(&self, p: &Point, n: u64)");
        add.with_arguments(&["p", "n"])
    }

    #[test]
    fn methods_are_found_by_their_names() {
        let more = || Method::new::<(), ()>("more", "fn more(&self)");
        let (places, changed) = mapped(vec![add(), more()], vec![more(), add()]);
        assert_eq!(places, [Ok((1, false)), Ok((0, false))]);
        assert!(changed.is_empty());
        let (places, _) = mapped(vec![add(), more()], vec![add()]);
        assert_eq!(
            places,
            [
                Ok((0, false)),
                Err("`fn more(&self)` is missing there".to_owned())
            ]
        );
        let items = |name| {
            let items = Method::new::<(u64,), ()>(name, "fn sum(&self, of: Stream<u64>)");
            items.with_arguments(&["of"]).takes::<u64>(0)
        };
        // Older names on either side; the method that has the name itself goes first.
        let sum = || items("total").renamed_from(&["sum"]);
        let (places, changed) = mapped(vec![sum()], vec![more(), items("sum")]);
        assert_eq!((places, changed), (vec![Ok((1, false))], Vec::new()));
        let (places, _) = mapped(vec![items("sum")], vec![more(), sum()]);
        assert_eq!(places, [Ok((1, false))]);
        let (places, _) = mapped(vec![sum(), items("sum")], vec![items("sum")]);
        assert!(places[0].is_err() && places[1] == Ok((0, false)));
    }

    #[test]
    fn changed_types_are_converted_or_refuse_their_method_alone() {
        let text = "fn add(&self, p: &Point, n: u64)";
        let narrower = Method::new::<(&'static there::Point, u64), ()>("add", text);
        let (places, changed) = mapped(vec![add()], vec![narrower]);
        assert_eq!((places, changed), (vec![Ok((0, false))], vec![(0, 0)]));
        let get = |method: Method| method.with_arguments(&[]);
        let wide = || get(Method::new::<(), Point>("get", "fn get(&self) -> Point"));
        let narrow = get(Method::new::<(), there::Point>("get", ""));
        let (places, changed) = mapped(vec![wide()], vec![narrow]);
        assert_eq!((places, changed), (vec![Ok((0, true))], Vec::new()));
        let signature = "fn get(&self) -> Point";
        let other = get(Method::new::<(), there::other::Point>("get", signature));
        let (places, _) = mapped(vec![wide()], vec![other]);
        let reason = places[0].clone().unwrap_err();
        assert!(
            reason.starts_with("its result can't be converted: "),
            "{reason}"
        );
        assert!(reason.contains("_x"), "{reason}");
        let (places, _) = mapped(vec![add()], vec![add().one_way()]);
        assert_eq!(
            places,
            [Err("it is answered here, one-way there".to_owned())]
        );
        let items = |method: Method| method.with_arguments(&["of"]);
        let sum = || items(Method::new::<(u64,), ()>("sum", ""));
        let (places, changed) = mapped(vec![sum().takes::<u64>(0)], vec![sum().takes::<u32>(0)]);
        assert_eq!((places, changed), (vec![Ok((0, false))], vec![(0, 0)]));
        let (places, _) = mapped(vec![sum().takes::<u64>(0)], vec![sum()]);
        let reason = "its streams or references are other arguments there";
        assert_eq!(places, [Err(reason.to_owned())]);
        let (places, _) = mapped(vec![sum().gives::<u64>()], vec![sum().gives::<bool>()]);
        let reason = places[0].clone().unwrap_err();
        assert!(
            reason.starts_with("the items of a stream can't be converted: "),
            "{reason}"
        );
    }

    #[test]
    fn traits_have_the_same_name_or_an_older_one() {
        let of = |name| Interface::new(name, vec![add()]);
        let refused = map(&of("T"), &of("\u{1b}")).err().unwrap();
        assert_eq!(refused, "T here, \\u{1b} there");
        assert!(map(&of("T"), &of("S").renamed_from(&["T"])).is_ok());
        assert!(map(&of("T").renamed_from(&["S"]), &of("S")).is_ok());
    }

    #[test]
    fn long_descriptions_are_refused() {
        let ours = Interface::new("T", vec![Method::new::<(), Point>("get", "b")]);
        let map = |result: &[u8], classes: &[&[u8]]| {
            let method = DescribedMethod {
                name: "get",
                older_names: &[],
                signature: "b",
                id: 0,
                snapshots: [&[], result],
                argument_names: &[],
                carried: &[],
                frames: &[],
                one_way: false,
            };
            let theirs = DescribedInterface {
                name: "T",
                older_names: &[],
                id: 0,
                methods: vec![method],
            };
            let classes = DescribedClasses::new(classes, Limits::default())?;
            let mapped = ours.map(&theirs, &classes);
            mapped.map(|mapped| mapped.methods[0].as_ref().unwrap_err().clone())
        };
        let long = vec![0; MAX_DESCRIPTION + 1];
        let reason = map(&long, &[]).unwrap();
        assert_eq!(reason, "the description of its result is too long");
        let halves = long.split_at(7);
        let refused = "the description of the classes there is too long";
        assert_eq!(map(&[], &[halves.0, halves.1]).unwrap_err(), refused);
        let many: Vec<&[u8]> = vec![&[]; MAX_CLASSES + 1];
        assert_eq!(map(&[], &many).unwrap_err(), refused);
        let reason = map(&[], &many[1..]).unwrap();
        assert!(
            reason.starts_with("its result can't be converted: "),
            "{reason}"
        );
    }

    #[test]
    fn invalid_snapshots_refuse_their_method() {
        let ours = Interface::new("T", vec![add()]);
        let theirs = DescribedInterface {
            name: "T",
            older_names: &[],
            id: 0,
            methods: vec![DescribedMethod {
                name: "add",
                older_names: &[],
                signature: "\n",
                id: 0,
                snapshots: [&[1, 2, 3], &[]],
                argument_names: &[],
                carried: &[],
                frames: &[],
                one_way: false,
            }],
        };
        let classes = DescribedClasses::new(&[&[7]], Limits::default()).unwrap();
        let mapped = ours.map(&theirs, &classes).unwrap();
        let reason = mapped.methods[0].as_ref().unwrap_err();
        assert!(
            reason.starts_with("`fn add(&self, p: &Point, n: u64)` here, `\\n` there: "),
            "{reason}"
        );
    }
}
